//! The sentences of a verdict: on links as they were judged, and on a robust fit.

use super::gate::Told;
use super::outcome::{Implanted, RobustSummary, Trust};
use super::recipe::Averaging;
use super::verdict::{Said, Topic, WeightsSay};
use crate::model::has_collapsed;
use crate::params::collapsed_in_words;
use crate::trust::judge::pairs::Draw;

/// The rate at which it is said what became of implants.
const SAID_RATE: f64 = 0.1;
/// Embeddings whose clusters tell less than this share of what clusters of the data
/// vectors tell are the worse choice; within this factor, links are not said to help.
const WORSE: f64 = 0.9;
/// Links agree with data vectors, or are opposed to them, where the chance differs from a
/// half by so much, and by so many standard errors.
const LEAST_EXCESS: f64 = 0.03;
const LEAST_ERRORS: f64 = 4.0;
/// Averages within so much of what was there before are as good.
const AS_GOOD: f64 = 0.02;
/// Sound links that have more to say for them than pairs without one in so many cases
/// are told well.
const SOUND: f64 = 0.85;
/// Fewer links than this tell little.
const FEW_LINKS: usize = 500;
/// Fewer suspects than this tell nothing of a claim.
const FEW_SUSPECTS: usize = 20;
/// A claim about suspects that is off by more has failed.
const CLAIM_FAILS: f64 = 0.1;
/// More doubtful links than this are seldom all false.
const MANY_DOUBTFUL: f64 = 0.3;

impl Trust {
    /// What was found about the links, in sentences.
    pub fn verdict(&self) -> Vec<Said> {
        let mut said = Vec::new();
        let mut say = |about: Topic, says: String| said.push(Said { about, says });
        say(Topic::Judged, self.doubtful_sentence());
        if let Some(says) = self.agreement_sentence() {
            say(Topic::Agreement, says);
        }
        if self.abstained {
            return said;
        }
        say(Topic::Weights, self.weights.sentence());
        say(Topic::Sure, self.surety_sentence());
        for it in self.implanted.iter().filter(|it| it.asked == SAID_RATE) {
            say(Topic::Checked, it.sentence(&self.implanted));
        }
        said
    }

    /// How many links are doubtful, and how much of the weight.
    pub fn doubtful_sentence(&self) -> String {
        let chance = 100.0 * self.auc_decoys;
        if self.abstained {
            return format!(
                "Links cannot be told from pairs without a link (a link has more to say for it in \
                 {chance:.0}% of cases, chance is 50%). No link is called false, and all are believed \
                 alike."
            );
        }
        let weight = match self.weights.says {
            WeightsSay::Equal => String::new(),
            _ => format!(
                ", with {} of the weight,",
                share_in_words(self.share_false_weight)
            ),
        };
        match self.share_false < 0.01 {
            true => format!("Hardly any of the links{weight} are doubtful (less than 1%)."),
            false => format!(
                "About {:.0}% of the links{weight} are doubtful: no more speaks for them than for pairs \
                 without a link. They are false, or follow something that nothing here tells.",
                100.0 * self.share_false
            ),
        }
    }

    /// Whether links agree with data vectors, where there are some to compare.
    pub fn agreement_sentence(&self) -> Option<String> {
        let alike = self.alike?;
        let cases = format!(
            "the data vectors of a link are more alike than those of a pair without one in {:.0}% of \
             cases (chance is 50%)",
            100.0 * alike
        );
        let excess = alike - 0.5;
        let least = LEAST_EXCESS.max(LEAST_ERRORS * self.alike_error);
        Some(match excess {
            _ if excess <= -least => format!("Links join nodes that are unlike: {cases}."),
            _ if excess < least => format!("Links do not agree with the data vectors: {cases}."),
            0.3.. => format!("Links agree well with the data vectors: {cases}."),
            0.15.. => format!("Links agree with the data vectors: {cases}."),
            _ => format!("Links agree a little with the data vectors: {cases}."),
        })
    }

    /// The chance of [`Trust::auc_decoys`] of sound links alone: false links are like
    /// pairs without one, and draw it towards a half.
    fn chance_of_sound(&self) -> f64 {
        (self.auc_decoys - 0.5 * self.share_false) / (1.0 - self.share_false).max(1e-9)
    }

    /// Whether false links that were put in at random or by degree were judged as claimed.
    fn claims_hold(&self) -> bool {
        let told = |it: &&Implanted| {
            it.asked == SAID_RATE && it.kind != Draw::Similar && it.suspects >= FEW_SUSPECTS
        };
        let mut told = self.implanted.iter().filter(told);
        told.all(|it| it.realised <= it.claimed + CLAIM_FAILS)
    }

    fn surety_sentence(&self) -> String {
        let told = format!(
            "a link has more to say for it than a pair without one in {:.0}% of cases, give or take {}",
            100.0 * self.auc_decoys,
            points(2.0 * self.auc_error)
        );
        let sound = self.chance_of_sound();
        let many = self.share_false > MANY_DOUBTFUL;
        let (how, but) = match sound {
            _ if self.links < FEW_LINKS => ("Not sure", "there are few links to learn from"),
            _ if !self.claims_hold() => (
                "Not sure",
                "false links that were put in to check were not judged as claimed",
            ),
            ..0.7 => (
                "Not sure",
                "little of a link is told by what is known of its ends",
            ),
            _ if many => (
                "Fairly sure that nothing speaks for the doubtful links",
                "so many are seldom all false: honest links that follow something else look the same",
            ),
            ..SOUND => (
                "Fairly sure",
                "some sound links look like pairs without one",
            ),
            _ => ("Quite sure", ""),
        };
        match but {
            "" => format!("{how}: {told}."),
            but => format!("{how}: {told}; {but}."),
        }
    }
}

fn share_in_words(share: f64) -> String {
    match share < 0.01 {
        true => "less than 1%".to_owned(),
        false => format!("{:.0}%", 100.0 * share),
    }
}

fn points(share: f64) -> String {
    match share < 0.001 {
        true => "0.1".to_owned(),
        false => format!("{:.1}", 100.0 * share),
    }
}

impl Implanted {
    /// How the implants were made, in words.
    pub fn kind_in_words(&self) -> &'static str {
        match self.kind {
            Draw::Uniform => "put in at random",
            Draw::ByDegree => "put in by degree",
            Draw::Similar => "put in between similar nodes",
        }
    }

    /// What became of them; where none could be called false at this rate, what at another.
    fn sentence(&self, all: &[Implanted]) -> String {
        let (implants, kind) = (self.implants, self.kind_in_words());
        let here = 100.0 * self.asked;
        let other = |it: &&Implanted| it.kind == self.kind && it.suspects > 0;
        match (self.suspects, all.iter().find(other)) {
            (0, None) => format!(
                "{implants} false links {kind}: none can be called false at an error rate of \
                 {here:.0}%. They may still stand among the least believed."
            ),
            (0, Some(other)) => format!(
                "{implants} false links {kind}: none can be called false at an error rate of \
                 {here:.0}%; at {:.0}%, {:.0}% are found, and {:.0}% of the suspects are sound.",
                100.0 * other.asked,
                100.0 * other.found,
                100.0 * other.realised
            ),
            _ => format!(
                "{implants} false links {kind}: {:.0}% found; sound among suspects: {:.0}% claimed, \
                 {:.0}% realised.",
                100.0 * self.found,
                100.0 * self.claimed,
                100.0 * self.realised
            ),
        }
    }
}

/// How many dimensions are used, in a sentence.
pub fn dimensions_sentence(used: f64, dim: usize) -> String {
    match has_collapsed(used, dim) {
        true => format!("The embeddings {}.", collapsed_in_words(used, dim)),
        false => {
            format!("The embeddings use about {used:.0} of {dim} dimensions (effective rank).")
        }
    }
}

impl RobustSummary {
    /// What was found and done, in sentences.
    pub(super) fn sentences(&self, told: Option<Told>, dim: usize) -> Vec<Said> {
        let about_links = self.trust.verdict();
        let own = told.map(|told| match self.averaged {
            true => told.averaged_clusters,
            false => told.plain_clusters,
        });
        let vectors = told
            .zip(own)
            .and_then(|(told, own)| self.vectors_sentence(told, own));
        let averages = match self.trust.abstained {
            true => "The embeddings are those of a plain fit to all links.".to_owned(),
            false => self.averages_sentence(told),
        };
        let fit = [
            Some((Topic::Averages, averages)),
            vectors.map(|says| (Topic::Vectors, says)),
            Some((
                Topic::Dimensions,
                dimensions_sentence(self.effective_rank, dim),
            )),
        ];
        let short = Said {
            about: Topic::Short,
            says: self.in_short(told.zip(own), dim),
        };
        let is_of_links = |said: &&Said| !matches!(said.about, Topic::Sure | Topic::Checked);
        let fit = fit.into_iter().flatten();
        let mut said = vec![short];
        said.extend(about_links.iter().filter(is_of_links).cloned());
        said.extend(fit.map(|(about, says)| Said { about, says }));
        said.extend(about_links.iter().filter(|it| !is_of_links(it)).cloned());
        said
    }

    /// The one sentence that everybody reads.
    fn in_short(&self, told: Option<(Told, f64)>, dim: usize) -> String {
        let trust = &self.trust;
        let left_out = match trust.share_false < 0.01 {
            true => "hardly any of the links are doubtful".to_owned(),
            false => format!(
                "{:.0}% of the links are doubtful and count for little",
                100.0 * trust.share_false
            ),
        };
        if has_collapsed(self.effective_rank, dim) {
            return "In short: the embedding is next to useless, for its nodes lie on a line."
                .to_owned();
        }
        let Some((told, own)) = told else {
            return match trust.abstained {
                true => "In short: nothing here tells whether the links mean anything.".to_owned(),
                false => format!(
                    "In short: the links hang together, and {left_out}; there are no data vectors to \
                     check that with."
                ),
            };
        };
        let vectors = told.vectors_clusters;
        match vectors > 0.0 {
            true if trust.abstained && own < vectors => {
                "In short: do not use this embedding: the links tell nothing of what the data vectors \
                 tell. Use the data vectors alone."
                    .to_owned()
            }
            _ if trust.abstained => {
                "In short: nothing here tells whether the links mean anything.".to_owned()
            }
            true if own < WORSE * vectors => {
                "In short: the data vectors alone do better than this embedding, for what they tell: the \
                 links lead elsewhere."
                    .to_owned()
            }
            true if WORSE * own <= vectors => match trust.chance_of_sound() >= SOUND {
                true => format!(
                    "In short: the embedding is worth using: it keeps what the data vectors tell and \
                     adds what the links tell; {left_out}."
                ),
                false => format!(
                    "In short: the embedding tells about as much as the data vectors alone; {left_out}."
                ),
            },
            false if own <= 0.0 => {
                "In short: the data vectors look like noise. Leave them out, and fit to the links alone."
                    .to_owned()
            }
            _ => format!("In short: the embedding is worth using: the links help, and {left_out}."),
        }
    }

    fn averages_sentence(&self, told: Option<Told>) -> String {
        let asked = match self.chosen.averaging {
            Averaging::Gate => "",
            Averaging::Always | Averaging::Never => ", as was asked for",
        };
        let done = match self.averaged {
            true => format!("The embeddings are averaged over believed links{asked}"),
            false => format!("The embeddings are not averaged over links{asked}"),
        };
        match self.gate {
            Some(gate) => {
                let what = match (self.averaged, gate) {
                    (true, _) if gate > 1.0 + AS_GOOD => "that helped",
                    (true, _) if gate > 1.0 - AS_GOOD => "that changed little",
                    (true, _) => {
                        "that lost a little of what data vectors tell, which classes seldom mind"
                    }
                    (false, _) if gate > 1.0 + AS_GOOD => "that would have helped",
                    (false, _) if gate >= self.gate_opens_at => "that would have changed little",
                    (false, _) => "that would have done harm",
                };
                format!(
                    "{done}; {what}: clusters of averages tell held-back data {gate:.2} times as well as \
                     clusters of the embeddings alone (averages are taken from {} on).",
                    self.gate_opens_at
                )
            }
            None if told.is_none() => {
                format!("{done}: there are no data vectors to check averages with.")
            }
            None if told.is_some_and(|told| told.averaged_clusters > 0.0) => format!(
                "{done}: clusters of averages tell something of held-back data, clusters of the \
                 embeddings alone nothing."
            ),
            None => format!("{done}: neither embeddings nor averages tell held-back data."),
        }
    }

    fn vectors_sentence(&self, told: Told, own: f64) -> Option<String> {
        let alone = "for clusters of what the data vectors tell, k-means on the data vectors alone is \
                     the better choice.";
        let vectors = told.vectors_clusters;
        let times = format!(
            "Clusters of the embeddings tell held-back data {:.2} times as well as clusters of the \
             data vectors alone",
            own / vectors
        );
        Some(match vectors > 0.0 {
            true if self.trust.abstained && own < vectors => {
                format!("The links tell nothing of their ends: {alone}")
            }
            _ if self.trust.abstained => return None,
            true if own < WORSE * vectors => format!("{times}: {alone}"),
            true if WORSE * own <= vectors => {
                format!("{times}: nothing speaks for k-means on these alone.")
            }
            true => format!("{times}: the links help."),
            false if own > 0.0 => "Clusters of the embeddings tell something of held-back data, \
                 clusters of the data vectors alone nothing: the links help."
                .to_owned(),
            false => {
                "The data vectors show no clusters of their own, as noise would: leave them out \
                 and fit to the links alone."
                    .to_owned()
            }
        })
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;

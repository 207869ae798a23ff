//! The sentences of a verdict: on links as they were judged, and on a robust fit.

use super::gate::Told;
use super::outcome::{Implanted, RobustSummary, Trust};
use super::recipe::Averaging;
use super::shared::{Better, Shared};
use super::verdict::{Advice, Said, Topic, WeightsSay};
use crate::model::has_collapsed;
use crate::params::collapsed_in_words;
use crate::trust::judge::pairs::Draw;

/// The rate at which it is said what became of implants.
const SAID_RATE: f64 = 0.1;
/// Links agree with data vectors, or are opposed to them, where the chance differs from a
/// half by so much, and by so many standard errors.
const LEAST_EXCESS: f64 = 0.03;
const LEAST_ERRORS: f64 = 4.0;
/// Averages within so much of what was there before are as good.
const AS_GOOD: f64 = 0.02;
/// Sound links that have more to say for them than pairs without one in so many cases
/// are told well.
const SOUND: f64 = 0.85;
/// Where they do in fewer, little is known of any link.
const HARDLY_TOLD: f64 = 0.7;
/// Fewer links than this tell little.
const FEW_LINKS: usize = 500;
/// Fewer suspects than this tell nothing of a claim.
const FEW_SUSPECTS: usize = 20;
/// A claim about suspects that is off by more has failed.
const CLAIM_FAILS: f64 = 0.1;
/// More doubtful links than this are seldom all false.
const MANY_DOUBTFUL: f64 = 0.3;

/// What is said of a fit that lost its dimensions.
const ON_A_LINE: &str = "the embedding is next to useless, for its nodes lie on a line.";

impl Trust {
    /// What was found about the links, in sentences.
    pub fn verdict(&self) -> Vec<Said> {
        let mut said = Vec::new();
        let mut say = |about: Topic, says: String| said.push(Said { about, says });
        say(Topic::Links, self.doubtful_sentence());
        if let Some(says) = self.agreement_sentence() {
            say(Topic::Features, says);
        }
        if self.abstained {
            return said;
        }
        say(Topic::Weights, self.weights.sentence());
        say(Topic::Test, self.surety_sentence());
        for it in self.implanted.iter().filter(|it| it.asked == SAID_RATE) {
            say(Topic::Test, it.sentence(&self.implanted));
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
                ", with {} of the weight",
                share_in_words(self.share_false_weight)
            ),
        };
        let comma = if weight.is_empty() { "" } else { "," };
        if !self.tells_false() {
            return format!(
                "Which links are false cannot be told: too little speaks for any of them (a link has \
                 more to say for it than a pair without one in {chance:.0}% of cases, chance is 50%)."
            );
        }
        match self.share_false < 0.01 {
            true => format!("Hardly any of the links are doubtful (less than 1%{weight})."),
            false => format!(
                "About {:.0}% of the links{weight}{comma} are doubtful: no more speaks for them than for pairs \
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

    /// Whether a link that is not doubted was told from pairs without one at all.
    fn tells_false(&self) -> bool {
        self.share_false >= 0.01 || self.chance_of_sound() >= HARDLY_TOLD
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
            ..HARDLY_TOLD => (
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
        let asked = 100.0 * self.asked;
        let other = |it: &&Implanted| it.kind == self.kind && it.suspects > 0;
        match (self.suspects, all.iter().find(other)) {
            (0, None) => format!(
                "Of {implants} false links {kind} none would be called false: at most {asked:.0}% of \
                 those called so may be sound, and no link is doubtful enough for that."
            ),
            (0, Some(other)) => format!(
                "Of {implants} false links {kind} none would be called false where at most \
                 {asked:.0}% of those called so may be sound; where {:.0}% may be, {:.0}% would, and \
                 {:.0}% of all called so were sound.",
                100.0 * other.asked,
                100.0 * other.found,
                100.0 * other.realised
            ),
            _ => format!(
                "Of {implants} false links {kind} {:.0}% would be called false; among all called so \
                 {:.0}% are claimed to be sound, and {:.0}% were.",
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
    /// What to do, and what was found and done, in sentences.
    pub(super) fn sentences(&self, told: Option<Told>, dim: usize) -> (Advice, Vec<Said>) {
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
            Some((Topic::Smoothing, averages)),
            vectors.map(|says| (Topic::Use, says)),
            Some((
                Topic::Dimensions,
                dimensions_sentence(self.effective_rank, dim),
            )),
        ];
        let (advice, says) = self.in_short(told.zip(own), dim);
        let short = Said {
            about: Topic::Use,
            says: format!("In short: {says}"),
        };
        let is_of_links = |said: &&Said| !matches!(said.about, Topic::Test);
        let fit = fit.into_iter().flatten();
        let mut said = vec![short];
        said.extend(about_links.iter().filter(is_of_links).cloned());
        said.extend(fit.map(|(about, says)| Said { about, says }));
        said.extend(about_links.iter().filter(|it| !is_of_links(it)).cloned());
        (advice, said)
    }

    /// The one sentence that everybody reads, and what it advises.
    fn in_short(&self, told: Option<(Told, f64)>, dim: usize) -> (Advice, String) {
        let trust = &self.trust;
        let left_out = match trust.share_false < 0.01 {
            true if !trust.tells_false() => "which links are false cannot be told".to_owned(),
            true => "hardly any of the links are doubtful".to_owned(),
            false => format!(
                "{:.0}% of the links are doubtful and count for little",
                100.0 * trust.share_false
            ),
        };
        let unknown = "nothing here tells whether the links mean anything.";
        let better = told.map(|(told, own)| self.better(told, own));
        let (advice, says) = match better {
            _ if has_collapsed(self.effective_rank, dim) => match better {
                Some(Better::Helps | Better::Adds) if !trust.abstained => (
                    Advice::Use,
                    "the embedding is worth using for two groups and no more: its nodes lie on a line; \
                     {}.",
                ),
                _ => (Advice::FitAgain, ON_A_LINE),
            },
            Some(_) if trust.abstained => match told {
                Some((told, own)) if own < told.vectors_clusters => (
                    Advice::VectorsAlone,
                    "do not use this embedding: the links tell nothing of what the data vectors tell. \
                     Use the data vectors alone.",
                ),
                _ => (Advice::Unknown, unknown),
            },
            None if trust.abstained => (Advice::Unknown, unknown),
            None => (
                Advice::Use,
                "the links hang together, and {}; there are no data vectors to check that with.",
            ),
            Some(Better::Helps) => (
                Advice::Use,
                "the embedding is worth using: the links help, and {}.",
            ),
            Some(Better::Adds) => (
                Advice::Use,
                "the embedding is worth using: it tells more of what linked nodes share than the data \
                 vectors alone; {}.",
            ),
            Some(Better::Either) => (
                Advice::Either,
                "the embedding tells about as much as the data vectors alone; {}.",
            ),
            Some(Better::Vectors) => (
                Advice::VectorsAlone,
                "the data vectors alone do better than this embedding, for what they tell: the links \
                 lead elsewhere.",
            ),
            Some(Better::Unrelated) => (
                Advice::VectorsAlone,
                "the links tell next to nothing of what the data vectors tell. For that, use them alone.",
            ),
            Some(Better::Noise) => (
                Advice::LinksAlone,
                "the data vectors look like noise. Leave them out, and fit to the links alone.",
            ),
        };
        (advice, says.replace("{}", &left_out))
    }

    fn better(&self, told: Told, own: f64) -> Better {
        let sound = self.trust.chance_of_sound() >= SOUND;
        Better::new(own, told.vectors_clusters, self.shared, sound)
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
        if self.trust.abstained {
            let is_told = vectors > 0.0 && own < vectors;
            return is_told.then(|| format!("The links tell nothing of their ends: {alone}"));
        }
        // What one of them does not tell at all is not told so many times as well.
        let told_at_all = |it: &Shared| it.embeddings.min(it.vectors) > 0.0;
        let of_neighbours = self
            .shared
            .filter(told_at_all)
            .map_or_else(String::new, |it| {
                let times = it.embeddings / it.vectors;
                format!(", and the data of neighbors {times:.2} times as well")
            });
        let times = format!(
            "Clusters of the embeddings tell held-back data {:.2} times as well as clusters of the \
             data vectors alone{of_neighbours}",
            own / vectors
        );
        Some(match self.better(told, own) {
            Better::Helps if vectors > 0.0 => format!("{times}: the links help."),
            Better::Helps => "Clusters of the embeddings tell something of held-back data, clusters of \
                 the data vectors alone nothing: the links help."
                .to_owned(),
            Better::Adds => format!("{times}: the links add something."),
            Better::Either => format!("{times}: one is as good as the other."),
            Better::Vectors => format!("{times}: {alone}"),
            Better::Unrelated => format!(
                "The cluster of a node, by embeddings or data vectors, tells next to nothing of the data of \
                 its neighbors: {alone}"
            ),
            Better::Noise => {
                "The data vectors show no clusters of their own, as noise would: leave them out and \
                 fit to the links alone."
                    .to_owned()
            }
        })
    }
}

//! What a judgement and a robust fit found, in plain words: the same for the command
//! line, Python and the page. No sentence depends on the unit of the weights.

use serde::Serialize;

use super::gate::Told;
use super::outcome::{Implanted, RobustSummary, Trust};
use super::recipe::Averaging;
use crate::model::has_collapsed;
use crate::params::collapsed_in_words;
use crate::trust::judge::Judgement;
use crate::trust::judge::pairs::Draw;
use linkproof_numeric::math;

/// Weights speak where they multiply the odds of a link by more than this, or divide
/// them, and where false links among those of such weights are more or fewer than
/// chance would have it, by so many standard deviations.
const SPEAKING_ODDS: f64 = 2.0;
const DEVIATIONS: f64 = 4.0;
/// The rate at which it is said what became of implants.
const SAID_RATE: f64 = 0.1;
/// Embeddings whose clusters tell less than this share of what clusters of the data
/// vectors tell are the worse choice; within this factor, links are not said to help.
const WORSE: f64 = 0.9;

/// What a sentence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// How many links are false.
    Judged,
    /// Whether links agree with what is known of their ends.
    Agreement,
    /// What weights say.
    Weights,
    /// What averages over links do.
    Averages,
    /// Whether the links are worth more than the data vectors alone.
    Vectors,
    /// How many dimensions are used.
    Dimensions,
    /// What became of implants.
    Checked,
}

/// A sentence of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// What it is about.
    pub about: Topic,
    /// The sentence.
    pub says: String,
}

/// What weights say about links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightsSay {
    /// All links weigh the same.
    Equal,
    /// Nothing.
    Nothing,
    /// The heavier, the more it is believed.
    ForHeavy,
    /// The heavier, the less it is believed.
    AgainstHeavy,
    /// Some weights speak for their links and some against, in no order.
    Mixed,
}

/// What weights say about links, and how far heavy and light links are believed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ByWeight {
    /// What they say.
    pub says: WeightsSay,
    /// The mean belief in heavy links: the heaviest tenth, or where these weigh as much
    /// as half of the links what is above, or else at, that weight.
    pub heavy: f64,
    /// The mean belief in light links: no heavier than half of the links, or else those
    /// that are not heavy.
    pub light: f64,
}

impl ByWeight {
    /// Compares heavy and light links.
    pub(super) fn new(judgement: &Judgement) -> ByWeight {
        let links = &judgement.links;
        // A strong negative link is a heavy one.
        let mut weights: Vec<f64> = links.iter().map(|link| link.weight.abs()).collect();
        weights.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (share * weights.len() as f64) as usize;
            weights.get(place).copied().unwrap_or(0.0)
        };
        let (median, tenth) = (at(0.5), at(0.9));
        let above = weights.last().is_some_and(|&largest| largest > median);
        let is_heavy = |weight: f64| match above {
            true => weight > median && (tenth == median || weight >= tenth),
            false => weight >= median,
        };
        let is_light = |weight: f64| !is_heavy(weight) && weight <= median;
        let mean = |part: &dyn Fn(f64) -> bool, value: &dyn Fn(usize) -> f64| {
            let places = (0..links.len()).filter(|&place| part(links[place].weight.abs()));
            let (mut sum, mut count) = (0.0, 0.0);
            places.for_each(|place| (sum, count) = (sum + value(place), count + 1.0));
            sum / f64::max(count, 1.0)
        };
        let belief = |place: usize| links[place].belief;
        let log_odds = |place: usize| math::ln(links[place].weight_odds.max(f64::MIN_POSITIVE));
        let loud = math::ln(SPEAKING_ODDS);
        let apart = mean(&is_heavy, &log_odds) - mean(&is_light, &log_odds);
        let says = match apart {
            _ if links.iter().all(|link| link.weight == links[0].weight) => WeightsSay::Equal,
            _ if judgement.abstained || !weights_speak(judgement) => WeightsSay::Nothing,
            apart if apart > loud => WeightsSay::ForHeavy,
            apart if apart < -loud => WeightsSay::AgainstHeavy,
            _ => WeightsSay::Mixed,
        };
        ByWeight {
            says,
            heavy: mean(&is_heavy, &belief),
            light: mean(&is_light, &belief),
        }
    }

    fn sentence(&self) -> String {
        let beliefs = format!(
            "heavy links are believed to {:.2} on average, light links to {:.2}",
            self.heavy, self.light
        );
        match self.says {
            WeightsSay::Equal => "All links weigh the same, so weights say nothing.".to_owned(),
            WeightsSay::Nothing => "Weights say nothing about which links are false.".to_owned(),
            WeightsSay::ForHeavy => format!("Weights speak for heavy links: {beliefs}."),
            WeightsSay::AgainstHeavy => format!("Weights speak against heavy links: {beliefs}."),
            WeightsSay::Mixed => format!(
                "Some weights speak for their links and some against, heavy or light: {beliefs}."
            ),
        }
    }
}

/// Whether links of some weights are false more often, or less, than by chance.
fn weights_speak(judgement: &Judgement) -> bool {
    // Links of one bin of weights have the same odds.
    let mut links: Vec<(f64, f64)> = judgement
        .links
        .iter()
        .map(|link| (link.weight_odds, 1.0 - link.belief))
        .collect();
    links.sort_by(|a, b| a.0.total_cmp(&b.0));
    links.chunk_by(|a, b| a.0 == b.0).any(|bin| {
        let expected = judgement.share_false * bin.len() as f64;
        let wrong: f64 = bin.iter().map(|link| link.1).sum();
        let loud = !(1.0 / SPEAKING_ODDS..=SPEAKING_ODDS).contains(&bin[0].0);
        loud && (wrong - expected).abs() > DEVIATIONS * expected.max(1.0).sqrt()
    })
}

impl Trust {
    /// What was found about the links, in sentences.
    pub fn verdict(&self) -> Vec<Said> {
        let mut said = Vec::new();
        let mut say = |about: Topic, says: String| said.push(Said { about, says });
        let chance = 100.0 * self.auc_decoys;
        if self.abstained {
            say(
                Topic::Judged,
                format!(
                    "Links cannot be told from pairs without a link (a link has more to say for it \
                     in {chance:.0}% of cases, chance is 50%). No link is called false, and all are \
                     believed alike."
                ),
            );
            return said;
        }
        say(
            Topic::Judged,
            match self.share_false < 0.01 {
                true => "Hardly any of the links are false (less than 1%).".to_owned(),
                false => format!(
                    "About {:.0}% of the links are false.",
                    100.0 * self.share_false
                ),
            },
        );
        // False links are like pairs without one, and draw the chance towards a half.
        let of_sound = (self.auc_decoys - 0.5 * self.share_false) / (1.0 - self.share_false);
        let agree = match of_sound {
            auc if auc >= 0.85 => "agree well",
            auc if auc >= 0.7 => "agree fairly well",
            _ => "hardly agree",
        };
        say(
            Topic::Agreement,
            format!(
                "Sound links {agree} with what is known of their ends: a link has more to say \
                 for it than a pair without one in {chance:.0}% of cases."
            ),
        );
        say(Topic::Weights, self.weights.sentence());
        for it in self.implanted.iter().filter(|it| it.asked == SAID_RATE) {
            say(Topic::Checked, it.sentence());
        }
        said
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

    fn sentence(&self) -> String {
        let (implants, kind) = (self.implants, self.kind_in_words());
        match self.suspects {
            0 => format!("{implants} false links {kind}: none found."),
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
        let mut said = self.trust.verdict();
        let checks = said.iter().position(|one| one.about == Topic::Checked);
        let checks = said.split_off(checks.unwrap_or(said.len()));
        let mut say = |about: Topic, says: String| said.push(Said { about, says });
        say(
            Topic::Averages,
            match self.trust.abstained {
                true => "The embeddings are those of a plain fit to all links.".to_owned(),
                false => self.averages_sentence(told),
            },
        );
        if let Some(says) = told.and_then(|told| self.vectors_sentence(told)) {
            say(Topic::Vectors, says);
        }
        say(
            Topic::Dimensions,
            dimensions_sentence(self.effective_rank, dim),
        );
        said.extend(checks);
        said
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
            Some(gate) => format!(
                "{done}: clusters of averages tell held-back data {gate:.2} times as well as clusters \
                 of the embeddings alone (the gate opens at {}).",
                self.gate_opens_at
            ),
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

    fn vectors_sentence(&self, told: Told) -> Option<String> {
        let alone = "for clusters of what the data vectors tell, k-means on the data vectors alone is \
                     the better choice.";
        let vectors = told.vectors_clusters;
        let own = match self.averaged {
            true => told.averaged_clusters,
            false => told.plain_clusters,
        };
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

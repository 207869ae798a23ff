//! What a verdict is made of: sentences, each about something, and what weights say. The
//! sentences are the same for the command line, Python and the page, and none depends on
//! the unit of the weights ([`super::sentences`]).

use serde::Serialize;

use crate::trust::judge::Judgement;
use linkproof_numeric::math;

/// Weights speak where they multiply the odds of a link by more than this, or divide
/// them, and where false links among those of such weights are more or fewer than
/// chance would have it, by so many standard deviations.
const SPEAKING_ODDS: f64 = 2.0;
const DEVIATIONS: f64 = 4.0;
pub use crate::verdict::{Advice, Said, Topic};

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

    pub(super) fn sentence(&self) -> String {
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

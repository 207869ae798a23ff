//! Whether heavy weights are errors or signal, by evidence that is not a Poisson law:
//! the law of all links' sizes, and what data vectors and common neighbours say of the
//! heavy links, as the judge of links hears it.

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::size::{Family, SizeLaw, SizedLink};
use crate::trust::audit::rates_of_chances;
use crate::trust::judge::Judgement;
use linkproof_numeric::math;

/// The rate of error at which a weight is too large for the law of sizes.
const RATE: f64 = 0.1;
/// Heavy links have more to say for them than others, or less, where the chance differs
/// by so much, and by so many standard errors.
const LEAST_DIFFERENCE: f64 = 0.03;
const LEAST_ERRORS: f64 = 4.0;

/// What else speaks for heavy links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backing {
    /// More than for other links.
    More,
    /// As much as for other links, as far as can be told.
    Alike,
    /// Less than for other links.
    Less,
    /// Links cannot be told from pairs without one, or there are too few.
    Unknown,
}

/// What is known of links whose weights no Poisson count reaches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Heavy {
    /// The law of the sizes of all links that describes them best.
    pub law: Option<Family>,
    /// How many weights that law finds too large.
    pub too_heavy: usize,
    /// The share of the links in question that are among these.
    pub beyond_law: f64,
    /// What else speaks for them.
    pub backing: Backing,
    /// The chance that such a link has more to say for it than a pair without a link,
    /// weights aside; a half where nothing is known.
    pub heavy: f64,
    /// The same of the other links.
    pub others: f64,
}

/// Looks at the links at `places`, in the order of the graph.
pub(super) fn heavy(data: &Dataset, places: &[usize], judged: Option<&Judgement>) -> Heavy {
    let judged = judged.filter(|found| !found.abstained);
    let weights = data.graph().weights();
    let belief = |place: usize| judged.map_or(1.0, |found| found.links[place].belief);
    let links = weights
        .iter()
        .enumerate()
        .map(|(place, &weight)| SizedLink {
            weight,
            belief: belief(place),
            similarity: 0.0,
        });
    let law = SizeLaw::estimate(&links.collect::<Vec<_>>(), false);
    let chance = |&weight: &f64| law.map_or(1.0, |law| math::exp(law.log_chance(weight, 0.0)));
    let rates = rates_of_chances(&weights.iter().map(chance).collect::<Vec<_>>());
    let beyond = places.iter().filter(|&&place| rates[place] <= RATE).count();
    let (backing, heavy, others) = match judged {
        Some(found) => backing(found, places),
        None => (Backing::Unknown, 0.5, 0.5),
    };
    Heavy {
        law: law.map(|law| law.family),
        too_heavy: rates.iter().filter(|&&rate| rate <= RATE).count(),
        beyond_law: beyond as f64 / places.len().max(1) as f64,
        backing,
        heavy,
        others,
    }
}

/// Compares the ranks of some links with those of the others. Ranks know no weights.
fn backing(found: &Judgement, places: &[usize]) -> (Backing, f64, f64) {
    let mut sums = [(0.0, 0.0, 0.0); 2];
    for (place, link) in found.links.iter().enumerate() {
        let (count, sum, squares) = &mut sums[usize::from(places.binary_search(&place).is_err())];
        let ahead = 1.0 - link.rank;
        (*count, *sum, *squares) = (*count + 1.0, *sum + ahead, *squares + ahead * ahead);
    }
    let mean = |(count, sum, _): (f64, f64, f64)| sum / f64::max(count, 1.0);
    let variance = |all @ (count, _, squares): (f64, f64, f64)| {
        let count = f64::max(count, 1.0);
        // One link tells no variance: that of a link at any rank stands for it.
        let own = (squares / count - mean(all).powi(2)).max(0.0);
        (own * count + 1.0 / 12.0) / (count + 1.0) / count
    };
    let [heavy, others] = sums;
    let error = (variance(heavy) + variance(others)).sqrt();
    let difference = mean(heavy) - mean(others);
    let least = LEAST_DIFFERENCE.max(LEAST_ERRORS * error);
    let backing = match difference {
        more if more >= least => Backing::More,
        less if less <= -least => Backing::Less,
        _ => Backing::Alike,
    };
    (backing, mean(heavy), mean(others))
}

#[cfg(test)]
#[path = "heavy_tests.rs"]
mod tests;

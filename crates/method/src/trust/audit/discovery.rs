//! Suspects with a known rate of error.
//!
//! A link can be suspect in two ways.
//!
//! *It should not exist.* False links join pairs at random, and so their
//! expected weights are those of random pairs. Let `u` be the share of random
//! unlinked pairs that are expected to weigh at least as much as a link: uniform
//! for false links, close to 0 for sound ones, so that the density `f` of all
//! links' `u` falls. With `pi = 2 #{u > 1/2} / m` the share of links that look
//! random, a link is sound with probability
//!
//! ```text
//! 1 - pi / f(u)
//! ```
//!
//! (the local false discovery rate of calling it a suspect), `f` being the slope
//! of the least concave majorant of the distribution (Grenander). Suspects of
//! rates up to `q` are sound at a rate of `q` or less.
//!
//! *Its weight should be smaller.* The law of the sizes of links
//! ([`crate::size`]) tells the chance of a weight as large, given that there is a
//! link and what the other links of its ends weigh ([`super::usual`]): honest counts are
//! no errors however heavy, where such counts are common.
//! The procedure of Benjamini and Yekutieli turns these chances into rates: weights
//! of links that share a node may depend on each other.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Verdict;
use super::usual::log_chances;
use crate::data::dataset::Dataset;
use crate::measure::falling_density;
use crate::model::Fitted;
use crate::size::{SizeLaw, SizedLink};
use linkproof_numeric::math;

/// An unlinked pair drawn at random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomPair {
    /// The user's row of one end.
    pub src: u32,
    /// The user's row of the other end.
    pub dst: u32,
    /// The same pair as internal rows, the smaller first.
    pub inside: (u32, u32),
}

/// Draws unlinked pairs between views that have a link between them.
pub fn random_pairs(data: &Dataset, count: usize, seed: u64) -> Vec<RandomPair> {
    const TRIES: usize = 20;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x7061_6972);
    let n = data.n_nodes() as u32;
    let linked = data.linked_views();
    let mut pairs = Vec::with_capacity(count);
    for _ in 0..count * TRIES {
        if pairs.len() == count {
            break;
        }
        let (a, b) = (random.random_range(0..n), random.random_range(0..n));
        let inside = (a.min(b), a.max(b));
        let takes_part = linked.contains(&(data.view_of(inside.0), data.view_of(inside.1)));
        let possible = takes_part && a != b && !data.ids().is_same_node(a, b);
        if possible && data.graph().weight(a, b).is_none() {
            let user = |row: u32| data.user_row(row as usize) as u32;
            pairs.push(RandomPair {
                src: user(inside.0),
                dst: user(inside.1),
                inside,
            });
        }
    }
    pairs
}

/// The suspects of an audit.
#[derive(Debug, Clone, PartialEq)]
pub struct Discovery {
    /// For each verdict the rate of error of calling it a suspect.
    pub rates: Vec<f64>,
    /// The same of calling its weight too large.
    pub weight_rates: Vec<f64>,
    /// The share of links that look like random pairs.
    pub random_share: f64,
    /// The number of links whose weight is too large (5% of them in error).
    pub too_heavy: usize,
}

/// The law of the sizes of links: the model's own or, where it has none, what the
/// links tell of it, each as far as it is believed.
pub fn sizes(
    model: &Fitted,
    verdicts: &[Verdict],
    belief: impl Fn(&Verdict) -> f64,
) -> Option<SizeLaw> {
    let links = verdicts.iter().map(|verdict| SizedLink {
        weight: verdict.weight,
        belief: belief(verdict),
        similarity: verdict.similarity,
    });
    // A fit to weights makes heavy links similar: that tells nothing of their size.
    let told = || SizeLaw::estimate(&links.collect::<Vec<_>>(), false);
    model.sizes().copied().or_else(told)
}

/// Estimates the rate of error of each suspect, by the law of sizes where there is
/// one. `random` are the expected weights of random unlinked pairs.
pub fn discover(verdicts: &[Verdict], sizes: Option<&SizeLaw>, random: &[f64]) -> Discovery {
    let (existence, random_share) = existence_rates(verdicts, random);
    let weight_rates = weight_rates(verdicts, sizes);
    let rates = existence.iter().zip(&weight_rates);
    Discovery {
        rates: rates.map(|(a, b)| a.min(*b)).collect(),
        random_share,
        too_heavy: weight_rates.iter().filter(|&&rate| rate <= 0.05).count(),
        weight_rates,
    }
}

/// The rates by which links look like random pairs, and the share that does.
fn existence_rates(verdicts: &[Verdict], random: &[f64]) -> (Vec<f64>, f64) {
    if verdicts.is_empty() || random.is_empty() {
        return (vec![1.0; verdicts.len()], 0.0);
    }
    let mut random = random.to_vec();
    random.sort_by(f64::total_cmp);
    // Of pairs that are expected to weigh the same, half.
    let share = |mu: f64| {
        let below = random.partition_point(|&other| other < mu);
        let above = random.len() - random.partition_point(|&other| other <= mu);
        let ties = (random.len() - below - above) as f64;
        (above as f64 + 0.5 * ties) / random.len() as f64
    };
    let shares: Vec<f64> = verdicts
        .iter()
        .map(|verdict| share(verdict.strength))
        .collect();
    let m = shares.len() as f64;
    let beyond = shares.iter().filter(|&&u| u > 0.5).count() as f64;
    let random_share = (beyond / (0.5 * m)).min(1.0);
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&a, &b| shares[a].total_cmp(&shares[b]));
    let sorted: Vec<f64> = order.iter().map(|&place| shares[place]).collect();
    let mut rates = vec![1.0; shares.len()];
    for (&verdict, density) in order.iter().zip(falling_density(&sorted)) {
        rates[verdict] = (1.0 - random_share / density).clamp(0.0, 1.0);
    }
    (rates, random_share)
}

/// The rates by which weights are too large for links that exist.
fn weight_rates(verdicts: &[Verdict], sizes: Option<&SizeLaw>) -> Vec<f64> {
    let Some(law) = sizes else {
        return vec![1.0; verdicts.len()];
    };
    let chances = log_chances(verdicts, law).into_iter().map(math::exp);
    rates_of_chances(&chances.collect::<Vec<_>>())
}

/// The rates of error of calling all chances down to one's own too small, by the
/// procedure of Benjamini and Yekutieli.
pub(crate) fn rates_of_chances(chances: &[f64]) -> Vec<f64> {
    let m: f64 = chances.len() as f64 * (1..=chances.len()).map(|k| 1.0 / k as f64).sum::<f64>();
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&a, &b| chances[a].total_cmp(&chances[b]));
    let mut rates = vec![1.0; chances.len()];
    for (place, &link) in order.iter().enumerate() {
        rates[link] = (chances[link] * m / (place + 1) as f64).min(1.0);
    }
    make_monotone(&mut rates, &order);
    rates
}

/// A larger set of suspects with a smaller rate takes in the smaller ones.
fn make_monotone(rates: &mut [f64], order: &[usize]) {
    let mut lowest = f64::INFINITY;
    for &verdict in order.iter().rev() {
        lowest = lowest.min(rates[verdict]);
        rates[verdict] = lowest;
    }
}

//! From ranks and weights to beliefs.
//!
//! Inside a stratum a false link is like a decoy, so its rank `u` is uniform;
//! sound links have small ranks. With `pi_s` the share of false links of a
//! stratum and `h` the density of the ranks of sound links, a link is sound with
//! probability
//!
//! ```text
//! b = (1 - pi_s) h(u) / ( pi_s + (1 - pi_s) h(u) ).
//! ```
//!
//! `pi_s` is told by the links of large ranks, less the sound ones among them that
//! nothing explains ([`super::unexplained`]). `h` falls, and is what the falling
//! density of all ranks is above the share of false links.
//!
//! Weights speak without a law and without a unit: in bins by their order, `g1`
//! is their distribution among links counted by `b`, `g0` among links counted by
//! `1 - b`; the odds of a link are multiplied by `g1/g0` of its bin.

use crate::measure::falling_density;

/// The least density is looked for in windows of this width from this rank on.
const WINDOW: f64 = 0.2;
const FROM: f64 = 0.35;
/// Links with larger ranks than this tell the share of false links of a stratum;
/// each starts with so many average links.
const LARGE: f64 = 0.5;
const AVERAGE_LINKS: f64 = 25.0;
/// Weights are put into at most so many bins.
const BINS: usize = 16;
/// Links of average weights that each distribution of weights starts with.
const PSEUDO_COUNTS: f64 = 5.0;
const ROUNDS: usize = 10;
/// Ranks alone make no belief more certain than this.
const CERTAIN: f64 = 0.999;

/// What ranks tell.
#[derive(Debug, Clone)]
pub struct Density {
    /// The share of false links.
    pub share_false: f64,
    /// The same in each stratum.
    pub by_stratum: Vec<f64>,
    /// The belief in each link.
    pub beliefs: Vec<f64>,
}

/// The share of links that look like decoys, and the belief in each link, by
/// ranks within strata. `unexplained` is for each stratum the density of sound
/// links that no evidence speaks for.
pub fn by_ranks(ranks: &[f64], strata: &[usize], unexplained: &[f64]) -> Density {
    let n_strata = unexplained.len();
    let m = ranks.len().max(1) as f64;
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]).then(a.cmp(&b)));
    let sorted: Vec<f64> = order.iter().map(|&place| ranks[place]).collect();
    let within = |from: f64, to: f64| {
        let below = |x: f64| sorted.partition_point(|&u| u <= x);
        (below(to) - below(from)) as f64 / m
    };
    let large = within(LARGE, 1.0) / (1.0 - LARGE);
    let (mut beyond, mut sizes) = (vec![0.0; n_strata], vec![0.0; n_strata]);
    for (&u, &stratum) in ranks.iter().zip(strata) {
        beyond[stratum] += if u > LARGE { 1.0 } else { 0.0 };
        sizes[stratum] += 1.0;
    }
    let mut by_stratum: Vec<f64> = (0..n_strata)
        .map(|s| {
            let average = AVERAGE_LINKS * large * (1.0 - LARGE);
            let density = (beyond[s] + average) / ((sizes[s] + AVERAGE_LINKS) * (1.0 - LARGE));
            let own = unexplained[s].min(1.0);
            ((density - own) / (1.0 - own).max(1e-9)).clamp(0.0, 0.99)
        })
        .collect();
    // Sound links are fewer at some ranks above the middle than at others: the
    // least density is closest to that of false links alone.
    let sound_tail: f64 = (0..n_strata)
        .map(|s| sizes[s] / m * (1.0 - by_stratum[s]) * unexplained[s])
        .sum();
    let steps = ((1.0 - WINDOW - FROM) / 0.05).round() as usize;
    let least = (0..=steps)
        .map(|step| FROM + 0.05 * step as f64)
        .map(|from| within(from, from + WINDOW) / WINDOW)
        .fold(large, f64::min);
    let rest = |density: f64| (density - sound_tail).max(0.0);
    let factor = rest(least) / rest(large).max(f64::MIN_POSITIVE);
    by_stratum
        .iter_mut()
        .for_each(|share| *share *= factor.min(1.0));
    let share_false: f64 = (0..n_strata).map(|s| sizes[s] / m * by_stratum[s]).sum();
    let mut beliefs = vec![0.0; ranks.len()];
    for (&link, density) in order.iter().zip(falling_density(&sorted)) {
        let s = strata[link];
        let sound = ((density - share_false) / (1.0 - share_false).max(1e-9)).max(unexplained[s]);
        let wrong = by_stratum[s];
        beliefs[link] = (1.0 - wrong) * sound / (wrong + (1.0 - wrong) * sound);
    }
    Density {
        share_false,
        by_stratum,
        beliefs,
    }
}

/// The bin of each weight: quantiles of the order of sizes, equal ones together.
/// Positive and negative weights have bins of their own, where there are enough of
/// both; weights times -1 are in the same ones.
pub fn weight_bins(weights: &[f64]) -> (Vec<usize>, usize) {
    let least = weights.len().div_ceil(BINS).max(1);
    let (negative, positive): (Vec<usize>, Vec<usize>) =
        (0..weights.len()).partition(|&link| weights[link] < 0.0);
    let groups = match negative.len().min(positive.len()) < least {
        true => vec![(0..weights.len()).collect()],
        false => vec![positive, negative],
    };
    let mut bins = vec![0; weights.len()];
    let first = groups.into_iter().fold(0, |first, group| {
        bins_from(first, group, weights, least, &mut bins)
    });
    (bins, first)
}

/// Puts links into bins from a number on; the next number that is free.
fn bins_from(
    first: usize,
    mut order: Vec<usize>,
    weights: &[f64],
    least: usize,
    bins: &mut [usize],
) -> usize {
    let size = |link: usize| weights[link].abs();
    order.sort_by(|&a, &b| size(a).total_cmp(&size(b)).then(a.cmp(&b)));
    let (mut bin, mut filled) = (first, 0);
    for (place, &link) in order.iter().enumerate() {
        let fresh = place > 0 && size(order[place - 1]) != size(link);
        // A heavy tail of equal weights gets a bin of its own: those before it
        // would hide it.
        if fresh && (filled >= least || tied(weights, &order, place) >= least / 2) {
            (bin, filled) = (bin + 1, 0);
        }
        bins[link] = bin;
        filled += 1;
    }
    if order.is_empty() { first } else { bin + 1 }
}

/// How many links from a place in the order on have the same weight.
fn tied(weights: &[f64], order: &[usize], place: usize) -> usize {
    let size = weights[order[place]].abs();
    let rest = order[place..].iter();
    rest.take_while(|&&link| weights[link].abs() == size)
        .count()
}

/// What weights tell.
#[derive(Debug, Clone)]
pub struct ByWeight {
    /// The belief in each link.
    pub beliefs: Vec<f64>,
    /// What the odds of each link were multiplied by.
    pub odds: Vec<f64>,
}

/// Beliefs with the weights as further evidence.
pub fn with_weights(beliefs: &[f64], weights: &[f64]) -> ByWeight {
    let (bins, n_bins) = weight_bins(weights);
    let mut found = ByWeight {
        beliefs: beliefs.to_vec(),
        odds: vec![1.0; beliefs.len()],
    };
    if n_bins < 2 {
        return found;
    }
    let mut pooled = vec![0.0; n_bins];
    bins.iter()
        .for_each(|&bin| pooled[bin] += 1.0 / bins.len() as f64);
    for _ in 0..ROUNDS {
        let start = || pooled.iter().map(|share| PSEUDO_COUNTS * share).collect();
        let (mut sound, mut wrong): (Vec<f64>, Vec<f64>) = (start(), start());
        for (&bin, &belief) in bins.iter().zip(&found.beliefs) {
            sound[bin] += belief;
            wrong[bin] += 1.0 - belief;
        }
        let total = |list: &[f64]| list.iter().sum::<f64>();
        let factor = total(&wrong) / total(&sound);
        for (link, &bin) in bins.iter().enumerate() {
            found.odds[link] = sound[bin] / wrong[bin] * factor;
            let base = beliefs[link].clamp(1.0 - CERTAIN, CERTAIN);
            let odds = base / (1.0 - base) * found.odds[link];
            found.beliefs[link] = odds / (1.0 + odds);
        }
    }
    found
}

/// For each link the share of sound links among the least believed down to it, or
/// to a later one where that is less: `(1 + sum of beliefs) / links`. The 1 keeps a
/// claim about few links from resting on luck (Barber and Candes add it to their
/// knockoffs); it is nothing to many.
pub fn discovery_rates(beliefs: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..beliefs.len()).collect();
    order.sort_by(|&a, &b| beliefs[a].total_cmp(&beliefs[b]).then(a.cmp(&b)));
    let mut sum: f64 = order.iter().map(|&link| beliefs[link]).sum();
    let mut rates = vec![0.0; beliefs.len()];
    let (mut least, mut equal) = (1.0f64, 1.0);
    for (place, &link) in order.iter().enumerate().rev() {
        // Links that are believed alike stand or fall together.
        let next = order.get(place + 1);
        if next.is_none_or(|&next| beliefs[next] != beliefs[link]) {
            equal = (1.0 + sum) / (place + 1) as f64;
        }
        least = least.min(equal);
        rates[link] = least;
        sum -= beliefs[link];
    }
    rates
}

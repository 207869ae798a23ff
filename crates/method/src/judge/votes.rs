//! Weights and the user's columns as evidence: their scores, and what they add to beliefs.

use linkproof_numeric::math;

use super::combine::{moments, normal_scores, standardize};
use super::pairs::Pairs;
use super::strata::{Strata, quantile};

/// Normal scores of ranks inside each stratum, standardized; 0 where nothing is known.
/// None if the values that are known are all equal.
pub(super) fn scores_in_strata(values: &[f64], strata: &Strata, pairs: &Pairs) -> Option<Vec<f64>> {
    let mut known = values.iter().filter(|x| !x.is_nan());
    let first = known.next()?;
    known.find(|x| *x != first)?;
    let mut z = vec![0.0; values.len()];
    for members in &strata.members {
        let inside: Vec<usize> = members
            .iter()
            .map(|&place| place as usize)
            .filter(|&place| pairs.is_link(place) && !values[place].is_nan())
            .collect();
        let scores = normal_scores(
            &inside
                .iter()
                .map(|&place| values[place])
                .collect::<Vec<_>>(),
        );
        inside
            .iter()
            .zip(scores)
            .for_each(|(&place, score)| z[place] = score);
    }
    let m = z.len();
    if moments(&z).1 == 0.0 {
        return None;
    }
    standardize(&mut z, m);
    Some(z)
}

/// Log odds that a vote adds: how often such a vote is found among believed and among
/// disbelieved links.
pub(super) fn odds_by_vote(beliefs: &[f64], vote: &[f64]) -> Vec<f64> {
    const BINS: usize = 20;
    /// So many links' worth of the usual frequencies: with little evidence the odds stay.
    const USUAL: f64 = 10.0;
    let mut sorted = vote.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut edges: Vec<f64> = (1..BINS)
        .map(|bin| quantile(&sorted, bin as f64 / BINS as f64))
        .collect();
    edges.dedup();
    let bin = |x: f64| edges.partition_point(|&edge| edge < x);
    let (mut real, mut wrong) = (vec![0.0; BINS], vec![0.0; BINS]);
    for (&belief, &x) in beliefs.iter().zip(vote) {
        real[bin(x)] += belief;
        wrong[bin(x)] += 1.0 - belief;
    }
    let total = |counts: &[f64]| counts.iter().sum::<f64>();
    let (all_real, all_wrong) = (total(&real), total(&wrong));
    let log_odds: Vec<f64> = (0..BINS)
        .map(|at| {
            let usual = USUAL * real[at] / all_real;
            let p = (real[at] + usual) / (all_real + USUAL) + 1e-12;
            let q = (wrong[at] + usual) / (all_wrong + USUAL) + 1e-12;
            math::ln(p / q)
        })
        .collect();
    vote.iter().map(|&x| log_odds[bin(x)]).collect()
}

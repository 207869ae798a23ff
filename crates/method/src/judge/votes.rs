//! Weights and the user's columns as evidence: how they vote, and what that adds to beliefs.

use linkproof_numeric::math;
use linkproof_numeric::real::add_scaled;

use super::combine::{moments, normal_scores, standardize};
use super::outcome::{Cause, EvidenceColumn, Facts, Unused};
use super::pairs::Pairs;
use super::strata::{Strata, quantile};

/// The name of the weights among the columns.
pub(super) const WEIGHT: &str = "weight";

/// Columns vote together, and once: each by its correlation with the ranking so far, so that
/// noise counts nothing and copies count once. Adds the vote to the ranking.
pub(super) fn vote(
    likely: &mut [f64],
    columns: &[EvidenceColumn],
    coarse: &Strata,
    pairs: &Pairs,
    facts: &mut Facts,
) -> Option<Vec<f64>> {
    let m = likely.len();
    standardize(likely, m);
    let correlation = |z: &[f64], likely: &[f64]| {
        let products = z.iter().zip(likely).map(|(z, x)| z * x);
        products.sum::<f64>() / m as f64
    };
    let mut heard: Option<Vec<f64>> = None;
    for EvidenceColumn { name, values } in columns {
        let Some(z) = scores_in_strata(values, coarse, pairs) else {
            facts.unused.push(Unused {
                name: name.clone(),
                cause: Cause::Constant,
            });
            continue;
        };
        let agrees = correlation(&z, likely);
        if name == WEIGHT {
            facts.weight_agreement = Some(agrees);
        }
        add_scaled(heard.get_or_insert_with(|| vec![0.0; m]), agrees, &z);
    }
    let mut heard = heard?;
    standardize(&mut heard, m);
    let slope = correlation(&heard, likely);
    add_scaled(likely, slope, &heard);
    Some(heard)
}

/// Normal scores of ranks inside each stratum, standardized; 0 where nothing is known.
/// None if the values that are known are all equal.
fn scores_in_strata(values: &[f64], strata: &Strata, pairs: &Pairs) -> Option<Vec<f64>> {
    let mut known = values.iter().filter(|x| !x.is_nan());
    let first = known.next()?;
    known.find(|x| *x != first)?;
    let mut z = vec![0.0; values.len()];
    for members in &strata.members {
        let inside = members.iter().map(|&place| place as usize);
        let inside = inside.filter(|&place| pairs.is_link(place) && !values[place].is_nan());
        let inside: Vec<usize> = inside.collect();
        let of_links: Vec<f64> = inside.iter().map(|&place| values[place]).collect();
        for (place, score) in inside.into_iter().zip(normal_scores(&of_links)) {
            z[place] = score;
        }
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
    let edge = |bin: usize| quantile(&sorted, bin as f64 / BINS as f64);
    let mut edges: Vec<f64> = (1..BINS).map(edge).collect();
    edges.dedup();
    let bin = |x: f64| edges.partition_point(|&edge| edge < x);
    let (mut real, mut wrong) = (vec![0.0; BINS], vec![0.0; BINS]);
    for (&belief, &x) in beliefs.iter().zip(vote) {
        real[bin(x)] += belief;
        wrong[bin(x)] += 1.0 - belief;
    }
    let [all_real, all_wrong] = [&real, &wrong].map(|counts| counts.iter().sum::<f64>());
    let log_odds = real.iter().zip(&wrong).map(|(real, wrong)| {
        let usual = USUAL * real / all_real;
        let p = (real + usual) / (all_real + USUAL) + 1e-12;
        let q = (wrong + usual) / (all_wrong + USUAL) + 1e-12;
        math::ln(p / q)
    });
    let log_odds: Vec<f64> = log_odds.collect();
    vote.iter().map(|&x| log_odds[bin(x)]).collect()
}

//! Two combinations of the evidence: one learned from non-links, one by agreement among
//! the links alone.

use linkproof_numeric::linear::{solve, symmetric_eigen};
use linkproof_numeric::math;
use linkproof_numeric::real::add_scaled;
use linkproof_numeric::special::normal_quantile;
use rayon::prelude::*;

use super::outcome::Kind;
use super::pairs::{FOLDS, Pairs};
use super::strata::middle_ranks;

/// The penalty on squared slopes, in total weights.
const PENALTY: f64 = 1e-3;
const NEWTON_STEPS: usize = 50;
/// A slope of the objective below this, for each unit of weight, ends the search.
const FLAT: f64 = 1e-8;
/// A kind takes part in the agreement if links outrank non-links by it so often.
const APART: f64 = 0.55;
/// Links join unlike nodes if pairs of traits outrank shared traits by so much.
const BETTER: f64 = 0.05;
/// The largest part of a kind's variance that the common factor explains.
const MOST_EXPLAINED: f64 = 0.95;
const MOST_IN_WEIGHT: f64 = 0.94;
const FACTOR_ROUNDS: usize = 200;
/// With fewer kinds there is no factor to find.
const LEAST_KINDS: usize = 3;

/// Less the mean of the first `count`, over their standard deviation.
pub(super) fn standardize(values: &mut [f64], count: usize) {
    let (mean, deviation) = moments(&values[..count]);
    for x in values {
        *x = (*x - mean) / (deviation + 1e-12);
    }
}

/// The mean and the standard deviation.
pub(super) fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (mean, square.sqrt())
}

/// Standard normal quantiles of the ranks.
pub(super) fn normal_scores(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let ranks = middle_ranks(values);
    ranks
        .into_iter()
        .map(|rank| normal_quantile(rank / (n + 1.0)))
        .collect()
}

/// How often links outrank non-links by a kind.
pub(super) struct Apart {
    pub kind: Kind,
    pub auc: f64,
}

/// Whether links join unlike nodes: groups with other groups, buyers with sellers.
pub(super) fn joins_unlike(apart: &[Apart]) -> bool {
    let of = |kind| apart.iter().find(|it| it.kind == kind).map(|it| it.auc);
    let shared = of(Kind::SharedTraits).unwrap_or(1.0);
    of(Kind::TraitPairs).unwrap_or(0.0) >= shared + BETTER
}

/// The two combinations of the evidence.
pub(super) struct Combined {
    /// Of each link, for ranking.
    pub likely: Vec<f64>,
    /// Of links and non-links alike, for claims.
    pub plain: Vec<f64>,
    /// What each kind weighs in the agreement.
    pub loadings: Vec<f64>,
}

/// Adds both combinations. The link the other way is in the learned score alone.
pub(super) fn combined(
    tails: &[Vec<f32>],
    kinds: &[Apart],
    reverse: Option<Vec<f32>>,
    pairs: &Pairs,
) -> Combined {
    let m = pairs.n_links;
    let mut columns: Vec<&[f32]> = tails.iter().map(Vec::as_slice).collect();
    let (mut agreed, loadings) = agreement(&columns, kinds, m);
    let weighed = |place: usize| {
        let terms = tails.iter().zip(&loadings);
        terms
            .map(|(tails, loading)| loading * f64::from(tails[place]))
            .sum()
    };
    let mut plain: Vec<f64> = (0..pairs.len()).map(weighed).collect();
    columns.extend(reverse.as_deref());
    let mut learned = learned(&columns, pairs);
    let mut likely = learned[..m].to_vec();
    standardize(&mut likely, m);
    standardize(&mut agreed, m);
    add_scaled(&mut likely, 1.0, &agreed);
    standardize(&mut likely, m);
    standardize(&mut learned, m);
    standardize(&mut plain, m);
    add_scaled(&mut plain, 1.0, &learned);
    Combined {
        likely,
        plain,
        loadings,
    }
}

/// Links against non-links by logistic regression: slopes are not negative, both sides
/// have the same total weight, and each fold is scored by the regression of the others.
pub(super) fn learned(columns: &[&[f32]], pairs: &Pairs) -> Vec<f64> {
    let weight = pairs.n_links as f64 / pairs.n_non_links.max(1) as f64;
    let compared = (pairs.n_links + pairs.n_non_links) as u32;
    let of_rest = |fold: usize| {
        let is_in_rest = |place: &u32| usize::from(pairs.fold[*place as usize]) != fold;
        let places: Vec<u32> = (0..compared).filter(is_in_rest).collect();
        let n_links = places.partition_point(|&place| pairs.is_link(place as usize));
        let others = places[n_links..].iter();
        let total = others.fold(n_links as f64, |total, _| total + weight);
        let regression = Regression {
            columns,
            places,
            n_links,
            weight,
            total,
        };
        regression.fit()
    };
    let folds: Vec<Vec<f64>> = (0..FOLDS).into_par_iter().map(of_rest).collect();
    let folds = pairs.fold.iter().map(|&fold| &folds[usize::from(fold)]);
    let scores = (0..).zip(folds).map(|(place, b)| score(columns, b, place));
    scores.collect()
}

fn score(columns: &[&[f32]], b: &[f64], place: u32) -> f64 {
    let terms = columns.iter().zip(&b[1..]);
    terms.fold(b[0], |sum, (column, b)| {
        sum + b * f64::from(column[place as usize])
    })
}

/// A logistic regression.
struct Regression<'c> {
    columns: &'c [&'c [f32]],
    /// The pairs, of which the first `n_links` are links.
    places: Vec<u32>,
    n_links: usize,
    /// The weight of a non-link, and of all pairs together.
    weight: f64,
    total: f64,
}

impl Regression<'_> {
    /// Each pair with its weight, and whether it is a link.
    fn pairs(&self) -> impl Iterator<Item = (u32, f64, bool)> {
        let pairs = self.places.iter().enumerate();
        pairs.map(|(at, &place)| {
            let is_link = at < self.n_links;
            (place, if is_link { 1.0 } else { self.weight }, is_link)
        })
    }

    /// The penalized objective.
    fn value(&self, b: &[f64]) -> f64 {
        let of_pair = |(place, w, is_link): (u32, f64, bool)| {
            let z = score(self.columns, b, place);
            // The logarithm of 1 + e^(-z) for a link, of 1 + e^z for a non-link.
            let z = if is_link { -z } else { z };
            w * (z.max(0.0) + math::ln_1p(math::exp(-z.abs())))
        };
        let squares: f64 = b[1..].iter().map(|x| x * x).sum();
        self.pairs().map(of_pair).sum::<f64>() + PENALTY * self.total * squares
    }

    /// The gradient and the matrix of second derivatives.
    fn derivatives(&self, b: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let size = b.len();
        let (mut gradient, mut hessian) = (vec![0.0; size], vec![0.0; size * size]);
        let mut x = vec![1.0; size];
        for (place, w, is_link) in self.pairs() {
            for (x, column) in x[1..].iter_mut().zip(self.columns) {
                *x = f64::from(column[place as usize]);
            }
            let p = 1.0 / (1.0 + math::exp(-score(self.columns, b, place)));
            let y = f64::from(u8::from(is_link));
            let (along, across) = (w * (p - y), w * p * (1.0 - p));
            for row in 0..size {
                gradient[row] += along * x[row];
                for column in 0..=row {
                    hessian[row * size + column] += across * x[row] * x[column];
                }
            }
        }
        for at in 1..size {
            gradient[at] += 2.0 * PENALTY * self.total * b[at];
            hessian[at * size + at] += 2.0 * PENALTY * self.total;
        }
        for row in 0..size {
            for column in 0..row {
                hessian[column * size + row] = hessian[row * size + column];
            }
        }
        (gradient, hessian)
    }

    /// Intercept and slopes by Newton steps that keep slopes at 0 or above.
    fn fit(&self) -> Vec<f64> {
        let size = self.columns.len() + 1;
        let mut b = vec![1.0; size];
        b[0] = 0.0;
        let mut best = self.value(&b);
        for _ in 0..NEWTON_STEPS {
            let (gradient, hessian) = self.derivatives(&b);
            let is_free = |&at: &usize| at == 0 || b[at] > 0.0 || gradient[at] < 0.0;
            let free: Vec<usize> = (0..size).filter(is_free).collect();
            let slope: Vec<f64> = free.iter().map(|&at| gradient[at]).collect();
            let largest = slope.iter().map(|x| x.abs()).fold(0.0, f64::max);
            if largest < FLAT * self.total {
                break;
            }
            let rows = free.iter().map(|row| &hessian[row * size..]);
            let inner = rows.flat_map(|row| free.iter().map(|&column| row[column]));
            let inner: Vec<f64> = inner.collect();
            let Some(step) = solve(&inner, free.len(), &slope) else {
                break;
            };
            let moved = |length: f64| {
                let mut next = b.clone();
                for (&at, step) in free.iter().zip(&step) {
                    let least = if at > 0 { 0.0 } else { f64::NEG_INFINITY };
                    next[at] = (next[at] - length * step).max(least);
                }
                let value = self.value(&next);
                (next, value)
            };
            let lengths = std::iter::successors(Some(1.0), |length| Some(length / 2.0));
            let mut steps = lengths.take_while(|length| *length >= 1e-6).map(moved);
            let Some(next) = steps.find(|(_, value)| *value < best) else {
                break;
            };
            (b, best) = next;
        }
        b
    }
}

/// One factor behind the evidence among the links: its weights need no non-links, so it
/// adapts to false links that do not look like random pairs. A number for each link, and
/// what each kind's tail weighs in it: 0 for kinds that take no part.
pub(super) fn agreement(
    columns: &[&[f32]],
    apart: &[Apart],
    n_links: usize,
) -> (Vec<f64>, Vec<f64>) {
    let unlike = joins_unlike(apart);
    let takes_part = |&at: &usize| match apart[at].kind {
        Kind::TraitPairs | Kind::NeighborFeatures => unlike,
        Kind::SharedTraits if unlike => false,
        _ => apart[at].auc >= APART,
    };
    let mut used: Vec<usize> = (0..apart.len()).filter(takes_part).collect();
    if used.is_empty() {
        // The kind that tells links from non-links best.
        let best = (0..apart.len()).max_by(|&a, &b| apart[a].auc.total_cmp(&apart[b].auc));
        used.extend(best);
    }
    let links = |at: usize| columns[at][..n_links].iter().map(|&x| f64::from(x));
    let standard = used.iter().map(|&at| {
        let mut column: Vec<f64> = links(at).collect();
        standardize(&mut column, n_links);
        column
    });
    let standard: Vec<Vec<f64>> = standard.collect();
    let mut weights = factor_weights(&standard);
    if used.len() < LEAST_KINDS || weights.iter().all(|&weight| weight == 0.0) {
        weights = vec![1.0; used.len()];
    }
    let mut score = vec![0.0; n_links];
    let mut loadings = vec![0.0; columns.len()];
    for ((at, column), weight) in used.into_iter().zip(standard).zip(weights) {
        add_scaled(&mut score, weight, &column);
        let values: Vec<f64> = links(at).collect();
        loadings[at] = weight / (moments(&values).1 + 1e-9);
    }
    (score, loadings)
}

/// `v / (1 - v^2)` with `v` the loadings of one factor; negative ones are 0.
fn factor_weights(standard: &[Vec<f64>]) -> Vec<f64> {
    let k = standard.len();
    let mut covariance = vec![0.0; k * k];
    for row in 0..k {
        for column in 0..=row {
            let products = standard[row].iter().zip(&standard[column]);
            let sum: f64 = products.map(|(x, y)| x * y).sum();
            let mean = sum / standard[row].len().max(1) as f64;
            covariance[row * k + column] = mean;
            covariance[column * k + row] = mean;
        }
    }
    let mut explained = vec![0.5; k];
    let mut v = vec![0.0; k];
    for _ in 0..FACTOR_ROUNDS {
        for at in 0..k {
            covariance[at * k + at] = explained[at];
        }
        let (values, vectors) = symmetric_eigen(&covariance, k);
        let root = values.last().map_or(0.0, |value| value.max(0.0).sqrt());
        for at in 0..k {
            v[at] = vectors[at * k + k - 1] * root;
            explained[at] = (v[at] * v[at]).clamp(0.0, MOST_EXPLAINED);
        }
    }
    let sign = if v.iter().sum::<f64>() < 0.0 {
        -1.0
    } else {
        1.0
    };
    let weight = |v: &f64| (v * sign).max(0.0) / (1.0 - (v * v).min(MOST_IN_WEIGHT));
    v.iter().map(weight).collect()
}

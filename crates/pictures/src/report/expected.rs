//! Degrees and weights beside those that a fit expects.
//!
//! The degree of a node is about Poisson around the sum over its pairs of the chances
//! of a link. A link's weight has the model's law of sizes, or is Poisson around `mu`
//! given that it is not zero.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use linkproof_method::data::graph::Graph;
use linkproof_method::data::transform::transform_weight;
use linkproof_method::model::Fitted;
use linkproof_method::score::log_tail;
use linkproof_method::size::SizeLaw;
use linkproof_numeric::math;

/// What each bin holds, in words; how many there are, and how many a fit expects.
#[derive(Serialize)]
pub(super) struct Histogram {
    labels: Vec<String>,
    observed: Vec<f64>,
    expected: Vec<f64>,
    /// The largest value of each bin; of the last infinity.
    #[serde(skip)]
    ends: Vec<f64>,
}

/// The sums over all pairs of so many nodes stand for those of all.
pub(super) const MOST_NODES: usize = 4_000;

/// The ends of bins of whole numbers: the first ones alone, then half as many again each
/// time. The last one holds `largest` and everything above.
fn bins(first: u64, largest: f64) -> Vec<f64> {
    let (mut ends, mut end) = (Vec::new(), first);
    while (end as f64) < largest && ends.len() < 63 {
        ends.push(end as f64);
        let start = end + 1;
        end += if start < 4 { 1 } else { start.div_ceil(2) };
    }
    ends.push(f64::INFINITY);
    ends
}

/// A bin of whole numbers from one to another.
fn label(start: f64, end: f64) -> String {
    if end == f64::INFINITY {
        format!("{start}+")
    } else if end == start {
        start.to_string()
    } else {
        format!("{start}-{end}")
    }
}

impl Histogram {
    /// Sorts values into bins. `label` gets the end of the bin before, which is `before` for
    /// the first one, and the bin's own.
    fn new(
        ends: Vec<f64>,
        before: f64,
        label: impl Fn(f64, f64) -> String,
        values: impl Iterator<Item = f64>,
    ) -> Histogram {
        let starts = std::iter::once(&before).chain(&ends);
        let labels = starts.zip(&ends).map(|(&start, &end)| label(start, end));
        let labels = labels.collect();
        let mut observed = vec![0.0; ends.len()];
        values.for_each(|value| observed[ends.partition_point(|&end| end < value)] += 1.0);
        Histogram {
            labels,
            expected: vec![0.0; ends.len()],
            observed,
            ends,
        }
    }

    /// Expects a value, by the chance of larger ones than the end of a bin, and of any.
    fn add(&mut self, any: f64, above: impl Fn(f64) -> f64) {
        let mut before = any;
        for (sum, &end) in self.expected.iter_mut().zip(&self.ends) {
            let larger = if end == f64::INFINITY {
                0.0
            } else {
                above(end)
            };
            *sum += (before - larger).max(0.0);
            before = larger;
        }
    }
}

/// The chance that a Poisson number of this mean is larger than a whole number.
fn above(end: f64, mean: f64) -> f64 {
    math::exp(log_tail(end + 1.0, mean))
}

/// The degrees of all nodes.
pub(super) fn degrees(model: &Fitted, links: &Graph) -> Histogram {
    let degrees = links.degrees();
    let largest = degrees.iter().copied().max().unwrap_or(0);
    let ends = bins(0, f64::from(largest).max(8.0));
    let values = degrees.iter().map(|&degree| f64::from(degree));
    let whole = |before: f64, end| label(before + 1.0, end);
    let mut found = Histogram::new(ends, -1.0, whole, values);
    let n = model.n_nodes();
    let some = sample(n, model.params().seed);
    let means = some.par_iter().map(|&row| expected_degree(model, row));
    for mean in means.collect::<Vec<f64>>() {
        found.add(1.0, |end| above(end, mean));
    }
    let scale = n as f64 / some.len().max(1) as f64;
    found.expected.iter_mut().for_each(|sum| *sum *= scale);
    found
}

/// Rows drawn at random that stand for all: their order may have a rhythm.
fn sample(n: usize, seed: u64) -> Vec<usize> {
    if n <= MOST_NODES {
        return (0..n).collect();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x6465_6772);
    let mut rows = rand::seq::index::sample(&mut random, n, MOST_NODES).into_vec();
    rows.sort_unstable();
    rows
}

/// The sum over the pairs of a node of the chance of a link.
fn expected_degree(model: &Fitted, row: usize) -> f64 {
    let view = |row: usize| model.node_views()[row] as usize;
    let takes_part = |other: usize| {
        let (d, e) = (view(row).min(view(other)), view(row).max(view(other)));
        model.view_pairs().contains(&(d, e))
    };
    let others = (0..model.n_nodes()).filter(|&other| other != row && takes_part(other));
    others.map(|other| model.p_link(row, other)).sum()
}

/// Weights of two signs, and how many are expected by the law of sizes.
fn signed_weights(model: &Fitted, law: &SizeLaw, links: &Graph) -> Histogram {
    const BINS: usize = 12;
    let mut sorted = links.weights().to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64) as usize];
    let (from, to) = (at(0.01), at(0.99));
    let edges = (1..BINS).map(|edge| from + (to - from) * edge as f64 / BINS as f64);
    let ends = edges.chain([f64::INFINITY]).collect();
    let label = |before: f64, end: f64| {
        if before == f64::NEG_INFINITY {
            format!("below {end:.3}")
        } else if end == f64::INFINITY {
            format!("above {before:.3}")
        } else {
            format!("{before:.3} to {end:.3}")
        }
    };
    let values = links.weights().iter().copied();
    let mut found = Histogram::new(ends, f64::NEG_INFINITY, label, values);
    for link in links.links() {
        let pair = model.pair(link.src as usize, link.dst as usize);
        found.add(1.0, |end| 1.0 - law.rank(end, pair.similarity).1);
    }
    found
}

/// The weights of the links, as the fit sees them.
pub(super) fn weights(model: &Fitted, links: &Graph) -> Histogram {
    if let Some(law) = model.sizes().filter(|law| law.is_signed()) {
        return signed_weights(model, law, links);
    }
    let transform = model.params().weights;
    let seen = links.weights().iter();
    let seen: Vec<f64> = seen
        .map(|&weight| transform_weight(weight, transform))
        .collect();
    let largest = seen.iter().copied().fold(1.0, f64::max);
    let is_whole = seen.iter().all(|weight| weight.fract() == 0.0);
    let label = |before: f64, end: f64| {
        if is_whole {
            label(before + 1.0, end)
        } else if end == f64::INFINITY {
            format!("above {before}")
        } else {
            format!("{before} to {end}")
        }
    };
    let ends = bins(1, largest.max(4.0));
    let mut found = Histogram::new(ends, 0.0, label, seen.into_iter());
    for link in links.links() {
        let pair = model.pair(link.src as usize, link.dst as usize);
        let (mu, linked) = (pair.mu, pair.p_link);
        if let Some(law) = model.sizes() {
            // A bin begins above the end of the one before.
            let above = |end: f64| math::exp(law.log_chance(end + 1e-3, pair.similarity));
            found.add(1.0, above);
        } else if linked > 0.0 {
            found.add(above(0.0, mu) / linked, |end| above(end, mu) / linked);
        } else {
            // By rounding; the smallest weight is all that can be expected.
            found.expected[0] += 1.0;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees_of(values: &[f64], largest: f64) -> Histogram {
        let whole = |before: f64, end| label(before + 1.0, end);
        Histogram::new(bins(0, largest), -1.0, whole, values.iter().copied())
    }

    #[test]
    fn bins_grow_and_hold_everything() {
        let found = degrees_of(&[0.0, 1.5, 5.0, 1e9], 100.0);
        assert_eq!(found.labels[..6], ["0", "1", "2", "3", "4-5", "6-8"]);
        assert_eq!(found.labels[found.labels.len() - 1], "72+");
        assert_eq!(found.observed[..6], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!(found.observed[found.ends.len() - 1], 1.0);
        assert_eq!(bins(1, 1e30).len(), 64);
    }

    #[test]
    fn chances_of_all_bins_add_up() {
        for mean in [1e-9, 0.3, 4.0, 50.0] {
            let mut found = degrees_of(&[], 200.0);
            found.add(1.0, |end| above(end, mean));
            let sum: f64 = found.expected.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{mean}: {sum}");
            let none = (-mean).exp();
            assert!((found.expected[0] - none).abs() < 1e-12, "{mean}");
        }
    }
}

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
}

/// The sums over all pairs of so many nodes stand for those of all.
pub(super) const MOST_NODES: usize = 4_000;

/// Bins of whole numbers: the first ones alone, then half as many again each
/// time. The last one holds `largest` and everything above.
fn bins(first: u64, largest: f64) -> Vec<(u64, u64)> {
    let mut bins = vec![(first, first)];
    while let Some(&(_, end)) = bins.last()
        && (end as f64) < largest
        && bins.len() < 64
    {
        let start = end + 1;
        let width = if start < 4 { 1 } else { start.div_ceil(2) };
        bins.push((start, start + width - 1));
    }
    if let Some(last) = bins.last_mut() {
        last.1 = u64::MAX;
    }
    bins
}

fn label(&(start, end): &(u64, u64)) -> String {
    match end {
        u64::MAX => format!("{start}+"),
        end if end == start => start.to_string(),
        end => format!("{start}-{end}"),
    }
}

fn bin_of(bins: &[(u64, u64)], value: f64) -> usize {
    // A weight between two whole numbers counts as the larger one.
    let place = bins.partition_point(|&(_, end)| (end as f64) < value.ceil());
    place.min(bins.len() - 1)
}

fn counts(bins: &[(u64, u64)], values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut counts = vec![0.0; bins.len()];
    values.for_each(|value| counts[bin_of(bins, value)] += 1.0);
    counts
}

/// The chance that a Poisson number of this mean falls into a bin.
fn chance(&(start, end): &(u64, u64), mean: f64) -> f64 {
    let at_least = |count: u64| math::exp(log_tail(count as f64, mean));
    match end.checked_add(1) {
        Some(next) => (at_least(start) - at_least(next)).max(0.0),
        None => at_least(start),
    }
}

/// The degrees of all nodes.
pub(super) fn degrees(model: &Fitted, links: &Graph) -> Histogram {
    let degrees = links.degrees();
    let largest = degrees.iter().copied().max().unwrap_or(0);
    let bins = bins(0, f64::from(largest).max(8.0));
    let observed = counts(&bins, degrees.iter().map(|&degree| f64::from(degree)));
    let n = model.n_nodes();
    let some = sample(n, model.params().seed);
    let means = some.par_iter().map(|&row| expected_degree(model, row));
    let means: Vec<f64> = means.collect();
    let scale = n as f64 / some.len().max(1) as f64;
    let chances = |bin| means.iter().map(|&mean| chance(bin, mean)).sum::<f64>();
    let expected = bins.iter().map(|bin| scale * chances(bin));
    Histogram {
        labels: bins.iter().map(label).collect(),
        expected: expected.collect(),
        observed,
    }
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
    let edges: Vec<f64> = (1..BINS)
        .map(|edge| from + (to - from) * edge as f64 / BINS as f64)
        .collect();
    let mut observed = vec![0.0; BINS];
    let mut expected = vec![0.0; BINS];
    for link in links.links() {
        observed[edges.partition_point(|&edge| edge < link.weight)] += 1.0;
        let pair = model.pair(link.src as usize, link.dst as usize);
        let mut below = 0.0;
        for (place, sum) in expected.iter_mut().enumerate() {
            let upto = match edges.get(place) {
                Some(&edge) => law.rank(edge, pair.similarity).1,
                None => 1.0,
            };
            *sum += upto - below;
            below = upto;
        }
    }
    let label = |place: usize| match place {
        0 => format!("below {:.3}", edges[0]),
        place if place + 1 == BINS => format!("above {:.3}", edges[place - 1]),
        place => format!("{:.3} to {:.3}", edges[place - 1], edges[place]),
    };
    Histogram {
        labels: (0..BINS).map(label).collect(),
        observed,
        expected,
    }
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
    let bins = bins(1, largest.max(4.0));
    let whole = seen.iter().all(|weight| weight.fract() == 0.0);
    let label = |bin: &(u64, u64)| match (whole, bin.1) {
        (true, _) => label(bin),
        (false, u64::MAX) => format!("above {}", bin.0 - 1),
        (false, end) => format!("{} to {end}", bin.0 - 1),
    };
    let observed = counts(&bins, seen.into_iter());
    let mut expected = vec![0.0; bins.len()];
    for link in links.links() {
        let pair = model.pair(link.src as usize, link.dst as usize);
        if let Some(law) = model.sizes() {
            // A bin begins above the end of the one before.
            let above = |size: u64| math::exp(law.log_chance(size as f64 + 1e-3, pair.similarity));
            for (&(start, end), sum) in bins.iter().zip(&mut expected) {
                let heavier = if end == u64::MAX { 0.0 } else { above(end) };
                *sum += if start == 1 { 1.0 } else { above(start - 1) } - heavier;
            }
            continue;
        }
        let (mu, linked) = (pair.mu, pair.p_link);
        if !(linked > 0.0) {
            // By rounding; the smallest weight is all that can be expected.
            expected[0] += 1.0;
            continue;
        }
        for (bin, sum) in bins.iter().zip(&mut expected) {
            *sum += chance(bin, mu) / linked;
        }
    }
    Histogram {
        labels: bins.iter().map(label).collect(),
        observed,
        expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_grow_and_hold_everything() {
        let bins = bins(0, 100.0);
        assert_eq!(
            &bins[..6],
            &[(0, 0), (1, 1), (2, 2), (3, 3), (4, 5), (6, 8)]
        );
        for pair in bins.windows(2) {
            assert_eq!(pair[0].1 + 1, pair[1].0);
        }
        assert_eq!(bins[bins.len() - 1].1, u64::MAX);
        assert_eq!(label(&bins[bins.len() - 1]), "72+");
        assert_eq!(bin_of(&bins, 0.0), 0);
        assert_eq!(bin_of(&bins, 1.5), 2);
        assert_eq!(bin_of(&bins, 5.0), 4);
        assert_eq!(bin_of(&bins, 1e9), bins.len() - 1);
        assert_eq!(
            (label(&bins[0]), label(&bins[4])),
            ("0".into(), "4-5".into())
        );
    }

    #[test]
    fn chances_of_all_bins_add_up() {
        let bins = bins(0, 200.0);
        for mean in [1e-9, 0.3, 4.0, 50.0] {
            let sum: f64 = bins.iter().map(|bin| chance(bin, mean)).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{mean}: {sum}");
        }
        assert!((chance(&(0, 0), 0.3) - (-0.3f64).exp()).abs() < 1e-12);
    }
}

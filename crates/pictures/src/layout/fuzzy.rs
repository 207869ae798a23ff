//! How near neighbours are to each other, as weights from 0 to 1.

use rayon::prelude::*;

use super::nearest::Neighbors;
use linkproof_numeric::math;

/// The least width, as a share of the mean distance.
const LEAST_WIDTH: f64 = 1e-3;

/// Steps of the bisection for a width.
const HALVINGS: usize = 64;

/// A symmetric graph of weights, in compressed rows.
pub(super) struct Edges {
    starts: Vec<usize>,
    ends: Vec<(u32, f32)>,
}

impl Edges {
    /// `w_ij = v_ij + v_ji - v_ij v_ji` with `v` the weights that each point
    /// gives its own neighbours: that at least one of the two holds, if they
    /// were independent probabilities. Weights below `1 / n_epochs`, less than
    /// one visit in a run of UMAP, are left out.
    pub(super) fn new(neighbors: &Neighbors, n_epochs: usize) -> Edges {
        let each = neighbors.each.max(1);
        let n = neighbors.list.len() / each;
        let mut given: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        for (i, list) in (0u32..).zip(own_weights(neighbors).chunks_exact(each)) {
            for &(j, weight) in list {
                given[i as usize].push((j, weight));
                given[j as usize].push((i, weight));
            }
        }
        let least = 1.0 / n_epochs as f64;
        let union = |list: &mut Vec<(u32, f64)>| {
            // A neighbour is listed once, or twice where both chose each other.
            // Sorted by weight too, both ends of an edge find the same bits.
            list.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            list.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1 - kept.1 * next.1;
                }
                same
            });
            list.retain(|edge| edge.1 >= least);
        };
        given.par_iter_mut().for_each(union);
        let mut starts = vec![0];
        let mut ends = Vec::new();
        for list in given {
            ends.extend(list.into_iter().map(|(j, weight)| (j, weight as f32)));
            starts.push(ends.len());
        }
        Edges { starts, ends }
    }

    /// The neighbours of a point, and their weights.
    pub(super) fn of(&self, i: usize) -> &[(u32, f32)] {
        &self.ends[self.starts[i]..self.starts[i + 1]]
    }
}

/// `v_ij = exp(-max(0, d_ij - rho_i) / sigma_i)` for the neighbours `j` of each
/// `i`, where `rho_i` is the least distance above 0 and `sigma_i` such that the
/// weights of `k` neighbours add up to `log2 k`.
fn own_weights(neighbors: &Neighbors) -> Vec<(u32, f64)> {
    let each = neighbors.each.max(1);
    let total: f64 = neighbors.list.iter().map(|x| x.1).sum();
    let mean = total / neighbors.list.len().max(1) as f64;
    let mut weights = neighbors.list.clone();
    weights.par_chunks_exact_mut(each).for_each(|list| {
        let rho = list.iter().map(|x| x.1).find(|&d| d > 0.0);
        let beyond: Vec<f64> = list
            .iter()
            .map(|x| (x.1 - rho.unwrap_or(0.0)).max(0.0))
            .collect();
        // As in UMAP, from the point's own distances where it has any.
        let around = match rho {
            Some(_) => list.iter().map(|x| x.1).sum::<f64>() / each as f64,
            None => mean,
        };
        let sigma = width(&beyond).max(LEAST_WIDTH * around);
        for (x, beyond) in list.iter_mut().zip(beyond) {
            x.1 = membership(beyond, sigma);
        }
    });
    weights
}

fn membership(beyond: f64, sigma: f64) -> f64 {
    match beyond > 0.0 && sigma > 0.0 {
        true => math::exp(-beyond / sigma),
        false => 1.0,
    }
}

/// The `sigma` at which weights add up to `log2` of their number, by bisection;
/// near 0 where they always exceed it.
fn width(beyond: &[f64]) -> f64 {
    let target = math::log2(beyond.len() as f64);
    let farthest = beyond.iter().copied().fold(0.0, f64::max);
    let sum = |sigma: f64| -> f64 { beyond.iter().map(|&d| membership(d, sigma)).sum() };
    // At this width each of k weights is exp(-1/k) or more, and k exp(-1/k) is
    // above log2 k.
    let (mut low, mut high) = (0.0, farthest * beyond.len() as f64);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match sum(middle) > target {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_to_the_logarithm_and_the_graph_is_symmetric() {
        let list: Vec<(u32, f64)> = (0..20u32)
            .flat_map(|i| {
                (1..=15).map(move |step| {
                    let distance = f64::from(step) * (1.0 + f64::from(i % 3));
                    ((i + step) % 20, distance)
                })
            })
            .collect();
        let neighbors = Neighbors { each: 15, list };
        for own in own_weights(&neighbors).chunks_exact(15) {
            let sum: f64 = own.iter().map(|x| x.1).sum();
            assert!((sum - 15f64.log2()).abs() < 1e-6, "{sum}");
            assert_eq!(own[0].1, 1.0);
        }
        let edges = Edges::new(&neighbors, 200);
        for i in 0..20 {
            for &(j, weight) in edges.of(i) {
                assert!(weight > 0.0 && weight <= 1.0);
                let back = edges.of(j as usize).iter().find(|x| x.0 == i as u32);
                assert_eq!(back, Some(&(i as u32, weight)));
            }
        }
    }

    #[test]
    fn neighbours_at_distance_0_have_weight_1() {
        let list = (0..4u32)
            .flat_map(|i| (1..4).map(move |step| ((i + step) % 4, 0.0)))
            .collect();
        let edges = Edges::new(&Neighbors { each: 3, list }, 500);
        assert!((0..4).all(|i| edges.of(i).len() == 3 && edges.of(i)[0].1 == 1.0));
    }
}

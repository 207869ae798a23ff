//! Smoothing: means of embeddings over weighted links.

use rayon::prelude::*;

use crate::data::graph::Adjacency;

/// The embeddings after 0, 1, .. `rounds` rounds of `Y <- D^-1 (B + I) Y`, with the weights
/// `B` of the links and the row sums `D` of `B + I`: means over a node and its neighbors.
pub fn averages(links: &Adjacency, y: &[f32], dim: usize, rounds: usize) -> Vec<Vec<f32>> {
    let mut levels = vec![y.to_vec()];
    for round in 0..rounds {
        let before = &levels[round];
        let mut after = vec![0.0f32; before.len()];
        after
            .par_chunks_mut(dim)
            .enumerate()
            .for_each(|(row, out)| {
                let (targets, weights) = links.row(row);
                let others = targets.iter().zip(weights);
                let others =
                    others.map(|(&t, &weight)| (&before[t as usize * dim..][..dim], weight));
                mean(&before[row * dim..][..dim], others, out);
            });
        levels.push(after);
    }
    levels
}

/// The weighted mean of a vector, at weight 1, and others.
pub fn mean<'y>(own: &[f32], others: impl Iterator<Item = (&'y [f32], f64)>, out: &mut [f32]) {
    let mut sum: Vec<f64> = own.iter().map(|&y| f64::from(y)).collect();
    let mut total = 1.0;
    for (y, weight) in others {
        total += weight;
        for (sum, &y) in sum.iter_mut().zip(y) {
            *sum += weight * f64::from(y);
        }
    }
    for (out, sum) in out.iter_mut().zip(sum) {
        *out = (sum / total) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::graph::Graph;

    #[test]
    fn a_constant_column_stays_constant_at_every_degree() {
        // A hub, its leaves, a chain, and a node alone.
        let mut links: Vec<(u32, u32, f64)> = (1..20).map(|leaf| (0, leaf, 0.7)).collect();
        links.extend([(19, 20, 0.2), (20, 21, 1.0)]);
        let links = Graph::from_rows(23, &links).unwrap().adjacency();
        let y: Vec<f32> = (0..23).flat_map(|row| [2.0, row as f32]).collect();
        let levels = averages(&links, &y, 2, 2);
        assert_eq!(levels.len(), 3);
        for level in &levels {
            assert!(level.chunks(2).all(|y| (y[0] - 2.0).abs() < 1e-6));
            assert_eq!(level[44..], [2.0, 22.0]);
        }
        let expected = (21.0 + 20.0 * 1.0) / 2.0;
        assert!((levels[1][43] - expected).abs() < 1e-6);
    }
}

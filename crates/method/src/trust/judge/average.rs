//! Averages of embeddings over weighted links.

use rayon::prelude::*;

use crate::data::graph::Adjacency;

/// The row sums of `B + I`.
pub fn degrees(links: &Adjacency) -> Vec<f64> {
    let sum = |row| 1.0 + links.row(row).1.iter().sum::<f64>();
    (0..links.n_rows()).map(sum).collect()
}

/// So many rounds of `Y <- D^-1/2 (B + I) D^-1/2 Y`, `B` being the weights of the
/// links and `D` the row sums of `B + I`. Returns the embeddings after 0, 1, ..
/// rounds.
pub fn averages(links: &Adjacency, y: &[f32], dim: usize, rounds: usize) -> Vec<Vec<f32>> {
    let roots: Vec<f64> = degrees(links).iter().map(|d| d.sqrt()).collect();
    let mut levels = vec![y.to_vec()];
    for round in 0..rounds {
        let before = &levels[round];
        let mut after = vec![0.0f32; before.len()];
        after
            .par_chunks_mut(dim)
            .enumerate()
            .for_each(|(row, out)| {
                let scaled = |row: usize, factor: f64, sum: &mut [f64]| {
                    for (sum, &y) in sum.iter_mut().zip(&before[row * dim..][..dim]) {
                        *sum += factor * f64::from(y);
                    }
                };
                let mut sum = vec![0.0; dim];
                scaled(row, 1.0 / roots[row].powi(2), &mut sum);
                let (targets, weights) = links.row(row);
                for (&target, &weight) in targets.iter().zip(weights) {
                    let target = target as usize;
                    scaled(target, weight / (roots[row] * roots[target]), &mut sum);
                }
                for (out, sum) in out.iter_mut().zip(sum) {
                    *out = sum as f32;
                }
            });
        levels.push(after);
    }
    levels
}

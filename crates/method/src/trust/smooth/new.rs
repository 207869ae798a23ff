//! New nodes averaged with known ones, which stay as they are.

use super::row_of;
use crate::model::{End, NewLink};

/// New nodes whose links count for less than this together are embedded from
/// their data vectors alone.
const LEAST_BELIEF: f64 = 0.5;

/// The known nodes.
pub(crate) struct Known<'a> {
    /// Their embeddings before each round, row after row.
    pub levels: &'a [Vec<f32>],
    /// The dimension.
    pub dim: usize,
}

/// New nodes after as many rounds as there are levels, each link counting by its
/// weight; and whether their links count for enough.
pub(crate) fn average_new(
    known: &Known<'_>,
    encoded: &[f32],
    links: &[NewLink],
    weights: &[f64],
) -> (Vec<f32>, Vec<bool>) {
    let dim = known.dim;
    let n_new = encoded.len() / dim;
    let mut neighbors: Vec<Vec<(End, f64)>> = vec![Vec::new(); n_new];
    for (link, &weight) in links.iter().zip(weights) {
        neighbors[link.row as usize].push((link.end, weight));
        if let End::New(other) = link.end {
            neighbors[other as usize].push((End::New(link.row), weight));
        }
    }
    // Sums do not depend on the order in which links are listed.
    for neighbors in &mut neighbors {
        neighbors.sort_by_key(|(end, _)| match *end {
            End::Known(row) => (false, row),
            End::New(row) => (true, row),
        });
    }
    let of_row = |neighbors: &Vec<(End, f64)>| {
        let weights = neighbors.iter().map(|&(_, weight)| weight);
        weights.fold(1.0, |sum, weight| sum + weight)
    };
    let degrees: Vec<f64> = neighbors.iter().map(of_row).collect();
    let mut current = encoded.to_vec();
    for level in known.levels {
        let mut next = Vec::with_capacity(current.len());
        for (row, neighbors) in neighbors.iter().enumerate() {
            let mut sum = vec![0.0; dim];
            let mut add = |y: &[f32], factor: f64| {
                for (sum, &y) in sum.iter_mut().zip(y) {
                    *sum += factor * f64::from(y);
                }
            };
            add(row_of(&current, row as u32, dim), 1.0 / degrees[row]);
            for &(end, weight) in neighbors {
                let y = match end {
                    End::Known(row) => row_of(level, row, dim),
                    End::New(row) => row_of(&current, row, dim),
                };
                add(y, weight / degrees[row]);
            }
            next.extend(sum.iter().map(|&sum| sum as f32));
        }
        current = next;
    }
    let enough = degrees.iter().map(|degree| degree - 1.0 >= LEAST_BELIEF);
    (current, enough.collect())
}

/// Takes the rows of `alone` where links count for too little; how many.
pub(crate) fn without_links(values: &mut [f32], enough: &[bool], alone: &[f32]) -> usize {
    let dim = values.len() / enough.len().max(1);
    for (row, _) in enough.iter().enumerate().filter(|(_, enough)| !**enough) {
        let place = row * dim..(row + 1) * dim;
        values[place.clone()].copy_from_slice(&alone[place]);
    }
    enough.iter().filter(|enough| !**enough).count()
}

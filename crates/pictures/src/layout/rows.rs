//! Embeddings, checked, with their mean.

use std::ops::Range;

use rayon::prelude::*;

use linkproof_method::error::{Error, Result};

/// Parallel sums over rows are cut into at most this many chunks, by a rule
/// that depends on the number of rows alone.
const MAX_CHUNKS: usize = 16;

/// The fewest rows that are worth a chunk.
const MIN_CHUNK_ROWS: usize = 256;

/// Finite points of one or more dimensions. What is computed from them starts
/// from centred rows in double precision: distances by way of inner products
/// then lose nothing that the embeddings' own precision holds.
pub(super) struct Rows<'y> {
    y: &'y [f32],
    n: usize,
    dim: usize,
    mean: Vec<f64>,
}

impl<'y> Rows<'y> {
    pub(super) fn new(y: &'y [f32], n: usize, dim: usize) -> Result<Rows<'y>> {
        check(y, n, dim)?;
        let mut points = Rows {
            y,
            n,
            dim,
            mean: Vec::new(),
        };
        points.mean = points.mean_of_rows();
        Ok(points)
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// Some rows less the mean, row after row.
    pub(super) fn centred(&self, rows: Range<usize>) -> Vec<f64> {
        let rows = self.y[rows.start * self.dim..rows.end * self.dim].chunks_exact(self.dim);
        let less = |row: &'y [f32]| row.iter().zip(&self.mean).map(|(&x, m)| f64::from(x) - m);
        rows.flat_map(less).collect()
    }

    /// The distance between two rows; exactly 0 for equal ones.
    pub(super) fn distance(&self, i: usize, j: usize) -> f64 {
        let row = |i: usize| &self.y[i * self.dim..(i + 1) * self.dim];
        let differences = row(i).iter().zip(row(j));
        let squares = differences.map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// The chunks of rows over which parallel sums run.
    pub(super) fn chunks(&self) -> Vec<Range<usize>> {
        let size = self.n.div_ceil(MAX_CHUNKS).max(MIN_CHUNK_ROWS);
        let starts = (0..self.n).step_by(size);
        starts
            .map(|start| start..self.n.min(start + size))
            .collect()
    }

    fn mean_of_rows(&self) -> Vec<f64> {
        let sum = |rows: Range<usize>| {
            let mut sum = vec![0.0; self.dim];
            for row in self.y[rows.start * self.dim..rows.end * self.dim].chunks_exact(self.dim) {
                for (sum, &x) in sum.iter_mut().zip(row) {
                    *sum += f64::from(x);
                }
            }
            sum
        };
        let sums: Vec<Vec<f64>> = self.chunks().into_par_iter().map(sum).collect();
        let mut mean = add_up(sums, self.dim);
        mean.iter_mut().for_each(|sum| *sum /= self.n as f64);
        mean
    }
}

/// The sum of vectors, in their order.
pub(super) fn add_up(parts: Vec<Vec<f64>>, len: usize) -> Vec<f64> {
    let mut sums = vec![0.0; len];
    for part in parts {
        for (sum, x) in sums.iter_mut().zip(part) {
            *sum += x;
        }
    }
    sums
}

fn check(y: &[f32], n: usize, dim: usize) -> Result<()> {
    let refused = |found: String, expected: String| Err(Error::data("embeddings", found, expected));
    if dim == 0 || n.checked_mul(dim) != Some(y.len()) {
        return refused(
            format!("{} numbers", y.len()),
            format!("those of {n} nodes in {dim} dimensions, 1 or more"),
        );
    }
    // Rows are counted in 32 bits by the layout of neighbours.
    if !(..=u32::MAX as usize).contains(&n) {
        return refused(format!("{n} nodes"), format!("at most {}", u32::MAX));
    }
    match y.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(place) => {
            let (row, column) = (place / dim, place % dim);
            let at = format!(
                "{} in row {row}, column {column} (counted from 0)",
                y[place]
            );
            refused(at, "finite numbers".into())
        }
    }
}

//! The two principal components.

use std::ops::Range;

use rayon::prelude::*;

use crate::real::{Packed, View, dot_f64};

use super::eigen;
use super::points::{Points, add_up};

/// Rows that enter the covariance together.
const ROWS: usize = 256;

/// Points along their two directions of largest variance.
pub(super) struct Principal {
    /// The coordinates; zeros where there is nothing to spread them.
    pub(super) coordinates: Vec<[f64; 2]>,
    /// The share of the variance; none where there is no variance.
    pub(super) explained: Option<f64>,
    /// The unit vectors, one or two, the first of them of largest variance.
    #[cfg(test)]
    pub(super) directions: Vec<Vec<f64>>,
}

impl Principal {
    pub(super) fn new(points: &Points) -> Principal {
        let dim = points.dim();
        let covariance = covariance(points);
        let trace: f64 = covariance.iter().step_by(dim + 1).sum();
        // Equal rows less their mean are exactly 0: the sum of up to 2^29 equal
        // numbers of single precision has no rounding in double precision.
        if !(trace > 0.0) {
            return Principal {
                coordinates: vec![[0.0; 2]; points.len()],
                explained: None,
                #[cfg(test)]
                directions: Vec::new(),
            };
        }
        let pairs = eigen::largest(covariance, dim, 2);
        let held: f64 = pairs.iter().map(|(value, _)| value).sum();
        let directions: Vec<Vec<f64>> = pairs.into_iter().map(|(_, v)| with_sign(v)).collect();
        let project = |rows: Range<usize>| {
            let centred = points.centred(rows);
            let along = |row: &[f64], axis: usize| -> f64 {
                directions.get(axis).map_or(0.0, |v| dot_f64(row, v))
            };
            let pair = |row: &[f64]| [along(row, 0), along(row, 1)];
            centred.chunks_exact(dim).map(pair).collect::<Vec<_>>()
        };
        let blocks = (0..points.len()).into_par_iter().step_by(ROWS);
        let parts: Vec<Vec<[f64; 2]>> = blocks
            .map(|start| project(start..points.len().min(start + ROWS)))
            .collect();
        Principal {
            coordinates: parts.concat(),
            explained: Some((held / trace).clamp(0.0, 1.0)),
            #[cfg(test)]
            directions,
        }
    }
}

/// `sum_i (y_i - m)(y_i - m)^T / n` with `m` the mean.
fn covariance(points: &Points) -> Vec<f64> {
    let dim = points.dim();
    let of_chunk = |chunk: Range<usize>| {
        let mut sum = vec![0.0; dim * dim];
        let mut memory = Vec::new();
        for start in chunk.clone().step_by(ROWS) {
            let rows = start..chunk.end.min(start + ROWS);
            let n_rows = rows.len();
            let centred = points.centred(rows);
            let view = View::new(&centred, n_rows, dim);
            memory.resize(Packed::<f64>::size(n_rows, dim), 0.0);
            let packed = Packed::new(&mut memory, view);
            packed.multiply(&mut sum, view.t(), 0..n_rows, true);
        }
        sum
    };
    let parts = points.chunks().into_par_iter().map(of_chunk).collect();
    let mut covariance = add_up(parts, dim * dim);
    let n = points.len() as f64;
    covariance.iter_mut().for_each(|sum| *sum /= n);
    covariance
}

/// The vector or its negative, whichever has a positive largest entry (the
/// first of several).
fn with_sign(mut vector: Vec<f64>) -> Vec<f64> {
    let largest = vector.iter().fold(
        0.0,
        |best: f64, &x| if x.abs() > best.abs() { x } else { best },
    );
    if largest < 0.0 {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
    vector
}

//! Points laid out for fast distances: centered, scaled and padded.

use rayon::prelude::*;

use crate::error::{Error, Result};

/// Partial sums of a dot product. Rows are padded with zeros to a multiple of
/// this, so that the compiler can keep the sums in vector registers.
const LANES: usize = 8;

/// Parallel work is cut into at most this many chunks, by a rule that depends
/// on the number of points alone.
const MAX_CHUNKS: usize = 64;

/// The fewest points that are worth a chunk.
const MIN_CHUNK_ROWS: usize = 256;

/// Points with the mean taken off, divided by the largest deviation. Distances
/// by way of norms and dot products then neither cancel needlessly nor
/// overflow, whatever the unit and the origin of the data.
pub(super) struct Points {
    values: Vec<f32>,
    stride: usize,
    norms: Vec<f32>,
    mean: Vec<f64>,
    scale: f64,
}

impl Points {
    /// Lays out `n` points of dimension `dim`, given row after row.
    pub(super) fn new(data: &[f32], n: usize, dim: usize) -> Result<Points> {
        check(data, n, dim)?;
        let mut mean = vec![0.0; dim];
        for row in data.chunks_exact(dim) {
            for (sum, &x) in mean.iter_mut().zip(row) {
                *sum += f64::from(x);
            }
        }
        mean.iter_mut().for_each(|sum| *sum /= n as f64);
        let deviation = |row: &[f32]| {
            let deviations = row
                .iter()
                .zip(&mean)
                .map(|(&x, m)| (f64::from(x) - m).abs());
            deviations.fold(0.0, f64::max)
        };
        let largest = data
            .par_chunks_exact(dim)
            .map(deviation)
            .reduce(|| 0.0, f64::max);
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let stride = dim.next_multiple_of(LANES);
        let mut values = vec![0.0; n * stride];
        values
            .par_chunks_exact_mut(stride)
            .zip(data.par_chunks_exact(dim))
            .for_each(|(row, given)| {
                for ((value, &x), m) in row.iter_mut().zip(given).zip(&mean) {
                    *value = ((f64::from(x) - m) / scale) as f32;
                }
            });
        let norms = values
            .par_chunks_exact(stride)
            .map(|row| dot(row, row))
            .collect();
        Ok(Points {
            values,
            stride,
            norms,
            mean,
            scale,
        })
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.norms.len()
    }

    /// The padded dimension.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// A point, padded.
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.stride..(row + 1) * self.stride]
    }

    /// The squared norm of a point.
    pub(super) fn norm(&self, row: usize) -> f32 {
        self.norms[row]
    }

    /// How many points make a chunk of parallel work.
    pub(super) fn chunk_rows(&self) -> usize {
        self.len().div_ceil(MAX_CHUNKS).max(MIN_CHUNK_ROWS)
    }

    /// A padded row back in the origin and unit of the data.
    pub(super) fn restore(&self, row: &[f64]) -> impl Iterator<Item = f64> {
        let coordinates = row.iter().zip(&self.mean);
        coordinates.map(|(x, mean)| x * self.scale + mean)
    }

    /// A squared distance back in the unit of the data.
    pub(super) fn restore_square(&self, square: f64) -> f64 {
        square * self.scale * self.scale
    }
}

fn check(data: &[f32], n: usize, dim: usize) -> Result<()> {
    if dim == 0 || n.checked_mul(dim) != Some(data.len()) {
        return Err(Error::data(
            "points",
            format!("{} numbers", data.len()),
            format!("{n} points of dimension {dim}, 1 or more"),
        ));
    }
    match data.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(place) => Err(Error::data(
            "points",
            format!(
                "{} in row {}, column {} (counted from 0)",
                data[place],
                place / dim,
                place % dim
            ),
            "finite numbers",
        )),
    }
}

/// The center nearest to a point `x`, the first of several, and
/// `||c||^2 / 2 - <x, c>` there, which is half the squared distance without
/// the part that all centers share.
pub(super) fn nearest(x: &[f32], centers: &[f32], half_norms: &[f32]) -> (u32, f32) {
    let rows = centers.chunks_exact(x.len()).zip(half_norms);
    let mut best = (0, f32::INFINITY);
    for (cluster, (center, half_norm)) in (0..).zip(rows) {
        let half = half_norm - dot(x, center);
        if half < best.1 {
            best = (cluster, half);
        }
    }
    best
}

/// The inner product of two padded rows.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    sum_over_lanes(a, b, |x, y| x * y)
}

/// The squared distance of two padded rows; exactly 0 for equal ones.
pub(super) fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    sum_over_lanes(a, b, |x, y| (x - y) * (x - y))
}

#[inline(always)]
fn sum_over_lanes(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (a, _) = a.as_chunks::<LANES>();
    let (b, _) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane], b[lane]);
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

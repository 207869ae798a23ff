//! Whether averaging over links keeps what the data vectors say.
//!
//! A random fifth of the columns of the data vectors is held back. Embeddings are
//! fitted from the others, averaged or not, and asked to tell the leading components
//! of what was held back, by clusters of the embeddings (nodes held out) and by
//! ridge regression. The same for another fifth. Where clusters of averages tell less than those of the
//! embeddings themselves, links join what is unlike, or averages are of lengths
//! that say more of a node's links than of the node. A regression alone sees
//! neither lengths nor what clusters would be made of.
//!
//! Clusters of the data vectors themselves are asked the same. Where they tell more
//! than clusters of the embeddings, the links lead away from what the data vectors
//! say, and these alone are the better choice.

use std::ops::Range;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use super::told::{told, told_by_clusters};
use crate::data::dataset::{DataView, Dataset};
use crate::data::features::Matrix;
use crate::data::graph::Adjacency;
use crate::data::transform::normalize;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::params::{CheckedParams, Normalize};
use crate::trust::judge::average::averages;
use crate::trust::judge::fits::{LinkFit, fit_links};

/// One column in so many is held back.
const HELD_BACK: usize = 5;
/// The components of what is held back.
const COMPONENTS: usize = 20;
/// Rounds of subspace iteration.
const ITERATIONS: usize = 8;
/// So many nodes tell enough.
pub(crate) const MOST_NODES: usize = 10_000;
/// Fits from most of the columns end early: only their ratio is read.
const TOLERANCE: f64 = 3e-4;
/// Fewer columns cannot be split.
pub const LEAST_COLUMNS: usize = 4;

/// What the gate found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Told {
    /// What the embeddings tell of held-back columns: the share of the variance.
    pub plain: f64,
    /// What their averages tell.
    pub averaged: f64,
    /// What the embeddings tell of each component, on average: an embedding of
    /// few dimensions tells little, however large the first components are.
    pub plain_each: f64,
    /// What the averages tell of each component.
    pub averaged_each: f64,
    /// What clusters of the embeddings tell: the share of the variance.
    pub plain_clusters: f64,
    /// What clusters of the averages tell.
    pub averaged_clusters: f64,
    /// What clusters of the data vectors themselves tell, without any link.
    pub vectors_clusters: f64,
}

/// Which columns are held back, the first time or the second. With half of them
/// held back embeddings would be so much worse than the user's that averages look
/// too good.
pub(crate) fn held_back(n_columns: usize, seed: u64, time: usize) -> Vec<bool> {
    let mut columns: Vec<usize> = (0..n_columns).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x6761_7465);
    columns.shuffle(&mut random);
    let count = (n_columns / HELD_BACK).max(1);
    let mut back = vec![false; n_columns];
    let chosen = columns.iter().skip(time * count).take(count);
    chosen.for_each(|&column| back[column] = true);
    back
}

/// Some rows of so many: all, or a random sample of [`MOST_NODES`], ascending.
fn sample(n_rows: usize, seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..n_rows as u32).collect();
    if n_rows > MOST_NODES {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(0x7361_6d70);
        rows.shuffle(&mut random);
        rows.truncate(MOST_NODES);
        rows.sort_unstable();
    }
    rows
}

/// The columns that are held back, the first time and the second.
pub struct HeldBack {
    seed: u64,
    times: Vec<Vec<ViewBack>>,
}

/// What is to be told of a view.
struct ViewBack {
    /// The first row of the view, and how many it has.
    rows: Range<usize>,
    /// Some of them, counted from the first.
    sample: Vec<u32>,
    /// The components of the columns that are held back.
    targets: Vec<f64>,
    count: usize,
    /// What clusters of the other columns tell of these.
    vectors_clusters: f64,
}

/// What embeddings tell.
pub struct Telling {
    /// Of the columns held back first.
    pub first: Told,
    /// Of these and those held back then, if it went on.
    pub told: Told,
    /// The fits, one for each time.
    pub fits: Vec<LinkFit>,
}

pub(super) fn enough(matrix: &Matrix) -> bool {
    matrix.n_columns() >= LEAST_COLUMNS
}

fn part(matrix: &Matrix, (seed, time): (u64, usize), is_back: bool) -> Result<Matrix> {
    let back = held_back(matrix.n_columns(), seed, time);
    some_columns(matrix, |column| back[column] == is_back)
}

impl HeldBack {
    /// None where no view has columns to hold back.
    pub fn new(params: &CheckedParams, data: &Dataset) -> Result<Option<HeldBack>> {
        let seed = params.seed;
        let split = |view: &DataView, matrix: &Matrix, time: usize| {
            let sample = sample(view.rows.len(), seed);
            let matrix = matrix.select(&sample);
            let (targets, count) = components(part(&matrix, (seed, time), true)?, seed)?;
            let (own, width) = components(part(&matrix, (seed, time), false)?, seed)?;
            let own: Vec<f32> = own.into_iter().map(|x| x as f32).collect();
            Ok(ViewBack {
                vectors_clusters: told_by_clusters(&own, width, &targets, count, seed)?,
                rows: view.rows.clone(),
                sample,
                targets,
                count,
            })
        };
        let times = (0..2).map(|time| {
            let views = data.views().iter().filter_map(|view| {
                let matrix = view.matrix.as_ref().filter(|matrix| enough(matrix))?;
                Some(split(view, matrix, time))
            });
            views.collect::<Result<Vec<ViewBack>>>()
        });
        let times = times.collect::<Result<Vec<_>>>()?;
        Ok((!times[0].is_empty()).then_some(HeldBack { seed, times }))
    }

    /// What embeddings from the other columns, plain and averaged so many rounds over
    /// links, tell of them. The second time is left out if `goes_on` says so.
    pub fn tell(
        &self,
        params: &CheckedParams,
        data: &Dataset,
        (links, rounds): (&Adjacency, usize),
        earlier: &[LinkFit],
        goes_on: &dyn Fn(&Told) -> bool,
        runtime: Runtime<'_>,
    ) -> Result<Telling> {
        let dim = params.dim;
        let (mut sums, mut weight) = ([0.0; 7], 0.0);
        let (mut fits, mut found): (_, Vec<Told>) = (Vec::new(), Vec::new());
        for (time, views) in self.times.iter().enumerate() {
            if !found.iter().all(goes_on) {
                break;
            }
            let kept = data.map_vectors(|_, matrix| match enough(matrix) {
                true => part(matrix, (self.seed, time), false),
                false => Ok(matrix.clone()),
            })?;
            let warm = earlier.get(time).map(|fit| fit.theta.as_slice());
            let fit = fit_links(params, &kept, warm, TOLERANCE, runtime)?;
            runtime.after_fit(time + 1, self.times.len());
            let averaged = averages(links, &fit.y, dim, rounds).pop();
            let averaged = averaged.unwrap_or_default();
            for view in views {
                let n = view.rows.len() as f64;
                let mut told = view.tell(&fit.y, dim, self.seed)?.to_vec();
                told.extend(view.tell(&averaged, dim, self.seed)?);
                told.push(view.vectors_clusters);
                let all = sums.iter_mut().zip(told);
                all.for_each(|(sum, told)| *sum += n * told);
                weight += n;
            }
            let mean = sums.map(|sum| sum / weight);
            found.push(Told {
                plain: mean[0],
                plain_each: mean[1],
                plain_clusters: mean[2],
                averaged: mean[3],
                averaged_each: mean[4],
                averaged_clusters: mean[5],
                vectors_clusters: mean[6],
            });
            fits.push(fit);
        }
        let (first, told) = (found[0], found[found.len() - 1]);
        Ok(Telling { first, told, fits })
    }
}

impl ViewBack {
    /// What embeddings of all nodes tell: of the variance, of each component, and by
    /// clusters.
    fn tell(&self, y: &[f32], dim: usize, seed: u64) -> Result<[f64; 3]> {
        let rows = self
            .sample
            .iter()
            .map(|&row| self.rows.start + row as usize);
        let y: Vec<f32> = rows
            .flat_map(|row| &y[row * dim..][..dim])
            .copied()
            .collect();
        let [all, each] = told(&y, dim, &self.targets, self.count, seed);
        let clusters = told_by_clusters(&y, dim, &self.targets, self.count, seed)?;
        Ok([all, each, clusters])
    }
}

/// What embeddings from most of the columns, plain and averaged so many rounds over
/// links, tell of the others. None where no view has columns to hold back.
pub fn tell(
    params: &CheckedParams,
    data: &Dataset,
    averaged: (&Adjacency, usize),
    runtime: Runtime<'_>,
) -> Result<Option<Told>> {
    let Some(back) = HeldBack::new(params, data)? else {
        return Ok(None);
    };
    let telling = back.tell(params, data, averaged, &[], &|_| true, runtime)?;
    Ok(Some(telling.told))
}

/// Some columns of a matrix.
pub(crate) fn some_columns(matrix: &Matrix, keep: impl Fn(usize) -> bool) -> Result<Matrix> {
    let kept: Vec<usize> = (0..matrix.n_columns()).filter(|&c| keep(c)).collect();
    let mut place = vec![u32::MAX; matrix.n_columns()];
    for (new, &old) in kept.iter().enumerate() {
        place[old] = new as u32;
    }
    if let Matrix::Dense(dense) = matrix {
        let p = dense.n_columns();
        let mut values: Vec<f32> = Vec::with_capacity(dense.n_rows() * kept.len());
        for row in 0..dense.n_rows() {
            let entries = kept.iter().map(|&c| dense.values().get(row * p + c));
            values.extend(entries.map(|x| x as f32));
        }
        return Matrix::dense(dense.n_rows(), kept.len(), values);
    }
    let mut offsets = vec![0usize];
    let (mut columns, mut values): (Vec<u32>, Vec<f32>) = (Vec::new(), Vec::new());
    for row in 0..matrix.n_rows() {
        for (column, value) in matrix.row(row) {
            if place[column as usize] != u32::MAX {
                columns.push(place[column as usize]);
                values.push(value as f32);
            }
        }
        offsets.push(columns.len());
    }
    Matrix::sparse(kept.len(), offsets, columns, values)
}

/// The scores of the rows along the leading directions of a matrix of rows of
/// unit length, less their mean, row after row; and how many.
pub(crate) fn components(matrix: Matrix, seed: u64) -> Result<(Vec<f64>, usize)> {
    let unit = normalize(matrix, Normalize::L2)?;
    let (n, p) = (unit.n_rows(), unit.n_columns());
    let count = COMPONENTS.min(p);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x7063_6173);
    // A few more than wanted, so that the last ones are found as well.
    let width = (count + 6).min(p);
    let mut basis: Vec<f64> = (0..p * width)
        .map(|_| random.random_range(-1.0..1.0))
        .collect();
    let mut scores = Vec::new();
    for _ in 0..ITERATIONS {
        orthonormal(&mut basis, width);
        scores = project(&unit, &basis, width);
        basis = vec![0.0; p * width];
        for (row, scores) in (0..n).zip(scores.chunks_exact(width)) {
            for (column, x) in unit.row(row) {
                let out = &mut basis[column as usize * width..][..width];
                out.iter_mut()
                    .zip(scores)
                    .for_each(|(out, s)| *out += x * s);
            }
        }
    }
    // The iteration sorts directions by their share of the variance.
    let kept = scores
        .chunks_exact(width)
        .flat_map(|row| &row[..count])
        .copied();
    Ok((kept.collect(), count))
}

/// `X V`, each column less its mean.
fn project(matrix: &Matrix, basis: &[f64], width: usize) -> Vec<f64> {
    let parts: Vec<Vec<f64>> = (0..matrix.n_rows())
        .into_par_iter()
        .map(|row| {
            let mut sum = vec![0.0; width];
            for (column, x) in matrix.row(row) {
                let basis = &basis[column as usize * width..][..width];
                sum.iter_mut().zip(basis).for_each(|(sum, b)| *sum += x * b);
            }
            sum
        })
        .collect();
    let mut scores = parts.concat();
    centre(&mut scores, width);
    scores
}

fn centre(rows: &mut [f64], width: usize) {
    let n = (rows.len() / width.max(1)).max(1) as f64;
    let mut means = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        means
            .iter_mut()
            .zip(row)
            .for_each(|(mean, x)| *mean += x / n);
    }
    for row in rows.chunks_exact_mut(width) {
        row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean);
    }
}

/// Gram and Schmidt, on the columns.
fn orthonormal(basis: &mut [f64], width: usize) {
    let p = basis.len() / width;
    for a in 0..width {
        for b in 0..a {
            let along: f64 = (0..p)
                .map(|i| basis[i * width + a] * basis[i * width + b])
                .sum();
            (0..p).for_each(|i| basis[i * width + a] -= along * basis[i * width + b]);
        }
        let length = (0..p)
            .map(|i| basis[i * width + a].powi(2))
            .sum::<f64>()
            .sqrt();
        let factor = if length > 1e-12 { 1.0 / length } else { 0.0 };
        (0..p).for_each(|i| basis[i * width + a] *= factor);
    }
}

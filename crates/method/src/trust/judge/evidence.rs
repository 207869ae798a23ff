//! What speaks for a pair, from fits and links that did not see it.

use std::fmt;

use rayon::prelude::*;
use serde::Serialize;

use super::average::averages;
use super::cosines::UnitRows;
use super::fits::LinkFit;
use super::pairs::{Bench, Pair};
use crate::data::dataset::Dataset;
use crate::data::graph::Adjacency;
use crate::error::Result;
use linkproof_numeric::math;

/// A kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The cosine of the embeddings.
    Embeddings,
    /// The cosine of the embeddings averaged over the links.
    Averages,
    /// The cosine of the data vectors.
    DataVectors,
    /// The neighbours that both ends have.
    CommonNeighbors,
}

impl Kind {
    /// All kinds, in the order of [`Evidence`].
    pub const ALL: [Kind; 4] = [
        Kind::Embeddings,
        Kind::Averages,
        Kind::DataVectors,
        Kind::CommonNeighbors,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Embeddings => "embeddings",
            Kind::Averages => "averages",
            Kind::DataVectors => "data-vectors",
            Kind::CommonNeighbors => "common-neighbors",
        })
    }
}

/// Rounds of averaging.
const ROUNDS: usize = 2;

/// What speaks for one pair: a number for each of [`Kind::ALL`] (0 where there
/// is none), and the logarithm of the product of the degrees.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// By kind.
    pub by_kind: [f64; Kind::ALL.len()],
    /// `log (d_i + 1)(d_j + 1)`, over the links outside the fold.
    pub log_degrees: f64,
}

/// The evidence that no fit changes: data vectors, common neighbours, degrees.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Of each view, where its rows start, and its data vectors.
    vectors: Vec<Option<(usize, UnitRows)>>,
}

impl Standing {
    /// Prepares the data vectors of each view.
    pub fn new(data: &Dataset) -> Result<Standing> {
        let vectors = data.views().iter().map(|view| {
            let rows = view.matrix.as_ref().map(UnitRows::new).transpose()?;
            Ok(rows.map(|rows| (view.rows.start, rows)))
        });
        Ok(Standing {
            vectors: vectors.collect::<Result<_>>()?,
        })
    }

    /// Whether two views have data vectors that can be compared.
    pub fn compares(&self, (d, e): (usize, usize)) -> bool {
        d == e && self.vectors[d].is_some()
    }

    /// The cosine of the data vectors of two rows of a view.
    pub fn cosine(&self, view: usize, a: u32, b: u32) -> f64 {
        self.vectors[view].as_ref().map_or(0.0, |(start, rows)| {
            rows.cosine(a as usize - start, b as usize - start)
        })
    }

    /// The evidence that does not depend on a fit. `links` are those of
    /// [`Bench::folded`].
    pub fn of(&self, bench: &Bench, links: &Adjacency, pairs: &[Pair]) -> Vec<Evidence> {
        pairs
            .par_iter()
            .map(|pair| {
                let views = bench.groups[pair.group as usize].views;
                let mut found = Evidence::default();
                if self.compares(views) {
                    found.by_kind[2] = self.cosine(views.0, pair.src, pair.dst);
                }
                let fold = f64::from(pair.fold);
                let degree = |row: u32| {
                    let others = links.row(row as usize).1.iter();
                    1.0 + others.filter(|&&other| other != fold).count() as f64
                };
                let degrees = degree(pair.src) * degree(pair.dst);
                found.by_kind[3] = common_neighbors(links, pair, degrees);
                found.log_degrees = math::ln(degrees);
                found
            })
            .collect()
    }
}

/// `log(1 + 10 sum_k a_ik a_jk / sqrt((d_i + 1)(d_j + 1)))` over the links outside the
/// fold.
fn common_neighbors(links: &Adjacency, pair: &Pair, degrees: f64) -> f64 {
    let (a, folds_a) = links.row(pair.src as usize);
    let (b, folds_b) = links.row(pair.dst as usize);
    let fold = f64::from(pair.fold);
    let (mut i, mut j, mut common) = (0, 0, 0.0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                if folds_a[i] != fold && folds_b[j] != fold {
                    common += 1.0;
                }
                i += 1;
                j += 1;
            }
        }
    }
    math::ln(1.0 + 10.0 * common / degrees.sqrt())
}

/// Adds what the fits of the folds say: the cosines of embeddings and averages.
pub fn add_fits(evidence: &mut [Evidence], bench: &Bench, pairs: &[Pair], views: &FoldViews) {
    evidence
        .par_iter_mut()
        .zip(pairs)
        .for_each(|(evidence, pair)| {
            debug_assert!((pair.fold as usize) < bench.n_folds());
            let (plain, averaged) = &views.folds[pair.fold as usize];
            let dim = views.dim;
            let row = |y: &[f32], row: u32| -> std::ops::Range<usize> {
                debug_assert!((row as usize + 1) * dim <= y.len());
                row as usize * dim..(row as usize + 1) * dim
            };
            let cosine = |y: &[f32]| dot(&y[row(y, pair.src)], &y[row(y, pair.dst)]);
            evidence.by_kind[0] = cosine(plain);
            evidence.by_kind[1] = cosine(averaged);
        });
}

/// For each fold embeddings of unit length, plain and averaged.
#[derive(Debug, Clone)]
pub struct FoldViews {
    dim: usize,
    folds: Vec<(Vec<f32>, Vec<f32>)>,
}

impl FoldViews {
    /// Averages the embeddings of each fold's fit over the links that it saw.
    pub fn new(bench: &Bench, fits: &[LinkFit], dim: usize) -> FoldViews {
        let folds = fits.iter().zip(&bench.training).map(|(fit, training)| {
            let mut levels = averages(&training.links, &fit.y, dim, ROUNDS);
            let averaged = levels.pop().unwrap_or_default();
            (unit(fit.y.clone(), dim), unit(averaged, dim))
        });
        FoldViews {
            dim,
            folds: folds.collect(),
        }
    }
}

/// Rows of unit length; zeros stay.
fn unit(mut y: Vec<f32>, dim: usize) -> Vec<f32> {
    for row in y.chunks_exact_mut(dim) {
        let length = dot(row, row).sqrt();
        if length > 0.0 {
            row.iter_mut()
                .for_each(|y| *y = (f64::from(*y) / length) as f32);
        }
    }
    y
}

/// The cosine of two vectors; 0 where one of them is zero.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 {
        dot(a, b) / lengths
    } else {
        0.0
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| f64::from(*a) * f64::from(*b))
        .sum()
}

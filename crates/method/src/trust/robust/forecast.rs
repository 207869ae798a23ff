//! The memory that a robust fit holds, foretold.
//!
//! It may hold most while data vectors of links and decoys are compared; while the fits
//! to folds run, beside what is known of these; while these are ranked; and while a fit to
//! walks runs, which are many more links than there were.
//! `tests/forecast.rs` compares with what an allocator counts.

use super::recipe::Recipe;
use super::walks::expected_links;
use crate::data::dataset::Dataset;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::runtime::at_once;
use crate::engine::{Forecast, Plan};
use crate::error::Result;
use crate::params::{CheckedParams, Precision};
use crate::trust::judge::fits::pattern_params;
use crate::trust::judge::pairs::expected_pairs;

/// Bytes for each pair that is judged: itself and its evidence.
const KNOWN: usize = 56;
/// The same while pairs are ranked, beside.
const RANKED: usize = 180;
/// Bytes for each link of each fold that sees it.
const SEEN: usize = 36;
/// Fits to walks that are kept while others are tried.
const TRIED: usize = 4;

/// The most bytes that a robust fit holds, about.
pub fn foretold(params: &CheckedParams, data: &Dataset, recipe: &Recipe) -> Result<u64> {
    let ridge = recipe.ridges.first().copied().unwrap_or(1.0);
    // Whatever the weights: those of two signs are no links of a fit to them.
    let with = pattern_params(params.given(), ridge)?;
    let prepared = Prepared::new(data, &with, None, None)?;
    let problem = Problem::new(&prepared, &with)?;
    let plan = Plan::new(&with, &problem)?;
    let one = match params.precision {
        Precision::F32 => Forecast::new::<f32>(&problem, &plan),
        Precision::F64 => Forecast::new::<f64>(&problem, &plan),
    };
    let (n, m) = (data.n_nodes(), data.graph().n_links());
    let embeddings = 4 * n * params.dim;
    let fit = embeddings + 4 * problem.n_params();
    let pairs = expected_pairs(m);
    let folds = recipe.folds;
    let known = KNOWN * pairs + (folds.saturating_sub(1) * SEEN) * m + folds * 24 * n;
    let vectors = data.vector_bytes() as usize;
    // Data vectors of unit length, by which pairs are compared.
    let comparing = one.of_data() as usize + known + vectors;
    let judging = one.of(at_once(folds, n)) as usize + known + folds * fit + vectors;
    let ranking = one.of_data() as usize + known + folds * (fit + 2 * embeddings) + RANKED * pairs;
    let walks = one.with_links(expected_links(data, recipe.walks)).of(1.0) as usize;
    let walking = walks + (folds + TRIED) * fit + vectors;
    Ok(comparing.max(judging).max(ranking).max(walking) as u64)
}

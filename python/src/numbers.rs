//! The objective of given embeddings, and measures of how good embeddings are.

use linkproof::data::features::Values;
use linkproof::engine::Real;
use linkproof::engine::objective::{Evaluation, evaluate};
use linkproof::measure::{self, Contingency, KMeans};
use linkproof::params::ScoreKind;
use linkproof::score::Score;
use linkproof::{Error, Graph, Params};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arrays;
use crate::data::Links;
use crate::errors::{FitError, choice, exception};
use crate::model::rows;
use crate::work::quietly;

/// Value, derivative in gamma, number of pairs and gradient.
type Found<'py> = (f64, f64, u64, Option<Bound<'py, PyAny>>);

/// The sum of a score over all pairs of rows of `y`, in the precision of `y`.
#[pyfunction]
#[pyo3(signature = (y, links, gamma, score, beta, *, gradient, threads))]
#[expect(
    clippy::too_many_arguments,
    reason = "private; Python's function has defaults"
)]
pub fn objective<'py>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    links: &Links,
    gamma: f64,
    score: &str,
    beta: f64,
    gradient: bool,
    threads: Option<usize>,
) -> PyResult<Found<'py>> {
    let refuse =
        |name, accepted: &str, given: String| exception(Error::argument(name, accepted, given));
    let params = Params {
        score: choice("score", score, ScoreKind::ALL)?,
        beta,
        ..Params::default()
    };
    let score = params.check().map_err(exception)?.score();
    if !gamma.is_finite() {
        return Err(refuse("gamma", "a finite number", gamma.to_string()));
    }
    let shape = y
        .cast::<PyUntypedArray>()
        .map(|array| array.shape().to_vec());
    let dim = shape.unwrap_or_default().get(1).copied().unwrap_or(0);
    let graph = &links.graph;
    match arrays::reals(y, "Y")? {
        Values::F32(y) => {
            let found = at(py, threads, &y, dim, (graph, gamma, &score), gradient)?;
            finish(py, found, dim)
        }
        Values::F64(y) => {
            let found = at(py, threads, &y, dim, (graph, gamma, &score), gradient)?;
            finish(py, found, dim)
        }
    }
}

fn at<T: Real>(
    py: Python<'_>,
    threads: Option<usize>,
    y: &[T],
    dim: usize,
    (graph, gamma, score): (&Graph, f64, &Score),
    gradient: bool,
) -> PyResult<Evaluation<T>> {
    let found = quietly(py, threads, || {
        evaluate(y, dim, graph, gamma, score, gradient)
    })?;
    match found.is_finite() {
        true => Ok(found),
        false => Err(FitError::new_err(format!(
            "the objective is not finite: value {}, derivative in gamma {}; some expected weights \
             lie beyond the range of numbers",
            found.value, found.gamma_gradient
        ))),
    }
}

fn finish<T: numpy::Element>(
    py: Python<'_>,
    found: Evaluation<T>,
    dim: usize,
) -> PyResult<Found<'_>> {
    let gradient = found.gradient.map(|gradient| {
        let n = gradient.len() / dim;
        rows(py, gradient, n, dim).map(Bound::into_any)
    });
    let gradient = gradient.transpose()?;
    Ok((found.value, found.gamma_gradient, found.pairs, gradient))
}

/// NMI, purity, ARI and accuracy of clusters against classes.
#[pyfunction]
pub fn compare_labels(
    truth: PyReadonlyArray1<'_, u32>,
    found: PyReadonlyArray1<'_, u32>,
) -> PyResult<(f64, f64, f64, f64)> {
    let table = Contingency::new(truth.as_slice()?, found.as_slice()?).map_err(exception)?;
    Ok((table.nmi(), table.purity(), table.ari(), table.accuracy()))
}

/// AUC and average precision of scores that tell positives from others.
#[pyfunction]
pub fn compare_scores(
    scores: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
) -> PyResult<(f64, f64)> {
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let auc = measure::auc(scores, positive).map_err(exception)?;
    let precision = measure::average_precision(scores, positive).map_err(exception)?;
    Ok((auc, precision))
}

/// The cluster of each row, by k-means with ten starts.
#[pyfunction]
pub fn kmeans<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f32>,
    clusters: usize,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (n, dim) = (points.shape()[0], points.shape()[1]);
    let points = points.as_slice()?;
    let found = quietly(py, threads, || {
        KMeans::new(clusters, seed).fit(points, n, dim)
    })?;
    Ok(PyArray1::from_vec(py, found.labels))
}

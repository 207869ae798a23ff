//! How sure a model is.

use linkproof::robust::{self, Recipe};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::context::Context;
use crate::data::Data;
use crate::model::Model;
use crate::work::{apart, quietly};

/// A list of real numbers.
type Reals<'py> = Bound<'py, PyArray1<f64>>;

/// The same model with so many fits to parts of its nodes.
#[pyfunction]
pub fn bootstrap(
    py: Python<'_>,
    model: &Model,
    data: &Data,
    count: usize,
    context: &Context,
) -> PyResult<Model> {
    let (fitted, data) = (&model.fitted, &data.dataset);
    context.fit(py, data, None, |runtime, _| {
        let found = robust::bootstrap(fitted, data, &Recipe::default(), count, runtime)?;
        Ok(Model {
            fitted: fitted.clone().with_replicates(found)?,
            record: model.record.clone(),
        })
    })
}

/// Of pairs of rows the standard error of the logarithm of the expected weight, and
/// what this is between in 90 of 100 cases; not a number where it is not known. None
/// without replicates.
#[pyfunction]
pub fn spread<'py>(
    py: Python<'py>,
    model: &Model,
    src: PyReadonlyArray1<'py, i64>,
    dst: PyReadonlyArray1<'py, i64>,
) -> PyResult<Option<(Reals<'py>, Reals<'py>, Reals<'py>)>> {
    if model.fitted.replicates().is_none() {
        return Ok(None);
    }
    let (src, dst) = (src.as_slice()?, dst.as_slice()?);
    let columns = py.detach(|| {
        let mut columns = [const { Vec::new() }; 3];
        for (&i, &j) in src.iter().zip(dst) {
            let numbers = match model.fitted.spread(i as usize, j as usize) {
                Some(found) => {
                    let (low, high) = found.weights();
                    [found.error, low, high]
                }
                None => [f64::NAN; 3],
            };
            let both = columns.iter_mut().zip(numbers);
            both.for_each(|(column, number): (&mut Vec<f64>, f64)| column.push(number));
        }
        columns
    });
    let [error, low, high] = columns.map(|column| PyArray1::from_vec(py, column));
    Ok(Some((error, low, high)))
}

/// Of each neighbour of a row the share of replicates in which it is one. None without
/// replicates.
#[pyfunction]
pub fn stability<'py>(
    py: Python<'py>,
    model: &Model,
    row: usize,
    neighbors: Vec<usize>,
) -> PyResult<Option<Reals<'py>>> {
    let found = apart(py, || model.fitted.stability(row, &neighbors))?;
    Ok(found.map(|shares| PyArray1::from_vec(py, shares)))
}

/// Of each node the share of its cluster that stays with it in replicates. None without
/// them.
#[pyfunction]
#[pyo3(signature = (model, clusters, seed, *, threads))]
pub fn together<'py>(
    py: Python<'py>,
    model: &Model,
    clusters: Vec<u32>,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Option<Reals<'py>>> {
    let found = quietly(py, threads, || {
        robust::together(&model.fitted, &clusters, seed)
    })?;
    Ok(found.map(|shares| PyArray1::from_vec(py, shares)))
}

//! Visits to buckets of a table that is in no one memory.

use linkproof::data::graph::Link;
use linkproof::model::buckets::{BucketState, Visit};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays;
use crate::settings::unchecked;
use crate::work::quietly;

/// Three rows: vectors, and both averages of Adam.
type Bucket<'py> = Bound<'py, PyArray2<f32>>;

/// Rows of the ends of links, and weights.
type Listed<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

/// The buckets, `gamma` with its averages, and the objective.
type Moved<'py> = (Vec<Bucket<'py>>, (f32, f32, f32), f64);

/// Moves the vectors of one or two buckets along their links; `per` is the links of a
/// visit on average.
#[pyfunction]
#[pyo3(
    name = "visit_buckets",
    signature = (settings, dim, buckets, gamma, links, *, moves, per, threads)
)]
#[allow(clippy::too_many_arguments)] // what a visit is
pub fn visit_buckets<'py>(
    py: Python<'py>,
    settings: &str,
    dim: usize,
    buckets: Vec<Bucket<'py>>,
    gamma: (f32, f32, f32),
    links: Listed<'py>,
    moves: u64,
    per: f64,
    threads: Option<usize>,
) -> PyResult<Moved<'py>> {
    let params = unchecked(settings)?;
    let (src, dst) = (
        arrays::rows(&links.0, "src")?,
        arrays::rows(&links.1, "dst")?,
    );
    let weight = arrays::doubles(links.2.as_any(), "weight")?;
    if src.len() != dst.len() || src.len() != weight.len() {
        return Err(PyValueError::new_err(
            "links: found ends and weights of different numbers",
        ));
    }
    let lengths: Vec<usize> = buckets.iter().map(|bucket| bucket.shape()[1]).collect();
    let three = |bucket: &Bucket<'_>| bucket.shape()[0] == 3;
    if !buckets.iter().all(three) || lengths.iter().any(|length| length % dim.max(1) != 0) {
        return Err(PyValueError::new_err(
            "buckets: expected three rows each, of whole vectors",
        ));
    }
    let sizes: Vec<usize> = lengths.iter().map(|length| length / dim.max(1)).collect();
    let row = |place: usize, last: f32| -> PyResult<Vec<f32>> {
        let mut numbers = Vec::with_capacity(lengths.iter().sum::<usize>() + 1);
        for bucket in &buckets {
            let bucket = bucket.try_readonly()?;
            let bucket = bucket.as_slice()?;
            let length = bucket.len() / 3;
            numbers.extend_from_slice(&bucket[place * length..(place + 1) * length]);
        }
        numbers.push(last);
        Ok(numbers)
    };
    let state = BucketState {
        theta: row(0, gamma.0)?,
        first: row(1, gamma.1)?,
        second: row(2, gamma.2)?,
    };
    let (state, value) = quietly(py, threads, || {
        let visit = Visit::new(&params, &sizes, moves, per)?;
        let link = |place: usize| Link {
            src: src[place],
            dst: dst[place],
            weight: weight[place],
        };
        visit.run((0..src.len()).map(link).collect(), state)
    })?;
    let mut start = 0;
    let moved = lengths.iter().map(|&length| {
        start += length;
        let rows = [&state.theta, &state.first, &state.second];
        let rows = rows.map(|row| row[start - length..start].to_vec());
        Ok(PyArray2::from_vec2(py, &rows)?)
    });
    let moved = moved.collect::<PyResult<Vec<_>>>()?;
    let last = |numbers: &[f32]| numbers.last().copied().unwrap_or_default();
    let gamma = (last(&state.theta), last(&state.first), last(&state.second));
    Ok((moved, gamma, value))
}

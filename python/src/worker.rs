//! Work for others: shares of passes over all pairs, and whole solvers.

use std::sync::{Mutex, PoisonError};

use linkproof::Result;
use linkproof::data::buffer::Buffer;
use linkproof::data::features::Values;
use linkproof::engine::PassRequest;
use linkproof::engine::pairs::{AllPairs, EmbeddedRows, FlatPartial, PassShare, Tiled};
use linkproof::engine::solve::{Lists, Numbers, SentTask};
use linkproof::score::Kernel;
use linkproof_cuda::{CardShares, Cuda};
use numpy::{Element, PyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays;
use crate::context::Context;
use crate::errors::exception;
use crate::kept::Surroundings;
use crate::work::{self, quietly};

/// The precisions of fits, and what NumPy calls them.
pub trait Number: linkproof_cuda::Number + Element {
    /// The entries of an array.
    fn read(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Buffer<Self>>;
}

macro_rules! number {
    ($float:ident, $kind:ident) => {
        impl Number for $float {
            fn read(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Buffer<Self>> {
                match arrays::reals(array, name)? {
                    Values::$kind(numbers) => Ok(numbers),
                    _ => Err(PyTypeError::new_err(format!(
                        "{name}: expected {}",
                        stringify!($float)
                    ))),
                }
            }
        }
    };
}

number!(f32, F32);
number!(f64, F64);

/// Computes shares of passes over all pairs.
#[pyclass(frozen, module = "linkproof._core")]
pub struct PairWorker {
    /// The kind of card that computes; empty for the processor.
    #[pyo3(get)]
    card: String,
    single: Sharer<f32>,
    double: Sharer<f64>,
}

/// Shares in one precision; keeps its buffers from pass to pass.
struct Sharer<T: Number> {
    tiled: Tiled<T>,
    /// Computes in their place.
    card: Option<CardShares<T>>,
    /// A kernel is a table, which takes a while to make.
    known: Mutex<Option<(PassRequest, Kernel<T>)>>,
}

/// The lists of a share.
type ShareLists<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyAny>,
);

#[pymethods]
impl PairWorker {
    /// On the processor, or on a card.
    #[new]
    #[pyo3(signature = (device="cpu"))]
    fn new(device: &str) -> PyResult<PairWorker> {
        let chosen = work::device(device, 0).map_err(exception)?;
        Ok(PairWorker {
            card: chosen.card().map_or_else(String::new, Cuda::kind),
            single: Sharer::on(chosen.card()).map_err(exception)?,
            double: Sharer::on(chosen.card()).map_err(exception)?,
        })
    }

    /// A share of a pass, one of so many.
    #[pyo3(signature = (request, y, offsets, share, with_gradient, *, threads))]
    #[allow(clippy::too_many_arguments)] // what a pass is
    fn part<'py>(
        &self,
        py: Python<'py>,
        request: &str,
        y: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
        share: (usize, usize),
        with_gradient: bool,
        threads: Option<usize>,
    ) -> PyResult<ShareLists<'py>> {
        let request: PassRequest = read(request, "request")?;
        let share = PassShare::new(share.0, share.1)
            .ok_or_else(|| PyValueError::new_err("share: expected one of so many"))?;
        let how = (share, with_gradient);
        match request.is_single() {
            true => self.single.part(py, &request, (y, offsets), how, threads),
            false => self.double.part(py, &request, (y, offsets), how, threads),
        }
    }
}

impl<T: Number> Sharer<T> {
    fn on(card: Option<&Cuda>) -> Result<Sharer<T>> {
        Ok(Sharer {
            tiled: Tiled::default(),
            card: card.map(Cuda::shares).transpose()?,
            known: Mutex::default(),
        })
    }

    fn kernel(&self, request: &PassRequest) -> Kernel<T> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((other, kernel)) if other.has_score_of(request) => kernel.clone(),
            _ => {
                let kernel = request.kernel();
                known.insert((request.clone(), kernel)).1.clone()
            }
        }
    }

    fn part<'py>(
        &self,
        py: Python<'py>,
        request: &PassRequest,
        (y, offsets): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
        how: (PassShare, bool),
        threads: Option<usize>,
    ) -> PyResult<ShareLists<'py>> {
        let (y, offsets) = (T::read(y, "y")?, T::read(offsets, "offsets")?);
        let kernel = self.kernel(request);
        let work = |embedded: &EmbeddedRows<'_, T>, pairs: &AllPairs<'_>| match &self.card {
            Some(card) => card.part(embedded, pairs, kernel.score(), how),
            None => Ok(self.tiled.flat_part(embedded, pairs, &kernel, how)),
        };
        let found = quietly(py, threads, || request.at((&y, &offsets), work)?);
        let FlatPartial {
            sums,
            places,
            numbers,
        } = found?;
        Ok((
            PyArray1::from_vec(py, sums),
            PyArray1::from_vec(py, places),
            PyArray1::from_vec(py, numbers).into_any(),
        ))
    }
}

/// What JSON says.
pub fn read<T: serde::de::DeserializeOwned>(words: &str, name: &str) -> PyResult<T> {
    serde_json::from_str(words).map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// Runs a fit whose words and features came from another machine; its result.
#[pyfunction]
#[pyo3(signature = (words, lists, *, threads))]
pub fn solve_task<'py>(
    py: Python<'py>,
    words: Vec<u8>,
    lists: Vec<Vec<Bound<'py, PyAny>>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let numbers = |list: &Bound<'py, PyAny>| match list.cast::<PyArray1<u32>>() {
        Ok(places) => arrays::rows(places, "places").map(Numbers::Places),
        Err(_) => arrays::reals(list, "numbers").map(Numbers::Reals),
    };
    let features = lists.iter().map(|lists| {
        Ok(Lists {
            name: String::new(),
            lists: lists.iter().map(numbers).collect::<PyResult<_>>()?,
        })
    });
    let features = features.collect::<PyResult<_>>()?;
    let task = SentTask { words, features };
    let bytes = Context::on(threads).run(py, |monitor| {
        let around = Surroundings::here()?;
        task.run(around.runtime(monitor))
    })?;
    Ok(PyBytes::new(py, &bytes))
}

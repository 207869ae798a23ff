//! Work for others: shares of passes over all pairs, and whole solvers.

use std::sync::{Mutex, PoisonError};

use linkproof::data::buffer::Buffer;
use linkproof::data::features::Values;
use linkproof::engine::pairs::{FlatPartial, PassShare, Tiled};
use linkproof::engine::solve::run_task;
use linkproof::engine::{Lists, Numbers, PassRequest, Real, SolverTask, SolverWords};
use linkproof::score::Kernel;
use numpy::{Element, PyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays;
use crate::kept::Surroundings;
use crate::work::{Listeners, quietly, run};

/// The precisions of fits, and what NumPy calls them.
pub trait Number: Real + Element {
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

/// Computes shares of passes over all pairs; keeps its buffers from pass to pass.
#[pyclass(frozen, module = "linkproof._core")]
#[derive(Default)]
pub struct PairWorker {
    single: Tiled<f32>,
    double: Tiled<f64>,
    /// Kernels are tables, which take a while to make.
    known: Mutex<Option<(PassRequest, Kernels)>>,
}

#[derive(Clone)]
struct Kernels(Option<Kernel<f32>>, Option<Kernel<f64>>);

/// The lists of a share.
type ShareLists<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyAny>,
);

#[pymethods]
impl PairWorker {
    #[new]
    fn new() -> PairWorker {
        PairWorker::default()
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
        let kernels = self.kernels(&request);
        let how = (share, with_gradient);
        match kernels {
            Kernels(Some(kernel), _) => {
                let numbers = (y, offsets);
                part_in(py, &request, numbers, &kernel, (how, &self.single), threads)
            }
            Kernels(None, Some(kernel)) => {
                let numbers = (y, offsets);
                part_in(py, &request, numbers, &kernel, (how, &self.double), threads)
            }
            Kernels(None, None) => Err(PyValueError::new_err("request: expected a precision")),
        }
    }
}

impl PairWorker {
    fn kernels(&self, request: &PassRequest) -> Kernels {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, kernels)) = known.as_ref().filter(|(it, _)| it.has_score_of(request)) {
            return kernels.clone();
        }
        let kernels = match request.is_single() {
            true => Kernels(Some(request.kernel()), None),
            false => Kernels(None, Some(request.kernel())),
        };
        *known = Some((request.clone(), kernels.clone()));
        kernels
    }
}

fn part_in<'py, T: Number>(
    py: Python<'py>,
    request: &PassRequest,
    (y, offsets): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
    kernel: &Kernel<T>,
    (how, tiles): ((PassShare, bool), &Tiled<T>),
    threads: Option<usize>,
) -> PyResult<ShareLists<'py>> {
    let (y, offsets) = (T::read(y, "y")?, T::read(offsets, "offsets")?);
    let found = quietly(py, threads, || {
        let part = request.part((&y, &offsets), kernel, how, tiles)?;
        Ok(tiles.flat(part))
    });
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

/// What JSON says.
pub fn read<T: serde::de::DeserializeOwned>(words: &str, name: &str) -> PyResult<T> {
    serde_json::from_str(words).map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// Runs a solver whose words and numbers came from elsewhere; its outcome.
#[pyfunction]
#[pyo3(name = "solve_task", signature = (words, lists, *, threads))]
pub fn solve_elsewhere<'py>(
    py: Python<'py>,
    words: &str,
    lists: Vec<Vec<Bound<'py, PyAny>>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let words: SolverWords = read(words, "words")?;
    let numbers = |list: &Bound<'py, PyAny>| {
        if let Ok(places) = list.cast::<PyArray1<u32>>() {
            return arrays::rows(places, "places").map(Numbers::Places);
        }
        Ok(match arrays::reals(list, "numbers")? {
            Values::F32(numbers) => Numbers::Single(numbers),
            Values::F64(numbers) => Numbers::Double(numbers),
        })
    };
    let lists = lists.iter().map(|lists| {
        Ok(Lists {
            name: None,
            lists: lists.iter().map(numbers).collect::<PyResult<_>>()?,
        })
    });
    let numbers = lists.collect::<PyResult<Vec<Lists>>>()?;
    let task = SolverTask { words, numbers };
    let bytes = run(py, threads, &Listeners::default(), |monitor| {
        let around = Surroundings::here()?;
        run_task(task, around.runtime(monitor))
    })?;
    Ok(PyBytes::new(py, &bytes))
}

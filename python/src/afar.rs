//! Work that is computed elsewhere: shares of passes over all pairs, and whole solvers.
//!
//! Python hands the work out (`linkproof.ray`). This side asks; the other, which answers,
//! is in `worker.rs`.

use std::fmt;
use std::sync::Arc;

use linkproof::data::buffer::Buffer;
use linkproof::data::features::Values;
use linkproof::engine::objective::Problem;
use linkproof::engine::pairs::{
    AllPairs, EmbeddedRows, PairPass, Partial, PassShare, Sums, Tiled, join_rows, most_shares,
};
use linkproof::engine::solve::{Numbers, SentTask, Task, Trained};
use linkproof::engine::{Backend, CpuEngine, Engine, PassRequest};
use linkproof::score::Kernel;
use linkproof::{Error, Result, Runtime};
use linkproof_cuda::Chosen;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::work;
use crate::worker::Number;

/// What Python raised, as the end of a fit; [`exception`](crate::errors::exception) raises it
/// again.
fn failed(raised: PyErr) -> Error {
    let source = Box::new(raised);
    Error::Backend { source }
}

/// Someone in Python who has work done elsewhere.
pub struct Afar {
    /// `passes(request, y, offsets, with_gradient, most)` gives shares of a pass, or None
    /// where it is to be computed here; `begin(words, lists)` sets a solver off,
    /// `outcome(it)` waits for it a while, `cancel(it)` ends it.
    hands: Arc<Py<PyAny>>,
    /// Whether cards compute the shares (its `on_cards`).
    on_cards: bool,
}

impl Afar {
    /// Work is handed to an object of Python.
    pub fn new(hands: Py<PyAny>) -> PyResult<Afar> {
        let on_cards = Python::attach(|py| hands.getattr(py, "on_cards")?.extract(py))?;
        Ok(Afar {
            hands: Arc::new(hands),
            on_cards,
        })
    }

    fn engine<'p, T: Number>(&self, problem: &'p Problem<'p>) -> Box<dyn Engine<T> + 'p> {
        let pairs = AfarPairs {
            hands: Arc::clone(&self.hands),
            on_cards: self.on_cards,
            negative: problem.negative,
            here: Tiled::default(),
        };
        Box::new(CpuEngine::with(problem, Box::new(pairs)))
    }
}

impl Backend for Afar {
    fn single<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f32> + 'p>> {
        Ok(self.engine(problem))
    }

    fn double<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f64> + 'p>> {
        Ok(self.engine(problem))
    }

    fn offload(&self, task: &Task<'_>, is_wanted: &dyn Fn() -> bool) -> Option<Result<Trained>> {
        Some(self.solved(task, is_wanted))
    }
}

impl Afar {
    fn solved(&self, task: &Task<'_>, is_wanted: &dyn Fn() -> bool) -> Result<Trained> {
        let task = SentTask::new(task)?;
        let started = Python::attach(|py| {
            let features = task.features.into_iter().map(|features| {
                let arrays = features.lists.iter().map(|list| array(py, list));
                (Some(features.name), arrays.collect::<Vec<_>>())
            });
            let asked = (PyBytes::new(py, &task.words), features.collect::<Vec<_>>());
            self.hands.call_method1(py, "begin", asked)
        });
        let started = started.map_err(failed)?;
        loop {
            let found = Python::attach(|py| {
                let found = self.hands.call_method1(py, "outcome", (&started,))?;
                found.extract::<Option<Vec<u8>>>(py)
            });
            match found.map_err(failed)? {
                Some(bytes) => return SentTask::result(&bytes),
                None if !is_wanted() => {
                    let ended =
                        Python::attach(|py| self.hands.call_method1(py, "cancel", (&started,)));
                    ended.map_err(failed)?;
                    return Err(Error::Interrupted { step: 0 });
                }
                None => {}
            }
        }
    }
}

fn array(py: Python<'_>, list: &Numbers) -> Py<PyAny> {
    match list {
        Numbers::Reals(Values::F32(list)) => PyArray1::from_slice(py, list).into_any().unbind(),
        Numbers::Reals(Values::F64(list)) => PyArray1::from_slice(py, list).into_any().unbind(),
        Numbers::Places(list) => PyArray1::from_slice(py, list).into_any().unbind(),
    }
}

/// Sums over all pairs that workers share, where there are enough.
struct AfarPairs<T> {
    hands: Arc<Py<PyAny>>,
    on_cards: bool,
    negative: usize,
    here: Tiled<T>,
}

impl<T> fmt::Debug for AfarPairs<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AfarPairs")
    }
}

/// A share of a pass as Python has it: which of how many, and its lists.
type Answer<'py> = (
    usize,
    usize,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyAny>,
);

/// The same here.
type ShareOf<T> = (PassShare, Vec<f64>, Vec<u32>, Buffer<T>);

impl<T: Number> AfarPairs<T> {
    fn shared(
        &self,
        (request, most): (&PassRequest, usize),
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        gradient: Option<&mut [T]>,
    ) -> PyResult<Option<Sums>> {
        let words = serde_json::to_string(request).map_err(|_| unfit())?;
        Python::attach(|py| {
            let y = PyArray1::from_slice(py, embedded.y);
            let offsets = PyArray1::from_slice(py, embedded.offsets);
            let asked = (words, y, offsets, gradient.is_some(), most);
            let answers = self.hands.call_method1(py, "passes", asked)?;
            let Some(answers) = answers.extract::<Option<Vec<Answer<'_>>>>(py)? else {
                return Ok(None);
            };
            let mut shares: Vec<ShareOf<T>> = Vec::with_capacity(answers.len());
            for (index, of, sums, places, numbers) in answers {
                let share = PassShare::new(index, of).ok_or_else(unfit)?;
                let numbers = T::read(&numbers, "numbers")?;
                shares.push((share, sums.to_vec()?, places.to_vec()?, numbers));
            }
            let sums = py.detach(|| {
                let lists = shares.iter().map(|(share, sums, places, numbers)| {
                    (*share, (&sums[..], &places[..], &numbers[..]))
                });
                if self.on_cards {
                    let lists: Vec<_> = lists.map(|(_, lists)| lists).collect();
                    return join_rows(&lists, embedded, gradient);
                }
                let part = |(share, lists)| Partial::of_flat(share, embedded, pairs, lists);
                let parts: Option<Vec<Partial<T>>> = lists.map(part).collect();
                self.here.join(parts?, embedded, pairs, gradient)
            });
            sums.map(Some).ok_or_else(unfit)
        })
    }
}

/// Workers answered something else than what they were asked.
fn unfit() -> PyErr {
    PyRuntimeError::new_err("the workers' answers do not belong together")
}

impl<T: Number> PairPass<T> for AfarPairs<T> {
    fn all_pairs(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        kernel: &Kernel<T>,
        mut gradient: Option<&mut [T]>,
    ) -> Result<Sums> {
        let request = PassRequest::new(embedded, pairs, kernel, self.negative);
        // Small passes are not worth the way, but cards have bits of their own.
        let most = match self.on_cards {
            true => linkproof_cuda::most_shares(embedded.n_rows()),
            false => most_shares(pairs),
        };
        let Some(request) = request.filter(|_| self.on_cards || most > 1) else {
            return self.here.all_pairs(embedded, pairs, kernel, gradient);
        };
        let found = self.shared((&request, most), embedded, pairs, gradient.as_deref_mut());
        match found.map_err(failed)? {
            Some(sums) => Ok(sums),
            None => self.here.all_pairs(embedded, pairs, kernel, gradient),
        }
    }
}

/// What computes here, by its name: the processor, where work is handed out.
pub fn device(name: &str, n_nodes: usize, afar: Option<&Afar>) -> Result<Chosen> {
    match afar {
        Some(_) => Ok(Chosen::Cpu),
        None => work::device(name, n_nodes),
    }
}

/// A runtime whose work is handed out, where there is someone to hand it to.
pub fn handed_out<'r>(runtime: Runtime<'r>, afar: Option<&'r Afar>) -> Runtime<'r> {
    match afar {
        Some(afar) => runtime.on(afar),
        None => runtime,
    }
}

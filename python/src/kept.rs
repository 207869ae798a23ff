//! How much memory fits may take, and where their state is kept.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use linkproof::engine::runtime::{Keeper, MemoryBound, Monitor, Stage};
use linkproof::error::in_bytes;
use linkproof::io::memory::{Available, bytes};
use linkproof::io::{Checkpoint, Pace};
use linkproof::{Dataset, Error, Result, Runtime};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value, json};

use crate::context::Work;
use crate::errors::exception;
use crate::worker::read;

/// Sets the bound where what the system says is not meant.
const VARIABLE: &str = "LINKPROOF_MAX_MEMORY";

/// What fits run with beside a monitor.
pub struct Surroundings {
    memory: Option<MemoryBound>,
    kept: Option<Checkpoint>,
}

impl Surroundings {
    /// The memory that there is for a fit of some data, and nobody who keeps anything.
    pub fn of(data: &Dataset) -> Result<Surroundings> {
        Surroundings::with(Some(in_use(data)))
    }

    /// The memory that there is in a process that has nothing else to do.
    pub fn here() -> Result<Surroundings> {
        Surroundings::with(None)
    }

    fn with(in_use: Option<u64>) -> Result<Surroundings> {
        let memory = match std::env::var(VARIABLE) {
            Ok(text) => Some(MemoryBound {
                bytes: bytes(&text)
                    .ok_or_else(|| Error::data(VARIABLE, text, "an amount such as 500MB or 4GB"))?,
                by: format!("by {VARIABLE}"),
                in_use,
            }),
            // What else the interpreter holds is none of the fit's.
            Err(_) => Available::now().map(|now| MemoryBound {
                bytes: in_use.map_or(now.in_all(), |in_use| now.bytes.saturating_add(in_use)),
                by: now.by,
                in_use,
            }),
        };
        Ok(Surroundings { memory, kept: None })
    }

    /// The same with a folder in which the state of some work is kept: every five
    /// minutes, and where it is interrupted.
    pub fn kept_in(
        self,
        folder: &Path,
        resume: bool,
        work: &Work<'_>,
        data: &Dataset,
    ) -> Result<Surroundings> {
        let about = Map::from_iter([
            ("linkproof".to_owned(), env!("CARGO_PKG_VERSION").into()),
            ("work".to_owned(), work.name.into()),
            ("settings".to_owned(), json!(work.params)),
            ("data".to_owned(), data.digest().into()),
            ("more".to_owned(), work.more.into()),
        ]);
        let kept = open(folder, resume, about)?;
        Ok(Surroundings {
            kept: Some(kept),
            ..self
        })
    }

    /// The runtime of fits that a monitor looks at.
    pub fn runtime<'r>(&'r self, monitor: &'r dyn Monitor) -> Runtime<'r> {
        let runtime = Runtime::watched_by(monitor).within(&self.memory);
        match &self.kept {
            Some(kept) => runtime.kept_by(kept),
            None => runtime,
        }
    }

    /// The work is done: nothing is kept any longer.
    pub fn finish(self) {
        if let Some(kept) = self.kept {
            kept.finish();
        }
    }
}

/// A checkpoint to write to, which goes on from an earlier one if that is wanted.
fn open(folder: &Path, resume: bool, work: Map<String, Value>) -> Result<Checkpoint> {
    let pace = Pace {
        first: Duration::ZERO,
        ..Pace::default()
    };
    if resume && Checkpoint::is_there(folder) {
        return Checkpoint::resume(folder, work, pace);
    }
    Checkpoint::begin(folder, work, pace)
}

/// A checkpoint of work that Python makes: pieces of bytes by key.
#[pyclass(frozen, name = "Checkpoint", module = "linkproof._core")]
pub struct KeptWork {
    /// None once the work is done.
    kept: Mutex<Option<Checkpoint>>,
}

#[pymethods]
impl KeptWork {
    /// In a folder, for work that `about` describes as JSON: an earlier checkpoint is of the
    /// same work, or is refused if it is to go on.
    #[new]
    fn new(folder: PathBuf, resume: bool, about: &str) -> PyResult<KeptWork> {
        let kept = open(&folder, resume, read(about, "about")?).map_err(exception)?;
        Ok(KeptWork {
            kept: Mutex::new(Some(kept)),
        })
    }

    /// What was kept under a key; None if there is nothing, or if it is damaged.
    fn recall<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.as_ref().map(|kept| kept.recall(key, Stage::Running));
        let Some(mut file) = found.transpose().map_err(exception)?.flatten() else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(PyBytes::new(py, &bytes)))
    }

    /// Keeps bytes under a key.
    fn keep(&self, key: &str, bytes: &[u8]) -> PyResult<()> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let write =
            |kept: &Checkpoint| kept.keep(key, Stage::Running, &mut |file| file.write_all(bytes));
        kept.as_ref().map_or(Ok(()), write).map_err(exception)
    }

    /// Removes the folder: the work is done.
    fn finish(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.take() {
            kept.finish();
        }
    }
}

/// What the process holds that forecasts count too: links by both of their ends, and
/// data vectors. The program, which is there as well, is not counted: so much is kept
/// for what no forecast knows of.
fn in_use(data: &Dataset) -> u64 {
    const LINK: u64 = 24;
    LINK * data.graph().n_links() as u64 + data.vector_bytes()
}

/// Asks the system for so many bytes and gives them back. An allocation that fails
/// later would end the interpreter.
pub fn ask_for(bytes: usize, what: &str) -> PyResult<()> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| {
        let amount = in_bytes(bytes as u64);
        PyMemoryError::new_err(format!(
            "{what} takes about {amount} of memory, which the system does not give"
        ))
    })
}

//! How much memory fits may take, and where their state is kept.

use std::path::PathBuf;
use std::time::Duration;

use linkproof::engine::runtime::{MemoryBound, Monitor};
use linkproof::io::memory::{Available, bytes, in_words};
use linkproof::io::{Checkpoint, OutputLock, Pace};
use linkproof::{Dataset, Error, Params, Result, Runtime};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use serde_json::{Map, json};

use crate::errors::exception;

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
        (folder, resume): (Option<PathBuf>, bool),
        (what, more): (&str, &str),
        params: &Params,
        data: &Dataset,
    ) -> Result<Surroundings> {
        let Some(folder) = folder else {
            return Ok(self);
        };
        let work = Map::from_iter([
            ("linkproof".to_owned(), env!("CARGO_PKG_VERSION").into()),
            ("work".to_owned(), what.into()),
            ("settings".to_owned(), json!(params)),
            ("data".to_owned(), data.digest().into()),
            ("more".to_owned(), more.into()),
        ]);
        let pace = Pace {
            first: Duration::ZERO,
            ..Pace::default()
        };
        let kept = match resume && Checkpoint::is_there(&folder) {
            true => Checkpoint::resume(&folder, work, pace)?,
            false => Checkpoint::begin(&folder, work, pace)?,
        };
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

/// The right to write a folder, which need not exist; it ends with this.
#[pyclass(frozen, module = "linkproof._core")]
pub struct FolderLock {
    _lock: OutputLock,
}

#[pymethods]
impl FolderLock {
    /// Takes the right, where no other process has it.
    #[new]
    fn new(folder: PathBuf) -> PyResult<FolderLock> {
        let _lock = OutputLock::take(folder).map_err(exception)?;
        Ok(FolderLock { _lock })
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
        let amount = in_words(bytes as u64);
        PyMemoryError::new_err(format!(
            "{what} takes about {amount} of memory, which the system does not give"
        ))
    })
}

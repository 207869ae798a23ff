//! What long work runs with: threads, a device, who watches, where its state is kept, and
//! what computes elsewhere.

use std::path::PathBuf;

use linkproof::{Dataset, Params, Result, Runtime};
use pyo3::prelude::*;

use crate::afar::{self, Afar, handed_out};
use crate::kept::Surroundings;
use crate::work::{WorkMonitor, run};

/// What long work runs with.
#[pyclass(frozen, module = "linkproof._core")]
#[derive(Default)]
pub struct Context {
    /// So many threads, or as many as there are cores.
    pub threads: Option<usize>,
    /// Called now and then with what was done, of how much, and with the record of a step,
    /// if it was one.
    pub show: Option<Py<PyAny>>,
    /// Called with the record of every step, which waits for it.
    pub every_step: Option<Py<PyAny>>,
    device: Option<String>,
    checkpoint: Option<PathBuf>,
    resume: bool,
    remote: Option<Py<PyAny>>,
}

#[pymethods]
impl Context {
    #[new]
    #[pyo3(signature = (*, threads=None, show=None, every_step=None, device=None, checkpoint=None, resume=false, remote=None))]
    fn new(
        threads: Option<usize>,
        show: Option<Py<PyAny>>,
        every_step: Option<Py<PyAny>>,
        device: Option<String>,
        checkpoint: Option<PathBuf>,
        resume: bool,
        remote: Option<Py<PyAny>>,
    ) -> Context {
        Context {
            threads,
            show,
            every_step,
            device,
            checkpoint,
            resume,
            remote,
        }
    }
}

/// What a piece of work is called, and what its result depends on beside its data: a
/// checkpoint is of the same work, or is refused.
pub struct Work<'w> {
    pub name: &'w str,
    pub params: &'w Params,
    pub more: &'w str,
}

impl Context {
    /// On so many threads, with nobody who watches.
    pub fn on(threads: Option<usize>) -> Context {
        Context {
            threads,
            ..Context::default()
        }
    }

    /// Runs work that a monitor watches.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&WorkMonitor) -> Result<T> + Send,
    ) -> PyResult<T> {
        run(py, self, work)
    }

    /// Runs fits of some data, whose state is kept if they are `kept` work: the closure gets
    /// the runtime of the fits, and one of work on this machine's processor.
    pub fn fit<T: Send>(
        &self,
        py: Python<'_>,
        data: &Dataset,
        kept: Option<Work<'_>>,
        work: impl FnOnce(Runtime<'_>, Runtime<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let remote = self.remote.as_ref().map(|remote| remote.clone_ref(py));
        let afar = remote.map(Afar::new).transpose()?;
        let afar = afar.as_ref();
        self.run(py, |monitor| {
            let mut around = Surroundings::of(data)?;
            if let (Some(folder), Some(work)) = (&self.checkpoint, kept) {
                around = around.kept_in(folder, self.resume, &work, data)?;
            }
            let device = self.device.as_deref().unwrap_or("cpu");
            let device = afar::device(device, data.n_nodes(), afar)?;
            let here = around.runtime(monitor);
            let found = work(handed_out(here.on(device.backend()), afar), here)?;
            around.finish();
            Ok(found)
        })
    }
}

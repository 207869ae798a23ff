//! Long work without the interpreter's lock. The work runs on threads of its
//! own; the calling thread answers signals, shows progress and runs callbacks
//! meanwhile.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkproof::engine::runtime::{Event, Monitor, Record};
use linkproof::error::quote;
use linkproof::io::memory::share_one_pool;
use linkproof::{Error, Result};
use linkproof_cuda::{Choice, Chosen};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::context::Context;
use crate::errors::exception;

/// How often signals are answered and progress is shown.
const TICK: Duration = Duration::from_millis(50);

/// A step of a fit, or a number of finished fits.
#[derive(Clone, Copy)]
struct News {
    done: usize,
    all: usize,
    step: Option<Record>,
}

enum Message {
    Step(News, SyncSender<()>),
    Done,
}

/// Where work reports, from any of its threads.
pub struct WorkMonitor {
    stopped: AtomicBool,
    latest: Mutex<Option<News>>,
    messages: Option<Mutex<Sender<Message>>>,
}

impl Monitor for WorkMonitor {
    fn after(&self, event: Event<'_>) -> bool {
        match event {
            Event::Step { record, most, .. } => self.step(record, most),
            Event::Fits { done, most, .. } => self.fits(done, most),
            _ => {}
        }
        self.goes_on()
    }
}

impl WorkMonitor {
    /// Reports a step of a fit.
    fn step(&self, record: &Record, all: usize) {
        let news = News {
            done: record.step,
            all,
            step: Some(*record),
        };
        if let Some(messages) = &self.messages {
            let (answer, answered) = sync_channel(1);
            let sender = messages.lock().unwrap_or_else(PoisonError::into_inner);
            if sender.send(Message::Step(news, answer)).is_ok() {
                // Where nobody answers, nobody listens any more.
                let _ = answered.recv();
            }
        }
        self.keep(news);
    }

    /// Reports how many fits are done.
    pub fn fits(&self, done: usize, all: usize) {
        let step = None;
        self.keep(News { done, all, step });
    }

    /// The same, which also reports the share of the work that is done, in percent.
    pub fn shares(&self) -> impl Monitor + '_ {
        |event: Event<'_>| {
            if let Event::Share(share) = event {
                self.fits((100.0 * share) as usize, 100);
            }
            self.after(event)
        }
    }

    /// Whether nobody has asked for an end.
    pub fn goes_on(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }

    fn keep(&self, news: News) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(news);
    }

    fn latest(&self) -> Option<News> {
        self.latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// Runs work on the threads of a context, and lets those who watch know.
///
/// The threads are the work's own and have ended when it returns: a pool for the whole
/// process would not survive a fork.
pub fn run<T: Send>(
    py: Python<'_>,
    context: &Context,
    work: impl FnOnce(&WorkMonitor) -> Result<T> + Send,
) -> PyResult<T> {
    linkproof::instructions().map_err(exception)?;
    let (sender, messages) = channel();
    let wants_steps = context.every_step.is_some();
    let monitor = WorkMonitor {
        stopped: AtomicBool::new(false),
        latest: Mutex::new(None),
        messages: wants_steps.then(|| Mutex::new(sender.clone())),
    };
    let monitor = &monitor;
    let own = Threads::start(context.threads)?;
    let (outcome, failure) = py
        .detach(move || {
            thread::scope(|scope| {
                let work = move || {
                    let _end = End(sender);
                    // Each thread takes some memory for itself with its first piece. What is
                    // left after that is what the work can have.
                    let pool = &own.pool;
                    pool.broadcast(|_| drop(std::hint::black_box(vec![0u8; 64])));
                    pool.install(|| work(monitor))
                };
                let worker = thread::Builder::new().spawn_scoped(scope, work);
                worker.map(|worker| {
                    let failure = listen(&messages, monitor, context);
                    (worker.join(), failure)
                })
            })
        })
        .map_err(|error| PyOSError::new_err(format!("cannot start a thread: {error}")))?;
    // A panic goes on here and becomes an exception.
    let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic));
    match failure {
        Some(failure) => Err(failure),
        None => outcome.map_err(exception),
    }
}

/// As [`run`], for what is too short to be interrupted. Nothing may use threads outside
/// of the two: it would take those of the process, which a fork does not take along.
pub fn apart<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let own = Threads::start(None)?;
    Ok(py.detach(move || own.pool.install(work)))
}

/// Threads for one piece of work. Dropped, they have ended: of threads that end later,
/// the system's allocator would keep the memory apart from that of the next ones, and
/// ever more of it.
pub struct Threads {
    pool: rayon::ThreadPool,
    _ended: Ended,
}

/// Waits for threads. As a field after their pool it is dropped after it.
struct Ended(Vec<thread::JoinHandle<()>>);

impl Drop for Ended {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            // A panic of the work has been told already.
            let _ = thread.join();
        }
    }
}

impl Threads {
    /// Starts so many, or as many as there are cores.
    pub fn start(number: Option<usize>) -> PyResult<Threads> {
        // A small piece that finds no room ends the interpreter.
        share_one_pool();
        let mut started = Ended(Vec::new());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(number.unwrap_or(0))
            .spawn_handler(|thread| {
                let spawned = thread::Builder::new().spawn(|| thread.run())?;
                started.0.push(spawned);
                Ok(())
            })
            .build()
            .map_err(|error| {
                PyOSError::new_err(format!("n_jobs: cannot start threads: {error}"))
            })?;
        Ok(Threads {
            pool,
            _ended: started,
        })
    }

    /// Runs something on them.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}

/// Tells the listener that the work has ended, be it by a panic: it leaves only
/// then.
struct End(Sender<Message>);

impl Drop for End {
    fn drop(&mut self) {
        // Where nobody listens, nobody waits.
        let _ = self.0.send(Message::Done);
    }
}

/// What computes fits of so many nodes, by its name.
pub fn device(name: &str, n_nodes: usize) -> Result<Chosen> {
    let choice: Choice = name
        .parse()
        .map_err(|accepted: String| Error::argument("device", accepted, quote(name)))?;
    choice.open(n_nodes)
}

/// As [`run`], without anyone to tell.
pub fn quietly<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    run(py, &Context::on(threads), |monitor| {
        let found = work()?;
        match monitor.goes_on() {
            true => Ok(found),
            false => Err(Error::Interrupted { step: 0 }),
        }
    })
}

/// Serves the work until it is done; what a signal or a callback raised.
fn listen(messages: &Receiver<Message>, monitor: &WorkMonitor, context: &Context) -> Option<PyErr> {
    let mut failure = None;
    let mut last = Instant::now();
    loop {
        let mut step = None;
        match messages.recv_timeout(TICK) {
            Ok(Message::Done) | Err(RecvTimeoutError::Disconnected) => return failure,
            Ok(Message::Step(news, answer)) => step = Some((news, answer)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let tick = last.elapsed() >= TICK;
        if failure.is_none() && (tick || step.is_some()) {
            let heard = Python::attach(|py| {
                if let (Some((news, _)), Some(callback)) = (&step, &context.every_step) {
                    callback.call1(py, (news.record(py)?,))?;
                }
                if tick {
                    py.check_signals()?;
                    show(py, monitor, context)?;
                }
                Ok(())
            });
            if let Err(error) = heard {
                failure = Some(error);
                monitor.stopped.store(true, Ordering::Relaxed);
            }
        }
        if tick {
            last = Instant::now();
        }
        if let Some((_, answer)) = step {
            // The work waits for this.
            let _ = answer.send(());
        }
    }
}

fn show(py: Python<'_>, monitor: &WorkMonitor, context: &Context) -> PyResult<()> {
    if let (Some(show), Some(news)) = (&context.show, monitor.latest()) {
        let record = news.step.is_some().then(|| news.record(py)).transpose()?;
        show.call1(py, (news.done, news.all, record))?;
    }
    Ok(())
}

impl News {
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let record = PyDict::new(py);
        record.set_item("step", self.done)?;
        record.set_item("steps", self.all)?;
        if let Some(step) = &self.step {
            record.set_item("value", step.value)?;
            record.set_item("gradient_norm", step.gradient_norm)?;
            record.set_item("held_out", step.held_out)?;
            record.set_item("seconds", step.seconds)?;
        }
        Ok(record)
    }
}

//! Where work is computed, and who looks on: the last argument of everything
//! that takes long.
//!
//! ```
//! use linkproof::{Event, Fit, Graph, Dataset, Params, Runtime};
//!
//! # let links = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)];
//! # let data = Dataset::from_links(Graph::from_rows(4, &links)?)?;
//! let params = Params { dim: 2, ..Default::default() }.check()?;
//! // Ends the fit after ten steps.
//! let monitor = |event: Event<'_>| !matches!(event, Event::Step { record, .. } if record.step == 10);
//! let fitted = Fit::new(&params).runtime(Runtime::watched_by(&monitor)).run(&data);
//! # let _ = fitted;
//! # Ok::<(), linkproof::Error>(())
//! ```

mod count;

use std::fmt;
use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::objective::Problem;
use crate::engine::{Backend, Cpu, Forecast, Plan};
use crate::error::{Error, Result};

pub use count::{FitCount, Fits};

/// A line of the history of a fit ([example](self)).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The step.
    pub step: usize,
    /// The objective (of a sample, for the stochastic solver), per link.
    pub value: f64,
    /// The length of its gradient.
    pub gradient_norm: f64,
    /// The mean score of the held-out pairs, where it was evaluated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub held_out: Option<f64>,
    /// Seconds since the solver started.
    pub seconds: f64,
}

/// What a monitor is told ([example](self)).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'e> {
    /// Work of another kind begins.
    Doing(Doing),
    /// A step of the fit is done, of so many at most.
    Step {
        /// The step.
        record: &'e Record,
        /// The largest number of steps.
        most: usize,
        /// About how many are left, by how such fits end.
        left: usize,
    },
    /// A step of one of many fits is done, which nobody needs to be shown.
    Tick,
    /// Such a share of the work that began last is done.
    Share(f64),
    /// Of many fits so many are done, of about so many as far as is known: a search may
    /// find that it needs more, or fewer.
    Fits {
        /// How many are done.
        done: usize,
        /// About how many there are in all.
        most: usize,
        /// The share of the work that is done, as far as is known.
        share: f64,
    },
}

/// Work of which a monitor is told. `to_string` says it in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// Links are judged by fits that do not see them.
    JudgingLinks,
    /// Embeddings to walks over believed links are tried at several ridges.
    ChoosingRidge,
    /// The model is fitted.
    FittingModel,
    /// Its embeddings are averaged over links.
    Averaging,
    /// Candidates of a search are sifted by coarse fits.
    Sifting,
    /// The best candidates of a search are fitted on every fold.
    Settling,
    /// Changes of the model are tried with the chosen settings.
    TryingChanges,
    /// Parts of the nodes are fitted.
    FittingParts,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doing::JudgingLinks => "judging links",
            Doing::ChoosingRidge => "choosing the ridge",
            Doing::FittingModel => "fitting the model",
            Doing::Averaging => "averaging over links",
            Doing::Sifting => "sifting candidates",
            Doing::Settling => "comparing the best candidates",
            Doing::TryingChanges => "trying changes of the model",
            Doing::FittingParts => "fitting to parts of the nodes",
        })
    }
}

/// Looks on while work runs, from any of its threads. A closure is one.
pub trait Monitor: Sync {
    /// Sees what has happened; `false` ends the work with
    /// [`Error::Interrupted`].
    fn after(&self, event: Event<'_>) -> bool;
}

impl<F: Fn(Event<'_>) -> bool + Sync> Monitor for F {
    fn after(&self, event: Event<'_>) -> bool {
        self(event)
    }
}

/// Nobody looks on.
struct Nobody;

impl Monitor for Nobody {
    fn after(&self, _: Event<'_>) -> bool {
        true
    }
}

/// How far a solver has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It is on its way.
    Running,
    /// It is done.
    Done,
}

/// Keeps what solvers remember, from any thread, so that work that was cut short goes
/// on to the same result ([example](self)).
pub trait Keeper: Sync {
    /// What was kept under a key, whole; none where nothing was.
    fn recall(&self, key: &str, stage: Stage) -> Result<Option<Box<dyn io::Read>>>;

    /// Whether the state of a solver is wanted that was kept so long ago.
    fn is_due(&self, since: Duration) -> bool;

    /// Whether a result is worth keeping that took so long.
    fn is_worth(&self, took: Duration) -> bool;

    /// Keeps what is written, in place of what was kept under the key before.
    fn keep(
        &self,
        key: &str,
        stage: Stage,
        write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<()>;
}

/// How much memory a process may hold, and what says so ([example](self)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBound {
    /// So many bytes in all.
    pub bytes: u64,
    /// What says so, in words.
    pub by: String,
    /// The bytes of them that are in use for the data. With this, what a fit needs
    /// beside is asked for before it begins, and given back: a process that cannot
    /// bear an allocation to fail would rather hear of it then.
    pub in_use: Option<u64>,
}

impl MemoryBound {
    /// Refuses work that needs more than there is. What several fits hold at the same
    /// time is asked for by none of them: the others have some of it already.
    fn check(&self, needed: u64, is_alone: bool) -> Result<()> {
        let refused = |available, by: &str| Error::Memory {
            needed,
            available,
            by: by.to_owned(),
        };
        if needed > self.bytes {
            return Err(refused(self.bytes, &self.by));
        }
        if let Some(in_use) = self.in_use.filter(|_| is_alone) {
            let more = needed.saturating_sub(in_use);
            let given = most_given(more);
            if given < more {
                return Err(refused(in_use + given, "the system gives no more"));
            }
        }
        Ok(())
    }
}

/// So many bytes, or by halves as many of them as the system gives. They are given
/// back at once.
fn most_given(bytes: u64) -> u64 {
    let is_given = |bytes: &u64| {
        usize::try_from(*bytes).is_ok_and(|n| Vec::<u8>::new().try_reserve_exact(n).is_ok())
    };
    let halves = std::iter::successors(Some(bytes), |n| (*n > 1).then_some(n / 2));
    halves.into_iter().find(is_given).unwrap_or(0)
}

/// No more of many fits run at the same time than there are folds.
const MOST_AT_ONCE: usize = 5;
/// Above this number of nodes one of many fits has the machine for itself.
pub const ALONE_NODES: usize = 20_000;

/// How many of so many fits to so many nodes run at the same time.
pub fn at_once(fits: usize, n_nodes: usize) -> f64 {
    match n_nodes <= ALONE_NODES {
        true => rayon::current_num_threads().min(fits) as f64,
        false => 1.0,
    }
}

/// Who looks on while work runs, and where it is computed ([example](self)).
#[derive(Clone, Copy)]
pub struct Runtime<'r> {
    monitor: &'r dyn Monitor,
    backend: &'r dyn Backend,
    memory: Option<&'r MemoryBound>,
    keeper: Option<&'r dyn Keeper>,
    is_one_of_many: bool,
}

impl Default for Runtime<'_> {
    /// Nobody looks on, and this machine's processor computes.
    fn default() -> Self {
        Runtime {
            monitor: &Nobody,
            backend: &Cpu,
            memory: None,
            keeper: None,
            is_one_of_many: false,
        }
    }
}

impl<'r> Runtime<'r> {
    /// A monitor looks on.
    pub fn watched_by(monitor: &'r dyn Monitor) -> Runtime<'r> {
        Runtime {
            monitor,
            ..Runtime::default()
        }
    }

    /// The same, computed elsewhere.
    pub fn on(self, backend: &'r dyn Backend) -> Runtime<'r> {
        Runtime { backend, ..self }
    }

    /// The same with so much memory: a fit that needs more is refused before its
    /// first step.
    pub fn within(self, memory: impl Into<Option<&'r MemoryBound>>) -> Runtime<'r> {
        let memory = memory.into();
        Runtime { memory, ..self }
    }

    /// The same with someone who keeps what solvers remember.
    pub fn kept_by(self, keeper: &'r dyn Keeper) -> Runtime<'r> {
        let keeper = Some(keeper);
        Runtime { keeper, ..self }
    }

    /// Who keeps what solvers remember.
    pub fn keeper(self) -> Option<&'r dyn Keeper> {
        self.keeper
    }

    /// Whether this is one of many fits, which may run on another machine.
    pub fn is_one_of_many(self) -> bool {
        self.is_one_of_many
    }

    /// Refuses a fit that needs more memory than there is.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers.
    pub fn check_memory(self, problem: &Problem<'_>, plan: &Plan) -> Result<()> {
        let Some(bound) = self.memory else {
            return Ok(());
        };
        let fits = match self.is_one_of_many {
            true => at_once(MOST_AT_ONCE, problem.n_nodes()),
            false => 1.0,
        };
        bound.check(Forecast::new(problem, plan).of(fits), !self.is_one_of_many)
    }

    /// Refuses work that holds so much in all.
    ///
    /// # Errors
    /// [`Error::Memory`] with the numbers.
    pub fn check_needed(self, foretold: impl FnOnce() -> Result<u64>) -> Result<()> {
        match self.memory {
            Some(bound) => bound.check(foretold()?, !self.is_one_of_many),
            None => Ok(()),
        }
    }

    /// What builds the engines.
    pub fn backend(self) -> &'r dyn Backend {
        self.backend
    }

    /// The runtime of one of many fits, whose steps are not shown.
    pub fn of_one_of_many(self) -> Runtime<'r> {
        Runtime {
            is_one_of_many: true,
            ..self
        }
    }

    /// Tells of a step, after which about so many of at most so many are left; whether
    /// to go on.
    pub fn after_step(self, record: &Record, left: usize, most: usize) -> bool {
        self.monitor.after(match self.is_one_of_many {
            true => Event::Tick,
            false => Event::Step { record, most, left },
        })
    }

    /// Tells that time has passed; whether to go on.
    pub fn after_tick(self) -> bool {
        self.monitor.after(Event::Tick)
    }

    /// Reports the share of the work that is done.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the work is to end.
    pub fn after_share(self, share: f64) -> Result<()> {
        match self.monitor.after(Event::Share(share)) {
            true => Ok(()),
            false => Err(Error::Interrupted { step: 0 }),
        }
    }

    /// Tells how many fits are done. Where that is to be the end, the next step
    /// of any fit hears of it.
    pub fn after_fit(self, done: usize, most: usize) {
        let share = done as f64 / most.max(1) as f64;
        self.monitor.after(Event::Fits { done, most, share });
    }

    /// Tells what is done next.
    pub fn begins(self, doing: Doing) {
        self.monitor.after(Event::Doing(doing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(bytes: u64, in_use: Option<u64>) -> MemoryBound {
        MemoryBound {
            bytes,
            by: "by a test".to_owned(),
            in_use,
        }
    }

    #[test]
    fn more_than_the_bound_is_refused() {
        assert!(bound(100, None).check(100, true).is_ok());
        let error = bound(100, None).check(101, true).unwrap_err().to_string();
        assert!(error.contains("101 bytes") && error.contains("by a test"));
    }

    #[test]
    fn what_the_system_does_not_give_is_refused_before_it_is_used() {
        // No machine has so much.
        let needed = 1 << 62;
        assert!(bound(u64::MAX, None).check(needed, true).is_ok());
        assert!(bound(u64::MAX, Some(0)).check(needed, false).is_ok());
        assert!(bound(u64::MAX, Some(needed)).check(needed, true).is_ok());
        assert!(bound(u64::MAX, Some(50)).check(100, true).is_ok());
        let error = bound(u64::MAX, Some(7)).check(needed, true).unwrap_err();
        let Error::Memory { available, by, .. } = error else {
            panic!("{error}");
        };
        assert!(available > 7 && available < needed, "{available}");
        assert!(by.contains("system"), "{by}");
    }
}

//! An engine whose sums over all pairs are computed by another machine, which may fail.

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    CpuEngine, Embedding, Engine, Look, ObjectiveValue, OptimizerMemory, PartSum, Plan, StepOutcome,
};
use crate::engine::objective::Problem;
use crate::engine::pairs::{Part, SumPairs, Sums, TileShare};
use crate::error::{Error, Result};
use crate::score::Score;
use linkproof_numeric::real::Real;

/// The first thing that went wrong elsewhere, until someone asks.
#[derive(Debug, Clone, Default)]
pub struct Failure(Arc<Mutex<Option<Error>>>);

impl Failure {
    /// An error where something went wrong.
    ///
    /// # Errors
    /// What went wrong.
    pub fn take(&self) -> Result<()> {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.take().map_or(Ok(()), Err)
    }

    /// Sums that nobody is to use, because of an error.
    pub fn sums(&self, error: Error, n_views: usize) -> Sums {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        let mut sums = Sums::zero(n_views);
        sums.value = f64::NAN;
        sums
    }
}

/// The engine of the processor, with its sums over all pairs handed over to another.
#[derive(Debug)]
pub struct HandedEngine<'p, T: Real> {
    host: CpuEngine<'p, T>,
    failure: Failure,
}

impl<'p, T: Real> HandedEngine<'p, T> {
    /// An engine for a problem, all parameters zero. Whoever sums up says by `failure` what
    /// goes wrong.
    pub fn new(
        problem: &'p Problem<'p>,
        pairs: Box<dyn SumPairs<T> + 'p>,
        failure: Failure,
    ) -> HandedEngine<'p, T> {
        HandedEngine {
            host: CpuEngine::with(problem, pairs),
            failure,
        }
    }

    /// What the host found, unless its sums failed on the way.
    fn checked<V>(&self, found: Result<V>) -> Result<V> {
        self.failure.take()?;
        found
    }
}

impl<T: Real> Engine<T> for HandedEngine<'_, T> {
    fn problem(&self) -> &Problem<'_> {
        self.host.problem()
    }

    fn load(&mut self, theta: &[T]) -> Result<()> {
        self.host.load(theta)
    }

    fn parameters(&mut self) -> Result<Vec<T>> {
        self.host.parameters()
    }

    fn objective(
        &mut self,
        share: TileShare,
        gradient: Option<&mut [T]>,
    ) -> Result<ObjectiveValue> {
        let found = self.host.objective(share, gradient);
        self.checked(found)
    }

    fn sums(
        &mut self,
        part: Part,
        by: Option<&Score>,
        look: Look,
        share: TileShare,
    ) -> Result<PartSum> {
        let found = self.host.sums(part, by, look, share);
        self.checked(found)
    }

    fn begin(&mut self, plan: &Plan) -> Result<()> {
        self.host.begin(plan)
    }

    fn step(&mut self, step: u64) -> Result<StepOutcome> {
        let found = self.host.step(step);
        self.checked(found)
    }

    fn memory(&mut self) -> Result<Option<OptimizerMemory<'_, T>>> {
        self.host.memory()
    }

    fn resume(&mut self, plan: &Plan, memory: OptimizerMemory<'_, T>) -> Result<()> {
        self.host.resume(plan, memory)
    }

    fn start(&mut self, scale: f64) -> Result<Vec<T>> {
        self.host.start(scale)
    }

    fn embed(&mut self) -> Result<Embedding<T>> {
        self.host.embed()
    }
}

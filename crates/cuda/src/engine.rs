//! The engine of a card: sums over all pairs there, the rest on the host.

use std::sync::Arc;

use linkproof_method::engine::objective::Problem;
use linkproof_method::engine::pairs::{Part, TileShare};
use linkproof_method::engine::{
    CpuEngine, Embedding, Engine, Look, ObjectiveValue, PartSum, Plan, StepOutcome,
};
use linkproof_method::error::Result;
use linkproof_method::score::Score;

use crate::device::{Device, Products};
use crate::pairs::{DevicePairs, Failure};
use crate::pass::Number;

/// The engine of [`crate::Cuda`].
pub struct CudaEngine<'p, T: Number> {
    host: CpuEngine<'p, T>,
    failure: Failure,
}

impl<'p, T: Number> CudaEngine<'p, T> {
    /// An engine for a problem, all parameters zero.
    pub fn new(
        device: &Arc<Device>,
        products: Products,
        problem: &'p Problem<'p>,
    ) -> Result<CudaEngine<'p, T>> {
        let failure = Failure::default();
        let pairs = DevicePairs::<T>::new(device, products, failure.clone())?;
        Ok(CudaEngine {
            host: CpuEngine::with(problem, Box::new(pairs)),
            failure,
        })
    }

    /// What the host found, unless the card failed on the way.
    fn checked<V>(&self, found: Result<V>) -> Result<V> {
        self.failure.take()?;
        found
    }
}

impl<T: Number> Engine<T> for CudaEngine<'_, T> {
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

    fn start(&mut self, scale: f64) -> Result<Vec<T>> {
        self.host.start(scale)
    }

    fn embed(&mut self) -> Result<Embedding<T>> {
        self.host.embed()
    }
}

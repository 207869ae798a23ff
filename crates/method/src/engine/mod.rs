//! The seam between a fit and the machine that computes it.
//!
//! A [`Backend`] builds an [`Engine`] from a [`Problem`]. The engine owns what
//! stays where the arithmetic is: data vectors, links, the held-out rule, the
//! parameters and the memory of the optimizer. Solvers ask it questions and see
//! numbers; on a device nothing else travels. One backend stands here, [`Cpu`].
//! Any crate can bring another: the tests do, with one in plain loops, and check
//! every engine against it (`tests/support/engines`).

mod cpu;
pub mod encoder;
mod forecast;
mod left;
mod look;
pub mod objective;
pub mod pairs;
mod plan;
mod request;
pub mod runtime;
mod sampler;
pub mod solve;
mod sweep;

pub use cpu::{Cpu, CpuEngine, Evaluator, Gradient, Piece, Workspace};
pub use forecast::{Forecast, LBFGS_MEMORY};
pub use left::{Standing, steps_left};
pub use look::{EXACT_NODES, Look};
pub use plan::Plan;
pub use request::PassRequest;
pub use sampler::{DrawnNodes, Sample, StepSampler};
pub use sweep::{SweepPart, Sweeper};

use serde::{Deserialize, Serialize};

use crate::data::floats::Floats;
use crate::engine::encoder::Statistics;
use crate::engine::objective::Problem;
use crate::engine::pairs::Part;
use crate::engine::solve::{Task, Trained};
use crate::error::{Error, Result};
use crate::score::Score;
pub use linkproof_numeric::real::Real;

/// The instruction set that fits on this machine's processor run on, by its name in
/// `LINKPROOF_INSTRUCTIONS` (`plain`, `avx2` or `avx512`). Results do not depend on
/// it.
///
/// # Errors
/// Where that variable asks for one that the machine lacks.
pub fn instructions() -> Result<&'static str> {
    Ok(linkproof_numeric::processor::instructions()?)
}

/// Builds engines: the one thing that is handed in to compute elsewhere.
pub trait Backend: Sync {
    /// An engine in single precision.
    fn single<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f32> + 'p>>;

    /// An engine in double precision.
    fn double<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f64> + 'p>>;

    /// Runs one of many fits as a whole on another machine, if it has one. It asks now and
    /// then whether the fit is still wanted.
    fn offload(&self, task: &Task<'_>, is_wanted: &dyn Fn() -> bool) -> Option<Result<Trained>> {
        let _ = (task, is_wanted);
        None
    }
}

/// The objective over all training pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObjectiveValue {
    /// Its value.
    pub value: f64,
    /// The sum over the held-out pairs at the same parameters, where the pass
    /// watched them.
    pub held_out: Option<PartSum>,
}

/// A sum over the pairs of a part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PartSum {
    /// The sum of the score, less its constant for each pair.
    pub value: f64,
    /// The number of pairs; an estimate where the sum is one.
    pub pairs: f64,
}

/// What a step of a first-order method saw before it moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepOutcome {
    /// The objective, of a sample where the step takes one.
    pub value: f64,
    /// The length of its gradient.
    pub gradient_norm: f64,
}

/// The embeddings of all nodes as inference gives them.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding<T> {
    /// Row after row, by internal rows.
    pub y: Vec<T>,
    /// The offset of each node; empty where they have none.
    pub offsets: Vec<T>,
    /// What each view's encoder normalises with.
    pub statistics: Vec<Statistics>,
}

/// What a first-order method remembers from step to step, beside the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "T: Real")]
pub struct OptimizerMemory<'m, T: Real> {
    /// The steps taken.
    pub steps: u64,
    /// Averages, the start, whatever the engine has, in its own order.
    pub vectors: Vec<Floats<'m, T>>,
}

/// The arithmetic of one fit, with everything that it reads and writes.
pub trait Engine<T: Real> {
    /// What it was built for.
    fn problem(&self) -> &Problem<'_>;

    /// Puts parameters in place. What is known of them stays known where they
    /// are in place already; the optimizer's memory is gone in any case.
    fn load(&mut self, theta: &[T]) -> Result<()>;

    /// The parameters in place.
    fn parameters(&mut self) -> Result<Vec<T>>;

    /// The objective over the training pairs; its gradient overwrites `gradient`.
    ///
    /// A pass for a gradient may watch the held-out pairs along the way;
    /// [`Engine::sums`] then knows their sum.
    fn objective(&mut self, gradient: Option<&mut [T]>) -> Result<ObjectiveValue>;

    /// The sum over the pairs of a part, under inference, of the score that solvers
    /// follow or of another one.
    fn sums(&mut self, part: Part, by: Option<&Score>, look: Look) -> Result<PartSum>;

    /// Sets a first-order method off from the parameters in place.
    fn begin(&mut self, plan: &Plan) -> Result<()>;

    /// A step, counted from 1: draws what the plan says (all pairs, a sample, a
    /// part of a sweep), and moves the parameters along the gradient. What is
    /// drawn depends on the seed and the step alone.
    fn step(&mut self, step: u64) -> Result<StepOutcome>;

    /// What a first-order method remembers; none where the engine does not tell, so
    /// that its fits cannot go on after they were cut short.
    fn memory(&mut self) -> Result<Option<OptimizerMemory<'_, T>>> {
        Ok(None)
    }

    /// Goes on with a plan from the parameters in place and what was remembered, as
    /// if nothing had happened since.
    fn resume(&mut self, plan: &Plan, memory: OptimizerMemory<'_, T>) -> Result<()> {
        let (found, expected) = (memory.steps, plan.steps);
        let found = format!("a fit that was cut short after step {found} of {expected}");
        Err(Error::data("engine", found, "a fit from its start"))
    }

    /// The random start; on the host unless the engine knows better.
    fn start(&mut self, scale: f64) -> Result<Vec<T>> {
        let problem = self.problem();
        Ok(problem.start(&problem.inputs(), scale))
    }

    /// The embeddings of all nodes; on the host unless the engine knows better.
    fn embed(&mut self) -> Result<Embedding<T>> {
        let theta = self.parameters()?;
        let problem = self.problem();
        Ok(embed(problem, &problem.inputs(), &theta))
    }

    /// The mean score, under inference, of the pairs held out to decide when to
    /// stop; `None` when there are none.
    fn held_out(&mut self, look: Look) -> Result<Option<f64>> {
        if !self.problem().has_held_out() {
            return Ok(None);
        }
        let sum = self.sums(Part::HeldOut, None, look)?;
        let constant = self.problem().score.constant();
        Ok((sum.pairs > 0.0).then(|| (sum.value + constant * sum.pairs) / sum.pairs))
    }
}

/// The embeddings of all nodes at some parameters.
fn embed<T: Real>(
    problem: &Problem<'_>,
    inputs: &[crate::engine::encoder::Input<'_, T>],
    theta: &[T],
) -> Embedding<T> {
    let views = || problem.encoders().iter().zip(inputs);
    let statistics: Vec<Statistics> = views()
        .map(|(view, input)| view.network.statistics(&theta[view.params.clone()], input))
        .collect();
    let mut y = Vec::with_capacity(problem.n_nodes() * problem.dim);
    let mut offsets = Vec::new();
    for ((view, input), statistics) in views().zip(&statistics) {
        let params = &theta[view.params.clone()];
        y.extend(view.network.embed(params, input, statistics));
        if let Some(of_view) = &view.offsets {
            offsets.extend(of_view.infer(theta, input));
        }
    }
    Embedding {
        y,
        offsets,
        statistics,
    }
}

#[cfg(test)]
mod gradient_tests;
#[cfg(test)]
mod sweep_tests;
#[cfg(test)]
mod tests;

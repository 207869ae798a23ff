//! The engine on this machine's processor: tiles of pairs on all cores.

mod evaluator;
mod first_order;
mod part_sums;
mod sample;
mod sweep;

pub use evaluator::Evaluator;
pub use sample::{Gradient, Piece, Workspace};

use first_order::FirstOrder;

use super::{
    Backend, Embedding, Engine, Look, ObjectiveValue, OptimizerMemory, PartSum, Plan, StepOutcome,
    StepSampler, Sweeper, embed,
};
use crate::engine::objective::Problem;
use crate::engine::pairs::{PairPass, Part, Tiled};
use crate::error::{Error, Result};
use crate::params::SolverKind;
use crate::score::Score;
use linkproof_numeric::real::Real;

/// This machine's processor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Backend for Cpu {
    fn single<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f32> + 'p>> {
        Ok(Box::new(CpuEngine::new(problem)))
    }

    fn double<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f64> + 'p>> {
        Ok(Box::new(CpuEngine::new(problem)))
    }
}

/// The engine of [`Cpu`].
#[derive(Debug)]
pub struct CpuEngine<'p, T: Real> {
    evaluator: Evaluator<'p, T>,
    theta: Vec<T>,
    /// The sum over the held-out pairs at these parameters, where a pass knows it.
    watched: Option<PartSum>,
    descent: Option<Descent<'p, T>>,
}

/// A first-order method at work.
#[derive(Debug)]
struct Descent<'p, T: Real> {
    optimizer: FirstOrder<T>,
    source: Source<'p>,
    workspace: Workspace<T>,
    gradient: Gradient<T>,
}

/// Where the gradients of a first-order method come from.
#[derive(Debug)]
enum Source<'p> {
    All,
    Sample(Box<StepSampler<'p>>),
    Sweep(Sweeper),
}

impl<'p, T: Real> CpuEngine<'p, T> {
    /// An engine for a problem, all parameters zero.
    pub fn new(problem: &'p Problem<'p>) -> CpuEngine<'p, T> {
        CpuEngine::with(problem, Box::new(Tiled::default()))
    }

    /// An engine that leaves sums over all pairs to another.
    pub fn with(problem: &'p Problem<'p>, tiles: Box<dyn PairPass<T> + 'p>) -> CpuEngine<'p, T> {
        CpuEngine {
            evaluator: Evaluator::with(problem, tiles),
            theta: vec![T::ZERO; problem.n_params()],
            watched: None,
            descent: None,
        }
    }
}

impl<T: Real> Engine<T> for CpuEngine<'_, T> {
    fn problem(&self) -> &Problem<'_> {
        self.evaluator.problem
    }

    fn load(&mut self, theta: &[T]) -> Result<()> {
        if self.theta != theta {
            self.theta.copy_from_slice(theta);
            self.watched = None;
        }
        self.descent = None;
        Ok(())
    }

    fn parameters(&mut self) -> Result<Vec<T>> {
        Ok(self.theta.clone())
    }

    fn objective(&mut self, gradient: Option<&mut [T]>) -> Result<ObjectiveValue> {
        let watches = gradient.is_some() && self.evaluator.can_watch();
        let found = self
            .evaluator
            .objective(&self.theta, 0, watches, gradient)?;
        if watches {
            self.watched = found.held_out;
        }
        Ok(found)
    }

    fn sums(&mut self, part: Part, by: Option<&Score>, look: Look) -> Result<PartSum> {
        let is_known = part == Part::HeldOut
            && by.is_none()
            && look.k == 1.0
            && !look.estimates(self.problem().n_nodes());
        match self.watched.filter(|_| is_known) {
            Some(known) => Ok(known),
            None => self.evaluator.part_sum(&self.theta, part, by, look),
        }
    }

    fn begin(&mut self, plan: &Plan) -> Result<()> {
        let problem = self.evaluator.problem;
        self.descent = Some(Descent {
            optimizer: FirstOrder::new(plan, &self.theta),
            source: match (plan.solver, plan.turns) {
                (SolverKind::Exact, _) => Source::All,
                (SolverKind::Sgd, None) => {
                    Source::Sample(Box::new(StepSampler::new(problem, plan)))
                }
                (SolverKind::Sgd, Some(parts)) => {
                    Source::Sweep(Sweeper::new(problem, parts, plan.seed))
                }
            },
            workspace: Workspace::default(),
            gradient: Gradient::whole(problem.n_params()),
        });
        Ok(())
    }

    fn step(&mut self, step: u64) -> Result<StepOutcome> {
        let Some(descent) = &mut self.descent else {
            return Err(Error::data("engine", "a step", "to begin with a plan"));
        };
        let (evaluator, theta) = (&self.evaluator, &mut self.theta);
        let (workspace, gradient) = (&mut descent.workspace, &mut descent.gradient);
        let value = match &mut descent.source {
            Source::All => {
                let gradient = Some(gradient.values.as_mut_slice());
                evaluator.objective(theta, step, false, gradient)?.value
            }
            Source::Sample(sampler) => {
                evaluator.sampled(theta, sampler.draw(step), step, workspace, gradient)?
            }
            Source::Sweep(sweeper) => {
                evaluator.swept(theta, sweeper.draw(step), workspace, gradient)?
            }
        };
        let gradient_norm = descent.optimizer.step(theta, gradient);
        self.watched = None;
        Ok(StepOutcome {
            value,
            gradient_norm,
        })
    }

    fn memory(&mut self) -> Result<Option<OptimizerMemory<'_, T>>> {
        let descent = self.descent.as_ref();
        Ok(descent.map(|descent| descent.optimizer.memory()))
    }

    fn resume(&mut self, plan: &Plan, memory: OptimizerMemory<'_, T>) -> Result<()> {
        self.begin(plan)?;
        match &mut self.descent {
            Some(descent) => descent.optimizer.recall(memory),
            None => Ok(()),
        }
    }

    fn start(&mut self, scale: f64) -> Result<Vec<T>> {
        let evaluator = &self.evaluator;
        Ok(evaluator.problem.start(&evaluator.inputs, scale))
    }

    fn embed(&mut self) -> Result<Embedding<T>> {
        let evaluator = &self.evaluator;
        Ok(embed(evaluator.problem, &evaluator.inputs, &self.theta))
    }
}

//! Solvers: from a start to parameters, step by step. L-BFGS runs here, on values
//! and gradients of an engine; the steps of first-order methods are the engine's.
//!
//! Stopping is a value ([`StopReason`]); a monitor sees every step and may end the
//! fit. Where the runtime has a keeper, what a solver remembers is kept now and then,
//! and a solver with the same inputs goes on from there, to the same bits.

mod lbfgs;
mod state;
mod task;
mod vectors;
mod watch;

pub use crate::engine::Plan;
pub use lbfgs::{Descent, Lbfgs, Minimized, minimize};
pub use task::run_task;

use std::borrow::Cow;
use std::io;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use self::state::{Kept, Reader, Writer};
use self::watch::{Known, Next, Watch};
use crate::engine::runtime::{Elsewhere, Record, Runtime, Stage};
use crate::engine::task::torn;
use crate::engine::{Engine, OptimizerMemory, SolverTask};
use crate::error::{Error, Result};
use crate::params::OptimizerKind;
use linkproof_numeric::real::Real;

/// Why a fit ended ([example](crate::Fitted)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The gradient, or the gain of a step, is as good as zero.
    Converged,
    /// No step along the search direction lowers the objective any more.
    NoDescent,
    /// The held-out score has not fallen for `patience` evaluations.
    Patience,
    /// The largest number of steps was reached.
    Steps,
}

/// What a solver found.
#[derive(Debug, Clone)]
pub struct Solution<T> {
    /// The parameters: the best on the held-out pairs, where there are any.
    pub theta: Vec<T>,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The steps taken.
    pub steps: usize,
    /// The step that the parameters are from.
    pub best_step: usize,
    /// The held-out score of the start and of the parameters.
    pub held_out: Option<(f64, f64)>,
    /// The history.
    pub history: Vec<Record>,
}

/// Runs a plan from a start. The parameters of the solution are those in place
/// afterwards.
pub fn solve<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    start: Vec<T>,
    runtime: Runtime<'_>,
) -> Result<Solution<T>> {
    let elsewhere = runtime.elsewhere();
    if elsewhere.is_none() {
        runtime.check_memory::<T>(engine.problem(), plan)?;
    }
    let keeper = runtime.keeper();
    let kept = keeper.map(|keeper| Kept::new(keeper, engine.problem(), plan, &start));
    let mut earlier = None;
    if let Some(kept) = &kept {
        if let Some(solution) = kept.result::<T>()? {
            engine.load(&solution.theta)?;
            return Ok(solution);
        }
        if elsewhere.is_none() {
            let read = |from: &mut Reader<'_>| Ok((Known::read(from)?, Halfway::read(plan, from)?));
            earlier = kept.recalled(Stage::Running, read)?;
        }
    }
    if let Some(elsewhere) = elsewhere {
        return solve_elsewhere(engine, plan, &start, (runtime, elsewhere), kept);
    }
    let (mut watch, from) = match earlier {
        Some((known, halfway)) => (Watch::of(known, plan, runtime, kept), halfway),
        None => {
            engine.load(&start)?;
            let watch = Watch::new(engine, plan, &start, runtime, kept)?;
            (watch, Halfway::Nowhere(start))
        }
    };
    let stop_reason = match plan.optimizer {
        OptimizerKind::Lbfgs => {
            let (theta, stop_reason) = run_lbfgs(engine, plan, from, &mut watch)?;
            engine.load(&theta)?;
            stop_reason
        }
        OptimizerKind::Adam | OptimizerKind::Sgd => {
            run_first_order(engine, plan, from, &mut watch)?
        }
    };
    let solution = watch.finish(engine, stop_reason)?;
    engine.load(&solution.theta)?;
    Ok(solution)
}

/// Has a solver run elsewhere, from its start: what it remembers on its way stays there.
fn solve_elsewhere<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    start: &[T],
    (runtime, elsewhere): (Runtime<'_>, &dyn Elsewhere),
    kept: Option<Kept<'_>>,
) -> Result<Solution<T>> {
    let clock = Instant::now();
    let task = SolverTask::new(engine.problem(), plan, start);
    let bytes = elsewhere.solve(task, &|| runtime.after_tick())?;
    let solution = task::outcome::<T>(&bytes)?;
    if solution.theta.len() != start.len() {
        return Err(torn());
    }
    if let Some(kept) = &kept {
        kept.finish(&solution, clock.elapsed().as_secs_f64())?;
    }
    engine.load(&solution.theta)?;
    match runtime.after_tick() {
        true => Ok(solution),
        false => Err(Error::Interrupted {
            step: solution.steps,
        }),
    }
}

/// Where a solver begins.
enum Halfway<T: Real> {
    /// At a start.
    Nowhere(Vec<T>),
    /// Where L-BFGS was.
    Lbfgs(Box<Descent<T>>),
    /// Where a first-order method was: after a step, at these parameters.
    FirstOrder(usize, Vec<T>, OptimizerMemory<'static, T>),
}

impl<T: Real> Halfway<T> {
    fn read(plan: &Plan, from: &mut Reader<'_>) -> io::Result<Halfway<T>> {
        if plan.optimizer == OptimizerKind::Lbfgs {
            return Ok(Halfway::Lbfgs(Box::new(Descent::read(from)?)));
        }
        let (step, theta, steps) = (from.size()?, from.reals()?, from.number()?);
        let count = from.size()?;
        let vectors = (0..count).map(|_| Ok(Cow::Owned(from.reals()?)));
        let vectors = vectors.collect::<io::Result<_>>()?;
        let memory = OptimizerMemory { steps, vectors };
        Ok(Halfway::FirstOrder(step, theta, memory))
    }
}

fn run_lbfgs<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    from: Halfway<T>,
    watch: &mut Watch<'_, T>,
) -> Result<(Vec<T>, StopReason)> {
    let settings = Lbfgs {
        max_steps: plan.steps,
        value_tolerance: plan.tolerance,
        ..Lbfgs::default()
    };
    // What no parameter changes would hide how large a gain is.
    let constant = engine.problem().constant();
    let mut objective = LbfgsObjective {
        engine,
        watch,
        constant,
    };
    let descent = match from {
        Halfway::Nowhere(start) => Descent::start(start, &mut objective)?,
        Halfway::Lbfgs(descent) => *descent,
        Halfway::FirstOrder(..) => return Err(other_method()),
    };
    descent.run(&settings, &mut objective)
}

/// What was kept is found by the plan, which names the method.
fn other_method() -> Error {
    Error::data("a kept state", "another optimizer", "that of the fit")
}

/// What L-BFGS minimises, and who watches it.
struct LbfgsObjective<'d, 'w, T: Real> {
    engine: &'d mut dyn Engine<T>,
    watch: &'d mut Watch<'w, T>,
    constant: f64,
}

impl<T: Real> Minimized<T> for LbfgsObjective<'_, '_, T> {
    fn value(&mut self, theta: &[T], gradient: &mut [T]) -> Result<f64> {
        self.engine.load(theta)?;
        let found = self.engine.objective(Some(gradient))?;
        Ok(found.value - self.constant)
    }

    fn after_step(&mut self, descent: &Descent<T>) -> Result<Option<StopReason>> {
        // A line search may end at another point than its last trial.
        self.engine.load(descent.theta())?;
        let (step, norm) = (descent.step(), descent.norm());
        let value = descent.value() + self.constant;
        match self.watch.after_step(self.engine, step, value, norm)? {
            Next::GoOn => Ok(None),
            Next::Stop(reason) => Ok(Some(reason)),
            Next::Keep { ends } => {
                self.watch.keep(|to| descent.write(to), ends)?;
                Ok(None)
            }
        }
    }
}

fn run_first_order<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    from: Halfway<T>,
    watch: &mut Watch<'_, T>,
) -> Result<StopReason> {
    let done = match from {
        Halfway::Nowhere(start) => {
            drop(start);
            engine.begin(plan)?;
            0
        }
        Halfway::FirstOrder(step, theta, memory) => {
            engine.load(&theta)?;
            engine.resume(plan, memory)?;
            step
        }
        Halfway::Lbfgs(_) => return Err(other_method()),
    };
    for step in done + 1..=plan.steps {
        let outcome = engine.step(step as u64)?;
        let (value, norm) = (outcome.value, outcome.gradient_norm);
        if !(value.is_finite() && norm.is_finite()) {
            return Err(Error::Diverged {
                step,
                detail: format!("objective {value:e}, gradient norm {norm:e}"),
            });
        }
        match watch.after_step(engine, step, value, norm)? {
            Next::GoOn => {}
            Next::Stop(reason) => return Ok(reason),
            Next::Keep { ends } => keep_first_order(engine, step, watch, ends)?,
        }
    }
    Ok(StopReason::Steps)
}

fn keep_first_order<T: Real>(
    engine: &mut dyn Engine<T>,
    step: usize,
    watch: &mut Watch<'_, T>,
    ends: bool,
) -> Result<()> {
    let theta = engine.parameters()?;
    let Some(memory) = engine.memory()? else {
        // Such an engine's work is done again.
        return match ends {
            true => Err(Error::Interrupted { step }),
            false => Ok(()),
        };
    };
    let write = |to: &mut Writer<'_>| {
        to.number(step as u64)?;
        to.reals(&theta)?;
        to.number(memory.steps)?;
        to.number(memory.vectors.len() as u64)?;
        memory
            .vectors
            .iter()
            .try_for_each(|vector| to.reals(vector))
    };
    watch.keep(write, ends)
}

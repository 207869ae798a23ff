//! Solvers: from a start to parameters, step by step. L-BFGS runs here, on values
//! and gradients of an engine; the steps of first-order methods are the engine's.
//!
//! Stopping is a value ([`StopReason`]); a monitor sees every step and may end the
//! fit.

mod lbfgs;

pub use crate::engine::Plan;
pub use lbfgs::{Lbfgs, Minimized, minimize};

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::engine::pairs::TileShare;
use crate::engine::runtime::{Record, Runtime};
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
    runtime.check_memory::<T>(engine.problem(), plan)?;
    engine.load(&start)?;
    let mut watch = Watch::new(engine, plan, &start, runtime)?;
    let stop_reason = match plan.optimizer {
        OptimizerKind::Lbfgs => {
            let (theta, stop_reason) = run_lbfgs(engine, plan, start, &mut watch)?;
            engine.load(&theta)?;
            stop_reason
        }
        OptimizerKind::Adam | OptimizerKind::Sgd => {
            drop(start);
            run_first_order(engine, plan, &mut watch)?
        }
    };
    let solution = watch.finish(engine, stop_reason)?;
    engine.load(&solution.theta)?;
    Ok(solution)
}

fn run_lbfgs<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    start: Vec<T>,
    watch: &mut Watch<'_, T>,
) -> Result<(Vec<T>, StopReason)> {
    let settings = Lbfgs {
        max_steps: plan.steps,
        value_tolerance: plan.tolerance,
        ..Lbfgs::default()
    };
    // What no parameter changes would hide how large a gain is.
    let constant = engine.problem().constant();
    let mut descent = LbfgsDescent {
        engine,
        watch,
        constant,
    };
    minimize(&settings, start, &mut descent)
}

/// What L-BFGS minimises, and who watches it.
struct LbfgsDescent<'d, 'w, T: Real> {
    engine: &'d mut dyn Engine<T>,
    watch: &'d mut Watch<'w, T>,
    constant: f64,
}

impl<T: Real> Minimized<T> for LbfgsDescent<'_, '_, T> {
    fn value(&mut self, theta: &[T], gradient: &mut [T]) -> Result<f64> {
        self.engine.load(theta)?;
        let found = self.engine.objective(TileShare::WHOLE, Some(gradient))?;
        Ok(found.value - self.constant)
    }

    fn after_step(
        &mut self,
        step: usize,
        value: f64,
        norm: f64,
        theta: &[T],
    ) -> Result<Option<StopReason>> {
        // A line search may end at another point than its last trial.
        self.engine.load(theta)?;
        let value = value + self.constant;
        self.watch.after_step(self.engine, step, value, norm)
    }
}

fn run_first_order<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    watch: &mut Watch<'_, T>,
) -> Result<StopReason> {
    engine.begin(plan)?;
    for step in 1..=plan.steps {
        let outcome = engine.step(step as u64)?;
        let (value, norm) = (outcome.value, outcome.gradient_norm);
        if !(value.is_finite() && norm.is_finite()) {
            return Err(Error::Diverged {
                step,
                detail: format!("objective {value:e}, gradient norm {norm:e}"),
            });
        }
        if let Some(reason) = watch.after_step(engine, step, value, norm)? {
            return Ok(reason);
        }
    }
    Ok(StopReason::Steps)
}

/// Keeps the history and the best parameters, and says when to stop.
struct Watch<'w, T> {
    plan: &'w Plan,
    runtime: Runtime<'w>,
    history: Vec<Record>,
    clock: Instant,
    start_score: Option<f64>,
    best: Option<(f64, usize, Vec<T>)>,
    /// The best score at the last gain that counts, and the evaluations since.
    mark: f64,
    evaluations_since_mark: usize,
    steps: usize,
}

impl<'w, T: Real> Watch<'w, T> {
    fn new(
        engine: &mut dyn Engine<T>,
        plan: &'w Plan,
        start: &[T],
        runtime: Runtime<'w>,
    ) -> Result<Self> {
        let start_score = match plan.validates {
            true => engine.held_out(plan.look())?,
            false => None,
        };
        if let Some(score) = start_score.filter(|score| !score.is_finite()) {
            return Err(Error::Diverged {
                step: 0,
                detail: format!("held-out score {score} at the start"),
            });
        }
        Ok(Watch {
            plan,
            runtime,
            history: Vec::new(),
            clock: Instant::now(),
            best: start_score.map(|score| (score, 0, start.to_vec())),
            start_score,
            mark: start_score.unwrap_or(f64::INFINITY),
            evaluations_since_mark: 0,
            steps: 0,
        })
    }

    /// Looks at the parameters in place.
    fn after_step(
        &mut self,
        engine: &mut dyn Engine<T>,
        step: usize,
        value: f64,
        gradient_norm: f64,
    ) -> Result<Option<StopReason>> {
        self.steps = step;
        let evaluate = step.is_multiple_of(self.plan.evaluate_every) || step == self.plan.steps;
        let held_out = if evaluate && self.plan.validates {
            engine.held_out(self.plan.look())?
        } else {
            None
        };
        let record = Record {
            step,
            value,
            gradient_norm,
            held_out,
            seconds: self.clock.elapsed().as_secs_f64(),
        };
        self.history.push(record);
        if !self.runtime.after_step(&record, self.plan.steps) {
            return Err(Error::Interrupted { step });
        }
        let Some(score) = held_out else {
            return Ok(None);
        };
        let best = self.best.as_ref().map_or(f64::INFINITY, |best| best.0);
        if score < best {
            self.best = Some((score, step, engine.parameters()?));
        }
        // What no parameter changes would hide how large a gain is.
        let size = (self.mark - engine.problem().score.constant()).abs();
        if self.mark - score > self.plan.smallest_gain * size || self.mark.is_infinite() {
            self.mark = score;
            self.evaluations_since_mark = 0;
        } else {
            self.evaluations_since_mark += 1;
        }
        let stop = self.evaluations_since_mark >= self.plan.patience;
        Ok(stop.then_some(StopReason::Patience))
    }

    /// The best parameters, or those in place.
    fn finish(self, engine: &mut dyn Engine<T>, stop_reason: StopReason) -> Result<Solution<T>> {
        let (theta, best_step, held_out) = match self.best {
            Some((score, step, theta)) => {
                (theta, step, self.start_score.map(|start| (start, score)))
            }
            None => (engine.parameters()?, self.steps, None),
        };
        if let Some(place) = theta.iter().position(|x| !x.is_finite()) {
            return Err(Error::Diverged {
                step: self.steps,
                detail: format!("parameter {place} is {}", theta[place]),
            });
        }
        Ok(Solution {
            theta,
            stop_reason,
            steps: self.steps,
            best_step,
            held_out,
            history: self.history,
        })
    }
}

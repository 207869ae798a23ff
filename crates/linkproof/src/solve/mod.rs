//! Solvers: from a start to parameters, step by step.
//!
//! Stopping is a value ([`StopReason`]); watching is the caller's business
//! (an observer sees every step and may end the fit).

mod first_order;
mod lbfgs;
mod plan;
mod sampler;
mod sweep;

pub use first_order::FirstOrder;
pub use lbfgs::{Lbfgs, minimize};
pub use plan::Plan;
pub use sampler::Sampler;
pub use sweep::Sweeper;

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::objective::{Gradient, Problem, Workspace};
use crate::params::{OptimizerKind, SolverKind};
use crate::real::Real;

/// Why a fit ended.
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

/// A line of the history.
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

/// Sees every step, with the largest number of steps; returning `false` ends the fit
/// with [`Error::Interrupted`].
pub type Observer<'o> = dyn FnMut(&Record, usize) -> bool + 'o;

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

/// Runs a plan from a start.
pub fn solve<T: Real>(
    problem: &Problem<'_, T>,
    plan: &Plan,
    start: Vec<T>,
    observer: &mut Observer<'_>,
) -> Result<Solution<T>> {
    let mut watch = Watch::new(problem, plan, &start, observer)?;
    let (theta, stop_reason) = match plan.optimizer {
        OptimizerKind::Lbfgs => run_lbfgs(problem, plan, start, &mut watch)?,
        OptimizerKind::Adam | OptimizerKind::Sgd => {
            run_first_order(problem, plan, start, &mut watch)?
        }
    };
    watch.finish(theta, stop_reason)
}

fn run_lbfgs<T: Real>(
    problem: &Problem<'_, T>,
    plan: &Plan,
    start: Vec<T>,
    watch: &mut Watch<'_, '_, T>,
) -> Result<(Vec<T>, StopReason)> {
    let settings = Lbfgs {
        max_steps: plan.steps,
        value_tolerance: plan.tolerance,
        ..Lbfgs::default()
    };
    // What no parameter changes would hide how large a gain is.
    let constant = problem.constant();
    minimize(
        &settings,
        start,
        |theta, gradient| {
            let value = match plan.validates {
                true => problem.full_watched(theta, gradient),
                false => problem.full(theta, 0, Some(gradient)),
            };
            value - constant
        },
        |step, value, norm, theta| watch.after_step(step, value + constant, norm, theta),
    )
}

fn run_first_order<T: Real>(
    problem: &Problem<'_, T>,
    plan: &Plan,
    start: Vec<T>,
    watch: &mut Watch<'_, '_, T>,
) -> Result<(Vec<T>, StopReason)> {
    let mut optimizer = FirstOrder::new(plan, &start);
    let mut source = Source::new(problem, plan);
    let mut workspace = Workspace::default();
    let mut gradient = Gradient::whole(problem.n_params());
    let mut theta = start;
    for step in 1..=plan.steps {
        let place = step as u64;
        let value = match &mut source {
            Source::All => problem.full(&theta, place, Some(&mut gradient.values)),
            Source::Sample(sampler) => {
                let sample = sampler.draw(place);
                problem.sampled(&theta, sample, place, &mut workspace, &mut gradient)
            }
            Source::Sweep(sweeper) => {
                let turn = sweeper.draw(place);
                problem.swept(&theta, turn, &mut workspace, &mut gradient)
            }
        };
        let norm = optimizer.step(&mut theta, &gradient);
        if !(value.is_finite() && norm.is_finite()) {
            return Err(Error::Diverged {
                step,
                detail: format!("objective {value:e}, gradient norm {norm:e}"),
            });
        }
        if let Some(reason) = watch.after_step(step, value, norm, &theta)? {
            return Ok((theta, reason));
        }
    }
    Ok((theta, StopReason::Steps))
}

/// Where the gradients of a first-order method come from.
enum Source<'p, 'd, T: Real> {
    All,
    Sample(Box<Sampler<'p, 'd, T>>),
    Sweep(Sweeper),
}

impl<'p, 'd, T: Real> Source<'p, 'd, T> {
    fn new(problem: &'p Problem<'d, T>, plan: &Plan) -> Self {
        match (plan.solver, plan.turns) {
            (SolverKind::Exact, _) => Source::All,
            (SolverKind::Sgd, None) => Source::Sample(Box::new(Sampler::new(problem, plan))),
            (SolverKind::Sgd, Some(turns)) => {
                Source::Sweep(Sweeper::new(problem, turns, plan.seed))
            }
        }
    }
}

/// Keeps the history and the best parameters, and says when to stop.
struct Watch<'w, 'o, T: Real> {
    problem: &'w Problem<'w, T>,
    plan: &'w Plan,
    observer: &'w mut Observer<'o>,
    history: Vec<Record>,
    clock: Instant,
    start_score: Option<f64>,
    best: Option<(f64, usize, Vec<T>)>,
    /// The best score at the last gain that counts, and the evaluations since.
    mark: f64,
    evaluations_since_mark: usize,
    steps: usize,
}

impl<'w, 'o, T: Real> Watch<'w, 'o, T> {
    fn new(
        problem: &'w Problem<'w, T>,
        plan: &'w Plan,
        start: &[T],
        observer: &'w mut Observer<'o>,
    ) -> Result<Self> {
        let start_score = plan.validates.then(|| problem.held_out(start, plan.look()));
        let start_score = start_score.flatten();
        if let Some(score) = start_score.filter(|score| !score.is_finite()) {
            return Err(Error::Diverged {
                step: 0,
                detail: format!("held-out score {score} at the start"),
            });
        }
        Ok(Watch {
            problem,
            plan,
            observer,
            history: Vec::new(),
            clock: Instant::now(),
            best: start_score.map(|score| (score, 0, start.to_vec())),
            start_score,
            mark: start_score.unwrap_or(f64::INFINITY),
            evaluations_since_mark: 0,
            steps: 0,
        })
    }

    fn after_step(
        &mut self,
        step: usize,
        value: f64,
        gradient_norm: f64,
        theta: &[T],
    ) -> Result<Option<StopReason>> {
        self.steps = step;
        let evaluate = step.is_multiple_of(self.plan.evaluate_every) || step == self.plan.steps;
        let held_out = if evaluate && self.plan.validates {
            self.problem.held_out(theta, self.plan.look())
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
        if !(self.observer)(&record, self.plan.steps) {
            return Err(Error::Interrupted { step });
        }
        let Some(score) = held_out else {
            return Ok(None);
        };
        let best = self.best.as_ref().map_or(f64::INFINITY, |best| best.0);
        if score < best {
            self.best = Some((score, step, theta.to_vec()));
        }
        // What no parameter changes would hide how large a gain is.
        let size = (self.mark - self.problem.score().constant()).abs();
        if self.mark - score > self.plan.smallest_gain * size || self.mark.is_infinite() {
            self.mark = score;
            self.evaluations_since_mark = 0;
        } else {
            self.evaluations_since_mark += 1;
        }
        let stop = self.evaluations_since_mark >= self.plan.patience;
        Ok(stop.then_some(StopReason::Patience))
    }

    fn finish(self, last: Vec<T>, stop_reason: StopReason) -> Result<Solution<T>> {
        let (theta, best_step, held_out) = match self.best {
            Some((score, step, theta)) => {
                (theta, step, self.start_score.map(|start| (start, score)))
            }
            None => (last, self.steps, None),
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

#[cfg(test)]
mod gradient_tests;
#[cfg(test)]
mod sweep_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod watched_tests;

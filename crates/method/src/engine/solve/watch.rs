//! Who watches a solver: keeps the history and the best parameters, says when to
//! stop, and when to keep the state.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::state::Kept;
use super::{StopReason, Trained};
use crate::data::features::Values;
use crate::data::floats::Floats;
use crate::engine::runtime::{Record, Runtime};
use crate::engine::{Engine, Plan, Standing, steps_left};
use crate::error::{Error, Result};
use linkproof_numeric::real::Real;

/// What follows a step.
pub(super) enum Next {
    GoOn,
    Stop(StopReason),
    /// Keep the state, and perhaps end there.
    Keep {
        ends: bool,
    },
}

/// The rule that ends a fit: the best held-out score so far, its step and parameters, and
/// the evaluations since.
#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Real")]
pub(crate) struct Patience<T: Real> {
    best: Option<(f64, usize, Floats<'static, T>)>,
    since: usize,
}

impl<T: Real> Default for Patience<T> {
    fn default() -> Self {
        let (best, since) = (None, 0);
        Patience { best, since }
    }
}

impl<T: Real> Patience<T> {
    /// Sees a score; whether so many evaluations have gone by without a better one.
    pub(crate) fn ends(
        &mut self,
        (score, step): (f64, usize),
        theta: impl FnOnce() -> Result<Vec<T>>,
        patience: usize,
    ) -> Result<bool> {
        if self.best.as_ref().is_none_or(|best| score < best.0) {
            self.best = Some((score, step, theta()?.into()));
            self.since = 0;
        } else {
            self.since += 1;
        }
        Ok(self.since >= patience)
    }

    /// The parameters with the best score.
    pub(crate) fn into_best(self) -> Option<Vec<T>> {
        self.best.map(|(_, _, theta)| theta.into_vec())
    }
}

/// What is known of the steps so far.
#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Real")]
pub(super) struct Known<T: Real> {
    history: Vec<Record>,
    start_score: Option<f64>,
    patience: Patience<T>,
    steps: usize,
    /// The seconds of earlier runs.
    #[serde(skip)]
    pub(super) seconds: f64,
}

impl<T: Real> Known<T> {
    /// Nothing but the held-out score of a start, which is in place.
    pub(super) fn at_start(
        engine: &mut dyn Engine<T>,
        plan: &Plan,
        start: &[T],
    ) -> Result<Known<T>> {
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
        Ok(Known {
            history: Vec::new(),
            patience: Patience {
                best: start_score.map(|score| (score, 0, start.to_vec().into())),
                since: 0,
            },
            start_score,
            steps: 0,
            seconds: 0.0,
        })
    }
}

/// Watches a solver.
pub(super) struct Watch<'w, T: Real> {
    plan: &'w Plan,
    runtime: Runtime<'w>,
    kept: Option<Kept<'w>>,
    clock: Instant,
    known: Known<T>,
}

impl<'w, T: Real> Watch<'w, T> {
    /// Goes on with what is known.
    pub(super) fn new(
        known: Known<T>,
        plan: &'w Plan,
        runtime: Runtime<'w>,
        kept: Option<Kept<'w>>,
    ) -> Self {
        Watch {
            plan,
            runtime,
            kept,
            clock: Instant::now(),
            known,
        }
    }

    /// The seconds since the solver began, without those between two runs.
    fn seconds(&self) -> f64 {
        self.known.seconds + self.clock.elapsed().as_secs_f64()
    }

    /// Looks at the parameters in place.
    pub(super) fn after_step(
        &mut self,
        engine: &mut dyn Engine<T>,
        step: usize,
        value: f64,
        gradient_norm: f64,
    ) -> Result<Next> {
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
            seconds: self.seconds(),
        };
        self.known.steps = step;
        self.known.history.push(record);
        let stop = match held_out {
            Some(score) => {
                let theta = || engine.parameters();
                (self.known.patience).ends((score, step), theta, self.plan.patience)?
            }
            None => false,
        };
        let stop = stop.then_some(StopReason::Patience);
        let left = steps_left(self.standing(engine, step));
        let goes_on = self.runtime.after_step(&record, left, self.plan.steps);
        if let Some(reason) = stop {
            // A result that can be kept is; whoever wants an end is heard after that.
            return match goes_on || self.kept.is_some() {
                true => Ok(Next::Stop(reason)),
                false => Err(Error::Interrupted { step }),
            };
        }
        Ok(
            match self.kept.as_ref().is_some_and(|kept| kept.is_due(!goes_on)) {
                true => Next::Keep { ends: !goes_on },
                false if goes_on => Next::GoOn,
                false => return Err(Error::Interrupted { step }),
            },
        )
    }

    /// How the fit stands after a step.
    fn standing(&self, engine: &dyn Engine<T>, step: usize) -> Standing {
        let plan = self.plan;
        let waited = self.known.patience.since;
        let validates = self.known.start_score.is_some();
        // Without held-out pairs nothing ends a fit but its convergence.
        let all_tables = engine.problem().parameters.is_all_tables();
        let usual = validates.then(|| plan.usual_steps(all_tables));
        Standing {
            step,
            most: plan.steps,
            usual,
            patience: validates.then_some((waited, plan.patience, plan.evaluate_every)),
        }
    }

    /// Keeps what is known, and the solver's own state.
    pub(super) fn keep(&mut self, solver: &impl Serialize, ends: bool) -> Result<()> {
        let seconds = self.seconds();
        if let Some(kept) = &mut self.kept {
            kept.keep(&(seconds, &self.known, solver))?;
        }
        match ends {
            true => Err(Error::Interrupted {
                step: self.known.steps,
            }),
            false => Ok(()),
        }
    }

    /// The best parameters, or those in place, and the facts of the fit.
    pub(super) fn finish(
        self,
        engine: &mut dyn Engine<T>,
        stop_reason: StopReason,
    ) -> Result<(Vec<T>, Trained, Option<Kept<'w>>)> {
        let seconds = self.seconds();
        let known = self.known;
        let (theta, best_step, held_out) = match known.patience.best {
            Some((score, step, theta)) => {
                let held_out = known.start_score.map(|start| (start, score));
                (theta.into_vec(), step, held_out)
            }
            None => (engine.parameters()?, known.steps, None),
        };
        if let Some(place) = theta.iter().position(|x| !x.is_finite()) {
            return Err(Error::Diverged {
                step: known.steps,
                detail: format!("parameter {place} is {}", theta[place]),
            });
        }
        let none = || Values::from(Vec::<f32>::new());
        let trained = Trained {
            theta: none(),
            y: none(),
            offsets: none(),
            statistics: Vec::new(),
            stop_reason,
            steps: known.steps,
            best_step,
            held_out,
            history: known.history,
            seconds,
            sums: Vec::new(),
        };
        Ok((theta, trained, self.kept))
    }
}

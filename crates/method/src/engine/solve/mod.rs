//! Training: [`train`] runs every fit. L-BFGS runs here, on values and gradients of an
//! engine; the steps of first-order methods are the engine's.
//!
//! Stopping is a value ([`StopReason`]); a monitor sees every step and may end the
//! fit. If the runtime has a keeper, the state of a fit is kept now and then, and a fit
//! with the same inputs goes on from there, to the same bits.

mod lbfgs;
mod sent;
mod state;
mod vectors;
mod watch;

pub use crate::engine::Plan;
pub use lbfgs::{Descent, Lbfgs, Minimized, minimize};
pub use sent::{Lists, Numbers, SentTask};

use std::ops::RangeInclusive;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use self::state::Kept;
pub(crate) use self::watch::Patience;
use self::watch::{Known, Next, Watch};
use crate::data::features::Values;
use crate::data::floats::Floats;
use crate::engine::encoder::Statistics;
use crate::engine::objective::Problem;
use crate::engine::pairs::Part;
use crate::engine::runtime::{Record, Runtime, Stage};
use crate::engine::{Embedding, Engine, OptimizerMemory, PartSum, StepOutcome};
use crate::error::{Error, Result};
use crate::params::{OptimizerKind, Precision};
use crate::score::Score;
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

/// One fit: the objective, the plan, and the start.
#[derive(Debug, Clone)]
pub struct Task<'t> {
    /// The data, what of them is held out, and the objective.
    pub problem: &'t Problem<'t>,
    /// Solver, steps and stopping.
    pub plan: Plan,
    /// The parameters to start at; none: random ones.
    pub start: Option<&'t [f64]>,
    /// Sums that are wanted of the result: by a score, over the pairs of a part.
    pub sums: Vec<(Part, Score)>,
}

/// The result of a fit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trained {
    /// The parameters: the best on the held-out pairs, if there are any.
    pub theta: Values,
    /// The embeddings, row after row, by internal rows.
    pub y: Values,
    /// The offset of each node; empty if they have none.
    pub offsets: Values,
    /// What each view's encoder normalises with.
    pub statistics: Vec<Statistics>,
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
    /// Seconds, those of earlier runs included.
    pub seconds: f64,
    /// The sums that were wanted, in their order.
    pub sums: Vec<PartSum>,
}

/// Runs a fit: here, or if it is one of many on a machine that the backend knows.
///
/// # Errors
/// [`Error::Memory`] before the first step, [`Error::Diverged`], [`Error::Interrupted`],
/// and what the device or the other machine reports.
pub fn train(task: &Task<'_>, runtime: Runtime<'_>) -> Result<Trained> {
    let kept = runtime.keeper().map(|keeper| Kept::new(keeper, task));
    if let Some(kept) = &kept
        && let Some(trained) = kept.recalled(Stage::Done)?
    {
        return Ok(trained);
    }
    let backend = runtime.backend();
    if runtime.is_one_of_many() {
        let clock = Instant::now();
        let is_wanted = || runtime.after_tick();
        if let Some(trained) = backend.offload(task, &is_wanted) {
            let mut trained = trained?;
            trained.seconds = clock.elapsed().as_secs_f64();
            kept.map_or(Ok(()), |kept| kept.finish(&trained))?;
            return match is_wanted() {
                true => Ok(trained),
                false => Err(Error::Interrupted {
                    step: trained.steps,
                }),
            };
        }
    }
    runtime.check_memory(task.problem, &task.plan)?;
    match task.problem.params.precision {
        Precision::F32 => train_on(&mut *backend.single(task.problem)?, task, (runtime, kept)),
        Precision::F64 => train_on(&mut *backend.double(task.problem)?, task, (runtime, kept)),
    }
}

fn train_on<T: Real>(
    engine: &mut dyn Engine<T>,
    task: &Task<'_>,
    (runtime, kept): (Runtime<'_>, Option<Kept<'_>>),
) -> Result<Trained> {
    let plan = &task.plan;
    let (watch, reason) = match plan.optimizer {
        OptimizerKind::Lbfgs => {
            let earlier = recalled::<T, Descent<T>>(&kept)?;
            let (known, earlier) = begun(engine, task, earlier)?;
            let mut watch = Watch::new(known, plan, runtime, kept);
            let (theta, reason) = run_lbfgs(engine, plan, earlier, &mut watch)?;
            engine.load(&theta)?;
            (watch, reason)
        }
        OptimizerKind::Adam | OptimizerKind::Sgd => {
            let earlier = recalled::<T, FirstOrderState<'_, T>>(&kept)?;
            let (known, earlier) = begun(engine, task, earlier)?;
            let mut watch = Watch::new(known, plan, runtime, kept);
            let reason = run_first_order(engine, plan, earlier, &mut watch)?;
            (watch, reason)
        }
    };
    let (theta, mut trained, kept) = watch.finish(engine, reason)?;
    engine.load(&theta)?;
    let look = plan.look().at_every_pair();
    for (part, score) in &task.sums {
        trained.sums.push(engine.sums(*part, Some(score), look)?);
    }
    let Embedding {
        y,
        offsets,
        statistics,
    } = engine.embed()?;
    trained.theta = Values::of(&theta);
    (trained.y, trained.offsets) = (Values::of(&y), Values::of(&offsets));
    trained.statistics = statistics;
    kept.map_or(Ok(()), |kept| kept.finish(&trained))?;
    Ok(trained)
}

/// The state of a fit that was cut short: seconds, what is known of its steps, and the
/// solver's own state.
type Earlier<T, S> = Option<(f64, Known<T>, S)>;

fn recalled<T: Real, S: for<'d> Deserialize<'d>>(kept: &Option<Kept<'_>>) -> Result<Earlier<T, S>> {
    match kept {
        Some(kept) => kept.recalled(Stage::Running),
        None => Ok(None),
    }
}

/// What is known of a fit that begins, and its solver's state or else its start.
type Begun<T, S> = (Known<T>, std::result::Result<S, Vec<T>>);

/// Puts the start in place, unless there is an earlier state.
fn begun<T: Real, S>(
    engine: &mut dyn Engine<T>,
    task: &Task<'_>,
    earlier: Earlier<T, S>,
) -> Result<Begun<T, S>> {
    if let Some((seconds, mut known, state)) = earlier {
        known.seconds = seconds;
        return Ok((known, Ok(state)));
    }
    let start: Vec<T> = match task.start {
        None => engine.start(task.problem.params.init_scale)?,
        Some(theta) => theta.iter().map(|&x| T::of(x)).collect(),
    };
    if start.len() != task.problem.n_params() {
        let found = format!("{} parameters", start.len());
        let expected = format!("{}, as the fit has", task.problem.n_params());
        return Err(Error::data("start", found, expected));
    }
    engine.load(&start)?;
    let known = Known::at_start(engine, &task.plan, &start)?;
    Ok((known, Err(start)))
}

fn run_lbfgs<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    from: std::result::Result<Descent<T>, Vec<T>>,
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
        Ok(descent) => descent,
        Err(start) => Descent::start(start, &mut objective)?,
    };
    descent.run(&settings, &mut objective)
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
                self.watch.keep(descent, ends)?;
                Ok(None)
            }
        }
    }
}

/// A first-order method after a step.
#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Real")]
struct FirstOrderState<'m, T: Real> {
    step: usize,
    theta: Floats<'m, T>,
    memory: OptimizerMemory<'m, T>,
}

fn run_first_order<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    from: std::result::Result<FirstOrderState<'_, T>, Vec<T>>,
    watch: &mut Watch<'_, T>,
) -> Result<StopReason> {
    let done = match from {
        Err(start) => {
            drop(start);
            engine.begin(plan)?;
            0
        }
        Ok(state) => {
            engine.load(&state.theta)?;
            engine.resume(plan, state.memory)?;
            state.step
        }
    };
    let after = |engine: &mut dyn Engine<T>, step: usize, outcome: StepOutcome| {
        let (value, norm) = (outcome.value, outcome.gradient_norm);
        match watch.after_step(engine, step, value, norm)? {
            Next::GoOn => Ok(None),
            Next::Stop(reason) => Ok(Some(reason)),
            Next::Keep { ends } => keep_first_order(engine, step, watch, ends).map(|()| None),
        }
    };
    run_steps(engine, done + 1..=plan.steps, after)
}

/// Takes steps of a first-order method that has begun.
pub(crate) fn run_steps<T: Real>(
    engine: &mut dyn Engine<T>,
    steps: RangeInclusive<usize>,
    mut after: impl FnMut(&mut dyn Engine<T>, usize, StepOutcome) -> Result<Option<StopReason>>,
) -> Result<StopReason> {
    for step in steps {
        let outcome = engine.step(step as u64)?;
        let (value, norm) = (outcome.value, outcome.gradient_norm);
        if !(value.is_finite() && norm.is_finite()) {
            return Err(Error::Diverged {
                step,
                detail: format!("objective {value:e}, gradient norm {norm:e}"),
            });
        }
        if let Some(reason) = after(engine, step, outcome)? {
            return Ok(reason);
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
    let theta = Floats::from(engine.parameters()?);
    match engine.memory()? {
        Some(memory) => {
            let state = FirstOrderState {
                step,
                theta,
                memory,
            };
            watch.keep(&state, ends)
        }
        // Such an engine's work is done again.
        None if ends => Err(Error::Interrupted { step }),
        None => Ok(()),
    }
}

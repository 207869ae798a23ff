//! Fits whose embeddings are compared and not kept.

use crate::data::dataset::Dataset;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::runtime::Runtime;
use crate::engine::solve::solve;
use crate::engine::{Engine, Plan};
use crate::error::{Error, Result};
use crate::model::held_out_pairs;
use crate::params::{CheckedParams, OptimizerKind, Precision};
use linkproof_numeric::real::Real;

/// A gain of this share of the objective ends a fit.
pub(super) const TOLERANCE: f64 = 1e-4;
/// The same of fits that are compared and not kept.
pub(super) const COARSE_TOLERANCE: f64 = 3e-4;

/// A fit, for its embeddings.
#[derive(Debug, Clone)]
pub(super) struct LinkFit {
    /// The embeddings, by internal rows.
    pub y: Vec<f32>,
    /// The parameters, to start another fit from.
    pub theta: Vec<f32>,
}

/// Fits to the links of `data` as `params` say. L-BFGS ends by `tolerance`; other
/// methods by pairs that are held out among those of `data`.
pub(super) fn fit_links(
    params: &CheckedParams,
    data: &Dataset,
    warm: Option<&[f32]>,
    tolerance: f64,
    runtime: Runtime<'_>,
) -> Result<LinkFit> {
    let prepared = Prepared::new(data, params, None, None)?;
    let problem = Problem::new(&prepared, params)?;
    let plan = Plan::new(params, &problem)?;
    if plan.optimizer == OptimizerKind::Lbfgs {
        let plan = Plan {
            validates: false,
            tolerance,
            ..plan
        };
        return run(params, &problem, &plan, warm, runtime);
    }
    let split = held_out_pairs(params, data.graph().n_links());
    let prepared = Prepared::new(data, params, split, None)?;
    let problem = Problem::new(&prepared, params)?;
    let plan = Plan::new(params, &problem)?;
    run(params, &problem, &plan, None, runtime)
}

fn run(
    params: &CheckedParams,
    problem: &Problem<'_>,
    plan: &Plan,
    warm: Option<&[f32]>,
    runtime: Runtime<'_>,
) -> Result<LinkFit> {
    let warm = warm.filter(|theta| theta.len() == problem.n_params());
    let (scale, backend) = (params.init_scale, runtime.backend());
    match params.precision {
        Precision::F32 => run_on(&mut *backend.single(problem)?, plan, (warm, scale), runtime),
        Precision::F64 => run_on(&mut *backend.double(problem)?, plan, (warm, scale), runtime),
    }
}

fn run_on<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    (warm, scale): (Option<&[f32]>, f64),
    runtime: Runtime<'_>,
) -> Result<LinkFit> {
    let start = match warm {
        Some(theta) => theta.iter().map(|&x| T::of(f64::from(x))).collect(),
        None => engine.start(scale)?,
    };
    let solution = solve(engine, plan, start, runtime.of_one_of_many())?;
    let narrow = |values: &[T]| -> Vec<f32> { values.iter().map(|x| x.to_f64() as f32).collect() };
    let y = narrow(&engine.embed()?.y);
    if y.iter().any(|y| !y.is_finite()) {
        return Err(Error::Diverged {
            step: solution.steps,
            detail: "some embeddings ran away".to_owned(),
        });
    }
    Ok(LinkFit {
        y,
        theta: narrow(&solution.theta),
    })
}

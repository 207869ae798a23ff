//! Fits whose embeddings are compared and not kept.

use crate::data::dataset::Dataset;
use crate::engine::Plan;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::runtime::Runtime;
use crate::engine::solve::{Task, train};
use crate::error::{Error, Result};
use crate::model::held_out_pairs;
use crate::params::{CheckedParams, OptimizerKind};

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
    pub theta: Vec<f64>,
}

/// Fits to the links of `data` as `params` say. L-BFGS ends by `tolerance`; other
/// methods by pairs that are held out among those of `data`.
pub(super) fn fit_links(
    params: &CheckedParams,
    data: &Dataset,
    warm: Option<&[f64]>,
    tolerance: f64,
    runtime: Runtime<'_>,
) -> Result<LinkFit> {
    let all = Prepared::new(data, params, None, None)?;
    let problem = Problem::new(&all, params)?;
    let plan = Plan::new(params, &problem)?;
    if plan.optimizer == OptimizerKind::Lbfgs {
        let plan = Plan {
            validates: false,
            tolerance,
            ..plan
        };
        return run(&problem, plan, warm, runtime);
    }
    let split = held_out_pairs(params, data.graph().n_links());
    let prepared = Prepared::new(data, params, split, None)?;
    let problem = Problem::new(&prepared, params)?;
    let plan = Plan::new(params, &problem)?;
    run(&problem, plan, None, runtime)
}

fn run(
    problem: &Problem<'_>,
    plan: Plan,
    warm: Option<&[f64]>,
    runtime: Runtime<'_>,
) -> Result<LinkFit> {
    let warm = warm.filter(|theta| theta.len() == problem.n_params());
    let task = Task {
        problem,
        plan,
        start: warm,
        sums: Vec::new(),
    };
    let trained = train(&task, runtime.of_one_of_many())?;
    let y = trained.y.cast::<f32>().into_owned();
    if y.iter().any(|y| !y.is_finite()) {
        return Err(Error::Diverged {
            step: trained.steps,
            detail: "some embeddings ran away".to_owned(),
        });
    }
    let theta = trained.theta.cast::<f32>();
    Ok(LinkFit {
        y,
        theta: theta.iter().map(|&x| f64::from(x)).collect(),
    })
}

//! From data and parameters to a model.

use std::time::Instant;

use super::{DataCounts, FitReport, Fitted, FittedView, Neighborhood};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::features::Values;
use crate::graph::{Graph, Link};
use crate::objective::{Prepared, PreparedView, Problem};
use crate::pairs::Split;
use crate::params::{self, CheckedParams, InUse, Note, OptimizerKind, Precision};
use crate::processor::instructions;
use crate::real::Real;
use crate::score::Score;
use crate::solve::{Observer, Plan, Solution, solve};
use crate::transform::{normalize, transform_weight};

/// Fits a model.
pub fn fit(params: &CheckedParams, data: &Dataset) -> Result<Fitted> {
    fit_observed(params, data, &mut |_, _| true)
}

/// Fits a model; the observer sees every step and may end the fit.
pub fn fit_observed(
    params: &CheckedParams,
    data: &Dataset,
    observer: &mut Observer<'_>,
) -> Result<Fitted> {
    fit_without(params, data, None, observer)
}

/// Fits a model with links set aside: to the fit their pairs are neither links
/// nor zeros.
pub fn fit_without(
    params: &CheckedParams,
    data: &Dataset,
    aside: Option<&Graph>,
    observer: &mut Observer<'_>,
) -> Result<Fitted> {
    fit_seeing(params, data, None, aside, observer)
}

/// The pairs that a fit to so many links holds out.
pub fn held_out_pairs(params: &CheckedParams, n_links: usize) -> Option<Split> {
    let share = params.validation_share(n_links);
    (share > 0.0).then(|| Split::share(params.seed, share))
}

/// Fits a model to all pairs but those of a fold and those of links set aside.
/// Where a plain fit would hold pairs out to decide when to stop, so does this
/// one, from the pairs outside the fold: the fit does not look at the fold at
/// all.
pub fn fit_seeing(
    params: &CheckedParams,
    data: &Dataset,
    fold: Option<Split>,
    aside: Option<&Graph>,
    observer: &mut Observer<'_>,
) -> Result<Fitted> {
    instructions()?;
    check_weights(params, data)?;
    let stopping = held_out_pairs(params, data.graph().n_links());
    let split = match fold {
        Some(fold) => Some(fold.stopping_by(stopping)),
        None => stopping,
    };
    match params.precision {
        Precision::F32 => fit_in::<f32>(params, data, (split, aside), observer),
        Precision::F64 => fit_in::<f64>(params, data, (split, aside), observer),
    }
}

/// Refuses weights that are too large for the arithmetic of a fit: beyond the caps
/// of solvers, which are at expected weights of e^40 and e^200, nothing holds a
/// similarity back that grows towards such a weight. To the probability score, no
/// weight is too large.
///
/// # Errors
/// [`Error::TooHeavy`] names the heaviest link.
pub fn check_weights(params: &CheckedParams, data: &Dataset) -> Result<()> {
    if matches!(params.score(), params::Score::Probability { .. }) {
        return Ok(());
    }
    let (limit, precision) = match params.precision {
        Precision::F32 => (1e17, "single"),
        Precision::F64 => (1e86, "double"),
    };
    let weights = data.graph().weights().iter();
    let transformed = weights.map(|&weight| transform_weight(weight, params.weights));
    if transformed.sum::<f64>() <= limit {
        return Ok(());
    }
    let heavier = |a: &Link, b: &Link| a.weight.total_cmp(&b.weight);
    let Some(link) = data.graph().links().max_by(heavier) else {
        return Ok(());
    };
    let [src, dst] = [link.src, link.dst].map(|row| {
        let row = data.user_row(row as usize);
        data.ids().name(row).into_owned()
    });
    Err(Error::TooHeavy {
        src,
        dst,
        weight: link.weight,
        limit,
        precision,
    })
}

/// Fits a model to all pairs, from given parameters where they fit (L-BFGS alone),
/// until a step gains no more than this share of the objective.
pub fn fit_from(
    params: &CheckedParams,
    data: &Dataset,
    warm: Option<&[f32]>,
    tolerance: f64,
    observer: &mut Observer<'_>,
) -> Result<Fitted> {
    match params.precision {
        Precision::F32 => fit_from_in::<f32>(params, data, warm, tolerance, observer),
        Precision::F64 => fit_from_in::<f64>(params, data, warm, tolerance, observer),
    }
}

fn fit_from_in<T: Real>(
    params: &CheckedParams,
    data: &Dataset,
    warm: Option<&[f32]>,
    tolerance: f64,
    observer: &mut Observer<'_>,
) -> Result<Fitted> {
    let clock = Instant::now();
    let prepared = Prepared::new(data, params, None)?;
    let problem = Problem::<T>::new(&prepared, params)?;
    let mut plan = Plan::new(params, &problem)?;
    plan.validates = false;
    plan.tolerance = tolerance;
    let mut start = problem.start(params.init_scale);
    if let Some(theta) = warm.filter(|theta| theta.len() == start.len())
        && plan.optimizer == OptimizerKind::Lbfgs
    {
        start = theta.iter().map(|&x| T::of(f64::from(x))).collect();
    }
    let solution = solve(&problem, &plan, start, observer)?;
    finish(params, data, &problem, &plan, solution, clock)
}

fn fit_in<T: Real>(
    params: &CheckedParams,
    data: &Dataset,
    (split, aside): (Option<Split>, Option<&Graph>),
    observer: &mut Observer<'_>,
) -> Result<Fitted> {
    let clock = Instant::now();
    let prepared = Prepared::without(data, params, split, aside)?;
    let problem = Problem::<T>::new(&prepared, params)?;
    let plan = Plan::new(params, &problem)?;
    let start = problem.start(params.init_scale);
    let solution = solve(&problem, &plan, start, observer)?;
    finish(params, data, &problem, &plan, solution, clock)
}

fn finish<T: Real>(
    params: &CheckedParams,
    data: &Dataset,
    problem: &Problem<'_, T>,
    plan: &Plan,
    solution: Solution<T>,
    clock: Instant,
) -> Result<Fitted> {
    let theta = &solution.theta;
    let statistics = problem.statistics(theta);
    let embeddings: Vec<f32> = problem
        .embed(theta, &statistics)
        .iter()
        .map(|x| x.to_f64() as f32)
        .collect();
    let plain = Score::of(params.score());
    let (value, value_is_estimated) = problem.value(theta, &plain, plan.look().at_every_pair());
    if !value.is_finite() || embeddings.iter().any(|x| !x.is_finite()) {
        return Err(Error::Diverged {
            step: solution.steps,
            detail: format!("the score of the result is {value}: some expected weights ran away"),
        });
    }
    let prepared = problem.prepared();
    let mut node_views = vec![0u32; data.n_nodes()];
    for (place, view) in data.views().iter().enumerate() {
        for row in view.rows.clone() {
            node_views[data.user_row(row)] = place as u32;
        }
    }
    let views = problem
        .views()
        .iter()
        .zip(data.views())
        .zip(statistics)
        .map(|((view, data), statistics)| FittedView {
            name: data.name.clone(),
            network: view.network.clone(),
            weights: store(&theta[view.params.clone()]),
            statistics,
        })
        .collect();
    let neighborhood = match (&data.views()[0].matrix, params.propagate) {
        (Some(matrix), 1..) => Some(Neighborhood {
            graph: training_pattern(data, prepared)?,
            matrix: normalize(matrix, params.normalize)?,
        }),
        _ => None,
    };
    Ok(Fitted {
        params: params.given().clone(),
        views,
        view_pairs: prepared.view_pairs.clone(),
        gamma: problem.gamma(theta),
        ids: data.ids().clone(),
        node_views,
        embeddings: data.to_user_order(embeddings, params.dim),
        averaged: None,
        neighborhood,
        report: FitReport {
            stop_reason: solution.stop_reason,
            steps: solution.steps,
            best_step: solution.best_step,
            value,
            value_is_estimated,
            held_out: solution.held_out,
            held_out_is_estimated: solution.held_out.is_some()
                && plan.look().estimates(data.n_nodes()),
            counts: DataCounts {
                nodes: data.n_nodes(),
                training_links: prepared.training_links,
                held_out_links: prepared.held_out.as_ref().map_or(0, Graph::n_links),
                ignored_links: prepared.ignored_links,
                set_aside_links: prepared.aside.as_ref().map_or(0, Graph::n_links),
                read: data.graph().counts(),
            },
            k: plan.k,
            plan: serde_json::to_value(plan).unwrap_or_default(),
            notes: notes(params, problem, plan, &solution),
            history: solution.history,
            seconds: clock.elapsed().as_secs_f64(),
        },
    })
}

/// What a user should know.
fn notes<T: Real>(
    params: &CheckedParams,
    problem: &Problem<'_, T>,
    plan: &Plan,
    solution: &Solution<T>,
) -> Vec<Note> {
    let views = problem.prepared().views.iter();
    let encoder = |view: &PreparedView| params.encoder(&view.name, view.matrix.is_some()).ok();
    let mut notes = params.unused(&InUse {
        encoders: views.filter_map(encoder).collect(),
        solver: plan.solver,
        optimizer: plan.optimizer,
        schedule_alpha: plan.schedule_alpha,
        holds_out: problem.has_held_out(),
    });
    if solution.held_out.is_some() && solution.best_step == 0 {
        notes.push(Note::RandomStart);
    }
    notes
}

/// The links over which data vectors were averaged: those that were neither
/// held out nor set aside.
fn training_pattern(data: &Dataset, prepared: &Prepared) -> Result<Graph> {
    let split = prepared.split;
    data.graph().map_weights(|link| {
        let held_out = split.is_some_and(|split| split.holds_out(link.src, link.dst));
        let absent = held_out || prepared.is_aside(link.src, link.dst);
        if absent { 0.0 } else { link.weight }
    })
}

fn store<T: Real>(values: &[T]) -> Values {
    match (T::to_f32s(values), T::to_f64s(values)) {
        (Some(values), _) => values.to_vec().into(),
        (None, Some(values)) => values.to_vec().into(),
        (None, None) => values
            .iter()
            .map(|x| x.to_f64())
            .collect::<Vec<f64>>()
            .into(),
    }
}

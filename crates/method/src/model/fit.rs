//! From data and parameters to a model.

use std::time::Instant;

use super::doubts::foreseen;
use super::{DataCounts, FitReport, Fitted, FittedView, ModelParts, Neighborhood};
use crate::data::dataset::Dataset;
use crate::data::features::Values;
use crate::data::graph::{Graph, Link};
use crate::data::transform::{normalize, transform_weight};
use crate::engine::Plan;
use crate::engine::instructions;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::{Part, Split};
use crate::engine::runtime::Runtime;
use crate::engine::solve::{Task, Trained, train};
use crate::error::{Error, Result};
use crate::params::{CheckedParams, InUse, Note, OptimizerKind, Params, Precision};

/// Fits a model: the short form of [`Fit`].
pub fn fit(params: &CheckedParams, data: &Dataset) -> Result<Fitted> {
    Fit::new(params).run(data)
}

/// A fit that is about to run.
///
/// ```
/// use linkproof::{Dataset, Fit, Graph, Params};
///
/// let links = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (0, 3, 9.0)];
/// let data = Dataset::from_links(Graph::from_rows(4, &links)?)?;
/// let params = Params { dim: 2, ..Default::default() }.check()?;
/// let suspect = Graph::from_rows(4, &[(0, 3, 9.0)])?;
/// let fitted = Fit::new(&params).without(&suspect).run(&data)?;
/// assert_eq!(fitted.report().counts.set_aside_links, 1);
/// # Ok::<(), linkproof::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Fit<'f> {
    params: &'f CheckedParams,
    fold: Option<Split>,
    aside: Option<&'f Graph>,
    /// The tolerance of a fit to all pairs, and where it starts.
    to_all_pairs: Option<f64>,
    start: Option<&'f [f64]>,
    ridge_factor: f64,
    runtime: Runtime<'f>,
}

impl<'f> Fit<'f> {
    /// A fit to all links, which nobody watches.
    pub fn new(params: &'f CheckedParams) -> Fit<'f> {
        Fit {
            params,
            fold: None,
            aside: None,
            to_all_pairs: None,
            start: None,
            ridge_factor: 1.0,
            runtime: Runtime::default(),
        }
    }

    /// Sets links aside, between nodes with the ids of the data: to the fit their
    /// pairs are neither links nor zeros.
    pub fn without(self, aside: impl Into<Option<&'f Graph>>) -> Fit<'f> {
        Fit {
            aside: aside.into(),
            ..self
        }
    }

    /// Does not look at a fold at all: where a plain fit would hold pairs out to
    /// decide when to stop, so does this one, from the pairs outside the fold.
    pub fn not_seeing(self, fold: Split) -> Fit<'f> {
        Fit {
            fold: Some(fold),
            ..self
        }
    }

    /// Holds no pairs out: ends where a step gains no more than this share of the
    /// objective.
    pub fn to_all_pairs(self, tolerance: f64) -> Fit<'f> {
        Fit {
            to_all_pairs: Some(tolerance),
            ..self
        }
    }

    /// Starts from given parameters where they fit (L-BFGS alone).
    pub fn starting_from(self, theta: impl Into<Option<&'f [f64]>>) -> Fit<'f> {
        Fit {
            start: theta.into(),
            ..self
        }
    }

    /// Takes so many times the ridge.
    pub fn times_ridge(self, ridge_factor: f64) -> Fit<'f> {
        Fit {
            ridge_factor,
            ..self
        }
    }

    /// Who looks on, and where it is computed.
    pub fn runtime(self, runtime: Runtime<'f>) -> Fit<'f> {
        Fit { runtime, ..self }
    }

    /// Fits.
    ///
    /// # Errors
    /// Settings that do not suit the data; weights that are too large; a fit that
    /// diverged; [`Error::Interrupted`] where the monitor says so.
    pub fn run(&self, data: &Dataset) -> Result<Fitted> {
        instructions()?;
        check_weights(self.params, data)?;
        let stopping = match self.to_all_pairs {
            Some(_) => None,
            None => held_out_pairs(self.params, data.graph().n_links()),
        };
        let split = match self.fold {
            Some(fold) => Some(fold.stopping_by(stopping)),
            None => stopping,
        };
        let clock = Instant::now();
        let aside = self
            .aside
            .cloned()
            .map(|aside| data.to_internal_rows(aside));
        let prepared = Prepared::new(data, self.params, split, aside.transpose()?.as_ref())?;
        let mut problem = Problem::new(&prepared, self.params)?;
        problem.ridge *= self.ridge_factor;
        let mut plan = Plan::new(self.params, &problem)?;
        if let Some(tolerance) = self.to_all_pairs {
            plan.validates = false;
            plan.tolerance = tolerance;
        }
        let fits = |theta: &&[f64]| {
            theta.len() == problem.n_params() && plan.optimizer == OptimizerKind::Lbfgs
        };
        let task = Task {
            problem: &problem,
            start: self.start.filter(fits),
            sums: vec![(Part::Training, problem.score.clone())],
            plan,
        };
        let trained = train(&task, self.runtime)?;
        let mut fitted = finish(self.params, data, &task, trained, clock)?;
        // Expected weights of two signs: the pattern is fitted, sizes have a law.
        if data.graph().is_signed() && self.to_all_pairs.is_none() {
            let seen = |link: &Link| !self.fold.is_some_and(|it| it.holds_out(link.src, link.dst));
            let links = data.graph().links().filter(seen);
            let law = fitted.size_law(links.map(|link| (data.user_link(link), 1.0)));
            fitted.tell_sizes(1.0, law);
            fitted.parts.report.seconds = clock.elapsed().as_secs_f64();
        }
        Ok(fitted)
    }
}

/// The pairs that a fit to so many links holds out.
pub fn held_out_pairs(params: &CheckedParams, n_links: usize) -> Option<Split> {
    let share = params.validation_share(n_links);
    (share > 0.0).then(|| Split::share(params.seed, share))
}

/// Refuses weights that are too large for the arithmetic of a fit: beyond the caps
/// of solvers, which are at expected weights of e^40 and e^200, nothing holds a
/// similarity back that grows towards such a weight. To the probability score, no
/// weight is too large.
///
/// # Errors
/// [`Error::TooHeavy`] names the heaviest link.
pub fn check_weights(params: &CheckedParams, data: &Dataset) -> Result<()> {
    if !params.score().is_linear() {
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
    let [src, dst] = [link.src, link.dst].map(|row| data.name(row as usize).into_owned());
    let error = Error::TooHeavy {
        src,
        dst,
        weight: link.weight,
        limit,
        precision,
    };
    Err(data.graph().located(error, |other| *other == link))
}

fn finish(
    params: &CheckedParams,
    data: &Dataset,
    task: &Task<'_>,
    trained: Trained,
    clock: Instant,
) -> Result<Fitted> {
    let (problem, plan) = (task.problem, &task.plan);
    let narrow = |values: &Values| values.cast::<f32>().into_owned();
    let (embeddings, offsets) = (narrow(&trained.y), narrow(&trained.offsets));
    let look = plan.look().at_every_pair();
    let sum = trained.sums.first();
    let value = sum.map_or(f64::NAN, |sum| {
        sum.value + problem.score.constant() * sum.pairs
    });
    if !value.is_finite() || embeddings.iter().any(|x| !x.is_finite()) {
        return Err(Error::Diverged {
            step: trained.steps,
            detail: format!("the score of the result is {value}: some expected weights ran away"),
        });
    }
    let prepared = problem.data;
    let mut node_views = vec![0u32; data.n_nodes()];
    for (place, view) in data.views().iter().enumerate() {
        for row in view.rows.clone() {
            node_views[data.user_row(row)] = place as u32;
        }
    }
    let views = problem
        .encoders()
        .iter()
        .zip(data.views())
        .zip(&trained.statistics)
        .map(|((view, data), statistics)| FittedView {
            name: data.name.clone(),
            network: view.network.clone(),
            weights: trained.theta.slice(view.params.clone()),
            statistics: statistics.clone(),
            offsets: view
                .offsets
                .as_ref()
                .and_then(|it| it.stored(&trained.theta)),
        })
        .collect();
    let neighborhood = match (&data.views()[0].matrix, params.propagate) {
        (Some(matrix), 1..) => Some(Neighborhood {
            graph: training_pattern(data, prepared)?,
            matrix: normalize(matrix.clone(), params.normalize)?,
        }),
        _ => None,
    };
    let mut fitted = Fitted::new(ModelParts {
        params: Params {
            ridge: Some(params.ridge()),
            ..params.given().clone()
        },
        views,
        view_pairs: prepared.view_pairs.clone(),
        gamma: problem
            .parameters
            .gamma_at(|place| trained.theta.get(place)),
        ids: data.ids().clone(),
        node_views,
        embeddings: data.to_user_order(embeddings, params.dim),
        offsets: (params.offsets).then(|| data.to_user_order(offsets, 1)),
        averaged: None,
        neighborhood,
        links: data.user_graph()?,
        believed: None,
        sizes: None,
        classes: None,
        attributes: None,
        replicates: None,
        report: FitReport {
            stop_reason: trained.stop_reason,
            steps: trained.steps,
            best_step: trained.best_step,
            value,
            value_is_estimated: look.estimates(data.n_nodes()),
            held_out: trained.held_out,
            held_out_is_estimated: trained.held_out.is_some()
                && plan.look().estimates(data.n_nodes()),
            counts: DataCounts {
                nodes: data.n_nodes(),
                training_links: prepared.training_links,
                held_out_links: prepared.held_out.as_ref().map_or(0, Graph::n_links),
                ignored_links: prepared.ignored_links,
                set_aside_links: prepared.set_aside_links,
                read: data.graph().counts(),
            },
            k: plan.k,
            plan: plan.clone(),
            notes: notes(params, problem, plan, &trained),
            updates: None,
            history: trained.history,
            seconds: 0.0,
        },
    })?;
    let doubts = fitted.doubts();
    let report = &mut fitted.parts.report;
    report.notes.extend(foreseen(params.given(), data));
    report.notes.extend(doubts);
    report.seconds = clock.elapsed().as_secs_f64();
    Ok(fitted)
}

/// What a user should know.
fn notes(
    params: &CheckedParams,
    problem: &Problem<'_>,
    plan: &Plan,
    trained: &Trained,
) -> Vec<Note> {
    let encoders = problem.encoders().iter();
    let mut notes = params.unused(&InUse {
        encoders: encoders
            .map(|view| view.network.spec().encoder.kind)
            .collect(),
        solver: plan.solver,
        optimizer: plan.optimizer,
        schedule_alpha: plan.descent.schedule_alpha.unwrap_or_default(),
        holds_out: problem.has_held_out(),
    });
    if trained.held_out.is_some() && trained.best_step == 0 {
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

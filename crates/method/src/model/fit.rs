//! From data and parameters to a model.

use std::time::Instant;

use super::doubts::foreseen;
use super::{DataCounts, FitReport, Fitted, FittedView, ModelParts, Neighborhood};
use crate::data::dataset::Dataset;
use crate::data::features::Values;
use crate::data::graph::{Graph, Link};
use crate::data::transform::{normalize, transform_weight};
use crate::engine::instructions;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::Split;
use crate::engine::runtime::Runtime;
use crate::engine::solve::{Solution, solve};
use crate::engine::{Embedding, Engine, Plan};
use crate::error::{Error, Result};
use crate::params::{CheckedParams, InUse, Note, OptimizerKind, Params, Precision};
use linkproof_numeric::real::Real;

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
    start: Option<&'f [f32]>,
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
    pub fn starting_from(self, theta: impl Into<Option<&'f [f32]>>) -> Fit<'f> {
        Fit {
            start: theta.into(),
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
        let problem = Problem::new(&prepared, self.params)?;
        let backend = self.runtime.backend();
        match self.params.precision {
            Precision::F32 => self.run_on(&mut *backend.single(&problem)?, data, clock),
            Precision::F64 => self.run_on(&mut *backend.double(&problem)?, data, clock),
        }
    }

    fn run_on<T: Real>(
        &self,
        engine: &mut dyn Engine<T>,
        data: &Dataset,
        clock: Instant,
    ) -> Result<Fitted> {
        let mut plan = Plan::new(self.params, engine.problem())?;
        if let Some(tolerance) = self.to_all_pairs {
            plan.validates = false;
            plan.tolerance = tolerance;
        }
        let start = match self.start {
            Some(theta)
                if theta.len() == engine.problem().n_params()
                    && plan.optimizer == OptimizerKind::Lbfgs =>
            {
                theta.iter().map(|&x| T::of(f64::from(x))).collect()
            }
            _ => engine.start(self.params.init_scale)?,
        };
        let solution = solve(engine, &plan, start, self.runtime)?;
        let mut fitted = finish(self.params, data, engine, &plan, solution, clock)?;
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

fn finish<T: Real>(
    params: &CheckedParams,
    data: &Dataset,
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    solution: Solution<T>,
    clock: Instant,
) -> Result<Fitted> {
    let theta = &solution.theta;
    let Embedding {
        y,
        offsets,
        statistics,
    } = engine.embed()?;
    let narrow =
        |values: Vec<T>| -> Vec<f32> { values.iter().map(|x| x.to_f64() as f32).collect() };
    let (embeddings, offsets) = (narrow(y), narrow(offsets));
    let (value, value_is_estimated) = engine.value(plan.look().at_every_pair())?;
    if !value.is_finite() || embeddings.iter().any(|x| !x.is_finite()) {
        return Err(Error::Diverged {
            step: solution.steps,
            detail: format!("the score of the result is {value}: some expected weights ran away"),
        });
    }
    let problem = engine.problem();
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
        .zip(statistics)
        .map(|((view, data), statistics)| FittedView {
            name: data.name.clone(),
            network: view.network.clone(),
            weights: store(&theta[view.params.clone()]),
            statistics,
            offsets: view
                .offsets
                .as_ref()
                .and_then(|it| it.weights(theta))
                .map(|it| store(&it)),
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
        gamma: problem.parameters.gamma(theta),
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
                set_aside_links: prepared.set_aside_links,
                read: data.graph().counts(),
            },
            k: plan.k,
            plan: plan.clone(),
            notes: notes(params, problem, plan, &solution),
            updates: None,
            history: solution.history,
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
fn notes<T>(
    params: &CheckedParams,
    problem: &Problem<'_>,
    plan: &Plan,
    solution: &Solution<T>,
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

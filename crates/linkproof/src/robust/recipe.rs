//! The steps in their order.

use serde::Serialize;

use super::gate::{self, Told};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::folds::Watcher;
use crate::graph::{Adjacency, Graph, Link, LinkRules};
use crate::judge::average::averages;
use crate::judge::fits::{LinkFit, TOLERANCE, fit_links};
use crate::judge::{Judge, Judgement};
use crate::model::{Fitted, fit_from};
use crate::params::{CheckedParams, Params, ScoreKind, WeightTransform};
use crate::transform::average_over_walks;

/// When embeddings are averaged over believed links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Averaging {
    /// Where the gate says so.
    #[default]
    Gate,
    /// Whatever the gate says.
    Always,
    /// Not at all.
    Never,
}

/// The settings of the recipe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recipe {
    /// The ridges to choose from.
    pub ridges: Vec<f64>,
    /// Folds of links.
    pub folds: usize,
    /// The length of the walks over believed links; 0: the links themselves.
    pub walks: usize,
    /// Rounds of averaging.
    pub rounds: usize,
    /// When to average.
    pub averaging: Averaging,
    /// The gate opens where averages tell at least this share of what the
    /// embeddings tell.
    pub threshold: f64,
}

impl Default for Recipe {
    fn default() -> Self {
        Recipe {
            ridges: vec![30.0, 10.0, 3.0, 1.0],
            folds: 5,
            walks: 4,
            rounds: 2,
            averaging: Averaging::Gate,
            threshold: 0.8,
        }
    }
}

/// A ridge and what it gave.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RidgeTried {
    /// The ridge.
    pub ridge: f64,
    /// The chance that a held-out link has more to say for it than a decoy.
    pub auc: f64,
    /// Its standard error.
    pub error: f64,
}

/// What the gate found, and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gate {
    /// What halves of the data vectors told; none where there are none to split.
    pub told: Option<Told>,
    /// Whether averages are recommended.
    pub opens: bool,
}

/// A model and how far its links are believed.
#[derive(Debug, Clone)]
pub struct Robust {
    /// The fit to walks over believed links.
    pub model: Fitted,
    /// Its embeddings averaged over believed links, in the user's row order.
    pub averaged: Vec<f32>,
    /// Whether the averages are recommended.
    pub recommends_averages: bool,
    /// How far each link is believed.
    pub judgement: Judgement,
    /// The gate.
    pub gate: Gate,
    /// The ridges that were compared.
    pub ridges: Vec<RidgeTried>,
    /// The ridge that was chosen.
    pub ridge: f64,
}

impl Robust {
    /// The recommended embeddings.
    pub fn embeddings(&self) -> &[f32] {
        match self.recommends_averages {
            true => &self.averaged,
            false => self.model.embeddings(),
        }
    }
}

/// The links by internal rows, each weighing `max(0, 2b - 1)`.
pub fn believed(data: &Dataset, judgement: &Judgement) -> Result<Graph> {
    let links = data.graph().links().zip(&judgement.links);
    let links: Vec<Link> = links
        .map(|(link, judged)| Link {
            weight: (2.0 * judged.belief - 1.0).max(0.0),
            ..link
        })
        .collect();
    Graph::new(data.graph().ids().clone(), links, LinkRules::default())
}

/// Believed links averaged over walks, between views that have links.
pub fn walks_over(data: &Dataset, believed: &Graph, length: usize) -> Result<Graph> {
    if length == 0 || believed.n_links() == 0 {
        return Ok(believed.clone());
    }
    let view_of = |row: u32| {
        let views = data.views();
        views.partition_point(|view| view.rows.end <= row as usize)
    };
    let mut linked: Vec<(usize, usize)> = data
        .graph()
        .links()
        .map(|link| (view_of(link.src), view_of(link.dst)))
        .collect();
    linked.sort_unstable();
    linked.dedup();
    average_over_walks(believed, length, true, |src, dst| {
        linked.contains(&(view_of(src), view_of(dst)))
    })
}

/// The settings of a fit to links that weigh what they are believed.
fn belief_params(params: &Params, ridge: f64) -> Result<CheckedParams> {
    Params {
        score: ScoreKind::Likelihood,
        beta: 0.0,
        weights: WeightTransform::AsIs,
        walks: 0,
        propagate: 0,
        validation: Some(0.0),
        lambda: None,
        ridge,
        ..params.clone()
    }
    .check()
}

/// The whole recipe.
pub fn fit_robust(
    params: &CheckedParams,
    data: &Dataset,
    recipe: &Recipe,
    watcher: Watcher<'_>,
) -> Result<Robust> {
    let judge = Judge::new(params, data, recipe.folds)?;
    let (ridge, ridges, fits) = choose_ridge(&judge, recipe, watcher)?;
    let hearing = judge.hear(&fits);
    let judgement = judge.believe(&hearing);
    let trusted = believed(data, &judgement)?;
    let walked = walks_over(data, &trusted, recipe.walks)?;
    let with = belief_params(params, ridge)?;
    let goes_on = &mut |_: &_, _| (watcher.goes_on)();
    let warm = fits.first().map(|fit| fit.theta.as_slice());
    let model = fit_from(
        &with,
        &data.with_graph(walked.clone()),
        warm,
        TOLERANCE,
        goes_on,
    )?;
    let links = trusted.adjacency();
    let told = tell(&with, data, &walked, &links, recipe, watcher)?;
    let opens = told.is_some_and(|told| told.averaged >= recipe.threshold * told.plain);
    let recommends_averages = match recipe.averaging {
        Averaging::Gate => opens,
        Averaging::Always => true,
        Averaging::Never => false,
    };
    let averaged = average_model(&model, data, &links, recipe.rounds);
    Ok(Robust {
        model,
        averaged,
        recommends_averages,
        judgement,
        gate: Gate { told, opens },
        ridges,
        ridge,
    })
}

fn average_model(model: &Fitted, data: &Dataset, links: &Adjacency, rounds: usize) -> Vec<f32> {
    let dim = model.dim();
    let inside: Vec<f32> = (0..data.n_nodes())
        .flat_map(|row| model.row(data.user_row(row)))
        .copied()
        .collect();
    let averaged = averages(links, &inside, dim, rounds)
        .pop()
        .unwrap_or_default();
    data.to_user_order(averaged, dim)
}

/// The ridge by which held-out links are told from decoys best, the larger one
/// of equals, and its fits.
fn choose_ridge(
    judge: &Judge<'_>,
    recipe: &Recipe,
    watcher: Watcher<'_>,
) -> Result<(f64, Vec<RidgeTried>, Vec<LinkFit>)> {
    let mut candidates = recipe.ridges.clone();
    candidates.sort_by(|a, b| b.total_cmp(a));
    let mut tried = Vec::new();
    let mut best: Option<(f64, f64, Vec<LinkFit>)> = None;
    let mut earlier: Vec<LinkFit> = Vec::new();
    for ridge in candidates {
        let fits = judge.fit(ridge, judge.n_folds(), &earlier, TOLERANCE, watcher)?;
        let hearing = judge.hear(&fits);
        tried.push(RidgeTried {
            ridge,
            auc: hearing.auc,
            error: hearing.auc_error,
        });
        if best.as_ref().is_none_or(|best| hearing.auc > best.0) {
            best = Some((hearing.auc, ridge, fits.clone()));
        }
        earlier = fits;
    }
    match best {
        Some((_, ridge, fits)) => Ok((ridge, tried, fits)),
        None => Err(Error::Param {
            name: "ridges",
            accepted: "at least one".into(),
            given: "none".into(),
        }),
    }
}

/// What embeddings from one half of the columns, plain and averaged, tell of
/// the other half.
fn tell(
    params: &CheckedParams,
    data: &Dataset,
    walked: &Graph,
    links: &Adjacency,
    recipe: &Recipe,
    watcher: Watcher<'_>,
) -> Result<Option<Told>> {
    let enough = |matrix: &crate::Matrix| matrix.n_columns() >= gate::LEAST_COLUMNS;
    let splits = data
        .views()
        .iter()
        .any(|view| view.matrix.as_ref().is_some_and(enough));
    if !splits {
        return Ok(None);
    }
    let dim = params.dim;
    let mut sums = [0.0; 2];
    let mut weight = 0.0;
    for side in [true, false] {
        let half = data.map_vectors(|_, matrix| {
            if !enough(matrix) {
                return Ok(matrix.clone());
            }
            let first = gate::halves(matrix.n_columns(), params.seed);
            gate::some_columns(matrix, |column| first[column] == side)
        })?;
        let fit = fit_links(
            params,
            &half.with_graph(walked.clone()),
            None,
            10.0 * TOLERANCE,
            watcher.goes_on,
        )?;
        let averaged = averages(links, &fit.y, dim, recipe.rounds)
            .pop()
            .unwrap_or_default();
        for view in data.views() {
            let Some(matrix) = view.matrix.as_ref().filter(|matrix| enough(matrix)) else {
                continue;
            };
            let first = gate::halves(matrix.n_columns(), params.seed);
            let other = gate::some_columns(matrix, |column| first[column] != side)?;
            let (targets, count) = gate::components(&other, params.seed)?;
            let rows = view.rows.start * dim..view.rows.end * dim;
            let n = view.rows.len() as f64;
            for (sum, y) in sums.iter_mut().zip([&fit.y, &averaged]) {
                *sum += n * gate::told(&y[rows.clone()], dim, &targets, count, params.seed);
            }
            weight += n;
        }
    }
    Ok(Some(Told {
        plain: sums[0] / weight,
        averaged: sums[1] / weight,
    }))
}

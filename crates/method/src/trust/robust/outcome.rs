//! What comes out of the recipe: a model to keep, beliefs as a table, and what was
//! found in few numbers.

use std::borrow::Cow;

use serde::Serialize;

use super::audited::numbers;
use super::gate::tell;
use super::recipe::{
    Averaging, Gate, Recipe, RidgeTried, Robust, WalkRidge, belief_params, choose_ridge,
};
use super::shared::Shared;
use super::verdict::{Advice, ByWeight, Said};
use crate::data::dataset::{DataView, Dataset};
use crate::engine::runtime::{FitCount, Fits, Runtime};
use crate::error::Result;
use crate::model::{Averaged, Believed, Fit, Fitted, FittedView, effective_rank};
use crate::params::{CheckedParams, WeightTransform};
use crate::trust::judge::evidence::Kind;
use crate::trust::judge::pairs::Draw;
use crate::trust::judge::{Judge, Judgement};
use crate::trust::smooth::Regression;

/// Embeddings whose clusters tell less than this share of the variance tell nothing.
const LEAST_TOLD: f64 = 1e-3;

/// Implants of one kind that are judged as links are, at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Implanted {
    /// How they were made.
    pub kind: Draw,
    /// The rate that was asked for.
    pub asked: f64,
    /// The share of sound links among the suspects, as it is claimed.
    pub claimed: f64,
    /// The same as it turned out.
    pub realised: f64,
    /// The share of the implants that are suspects.
    pub found: f64,
    /// The links and implants that are suspects.
    pub suspects: usize,
    /// How many were implanted.
    pub implants: usize,
}

/// What was found about all links together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trust {
    /// The links that were judged.
    pub links: usize,
    /// The share of links that are doubtful; 0 where nothing could be told.
    pub share_false: f64,
    /// The share of the weight that these have, each link by how far it is doubted.
    pub share_false_weight: f64,
    /// The chance that the data vectors of a link are more alike than those of a pair
    /// without a link and with degrees like its own; none where there are none to
    /// compare.
    pub alike: Option<f64>,
    /// Its standard error.
    pub alike_error: f64,
    /// The chance that a held-out link has more to say for it than a pair without
    /// a link.
    pub auc_decoys: f64,
    /// Its standard error.
    pub auc_error: f64,
    /// Whether links could not be told from such pairs.
    pub abstained: bool,
    /// The density of sound links that no evidence speaks for.
    pub unexplained: f64,
    /// What weights say about links.
    pub weights: ByWeight,
    /// What became of links that are known to be false.
    pub implanted: Vec<Implanted>,
}

impl Trust {
    /// The numbers of a judgement.
    pub fn new(judgement: &Judgement) -> Trust {
        let implanted = judgement.checks.iter().flat_map(|check| {
            check.rates.iter().map(|rate| Implanted {
                kind: check.kind,
                asked: rate.asked,
                // The sum of no numbers is -0.
                claimed: rate.claimed + 0.0,
                realised: rate.realised + 0.0,
                found: rate.found,
                suspects: rate.suspects,
                implants: check.implants,
            })
        });
        let (alike, alike_error) = alike(judgement).unzip();
        Trust {
            links: judgement.links.len(),
            share_false: judgement.share_false,
            share_false_weight: doubted_weight(judgement),
            alike,
            alike_error: alike_error.unwrap_or(0.0),
            auc_decoys: judgement.auc_decoys,
            auc_error: judgement.auc_error,
            abstained: judgement.abstained,
            unexplained: judgement.unexplained,
            weights: ByWeight::new(judgement),
            implanted: implanted.collect(),
        }
    }
}

/// The share of the weight that doubted links have.
fn doubted_weight(judgement: &Judgement) -> f64 {
    if judgement.abstained {
        return 0.0;
    }
    // Weights near the largest number must not leave the range in a sum.
    let unit = judgement
        .links
        .iter()
        .map(|link| link.weight.abs())
        .fold(f64::MIN_POSITIVE, f64::max);
    let (mut doubted, mut all) = (0.0, 0.0);
    for link in &judgement.links {
        let weight = link.weight.abs() / unit;
        doubted += (1.0 - link.belief) * weight;
        all += weight;
    }
    doubted / f64::max(all, f64::MIN_POSITIVE)
}

/// How often the data vectors of a link are more alike than those of a decoy, and the
/// standard error; none where no link has two to compare.
fn alike(judgement: &Judgement) -> Option<(f64, f64)> {
    let kind = Kind::ALL
        .iter()
        .position(|kind| *kind == Kind::DataVectors)?;
    // Where there is nothing to compare, all decoys are equal to the link.
    let ranks = judgement.links.iter().map(|link| link.by_kind[kind]);
    let ahead: Vec<f64> = ranks
        .filter(|&rank| rank != 0.5)
        .map(|rank| 1.0 - rank)
        .collect();
    let m = ahead.len() as f64;
    let mean = ahead.iter().sum::<f64>() / m;
    let squares: f64 = ahead.iter().map(|x| (x - mean).powi(2)).sum();
    (m > 0.0).then(|| (mean, squares.sqrt() / m))
}

/// Judges links, at the ridge of the judges by which they are told from decoys
/// best. Returns the ridge too.
pub fn judge_links(
    params: &CheckedParams,
    data: &Dataset,
    recipe: &Recipe,
    runtime: Runtime<'_>,
) -> Result<(Judgement, f64)> {
    let judge = Judge::new(params, data, recipe.folds)?;
    let count = FitCount::new(runtime, 0);
    let (ridge, _, fits) = choose_ridge(&judge, recipe, (&count, Fits::default()))?;
    Ok((judge.believe(&judge.hear(&fits)), ridge))
}

/// Where nothing could be told of the links, the plain fit, to all of them.
pub(super) fn plain(
    params: &CheckedParams,
    data: &Dataset,
    recipe: &Recipe,
    (judgement, ridges, judge_ridge): (Judgement, Vec<RidgeTried>, f64),
    runtime: Runtime<'_>,
) -> Result<Robust> {
    let with = belief_params(params.given(), judge_ridge)?;
    // Weights of two signs are no strengths: the links count alike.
    let signed = data.graph().is_signed();
    let counted = match signed {
        true => Cow::Owned(data.with_graph(data.graph().map_weights(|_| 1.0)?)),
        false => Cow::Borrowed(data),
    };
    let links = counted.graph().adjacency();
    let told = tell(&with, &counted, (&links, recipe.rounds), runtime)?;
    let mut params = params.given().clone();
    if signed {
        params.weights = WeightTransform::Binary;
    }
    let params = params.check()?;
    let model = {
        let fit = Fit::new(&params).runtime(runtime.of_one_of_many());
        fit.run(data)?
    };
    runtime.after_fit(1, 1);
    Ok(Robust {
        averaged: model.embeddings().to_vec(),
        recommends_averages: false,
        gate: Gate { told, opens: false },
        shared: None,
        ridges,
        judge_ridge,
        walk_ridges: Vec::new(),
        ridge: params.ridge,
        judgement,
        model,
    })
}

/// What `fit.json` says of the recipe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RobustSummary {
    /// What was found about the links.
    #[serde(flatten)]
    pub trust: Trust,
    /// What was chosen.
    pub chosen: Chosen,
    /// Whether the recommended embeddings are averages.
    pub averaged: bool,
    /// What clusters of averages tell of held-back data vectors, against what those
    /// of the embeddings themselves tell; none where there were none to hold back.
    pub gate: Option<f64>,
    /// The least that opens the gate.
    pub gate_opens_at: f64,
    /// What clusters of the data vectors alone tell of held-back ones, against what
    /// clusters of the recommended embeddings tell: above 1, links do harm.
    pub vectors_alone: Option<f64>,
    /// What clusters of embeddings and of data vectors tell of the data vectors of
    /// neighbours.
    pub shared: Option<Shared>,
    /// How many dimensions the recommended embeddings really use.
    pub effective_rank: f64,
    /// The ridges of judges that were compared.
    pub ridges: Vec<RidgeTried>,
    /// The ridges of the fit that were compared.
    pub walk_ridges: Vec<WalkRidge>,
    /// What to do, in one word.
    pub advice: Advice,
    /// All of it in words.
    pub verdict: Vec<Said>,
}

/// What the recipe chose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Chosen {
    /// The ridge of the model.
    pub ridge: f64,
    /// The ridge of the judges.
    pub judge_ridge: f64,
    /// The length of the walks over believed links.
    pub walks: usize,
    /// Rounds of averaging.
    pub rounds: usize,
    /// When averages are taken.
    pub averaging: Averaging,
}

impl Robust {
    /// What clusters of the data vectors alone tell of held-back ones, against what
    /// clusters of the recommended embeddings tell; none where there were none to
    /// hold back, or neither tells anything.
    pub fn vectors_alone(&self) -> Option<f64> {
        let told = self.gate.told?;
        let own = match self.recommends_averages {
            true => told.averaged_clusters,
            false => told.plain_clusters,
        };
        let told_something = own > 0.0 || told.vectors_clusters > 0.0;
        told_something.then(|| told.vectors_clusters / own.max(LEAST_TOLD))
    }

    /// What was found, in few numbers and in words. `recipe` is what was followed.
    pub fn summary(&self, recipe: &Recipe) -> RobustSummary {
        let is_plain = self.judgement.abstained;
        let dim = self.model.dim();
        let mut summary = RobustSummary {
            trust: Trust::new(&self.judgement),
            chosen: Chosen {
                ridge: self.ridge,
                judge_ridge: self.judge_ridge,
                walks: if is_plain { 0 } else { recipe.walks },
                rounds: if self.recommends_averages {
                    recipe.rounds
                } else {
                    0
                },
                averaging: recipe.averaging,
            },
            averaged: self.recommends_averages,
            gate: self.gate.share(),
            gate_opens_at: recipe.opens_at(self.model.views().len()),
            vectors_alone: self.vectors_alone(),
            shared: self.shared,
            effective_rank: effective_rank(self.embeddings(), dim),
            ridges: self.ridges.clone(),
            walk_ridges: self.walk_ridges.clone(),
            advice: Advice::Unknown,
            verdict: Vec::new(),
        };
        (summary.advice, summary.verdict) = summary.sentences(self.gate.told, dim);
        summary
    }

    /// The model as it is kept, with what was found of its links; and where averages
    /// are recommended, with these and what they are learnt from for unseen nodes.
    /// `data` is what was fitted, by `recipe` in so many seconds.
    pub fn into_model(self, data: &Dataset, recipe: &Recipe, seconds: f64) -> Result<Fitted> {
        let mut links = self.judgement.links;
        links.sort_by_key(|link| (link.src, link.dst));
        let mut believed = Believed {
            numbers: numbers(&links),
            abstained: self.judgement.abstained,
            facts: None,
            rounds: 0,
            vectors: Vec::new(),
        };
        if !self.recommends_averages {
            return self.model.believing(data, believed, seconds);
        }
        believed.rounds = recipe.rounds;
        believed.vectors = data
            .views()
            .iter()
            .map(|view| view.matrix.clone())
            .collect();
        let model = self.model.believing(data, believed, seconds)?;
        let (params, dim) = (model.params(), model.dim());
        let embeddings = self.averaged;
        let map = |(view, fitted): (&DataView, &FittedView)| {
            let matrix = view.matrix.as_ref();
            let Some(matrix) = matrix.filter(|_| !fitted.network.is_table()) else {
                return Ok(None);
            };
            let rows = view.rows.clone().map(|row| data.user_row(row) * dim);
            let outputs = rows.flat_map(|start| &embeddings[start..start + dim]);
            let outputs: Vec<f32> = outputs.copied().collect();
            let learnt = Regression::new(matrix, &outputs, dim, params.normalize, params.seed)?;
            Ok(Some(learnt.rows()))
        };
        let views = data.views().iter().zip(model.views());
        let maps = views.map(map).collect::<Result<_>>()?;
        model.with_averages(Averaged { embeddings, maps })
    }
}

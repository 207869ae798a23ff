//! A robust fit as a model that can be kept, and as a few numbers and sentences.

use serde::Serialize;

use super::candidates::{RidgeTried, SmoothingCheck};
use super::recipe::{Recipe, Robust};
use super::regression::Regression;
use crate::data::dataset::{DataView, Dataset};
use crate::error::Result;
use crate::judge::{Contradiction, Detection, Facts, PlantedKind};
use crate::model::{Averaged, Believed, Fitted, FittedView, effective_rank};
use crate::verdict::{Advice, Explained, RobustFacts, Said, robust};

/// Clusters that explain less than this share of the variance explain nothing.
const LEAST_EXPLAINED: f64 = 1e-3;

/// Planted links of one kind under the names of earlier versions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Implanted {
    /// How they were planted.
    pub kind: PlantedKind,
    /// How many there were.
    pub implants: usize,
    /// The share that is flagged.
    pub found: f64,
    /// One minus the mean belief of the links flagged in the test.
    pub claimed: f64,
    /// The share of these that are planted.
    pub realised: f64,
}

/// What was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Chosen {
    /// The ridge of the model.
    pub ridge: f64,
    /// The length of the walks over believed links.
    pub walks: usize,
    /// Rounds of smoothing.
    pub rounds: usize,
}

/// What `fit.json` says of a robust fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RobustSummary {
    /// The estimated share of false links; none if nothing can be said.
    pub share_false: Option<f64>,
    /// Its lower bound.
    pub share_low: Option<f64>,
    /// Its upper bound.
    pub share_high: Option<f64>,
    /// The upper bound without checks by hand, if there are any.
    pub share_high_unchecked: Option<f64>,
    /// How often a link outranks a non-link of its degrees.
    pub auc: f64,
    /// The standard error of that, by nodes.
    pub auc_error: f64,
    /// The same number under the name of earlier versions.
    pub auc_decoys: f64,
    /// Whether the links look random to everything that is known.
    pub abstained: bool,
    /// How far the links look as if their features had picked them.
    pub candidates: f64,
    /// The links that are flagged.
    pub flagged: usize,
    /// What became of planted links; none without a test.
    pub detection: Option<Vec<Detection>>,
    /// Groups of links that contradict the features.
    pub contradictions: Vec<Contradiction>,
    /// Planted links under the names of earlier versions.
    pub implanted: Vec<Implanted>,
    /// What was chosen.
    pub chosen: Chosen,
    /// Whether the recommended embeddings are smoothed.
    pub averaged: bool,
    /// What clusters of smoothed embeddings explain of hidden feature columns, as a share
    /// of what clusters of the embeddings explain.
    pub gate: Option<f64>,
    /// The least share at which smoothed embeddings are recommended.
    pub gate_opens_at: f64,
    /// What clusters of the features alone explain, as a share of what clusters of the
    /// recommended embeddings explain: above 1, the links do harm.
    pub vectors_alone: Option<f64>,
    /// What clusters explain of hidden feature columns.
    pub explained: Option<SmoothingCheck>,
    /// The effective dimension of the recommended embeddings.
    pub effective_rank: f64,
    /// The ridges that were tried.
    pub ridges: Vec<RidgeTried>,
    /// What to do, in one word.
    pub advice: Advice,
    /// All of it in sentences.
    pub verdict: Vec<Said>,
}

impl Robust {
    /// What was found, in few numbers and in words. `recipe` is what was followed.
    pub fn summary(&self, recipe: &Recipe) -> RobustSummary {
        let facts = &self.judgment.facts;
        let averaged = self.smoothed.is_some();
        let dim = self.model.dim();
        let effective_dimension = effective_rank(self.embeddings(), dim);
        let own = self.check.map(|check| match averaged {
            true => check.smoothed,
            false => check.plain,
        });
        let vectors_alone = self.check.zip(own).and_then(|(check, own)| {
            let something = own > 0.0 || check.features > 0.0;
            something.then(|| check.features / own.max(LEAST_EXPLAINED))
        });
        let (advice, verdict) = robust(&RobustFacts {
            judged: facts,
            n_links: self.judgment.links.len(),
            n_flagged: self.judgment.n_flagged(),
            dim,
            effective_dimension,
            explained: self.check.map(|check| Explained {
                embedding: check.plain,
                smoothed: check.smoothed,
                features: check.features,
            }),
            averaged,
        });
        let implanted = facts.detection.iter().map(|it| Implanted {
            kind: it.kind,
            implants: it.planted,
            found: it.flagged,
            claimed: it.claimed,
            realised: it.realised,
        });
        RobustSummary {
            share_false: facts.share.and_then(|share| share.estimate),
            share_low: facts.share.map(|share| share.low),
            share_high: facts.share.map(|share| share.high),
            share_high_unchecked: facts.share.and_then(|share| share.high_unchecked),
            auc: facts.auc,
            auc_error: facts.auc_error,
            auc_decoys: facts.auc,
            abstained: facts.abstained,
            candidates: facts.candidates,
            flagged: self.judgment.n_flagged(),
            detection: tested(facts),
            contradictions: facts.contradictions.clone(),
            implanted: implanted.collect(),
            chosen: Chosen {
                ridge: self.model.params().ridge,
                walks: if facts.abstained { 0 } else { recipe.walks },
                rounds: if averaged { recipe.rounds } else { 0 },
            },
            averaged,
            gate: self.check.and_then(|check| check.share()),
            gate_opens_at: recipe.least_share(self.model.views().len()),
            vectors_alone,
            explained: self.check,
            effective_rank: effective_dimension,
            ridges: self.ridges.clone(),
            advice,
            verdict,
        }
    }

    /// The model as it is kept, with the judgment of its links, and with smoothed
    /// embeddings if these are recommended. `data` is what was fitted, by `recipe` in so
    /// many seconds.
    pub fn into_model(self, data: &Dataset, recipe: &Recipe, seconds: f64) -> Result<Fitted> {
        let mut judgment = self.judgment;
        judgment.sort_by_ends();
        let believed = Believed {
            numbers: judgment.columns(),
            abstained: judgment.facts.abstained,
            facts: Some(judgment.facts),
            rounds: if self.smoothed.is_some() {
                recipe.rounds
            } else {
                0
            },
            vectors: data
                .views()
                .iter()
                .map(|view| view.matrix.clone())
                .collect(),
        };
        let model = self.model.believing(data, believed, seconds)?;
        let Some(embeddings) = self.smoothed else {
            return Ok(model);
        };
        let (params, dim) = (model.params(), model.dim());
        let map = |(view, fitted): (&DataView, &FittedView)| {
            let matrix = view.matrix.as_ref();
            let Some(matrix) = matrix.filter(|_| !fitted.network.is_table()) else {
                return Ok(None);
            };
            let rows = view.rows.clone().map(|row| data.user_row(row) * dim);
            let outputs = rows.flat_map(|start| &embeddings[start..start + dim]);
            let outputs: Vec<f32> = outputs.copied().collect();
            let learned = Regression::new(matrix, &outputs, dim, params.normalize, params.seed)?;
            Ok(Some(learned.rows()))
        };
        let views = data.views().iter().zip(model.views());
        let maps = views.map(map).collect::<Result<_>>()?;
        model.with_averages(Averaged { embeddings, maps })
    }
}

/// What became of planted links, if there was a test.
fn tested(facts: &Facts) -> Option<Vec<Detection>> {
    (!facts.detection.is_empty()).then(|| facts.detection.clone())
}

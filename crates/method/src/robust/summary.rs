//! A robust fit as a model that can be kept, and as a few numbers.

use serde::Serialize;

use super::candidates::RidgeTried;
use super::recipe::{Recipe, Robust};
use super::regression::Regression;
use crate::data::dataset::{DataView, Dataset};
use crate::error::Result;
use crate::model::{Averaged, Believed, Fitted, FittedView, effective_rank};
use crate::verdict::{Advice, RobustFacts};

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

/// What was found and chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustSummary {
    /// What is known of the links and of the embeddings.
    pub facts: RobustFacts,
    /// What was chosen.
    pub chosen: Chosen,
    /// The least share at which smoothed embeddings are recommended, as
    /// [`Explained::share`](crate::verdict::Explained::share) counts.
    pub gate_opens_at: f64,
    /// The ridges that were tried.
    pub ridges: Vec<RidgeTried>,
    /// What to do, in one word.
    pub advice: Advice,
}

impl Robust {
    /// What was found, in few numbers. `recipe` is what was followed.
    pub fn summary(&self, recipe: &Recipe) -> RobustSummary {
        let averaged = self.smoothed.is_some();
        let dim = self.model.dim();
        let facts = RobustFacts {
            judged: self.judgment.facts.clone(),
            tally: self.judgment.tally(),
            tested: recipe.judge.test,
            dim,
            effective_dimension: effective_rank(self.embeddings(), dim),
            explained: self.check,
            averaged,
        };
        RobustSummary {
            chosen: Chosen {
                ridge: self.model.params().ridge(),
                walks: if facts.judged.abstained {
                    0
                } else {
                    recipe.walks
                },
                rounds: if averaged { recipe.rounds } else { 0 },
            },
            gate_opens_at: recipe.least_share(self.model.views().len()),
            ridges: self.ridges.clone(),
            advice: facts.advice(),
            facts,
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

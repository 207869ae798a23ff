//! A model with links between its nodes that are to be judged.

use super::{
    CrossFit, RandomPair, SeenWeights, Verdict, cross_fit, judge_inside, least_trusted_first,
    random_pairs,
};
use crate::data::dataset::{Dataset, NodeViews};
use crate::data::features::Features;
use crate::data::graph::{Graph, Link};
use crate::engine::runtime::Runtime;
use crate::error::{Error, Remedy, Result};
use crate::model::Fitted;
use crate::model::folds::Folds;
use crate::params::{Params, WeightTransform};

/// How many random pairs links are compared with.
const RANDOM_PAIRS: usize = 20_000;

/// Links between a model's nodes, with the data vectors of each view that has
/// some here.
pub fn judged_data(
    model: &Fitted,
    links: Graph,
    features: Vec<(String, Features)>,
) -> Result<Dataset> {
    if let Some(sides) = model.ids().sides() {
        let mut of_sides = [None, None];
        for (name, vectors) in features {
            let place = model.view(Some(&name))?;
            of_sides[place] = Some(vectors);
        }
        return Dataset::on_sides(links, Some(sides), of_sides);
    }
    let view_of = |&view: &u32| model.views()[view as usize].name.clone();
    let nodes = NodeViews {
        ids: model.ids().clone(),
        views: model.node_views().iter().map(view_of).collect(),
        rows: None,
    };
    Dataset::with_views(links, nodes, features)
}

/// The same without links between views that took no part in the fit, which
/// tells nothing of them; and how many they were.
pub fn taking_part(model: &Fitted, data: Dataset) -> Result<(Dataset, usize)> {
    let view_of = |row: u32| model.node_views()[data.user_row(row as usize)] as usize;
    let takes_part = |link: &Link| {
        let (d, e) = (view_of(link.src), view_of(link.dst));
        model.takes_part(d, e)
    };
    let links: Vec<Link> = data.graph().links().filter(takes_part).collect();
    let left_out = data.graph().n_links() - links.len();
    if links.is_empty() {
        let found = "no link between views that took part in the fit";
        return Err(Error::links(found, "at least one").or(Remedy::OtherViewPairs));
    }
    if left_out == 0 {
        return Ok((data, 0));
    }
    let graph = Graph::new(data.graph().ids().clone(), links, Default::default())?;
    Ok((data.with_graph(graph), left_out))
}

/// Whether there are data vectors of a view of the model.
pub fn has_vectors(model: &Fitted, data: &Dataset, view: usize) -> bool {
    let name = &model.views()[view].name;
    let of_view = data.views().iter().find(|view| view.name == *name);
    of_view.is_some_and(|view| view.matrix.is_some())
}

/// Whether all is there that a fit like the model's needs.
pub fn can_fit(model: &Fitted, data: &Dataset) -> bool {
    let mut views = model.views().iter().enumerate();
    views.all(|(place, view)| view.network.is_table() || has_vectors(model, data, place))
}

/// Unlinked pairs to compare links with.
pub fn pairs_to_compare(model: &Fitted, data: &Dataset) -> Vec<RandomPair> {
    random_pairs(data, RANDOM_PAIRS, model.params().seed)
}

/// Who judges links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judges {
    /// The model itself, which has seen its links and is too kind to them.
    Model,
    /// Fits like the model's that did not see them, one for each of so many folds.
    Folds(usize),
}

/// What judges make of the links and of random pairs.
pub fn judge_by(
    model: &Fitted,
    data: &Dataset,
    judges: Judges,
    runtime: Runtime<'_>,
) -> Result<CrossFit> {
    let random = pairs_to_compare(model, data);
    let Judges::Folds(folds) = judges else {
        return as_fitted(model, data, &random);
    };
    if !can_fit(model, data) {
        return Err(Error::data(
            "features",
            "no data vectors",
            "those that the model was fitted with, for fits that do not see the links that they \
             judge",
        ));
    }
    let params = seen_params(model).check()?;
    let folds = Folds::new(params.seed, folds)?;
    cross_fit(&params, data, folds, &random, runtime)
}

/// The settings of a fit like the model's. Where sizes have two signs that is one to
/// the pattern of the links.
fn seen_params(model: &Fitted) -> Params {
    let mut params = model.params().clone();
    if model.is_signed() {
        params.weights = WeightTransform::Binary;
    }
    params
}

/// What the model itself makes of the links, their weights as its fit sees them,
/// and of random pairs.
pub fn as_fitted(model: &Fitted, data: &Dataset, random: &[RandomPair]) -> Result<CrossFit> {
    let strength = |pair: &RandomPair| model.pair(pair.src as usize, pair.dst as usize).strength;
    let seen = SeenWeights::new(&seen_params(model), data)?;
    let verdicts = judge_inside(model, data, &seen, data.graph().links());
    Ok(CrossFit {
        verdicts: least_trusted_first(verdicts),
        random: random.iter().map(strength).collect(),
    })
}

/// What makes a link a suspect: a small chance that it is sound, or little trust.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// The largest chance that a suspect is sound.
    pub fdr: Option<f64>,
    /// Links of less trust are suspects, whatever that chance.
    pub trust: Option<f64>,
}

impl Thresholds {
    /// As given, or a chance of 0.1 where neither is.
    pub fn new(fdr: Option<f64>, trust: Option<f64>) -> Result<Thresholds> {
        for (name, value) in [("min-trust", trust), ("fdr", fdr)] {
            if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                return Err(Error::argument(name, "between 0 and 1", value));
            }
        }
        let fdr = match (fdr, trust) {
            (None, None) => Some(0.1),
            (fdr, _) => fdr,
        };
        Ok(Thresholds { fdr, trust })
    }

    /// Whether a link is a suspect, given the chance that it is sound.
    pub fn call(&self, verdict: &Verdict, rate: f64) -> bool {
        self.fdr.is_some_and(|fdr| rate <= fdr)
            || self.trust.is_some_and(|trust| verdict.trust < trust)
    }
}

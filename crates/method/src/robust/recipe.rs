//! The steps of a robust fit in their order.

use super::candidates::{RidgeTried, Search, choose_ridge};
use super::fits::TOLERANCE;
use super::smooth::smoothed;
use super::walks::{expected_links, walks_over};
use super::weight;
use crate::data::dataset::Dataset;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::runtime::{Doing, FitCount, Fits, Runtime};
use crate::engine::{Forecast, Plan};
use crate::error::Result;
use crate::judge::{self, JudgeSpec, Judgment, judge};
use crate::model::{Fit, Fitted};
use crate::params::{CheckedParams, Params, Sampling, ScoreKind, Similarity, WeightTransform};
use crate::verdict::Explained;

/// Embeddings of several views are smoothed only if the smoothed ones explain nearly as
/// much: nodes of several views are to find each other.
const SEVERAL_VIEWS: f64 = 0.985;
/// Numbers for each column that a group of outputs needs while it is solved.
const WORK_LANES: usize = 40;
/// Fits that a search of the ridge keeps beside the one that runs.
const KEPT_FITS: usize = 2;
/// The ridges that are usually tried.
const USUAL_RIDGES: usize = 3;

/// The settings of a robust fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// How links are judged.
    pub judge: JudgeSpec,
    /// The ridges to choose from, unless the settings give one: the search starts in the
    /// middle and goes on as long as it gains.
    pub ridges: Vec<f64>,
    /// The length of the walks over believed links; 0: the links themselves.
    pub walks: usize,
    /// Rounds of smoothing.
    pub rounds: usize,
    /// Smoothed embeddings are taken if their clusters explain at least this share of
    /// what clusters of the embeddings explain.
    pub threshold: f64,
}

impl Default for Recipe {
    fn default() -> Self {
        Recipe {
            judge: JudgeSpec::default(),
            ridges: vec![0.3, 1.0, 3.0, 10.0, 30.0],
            walks: 4,
            rounds: 2,
            threshold: 0.85,
        }
    }
}

impl Recipe {
    /// The least share that smoothed embeddings must explain, for data of so many views.
    pub fn least_share(&self, n_views: usize) -> f64 {
        if n_views > 1 {
            return self.threshold.max(SEVERAL_VIEWS);
        }
        self.threshold
    }
}

/// A robust fit and what led to it.
#[derive(Debug, Clone)]
pub struct Robust {
    /// The fit to walks over believed links; to all links if the judge abstains.
    pub model: Fitted,
    /// Its smoothed embeddings in the user's row order, if these are recommended.
    pub smoothed: Option<Vec<f32>>,
    /// The judgment of the links.
    pub judgment: Judgment,
    /// The smoothing check; none without columns to hide.
    pub check: Option<Explained>,
    /// The ridges that were tried.
    pub ridges: Vec<RidgeTried>,
}

impl Robust {
    /// The recommended embeddings.
    pub fn embeddings(&self) -> &[f32] {
        match &self.smoothed {
            Some(smoothed) => smoothed,
            None => self.model.embeddings(),
        }
    }
}

/// The settings of a fit to links that count by belief.
pub(super) fn belief_params(params: &Params, ridge: f64) -> Result<CheckedParams> {
    Params {
        score: ScoreKind::Likelihood,
        beta: 0.0,
        weights: WeightTransform::AsIs,
        walks: 0,
        propagate: 0,
        validation: Some(0.0),
        sampling: Sampling {
            lambda: None,
            ..params.sampling.clone()
        },
        ridge: Some(ridge),
        ..params.clone()
    }
    .check()
}

/// Judges links, fits to the believed ones, and decides about smoothing.
pub fn fit_robust(
    params: &CheckedParams,
    data: &Dataset,
    recipe: &Recipe,
    runtime: Runtime<'_>,
) -> Result<Robust> {
    runtime.check_needed(|| estimated_bytes(params, data, recipe))?;
    // All of it is estimated: no stage is refused when others are done.
    let runtime = runtime.within(None);
    let spec = JudgeSpec {
        seed: params.seed,
        ..recipe.judge.clone()
    };
    let judgment = judge(data, &spec, runtime)?;
    if judgment.facts.abstained {
        return plain(params, data, recipe, judgment, runtime);
    }
    // Links of unlike nodes join groups that differ: what is two steps away is not close.
    let is_signed = params.similarity == Similarity::Signed;
    let walks = if is_signed { 0 } else { recipe.walks };
    let beliefs = judgment.links.iter().map(|link| weight(link.belief));
    let believed = data.graph().with_weights(beliefs.collect())?;
    let walked = data.with_graph(walks_over(data, &believed, walks)?);
    let count = FitCount::new(runtime, 0);
    let last = Fits {
        number: 1,
        cost: 1.5,
    };
    let ridges = match params.ridge {
        Some(given) => vec![given],
        None => recipe.ridges.clone(),
    };
    let tried = Fits {
        number: USUAL_RIDGES.min(ridges.len()),
        cost: 1.0,
    };
    count.begin(Doing::ChoosingRidge, tried, last);
    let search = Search {
        params,
        data,
        believed: &believed,
        walked: &walked,
        rounds: if is_signed { 0 } else { recipe.rounds },
    };
    let chosen = choose_ridge(&search, &ridges, count.runtime())?;
    let with = belief_params(params.given(), chosen.ridge)?;
    count.begin(Doing::FittingModel, last, Fits::default());
    let fit = Fit::new(&with).to_all_pairs(TOLERANCE);
    let mut model = fit.runtime(runtime.of_one_of_many()).run(&walked)?;
    runtime.after_fit(1, 1);
    // The fit saw the links at `max(0, 2b - 1)`; there are as many as are believed.
    let expected: f64 = judgment.links.iter().map(|link| link.belief).sum();
    let seen: f64 = believed.weights().iter().sum();
    let links = judgment.links.iter().map(|it| (it.link(), it.belief));
    let sizes = model.size_law(links);
    model.tell_sizes(expected / seen.max(f64::MIN_POSITIVE), sizes);
    let least = recipe.least_share(data.views().len());
    let smooths = !is_signed && chosen.check.is_some_and(|check| check.passes(least));
    let smoothed = match smooths {
        true => {
            runtime.begins(Doing::Averaging);
            let links = believed.adjacency();
            Some(smoothed(&model, data, &links, recipe.rounds)?)
        }
        false => None,
    };
    Ok(Robust {
        model,
        smoothed,
        judgment,
        check: chosen.check,
        ridges: chosen.tried,
    })
}

/// If the links look random: the plain fit to all but those that are verified as false.
fn plain(
    params: &CheckedParams,
    data: &Dataset,
    recipe: &Recipe,
    judgment: Judgment,
    runtime: Runtime<'_>,
) -> Result<Robust> {
    let mut params = params.given().clone();
    if data.graph().is_signed() {
        params.weights = WeightTransform::Binary;
    }
    let links = data.graph().links().zip(&judgment.links);
    let weights = links.map(|(link, judged)| match judged.verified {
        Some(false) => 0.0,
        _ => link.weight,
    });
    let data = data.with_graph(data.graph().with_weights(weights.collect())?);
    let params = params.check()?;
    // Whether the features alone are the better choice.
    let pattern = data.graph().map_weights(|_| 1.0)?;
    let seen = data.with_graph(pattern.clone());
    let search = Search {
        params: &params,
        data: &seen,
        believed: &pattern,
        walked: &seen,
        rounds: recipe.rounds,
    };
    runtime.begins(Doing::FittingModel);
    let check = choose_ridge(&search, &[params.ridge()], runtime)?.check;
    let model = Fit::new(&params)
        .runtime(runtime.of_one_of_many())
        .run(&data)?;
    Ok(Robust {
        model,
        smoothed: None,
        judgment,
        check,
        ridges: Vec::new(),
    })
}

/// The most bytes that a robust fit holds, about: while links are judged, or while the
/// fit to walks runs.
pub fn estimated_bytes(params: &CheckedParams, data: &Dataset, recipe: &Recipe) -> Result<u64> {
    let with = Params {
        weights: WeightTransform::Binary,
        ..belief_params(params, params.ridge())?.given().clone()
    }
    .check()?;
    let prepared = Prepared::new(data, &with, None, None)?;
    let problem = Problem::new(&prepared, &with)?;
    let plan = Plan::new(&with, &problem)?;
    let one = Forecast::new(&problem, &plan);
    let fit = 4 * (data.n_nodes() * params.dim + problem.n_params());
    let walks = one.with_links(expected_links(data, recipe.walks)).of(1.0);
    let judged = 80 * data.graph().n_links() as u64;
    let fitting = walks + (KEPT_FITS * fit) as u64 + data.vector_bytes() + judged;
    // Normalized features, their entries, and the solutions for groups of outputs.
    let columns: usize = data
        .views()
        .iter()
        .filter_map(|view| Some(view.matrix.as_ref()?.n_columns()))
        .sum();
    let groups = params.dim + WORK_LANES * rayon::current_num_threads();
    let smoothing =
        one.of_data() + 3 * data.vector_bytes() + (8 * columns * groups + 3 * fit) as u64;
    Ok(fitting.max(smoothing).max(judge::estimated_bytes(data)))
}

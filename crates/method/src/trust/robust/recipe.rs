//! The steps in their order.

use serde::Serialize;

use super::believed::{believed, counted};
use super::blend::average_model;
use super::forecast::foretold;
use super::gate::{HeldBack, Telling, Told};
use super::outcome::plain;
use super::shared::{Compared, Shared, shared};
use super::smoothed::SMOOTHING_THRESHOLD;
use super::walks::walks_over;
use crate::data::dataset::Dataset;
use crate::data::graph::Adjacency;
use crate::engine::runtime::{Doing, FitCount, Fits, Runtime};
use crate::error::{Error, Result};
use crate::model::{Fit, Fitted};
use crate::params::{CheckedParams, Param, Params, ScoreKind, Similarity, WeightTransform};
use crate::schema::choice;
use crate::trust::judge::fits::{JUDGES_TOLERANCE, LinkFit, TOLERANCE};
use crate::trust::judge::held_out::{SAME_RANKS, gain};
use crate::trust::judge::{Hearing, Judge, Judgement};

/// A smaller ridge of the fit to walks must tell more by this factor.
const MORE: f64 = 1.02;
/// One that tells less than this share of the best for the first columns that are held
/// back is worse.
const CLEARLY_LESS: f64 = 0.97;
choice!(
    /// When embeddings are averaged over believed links.
    #[derive(Default)]
    Averaging {
        /// Where the gate says so.
        #[default]
        Gate = "gate",
        /// Whatever the gate says.
        Always = "always",
        /// Not at all.
        Never = "never",
    }
);

/// The ridges that judges usually try; the fits to walks that usually follow, with the
/// model itself, and what one costs against a fit that judges links.
const USUAL_RIDGES: usize = 3;
const WALK_FITS: usize = 5;
const WALK_COST: f64 = 1.5;

/// The settings of the recipe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recipe {
    /// The ridges: for the fits that judge links the search starts in the middle
    /// and goes on as long as it gains; for the fit to walks it starts there.
    pub ridges: Vec<f64>,
    /// Folds of links.
    pub folds: usize,
    /// Folds on which ridges are compared.
    pub compared_folds: usize,
    /// The length of the walks over believed links; 0: the links themselves.
    pub walks: usize,
    /// Rounds of averaging.
    pub rounds: usize,
    /// When to average.
    pub averaging: Averaging,
    /// The gate opens where clusters of averages tell at least this share of what
    /// clusters of the embeddings tell.
    pub threshold: f64,
}

impl Default for Recipe {
    fn default() -> Self {
        Recipe {
            ridges: vec![0.3, 1.0, 3.0, 10.0, 30.0],
            folds: 5,
            compared_folds: 2,
            walks: 4,
            rounds: 2,
            averaging: Averaging::Gate,
            threshold: 0.85,
        }
    }
}

impl Recipe {
    /// Where the gate opens for data of so many views. Nodes of several views are
    /// to find each other, and averages that tell less lose that first.
    pub fn opens_at(&self, n_views: usize) -> f64 {
        match n_views {
            0 | 1 => self.threshold,
            _ => self.threshold.max(SMOOTHING_THRESHOLD),
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
    /// What it gains over the ridge that was best before it, and the standard
    /// error of that.
    pub gain: Option<(f64, f64)>,
    /// Whether it was taken in place of that one.
    pub taken: bool,
}

/// A ridge of the fit to walks, and what was told of held-back columns by it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WalkRidge {
    /// The ridge.
    pub ridge: f64,
    /// What was told.
    pub told: Told,
}

/// What the gate found, and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gate {
    /// What was told of held-back columns; none where there are none to hold back.
    pub told: Option<Told>,
    /// Whether averages are recommended.
    pub opens: bool,
}

impl Gate {
    /// Where there is nothing to hold back.
    pub const SHUT: Gate = Gate {
        told: None,
        opens: false,
    };

    /// It opens where clusters of averages tell at least this share of what clusters
    /// of the embeddings tell.
    pub fn new(told: Told, threshold: f64) -> Gate {
        let least = threshold * told.plain_clusters;
        Gate {
            told: Some(told),
            opens: told.averaged_clusters > 0.0 && told.averaged_clusters >= least,
        }
    }

    /// That share, where there was something to tell.
    pub fn share(&self) -> Option<f64> {
        let told = self.told.filter(|told| told.plain_clusters > 0.0);
        told.map(|told| told.averaged_clusters / told.plain_clusters)
    }
}

/// A model and how far its links are believed.
#[derive(Debug, Clone)]
pub struct Robust {
    /// The fit to walks over believed links.
    pub model: Fitted,
    /// Its embeddings averaged over believed links and with what data vectors tell of
    /// the averages, in the user's row order.
    pub averaged: Vec<f32>,
    /// Whether the averages are recommended.
    pub recommends_averages: bool,
    /// How far each link is believed.
    pub judgement: Judgement,
    /// The gate.
    pub gate: Gate,
    /// What embeddings and data vectors tell of neighbours; none where nothing could be
    /// told.
    pub shared: Option<Shared>,
    /// The ridges of judges that were compared.
    pub ridges: Vec<RidgeTried>,
    /// The ridge of the judges.
    pub judge_ridge: f64,
    /// The ridges of the fit to walks that were compared.
    pub walk_ridges: Vec<WalkRidge>,
    /// The ridge of the model.
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

/// The settings of a fit to links that weigh what they are believed.
pub(super) fn belief_params(params: &Params, ridge: f64) -> Result<CheckedParams> {
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
    runtime: Runtime<'_>,
) -> Result<Robust> {
    if params.similarity == Similarity::Signed {
        let accepted = "inner in a robust fit, which averages over links: those of unlike nodes \
                        would blur them";
        return Err(Error::param(Param::Similarity, accepted, params.similarity));
    }
    runtime.check_needed(|| foretold(params, data, recipe))?;
    // All of it is foretold: no stage is refused when others are done.
    let runtime = runtime.within(None);
    let judge = Judge::new(params, data, recipe.folds)?;
    let later = Fits {
        number: WALK_FITS,
        cost: WALK_COST,
    };
    let count = FitCount::new(runtime, 0);
    let runtime = count.runtime();
    let (judge_ridge, ridges, fits) = choose_ridge(&judge, recipe, (&count, later))?;
    let judgement = judge.believe(&judge.hear(&fits));
    let folded = judge.links().to_vec();
    drop(judge);
    if judgement.abstained {
        count.begin(
            Doing::FittingModel,
            Fits { number: 3, ..later },
            Fits::default(),
        );
        return plain(
            params,
            data,
            recipe,
            (judgement, ridges, judge_ridge),
            runtime,
        );
    }
    let trusted = believed(data, &judgement)?;
    let walked = data.with_graph(walks_over(data, &trusted, recipe.walks)?);
    let links = trusted.adjacency();
    let last = Fits { number: 1, ..later };
    let before = Fits {
        number: WALK_FITS - 1,
        ..later
    };
    count.begin(Doing::ChoosingRidge, before, last);
    let (ridge, walk_ridges, gate) = choose_walk_ridge(
        params,
        &walked,
        &links,
        &ridges,
        judge_ridge,
        recipe,
        runtime,
    )?;
    let recommends_averages = match recipe.averaging {
        Averaging::Gate => gate.opens,
        Averaging::Always => true,
        Averaging::Never => false,
    };
    let shared = shared(Compared {
        data,
        links: &folded,
        believed: &counted(data, &judgement),
        fits: &fits,
        dim: params.dim,
        rounds: if recommends_averages {
            recipe.rounds
        } else {
            0
        },
        seed: params.seed,
    })?;
    let with = belief_params(params.given(), ridge)?;
    // A fit at a larger ridge has lost dimensions that a smaller one needs.
    let warm = fits.first().filter(|_| ridge >= judge_ridge);
    let warm = warm.map(|fit| fit.theta.as_slice());
    let fit = Fit::new(&with).to_all_pairs(TOLERANCE).starting_from(warm);
    count.begin(Doing::FittingModel, last, Fits::default());
    let mut model = fit.runtime(runtime.of_one_of_many()).run(&walked)?;
    runtime.after_fit(1, 1);
    // The fit saw the links at `max(0, 2b - 1)`; there are as many as are believed.
    let believed_links: f64 = judgement.links.iter().map(|link| link.belief).sum();
    let seen: f64 = trusted.weights().iter().sum();
    let judged = judgement.links.iter().map(|it| (it.link(), it.belief));
    let sizes = model.size_law(judged);
    model.tell_sizes(believed_links / seen.max(f64::MIN_POSITIVE), sizes);
    runtime.begins(Doing::Averaging);
    let averaged = average_model(&model, data, &links, recipe.rounds)?;
    Ok(Robust {
        model,
        averaged,
        recommends_averages,
        judgement,
        gate,
        shared,
        ridges,
        judge_ridge,
        walk_ridges,
        ridge,
    })
}

/// The ridge by which held-out links are told from decoys best, and its fits to
/// all folds. A larger one is taken unless it is worse by a standard error and by
/// what matters, a smaller one only if it is better by as much.
/// `later` is what is expected after it.
pub(super) fn choose_ridge(
    judge: &Judge<'_>,
    recipe: &Recipe,
    (count, later): (&FitCount<'_>, Fits),
) -> Result<(f64, Vec<RidgeTried>, Vec<LinkFit>)> {
    let mut ridges = recipe.ridges.clone();
    ridges.sort_by(f64::total_cmp);
    if ridges.is_empty() {
        let accepted = "a list of at least one value";
        return Err(Error::argument("ridges", accepted, "empty"));
    }
    let compared = match ridges.len() {
        1 => judge.n_folds(),
        _ => recipe.compared_folds.clamp(1, judge.n_folds()),
    };
    // Fits to folds that take no part in the comparison, and so many ridges tried.
    let rest = judge.n_folds() - compared;
    let tried_yet = |number: usize| Fits {
        number: number * compared + rest,
        cost: 1.0,
    };
    count.begin(
        Doing::JudgingLinks,
        tried_yet(USUAL_RIDGES.min(ridges.len())),
        later,
    );
    let runtime = count.runtime();
    let mut place = ridges.len() / 2;
    let fit = |place: usize, earlier: &[LinkFit], folds: usize| {
        judge.fit(ridges[place], folds, earlier, JUDGES_TOLERANCE, runtime)
    };
    let mut fits = fit(place, &[], compared)?;
    let mut heard = judge.hear(&fits);
    let mut tried = vec![RidgeTried {
        ridge: ridges[place],
        auc: heard.auc,
        gain: None,
        taken: true,
    }];
    let mut step: i64 = 1;
    let mut moved = false;
    loop {
        let next = place as i64 + step;
        let left = USUAL_RIDGES.min(ridges.len()).saturating_sub(tried.len());
        count.correct(tried_yet(left.max(1)), later);
        let gains = (0..ridges.len() as i64).contains(&next) && {
            // A fit at a larger ridge has lost dimensions that a smaller one needs.
            let earlier: &[LinkFit] = if step > 0 { &fits } else { &[] };
            let other = fit(next as usize, earlier, compared)?;
            let hearing = judge.hear(&other);
            let ranks = |heard: &Hearing| -> Vec<f64> {
                heard.ranks.iter().map(|rank| rank.rank).collect()
            };
            let (gain, error) = gain(&ranks(&heard), &ranks(&hearing));
            // Fits at larger ridges are faster.
            let enough = gain > -(step as f64) * error.max(SAME_RANKS);
            tried.push(RidgeTried {
                ridge: ridges[next as usize],
                auc: hearing.auc,
                gain: Some((gain, error)),
                taken: enough,
            });
            if enough {
                (place, fits, heard) = (next as usize, other, hearing);
            }
            enough
        };
        moved |= gains;
        match (gains, step, moved) {
            (true, _, _) => {}
            // The larger one is no better: perhaps a smaller one is.
            (false, 1, false) => step = -1,
            _ => break,
        }
    }
    if compared < judge.n_folds() {
        count.correct(tried_yet(0), later);
        let known = fits;
        fits = judge.fit_others(ridges[place], known, JUDGES_TOLERANCE, runtime)?;
    }
    Ok((ridges[place], tried, fits))
}

/// The ridge of the fit to walks by which embeddings as the user gets them,
/// averaged or not, tell most of held-back columns, and what the gate says there.
/// The judges' ridge where there are no columns to hold back. What the judges tried
/// and did not take is not tried again, nor what lies beyond it.
fn choose_walk_ridge(
    params: &CheckedParams,
    walked: &Dataset,
    links: &Adjacency,
    judged: &[RidgeTried],
    judge_ridge: f64,
    recipe: &Recipe,
    runtime: Runtime<'_>,
) -> Result<(f64, Vec<WalkRidge>, Gate)> {
    let mut ridges = recipe.ridges.clone();
    ridges.sort_by(f64::total_cmp);
    let opens_at = recipe.opens_at(walked.views().len());
    let opens = |told: &Told| Gate::new(*told, opens_at).opens;
    // Of each component: an embedding that lost dimensions may still tell most of
    // the variance.
    let value = |told: &Told| match opens(told) {
        true => told.averaged_each,
        false => told.plain_each,
    };
    let Some(back) = HeldBack::new(params, walked)? else {
        return Ok((judge_ridge, Vec::new(), Gate::SHUT));
    };
    // What is clearly worse for the first columns held back is not tried for others.
    let try_ridge = |ridge: f64, earlier: &[LinkFit], least: f64| {
        let with = belief_params(params.given(), ridge)?;
        let goes_on = |first: &Told| value(first) >= least;
        back.tell(
            &with,
            walked,
            (links, recipe.rounds),
            earlier,
            &goes_on,
            runtime,
        )
    };
    let Telling {
        first,
        told,
        mut fits,
    } = try_ridge(judge_ridge, &[], 0.0)?;
    let mut best = WalkRidge {
        ridge: judge_ridge,
        told,
    };
    let mut least = CLEARLY_LESS * value(&first);
    let mut tried = vec![best];
    let is_open = |ridge: &f64| !judged.iter().any(|t| t.ridge == *ridge && !t.taken);
    let larger = ridges.iter().copied().filter(|&ridge| ridge > judge_ridge);
    for ridge in larger.take_while(is_open) {
        let found = try_ridge(ridge, &fits, least)?;
        let told = found.told;
        tried.push(WalkRidge { ridge, told });
        if value(&told) < value(&best.told) || found.fits.len() < fits.len() {
            break;
        }
        (best, fits) = (WalkRidge { ridge, told }, found.fits);
        least = CLEARLY_LESS * value(&found.first);
    }
    let is_judges = best.ridge == judge_ridge;
    let smaller = ridges.iter().rev().copied();
    let smaller = smaller.filter(|&ridge| is_judges && ridge < judge_ridge);
    for ridge in smaller.take_while(is_open) {
        let found = try_ridge(ridge, &[], least)?;
        let told = found.told;
        tried.push(WalkRidge { ridge, told });
        if value(&told) < MORE * value(&best.told) || found.fits.len() < fits.len() {
            break;
        }
        best = WalkRidge { ridge, told };
        least = CLEARLY_LESS * value(&found.first);
    }
    Ok((best.ridge, tried, Gate::new(best.told, opens_at)))
}

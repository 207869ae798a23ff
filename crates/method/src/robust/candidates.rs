//! The ridge of the fit to walks, and the smoothing check.
//!
//! If there are features, a fifth of the columns is hidden, and embeddings are fitted from the
//! others. The ridge is the one whose embeddings explain most of the hidden columns. Smoothing
//! is taken if clusters of smoothed embeddings explain about as much as clusters of others.
//! Without features a fifth of the links is held out, and the ridge is the one whose
//! embeddings rank these best among non-links. (With features, held-out links prefer ridges so
//! small that embeddings repeat the graph, and clusters suffer: docs/decisions/trust.md.)

use serde::Serialize;

use super::fits::{COARSE_TOLERANCE, LinkFit, fit_links};
use super::recipe::belief_params;
use crate::data::dataset::Dataset;
use crate::data::features::Matrix;
use crate::data::graph::Graph;
use crate::engine::runtime::Runtime;
use crate::error::{Error, Result};
use crate::explained::{
    LEAST_COLUMNS, averages, components, explained_by_clusters, explained_by_regression,
    held_out_columns, sampled_rows, some_columns,
};
use crate::model::effective_rank;
use crate::model::folds::Folds;
use crate::params::CheckedParams;
use crate::select::held_out::{HeldOut, SAME_RANKS};
use crate::verdict::Explained;

/// One link in so many is held out.
const FOLDS: usize = 5;
/// Fewer links are too few to hold some out.
const LEAST_LINKS: usize = 50;
/// A fit with fewer effective dimensions than this share of the best candidate's has
/// collapsed, and so has one with less than two.
const COLLAPSED_SHARE: f64 = 0.25;
const LEAST_DIMENSIONS: f64 = 2.0;
/// A candidate that has not collapsed is taken if it is behind by at most so many
/// standard errors.
const ERRORS: f64 = 2.0;

/// A ridge and what it gave.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RidgeTried {
    /// The ridge.
    pub ridge: f64,
    /// How often a held-out link outranks a non-link by the embeddings; without features.
    pub auc: Option<f64>,
    /// What a regression on the embeddings explains of each component of hidden feature
    /// columns, on average.
    pub explained: Option<f64>,
    /// The effective dimension of the embeddings.
    pub effective_dimension: f64,
    /// What it gains over the ridge that was best before, and the standard error.
    pub gain: Option<(f64, f64)>,
    /// Whether it replaced that one.
    pub taken: bool,
}

/// What candidates are fitted to.
pub(super) struct Search<'s> {
    pub params: &'s CheckedParams,
    pub data: &'s Dataset,
    /// The links with the weights of their beliefs, by internal rows.
    pub believed: &'s Graph,
    /// The data with walks over them.
    pub walked: &'s Dataset,
    /// Rounds of smoothing; 0: no smoothing.
    pub rounds: usize,
}

/// The ridge, and what was found on the way.
pub(super) struct Chosen {
    pub ridge: f64,
    pub check: Option<Explained>,
    pub tried: Vec<RidgeTried>,
}

/// What candidates do not see.
enum Hidden {
    /// Feature columns, for each view that has enough.
    Columns(Vec<Columns>),
    /// Links.
    Links(HeldOut),
}

/// A fit at one ridge.
struct Candidate {
    fit: LinkFit,
    tried: RidgeTried,
    /// Of each held-out link the share of the non-links that look better.
    ranks: [Vec<f64>; 1],
}

/// Chooses a ridge and decides about smoothing.
pub(super) fn choose_ridge(
    search: &Search<'_>,
    ridges: &[f64],
    runtime: Runtime<'_>,
) -> Result<Chosen> {
    let mut ridges = ridges.to_vec();
    ridges.sort_by(f64::total_cmp);
    let Some(&middle) = ridges.get(ridges.len() / 2) else {
        let accepted = "a list of at least one value";
        return Err(Error::argument("ridges", accepted, "empty"));
    };
    let seed = search.params.seed;
    let mut columns = Vec::new();
    for view in search.data.views() {
        if let Some(matrix) = view.matrix.as_ref().filter(|matrix| has_enough(matrix)) {
            columns.push(Columns::new(matrix, view.rows.start, seed)?);
        }
    }
    if !columns.is_empty() {
        let seen = search
            .walked
            .map_vectors(|_, matrix| match has_enough(matrix) {
                true => part(matrix, seed, false),
                false => Ok(matrix.clone()),
            })?;
        return search.climb(&ridges, &seen, &Hidden::Columns(columns), runtime);
    }
    if ridges.len() > 1 && search.data.graph().n_links() >= LEAST_LINKS {
        let folds = Folds::new(seed, FOLDS)?;
        let split = folds.split(0);
        let believed = search.data.with_graph(search.believed.clone());
        let held_out = HeldOut::new(&believed, folds, search.params)?;
        let rest = search.believed.map_weights(|link| {
            let is_held_out = split.holds_out(link.src, link.dst);
            if is_held_out { 0.0 } else { link.weight }
        })?;
        let seen = search.data.with_graph(rest);
        return search.climb(&ridges, &seen, &Hidden::Links(held_out), runtime);
    }
    Ok(Chosen {
        ridge: middle,
        check: None,
        tried: Vec::new(),
    })
}

impl Search<'_> {
    /// Fits from the middle ridge on, to larger ones as long as these are as good. Smaller
    /// ones are tried if the middle one has collapsed, or if links are held out and the next
    /// larger one is no better.
    fn climb(
        &self,
        ridges: &[f64],
        seen: &Dataset,
        hidden: &Hidden,
        runtime: Runtime<'_>,
    ) -> Result<Chosen> {
        let dim = self.params.dim;
        let by_links = matches!(hidden, Hidden::Links(_));
        let mut place = ridges.len() / 2;
        let mut best = self.candidate(ridges[place], seen, hidden, None, runtime)?;
        best.tried.taken = true;
        let mut tried = vec![best.tried];
        let mut up = by_links || !best.has_collapsed(dim);
        loop {
            let next = if up {
                Some(place + 1)
            } else {
                place.checked_sub(1)
            };
            let next = next.filter(|&next| next < ridges.len());
            let mut goes_on = false;
            if let Some(next) = next {
                // A fit at a larger ridge has lost dimensions that a smaller one needs.
                let start = up.then_some(&best.fit);
                let mut other = self.candidate(ridges[next], seen, hidden, start, runtime)?;
                match hidden {
                    Hidden::Columns(_) => {
                        let explains = other.tried.explained >= best.tried.explained;
                        other.tried.taken = explains && (!up || !other.has_collapsed(dim));
                    }
                    Hidden::Links(held_out) => {
                        let gain = held_out.gain(&best.ranks, &other.ranks);
                        other.tried.gain = Some(gain);
                        other.tried.taken = is_better(&best.tried, &other.tried, dim, gain);
                    }
                }
                tried.push(other.tried);
                if other.tried.taken {
                    goes_on = up || by_links || other.has_collapsed(dim);
                    (best, place) = (other, next);
                }
            }
            if !goes_on {
                // The larger one is no better: perhaps a smaller one is.
                if !(by_links && up && place == ridges.len() / 2) {
                    break;
                }
                up = false;
            }
        }
        let check = match hidden {
            Hidden::Columns(columns) => Some(self.check(&best.fit.y, columns)?),
            Hidden::Links(_) => None,
        };
        Ok(Chosen {
            ridge: best.tried.ridge,
            check,
            tried,
        })
    }

    fn candidate(
        &self,
        ridge: f64,
        seen: &Dataset,
        hidden: &Hidden,
        start: Option<&LinkFit>,
        runtime: Runtime<'_>,
    ) -> Result<Candidate> {
        let params = belief_params(self.params.given(), ridge)?;
        let start = start.map(|fit| fit.theta.as_slice());
        let fit = fit_links(&params, seen, start, COARSE_TOLERANCE, runtime)?;
        runtime.after_fit(1, 1);
        let mut tried = RidgeTried {
            ridge,
            auc: None,
            explained: None,
            effective_dimension: effective_rank(&fit.y, self.params.dim),
            gain: None,
            taken: false,
        };
        let mut ranks = Vec::new();
        match hidden {
            Hidden::Columns(columns) => tried.explained = Some(self.explained(&fit.y, columns)),
            Hidden::Links(held_out) => {
                ranks = held_out.ranks(0, &fit.y, self.params.given());
                let n = ranks.len().max(1) as f64;
                tried.auc = Some(1.0 - ranks.iter().sum::<f64>() / n);
            }
        }
        Ok(Candidate {
            fit,
            tried,
            ranks: [ranks],
        })
    }

    /// What a regression on embeddings explains of each component of the hidden columns, on
    /// average: an embedding that lost dimensions explains few of them.
    fn explained(&self, y: &[f32], hidden: &[Columns]) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for columns in hidden {
            let n = columns.sample.len() as f64;
            let y = columns.of_sample(y, self.params.dim);
            let (targets, count) = (&columns.targets, columns.count);
            let [_, each] =
                explained_by_regression(&y, self.params.dim, targets, count, self.params.seed);
            sum += n * each;
            total += n;
        }
        sum / total
    }

    /// What clusters of embeddings, smoothed or not, explain of hidden columns.
    fn check(&self, y: &[f32], hidden: &[Columns]) -> Result<Explained> {
        let (dim, seed) = (self.params.dim, self.params.seed);
        let links = self.believed.adjacency();
        let smoothed = averages(&links, y, dim, self.rounds).pop();
        let smoothed = smoothed.unwrap_or_default();
        let (mut sums, mut total) = ([0.0; 3], 0.0);
        for columns in hidden {
            let n = columns.sample.len() as f64;
            let explained = [
                columns.explained_by(y, dim, seed)?,
                columns.explained_by(&smoothed, dim, seed)?,
                columns.features,
            ];
            sums.iter_mut()
                .zip(explained)
                .for_each(|(sum, x)| *sum += n * x);
            total += n;
        }
        let [plain, smoothed, features] = sums.map(|sum| sum / total);
        Ok(Explained {
            plain,
            smoothed,
            features,
        })
    }
}

impl Candidate {
    fn has_collapsed(&self, dim: usize) -> bool {
        self.tried.effective_dimension < LEAST_DIMENSIONS.min(dim as f64)
    }
}

/// Whether another candidate replaces the best one: a larger ridge unless it is worse by
/// what matters, a smaller one only if it is better by that; but never a collapsed fit if
/// one that has not collapsed is within two standard errors.
fn is_better(best: &RidgeTried, other: &RidgeTried, dim: usize, (more, error): (f64, f64)) -> bool {
    let most = best.effective_dimension.max(other.effective_dimension);
    let least = (COLLAPSED_SHARE * most).max(LEAST_DIMENSIONS.min(dim as f64));
    let [best_collapsed, other_collapsed] =
        [best, other].map(|tried| tried.effective_dimension < least);
    let margin = error.max(SAME_RANKS);
    if best_collapsed != other_collapsed {
        let behind = if best_collapsed { -more } else { more };
        return best_collapsed == (behind <= ERRORS * margin);
    }
    match other.ridge > best.ridge {
        true => more > -margin,
        false => more > margin,
    }
}

/// Hidden columns of a view.
struct Columns {
    first_row: usize,
    /// Some rows of the view, counted from the first.
    sample: Vec<u32>,
    /// The principal components of the hidden columns, for each row of the sample.
    targets: Vec<f64>,
    count: usize,
    /// What clusters of the other columns explain of them.
    features: f64,
}

fn has_enough(matrix: &Matrix) -> bool {
    matrix.n_columns() >= LEAST_COLUMNS
}

/// The hidden columns of a matrix, or the others.
fn part(matrix: &Matrix, seed: u64, is_hidden: bool) -> Result<Matrix> {
    let hidden = held_out_columns(matrix.n_columns(), seed, 0);
    some_columns(matrix, |column| hidden[column] == is_hidden)
}

impl Columns {
    fn new(matrix: &Matrix, first_row: usize, seed: u64) -> Result<Columns> {
        let sample = sampled_rows(matrix.n_rows(), seed);
        let matrix = matrix.select(&sample);
        let (targets, count) = components(part(&matrix, seed, true)?, seed)?;
        let (others, width) = components(part(&matrix, seed, false)?, seed)?;
        let others: Vec<f32> = others.into_iter().map(|x| x as f32).collect();
        Ok(Columns {
            features: explained_by_clusters(&others, width, &targets, count, seed)?,
            first_row,
            sample,
            targets,
            count,
        })
    }

    /// The embeddings of the sample.
    fn of_sample(&self, y: &[f32], dim: usize) -> Vec<f32> {
        let rows = self.sample.iter().map(|&row| self.first_row + row as usize);
        rows.flat_map(|row| &y[row * dim..][..dim])
            .copied()
            .collect()
    }

    /// What clusters of embeddings, by internal rows, explain.
    fn explained_by(&self, y: &[f32], dim: usize, seed: u64) -> Result<f64> {
        let y = self.of_sample(y, dim);
        explained_by_clusters(&y, dim, &self.targets, self.count, seed)
    }
}

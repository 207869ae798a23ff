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

/// A fit at one ridge.
struct Candidate {
    ridge: f64,
    fit: LinkFit,
    /// Of each held-out link the share of the non-links that look better.
    ranks: Vec<f64>,
    dimension: f64,
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
    let mut hidden = Vec::new();
    for view in search.data.views() {
        if let Some(matrix) = view.matrix.as_ref().filter(|matrix| has_enough(matrix)) {
            hidden.push(Columns::new(matrix, view.rows.start, search.params.seed)?);
        }
    }
    if !hidden.is_empty() {
        return search.by_columns(&ridges, &hidden, runtime);
    }
    if ridges.len() > 1 && search.data.graph().n_links() >= LEAST_LINKS {
        return search.by_links(&ridges, runtime);
    }
    Ok(Chosen {
        ridge: middle,
        check: None,
        tried: Vec::new(),
    })
}

impl Search<'_> {
    fn fit(
        &self,
        data: &Dataset,
        ridge: f64,
        start: Option<&LinkFit>,
        runtime: Runtime<'_>,
    ) -> Result<LinkFit> {
        let params = belief_params(self.params.given(), ridge)?;
        let start = start.map(|fit| fit.theta.as_slice());
        let fit = fit_links(&params, data, start, COARSE_TOLERANCE, runtime)?;
        runtime.after_fit(1, 1);
        Ok(fit)
    }

    /// Fits to walks, from columns that are not hidden: ridges from the middle on, as long
    /// as a larger one explains hidden columns as well. If the middle one has collapsed,
    /// smaller ones.
    fn by_columns(
        &self,
        ridges: &[f64],
        hidden: &[Columns],
        runtime: Runtime<'_>,
    ) -> Result<Chosen> {
        let dim = self.params.dim;
        let seen = self
            .walked
            .map_vectors(|_, matrix| match has_enough(matrix) {
                true => part(matrix, self.params.seed, false),
                false => Ok(matrix.clone()),
            })?;
        let candidate = |ridge: f64, start: Option<&LinkFit>| -> Result<_> {
            let fit = self.fit(&seen, ridge, start, runtime)?;
            let tried = RidgeTried {
                ridge,
                auc: None,
                explained: Some(self.explained(&fit.y, hidden)),
                effective_dimension: effective_rank(&fit.y, dim),
                gain: None,
                taken: false,
            };
            Ok((fit, tried))
        };
        let collapsed =
            |tried: &RidgeTried| tried.effective_dimension < LEAST_DIMENSIONS.min(dim as f64);
        let middle = ridges.len() / 2;
        let (mut fit, first) = candidate(ridges[middle], None)?;
        let mut tried = vec![RidgeTried {
            taken: true,
            ..first
        }];
        let mut best = first;
        let goes_down = collapsed(&first);
        let next: Vec<f64> = match goes_down {
            true => ridges[..middle].iter().rev().copied().collect(),
            false => ridges[middle + 1..].to_vec(),
        };
        for other in next {
            // A fit at a larger ridge has lost dimensions that a smaller one needs.
            let start = (!goes_down).then_some(&fit);
            let (other_fit, mut found) = candidate(other, start)?;
            let explains = found.explained >= best.explained;
            found.taken = explains && (goes_down || !collapsed(&found));
            let goes_on = found.taken && (!goes_down || collapsed(&found));
            tried.push(found);
            if found.taken {
                (fit, best) = (other_fit, found);
            }
            if !goes_on {
                break;
            }
        }
        Ok(Chosen {
            ridge: best.ridge,
            check: Some(self.check(&fit.y, hidden)?),
            tried,
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

    /// Fits to four fifths of the believed links: ridges from the middle on as long as the
    /// others are ranked better among non-links.
    fn by_links(&self, ridges: &[f64], runtime: Runtime<'_>) -> Result<Chosen> {
        let folds = Folds::new(self.params.seed, FOLDS)?;
        let split = folds.split(0);
        let believed = self.data.with_graph(self.believed.clone());
        let held_out = HeldOut::new(&believed, folds, self.params)?;
        let rest = self.believed.map_weights(|link| {
            let is_held_out = split.holds_out(link.src, link.dst);
            if is_held_out { 0.0 } else { link.weight }
        })?;
        let seen = self.data.with_graph(rest);
        let candidate = |ridge: f64, start: Option<&LinkFit>| -> Result<Candidate> {
            let fit = self.fit(&seen, ridge, start, runtime)?;
            Ok(Candidate {
                ridge,
                ranks: held_out.ranks(0, &fit.y, self.params.given()),
                dimension: effective_rank(&fit.y, self.params.dim),
                fit,
            })
        };
        let mut place = ridges.len() / 2;
        let mut best = candidate(ridges[place], None)?;
        let mut tried = vec![best.tried(None, true)];
        let mut step = 1i64;
        let mut moved = false;
        loop {
            let next = place as i64 + step;
            let gains = (0..ridges.len() as i64).contains(&next) && {
                let start = (step > 0).then_some(&best.fit);
                let other = candidate(ridges[next as usize], start)?;
                let (more, error) = gain(&best.ranks, &other.ranks);
                let taken = is_better(&best, &other, self.params.dim, (more, error));
                tried.push(other.tried(Some((more, error)), taken));
                if taken {
                    (best, place) = (other, next as usize);
                }
                taken
            };
            moved |= gains;
            match (gains, step, moved) {
                (true, _, _) => {}
                // The larger one is no better: perhaps a smaller one is.
                (false, 1, false) => step = -1,
                _ => break,
            }
        }
        Ok(Chosen {
            ridge: best.ridge,
            check: None,
            tried,
        })
    }
}

/// Whether another candidate replaces the best one: a larger ridge unless it is worse by
/// what matters, a smaller one only if it is better by that; but never a collapsed fit if
/// one that has not collapsed is within two standard errors.
fn is_better(best: &Candidate, other: &Candidate, dim: usize, (more, error): (f64, f64)) -> bool {
    let most = best.dimension.max(other.dimension);
    let least = (COLLAPSED_SHARE * most).max(LEAST_DIMENSIONS.min(dim as f64));
    let (best_collapsed, other_collapsed) = (best.dimension < least, other.dimension < least);
    if best_collapsed != other_collapsed {
        let behind = if best_collapsed { -more } else { more };
        let close = behind <= ERRORS * error.max(SAME_RANKS);
        return best_collapsed == close;
    }
    let margin = error.max(SAME_RANKS);
    match other.ridge > best.ridge {
        true => more > -margin,
        false => more > margin,
    }
}

/// How much better the second ranks of the same links are, on average, and the standard
/// error of that.
fn gain(before: &[f64], after: &[f64]) -> (f64, f64) {
    let gains = || {
        before
            .iter()
            .zip(after)
            .map(|(before, after)| before - after)
    };
    let n = before.len().max(1) as f64;
    let mean = gains().sum::<f64>() / n;
    let squares: f64 = gains().map(|gain| (gain - mean).powi(2)).sum();
    (mean, squares.sqrt() / n)
}

impl Candidate {
    fn tried(&self, gain: Option<(f64, f64)>, taken: bool) -> RidgeTried {
        let n = self.ranks.len().max(1) as f64;
        RidgeTried {
            ridge: self.ridge,
            auc: Some(1.0 - self.ranks.iter().sum::<f64>() / n),
            explained: None,
            effective_dimension: self.dimension,
            gain,
            taken,
        }
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

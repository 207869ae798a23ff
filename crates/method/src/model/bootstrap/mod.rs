//! How sure a fit is: the same fit to parts of the nodes.
//!
//! A replicate gives each node the multiplier `sqrt(2)` with chance `1/sqrt(2)`, else
//! 0, and each pair the product of its nodes'. So it sees half of the pairs, each at
//! twice its weight, and pairs that share a node together. The multipliers of pairs
//! have mean 1 and variance 1, as those of independent pairs should: a multiplier of
//! variance 1 for each node would count every pair from both of its ends, and the
//! spread would be too large by `sqrt(3)`.
//!
//! Replicates start from the model and end where a step gains nothing; a fit to all
//! nodes that ends in the same way is what they are compared with. What a ridge takes
//! from every fit, the spread does not show.

use super::{Fit, Fitted};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::dataset::Dataset;
use crate::data::features::Features;
use crate::engine::pairs::ViewMatrix;
use crate::engine::runtime::{Doing, FitCount, Runtime};
use crate::error::{Error, Result};
use crate::measure::KMeans;
use crate::params::{CheckedParams, Params};
use linkproof_numeric::math;

/// A gain of this share of the objective ends a replicate.
const TOLERANCE: f64 = 1e-5;
/// The chance that a node takes part, `1/sqrt(2)`.
const CHANCE: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Fewer replicates that a pair took part in tell nothing of it.
const LEAST: usize = 5;
/// Standard errors on either side that hold 90 of 100.
const NINETY: f64 = 1.645;

/// One fit: embeddings by the user's rows, and what similarities need beside.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicate {
    /// The embeddings, row after row.
    pub embeddings: Vec<f32>,
    /// Whether each node has one: free vectors are fitted to nodes that take part.
    pub has: Option<Vec<bool>>,
    /// `gamma` for each pair of views.
    pub gamma: ViewMatrix,
}

/// A fit to all nodes and others to parts of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicates {
    /// The fit to all nodes.
    pub whole: Replicate,
    /// The others.
    pub parts: Vec<Replicate>,
}

impl Replicates {
    /// Whether all are of so many nodes, dimensions and views.
    pub(super) fn fit(&self, n: usize, dim: usize, n_views: usize) -> bool {
        let fits = |it: &Replicate| {
            it.embeddings.len() == n * dim
                && it.has.iter().all(|has| has.len() == n)
                && it.gamma.n_views() == n_views
        };
        fits(&self.whole) && self.parts.iter().all(fits)
    }
}

/// How sure the logarithm of an expected weight is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Its standard error.
    pub error: f64,
    /// It is between these in 90 of 100 cases.
    pub interval: (f64, f64),
}

impl Spread {
    /// What the expected weight is between in 90 of 100 cases.
    pub fn weights(&self) -> (f64, f64) {
        (math::exp(self.interval.0), math::exp(self.interval.1))
    }
}

/// Fits `count` replicates of a model to its data.
///
/// # Errors
/// Fewer than five replicates; data that are not the model's.
pub fn bootstrap(
    params: &CheckedParams,
    data: &Dataset,
    model: &Fitted,
    count: usize,
    runtime: Runtime<'_>,
) -> Result<Replicates> {
    if count < LEAST {
        let accepted = format!("at least {LEAST} replicates");
        return Err(Error::argument("bootstrap", accepted, count));
    }
    if data.n_nodes() != model.n_nodes() || model.believed().is_some() {
        let found = "a robust model, or other nodes";
        return Err(Error::data("bootstrap", found, "a plain fit and its data"));
    }
    if model.is_directed() || model.offsets().is_some() {
        let found = "links with a direction, or offsets";
        return Err(Error::data("bootstrap", found, "a fit without them"));
    }
    let counted = FitCount::new(runtime.of_one_of_many(), count + 1);
    runtime.begins(Doing::FittingParts);
    let runtime = counted.runtime();
    let all: Vec<u32> = (0..data.n_nodes() as u32).collect();
    let whole = replicate(params, data, &all, model, 1.0, runtime)?;
    runtime.after_fit(1, count + 1);
    let parts = (0..count as u64).into_par_iter().map(|number| {
        let mut random = ChaCha8Rng::seed_from_u64(params.seed ^ 0x626f_6f74);
        random.set_stream(number);
        let takes_part = |_: &u32| random.random_bool(CHANCE);
        let rows: Vec<u32> = all.iter().copied().filter(takes_part).collect();
        let found = replicate(params, data, &rows, model, CHANCE * CHANCE, runtime)?;
        runtime.after_fit(1, count + 1);
        Ok(found)
    });
    Ok(Replicates {
        parts: parts.collect::<Result<_>>()?,
        whole,
    })
}

/// A fit to the nodes of some internal rows, whose pairs are a share of all.
fn replicate(
    params: &CheckedParams,
    data: &Dataset,
    rows: &[u32],
    model: &Fitted,
    share: f64,
    runtime: Runtime<'_>,
) -> Result<Replicate> {
    let part = data.part(rows)?;
    let with = Params {
        // Against as many pairs as there are, at their weights.
        ridge: params.ridge * share,
        validation: Some(0.0),
        ..params.given().clone()
    };
    let with = with.check()?;
    let start = start(model, data, rows);
    let fit = Fit::new(&with).to_all_pairs(TOLERANCE);
    let fit = fit.starting_from(start.as_slice()).runtime(runtime);
    let fitted = fit.run(&part)?;
    let (n, dim) = (data.n_nodes(), model.dim());
    let mut embeddings = vec![0.0f32; n * dim];
    let mut has = vec![false; n];
    let mut put = |inside: usize, y: &[f32]| {
        let row = data.user_row(inside);
        embeddings[row * dim..][..dim].copy_from_slice(y);
        has[row] = true;
    };
    for (place, view) in data.views().iter().enumerate() {
        let own = &fitted.views()[place];
        match &view.matrix {
            Some(matrix) if !own.network.is_table() && params.propagate == 0 => {
                let y = fitted.embed_view(place, &Features::new(matrix.clone()), None)?;
                let rows = view.rows.clone().zip(y.chunks_exact(dim));
                rows.for_each(|(inside, y)| put(inside, y));
            }
            _ => {
                let drawn = rows.iter().enumerate();
                let drawn = drawn.filter(|(_, row)| view.rows.contains(&(**row as usize)));
                drawn.for_each(|(at, &inside)| put(inside as usize, fitted.row(at)));
            }
        }
    }
    let is_whole = has.iter().all(|has| *has);
    Ok(Replicate {
        embeddings,
        has: (!is_whole).then_some(has),
        gamma: fitted.gamma().clone(),
    })
}

/// The parameters of the model that a fit to some rows begins with.
fn start(model: &Fitted, data: &Dataset, rows: &[u32]) -> Vec<f32> {
    let mut theta: Vec<f32> = Vec::new();
    for (view, own) in data.views().iter().zip(model.views()) {
        if own.network.is_table() {
            let drawn = rows.iter().map(|&row| row as usize);
            let drawn = drawn.filter(|row| view.rows.contains(row));
            drawn.for_each(|row| theta.extend_from_slice(model.row(data.user_row(row))));
        } else {
            theta.extend(own.weights.cast::<f32>().iter());
        }
    }
    let gammas = model.view_pairs().iter();
    theta.extend(gammas.map(|&(d, e)| model.gamma().get(d, e) as f32));
    theta
}

impl Fitted {
    /// The same model with fits to parts of its nodes.
    ///
    /// # Errors
    /// Replicates of other nodes.
    pub fn with_replicates(mut self, replicates: Replicates) -> Result<Fitted> {
        self.parts.replicates = Some(replicates);
        Fitted::new(self.parts)
    }

    /// Fits to parts of the nodes, where there are some.
    pub fn replicates(&self) -> Option<&Replicates> {
        self.parts.replicates.as_ref()
    }

    /// `<y_i, y_j> - gamma` in a replicate, where both nodes took part.
    fn similarity_in(&self, of: &Replicate, i: usize, j: usize) -> Option<f64> {
        let has = |row: usize| of.has.as_ref().is_none_or(|has| has[row]);
        if !(has(i) && has(j)) {
            return None;
        }
        let row = |row: usize| &of.embeddings[row * self.dim()..][..self.dim()];
        let products = row(i).iter().zip(row(j));
        let mut products = products.map(|(a, b)| f64::from(*a) * f64::from(*b));
        let like: f64 = products.by_ref().take(self.dim() - self.negative()).sum();
        let product = like - products.sum::<f64>();
        let view = |row: usize| self.node_views()[row] as usize;
        Some(product - of.gamma.get(view(i), view(j)))
    }

    /// How sure the logarithm of the expected weight of two nodes is; none without
    /// replicates, or where too few saw both.
    pub fn spread(&self, i: usize, j: usize) -> Option<Spread> {
        let replicates = self.replicates()?;
        let whole = self.similarity_in(&replicates.whole, i, j)?;
        let parts = replicates.parts.iter();
        let apart: Vec<f64> = parts
            .filter_map(|part| Some(self.similarity_in(part, i, j)? - whole))
            .collect();
        if apart.len() < LEAST {
            return None;
        }
        let squares: f64 = apart.iter().map(|x| x * x).sum();
        let error = (squares / apart.len() as f64).sqrt();
        let at = math::ln(self.mu(i, j).max(f64::MIN_POSITIVE));
        Some(Spread {
            error,
            interval: (at - NINETY * error, at + NINETY * error),
        })
    }

    /// For each of the neighbours of a node the share of replicates, among those that
    /// saw both, in which it is among as many nearest; none without replicates.
    pub fn stability(&self, node: usize, neighbors: &[usize]) -> Option<Vec<f64>> {
        let replicates = self.replicates()?;
        let (mut found, mut seen) = (vec![0.0; neighbors.len()], vec![0.0f64; neighbors.len()]);
        let view = |row: usize| self.node_views()[row] as usize;
        // Among nodes of the views that the neighbours are of.
        let views: Vec<usize> = neighbors.iter().map(|&row| view(row)).collect();
        let others: Vec<usize> = (0..self.n_nodes())
            .filter(|&row| row != node && views.contains(&view(row)))
            .collect();
        for part in &replicates.parts {
            let mut all: Vec<(f64, usize)> = (others.iter())
                .filter_map(|&row| Some((self.similarity_in(part, node, row)?, row)))
                .collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            all.truncate(neighbors.len());
            for (place, &row) in neighbors.iter().enumerate() {
                let took_part = self.similarity_in(part, node, row).is_some();
                seen[place] += f64::from(u8::from(took_part));
                found[place] += f64::from(u8::from(all.iter().any(|it| it.1 == row)));
            }
        }
        let shares = found.iter().zip(seen);
        Some(shares.map(|(found, seen)| found / seen.max(1.0)).collect())
    }

    /// For each node the share of its cluster that stays with it, over replicates: they
    /// are clustered anew, into as many clusters. None without replicates.
    ///
    /// # Errors
    /// Clusters of other nodes.
    pub fn together(&self, clusters: &[u32], seed: u64) -> Result<Option<Vec<f64>>> {
        let Some(replicates) = self.replicates() else {
            return Ok(None);
        };
        let (n, dim) = (self.n_nodes(), self.dim());
        if clusters.len() != n {
            let found = format!("{} clusters", clusters.len());
            return Err(Error::data(
                "clusters",
                found,
                format!("one for each of {n} nodes"),
            ));
        }
        let count = clusters.iter().max().map_or(0, |&last| last as usize + 1);
        let (mut together, mut seen) = (vec![0.0; n], vec![0.0f64; n]);
        for part in &replicates.parts {
            let has = |row: &usize| part.has.as_ref().is_none_or(|has| has[*row]);
            let rows: Vec<usize> = (0..n).filter(has).collect();
            let y: Vec<f32> = (rows.iter())
                .flat_map(|&row| &part.embeddings[row * dim..][..dim])
                .copied()
                .collect();
            let found = KMeans::new(count, seed).fit(&y, rows.len(), dim)?;
            // How many nodes are in each pair of clusters, one of either kind.
            let (mut both, mut own) = (vec![0.0f64; count * count], vec![0.0f64; count]);
            let pairs = || rows.iter().zip(&found.labels);
            for (&row, &other) in pairs() {
                both[clusters[row] as usize * count + other as usize] += 1.0;
                own[clusters[row] as usize] += 1.0;
            }
            for (&row, &other) in pairs() {
                let cluster = clusters[row] as usize;
                let mates = own[cluster] - 1.0;
                if mates > 0.0 {
                    together[row] += (both[cluster * count + other as usize] - 1.0) / mates;
                    seen[row] += 1.0;
                }
            }
        }
        let share = |(together, seen): (&f64, f64)| match seen > 0.0 {
            true => together / seen,
            false => 1.0,
        };
        Ok(Some(together.iter().zip(seen).map(share).collect()))
    }
}

#[cfg(test)]
mod tests;

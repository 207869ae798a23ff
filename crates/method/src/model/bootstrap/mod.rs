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
//!
//! A node of a directed graph is drawn as a source and as a target together.

mod told;

pub use told::Spread;

use super::{Fit, Fitted};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::dataset::Dataset;
use crate::data::features::Features;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::ViewMatrix;
use crate::engine::runtime::{ALONE_NODES, Doing, FitCount, Runtime, at_once};
use crate::engine::{Forecast, Plan};
use crate::error::{Error, Result};
use crate::params::CheckedParams;

/// A gain of this share of the objective ends a replicate.
const TOLERANCE: f64 = 1e-5;
/// The chance that a node takes part, `1/sqrt(2)`.
const CHANCE: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Fewer replicates that a pair took part in tell nothing of it.
const LEAST: usize = 5;

/// One fit: embeddings by the user's rows, and what similarities need beside.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicate {
    /// The embeddings, row after row.
    pub embeddings: Vec<f32>,
    /// Whether each node has one: free vectors are fitted to nodes that take part.
    pub has: Option<Vec<bool>>,
    /// The offset of each node, in a model with offsets; 0 where the node has none.
    pub offsets: Option<Vec<f32>>,
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
                && it.offsets.iter().all(|offsets| offsets.len() == n)
                && it.has.iter().all(|has| has.len() == n)
                && it.gamma.n_views() == n_views
        };
        fits(&self.whole) && self.parts.iter().all(fits)
    }
}

/// Refuses fewer replicates than tell anything.
///
/// # Errors
/// Fewer than five.
pub fn check_replicates(count: usize) -> Result<()> {
    match count < LEAST {
        true => {
            let accepted = format!("at least {LEAST} replicates");
            Err(Error::argument("bootstrap", accepted, count))
        }
        false => Ok(()),
    }
}

/// Refuses replicates for which there is too little memory.
///
/// # Errors
/// [`Error::Memory`] with the numbers; data that cannot be fitted.
pub fn check_replicate_memory(
    params: &CheckedParams,
    data: &Dataset,
    count: usize,
    runtime: Runtime<'_>,
) -> Result<()> {
    runtime.check_needed(|| {
        let prepared = Prepared::new(data, params, None, None)?;
        let problem = Problem::new(&prepared, params)?;
        let forecast = Forecast::new(&problem, &Plan::new(params, &problem)?);
        let fits = forecast.of_parts(at_once(count, data.n_nodes()), CHANCE);
        // Embeddings, whether there are any, and an offset.
        let of_node = 4 * params.dim + 1 + if params.offsets { 4 } else { 0 };
        let kept = (count + 1).saturating_mul(data.n_nodes() * of_node) as u64;
        // Those of all nodes, of which every replicate has a part.
        Ok(fits + kept + data.vector_bytes())
    })
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
    bootstrap_seen(params, data, model, count, Ok, runtime)
}

/// The same of a fit that does not see links as they are: `seen` makes what it sees of
/// the links between some of the nodes.
pub(crate) fn bootstrap_seen(
    params: &CheckedParams,
    data: &Dataset,
    model: &Fitted,
    count: usize,
    seen: impl Fn(Dataset) -> Result<Dataset> + Sync,
    runtime: Runtime<'_>,
) -> Result<Replicates> {
    check_replicates(count)?;
    if data.n_nodes() != model.n_nodes() {
        return Err(Error::data(
            "bootstrap",
            "other nodes",
            "the data of the fit",
        ));
    }
    check_replicate_memory(params, data, count, runtime)?;
    // All of it is estimated.
    let counted = FitCount::new(runtime.of_one_of_many().within(None), count + 1);
    runtime.begins(Doing::FittingParts);
    let runtime = counted.runtime();
    let n = data.n_nodes() as u32;
    let starts = Starts::new(model, data)?;
    let fit = |rows: &[u32], share: f64, runtime: Runtime<'_>| {
        let part = seen(data.part(rows)?)?;
        replicate(params, (data, part), rows, &starts, share, runtime)
    };
    let whole = fit(&(0..n).collect::<Vec<_>>(), 1.0, runtime)?;
    runtime.after_fit(1, count + 1);
    // Each node once, also where it is a source and a target.
    let nodes = if model.is_directed() { n / 2 } else { n };
    let part = |number: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(params.seed ^ 0x626f_6f74);
        random.set_stream(number);
        let drawn: Vec<u32> = (0..nodes).filter(|_| random.random_bool(CHANCE)).collect();
        let rows = (0..n / nodes).flat_map(|side| drawn.iter().map(move |row| side * nodes + row));
        let found = fit(&rows.collect::<Vec<_>>(), CHANCE * CHANCE, runtime)?;
        runtime.after_fit(1, count + 1);
        Ok(found)
    };
    let numbers = 0..count as u64;
    let parts = match data.n_nodes() > ALONE_NODES {
        true => numbers.map(part).collect::<Result<_>>(),
        false => numbers.into_par_iter().map(part).collect(),
    };
    Ok(Replicates {
        parts: parts?,
        whole,
    })
}

/// A fit to the nodes of some internal rows, whose pairs are a share of all.
fn replicate(
    params: &CheckedParams,
    (data, part): (&Dataset, Dataset),
    rows: &[u32],
    starts: &Starts<'_>,
    share: f64,
    runtime: Runtime<'_>,
) -> Result<Replicate> {
    let start = starts.of(data, rows);
    // Against as many pairs as there are, at their weights.
    let fit = Fit::new(params).times_ridge(share).to_all_pairs(TOLERANCE);
    let fit = fit.starting_from(start.as_slice()).runtime(runtime);
    let fitted = fit.run(&part)?;
    drop(part);
    let (n, dim) = (data.n_nodes(), fitted.dim());
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
    // What is a node's own of its offset is known of those that take part alone.
    let offsets = fitted.offsets().map(|own| {
        let mut offsets = vec![0.0; n];
        has.fill(false);
        for (&inside, &offset) in rows.iter().zip(own) {
            let row = data.user_row(inside as usize);
            (offsets[row], has[row]) = (offset, true);
        }
        offsets
    });
    let is_whole = has.iter().all(|has| *has);
    Ok(Replicate {
        embeddings,
        offsets,
        has: (!is_whole).then_some(has),
        gamma: fitted.gamma().clone(),
    })
}

/// The parameters of a model, from which fits to some of its nodes begin.
struct Starts<'m> {
    model: &'m Fitted,
    /// For each view, by its nodes, what of an offset the data vector does not tell.
    own_offsets: Vec<Vec<f32>>,
}

impl<'m> Starts<'m> {
    fn new(model: &'m Fitted, data: &Dataset) -> Result<Starts<'m>> {
        let mut own_offsets = Vec::new();
        for (place, view) in data.views().iter().enumerate() {
            let Some(offsets) = model.offsets() else {
                break;
            };
            let rows = view.rows.clone();
            let mut own: Vec<f32> = rows.map(|row| offsets[data.user_row(row)]).collect();
            let reads = !model.views()[place].network.is_table();
            if let Some(matrix) = view.matrix.as_ref().filter(|_| reads) {
                let told = model.encode_view(place, &Features::new(matrix.clone()), None)?;
                let both = own.iter_mut().zip(told.offsets);
                both.for_each(|(own, told)| *own -= told);
            }
            own_offsets.push(own);
        }
        Ok(Starts { model, own_offsets })
    }

    /// Those that a fit to some rows begins with, in the order of its parameters.
    fn of(&self, data: &Dataset, rows: &[u32]) -> Vec<f64> {
        let model = self.model;
        let mut theta: Vec<f32> = Vec::new();
        for (place, (view, own)) in data.views().iter().zip(model.views()).enumerate() {
            let drawn = rows.iter().map(|&row| row as usize);
            let drawn = drawn.filter(|row| view.rows.contains(row));
            match own.network.is_table() {
                true => (drawn.clone())
                    .for_each(|row| theta.extend_from_slice(model.row(data.user_row(row)))),
                false => theta.extend(own.weights.cast::<f32>().iter()),
            }
            if let Some(offsets) = self.own_offsets.get(place) {
                theta.extend(
                    own.offsets
                        .iter()
                        .flat_map(|map| map.cast::<f32>().to_vec()),
                );
                theta.extend(drawn.map(|row| offsets[row - view.rows.start]));
            }
        }
        let gammas = model.view_pairs().iter();
        theta.extend(gammas.map(|&(d, e)| model.gamma().get(d, e) as f32));
        theta.into_iter().map(f64::from).collect()
    }
}

#[cfg(test)]
mod tests;

//! Embeddings averaged over the links, each link counted as far as it is
//! believed.
//!
//! The fit itself reads data vectors alone, so that a node's embedding says
//! nothing that its links do not show to hold for nodes like it. Averaging
//! afterwards,
//!
//! ```text
//! Y <- D^-1/2 (B + I) D^-1/2 Y,    D = diag of the row sums of B + I,
//! ```
//!
//! brings a node closer to those that it is linked to. `B_ij` is the chance that
//! the link is sound ([`discover`]), so that a link which no data vector
//! explains, or whose weight is absurd, carries nothing. Judge links by fits
//! that did not see them ([`cross_fit`](crate::audit::cross_fit)): a fit is too
//! kind to its own.
//!
//! Unseen nodes without links get what their data vectors tell of the averages
//! ([`Regression`]).
//!
//! Averages are for clusters and neighbours. Expected weights stay those of the
//! embeddings as the encoder gives them.

mod unseen;

pub use unseen::Regression;

use rayon::prelude::*;

use crate::audit::{Verdict, discover};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::graph::Link;
use crate::model::Fitted;

/// A model's embeddings and their averages, and what averages new nodes.
#[derive(Debug, Clone)]
pub struct Smoother<'m> {
    model: &'m Fitted,
    verdicts: Vec<Verdict>,
    /// For each verdict the chance that the link is sound.
    rates: Vec<f64>,
    random: Vec<f64>,
    /// The embeddings after 0, 1, .. rounds, in the user's row order.
    levels: Vec<Vec<f32>>,
    /// The row sums of `B + I`.
    degrees: Vec<f64>,
}

/// A link of a new node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewLink {
    /// The new node.
    pub row: u32,
    /// The other end.
    pub end: End,
    /// The weight as observed.
    pub weight: f64,
}

/// The other end of a new node's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A training node's row.
    Known(u32),
    /// Another new node.
    New(u32),
}

/// The neighbours of a row, each with the chance that the link is sound.
type Neighbors = Vec<Vec<(u32, f64)>>;

impl<'m> Smoother<'m> {
    /// Averages a model's embeddings so many times over judged links. `random`
    /// are the expected weights of random unlinked pairs, by the same judges.
    pub fn new(
        model: &'m Fitted,
        verdicts: Vec<Verdict>,
        random: Vec<f64>,
        times: usize,
    ) -> Smoother<'m> {
        let rates = discover(&verdicts, model.params().weights, &random).rates;
        let mut neighbors: Neighbors = vec![Vec::new(); model.n_nodes()];
        for (verdict, &sound) in verdicts.iter().zip(&rates) {
            neighbors[verdict.src as usize].push((verdict.dst, sound));
            neighbors[verdict.dst as usize].push((verdict.src, sound));
        }
        let degrees: Vec<f64> = neighbors.iter().map(|row| degree(row)).collect();
        let mut levels = vec![model.embeddings().to_vec()];
        for round in 0..times {
            let before = &levels[round];
            let next = average(&neighbors, &degrees, before, model.dim(), |target| {
                (
                    row_of(before, target, model.dim()),
                    degrees[target as usize],
                )
            });
            levels.push(next);
        }
        Smoother {
            model,
            verdicts,
            rates,
            random,
            levels,
            degrees,
        }
    }

    /// The averages, in the user's row order.
    pub fn embeddings(&self) -> &[f32] {
        self.levels.last().map_or(&[], Vec::as_slice)
    }

    /// Every judged link with the chance that it is sound, least trusted first.
    pub fn beliefs(&self) -> impl Iterator<Item = (&Verdict, f64)> {
        self.verdicts.iter().zip(self.rates.iter().copied())
    }

    /// New nodes of a view, given their embeddings from data vectors, averaged
    /// over the links that they bring. Training nodes stay as they were.
    pub fn embed(&self, view: usize, encoded: &[f32], links: &[NewLink]) -> Result<Vec<f32>> {
        let dim = self.model.dim();
        let n_new = encoded.len() / dim;
        let neighbors = self.judge_new(view, encoded, links, n_new)?;
        let n_known = self.degrees.len() as u32;
        let degrees: Vec<f64> = neighbors.iter().map(|row| degree(row)).collect();
        let mut current = encoded.to_vec();
        for level in &self.levels[..self.levels.len() - 1] {
            current = average(&neighbors, &degrees, &current, dim, |target| {
                match target.checked_sub(n_known) {
                    None => (row_of(level, target, dim), self.degrees[target as usize]),
                    Some(new) => (row_of(&current, new, dim), degrees[new as usize]),
                }
            });
        }
        Ok(current)
    }

    /// What the data vectors of a view's nodes tell of their averages: for
    /// unseen nodes without links. `data` are the nodes of the model.
    pub fn unseen(&self, view: usize, data: &Dataset) -> Result<Regression> {
        let (params, dim) = (self.model.params(), self.model.dim());
        let name = self.model.views()[view].name.as_str();
        if data.n_nodes() != self.model.n_nodes() {
            return Err(Error::data(
                "data",
                format!("{} nodes", data.n_nodes()),
                format!("those of the model, {}", self.model.n_nodes()),
            ));
        }
        let of_view = data.views().iter().find(|view| view.name == name);
        let Some((view, matrix)) = of_view.and_then(|view| Some((view, view.matrix.as_ref()?)))
        else {
            return Err(Error::data(
                "data",
                format!("view '{name}' without data vectors"),
                "a data vector for each of its nodes",
            ));
        };
        let rows = view.rows.clone();
        let outputs: Vec<f32> = rows
            .flat_map(|row| row_of(self.embeddings(), data.user_row(row) as u32, dim))
            .copied()
            .collect();
        Regression::new(matrix, &outputs, dim, params.normalize, params.seed)
    }

    /// The neighbours of new nodes; other new nodes are numbered after the
    /// training nodes.
    fn judge_new(
        &self,
        view: usize,
        encoded: &[f32],
        links: &[NewLink],
        n_new: usize,
    ) -> Result<Neighbors> {
        let (model, dim) = (self.model, self.model.dim());
        let n_known = self.degrees.len();
        let mut judged = self.verdicts.clone();
        for link in links {
            let (row, known) = match link.end {
                End::Known(row) => (row as usize, true),
                End::New(row) => (row as usize, false),
            };
            let most = if known { n_known } else { n_new };
            if link.row as usize >= n_new || row >= most {
                return Err(Error::data(
                    "links of new nodes",
                    format!("a link from new node {} to row {row}", link.row),
                    format!("rows below {n_new} and {most}"),
                ));
            }
            let here = (row_of(encoded, link.row, dim), view);
            let there = match link.end {
                End::Known(row) => (
                    model.row(row as usize),
                    model.node_views()[row as usize] as usize,
                ),
                End::New(row) => (row_of(encoded, row, dim), view),
            };
            let mu = model.expected_weight(here, there);
            let seen = Link {
                src: link.row,
                dst: row as u32,
                weight: link.weight,
            };
            judged.push(Verdict::new(model.params(), seen, mu));
        }
        let rates = discover(&judged, model.params().weights, &self.random).rates;
        let mut neighbors: Neighbors = vec![Vec::new(); n_new];
        for (link, &sound) in links.iter().zip(&rates[self.verdicts.len()..]) {
            match link.end {
                End::Known(row) => neighbors[link.row as usize].push((row, sound)),
                End::New(row) => {
                    neighbors[link.row as usize].push((n_known as u32 + row, sound));
                    neighbors[row as usize].push((n_known as u32 + link.row, sound));
                }
            }
        }
        Ok(neighbors)
    }
}

fn degree(neighbors: &[(u32, f64)]) -> f64 {
    1.0 + neighbors.iter().map(|(_, sound)| sound).sum::<f64>()
}

fn row_of(rows: &[f32], row: u32, dim: usize) -> &[f32] {
    &rows[row as usize * dim..][..dim]
}

/// One round: each row from itself and its neighbours, of which `other` gives
/// the row and the degree.
fn average<'y>(
    neighbors: &Neighbors,
    degrees: &[f64],
    own: &[f32],
    dim: usize,
    other: impl Fn(u32) -> (&'y [f32], f64) + Sync,
) -> Vec<f32> {
    let mut averaged = vec![0.0f32; own.len()];
    averaged
        .par_chunks_mut(dim)
        .enumerate()
        .for_each(|(row, out)| {
            let degree = degrees[row];
            let mut sum: Vec<f64> = row_of(own, row as u32, dim)
                .iter()
                .map(|&y| f64::from(y) / degree)
                .collect();
            for &(target, sound) in &neighbors[row] {
                let (y, its_degree) = other(target);
                let factor = sound / (degree * its_degree).sqrt();
                for (sum, &y) in sum.iter_mut().zip(y) {
                    *sum += factor * f64::from(y);
                }
            }
            for (out, sum) in out.iter_mut().zip(sum) {
                *out = sum as f32;
            }
        });
    averaged
}

#[cfg(test)]
mod tests;

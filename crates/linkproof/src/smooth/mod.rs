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
mod tests {
    use super::*;
    use crate::audit::{judge, random_pairs};
    use crate::experiment::contamination::contaminate;
    use crate::experiment::demo;
    use crate::experiment::synthetic::{CLUSTERS, Noise, Synthetic, synthetic};
    use crate::measure::{KMeans, purity};
    use crate::model::fit;
    use crate::params::ScoreKind;

    fn fitted(made: &Synthetic) -> (Fitted, Vec<Verdict>, Vec<f64>) {
        let params = demo::params(ScoreKind::Probability, 0).check().unwrap();
        let model = fit(&params, &made.data).unwrap();
        let verdicts = judge(&model, made.data.graph().links());
        let random = random_pairs(&made.data, 2000, 1)
            .iter()
            .map(|pair| model.mu(pair.src as usize, pair.dst as usize))
            .collect();
        (model, verdicts, random)
    }

    #[test]
    fn averages_follow_the_formula() {
        let made = synthetic(3, Noise::false_links(0.01)).unwrap();
        let (model, verdicts, random) = fitted(&made);
        let smoother = Smoother::new(&model, verdicts.clone(), random.clone(), 1);
        let rates = discover(&verdicts, model.params().weights, &random).rates;
        let (n, dim) = (model.n_nodes(), model.dim());
        let mut b = vec![0.0; n * n];
        for (verdict, rate) in verdicts.iter().zip(&rates) {
            b[verdict.src as usize * n + verdict.dst as usize] = *rate;
            b[verdict.dst as usize * n + verdict.src as usize] = *rate;
        }
        (0..n).for_each(|i| b[i * n + i] = 1.0);
        let d: Vec<f64> = b.chunks(n).map(|row| row.iter().sum()).collect();
        for i in 0..n {
            for k in 0..dim {
                let plain: f64 = (0..n)
                    .map(|j| b[i * n + j] / (d[i] * d[j]).sqrt() * f64::from(model.row(j)[k]))
                    .sum();
                let found = f64::from(smoother.embeddings()[i * dim + k]);
                assert!((plain - found).abs() < 1e-5, "{i} {k}: {plain} {found}");
            }
        }
        let none = Smoother::new(&model, verdicts, random, 0);
        assert_eq!(none.embeddings(), model.embeddings());
    }

    #[test]
    fn absurd_links_carry_nothing() {
        let made = synthetic(1, Noise::false_links(0.01)).unwrap();
        let worse = contaminate(&made.data, &made.labels, 0.1, 100.0, 1).unwrap();
        let made = Synthetic {
            data: worse.data,
            ..made
        };
        let (model, verdicts, random) = fitted(&made);
        let smoother = Smoother::new(&model, verdicts, random, 2);
        let mut believed = [0.0, 0.0];
        for (verdict, sound) in smoother.beliefs() {
            let is_false = worse.false_links.contains(&(verdict.src, verdict.dst));
            assert!(!is_false || sound < 0.01, "{verdict:?} {sound}");
            believed[usize::from(is_false)] += sound;
        }
        assert!(believed[0] > 0.4 * made.data.graph().n_links() as f64);
        let found = KMeans::new(CLUSTERS, 0)
            .fit(smoother.embeddings(), model.n_nodes(), 2)
            .unwrap();
        assert!(purity(&made.labels, &found.labels).unwrap() > 0.95);
    }

    #[test]
    fn new_nodes_move_towards_what_they_are_linked_to() {
        let made = synthetic(5, Noise::false_links(0.0)).unwrap();
        let (model, verdicts, random) = fitted(&made);
        let smoother = Smoother::new(&model, verdicts, random, 2);
        let y = [model.row(0), model.row(60)].concat();
        assert_eq!(smoother.embed(0, &y, &[]).unwrap(), y, "no links");
        let links: Vec<NewLink> = (1..6)
            .map(|known| NewLink {
                row: 0,
                end: End::Known(known),
                weight: 1.0,
            })
            .collect();
        let moved = smoother.embed(0, &y, &links).unwrap();
        assert_ne!(moved[..2], y[..2]);
        assert_eq!(moved[2..], y[2..], "the other has no links");
        let pair = NewLink {
            row: 0,
            end: End::New(1),
            weight: 1.0,
        };
        assert!(smoother.embed(0, &y, &[pair]).is_ok());
        for end in [End::Known(200), End::New(2)] {
            let wrong = NewLink { end, ..pair };
            assert!(smoother.embed(0, &y, &[wrong]).is_err());
        }
    }
}

//! Sums of a score, and their gradient, over pairs of nodes on this machine's
//! processor: over all pairs ([`Tiled`]) and over listed ones ([`listed_pairs`]).
//!
//! Embeddings, views, `gamma`, the score, the links and the held-out rule go
//! in; value, `dY` and `dgamma` come out.

mod by_rows;
mod packed;
mod partial;
mod schedule;
mod split;
mod tile;
mod tiled;
mod tree;

pub use by_rows::join_rows;
pub use partial::{FlatLists, FlatPartial, Partial, PassShare, most_shares};
pub use split::{Part, Rule, Split};
pub use tiled::{Tiled, copies_of_gradient};

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::graph::Adjacency;
use crate::error::Result;
use crate::score::{Kernel, Score, Term};
use linkproof_numeric::real::{Real, add_scaled, dot};

/// A symmetric matrix with one entry for each pair of views.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewMatrix {
    n: usize,
    #[serde(with = "bits")]
    entries: Vec<f64>,
}

/// Numbers by their bits, so that infinite ones travel too.
mod bits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
        let bits: Vec<u64> = numbers.iter().map(|x| x.to_bits()).collect();
        bits.serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<f64>, D::Error> {
        let bits = Vec::<u64>::deserialize(from)?;
        Ok(bits.into_iter().map(f64::from_bits).collect())
    }
}

impl ViewMatrix {
    /// The same entry everywhere.
    pub fn filled(n: usize, entry: f64) -> ViewMatrix {
        ViewMatrix {
            n,
            entries: vec![entry; n * n],
        }
    }

    /// The number of views.
    pub fn n_views(&self) -> usize {
        self.n
    }

    /// Whether it has an entry for each pair: one that was read may not.
    pub fn is_square(&self) -> bool {
        self.n.checked_mul(self.n) == Some(self.entries.len())
    }

    /// The entry of a pair of views.
    pub fn get(&self, d: usize, e: usize) -> f64 {
        self.entries[d * self.n + e]
    }

    /// Sets the entry of a pair of views, in both orders.
    pub fn set(&mut self, d: usize, e: usize, entry: f64) {
        self.entries[d * self.n + e] = entry;
        self.entries[e * self.n + d] = entry;
    }

    /// The same matrix with each entry changed.
    pub fn map(&self, change: impl Fn(f64) -> f64) -> ViewMatrix {
        ViewMatrix {
            n: self.n,
            entries: self.entries.iter().map(|&entry| change(entry)).collect(),
        }
    }

    /// Adds to the entry of a pair of views.
    pub fn add(&mut self, d: usize, e: usize, amount: f64) {
        self.set(d, e, self.get(d, e) + amount);
    }
}

/// The embedded nodes of an evaluation: rows grouped by view.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedRows<'a, T> {
    /// The embeddings, row after row.
    pub y: &'a [T],
    /// The same as the other ends of their pairs see them, see [`mirrored`].
    pub mirror: &'a [T],
    /// The offset of each row; none where it is empty.
    pub offsets: &'a [T],
    /// Their dimension.
    pub dim: usize,
    /// The rows of each view.
    pub views: &'a [Range<usize>],
    /// `gamma` for each pair of views.
    pub gamma: &'a ViewMatrix,
}

impl<'a, T: Real> EmbeddedRows<'a, T> {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.y.len() / self.dim
    }

    /// One embedding.
    pub fn row(&self, row: usize) -> &'a [T] {
        &self.y[row * self.dim..(row + 1) * self.dim]
    }

    /// One embedding as the other ends of its pairs see it.
    pub fn mirror(&self, row: usize) -> &'a [T] {
        &self.mirror[row * self.dim..(row + 1) * self.dim]
    }

    /// The offset of a row.
    pub fn offset(&self, row: usize) -> f64 {
        self.offsets.get(row).map_or(0.0, |offset| offset.to_f64())
    }

    /// The numbers of a gradient: as many as the embeddings have, then a number for
    /// each offset.
    pub fn n_slopes(&self) -> usize {
        self.y.len() + self.offsets.len()
    }

    /// The view of a row.
    pub fn view_of(&self, row: usize) -> usize {
        self.views.partition_point(|range| range.end <= row)
    }

    /// `<y_i, z_j> + b_i + b_j`, with `z` the mirrored embeddings.
    fn product(&self, i: usize, j: usize) -> f64 {
        dot(self.row(i), self.mirror(j)).to_f64() + self.offset(i) + self.offset(j)
    }

    /// `s_ij = <y_i, z_j> + b_i + b_j - gamma`.
    pub fn similarity(&self, i: usize, j: usize) -> f64 {
        let gamma = self.gamma.get(self.view_of(i), self.view_of(j));
        self.product(i, j) - gamma
    }
}

/// Embeddings with the last dimensions, so many, turned: the inner product with
/// these counts them as negative.
pub fn mirrored<T: Real>(y: &[T], dim: usize, negative: usize) -> Cow<'_, [T]> {
    if negative == 0 {
        return Cow::Borrowed(y);
    }
    let mut turned = y.to_vec();
    for row in turned.chunks_exact_mut(dim) {
        row[dim - negative..].iter_mut().for_each(|x| *x = -*x);
    }
    Cow::Owned(turned)
}

/// Which pairs of rows take part in the all-pairs sum, and how much each counts.
#[derive(Debug, Clone, Copy)]
pub struct AllPairs<'a> {
    /// The rows of each view that take part (a range inside the view's rows).
    pub rows: &'a [Range<usize>],
    /// The factor of each pair of views; 0 leaves it out.
    pub scale: &'a ViewMatrix,
    /// The identity of each row, ascending, for the held-out rule.
    pub nodes: &'a [u32],
    /// The held-out rule and the part wanted.
    pub split: Option<(Split, Part)>,
    /// With a rule, whether the values of held-out pairs are summed up beside.
    pub watched: bool,
}

/// Sums over all pairs: the part of the host's engine that a card or other machines may
/// compute.
pub trait PairPass<T: Real>: Debug + Send + Sync {
    /// The sum over all pairs of what an unlinked pair adds; where `gradient`
    /// is given ([`EmbeddedRows::n_slopes`] entries), the derivative is added to it.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) or [`Error::Backend`](crate::Error::Backend),
    /// if the pass fails on another device or machine.
    fn all_pairs(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        kernel: &Kernel<T>,
        gradient: Option<&mut [T]>,
    ) -> Result<Sums>;
}

/// What each listed pair adds to a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairTerm {
    /// What a link adds to an unlinked pair.
    Correction,
    /// What every pair adds.
    Unlinked,
}

impl PairTerm {
    /// Its value and slope at a similarity.
    #[inline(always)]
    pub fn at(self, score: &Score, s: f64, weight: f64) -> Term {
        match self {
            PairTerm::Correction => score.correction(s, weight),
            PairTerm::Unlinked => score.unlinked(s),
        }
    }
}

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    /// The scaled sum, less the score's constant a pair.
    pub value: f64,
    /// Its derivative in each `gamma`.
    pub gamma: ViewMatrix,
    /// The scaled number of pairs in the sum.
    pub pairs: f64,
    /// The scaled sum over held-out pairs and their number, where they were
    /// watched beside the part wanted.
    pub watched: (f64, f64),
}

impl Sums {
    /// Nothing, for so many views.
    pub fn zero(n_views: usize) -> Sums {
        Sums {
            value: 0.0,
            gamma: ViewMatrix::filled(n_views, 0.0),
            pairs: 0.0,
            watched: (0.0, 0.0),
        }
    }

    /// How many numbers it is as a plain list, for so many views.
    fn flat_len(n_views: usize) -> usize {
        4 + n_views * n_views
    }

    /// Puts it at the end of a plain list.
    fn put_flat(&self, list: &mut Vec<f64>) {
        list.extend([self.value, self.pairs, self.watched.0, self.watched.1]);
        list.extend(&self.gamma.entries);
    }

    /// The sums of such a list.
    fn of_flat(list: &[f64], n_views: usize) -> Sums {
        Sums {
            value: list[0],
            pairs: list[1],
            watched: (list[2], list[3]),
            gamma: ViewMatrix {
                n: n_views,
                entries: list[4..].to_vec(),
            },
        }
    }

    /// Adds a pair of nodes of two views.
    pub fn add_term(&mut self, (d, e): (usize, usize), scale: f64, term: Term) {
        self.value += scale * term.value;
        self.gamma.add(d, e, -scale * term.slope);
        self.pairs += scale;
    }

    /// Adds the corrections of links, whose pairs are counted already.
    pub fn add_corrections(&mut self, corrections: &Sums) {
        let pairs = self.pairs;
        self.add(corrections);
        self.pairs = pairs;
    }

    /// Adds another result.
    pub fn add(&mut self, other: &Sums) {
        self.value += other.value;
        self.pairs += other.pairs;
        self.watched.0 += other.watched.0;
        self.watched.1 += other.watched.1;
        for (sum, more) in self.gamma.entries.iter_mut().zip(&other.gamma.entries) {
            *sum += more;
        }
    }
}

/// The sum over listed pairs, times `scale`; the derivative is added to
/// `gradient`. Every row gathers from its own pairs, so rows run in parallel
/// and the order of additions is fixed.
pub fn listed_pairs<T: Real>(
    embedded: &EmbeddedRows<'_, T>,
    listed: &Adjacency,
    term: PairTerm,
    scale: &ViewMatrix,
    score: &Score,
    gradient: Option<&mut [T]>,
) -> Sums {
    let (n_views, dim) = (scale.n_views(), embedded.dim);
    let gather = |rows: Range<usize>, mut gradient: Option<(&mut [T], &mut [T])>| {
        let mut sums = Sums::zero(n_views);
        for (place, row) in rows.enumerate() {
            let (targets, weights) = listed.row(row);
            let d = embedded.view_of(row);
            for (&target, &weight) in targets.iter().zip(weights) {
                let target = target as usize;
                let e = embedded.view_of(target);
                let s = embedded.product(row, target) - embedded.gamma.get(d, e);
                let term = term.at(score, s, weight);
                let scale = scale.get(d, e);
                if row < target {
                    sums.add_term((d, e), scale, term);
                }
                if let Some((gradient, offsets)) = &mut gradient {
                    let out = &mut gradient[place * dim..(place + 1) * dim];
                    let slope = T::of(scale * term.slope);
                    add_scaled(out, slope, embedded.mirror(target));
                    if let Some(offset) = offsets.get_mut(place) {
                        *offset += slope;
                    }
                }
            }
        }
        sums
    };
    let n = embedded.n_rows();
    let chunk = 64;
    let range = |index: usize| index * chunk..n.min((index + 1) * chunk);
    let parts: Vec<Sums> = match gradient {
        Some(gradient) => {
            let (gradient, offsets) = gradient.split_at_mut(n * dim);
            let rows = gradient.par_chunks_mut(chunk * dim).enumerate();
            if offsets.is_empty() {
                rows.map(|(index, part)| gather(range(index), Some((part, &mut []))))
                    .collect()
            } else {
                rows.zip(offsets.par_chunks_mut(chunk))
                    .map(|((index, part), offsets)| gather(range(index), Some((part, offsets))))
                    .collect()
            }
        }
        None => (0..n.div_ceil(chunk))
            .into_par_iter()
            .map(|index| gather(range(index), None))
            .collect(),
    };
    let mut sums = Sums::zero(n_views);
    for part in &parts {
        sums.add(part);
    }
    sums
}

#[cfg(test)]
mod tests;

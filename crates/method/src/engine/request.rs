//! Passes over all pairs that are computed elsewhere: what has to be known there beside
//! the embeddings.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::pairs::{AllPairs, EmbeddedRows, Part, Split, ViewMatrix, mirrored};
use crate::error::{Error, Result};
use crate::score::{Kernel, ScoreWords};
use linkproof_numeric::real::Real;

/// A pass over all pairs of all nodes, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PassRequest {
    dim: usize,
    /// The number of dimensions that count as negative.
    negative: usize,
    views: Vec<Range<usize>>,
    gamma: ViewMatrix,
    scale: ViewMatrix,
    split: Option<(Split, Part)>,
    watched: bool,
    score: ScoreWords,
    is_single: bool,
}

impl PassRequest {
    /// The words of a pass; none where it is over some nodes only.
    pub fn new<T: Real>(
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        kernel: &Kernel<T>,
        negative: usize,
    ) -> Option<PassRequest> {
        let nodes = pairs.nodes.iter().zip(0u32..);
        let is_whole =
            pairs.rows == embedded.views && pairs.nodes.len() == embedded.n_rows() && { nodes }
                .all(|(node, row)| *node == row);
        is_whole.then(|| PassRequest {
            dim: embedded.dim,
            negative,
            views: embedded.views.to_vec(),
            gamma: embedded.gamma.clone(),
            scale: pairs.scale.clone(),
            split: pairs.split,
            watched: pairs.watched,
            score: kernel.score().words(),
            is_single: T::IS_SINGLE,
        })
    }

    /// Whether it is in single precision.
    pub fn is_single(&self) -> bool {
        self.is_single
    }

    /// The kernel of its score.
    pub fn kernel<T: Real>(&self) -> Kernel<T> {
        Kernel::new(&self.score.score::<T>())
    }

    /// Whether another asks for the same score.
    pub fn has_score_of(&self, other: &PassRequest) -> bool {
        (&self.score, self.is_single) == (&other.score, other.is_single)
    }

    /// What someone makes of the pass at embeddings and offsets.
    ///
    /// # Errors
    /// Where there are not as many numbers as it says.
    pub fn at<T: Real, V>(
        &self,
        (y, offsets): (&[T], &[T]),
        work: impl FnOnce(&EmbeddedRows<'_, T>, &AllPairs<'_>) -> V,
    ) -> Result<V> {
        let n = self.views.last().map_or(0, |view| view.end);
        let follow = |(before, view): (usize, &Range<usize>)| view.start == before;
        let ends = std::iter::once(0).chain(self.views.iter().map(|view| view.end));
        let fits = self.dim > 0
            && self.negative <= self.dim
            && n.checked_mul(self.dim) == Some(y.len())
            && (offsets.is_empty() || offsets.len() == n)
            && u32::try_from(n).is_ok()
            && ends.zip(&self.views).all(follow)
            && [&self.gamma, &self.scale].map(ViewMatrix::n_views) == [self.views.len(); 2]
            && [&self.gamma, &self.scale]
                .into_iter()
                .all(ViewMatrix::is_square);
        if !fits {
            let found = format!("{} numbers and {} offsets", y.len(), offsets.len());
            return Err(Error::data(
                "a pass",
                found,
                "those of the nodes it is over",
            ));
        }
        let mirror = mirrored(y, self.dim, self.negative);
        let nodes: Vec<u32> = (0..n as u32).collect();
        let embedded = EmbeddedRows {
            y,
            mirror: &mirror,
            offsets,
            dim: self.dim,
            views: &self.views,
            gamma: &self.gamma,
        };
        let pairs = AllPairs {
            rows: &self.views,
            scale: &self.scale,
            nodes: &nodes,
            split: self.split,
            watched: self.watched,
        };
        Ok(work(&embedded, &pairs))
    }
}

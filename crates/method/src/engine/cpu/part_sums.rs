//! Sums over the pairs of a part, under inference.

use super::Evaluator;
use crate::engine::pairs::{AllPairs, EmbeddedRows, Part, Sums};
use crate::engine::{Embedding, Look, PartSum, embed};
use crate::error::Result;
use crate::score::{Kernel, Score};
use linkproof_numeric::math;
use linkproof_numeric::real::Real;

impl<T: Real> Evaluator<'_, T> {
    /// The sum over the pairs of a part, by the score that solvers follow or by another
    /// one.
    pub(super) fn part_sum(
        &self,
        theta: &[T],
        part: Part,
        by: Option<&Score>,
        look: Look,
    ) -> Result<PartSum> {
        if part != Part::Training && self.problem.data.split.is_none() {
            return Ok(PartSum::of(&Sums::zero(0)));
        }
        let own;
        let (score, kernel) = match by {
            None => (&self.score, &self.kernel),
            Some(score) => {
                own = Kernel::new(score);
                (score, &own)
            }
        };
        let Embedding { y, offsets, .. } = embed(self.problem, &self.inputs, theta);
        let mut gamma = self.problem.parameters.gamma(theta);
        if look.k != 1.0 {
            for &(d, e, _) in &self.problem.parameters.gammas {
                gamma.set(d, e, gamma.get(d, e) - math::ln(look.k));
            }
        }
        let mirror = self.problem.mirrored(&y);
        let embedded = self.all_rows((&y, &mirror), &offsets, &gamma);
        let sums = match look.estimates(self.problem.n_nodes()) {
            true => self.estimated_sums(&embedded, part, (score, kernel)),
            false => self.pair_sums(&embedded, (part, false), (score, kernel), None),
        };
        Ok(PartSum::of(&sums?))
    }

    /// All links, and the pairs inside a few fixed blocks of nodes.
    fn estimated_sums(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        part: Part,
        (score, kernel): (&Score, &Kernel<T>),
    ) -> Result<Sums> {
        let mut total = Sums::zero(self.problem.encoders().len());
        for drawn in Look::blocks(self.problem) {
            let (mut nodes, mut y, mut views) = (Vec::new(), Vec::new(), Vec::new());
            let mut offsets = Vec::new();
            for (view, rows) in self.problem.encoders().iter().zip(&drawn.rows) {
                views.push(nodes.len()..nodes.len() + rows.len());
                for &row in rows {
                    let node = view.rows.start + row as usize;
                    nodes.push(node as u32);
                    y.extend_from_slice(embedded.row(node));
                    offsets.extend(embedded.offsets.get(node));
                }
            }
            let mirror = self.problem.mirrored(&y);
            let inside = EmbeddedRows {
                y: &y,
                mirror: &mirror,
                offsets: &offsets,
                views: &views,
                ..*embedded
            };
            let pairs = AllPairs {
                rows: &views,
                scale: &drawn.scale,
                nodes: &nodes,
                split: self.problem.data.split.map(|split| (split, part)),
                watched: false,
            };
            total.add(&self.tiles.all_pairs(&inside, &pairs, kernel, None)?);
        }
        self.add_listed(embedded, part, score, &mut total, None);
        Ok(total)
    }
}

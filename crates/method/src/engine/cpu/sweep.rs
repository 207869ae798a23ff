//! A part of a sweep over tables: some nodes move, seen with all their links
//! and with each other.
//!
//! A table's vector meets only its own node's pairs, so the gradient in the
//! vectors of a few nodes needs all of *their* links and pairs and no others.
//! The links are few and taken whole; the pairs are estimated by those among
//! the nodes that move. What a block of the whole objective would leave to
//! chance, whether a node's links are seen at all, is exact here.

use rayon::prelude::*;

use super::{Evaluator, Gradient, Workspace};
use crate::data::graph::Adjacency;
use crate::engine::SweepPart;
use crate::engine::pairs::{EmbeddedRows, PairTerm, Sums, ViewMatrix};
use linkproof_numeric::real::{Real, add_scaled, dot};

/// Rows whose links one task gathers.
const ROWS: usize = 16;

impl<T: Real> Evaluator<'_, T> {
    /// The objective as the nodes of a part show it; its gradient in their
    /// vectors and in gamma overwrites `gradient`. Every encoder is a table.
    pub(in crate::engine) fn swept(
        &self,
        theta: &[T],
        part: &SweepPart,
        workspace: &mut Workspace<T>,
        gradient: &mut Gradient<T>,
    ) -> f64 {
        self.gather(theta, part, workspace);
        let problem = self.problem;
        let dim = problem.dim;
        let gamma = problem.parameters.gamma(theta);
        let embedded = EmbeddedRows {
            y: &workspace.embeddings,
            dim,
            views: &workspace.views,
            gamma: &gamma,
        };
        let scale = self.sweep_scale(part);
        let (nodes, slopes) = (&workspace.nodes, &mut workspace.slopes);
        let all = (workspace.views.as_slice(), &scale);
        let mut sums = self.pairs_of_step(&embedded, all, nodes, slopes);
        let links = (&self.links, PairTerm::Correction, 1.0);
        sums.add_corrections(&self.listed_of(links, theta, nodes, &embedded, slopes));
        if let Some(aside) = &self.aside {
            let back = (aside, PairTerm::Unlinked, -1.0);
            sums.add(&self.listed_of(back, theta, nodes, &embedded, slopes));
        }

        let inverse = 1.0 / problem.n_links();
        let (factor, ridge) = (T::of(inverse), self.ridge_slope());
        gradient.clear();
        let mut slopes = slopes.chunks_exact(dim);
        for (view, rows) in problem.encoders().iter().zip(&part.rows) {
            for (&row, slope) in rows.iter().zip(&mut slopes) {
                let place = view.params.start + row as usize * dim;
                let out = gradient.add_piece(place, dim, Some(part.sweep));
                let vector = &theta[place..place + dim];
                for ((out, slope), entry) in out.iter_mut().zip(slope).zip(vector) {
                    *out = *slope * factor + *entry * ridge;
                }
            }
        }
        // Each pair and link counted for each of its ends that moves, half.
        let whole = part.of as f64 * inverse;
        self.gamma_gradient(&sums, whole, gradient);
        self.with_constant(&sums) * whole
    }

    /// Copies the vectors of the nodes that move.
    fn gather(&self, theta: &[T], part: &SweepPart, workspace: &mut Workspace<T>) {
        let dim = self.problem.dim;
        workspace.views.clear();
        workspace.nodes.clear();
        workspace.embeddings.clear();
        for (view, rows) in self.problem.encoders().iter().zip(&part.rows) {
            let start = workspace.nodes.len();
            workspace.views.push(start..start + rows.len());
            for &row in rows {
                let place = view.params.start + row as usize * dim;
                workspace.nodes.push(view.rows.start as u32 + row);
                let vector = &theta[place..place + dim];
                workspace.embeddings.extend_from_slice(vector);
            }
        }
    }

    /// How many pairs of a node stand behind each that the part has.
    fn sweep_scale(&self, part: &SweepPart) -> ViewMatrix {
        let views = self.problem.encoders();
        let mut scale = ViewMatrix::filled(views.len(), 0.0);
        for &(d, e, _) in &self.problem.parameters.gammas {
            let factor = if d == e {
                let (all, here) = (views[d].rows.len(), part.rows[d].len());
                (all as f64 - 1.0) / (here as f64 - 1.0).max(1.0)
            } else {
                part.of as f64
            };
            scale.set(d, e, factor);
        }
        scale
    }

    /// What the listed pairs of some nodes pay, times a factor, half for each
    /// end; adds the derivatives in the nodes' vectors.
    fn listed_of(
        &self,
        (listed, term, factor): (&Adjacency, PairTerm, f64),
        theta: &[T],
        nodes: &[u32],
        embedded: &EmbeddedRows<'_, T>,
        slopes: &mut [T],
    ) -> Sums {
        let (dim, data) = (self.problem.dim, self.problem.data);
        let encoders = self.problem.encoders();
        let n_views = encoders.len();
        let parts: Vec<Sums> = slopes
            .par_chunks_mut(ROWS * dim)
            .zip(nodes.par_chunks(ROWS))
            .enumerate()
            .map(|(chunk, (slopes, nodes))| {
                let mut sums = Sums::zero(n_views);
                for (place, (&node, slope)) in
                    nodes.iter().zip(slopes.chunks_exact_mut(dim)).enumerate()
                {
                    let own = embedded.row(chunk * ROWS + place);
                    let d = data.view_of(node as usize);
                    let (targets, weights) = listed.row(node as usize);
                    for (&target, &weight) in targets.iter().zip(weights) {
                        let e = data.view_of(target as usize);
                        let view = &encoders[e];
                        let start = view.params.start + (target as usize - view.rows.start) * dim;
                        let other = &theta[start..start + dim];
                        let s = dot(own, other).to_f64() - embedded.gamma.get(d, e);
                        let term = term.at(&self.score, s, weight);
                        sums.add_term((d, e), 0.5 * factor, term);
                        add_scaled(slope, T::of(factor * term.slope), other);
                    }
                }
                sums
            })
            .collect();
        let mut sums = Sums::zero(n_views);
        for part in &parts {
            sums.add(part);
        }
        sums
    }
}

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
use crate::error::Result;
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
    ) -> Result<f64> {
        self.gather(theta, part, workspace);
        let problem = self.problem;
        let dim = problem.dim;
        let gamma = problem.parameters.gamma(theta);
        let mirror = problem.mirrored(&workspace.embeddings);
        let embedded = EmbeddedRows {
            y: &workspace.embeddings,
            mirror: &mirror,
            offsets: &workspace.offsets,
            dim,
            views: &workspace.views,
            gamma: &gamma,
        };
        let scale = self.sweep_scale(part);
        let (nodes, slopes) = (&workspace.nodes, &mut workspace.slopes);
        let all = (workspace.views.as_slice(), &scale);
        let mut sums = self.pairs_of_step(&embedded, all, nodes, slopes)?;
        let links = (&self.links, PairTerm::Correction, 1.0);
        sums.add_corrections(&self.listed_of(links, theta, nodes, &embedded, slopes));
        if let Some(aside) = &self.aside {
            let back = (aside, PairTerm::Unlinked, -1.0);
            sums.add(&self.listed_of(back, theta, nodes, &embedded, slopes));
        }

        let inverse = 1.0 / problem.n_links();
        let (factor, ridge) = (T::of(inverse), T::of(self.ridge_slope()));
        gradient.clear();
        let (slopes, of_offsets) = slopes.split_at(workspace.embeddings.len());
        let mut slopes = slopes.chunks_exact(dim);
        let mut of_offsets = of_offsets.chunks_exact(1);
        for (view, rows) in problem.encoders().iter().zip(&part.rows) {
            let mut put = |place: usize, slope: &[T]| {
                let out = gradient.add_piece(place, slope.len(), Some(part.sweep));
                let vector = &theta[place..place + slope.len()];
                for ((out, slope), entry) in out.iter_mut().zip(slope).zip(vector) {
                    *out = *slope * factor + *entry * ridge;
                }
            };
            for (&row, slope) in rows.iter().zip(&mut slopes) {
                put(view.params.start + row as usize * dim, slope);
            }
            if let Some(offsets) = &view.offsets {
                for (&row, slope) in rows.iter().zip(&mut of_offsets) {
                    put(offsets.own.start + row as usize, slope);
                }
            }
        }
        // Each pair and link counted for each of its ends that moves, half.
        let whole = part.of as f64 * inverse;
        self.gamma_gradient(&sums, whole, gradient);
        Ok(self.with_constant(&sums) * whole)
    }

    /// Copies the vectors of the nodes that move.
    fn gather(&self, theta: &[T], part: &SweepPart, workspace: &mut Workspace<T>) {
        let dim = self.problem.dim;
        workspace.views.clear();
        workspace.nodes.clear();
        workspace.embeddings.clear();
        workspace.offsets.clear();
        for (view, rows) in self.problem.encoders().iter().zip(&part.rows) {
            let start = workspace.nodes.len();
            workspace.views.push(start..start + rows.len());
            for &row in rows {
                let place = view.params.start + row as usize * dim;
                workspace.nodes.push(view.rows.start as u32 + row);
                let vector = &theta[place..place + dim];
                workspace.embeddings.extend_from_slice(vector);
            }
            if let Some(offsets) = &view.offsets {
                let own = rows
                    .iter()
                    .map(|&row| theta[offsets.own.start + row as usize]);
                workspace.offsets.extend(own);
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
        let positive = dim - self.problem.negative;
        let encoders = self.problem.encoders();
        let n_views = encoders.len();
        let (slopes, of_offsets) = slopes.split_at_mut(embedded.y.len());
        let mut of_offsets: Vec<&mut [T]> = of_offsets.chunks_mut(ROWS).collect();
        of_offsets.resize_with(nodes.len().div_ceil(ROWS), Default::default);
        let parts: Vec<Sums> = slopes
            .par_chunks_mut(ROWS * dim)
            .zip(of_offsets)
            .zip(nodes.par_chunks(ROWS))
            .enumerate()
            .map(|(chunk, ((slopes, of_offsets), nodes))| {
                let mut sums = Sums::zero(n_views);
                for (place, (&node, slope)) in
                    nodes.iter().zip(slopes.chunks_exact_mut(dim)).enumerate()
                {
                    let own = embedded.mirror(chunk * ROWS + place);
                    let offset = embedded.offset(chunk * ROWS + place);
                    let d = data.view_of(node as usize);
                    let (targets, weights) = listed.row(node as usize);
                    for (&target, &weight) in targets.iter().zip(weights) {
                        let e = data.view_of(target as usize);
                        let view = &encoders[e];
                        let row = target as usize - view.rows.start;
                        let start = view.params.start + row * dim;
                        let other = &theta[start..start + dim];
                        let of_other = view.offsets.as_ref();
                        let of_other =
                            of_other.map_or(0.0, |it| theta[it.own.start + row].to_f64());
                        let product = dot(own, other).to_f64() + offset + of_other;
                        let s = product - embedded.gamma.get(d, e);
                        let term = term.at(&self.score, s, weight);
                        sums.add_term((d, e), 0.5 * factor, term);
                        let by = T::of(factor * term.slope);
                        add_scaled(&mut slope[..positive], by, other);
                        add_scaled(&mut slope[positive..], -by, &other[positive..]);
                        if let Some(of_offset) = of_offsets.get_mut(place) {
                            *of_offset += by;
                        }
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

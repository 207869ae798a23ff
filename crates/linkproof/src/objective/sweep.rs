//! A turn of a sweep over tables: some nodes move, seen with all their links
//! and with each other.
//!
//! A table's vector meets only its own node's pairs, so the gradient in the
//! vectors of a few nodes needs all of *their* links and pairs and no others.
//! The links are few and taken whole; the pairs are estimated by those among
//! the nodes that move. What a block of the whole objective would leave to
//! chance, whether a node's links are seen at all, is exact here.

use rayon::prelude::*;

use super::{Gradient, Problem, Workspace};
use crate::pairs::{AllPairs, Charge, Embedded, ListedPairs, Part, Sums, ViewMatrix};
use crate::real::{Real, add_scaled, dot};

/// Nodes that move together.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// For each view the rows that move, ascending.
    pub rows: Vec<Vec<u32>>,
    /// The turns in which every node moves once.
    pub turns: usize,
    /// How often a node has moved after this turn.
    pub sweep: u32,
}

/// Rows whose links one task gathers.
const ROWS: usize = 16;

impl<T: Real> Problem<'_, T> {
    /// Whether every node has a vector of its own, so that a sweep is possible.
    pub fn is_all_tables(&self) -> bool {
        self.views.iter().all(|view| view.network.is_table())
    }

    /// The objective as the nodes of a turn show it; its gradient in their
    /// vectors and in gamma overwrites `gradient`.
    pub fn swept(
        &self,
        theta: &[T],
        turn: &Turn,
        workspace: &mut Workspace<T>,
        gradient: &mut Gradient<T>,
    ) -> f64 {
        self.gather_turn(theta, turn, workspace);
        let gamma = self.gamma(theta);
        let embedded = Embedded {
            y: &workspace.embeddings,
            dim: self.dim,
            views: &workspace.views,
            gamma: &gamma,
        };
        let scale = self.turn_scale(turn);
        let pairs = AllPairs {
            rows: &workspace.views,
            scale: &scale,
            nodes: &workspace.nodes,
            split: self.prepared.split.map(|split| (split, Part::Training)),
            watched: false,
        };
        let slopes = &mut workspace.slopes;
        let mut sums = self.pairs_of_step(&embedded, &pairs, slopes);
        let nodes = &workspace.nodes;
        let links = (&self.links, Charge::Correction, 1.0);
        sums.add_corrections(&self.listed_of(links, theta, nodes, &embedded, slopes));
        if let Some((aside, _)) = &self.aside {
            let back = (aside, Charge::Unlinked, -1.0);
            sums.add(&self.listed_of(back, theta, nodes, &embedded, slopes));
        }

        let inverse = 1.0 / self.n_links();
        let (factor, ridge) = (T::of(inverse), self.ridge_slope());
        gradient.clear();
        let mut slopes = slopes.chunks_exact(self.dim);
        for (view, rows) in self.views.iter().zip(&turn.rows) {
            for (&row, slope) in rows.iter().zip(&mut slopes) {
                let place = view.params.start + row as usize * self.dim;
                let out = gradient.add_piece(place, self.dim, Some(turn.sweep));
                let vector = &theta[place..place + self.dim];
                for ((out, slope), entry) in out.iter_mut().zip(slope).zip(vector) {
                    *out = *slope * factor + *entry * ridge;
                }
            }
        }
        // Each pair and link counted for each of its ends that moves, half.
        let whole = turn.turns as f64 * inverse;
        if let Some(&(_, _, first)) = self.gammas.first() {
            let out = gradient.add_piece(first, self.gammas.len(), None);
            for (out, &(d, e, _)) in out.iter_mut().zip(&self.gammas) {
                *out = T::of(sums.gamma.get(d, e) * whole);
            }
        }
        self.with_constant(&sums) * whole
    }

    /// Copies the vectors of a turn's nodes.
    fn gather_turn(&self, theta: &[T], turn: &Turn, workspace: &mut Workspace<T>) {
        workspace.views.clear();
        workspace.nodes.clear();
        workspace.embeddings.clear();
        for (view, rows) in self.views.iter().zip(&turn.rows) {
            let start = workspace.nodes.len();
            workspace.views.push(start..start + rows.len());
            for &row in rows {
                let place = view.params.start + row as usize * self.dim;
                workspace.nodes.push(view.rows.start as u32 + row);
                let vector = &theta[place..place + self.dim];
                workspace.embeddings.extend_from_slice(vector);
            }
        }
    }

    /// How many pairs of a node stand behind each that the turn has.
    fn turn_scale(&self, turn: &Turn) -> ViewMatrix {
        let mut scale = ViewMatrix::filled(self.views.len(), 0.0);
        for &(d, e, _) in &self.gammas {
            let factor = if d == e {
                let (all, here) = (self.views[d].rows.len(), turn.rows[d].len());
                (all as f64 - 1.0) / (here as f64 - 1.0).max(1.0)
            } else {
                turn.turns as f64
            };
            scale.set(d, e, factor);
        }
        scale
    }

    /// What the listed pairs of some nodes pay, times a factor, half for each
    /// end; adds the derivatives in the nodes' vectors.
    fn listed_of(
        &self,
        (listed, charge, factor): (&ListedPairs, Charge, f64),
        theta: &[T],
        nodes: &[u32],
        embedded: &Embedded<'_, T>,
        slopes: &mut [T],
    ) -> Sums {
        let dim = self.dim;
        let n_views = self.views.len();
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
                    let d = self.view_of(node);
                    let (targets, weights) = listed.of_row(node as usize);
                    for (&target, &weight) in targets.iter().zip(weights) {
                        let e = self.view_of(target);
                        let view = &self.views[e];
                        let start = view.params.start + (target as usize - view.rows.start) * dim;
                        let other = &theta[start..start + dim];
                        let s = dot(own, other).to_f64() - embedded.gamma.get(d, e);
                        let term = match charge {
                            Charge::Correction => self.score.correction(s, weight),
                            Charge::Unlinked => self.score.unlinked(s),
                        };
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

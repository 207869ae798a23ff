//! The objective on a sample of pairs: what one stochastic step looks at.

use std::ops::Range;

use super::Evaluator;
use crate::data::graph::Adjacency;
use crate::engine::Sample;
use crate::engine::encoder::{Batch, Pass};
use crate::engine::pairs::{
    AllPairs, EmbeddedRows, PairTerm, Part, Sums, ViewMatrix, listed_pairs,
};
use crate::error::Result;
use linkproof_numeric::real::{Real, add_scaled};

/// A part of a gradient: `len` parameters from `place` on, whose derivatives
/// stand in [`Gradient::values`] from `start` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The first parameter.
    pub place: usize,
    /// Where its derivative stands.
    pub start: usize,
    /// How many there are.
    pub len: usize,
    /// How often they have moved, this time included; unset: at every step.
    pub moves: Option<u32>,
}

/// A gradient that is zero outside its pieces (rows of tables that a step did
/// not touch).
#[derive(Debug, Clone, Default)]
pub struct Gradient<T> {
    /// The derivatives.
    pub values: Vec<T>,
    /// Where they belong.
    pub pieces: Vec<Piece>,
}

impl<T: Real> Gradient<T> {
    /// One piece for all parameters.
    pub fn whole(n_params: usize) -> Gradient<T> {
        Gradient {
            values: vec![T::ZERO; n_params],
            pieces: vec![Piece {
                place: 0,
                start: 0,
                len: n_params,
                moves: None,
            }],
        }
    }

    /// The derivatives of all pieces, one after the other.
    pub fn derivatives(&self) -> &[T] {
        let end = self.pieces.last().map_or(0, |last| last.start + last.len);
        &self.values[..end]
    }

    pub(super) fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Memory for a piece. It may hold old derivatives: clearing it would cost
    /// more than some steps.
    pub(super) fn add_piece(&mut self, place: usize, len: usize, moves: Option<u32>) -> &mut [T] {
        let start = self.derivatives().len();
        if self.values.len() < start + len {
            self.values.resize(start + len, T::ZERO);
        }
        self.pieces.push(Piece {
            place,
            start,
            len,
            moves,
        });
        &mut self.values[start..start + len]
    }
}

/// The memory of a step, which serves again in the next one.
#[derive(Debug, Default)]
pub struct Workspace<T: Real> {
    /// The data vectors and the pass of each view, and that of its offsets.
    passes: Vec<(Batch<'static, T>, Pass<T>, Pass<T>)>,
    /// The rows of each view in the joined rows, and those of its block.
    pub(super) views: Vec<Range<usize>>,
    blocks: Vec<Range<usize>>,
    /// The node of each joined row.
    pub(super) nodes: Vec<u32>,
    pub(super) embeddings: Vec<T>,
    pub(super) offsets: Vec<T>,
    /// The derivative in the embeddings and the offsets.
    pub(super) slopes: Vec<T>,
}

impl<T: Real> Evaluator<'_, T> {
    /// The objective on a sample; its gradient overwrites `gradient`.
    pub fn sampled(
        &self,
        theta: &[T],
        sample: &Sample,
        step: u64,
        workspace: &mut Workspace<T>,
        gradient: &mut Gradient<T>,
    ) -> Result<f64> {
        self.encode(theta, sample, step, workspace);
        let problem = self.problem;
        let dim = problem.dim;
        let mirror = problem.mirrored(&workspace.embeddings);
        let embedded = EmbeddedRows {
            y: &workspace.embeddings,
            mirror: &mirror,
            offsets: &workspace.offsets,
            dim,
            views: &workspace.views,
            gamma: &problem.parameters.gamma(theta),
        };
        let (nodes, slopes) = (&workspace.nodes, &mut workspace.slopes);
        let block = (workspace.blocks.as_slice(), &sample.scale);
        let mut sums = self.pairs_of_step(&embedded, block, nodes, slopes)?;
        for (listed, term, scale) in &sample.listed {
            let part = listed_pairs(
                &embedded,
                listed,
                *term,
                scale,
                &self.score,
                Some(slopes.as_mut_slice()),
            );
            match term {
                PairTerm::Unlinked => sums.add(&part),
                PairTerm::Correction => sums.add_corrections(&part),
            }
        }
        let inverse = 1.0 / problem.n_links();
        slopes.iter_mut().for_each(|slope| *slope *= T::of(inverse));

        gradient.clear();
        let (slopes, of_offsets) = slopes.split_at_mut(workspace.embeddings.len());
        for (place, view) in problem.encoders().iter().enumerate() {
            let rows = workspace.views[place].clone();
            let slopes = &mut slopes[rows.start * dim..rows.end * dim];
            let (batch, pass, offset_pass) = &mut workspace.passes[place];
            let ridge = self.ridge_slope();
            if view.network.is_table() {
                let table = (view.params.start, dim);
                self.table_gradient((theta, ridge), place, sample, (table, slopes), gradient);
            } else {
                let params = &theta[view.params.clone()];
                let out = gradient.add_piece(view.params.start, view.params.len(), None);
                view.network
                    .backward(params, batch, pass, (slopes, T::of(ridge)), out);
            }
            if let Some(offsets) = &view.offsets {
                let slopes = &mut of_offsets[rows];
                let ridge = offsets.in_units(slopes, ridge);
                let table = (offsets.own.start, 1);
                self.table_gradient((theta, ridge), place, sample, (table, slopes), gradient);
                if let Some((network, place)) = &offsets.map {
                    let out = gradient.add_piece(place.start, place.len(), None);
                    let params = &theta[place.clone()];
                    let derivative = (slopes, T::of(ridge));
                    network.backward(params, batch, offset_pass, derivative, out);
                }
            }
        }
        self.gamma_gradient(&sums, inverse, gradient);
        Ok((self.with_constant(&sums) + self.ridge_value_of(workspace)) * inverse)
    }

    /// The derivative in the gammas, times a factor.
    pub(super) fn gamma_gradient(&self, sums: &Sums, factor: f64, gradient: &mut Gradient<T>) {
        let gammas = &self.problem.parameters.gammas;
        if let Some(&(_, _, first)) = gammas.first() {
            let out = gradient.add_piece(first, gammas.len(), None);
            for (out, &(d, e, _)) in out.iter_mut().zip(gammas) {
                *out = T::of(sums.gamma.get(d, e) * factor);
            }
        }
    }

    /// The sum over the training pairs of some rows of each view, times factors; its
    /// derivative overwrites `slopes`.
    pub(super) fn pairs_of_step(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        (rows, scale): (&[Range<usize>], &ViewMatrix),
        nodes: &[u32],
        slopes: &mut Vec<T>,
    ) -> Result<Sums> {
        let split = self.problem.data.split;
        let pairs = AllPairs {
            rows,
            scale,
            nodes,
            split: split.map(|split| (split, Part::Training)),
            watched: false,
        };
        slopes.clear();
        slopes.resize(embedded.n_slopes(), T::ZERO);
        let slopes = Some(slopes.as_mut_slice());
        self.tiles.all_pairs(embedded, &pairs, &self.kernel, slopes)
    }

    /// Encodes the nodes of a sample, each once.
    fn encode(&self, theta: &[T], sample: &Sample, step: u64, workspace: &mut Workspace<T>) {
        let dropout = self.problem.dropout(step);
        workspace.views.clear();
        workspace.blocks.clear();
        workspace.nodes.clear();
        workspace.embeddings.clear();
        workspace.offsets.clear();
        workspace
            .passes
            .resize_with(self.inputs.len(), Default::default);
        let samples = sample.rows.iter().zip(&sample.block);
        let views = self.encoders().zip(&mut workspace.passes);
        for (((view, input), (batch, pass, of_offsets)), (rows, &block)) in views.zip(samples) {
            let start = workspace.nodes.len();
            workspace.views.push(start..start + rows.len());
            workspace.blocks.push(start..start + block);
            let nodes = rows.iter().map(|&row| view.rows.start as u32 + row);
            workspace.nodes.extend(nodes);
            input.select_into(rows, batch);
            if let Some(dropout) = dropout {
                dropout.drop_inputs(batch);
            }
            let params = &theta[view.params.clone()];
            view.network.forward(params, batch, dropout, pass);
            workspace.embeddings.extend_from_slice(pass.embeddings());
            if let Some(offsets) = &view.offsets {
                offsets.forward(theta, batch, of_offsets, &mut workspace.offsets);
            }
        }
    }

    /// The rows of a table of a view that a step touched. The ridge on all rows is
    /// estimated by that on the rows of the block, or without a block by that
    /// on the ends of the pairs, each time that they were drawn.
    fn table_gradient(
        &self,
        (theta, ridge): (&[T], f64),
        place: usize,
        sample: &Sample,
        ((table, dim), slopes): ((usize, usize), &[T]),
        gradient: &mut Gradient<T>,
    ) {
        let problem = self.problem;
        let view = &problem.encoders()[place];
        let block = sample.block[place];
        let drawn = sample.listed.iter();
        let drawn: Vec<&Adjacency> = drawn
            .filter(|(_, term, _)| *term == PairTerm::Unlinked)
            .map(|(listed, _, _)| listed)
            .collect();
        let first: usize = sample.rows[..place].iter().map(Vec::len).sum();
        let times = |position: usize| -> usize {
            let row = first + position;
            drawn.iter().map(|listed| listed.row(row).0.len()).sum()
        };
        let expected = if block > 0 {
            block as f64 / view.rows.len() as f64
        } else {
            // The share of all pairs that one row is in, times the pairs drawn.
            let n_drawn: usize = drawn.iter().map(|listed| listed.n_pairs()).sum();
            let partners = problem.data.n_partners(place);
            n_drawn as f64 * partners / problem.data.n_pairs_total()
        };
        let ridge = ridge / expected;
        for (position, &row) in sample.rows[place].iter().enumerate() {
            let start = table + row as usize * dim;
            let out = gradient.add_piece(start, dim, None);
            out.copy_from_slice(&slopes[position * dim..(position + 1) * dim]);
            let times = match block {
                0 => times(position),
                _ => usize::from(position < block),
            };
            if times > 0 {
                let factor = T::of(ridge * times as f64);
                add_scaled(out, factor, &theta[start..start + dim]);
            }
        }
    }

    /// The ridge for reports; on large tables it would cost more than a step.
    fn ridge_value_of(&self, workspace: &Workspace<T>) -> f64 {
        let mut encoders = self.problem.encoders().iter();
        if encoders.any(|view| view.network.is_table() || view.offsets.is_some()) {
            return 0.0;
        }
        let squares = workspace.passes.iter();
        let squares = squares.map(|(_, pass, _)| pass.squared_weights());
        self.problem.ridge * squares.sum::<f64>()
    }
}

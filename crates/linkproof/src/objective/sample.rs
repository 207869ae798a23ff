//! The objective on a sample of pairs: what one stochastic step looks at.

use super::{Problem, join};
use crate::encoder::Network;
use crate::pairs::{
    AllPairs, Charge, Embedded, ListedPairs, PairEngine, Part, ViewMatrix, listed_pairs,
};
use crate::real::{Real, add_scaled};

/// Nodes and pairs of a step. Every factor is relative to the sum over all
/// training pairs, so that each sample estimates the same objective.
#[derive(Debug, Clone)]
pub struct Sample {
    /// For each view the rows to encode, those of the block first and ascending.
    pub rows: Vec<Vec<u32>>,
    /// For each view the number of rows in the block.
    pub block: Vec<usize>,
    /// The factor of the pairs inside the block.
    pub scale: ViewMatrix,
    /// Pairs named one by one, between positions in the joined rows.
    pub listed: Vec<(ListedPairs, Charge, ViewMatrix)>,
}

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
            }],
        }
    }

    fn clear(&mut self) {
        self.values.clear();
        self.pieces.clear();
    }

    fn add_piece(&mut self, place: usize, len: usize) -> &mut [T] {
        let start = self.values.len();
        self.values.resize(start + len, T::ZERO);
        self.pieces.push(Piece { place, start, len });
        &mut self.values[start..]
    }
}

impl<T: Real> Problem<'_, T> {
    /// The objective on a sample; its gradient overwrites `gradient`.
    pub fn sampled(
        &self,
        theta: &[T],
        sample: &Sample,
        step: u64,
        gradient: &mut Gradient<T>,
    ) -> f64 {
        let dropout = self.dropout(step);
        let mut views = Vec::new();
        let mut blocks = Vec::new();
        let mut nodes = Vec::new();
        let mut passes = Vec::new();
        for (view, (rows, &block)) in self.views.iter().zip(sample.rows.iter().zip(&sample.block)) {
            let start = nodes.len();
            views.push(start..start + rows.len());
            blocks.push(start..start + block);
            nodes.extend(rows.iter().map(|&row| view.rows.start as u32 + row));
            let mut batch = view.input.select(rows);
            if let Some(dropout) = dropout {
                Network::drop_inputs(&mut batch, dropout);
            }
            let pass = view
                .network
                .forward(&theta[view.params.clone()], &batch, dropout);
            passes.push((batch, pass));
        }
        let joined = join(passes.iter().map(|(_, pass)| pass));
        let gamma = self.gamma(theta);
        let embedded = Embedded {
            y: &joined,
            dim: self.dim,
            views: &views,
            gamma: &gamma,
        };
        let pairs = AllPairs {
            rows: &blocks,
            scale: &sample.scale,
            nodes: &nodes,
            split: self.prepared.split.map(|split| (split, Part::Training)),
        };
        let mut slopes = vec![T::ZERO; joined.len()];
        let mut sums = self.engine.all_pairs(
            &embedded,
            &pairs,
            &self.score,
            &self.kernel,
            Some(&mut slopes),
        );
        for (listed, charge, scale) in &sample.listed {
            let part = listed_pairs(
                &embedded,
                listed,
                *charge,
                scale,
                &self.score,
                Some(&mut slopes),
            );
            match charge {
                Charge::Unlinked => sums.add(&part),
                Charge::Correction => sums.add_corrections(&part),
            }
        }
        let inverse = 1.0 / self.n_links();
        slopes.iter_mut().for_each(|slope| *slope *= T::of(inverse));

        gradient.clear();
        for (place, (view, (batch, pass))) in self.views.iter().zip(&passes).enumerate() {
            let slopes = &slopes[views[place].start * self.dim..views[place].end * self.dim];
            if view.network.is_table() {
                self.table_gradient(theta, place, sample, slopes, gradient);
            } else {
                let params = &theta[view.params.clone()];
                let out = gradient.add_piece(view.params.start, view.params.len());
                view.network.backward(params, batch, pass, slopes, out);
                let factor = T::of(2.0 * self.ridge * inverse);
                for layer in view.network.layers() {
                    add_scaled(
                        &mut out[layer.weights.clone()],
                        factor,
                        &params[layer.weights.clone()],
                    );
                }
            }
        }
        if let Some(&(_, _, first)) = self.gammas.first() {
            let out = gradient.add_piece(first, self.gammas.len());
            for (out, &(d, e, _)) in out.iter_mut().zip(&self.gammas) {
                *out = T::of(sums.gamma.get(d, e) * inverse);
            }
        }
        (self.with_constant(&sums) + self.ridge_value_of(theta)) * inverse
    }

    /// The rows of a table that a step touched. The ridge on all rows is
    /// estimated by that on the rows of the block, or without a block by that
    /// on the ends of the pairs, each time that they were drawn.
    fn table_gradient(
        &self,
        theta: &[T],
        place: usize,
        sample: &Sample,
        slopes: &[T],
        gradient: &mut Gradient<T>,
    ) {
        let view = &self.views[place];
        let block = sample.block[place];
        let drawn = sample.listed.iter();
        let drawn: Vec<&ListedPairs> = drawn
            .filter(|(_, charge, _)| *charge == Charge::Unlinked)
            .map(|(listed, _, _)| listed)
            .collect();
        let first: usize = sample.rows[..place].iter().map(Vec::len).sum();
        let times = |position: usize| -> usize {
            let row = first + position;
            drawn.iter().map(|listed| listed.n_of(row)).sum()
        };
        let expected = if block > 0 {
            block as f64 / view.rows.len() as f64
        } else {
            // The share of all pairs that one row is in, times the pairs drawn.
            let n_drawn: usize = drawn.iter().map(|listed| listed.n_pairs()).sum();
            let partners = self.prepared.n_partners(place);
            n_drawn as f64 * partners / self.prepared.n_pairs_total()
        };
        let ridge = 2.0 * self.ridge / self.n_links() / expected;
        for (position, &row) in sample.rows[place].iter().enumerate() {
            let start = view.params.start + row as usize * self.dim;
            let out = gradient.add_piece(start, self.dim);
            out.copy_from_slice(&slopes[position * self.dim..(position + 1) * self.dim]);
            let times = match block {
                0 => times(position),
                _ => usize::from(position < block),
            };
            if times > 0 {
                let factor = T::of(ridge * times as f64);
                add_scaled(out, factor, &theta[start..start + self.dim]);
            }
        }
    }

    /// The ridge for reports; on large tables it would cost more than a step.
    fn ridge_value_of(&self, theta: &[T]) -> f64 {
        if self.views.iter().any(|view| view.network.is_table()) {
            return 0.0;
        }
        self.ridge_value(theta)
    }
}

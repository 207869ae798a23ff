//! Everything that an engine is built from.

use std::borrow::Cow;

use super::{ParameterLayout, Prepared, ViewEncoder};
use crate::engine::encoder::{Dropout, Input};
use crate::engine::pairs::{ViewMatrix, mirrored};
use crate::error::Result;
use crate::params::{CheckedParams, Params};
use crate::score::Score;
use linkproof_numeric::math;
use linkproof_numeric::real::Real;

/// A fit's objective in words: data, places of parameters and settings. It
/// computes nothing; an engine does.
#[derive(Debug, Clone)]
pub struct Problem<'a> {
    /// The data.
    pub data: &'a Prepared,
    /// Where the parameters stand.
    pub parameters: ParameterLayout,
    /// The dimension of the embeddings.
    pub dim: usize,
    /// The number of dimensions, the last ones, that the similarity counts as
    /// negative.
    pub negative: usize,
    /// The score, uncapped; solvers follow [`Score::capped`].
    pub score: Score,
    /// The ridge on the encoders' weights.
    pub ridge: f64,
    /// The shares of entries of data vectors and of hidden units that a training
    /// pass leaves out.
    pub dropout: Option<(f64, f64)>,
    /// The seed of everything random.
    pub seed: u64,
    /// The settings that all of this was made from.
    pub params: Params,
    /// What the objective is divided by: the number of links that a fit sees, or what
    /// stands for it where the links are a part of a larger graph's.
    pub per: f64,
}

impl<'a> Problem<'a> {
    /// Sets the objective up.
    pub fn new(data: &'a Prepared, params: &CheckedParams) -> Result<Problem<'a>> {
        let mut dropout = 0.0;
        for view in &data.views {
            let encoder = params.encoder(&view.name, view.matrix.is_some())?;
            dropout = encoder.mlp.dropout.max(dropout);
        }
        let drops = dropout > 0.0 || params.input_dropout > 0.0;
        Ok(Problem {
            data,
            parameters: ParameterLayout::new(data, params)?,
            dim: params.dim,
            negative: params.negative(),
            score: params.score(),
            ridge: params.ridge(),
            dropout: drops.then_some((params.input_dropout, dropout)),
            seed: params.seed,
            params: params.given().clone(),
            per: data.training.n_links() as f64,
        })
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.data.training.n_nodes()
    }

    /// The number of links that a fit sees, `|W|`.
    pub fn n_links(&self) -> f64 {
        self.per
    }

    /// The number of parameters.
    pub fn n_params(&self) -> usize {
        self.parameters.n_params
    }

    /// The encoders.
    pub fn encoders(&self) -> &[ViewEncoder] {
        &self.parameters.encoders
    }

    /// Whether some pairs are held out to decide when to stop.
    pub fn has_held_out(&self) -> bool {
        self.data.held_out.is_some()
    }

    /// Whether a training pass encodes all nodes as inference does.
    pub fn trains_as_it_infers(&self) -> bool {
        let mut layers = self
            .encoders()
            .iter()
            .flat_map(|view| view.network.layers());
        self.dropout.is_none() && layers.all(|layer| layer.norm.is_none())
    }

    /// What a training pass of a step leaves out.
    pub fn dropout(&self, step: u64) -> Option<Dropout> {
        self.dropout.map(|(input, hidden)| Dropout {
            input,
            hidden,
            seed: self.seed,
            step,
        })
    }

    /// Embeddings as the other ends of their pairs see them: `s_ij = <y_i, z_j>` for
    /// these `z`.
    pub fn mirrored<'y, T: Real>(&self, y: &'y [T]) -> Cow<'y, [T]> {
        mirrored(y, self.dim, self.negative)
    }

    /// The part of the objective that no parameter changes.
    pub fn constant(&self) -> f64 {
        match self.score.constant() {
            0.0 => 0.0,
            constant => constant * self.data.n_training_pairs() / self.n_links(),
        }
    }

    /// The data vectors of each view, in the precision of a fit.
    pub fn inputs<T: Real>(&self) -> Vec<Input<'a, T>> {
        let views = self.data.views.iter().zip(self.encoders());
        let input = views.map(|(view, encoder)| match &view.matrix {
            Some(matrix) if !encoder.network.is_table() => Input::new(matrix),
            _ => Input::Nodes(view.rows.len()),
        });
        input.collect()
    }

    /// The random start: mean squared length of an embedding `scale^2`, and
    /// `gamma = -log(mean over pairs of min(w, median positive weight))`, so
    /// that corrupted weights do not move it.
    pub fn start<T: Real>(&self, inputs: &[Input<'_, T>], scale: f64) -> Vec<T> {
        let mut theta = Vec::with_capacity(self.n_params());
        for (stream, (view, input)) in self.encoders().iter().zip(inputs).enumerate() {
            theta.extend(view.network.start(input, self.seed, stream as u64, scale));
            // Offsets start at zero.
            let end = view.offsets.as_ref().map_or(theta.len(), |it| it.own.end);
            theta.resize(end, T::ZERO);
        }
        let data = self.data;
        let mut weights = data.training.weights().to_vec();
        let middle = weights.len() / 2;
        let median = *weights.select_nth_unstable_by(middle, f64::total_cmp).1;
        let mut sums = ViewMatrix::filled(data.views.len(), 0.0);
        for link in data.training.links() {
            let [d, e] = [link.src, link.dst].map(|row| data.view_of(row as usize));
            sums.add(d, e, link.weight.min(median));
        }
        let seen = 1.0 - data.split.map_or(0.0, |split| split.held_share());
        for &(d, e, _) in &self.parameters.gammas {
            let pairs = (data.n_pairs(d, e) * seen).max(1.0);
            // Half a link where there is none, as for a pair of views that
            // the user named.
            let mean = sums.get(d, e).max(0.5 * median.min(1.0)) / pairs;
            theta.push(T::of(-math::ln(mean)));
        }
        theta
    }
}

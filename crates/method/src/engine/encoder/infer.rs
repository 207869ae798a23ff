//! Encoding as inference does it, a chunk of rows at a time: without dropout,
//! normalised by statistics over all training nodes.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::forward::{Pass, add_bias};
use super::input::{Batch, Input};
use super::layout::Network;
use super::strip::moments;
use linkproof_numeric::real::Real;

/// Rows that are encoded at a time.
const CHUNK: usize = 1024;

/// The mean and the variance of each normalised unit over the training nodes,
/// layer after layer: what inference normalises with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// Means.
    pub mean: Vec<Vec<f64>>,
    /// Variances.
    pub variance: Vec<Vec<f64>>,
}

impl Network {
    /// The embeddings of all rows, as inference gives them.
    pub fn embed<T: Real>(
        &self,
        params: &[T],
        input: &Input<'_, T>,
        statistics: &Statistics,
    ) -> Vec<T> {
        let depth = self.layers().len();
        let mut all = Vec::with_capacity(input.n_rows() * self.outputs());
        let mut pass = Pass::default();
        for_each_chunk(input, |batch| {
            self.run(params, batch, Some(statistics), depth, &mut pass);
            all.extend_from_slice(pass.embeddings());
        });
        all
    }

    /// The statistics of the normalised layers over all rows, without dropout.
    pub fn statistics<T: Real>(&self, params: &[T], input: &Input<'_, T>) -> Statistics {
        let mut statistics = Statistics::default();
        for (place, layer) in self.layers().iter().enumerate() {
            if layer.norm.is_some() {
                let (mean, variance) = self.layer_moments(params, input, &statistics, place);
                statistics.mean.push(mean);
                statistics.variance.push(variance);
            }
        }
        statistics
    }

    /// Mean and variance over all rows of each unit of a hidden layer, before
    /// its normalisation and function. The layers below it have statistics.
    pub(super) fn layer_moments<T: Real>(
        &self,
        params: &[T],
        input: &Input<'_, T>,
        statistics: &Statistics,
        place: usize,
    ) -> (Vec<f64>, Vec<f64>) {
        let layer = &self.layers()[place];
        let mut pass = Pass::default();
        let mut seen = 0;
        let (mut mean, mut squares) = (vec![0.0; layer.outputs], vec![0.0; layer.outputs]);
        for_each_chunk(input, |batch| {
            let n = batch.n_rows();
            self.run(params, batch, Some(statistics), place, &mut pass);
            let (below, here) = self.at(place, batch, &mut pass.layers);
            let scratch = &pass.scratch;
            here.outputs.resize(n * layer.outputs, T::ZERO);
            let strips = here.outputs.par_chunks_mut(n * layer.strip);
            let totals = mean.par_chunks_mut(layer.strip);
            let totals = totals.zip(squares.par_chunks_mut(layer.strip));
            strips
                .zip(totals)
                .enumerate()
                .for_each(|(strip, (values, (mean, squares)))| {
                    let units = layer.units(strip);
                    let weights = layer.strip_weights(params, strip);
                    below.times_strip(n, (weights, units.len()), scratch, values);
                    add_bias(params, layer, units.clone(), values);
                    let chunk = moments(values, units.len());
                    // The rows so far and those of the chunk, put together.
                    let share = n as f64 / (seen + n) as f64;
                    for unit in 0..units.len() {
                        let apart = chunk.mean[unit] - mean[unit];
                        mean[unit] += share * apart;
                        squares[unit] += chunk.squares[unit] + apart * apart * share * seen as f64;
                    }
                });
            seen += n;
        });
        let n = seen.max(1) as f64;
        squares.iter_mut().for_each(|sum| *sum /= n);
        (mean, squares)
    }
}

fn for_each_chunk<T: Real>(input: &Input<'_, T>, mut work: impl FnMut(&Batch<'_, T>)) {
    let n = input.n_rows();
    let mut memory = Batch::default();
    for start in (0..n).step_by(CHUNK) {
        work(&input.stretch(start..n.min(start + CHUNK), &mut memory));
    }
}

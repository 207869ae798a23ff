//! From data vectors to embeddings.

use rayon::prelude::*;

use super::input::{Batch, Input};
use super::layout::{Layer, Network};
use crate::params::{Activation, OutputActivation};
use crate::processor::vectorised;
use crate::real::{Real, View, multiply_parallel};

/// Added to a variance before its root is taken.
const EPSILON: f64 = 1e-5;

/// Rows that inference encodes at a time.
const CHUNK: usize = 1024;

/// Which units are dropped in a training pass. Each draw is a hash of seed,
/// step, layer, node and unit, so it depends on neither threads nor batches.
#[derive(Debug, Clone, Copy)]
pub struct Dropout {
    /// The probability of dropping an entry of a data vector.
    pub input: f64,
    /// The probability of dropping a hidden unit.
    pub hidden: f64,
    /// The seed of the fit.
    pub seed: u64,
    /// The step of the fit.
    pub step: u64,
}

impl Dropout {
    /// What all draws for the units of one layer and node have in common.
    fn key(&self, layer: usize, node: usize) -> u32 {
        let mut x = self.seed ^ self.step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for part in [layer, node] {
            x = (x ^ part as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x ^= x >> 29;
        }
        x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
        (x >> 32) as u32
    }

    /// The draws for the hidden units of a layer and node.
    pub(super) fn hidden_draws<T: Real>(&self, layer: usize, node: usize) -> Draws<T> {
        Draws::new(self.key(layer, node), self.hidden)
    }

    /// 0 for a dropped entry of a data vector, `1/(1-P)` for a kept one.
    pub(super) fn input_factor<T: Real>(&self, node: usize, column: usize) -> T {
        Draws::new(self.key(0, node), self.input).factor(column as u32)
    }
}

/// The draws for a row of units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draws<T> {
    key: u32,
    threshold: u32,
    kept: T,
}

impl<T: Real> Draws<T> {
    fn new(key: u32, share: f64) -> Draws<T> {
        Draws {
            key,
            threshold: (share * 4_294_967_296.0) as u32,
            kept: T::of(1.0 / (1.0 - share)),
        }
    }

    /// 0 for a dropped unit, `1/(1-P)` for a kept one.
    #[inline(always)]
    pub(super) fn factor(&self, unit: u32) -> T {
        // A 32-bit finaliser (Wellons' lowbias32) of the unit and the key.
        let mut x = self.key ^ unit.wrapping_mul(0x9e37_79b1);
        x ^= x >> 16;
        x = x.wrapping_mul(0x7feb_352d);
        x ^= x >> 15;
        x = x.wrapping_mul(0x846c_a68b);
        x ^= x >> 16;
        if x < self.threshold {
            T::ZERO
        } else {
            self.kept
        }
    }

    /// One over the factor of a kept unit.
    pub(super) fn inverse_kept(&self) -> T {
        T::ONE / self.kept
    }
}

vectorised!(fn drop_units<T>(units: &mut [T], draws: Draws<T>) -> () = drop_units_body);

#[inline(always)]
fn drop_units_body<T: Real, const FMA: bool>(units: &mut [T], draws: Draws<T>) {
    for (unit, x) in units.iter_mut().enumerate() {
        *x *= draws.factor(unit as u32);
    }
}

/// The mean and the variance of each normalised unit over the training nodes,
/// layer after layer: what inference normalises with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    /// Means.
    pub mean: Vec<Vec<f64>>,
    /// Variances.
    pub variance: Vec<Vec<f64>>,
}

/// What a training pass leaves behind for the way back.
#[derive(Debug, Clone, Default)]
pub struct Pass<T> {
    /// The output of each layer, after its function and dropout.
    pub(super) outputs: Vec<Vec<T>>,
    /// The normalised values of each normalised layer, before scale and shift.
    pub(super) normed: Vec<Vec<T>>,
    /// One over the standard deviation of each unit of each normalised layer.
    pub(super) inverse_deviation: Vec<Vec<T>>,
    pub(super) dropout: Option<Dropout>,
}

impl<T: Real> Pass<T> {
    /// The embeddings, row after row.
    pub fn embeddings(&self) -> &[T] {
        self.outputs.last().map_or(&[], Vec::as_slice)
    }
}

impl Network {
    /// Encodes a batch for training: normalisation by the batch itself,
    /// dropout if given (its input part must be in the batch already).
    pub fn forward<T: Real>(
        &self,
        params: &[T],
        batch: &Batch<'_, T>,
        dropout: Option<Dropout>,
    ) -> Pass<T> {
        let mut pass = Pass {
            outputs: Vec::new(),
            normed: Vec::new(),
            inverse_deviation: Vec::new(),
            dropout,
        };
        for (place, layer) in self.layers().iter().enumerate() {
            let mut out = self.affine(params, layer, place, batch, &pass.outputs);
            if layer.norm.is_some() {
                let (mean, variance) = moments(&out, layer.outputs);
                let inverse = inverse_deviation(&variance);
                normalise(&mut out, &cast(&mean), &inverse);
                pass.normed.push(out.clone());
                pass.inverse_deviation.push(inverse);
            }
            self.finish(params, layer, place, &mut out);
            if let Some(dropout) = dropout.filter(|d| d.hidden > 0.0)
                && place + 1 < self.layers().len()
            {
                out.par_chunks_mut(layer.outputs)
                    .enumerate()
                    .for_each(|(row, out)| {
                        drop_units(out, dropout.hidden_draws(place + 1, batch.node(row)));
                    });
            }
            pass.outputs.push(out);
        }
        pass
    }

    /// Applies a dropout's input part to a batch.
    pub fn drop_inputs<T: Real>(batch: &mut Batch<'_, T>, dropout: Dropout) {
        if dropout.input > 0.0 {
            batch.scale_entries(|node, column| dropout.input_factor(node, column));
        }
    }

    /// The embeddings of all rows, as inference gives them.
    pub fn embed<T: Real>(
        &self,
        params: &[T],
        input: &Input<'_, T>,
        statistics: &Statistics,
    ) -> Vec<T> {
        self.infer(params, input, statistics, self.layers().len())
    }

    /// The output of the first `depth` layers for all rows; of a last layer
    /// that is normalised but not the network's last, the values before
    /// normalisation.
    pub(super) fn infer<T: Real>(
        &self,
        params: &[T],
        input: &Input<'_, T>,
        statistics: &Statistics,
        depth: usize,
    ) -> Vec<T> {
        let n = input.n_rows();
        let width = self.layers()[depth - 1].outputs;
        let mut all = Vec::with_capacity(n * width);
        for start in (0..n).step_by(CHUNK) {
            let rows: Vec<u32> = (start as u32..(start + CHUNK).min(n) as u32).collect();
            let batch = input.select(&rows);
            let mut outputs: Vec<Vec<T>> = Vec::new();
            let mut normed = 0;
            for (place, layer) in self.layers()[..depth].iter().enumerate() {
                let mut out = self.affine(params, layer, place, &batch, &outputs);
                if place + 1 < depth || depth == self.layers().len() {
                    if layer.norm.is_some() {
                        let inverse = inverse_deviation(&statistics.variance[normed]);
                        normalise(&mut out, &cast(&statistics.mean[normed]), &inverse);
                        normed += 1;
                    }
                    self.finish(params, layer, place, &mut out);
                }
                outputs.clear();
                outputs.push(out);
            }
            all.append(&mut outputs[0]);
        }
        all
    }

    /// The statistics of the normalised layers over all rows, without dropout.
    pub fn statistics<T: Real>(&self, params: &[T], input: &Input<'_, T>) -> Statistics {
        let mut statistics = Statistics::default();
        for (place, layer) in self.layers().iter().enumerate() {
            if layer.norm.is_some() {
                let out = self.infer(params, input, &statistics, place + 1);
                let (mean, variance) = moments(&out, layer.outputs);
                statistics.mean.push(mean);
                statistics.variance.push(variance);
            }
        }
        statistics
    }

    /// The affine part of a layer, without normalisation and function.
    fn affine<T: Real>(
        &self,
        params: &[T],
        layer: &Layer,
        place: usize,
        batch: &Batch<'_, T>,
        outputs: &[Vec<T>],
    ) -> Vec<T> {
        let n = batch.n_rows();
        let weights = &params[layer.weights.clone()];
        let mut out = vec![T::ZERO; n * layer.outputs];
        match outputs.last() {
            Some(previous) if place > 0 => multiply_parallel(
                &mut out,
                T::ONE,
                View::new(previous, n, layer.inputs),
                View::new(weights, layer.inputs, layer.outputs),
                false,
            ),
            _ => batch.times(weights, layer.outputs, &mut out),
        }
        if let Some(bias) = &layer.bias {
            let bias = &params[bias.clone()];
            for row in out.chunks_exact_mut(layer.outputs) {
                for (out, bias) in row.iter_mut().zip(bias) {
                    *out += *bias;
                }
            }
        }
        out
    }

    /// Scale, shift and function of a layer.
    fn finish<T: Real>(&self, params: &[T], layer: &Layer, place: usize, out: &mut [T]) {
        if let Some(norm) = &layer.norm {
            let (scale, shift) = (&params[norm.scale.clone()], &params[norm.shift.clone()]);
            out.par_chunks_mut(layer.outputs).for_each(|row| {
                for ((out, scale), shift) in row.iter_mut().zip(scale).zip(shift) {
                    *out = *out * *scale + *shift;
                }
            });
        }
        let last = place + 1 == self.layers().len();
        let chunks = out.par_chunks_mut(4096);
        match (last, self.spec().activation, self.spec().output_activation) {
            (true, _, OutputActivation::None) => {}
            (true, _, OutputActivation::Tanh) if layer.bias.is_none() => {}
            (true, _, OutputActivation::Tanh) | (false, Activation::Tanh, _) => {
                chunks.for_each(|chunk| tanh(chunk));
            }
            (false, Activation::Relu, _) => chunks.for_each(|chunk| {
                for x in chunk {
                    *x = x.max(T::ZERO);
                }
            }),
        }
    }
}

vectorised!(fn tanh<T>(values: &mut [T]) -> () = tanh_body);

/// `tanh x = 1 - 2/(e^{2x} + 1)`, within a rounding error of 1.
#[inline(always)]
fn tanh_body<T: Real, const FMA: bool>(values: &mut [T]) {
    let two = T::of(2.0);
    let reach = T::of(20.0);
    for x in values {
        let bounded = x.max(-reach).min(reach);
        *x = T::ONE - two / ((two * bounded).exp_inline::<FMA>() + T::ONE);
    }
}

fn cast<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| T::of(x)).collect()
}

fn inverse_deviation<T: Real>(variance: &[f64]) -> Vec<T> {
    variance
        .iter()
        .map(|variance| T::of(1.0 / (variance + EPSILON).sqrt()))
        .collect()
}

/// Mean and variance of each column, over the rows in their order.
fn moments<T: Real>(values: &[T], width: usize) -> (Vec<f64>, Vec<f64>) {
    let n = (values.len() / width).max(1) as f64;
    let strips: Vec<(Vec<f64>, Vec<f64>)> = (0..width.div_ceil(STRIP))
        .into_par_iter()
        .map(|strip| {
            let columns = strip * STRIP..width.min((strip + 1) * STRIP);
            let zero = vec![0.0; columns.len()];
            let mut mean = zero.clone();
            for row in values.chunks_exact(width) {
                add_row(&mut mean, &row[columns.clone()]);
            }
            mean.iter_mut().for_each(|mean| *mean /= n);
            let mut variance = zero;
            for row in values.chunks_exact(width) {
                add_squares(&mut variance, &row[columns.clone()], &mean);
            }
            variance.iter_mut().for_each(|variance| *variance /= n);
            (mean, variance)
        })
        .collect();
    let (means, variances): (Vec<_>, Vec<_>) = strips.into_iter().unzip();
    (means.concat(), variances.concat())
}

/// Columns that one task sums up.
pub(super) const STRIP: usize = 64;

vectorised!(fn add_row<T>(sums: &mut [f64], row: &[T]) -> () = add_row_body);
vectorised!(fn add_squares<T>(sums: &mut [f64], row: &[T], mean: &[f64]) -> () = add_squares_body);

#[inline(always)]
fn add_row_body<T: Real, const FMA: bool>(sums: &mut [f64], row: &[T]) {
    for (sum, x) in sums.iter_mut().zip(row) {
        *sum += x.to_f64();
    }
}

#[inline(always)]
fn add_squares_body<T: Real, const FMA: bool>(sums: &mut [f64], row: &[T], mean: &[f64]) {
    for ((sum, x), mean) in sums.iter_mut().zip(row).zip(mean) {
        let difference = x.to_f64() - mean;
        *sum += difference * difference;
    }
}

fn normalise<T: Real>(values: &mut [T], mean: &[T], inverse_deviation: &[T]) {
    values.par_chunks_mut(mean.len()).for_each(|row| {
        for ((x, mean), inverse) in row.iter_mut().zip(mean).zip(inverse_deviation) {
            *x = (*x - *mean) * *inverse;
        }
    });
}

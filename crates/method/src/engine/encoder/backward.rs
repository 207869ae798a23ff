//! From the derivative in the embeddings to the derivative in the parameters.

use std::ops::Range;

use rayon::prelude::*;

use super::dropout::Dropout;
use super::forward::{Pass, StripParts, draws, each_strip, split_part};
use super::input::{Batch, set_scaled};
use super::layout::{Layer, Network, STRIP};
use super::scratch::{Lines, Scratch};
use super::strip;
use linkproof_numeric::real::{Packed, Real, View, add_scaled};

/// What the way back writes of some strips of a layer.
struct Written<'a, T> {
    /// The numbers of a full strip.
    strip: usize,
    /// The weights of a full strip.
    weights: usize,
    /// The units of a full strip.
    units: usize,
    /// The outputs, over which the derivative is written where a layer below
    /// has to read it.
    outputs: &'a mut [T],
    /// The gradient of the first layer's weights.
    weights_gradient: &'a mut [T],
    /// The gradient of the biases, or else of the scales; empty without both.
    bias_or_scale: &'a mut [T],
    /// The gradient of the shifts.
    shift: &'a mut [T],
}

impl<T: Send> StripParts for Written<'_, T> {
    fn split(self, strips: usize) -> (Self, Self) {
        let (outputs, more_outputs) = split_part(self.outputs, strips * self.strip);
        let (weights, more_weights) = split_part(self.weights_gradient, strips * self.weights);
        let (scale, more_scale) = split_part(self.bias_or_scale, strips * self.units);
        let (shift, more_shift) = split_part(self.shift, strips * self.units);
        let first = Written {
            outputs,
            weights_gradient: weights,
            bias_or_scale: scale,
            shift,
            ..self
        };
        let second = Written {
            outputs: more_outputs,
            weights_gradient: more_weights,
            bias_or_scale: more_scale,
            shift: more_shift,
            ..self
        };
        (first, second)
    }
}

/// A layer and the derivative in its values before function and normalisation.
#[derive(Clone, Copy)]
struct Above<'a, T> {
    layer: &'a Layer,
    derivative: &'a [T],
}

impl Network {
    /// The derivative of a sum whose derivative in the embeddings of `pass` is
    /// `derivative`, and of `ridge/2` times the squared weights: it overwrites
    /// `gradient`. Uses up `derivative` and the pass.
    pub fn backward<T: Real>(
        &self,
        params: &[T],
        batch: &Batch<'_, T>,
        pass: &mut Pass<T>,
        (derivative, ridge): (&mut [T], T),
        gradient: &mut [T],
    ) {
        let Some((last, hidden)) = self.layers().split_last() else {
            return;
        };
        let Some((embeddings, passed)) = pass.layers.split_last_mut() else {
            return;
        };
        if last.function.is_some() {
            let width = last.outputs;
            let rows = derivative.par_chunks_mut(width);
            let rows = rows.zip(embeddings.outputs.par_chunks(width));
            rows.for_each(|(derivative, outputs)| {
                strip::through_output(derivative, outputs, last.function);
            });
        }
        if let Some(bias) = &last.bias {
            let gradient = &mut gradient[bias.clone()];
            gradient.fill(T::ZERO);
            for row in derivative.chunks_exact(last.outputs) {
                add_scaled(gradient, T::ONE, row);
            }
        }
        if hidden.is_empty() {
            let gradient = &mut gradient[last.weights.clone()];
            let ridge = (ridge, &params[last.weights.clone()]);
            let width = last.outputs;
            let memory = pass.shared.lend(batch.factor_size(batch.n_rows(), width));
            let derivative = batch.factor(memory, (derivative, width), true);
            return batch.transposed_times_parallel(&derivative, width, ridge, gradient);
        }
        let n = batch.n_rows();
        for place in (0..hidden.len()).rev() {
            let (lower, upper) = passed.split_at_mut(place + 1);
            let above = Above {
                layer: &self.layers()[place + 1],
                derivative: upper.first().map_or(&*derivative, |above| &above.outputs),
            };
            let (layer, here) = (&hidden[place], &mut lower[place]);
            let below = (layer, here.outputs.as_slice());
            above.weights_gradient(params, below, ridge, &mut pass.shared, gradient);
            let first = (place == 0).then_some((batch, ridge));
            pass.scratch.reserve(above.scratch_size(layer, n, first));
            let way = WayBack {
                params,
                layer,
                above,
                normed: &here.normed,
                inverse_deviation: &here.inverse_deviation,
                keys: &here.keys,
                dropout: pass.dropout,
                scratch: &pass.scratch,
                n,
                first,
            };
            way.through(&mut here.outputs, gradient);
        }
    }
}

/// The way back through a hidden layer.
struct WayBack<'a, T: Real> {
    params: &'a [T],
    layer: &'a Layer,
    above: Above<'a, T>,
    normed: &'a [T],
    inverse_deviation: &'a [T],
    keys: &'a [u32],
    dropout: Option<Dropout>,
    scratch: &'a Scratch<T>,
    /// The number of rows.
    n: usize,
    /// For the first layer, the batch and the ridge.
    first: Option<(&'a Batch<'a, T>, T)>,
}

impl<T: Real> WayBack<'_, T> {
    /// Through function and normalisation, strip after strip; for the first
    /// layer on to the gradient of its weights.
    fn through(&self, outputs: &mut [T], gradient: &mut [T]) {
        let (layer, n) = (self.layer, self.n);
        let (weights, rest) = gradient[layer.weights.start..].split_at_mut(layer.weights.len());
        let offsets = match (&layer.bias, &layer.norm) {
            (None, None) => 0,
            _ => layer.outputs,
        };
        let (bias_or_scale, rest) = rest.split_at_mut(offsets);
        let parts = Written {
            strip: n * layer.strip,
            weights: layer.inputs * layer.strip,
            units: layer.strip,
            outputs,
            weights_gradient: match self.first {
                Some(_) => weights,
                None => &mut [],
            },
            bias_or_scale,
            shift: match layer.norm {
                Some(_) => &mut rest[..layer.outputs],
                None => &mut [],
            },
        };
        each_strip(0..layer.n_strips(), parts, &|strip, parts| {
            let size = self.above.scratch_size(layer, n, self.first);
            self.scratch.with(size, |memory| {
                let (derivative, memory) = memory.split_at_mut(n * layer.strip);
                let derivative = &mut derivative[..n * layer.units(strip).len()];
                self.strip(strip, derivative, memory, parts);
            });
        });
    }

    fn strip(&self, strip: usize, derivative: &mut [T], memory: &mut [T], parts: Written<'_, T>) {
        let (layer, n) = (self.layer, self.n);
        let units = layer.units(strip);
        let width = units.len();
        self.above
            .times(self.params, n, units.clone(), memory, derivative);
        let draws = draws(self.keys, self.dropout, units.start);
        let normed = match layer.norm {
            Some(_) => &self.normed[n * units.start..n * units.end],
            None => &[],
        };
        let function = layer.function;
        let sums =
            strip::through_function(derivative, parts.outputs, normed, width, function, draws);
        if let Some(norm) = &layer.norm {
            let scale = &self.params[norm.scale.start + units.start..];
            let mut factor = [T::ZERO; STRIP];
            for unit in 0..width {
                factor[unit] = scale[unit] * self.inverse_deviation[units.start + unit];
                parts.bias_or_scale[unit] = T::of(sums.product[unit]);
                parts.shift[unit] = T::of(sums.sum[unit]);
            }
            let mean = sums.sum.map(|sum| T::of(sum / n as f64));
            let slope = sums.product.map(|sum| T::of(sum / n as f64));
            strip::through_norm(derivative, normed, width, &[factor, mean, slope]);
        } else {
            for (gradient, sum) in parts.bias_or_scale.iter_mut().zip(&sums.sum) {
                *gradient = T::of(*sum);
            }
        }
        if let Some((batch, ridge)) = self.first {
            let ridge = (ridge, layer.strip_weights(self.params, strip));
            let memory = &mut memory[..batch.factor_size(n, width)];
            let derivative = batch.factor(memory, (derivative, width), false);
            batch.transposed_times(0, &derivative, ridge, parts.weights_gradient);
        } else {
            parts.outputs.copy_from_slice(derivative);
        }
    }
}

impl<T: Real> Above<'_, T> {
    /// The memory that the way back through a strip of the layer below takes:
    /// the derivative in the strip, and a factor of one product.
    fn scratch_size(&self, below: &Layer, n: usize, first: Option<(&Batch<'_, T>, T)>) -> usize {
        let weights = Packed::<T>::size(self.layer.strip, below.strip);
        let derivative = first.map_or(0, |(batch, _)| batch.factor_size(n, below.strip));
        n * below.strip + weights.max(derivative)
    }

    /// The derivative in some units of the layer below: `out = D W^T`.
    fn times(&self, params: &[T], n: usize, units: Range<usize>, memory: &mut [T], out: &mut [T]) {
        for strip in 0..self.layer.n_strips() {
            let above = self.layer.units(strip);
            let width = above.len();
            let weights = self.layer.strip_weights(params, strip);
            let weights = &weights[units.start * width..units.end * width];
            let weights = View::new(weights, units.len(), width).t();
            let memory = &mut memory[..Packed::<T>::size(width, units.len())];
            let derivative = &self.derivative[n * above.start..n * above.end];
            let derivative = View::new(derivative, n, width);
            Packed::new(memory, weights).multiply(out, derivative, 0..width, strip > 0);
        }
    }

    /// The gradient of the layer's weights, `H^T D + ridge W` with `H` the
    /// outputs of the layer below.
    fn weights_gradient(
        &self,
        params: &[T],
        (below, outputs): (&Layer, &[T]),
        ridge: T,
        memory: &mut Lines<T>,
        gradient: &mut [T],
    ) {
        let layer = self.layer;
        let gradient = &mut gradient[layer.weights.clone()];
        let n = outputs.len() / below.outputs;
        if n == 0 {
            return set_scaled(gradient, ridge, &params[layer.weights.clone()]);
        }
        let packed_size = |strip| Packed::<T>::size(n, layer.units(strip).len());
        let memory = memory.lend((0..layer.n_strips()).map(packed_size).sum());
        let memory = memory.par_chunks_mut(packed_size(0));
        let strips = gradient.par_chunks_mut(layer.inputs * layer.strip);
        let strips = strips.zip(memory).enumerate();
        strips.for_each(|(strip, (gradient, memory))| {
            let above = layer.units(strip);
            let width = above.len();
            let weights = layer.strip_weights(params, strip);
            let derivative = &self.derivative[n * above.start..n * above.end];
            let derivative = Packed::new_parallel(memory, View::new(derivative, n, width));
            let size = below.strip * width;
            let blocks = gradient.par_chunks_mut(size).zip(weights.par_chunks(size));
            blocks.enumerate().for_each(|(block, (gradient, weights))| {
                let units = below.units(block);
                let outputs = &outputs[n * units.start..n * units.end];
                let outputs = View::new(outputs, n, units.len()).t();
                set_scaled(gradient, ridge, weights);
                derivative.multiply(gradient, outputs, 0..n, true);
            });
        });
    }
}

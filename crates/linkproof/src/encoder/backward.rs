//! From the derivative in the embeddings to the derivative in the parameters.

use rayon::prelude::*;

use super::forward::{Draws, Pass, STRIP};
use super::input::Batch;
use super::layout::{Layer, Network, Norm};
use crate::params::{Activation, OutputActivation};
use crate::processor::vectorised;
use crate::real::{Real, View, multiply_parallel};

impl Network {
    /// Adds to `gradient` the derivative of a sum whose derivative in the
    /// embeddings of `pass` is `derivative`.
    pub fn backward<T: Real>(
        &self,
        params: &[T],
        batch: &Batch<'_, T>,
        pass: &Pass<T>,
        derivative: &[T],
        gradient: &mut [T],
    ) {
        let n = batch.n_rows();
        let mut derivative = derivative.to_vec();
        let mut normed = pass.normed.len();
        for (place, layer) in self.layers().iter().enumerate().rev() {
            self.through_function(&mut derivative, pass, place, layer, batch);
            if let Some(norm) = &layer.norm {
                normed -= 1;
                let cached = (&pass.normed[normed], &pass.inverse_deviation[normed]);
                through_norm(&mut derivative, params, norm, layer, cached, gradient);
            }
            if let Some(bias) = &layer.bias {
                let gradient = &mut gradient[bias.clone()];
                for row in derivative.chunks_exact(layer.outputs) {
                    for (gradient, d) in gradient.iter_mut().zip(row) {
                        *gradient += *d;
                    }
                }
            }
            let weights_gradient = &mut gradient[layer.weights.clone()];
            if place == 0 {
                batch.transposed_times(&derivative, layer.outputs, weights_gradient);
                return;
            }
            let previous = View::new(&pass.outputs[place - 1], n, layer.inputs);
            let here = View::new(&derivative, n, layer.outputs);
            multiply_parallel(weights_gradient, T::ONE, previous.t(), here, true);
            let weights = View::new(&params[layer.weights.clone()], layer.inputs, layer.outputs);
            let mut below = vec![T::ZERO; n * layer.inputs];
            multiply_parallel(&mut below, T::ONE, here, weights.t(), false);
            derivative = below;
        }
    }

    /// Through dropout and the function of a layer, whose output is cached.
    fn through_function<T: Real>(
        &self,
        derivative: &mut [T],
        pass: &Pass<T>,
        place: usize,
        layer: &Layer,
        batch: &Batch<'_, T>,
    ) {
        let last = place + 1 == self.layers().len();
        let function = match (last, self.spec().activation, self.spec().output_activation) {
            (true, _, OutputActivation::Tanh) if layer.bias.is_some() => Activation::Tanh,
            (true, _, _) => return,
            (false, activation, _) => activation,
        };
        let dropout = pass.dropout.filter(|d| d.hidden > 0.0 && !last);
        let width = layer.outputs;
        derivative
            .par_chunks_mut(width)
            .zip(pass.outputs[place].par_chunks(width))
            .enumerate()
            .for_each(|(row, (derivative, outputs))| {
                let draws = dropout.map(|dropout| dropout.hidden_draws(place + 1, batch.node(row)));
                through_row(derivative, outputs, function, draws);
            });
    }
}

vectorised!(
    fn through_row<T>(derivative: &mut [T], outputs: &[T], function: Activation, draws: Option<Draws<T>>) -> () = through_row_body
);

/// Multiplies each derivative by the slope of the function, which its output
/// tells, and by the factor of its draw.
#[inline(always)]
fn through_row_body<T: Real, const FMA: bool>(
    derivative: &mut [T],
    outputs: &[T],
    function: Activation,
    draws: Option<Draws<T>>,
) {
    let inverse = draws.map_or(T::ONE, |draws| draws.inverse_kept());
    match function {
        // A dropped unit has output 0: its draw alone stops the derivative.
        Activation::Tanh => {
            for (derivative, output) in derivative.iter_mut().zip(outputs) {
                let value = *output * inverse;
                *derivative *= T::ONE - value * value;
            }
        }
        Activation::Relu => {
            for (derivative, output) in derivative.iter_mut().zip(outputs) {
                let positive = if *output > T::ZERO { T::ONE } else { T::ZERO };
                *derivative *= positive;
            }
        }
    }
    if let Some(draws) = draws {
        for (unit, derivative) in derivative.iter_mut().enumerate() {
            *derivative *= draws.factor(unit as u32);
        }
    }
}

/// Through scale, shift and normalisation by the batch:
/// `d_in = scale/sigma (d - mean(d) - x mean(d x))` with `x` the normalised values.
fn through_norm<T: Real>(
    derivative: &mut [T],
    params: &[T],
    norm: &Norm,
    layer: &Layer,
    (normed, inverse_deviation): (&Vec<T>, &Vec<T>),
    gradient: &mut [T],
) {
    let width = layer.outputs;
    let n = (derivative.len() / width) as f64;
    let strips: Vec<(Vec<f64>, Vec<f64>)> = (0..width.div_ceil(STRIP))
        .into_par_iter()
        .map(|strip| {
            let columns = strip * STRIP..width.min((strip + 1) * STRIP);
            let mut sum = vec![0.0; columns.len()];
            let mut product = vec![0.0; columns.len()];
            for (derivative, normed) in derivative
                .chunks_exact(width)
                .zip(normed.chunks_exact(width))
            {
                let rows = (&derivative[columns.clone()], &normed[columns.clone()]);
                add_products(&mut sum, &mut product, rows);
            }
            (sum, product)
        })
        .collect();
    let (sums, products): (Vec<_>, Vec<_>) = strips.into_iter().unzip();
    let (sum, product): (Vec<f64>, Vec<f64>) = (sums.concat(), products.concat());
    for unit in 0..width {
        gradient[norm.shift.start + unit] += T::of(sum[unit]);
        gradient[norm.scale.start + unit] += T::of(product[unit]);
    }
    let scale = &params[norm.scale.clone()];
    let mean: Vec<T> = sum.iter().map(|x| T::of(x / n)).collect();
    let slope: Vec<T> = product.iter().map(|x| T::of(x / n)).collect();
    derivative
        .par_chunks_mut(width)
        .zip(normed.par_chunks(width))
        .for_each(|(derivative, normed)| {
            for unit in 0..width {
                let centred = derivative[unit] - mean[unit] - normed[unit] * slope[unit];
                derivative[unit] = scale[unit] * inverse_deviation[unit] * centred;
            }
        });
}

vectorised!(fn add_products<T>(sum: &mut [f64], product: &mut [f64], rows: (&[T], &[T])) -> () = add_products_body);

#[inline(always)]
fn add_products_body<T: Real, const FMA: bool>(
    sum: &mut [f64],
    product: &mut [f64],
    (derivative, normed): (&[T], &[T]),
) {
    let sums = sum.iter_mut().zip(product);
    for ((sum, product), (d, x)) in sums.zip(derivative.iter().zip(normed)) {
        *sum += d.to_f64();
        *product += d.to_f64() * x.to_f64();
    }
}

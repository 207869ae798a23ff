//! From data vectors to embeddings.

use std::ops::Range;

use rayon::prelude::*;

use super::dropout::{Draws, Dropout, Share};
use super::factor::Factor;
use super::infer::Statistics;
use super::input::{Batch, PRODUCT_ROWS};
use super::layout::{Layer, Network};
use super::scratch::{Lines, Scratch};
use super::strip::{self, Normalisation, padded};
use linkproof_numeric::real::{Pieces, Real, View, add_scaled, dot_f64};

/// Added to a variance before its root is taken.
const EPSILON: f64 = 1e-5;

/// Strips of a layer that a product reads at once: its sums stay in registers
/// meanwhile. More of them would drive each other out of the cache.
const STRIPS_AT_ONCE: usize = 4;

/// What a training pass leaves behind for the way back. Its memory serves
/// again from pass to pass.
#[derive(Debug, Default)]
pub struct Pass<T> {
    pub(super) layers: Vec<LayerPass<T>>,
    pub(super) dropout: Option<Dropout>,
    /// For the strips that are being worked on.
    pub(super) scratch: Scratch<T>,
    /// For a factor that all threads read.
    pub(super) shared: Lines<T>,
}

/// What a pass leaves behind of one layer. Values stand strip after strip,
/// each row after row (for the last layer: row after row).
#[derive(Debug, Default)]
pub(super) struct LayerPass<T> {
    /// The output, after function and dropout.
    pub(super) outputs: Vec<T>,
    /// The normalised values, before scale and shift; none without
    /// normalisation.
    pub(super) normed: Vec<T>,
    /// One over the standard deviation of each normalised unit.
    pub(super) inverse_deviation: Vec<T>,
    /// The sum of the squared weights of each strip.
    squares: Vec<f64>,
    /// The key of each row's draws.
    pub(super) keys: Vec<u32>,
}

impl<T: Real> Pass<T> {
    /// The embeddings, row after row.
    pub fn embeddings(&self) -> &[T] {
        self.layers.last().map_or(&[], |layer| &layer.outputs)
    }

    /// The sum of the squared weights of all layers, which a pass reads anyway.
    pub fn squared_weights(&self) -> f64 {
        let squares = self.layers.iter().flat_map(|layer| &layer.squares);
        squares.sum()
    }
}

/// Parts of consecutive strips that belong together.
pub(super) trait StripParts: Sized + Send {
    /// The parts of the first strips and those of the others.
    fn split(self, strips: usize) -> (Self, Self);
}

/// Works on all strips in parallel, each with its own parts.
pub(super) fn each_strip<P: StripParts>(
    strips: Range<usize>,
    parts: P,
    work: &(impl Fn(usize, P) + Sync),
) {
    if strips.len() > 1 {
        let half = strips.len() / 2;
        let middle = strips.start + half;
        let (first, second) = parts.split(half);
        rayon::join(
            || each_strip(strips.start..middle, first, work),
            || each_strip(middle..strips.end, second, work),
        );
    } else if strips.len() == 1 {
        work(strips.start, parts);
    }
}

/// Splits a part that may be missing.
pub(super) fn split_part<V>(part: &mut [V], at: usize) -> (&mut [V], &mut [V]) {
    part.split_at_mut(at.min(part.len()))
}

/// What the forward pass writes of some strips.
struct Written<'a, T> {
    /// The numbers of a full strip.
    strip: usize,
    /// The units of a full strip.
    units: usize,
    outputs: &'a mut [T],
    normed: &'a mut [T],
    inverse_deviation: &'a mut [T],
    squares: &'a mut [f64],
}

impl<T: Send> StripParts for Written<'_, T> {
    fn split(self, strips: usize) -> (Self, Self) {
        let (outputs, more_outputs) = split_part(self.outputs, strips * self.strip);
        let (normed, more_normed) = split_part(self.normed, strips * self.strip);
        let (inverse, more_inverse) = split_part(self.inverse_deviation, strips * self.units);
        let (squares, more_squares) = split_part(self.squares, strips);
        let first = Written {
            outputs,
            normed,
            inverse_deviation: inverse,
            squares,
            ..self
        };
        let second = Written {
            outputs: more_outputs,
            normed: more_normed,
            inverse_deviation: more_inverse,
            squares: more_squares,
            ..self
        };
        (first, second)
    }
}

/// The values that a layer reads.
#[derive(Debug, Clone, Copy)]
pub(super) enum Below<'a, T: Real> {
    Batch(&'a Batch<'a, T>),
    Layer(&'a Layer, &'a [T]),
}

impl<T: Real> Below<'_, T> {
    /// The memory that [`Below::factor`] needs.
    fn factor_size(&self, width: usize) -> usize {
        match self {
            Below::Batch(batch) => batch.factor_size(batch.n_columns(), width),
            Below::Layer(layer, _) => Factor::<T>::size(layer.outputs, width),
        }
    }

    /// Weights as a factor of the values.
    fn factor<'f>(
        &self,
        memory: &'f mut [T],
        (weights, width): (&'f [T], usize),
        parallel: bool,
    ) -> Factor<'f, T> {
        match self {
            Below::Batch(batch) => batch.factor(memory, (weights, width), parallel),
            Below::Layer(..) => Factor::packed(memory, weights, width, parallel),
        }
    }

    /// A layer's affine map without bias: some rows, of `n`, for the weights of
    /// one strip.
    fn times(&self, n: usize, rows: Range<usize>, weights: &Factor<'_, T>, out: &mut [T]) {
        match (self, weights) {
            (Below::Batch(batch), weights) => batch.times(rows, weights, out),
            (Below::Layer(layer, values), Factor::Packed(weights)) => {
                let mut strip = 0;
                while strip < layer.n_strips() {
                    let units = layer.units(strip);
                    // Full strips several at once; the last may be narrower.
                    let full = (layer.outputs - units.start) / layer.strip;
                    let number = full.clamp(1, STRIPS_AT_ONCE);
                    let first =
                        View::strided(&values[n * units.start..], n, units.len(), units.len());
                    let values = Pieces {
                        first: first.rows(rows.clone()),
                        number,
                        distance: n * layer.strip,
                    };
                    weights.multiply_pieces(out, values, units.start, strip > 0);
                    strip += number;
                }
            }
            (Below::Layer(..), Factor::Plain(..)) => {}
        }
    }

    /// All rows of the map, for the weights of one strip.
    pub(super) fn times_strip(
        &self,
        n: usize,
        (weights, width): (&[T], usize),
        scratch: &Scratch<T>,
        out: &mut [T],
    ) {
        scratch.with(self.factor_size(width), |memory| {
            let weights = self.factor(memory, (weights, width), false);
            self.times(n, 0..n, &weights, out);
        });
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
        pass: &mut Pass<T>,
    ) {
        pass.dropout = dropout;
        self.run(params, batch, None, self.layers().len(), pass);
    }

    /// Encodes a batch by the first `depth` layers, normalised by given
    /// statistics or by itself.
    pub(super) fn run<T: Real>(
        &self,
        params: &[T],
        batch: &Batch<'_, T>,
        statistics: Option<&Statistics>,
        depth: usize,
        pass: &mut Pass<T>,
    ) {
        let n = batch.n_rows();
        pass.layers
            .resize_with(self.layers().len(), Default::default);
        let mut normed = 0;
        for (place, layer) in self.layers()[..depth].iter().enumerate() {
            let (below, here) = self.at(place, batch, &mut pass.layers);
            here.outputs.resize(n * layer.outputs, T::ZERO);
            here.squares.resize(layer.n_strips(), 0.0);
            if place + 1 == self.layers().len() {
                self.last_layer(params, layer, n, below, (here, &mut pass.shared));
                return;
            }
            here.keys.clear();
            if let Some(dropout) = pass.dropout.filter(|dropout| dropout.hidden > 0.0) {
                let keys = (0..n).map(|row| dropout.key(place + 1, batch.node(row)));
                here.keys.extend(keys);
            }
            let statistics = statistics.map(|all| (&all.mean, &all.variance));
            let statistics = match (statistics, &layer.norm) {
                (Some((mean, variance)), Some(_)) => {
                    normed += 1;
                    Some((mean[normed - 1].as_slice(), variance[normed - 1].as_slice()))
                }
                _ => None,
            };
            pass.scratch.reserve(below.factor_size(layer.strip));
            let run = (pass.dropout, &pass.scratch);
            self.hidden_layer(params, layer, below, statistics, here, run);
        }
    }

    /// What a layer reads, and what it leaves behind.
    pub(super) fn at<'p, T: Real>(
        &'p self,
        place: usize,
        batch: &'p Batch<'_, T>,
        layers: &'p mut [LayerPass<T>],
    ) -> (Below<'p, T>, &'p mut LayerPass<T>) {
        let (done, here) = layers.split_at_mut(place);
        let below = match done.last() {
            Some(done) => Below::Layer(&self.layers()[place - 1], &done.outputs),
            None => Below::Batch(batch),
        };
        (below, &mut here[0])
    }

    /// A hidden layer, strip after strip from the product to dropout.
    fn hidden_layer<T: Real>(
        &self,
        params: &[T],
        layer: &Layer,
        below: Below<'_, T>,
        statistics: Option<(&[f64], &[f64])>,
        here: &mut LayerPass<T>,
        (dropout, scratch): (Option<Dropout>, &Scratch<T>),
    ) {
        let n = here.outputs.len() / layer.outputs;
        if layer.norm.is_some() {
            here.normed.resize(n * layer.outputs, T::ZERO);
            here.inverse_deviation.resize(layer.outputs, T::ZERO);
        }
        let parts = Written {
            strip: n * layer.strip,
            units: layer.strip,
            outputs: &mut here.outputs,
            normed: &mut here.normed,
            inverse_deviation: &mut here.inverse_deviation,
            squares: &mut here.squares,
        };
        let keys = here.keys.as_slice();
        let function = layer.function;
        each_strip(
            0..layer.n_strips(),
            parts,
            &|strip, parts: Written<'_, T>| {
                let units = layer.units(strip);
                let width = units.len();
                let weights = layer.strip_weights(params, strip);
                // Read in order first, so that the product finds them in the cache.
                parts.squares.fill(dot_f64(weights, weights));
                let draws = draws(keys, dropout, units.start);
                let Some(norm) = &layer.norm else {
                    below.times_strip(n, (weights, width), scratch, parts.outputs);
                    add_bias(params, layer, units, parts.outputs);
                    return strip::activate(parts.outputs, width, function, draws);
                };
                below.times_strip(n, (weights, width), scratch, parts.normed);
                let (mean, variance) = match statistics {
                    Some((mean, variance)) => (
                        padded(&mean[units.clone()]),
                        padded(&variance[units.clone()]),
                    ),
                    None => {
                        let moments = strip::moments(parts.normed, width);
                        (moments.mean, moments.squares.map(|sum| sum / n as f64))
                    }
                };
                let place = |range: &Range<usize>| {
                    padded(&params[range.start + units.start..range.start + units.end])
                };
                let norm = Normalisation {
                    mean: mean.map(T::of),
                    inverse_deviation: variance.map(|x| T::of(1.0 / (x + EPSILON).sqrt())),
                    scale: place(&norm.scale),
                    shift: place(&norm.shift),
                };
                parts
                    .inverse_deviation
                    .copy_from_slice(&norm.inverse_deviation[..width]);
                strip::normalise_and_activate(
                    parts.normed,
                    parts.outputs,
                    width,
                    &norm,
                    function,
                    draws,
                );
            },
        );
    }

    /// The last layer, block of rows after block.
    fn last_layer<T: Real>(
        &self,
        params: &[T],
        layer: &Layer,
        n: usize,
        below: Below<'_, T>,
        (here, shared): (&mut LayerPass<T>, &mut Lines<T>),
    ) {
        let weights = &params[layer.weights.clone()];
        // The ridge of a table is estimated elsewhere: its rows are too many.
        here.squares.fill(match self.is_table() {
            true => 0.0,
            false => dot_f64(weights, weights),
        });
        let width = layer.outputs;
        let memory = shared.lend(below.factor_size(width));
        let weights = below.factor(memory, (weights, width), true);
        let blocks = here
            .outputs
            .par_chunks_mut(PRODUCT_ROWS * width)
            .enumerate();
        blocks.for_each(|(block, out)| {
            let first = block * PRODUCT_ROWS;
            below.times(n, first..first + out.len() / width, &weights, out);
            add_bias(params, layer, 0..width, out);
            strip::activate(out, width, layer.function, None);
        });
    }
}

impl Layer {
    /// The weights of a strip.
    pub(super) fn strip_weights<'p, T>(&self, params: &'p [T], strip: usize) -> &'p [T] {
        let (units, start) = (self.units(strip), self.weights.start);
        &params[start + units.start * self.inputs..start + units.end * self.inputs]
    }
}

/// The draws for a strip whose first unit is given.
pub(super) fn draws<T: Real>(
    keys: &[u32],
    dropout: Option<Dropout>,
    first_unit: usize,
) -> Option<Draws<'_, T>> {
    let dropout = dropout.filter(|_| !keys.is_empty())?;
    Some(Draws {
        keys,
        first_unit: first_unit as u32,
        share: Share::new(dropout.hidden),
    })
}

pub(super) fn add_bias<T: Real>(params: &[T], layer: &Layer, units: Range<usize>, out: &mut [T]) {
    if let Some(bias) = &layer.bias {
        let bias = &params[bias.start + units.start..bias.start + units.end];
        for row in out.chunks_exact_mut(bias.len()) {
            add_scaled(row, T::ONE, bias);
        }
    }
}

//! Networks on the card, forward and backward. Products are those of linear maps; what is
//! between them is `kernels/network.cu`.

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{DeviceRepr, LaunchConfig};
use linkproof_method::engine::encoder::{Dropout, Layer, Network};
use linkproof_method::error::Result;
use linkproof_method::params::Activation;

use crate::card::{Place, blocks, over};
use crate::compile::{Kind, Variant};
use crate::memory::Buffer;
use crate::pass::Number;
use crate::vectors::{Encoder, Numbers, dense_columns, dense_rows, launch};

/// What a training pass leaves out of a layer, for kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Draws {
    start: u64,
    kept: f64,
    layer: u32,
    threshold: u32,
    drops: i32,
}

// SAFETY: plain numbers in the layout of C, as the kernels declare them.
unsafe impl DeviceRepr for Draws {}

impl Draws {
    /// The draws of a layer, with layer 0 for data vectors.
    pub fn new(dropout: Option<Dropout>, layer: usize) -> Draws {
        let Some(dropout) = dropout else {
            return Draws::default();
        };
        let share = match layer {
            0 => dropout.input,
            _ => dropout.hidden,
        };
        Draws {
            start: dropout.seed ^ dropout.step.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            kept: 1.0 / (1.0 - share),
            layer: layer as u32,
            threshold: (share * 4_294_967_296.0) as u32,
            drops: i32::from(share > 0.0),
        }
    }

    /// Whether anything is left out.
    pub fn drops(&self) -> bool {
        self.drops != 0
    }
}

/// The values of a layer, for kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Shape {
    rows: u32,
    units: u32,
    width: u32,
    function: i32,
}

// SAFETY: likewise.
unsafe impl DeviceRepr for Shape {}

/// What a pass leaves behind of a layer.
#[derive(Debug)]
struct Passed<T> {
    /// Before the function; normalised where the layer is.
    values: Buffer<T>,
    /// After it. The last layer's are the rows of the view.
    outputs: Buffer<T>,
    mean: Buffer<T>,
    inverse: Buffer<T>,
}

/// A network, and the memory of its passes.
#[derive(Debug)]
pub struct Net<T: Number> {
    layers: Vec<Layer>,
    passed: Vec<Passed<T>>,
    weights: Buffer<T>,
    slopes: [Buffer<T>; 2],
}

/// The kernels between products.
pub fn kernels<T: Number>() -> Variant {
    Variant {
        kind: Kind::Network,
        ..Variant::plain(T::NAME)
    }
}

fn bytes<T>(count: usize) -> u64 {
    (count * size_of::<T>()) as u64
}

/// A block for 32 units.
fn by_units(units: usize) -> LaunchConfig {
    blocks(units.div_ceil(32), 1024)
}

impl<T: Number> Net<T> {
    /// Whether a network can be computed here.
    pub fn serves(network: &Network) -> bool {
        network
            .layers()
            .iter()
            .all(|layer| function(layer).is_some())
    }

    /// No memory is taken yet.
    pub fn new(network: &Network) -> Net<T> {
        let passed = |_: &Layer| Passed {
            values: Buffer::default(),
            outputs: Buffer::default(),
            mean: Buffer::default(),
            inverse: Buffer::default(),
        };
        Net {
            layers: network.layers().to_vec(),
            passed: network.layers().iter().map(passed).collect(),
            weights: Buffer::default(),
            slopes: [Buffer::default(), Buffer::default()],
        }
    }

    /// Computes the embeddings of a view, normalised by all of its rows.
    pub fn forward(
        &mut self,
        on: &Place,
        products: Variant,
        x: &Encoder<T>,
        numbers: Numbers,
        dropout: Option<Dropout>,
    ) -> Result<()> {
        let kernels = kernels::<T>();
        let count = numbers.count;
        for place in 0..self.layers.len() {
            let weights = self.plain_weights(on, place, numbers.weights, false)?;
            let layer = &self.layers[place];
            let is_last = place + 1 == self.layers.len();
            let (below, here) = self.passed.split_at_mut(place);
            let Some(passed) = here.first_mut() else {
                continue;
            };
            let size = count * layer.outputs;
            passed.values.room(on, size)?;
            let values = passed.values.address(on);
            let product = Numbers {
                weights,
                rows: values,
                dim: layer.outputs,
                width: layer.outputs,
                ..numbers
            };
            match below.last() {
                None => x.forward(on, products, product)?,
                Some(below) => {
                    let from = below.outputs.address(on);
                    dense_rows(on, products, (from, layer.inputs), product)?;
                }
            }
            let (rows, units) = (count as u32, layer.outputs as u32);
            let at = |start: usize| numbers.weights + bytes::<T>(start);
            let (mut mean, mut inverse, mut scale) = (0, 0, 0);
            let mut shift = layer.bias.as_ref().map_or(0, |bias| at(bias.start));
            if let Some(norm) = &layer.norm {
                passed.mean.room(on, layer.outputs)?;
                passed.inverse.room(on, layer.outputs)?;
                (mean, inverse) = (passed.mean.address(on), passed.inverse.address(on));
                (scale, shift) = (at(norm.scale.start), at(norm.shift.start));
                launch!(
                    on, kernels, "moments", by_units(layer.outputs);
                    &values, &rows, &units, &mean, &inverse
                )?;
            }
            let (outputs, width) = match is_last {
                true => (numbers.rows, numbers.width),
                false => {
                    passed.outputs.room(on, size)?;
                    (passed.outputs.address(on), layer.outputs)
                }
            };
            let shape = shape(layer, count, width);
            let drop = self.drop(place, dropout);
            launch!(
                on, kernels, "activate", over(size);
                &values, &outputs, &shape, &mean, &inverse, &scale, &shift, &drop
            )?;
        }
        Ok(())
    }

    /// Writes `inverse` times the derivative in the view's parameters, and the ridge's,
    /// from the derivative `slopes` in its rows, which the last forward pass wrote.
    pub fn backward(
        &mut self,
        on: &Place,
        products: Variant,
        x: &Encoder<T>,
        (numbers, dropout): (Numbers, Option<Dropout>),
        (slopes, inverse, ridge): (CUdeviceptr, f64, f64),
        (parts, out): (&mut Buffer<T>, CUdeviceptr),
    ) -> Result<()> {
        let (count, rows) = (numbers.count, numbers.count as u32);
        let (dim, width) = (numbers.dim as u32, numbers.width as u32);
        let widest = self.layers.iter().map(|layer| layer.outputs).max();
        for memory in &mut self.slopes {
            memory.room(on, count * widest.unwrap_or(0))?;
        }
        let [mut derivative, mut next] = self.slopes.each_ref().map(|it| it.address(on));
        launch!(
            on, kernels::<T>(), "take_slopes", over(count * numbers.dim);
            &slopes, &rows, &dim, &width, &inverse, &derivative
        )?;
        for place in (0..self.layers.len()).rev() {
            self.through(on, place, (numbers, dropout), derivative, out)?;
            let layer = &self.layers[place];
            let product = Numbers {
                rows: derivative,
                dim: layer.outputs,
                width: layer.outputs,
                ..numbers
            };
            let n_parts = match place.checked_sub(1) {
                None => x.columns(on, products, product, parts)?,
                Some(below) => {
                    let from = self.passed[below].outputs.address(on);
                    dense_columns(on, products, (from, layer.inputs), product, parts)?
                }
            };
            let (inputs, units, strip) = (
                layer.inputs as u32,
                layer.outputs as u32,
                layer.strip as u32,
            );
            let start = bytes::<T>(layer.weights.start);
            let (from, to) = (parts.address(on), out + start);
            let weights = numbers.weights + start;
            launch!(
                on, kernels::<T>(), "finish_layer", over(layer.inputs * layer.outputs);
                &from, &n_parts, &inputs, &units, &strip, &ridge, &weights, &to
            )?;
            if place > 0 {
                let (inner, dim) = (layer.outputs, layer.inputs);
                let below = Numbers {
                    weights: self.plain_weights(on, place, numbers.weights, true)?,
                    rows: next,
                    dim,
                    width: dim,
                    ..numbers
                };
                dense_rows(on, products, (derivative, inner), below)?;
                (derivative, next) = (next, derivative);
            }
        }
        Ok(())
    }

    /// Turns the derivative in a layer's outputs into that in its product, and writes
    /// those in its biases or norms.
    fn through(
        &self,
        on: &Place,
        place: usize,
        (numbers, dropout): (Numbers, Option<Dropout>),
        derivative: CUdeviceptr,
        out: CUdeviceptr,
    ) -> Result<()> {
        let kernels = kernels::<T>();
        let (layer, passed) = (&self.layers[place], &self.passed[place]);
        let (outputs, width) = match place + 1 == self.layers.len() {
            true => (numbers.rows, numbers.width),
            false => (passed.outputs.address(on), layer.outputs),
        };
        let (count, size) = (numbers.count, numbers.count * layer.outputs);
        let (shape, drop) = (shape(layer, count, width), self.drop(place, dropout));
        if layer.function.is_some() || drop.drops() {
            launch!(
                on, kernels, "through_function", over(size);
                &derivative, &outputs, &shape, &drop
            )?;
        }
        let (rows, units) = (count as u32, layer.outputs as u32);
        if let Some(norm) = &layer.norm {
            let sum = out + bytes::<T>(norm.shift.start);
            let product = out + bytes::<T>(norm.scale.start);
            let scale = numbers.weights + bytes::<T>(norm.scale.start);
            let normed = passed.values.address(on);
            let inverse = passed.inverse.address(on);
            launch!(
                on, kernels, "unit_sums", by_units(layer.outputs);
                &derivative, &normed, &rows, &units, &sum, &product
            )?;
            launch!(
                on, kernels, "through_norm", over(size);
                &derivative, &normed, &rows, &units, &scale, &inverse, &sum, &product
            )?;
        } else if let Some(bias) = &layer.bias {
            let (nothing, sum) = (0u64, out + bytes::<T>(bias.start));
            launch!(
                on, kernels, "unit_sums", by_units(layer.outputs);
                &derivative, &nothing, &rows, &units, &sum, &nothing
            )?;
        }
        Ok(())
    }

    /// What a layer leaves out; the last one nothing.
    fn drop(&self, place: usize, dropout: Option<Dropout>) -> Draws {
        Draws::new(dropout.filter(|_| place + 1 < self.layers.len()), place + 1)
    }

    /// Where the weights of a layer stand row after row, or transposed.
    fn plain_weights(
        &mut self,
        on: &Place,
        place: usize,
        params: CUdeviceptr,
        transposed: bool,
    ) -> Result<CUdeviceptr> {
        let layer = &self.layers[place];
        let from = params + bytes::<T>(layer.weights.start);
        if layer.strip >= layer.outputs && !transposed {
            return Ok(from);
        }
        let size = layer.inputs * layer.outputs;
        self.weights.room(on, size)?;
        let to = self.weights.address(on);
        let (inputs, units) = (layer.inputs as u32, layer.outputs as u32);
        let (strip, transposed) = (layer.strip as u32, i32::from(transposed));
        launch!(
            on, kernels::<T>(), "unstrip", over(size);
            &from, &inputs, &units, &strip, &transposed, &to
        )?;
        Ok(to)
    }
}

fn shape(layer: &Layer, rows: usize, width: usize) -> Shape {
    Shape {
        rows: rows as u32,
        units: layer.outputs as u32,
        width: width as u32,
        function: function(layer).unwrap_or(0),
    }
}

/// The number of a layer's function in the kernels, if they have it.
fn function(layer: &Layer) -> Option<i32> {
    match layer.function {
        None => Some(0),
        Some(Activation::Tanh) => Some(1),
        Some(Activation::Relu) => Some(2),
        Some(_) => None,
    }
}

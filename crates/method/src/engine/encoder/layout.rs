//! The shape of an encoder and the places of its weights.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::params::{Activation, Encoder, EncoderKind, LayerSpec, Shift};

/// The shape of an encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkSpec {
    /// The kind of map and its settings.
    #[serde(flatten)]
    pub encoder: Encoder,
    /// The dimension of a data vector; for a table, the number of nodes.
    pub inputs: usize,
    /// The dimension of the embedding.
    pub outputs: usize,
}

impl NetworkSpec {
    /// The layers, first to last.
    pub fn layers(&self) -> Vec<LayerSpec> {
        self.encoder.layers(self.outputs)
    }
}

/// The scale and shift of a batch normalisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Norm {
    /// The places of the scales.
    pub scale: Range<usize>,
    /// The places of the shifts.
    pub shift: Range<usize>,
}

/// Units of a hidden layer that are worked on together. Everything up to the
/// activation is a matter of single units, so a strip of them passes through
/// all of it while it stays in a core's cache; and this many accumulators stay
/// in registers.
pub(super) const STRIP: usize = 32;

/// One affine map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The width of what comes in.
    pub inputs: usize,
    /// The width of what goes out.
    pub outputs: usize,
    /// The units of a strip: the whole width for the last layer.
    pub strip: usize,
    /// The places of the weights: strip after strip, each `inputs` rows of as
    /// many numbers as the strip has units.
    pub weights: Range<usize>,
    /// The places of the biases. A normalised layer has none: its shift serves.
    pub bias: Option<Range<usize>>,
    /// The places of the normalisation.
    pub norm: Option<Norm>,
    /// The function at the end.
    pub function: Option<Activation>,
}

impl Layer {
    /// The number of strips.
    pub(super) fn n_strips(&self) -> usize {
        self.outputs.div_ceil(self.strip)
    }

    /// The units of a strip.
    pub(super) fn units(&self, strip: usize) -> Range<usize> {
        strip * self.strip..self.outputs.min((strip + 1) * self.strip)
    }

    /// The weights row after row, `inputs x outputs`, from their strips.
    pub fn row_major<V: Copy>(&self, strips: &[V]) -> Vec<V> {
        let mut rows = Vec::with_capacity(strips.len());
        for input in 0..self.inputs {
            for strip in 0..self.n_strips() {
                let units = self.units(strip);
                let start = units.start * self.inputs + input * units.len();
                rows.extend_from_slice(&strips[start..start + units.len()]);
            }
        }
        rows
    }

    /// The weights strip after strip, from their rows.
    pub fn in_strips<V: Copy>(&self, rows: &[V]) -> Vec<V> {
        let mut strips = Vec::with_capacity(rows.len());
        for strip in 0..self.n_strips() {
            let units = self.units(strip);
            for row in rows.chunks_exact(self.outputs) {
                strips.extend_from_slice(&row[units.clone()]);
            }
        }
        strips
    }
}

/// An encoder's layers, laid out in a flat vector of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    spec: NetworkSpec,
    layers: Vec<Layer>,
    n_params: usize,
}

impl Network {
    /// Lays a network out.
    pub fn new(spec: NetworkSpec) -> Network {
        let layers = spec.layers();
        Network::of_layers(spec, &layers)
    }

    pub(super) fn of_layers(spec: NetworkSpec, specs: &[LayerSpec]) -> Network {
        let mut layers = Vec::new();
        let mut next = 0;
        let mut take = |count: usize| {
            next += count;
            next - count..next
        };
        let mut inputs = spec.inputs;
        for (place, layer) in specs.iter().enumerate() {
            let (outputs, is_hidden) = (layer.outputs, place + 1 < specs.len());
            let normed = layer.shift == Shift::Norm && is_hidden;
            layers.push(Layer {
                inputs,
                outputs,
                strip: if is_hidden { STRIP } else { outputs },
                weights: take(inputs * outputs),
                bias: (layer.shift != Shift::None && !normed).then(|| take(outputs)),
                norm: normed.then(|| Norm {
                    scale: take(outputs),
                    shift: take(outputs),
                }),
                function: layer.function,
            });
            inputs = outputs;
        }
        Network {
            n_params: next,
            layers,
            spec,
        }
    }

    /// The shape.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// The layers, first to last.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The number of parameters.
    pub fn n_params(&self) -> usize {
        self.n_params
    }

    /// The dimension of the embedding.
    pub fn outputs(&self) -> usize {
        self.spec.outputs
    }

    /// Whether each node has a free vector.
    pub fn is_table(&self) -> bool {
        self.spec.encoder.kind == EncoderKind::Table
    }

    /// How far Adam moves each weight with a step. It moves all of a unit's inputs at
    /// once: the wider a layer, the shorter the step.
    pub fn rate(&self) -> f64 {
        let widest = self.layers.iter().skip(1).map(|layer| layer.inputs).max();
        widest.map_or(1e-3, |width| (0.2 / width as f64).min(1e-3))
    }

    /// Whether it is one matrix.
    pub fn is_linear(&self) -> bool {
        let is_matrix = |only: &Layer| only.bias.is_none() && only.function.is_none();
        !self.is_table() && matches!(&self.layers[..], [only] if is_matrix(only))
    }
}

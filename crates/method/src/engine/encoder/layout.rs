//! The shape of an encoder and the places of its weights.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::params::{Activation, Encoder, EncoderKind, OutputActivation, Params};

/// The shape of an encoder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkSpec {
    /// Linear, MLP or table.
    pub kind: EncoderKind,
    /// The dimension of a data vector; for a table, the number of nodes.
    pub inputs: usize,
    /// The widths of the hidden layers (MLP only).
    pub hidden: Vec<usize>,
    /// The dimension of the embedding.
    pub outputs: usize,
    /// The function after a hidden layer.
    pub activation: Activation,
    /// The function after the last layer.
    pub output_activation: OutputActivation,
    /// Batch normalisation before each hidden activation.
    pub batch_norm: bool,
}

impl NetworkSpec {
    /// The shape of an encoder with so many inputs and outputs. What a map has no use
    /// for stands in model folders at its default.
    pub fn of(encoder: &Encoder, inputs: usize, outputs: usize) -> NetworkSpec {
        let unused = Params::default();
        let mut spec = NetworkSpec {
            kind: encoder.kind(),
            inputs,
            hidden: unused.hidden,
            outputs,
            activation: unused.activation,
            output_activation: unused.output_activation,
            batch_norm: unused.batch_norm,
        };
        if let Encoder::Mlp {
            hidden,
            activation,
            output_activation,
            batch_norm,
            ..
        } = encoder
        {
            spec.hidden.clone_from(hidden);
            spec.activation = *activation;
            spec.output_activation = *output_activation;
            spec.batch_norm = *batch_norm;
        }
        spec
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    spec: NetworkSpec,
    layers: Vec<Layer>,
    n_params: usize,
}

impl Network {
    /// Lays a network out.
    pub fn new(spec: NetworkSpec) -> Network {
        let hidden: &[usize] = match spec.kind {
            EncoderKind::Mlp => &spec.hidden,
            EncoderKind::Linear | EncoderKind::Table => &[],
        };
        let mut layers = Vec::new();
        let mut next = 0;
        let mut take = |count: usize| {
            next += count;
            next - count..next
        };
        let mut inputs = spec.inputs;
        for (place, &outputs) in hidden.iter().chain([&spec.outputs]).enumerate() {
            let is_hidden = place < hidden.len();
            let normed = spec.batch_norm && is_hidden;
            layers.push(Layer {
                inputs,
                outputs,
                strip: if is_hidden { STRIP } else { outputs },
                weights: take(inputs * outputs),
                bias: (spec.kind == EncoderKind::Mlp && !normed).then(|| take(outputs)),
                norm: normed.then(|| Norm {
                    scale: take(outputs),
                    shift: take(outputs),
                }),
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
        self.spec.kind == EncoderKind::Table
    }

    /// The widths of the normalised layers.
    pub fn normed_widths(&self) -> Vec<usize> {
        self.layers
            .iter()
            .filter(|layer| layer.norm.is_some())
            .map(|layer| layer.outputs)
            .collect()
    }
}

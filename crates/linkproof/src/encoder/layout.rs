//! The shape of an encoder and the places of its weights.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::params::{Activation, EncoderKind, OutputActivation};

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

/// The scale and shift of a batch normalisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Norm {
    /// The places of the scales.
    pub scale: Range<usize>,
    /// The places of the shifts.
    pub shift: Range<usize>,
}

/// One affine map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The width of what comes in.
    pub inputs: usize,
    /// The width of what goes out.
    pub outputs: usize,
    /// The places of the weights, `inputs x outputs`.
    pub weights: Range<usize>,
    /// The places of the biases. A normalised layer has none: its shift serves.
    pub bias: Option<Range<usize>>,
    /// The places of the normalisation.
    pub norm: Option<Norm>,
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
            let normed = spec.batch_norm && place < hidden.len();
            layers.push(Layer {
                inputs,
                outputs,
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

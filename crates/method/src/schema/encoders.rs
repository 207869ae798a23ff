//! The encoders: each is a kind, the settings that it reads, and its layers.

use serde::{Deserialize, Serialize};

use super::value::choice;
use super::{Activation, EncoderSettings, OutputActivation, Param, Params};

choice!(
    /// The kind of map from data vectors to embeddings ([example](crate::params)).
    #[non_exhaustive]
    EncoderKind {
        /// A matrix.
        Linear = "linear",
        /// A multilayer perceptron.
        Mlp = "mlp",
        /// One free vector a node.
        Table = "table",
    }
);

impl EncoderKind {
    /// The settings that it reads.
    pub fn settings(self) -> &'static [Param] {
        match self {
            EncoderKind::Linear | EncoderKind::Table => &[],
            EncoderKind::Mlp => &[
                Param::Hidden,
                Param::Activation,
                Param::OutputActivation,
                Param::BatchNorm,
                Param::Dropout,
            ],
        }
    }

    /// Whether it maps data vectors; otherwise each node has a vector of its own.
    pub fn reads_vectors(self) -> bool {
        self != EncoderKind::Table
    }
}

/// One layer of an encoder: a matrix and what follows it ([example](crate::params)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerSpec {
    /// The width of what goes out.
    pub outputs: usize,
    /// What becomes of the product.
    pub shift: Shift,
    /// The function at the end.
    pub function: Option<Activation>,
}

/// What becomes of the product of a layer before its function ([example](crate::params)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// Nothing.
    None,
    /// A bias is added.
    Bias,
    /// Each unit is normalised, scaled and shifted; in the last layer, a bias is added.
    Norm,
}

/// A map from data vectors to embeddings ([example](crate::params)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    /// The kind of map.
    pub kind: EncoderKind,
    /// The settings that it reads; the others stand at their defaults.
    #[serde(flatten)]
    pub settings: EncoderSettings,
}

impl Encoder {
    /// An encoder with its part of the settings.
    pub fn new(kind: EncoderKind, params: &Params) -> Encoder {
        let settings = EncoderSettings::of(&params.only(kind.settings()));
        Encoder { kind, settings }
    }

    /// The layers, first to last, that end in so many outputs.
    pub fn layers(&self, outputs: usize) -> Vec<LayerSpec> {
        let settings = &self.settings;
        let matrix = LayerSpec {
            outputs,
            shift: Shift::None,
            function: None,
        };
        match self.kind {
            EncoderKind::Linear | EncoderKind::Table => vec![matrix],
            EncoderKind::Mlp => {
                let hidden = settings.hidden.iter().map(|&outputs| LayerSpec {
                    outputs,
                    shift: match settings.batch_norm {
                        true => Shift::Norm,
                        false => Shift::Bias,
                    },
                    function: Some(settings.activation),
                });
                let last = LayerSpec {
                    shift: Shift::Bias,
                    function: match settings.output_activation {
                        OutputActivation::None => None,
                        OutputActivation::Tanh => Some(Activation::Tanh),
                    },
                    ..matrix
                };
                hidden.chain([last]).collect()
            }
        }
    }
}

impl Default for EncoderSettings {
    fn default() -> Self {
        EncoderSettings::of(&Params::default())
    }
}

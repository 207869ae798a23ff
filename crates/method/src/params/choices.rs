//! The choices among the settings, by their names, and the encoders.

use serde::{Deserialize, Serialize};

use super::Mlp;
use crate::choice::choice;

choice!(
    /// What becomes of the link weights before the fit.
    #[non_exhaustive]
    WeightTransform {
        /// Nothing.
        AsIs = "asis",
        /// Every link weighs 1.
        Binary = "binary",
        /// `log(1 + w)`.
        Log1p = "log1p",
    }
);
choice!(
    /// The function after a hidden layer.
    #[non_exhaustive]
    Activation {
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// `max(x, 0)`.
        Relu = "relu",
    }
);
choice!(
    /// The function after the last layer.
    #[non_exhaustive]
    OutputActivation {
        /// Nothing.
        None = "none",
        /// Hyperbolic tangent.
        Tanh = "tanh",
    }
);
choice!(
    /// How the similarity of two nodes is made of their embeddings.
    #[non_exhaustive]
    Similarity {
        /// The inner product: like attracts like.
        Inner = "inner",
        /// An inner product that counts some dimensions as negative: there unlike
        /// attracts unlike.
        Signed = "signed",
    }
);
choice!(
    /// What becomes of each data vector before the fit.
    #[non_exhaustive]
    Normalize {
        /// Nothing.
        None = "none",
        /// Divided by its length.
        L2 = "l2",
    }
);
choice!(
    /// Whether a step looks at all pairs or at a sample.
    #[non_exhaustive]
    SolverKind {
        /// All pairs, every step.
        Exact = "exact",
        /// A sample of pairs, another one each step.
        Sgd = "sgd",
    }
);
choice!(
    /// How a gradient becomes a step.
    #[non_exhaustive]
    OptimizerKind {
        /// Limited-memory BFGS with a strong Wolfe line search.
        Lbfgs = "lbfgs",
        /// Adam.
        Adam = "adam",
        /// Gradient steps with momentum.
        Sgd = "sgd",
    }
);
choice!(
    /// How the stochastic solver draws pairs.
    #[non_exhaustive]
    Sampler {
        /// All pairs within a block of nodes.
        Block = "block",
        /// Links and pairs one by one, as in the paper.
        Pairs = "pairs",
    }
);
choice!(
    /// The precision of the arithmetic.
    Precision {
        /// Single.
        F32 = "f32",
        /// Double.
        F64 = "f64",
    }
);
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
    /// The settings of an mlp; those of other kinds stand at their defaults.
    #[serde(flatten)]
    pub mlp: Mlp,
}

impl Encoder {
    /// An encoder with its part of the settings.
    pub fn new(kind: EncoderKind, mlp: &Mlp) -> Encoder {
        let mlp = match kind {
            EncoderKind::Mlp => mlp.clone(),
            EncoderKind::Linear | EncoderKind::Table => Mlp::default(),
        };
        Encoder { kind, mlp }
    }

    /// The layers, first to last, that end in so many outputs.
    pub fn layers(&self, outputs: usize) -> Vec<LayerSpec> {
        let mlp = &self.mlp;
        let matrix = LayerSpec {
            outputs,
            shift: Shift::None,
            function: None,
        };
        match self.kind {
            EncoderKind::Linear | EncoderKind::Table => vec![matrix],
            EncoderKind::Mlp => {
                let hidden = mlp.hidden.iter().map(|&outputs| LayerSpec {
                    outputs,
                    shift: if mlp.batch_norm {
                        Shift::Norm
                    } else {
                        Shift::Bias
                    },
                    function: Some(mlp.activation),
                });
                let last = LayerSpec {
                    shift: Shift::Bias,
                    function: match mlp.output_activation {
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

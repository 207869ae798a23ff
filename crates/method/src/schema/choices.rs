//! The choices among the settings, by their names.

use super::value::choice;

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

//! The choices among the settings, by their names.

/// A closed set of names.
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every choice.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The name used in files and on the command line.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> std::result::Result<Self, String> {
                match text {
                    $($text => Ok($name::$variant),)+
                    _ => Err(format!("expected {}", $crate::schema::any_of(&[$($text),+]))),
                }
            }
        }

        impl $crate::schema::Value for $name {
            const KIND: $crate::schema::Kind = $crate::schema::Kind::Choice(&[$($text),+]);
            fn read(text: &str) -> std::result::Result<Self, String> {
                text.parse()
            }
            fn show(&self) -> String {
                self.name().to_owned()
            }
        }
    };
}

pub use choice;

choice!(
    /// How a fit judges the difference between links and expected weights.
    #[non_exhaustive]
    ScoreKind {
        /// The moment beta-score (EMBS).
        Moment = "moment",
        /// The probability beta-score.
        Probability = "probability",
        /// The Poisson likelihood, the limit of both at beta 0.
        Likelihood = "likelihood",
    }
);
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
    /// The kind of map from data vectors to embeddings.
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

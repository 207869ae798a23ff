//! The settings: a field for each, with its place in a group, its help and its default.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[cfg(feature = "clap")]
use super::typed::{open_real, open_whole, real, view_pairs, whole};
use super::{
    Activation, EncoderKind, Normalize, OptimizerKind, OutputActivation, Precision, Sampler,
    ScoreKind, Similarity, SolverKind, WeightTransform,
};
use linkproof_numeric::math;

/// A value that may be left open; on a command line and in files of settings that is
/// written `auto`.
pub type Open<T> = Option<T>;

/// The heading of settings of the solver.
#[cfg(feature = "clap")]
const SOLVER: &str = "How it is fitted";

/// The settings of a fit. `None` means: chosen to fit the data and the other settings;
/// `fit.json` records what was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
#[cfg_attr(
    feature = "clap",
    derive(clap::Args),
    command(next_help_heading = "What is fitted")
)]
pub struct Params {
    /// Dimension of the embedding
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", value_parser = whole))]
    pub dim: usize,
    /// How links are compared with expected weights
    #[cfg_attr(feature = "clap", arg(long, value_name = "SCORE"))]
    pub score: ScoreKind,
    /// Exponent of the robust scores; 0 is the likelihood
    #[cfg_attr(feature = "clap", arg(long, value_name = "B", value_parser = real))]
    pub beta: f64,
    /// Weight of the squared encoder weights against the sum over pairs
    /// [default: 2; a robust fit chooses it]
    #[cfg_attr(feature = "clap", arg(long, value_name = "R", value_parser = open_real))]
    pub ridge: Open<f64>,
    /// Transform of the link weights
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOW"))]
    pub weights: WeightTransform,
    /// How embeddings make a similarity; signed: unlike nodes may attract each other
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOW"))]
    pub similarity: Similarity,
    /// Share of the dimensions that a signed similarity counts as negative
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", value_parser = real))]
    pub negative_share: f64,
    /// An offset for each node: popular nodes need no long embeddings
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
            default_missing_value = "true", action = clap::ArgAction::Set)
    )]
    pub offsets: bool,
    /// Map from data vectors to embeddings; none: linear with data vectors, else a table
    #[cfg_attr(feature = "clap", arg(skip))]
    pub encoder: Option<EncoderKind>,
    /// The encoders of single views
    #[cfg_attr(feature = "clap", arg(skip))]
    pub view_encoders: BTreeMap<String, EncoderKind>,
    /// Pairs of views that take part, as a:b,c:d [default: those with a link]
    #[cfg_attr(feature = "clap", arg(long, value_name = "PAIRS", value_parser = view_pairs))]
    pub view_pairs: Open<Vec<(String, String)>>,
    /// Probability that an entry of a data vector is dropped in training
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = real))]
    pub input_dropout: f64,
    /// Normalisation of each data vector
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOW"))]
    pub normalize: Normalize,
    /// How often data vectors are averaged over the normalised links
    #[cfg_attr(feature = "clap", arg(long, value_name = "H", value_parser = whole))]
    pub propagate: usize,
    /// Link weights averaged over walks of up to this length; 0: as they are
    #[cfg_attr(feature = "clap", arg(long, value_name = "H", value_parser = whole))]
    pub walks: usize,
    /// Walks follow the weights rather than the pattern of the links
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
            default_missing_value = "true", action = clap::ArgAction::Set)
    )]
    pub walks_weighted: bool,
    /// The settings of an mlp.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub mlp: Mlp,
    /// All pairs at each step, or a sample of them [default: exact up to 20000 nodes]
    #[cfg_attr(feature = "clap", arg(long, help_heading = SOLVER, value_name = "SOLVER"))]
    pub solver: Option<SolverKind>,
    /// How a gradient becomes a step; lbfgs needs the exact solver and no dropout
    /// [default: chosen to fit]
    #[cfg_attr(feature = "clap", arg(long, help_heading = SOLVER, value_name = "OPTIMIZER"))]
    pub optimizer: Option<OptimizerKind>,
    /// Largest number of steps [default: chosen to fit]
    #[cfg_attr(
        feature = "clap",
        arg(long, help_heading = SOLVER, value_name = "N", value_parser = open_whole)
    )]
    pub steps: Open<usize>,
    /// Share of the pairs held out to decide when to stop; 0: none
    /// [default: 0.05, or 0 below 2000 links]
    #[cfg_attr(
        feature = "clap",
        arg(long, help_heading = SOLVER, value_name = "SHARE", value_parser = open_real)
    )]
    pub validation: Open<f64>,
    /// Evaluations without a better held-out score that end the fit
    #[cfg_attr(
        feature = "clap",
        arg(long, help_heading = SOLVER, value_name = "N", value_parser = whole)
    )]
    pub patience: usize,
    /// Scale of the random start; 1 makes the mean squared length of an embedding 1
    #[cfg_attr(
        feature = "clap",
        arg(long, help_heading = SOLVER, value_name = "S", value_parser = real)
    )]
    pub init_scale: f64,
    /// Precision of the arithmetic
    #[cfg_attr(feature = "clap", arg(long, help_heading = SOLVER, value_name = "P"))]
    pub precision: Precision,
    /// What a step of the sgd solver draws.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub sampling: Sampling,
    /// How a gradient becomes a step, unless lbfgs finds it.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub descent: Descent,
    /// Seed of all randomness
    #[cfg_attr(feature = "clap", arg(skip))]
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            dim: 64,
            score: ScoreKind::Moment,
            beta: 0.1,
            ridge: None,
            weights: WeightTransform::AsIs,
            similarity: Similarity::Inner,
            negative_share: 0.5,
            offsets: false,
            encoder: None,
            view_encoders: BTreeMap::new(),
            view_pairs: None,
            input_dropout: 0.0,
            normalize: Normalize::L2,
            propagate: 0,
            walks: 0,
            walks_weighted: false,
            mlp: Mlp::default(),
            solver: None,
            optimizer: None,
            steps: None,
            validation: None,
            patience: 10,
            init_scale: 1.0,
            precision: Precision::F32,
            sampling: Sampling::default(),
            descent: Descent::default(),
            seed: 0,
        }
    }
}

/// The settings of an mlp, and of no other encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(
    feature = "clap",
    derive(clap::Args),
    command(next_help_heading = "Encoder mlp")
)]
pub struct Mlp {
    /// Widths of the hidden layers of an mlp
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N[,N..]", value_delimiter = ',', value_parser = whole)
    )]
    pub hidden: Vec<usize>,
    /// Function after a hidden layer of an mlp
    #[cfg_attr(feature = "clap", arg(long, value_name = "FUNCTION"))]
    pub activation: Activation,
    /// Function after the last layer of an mlp
    #[serde(alias = "output_activation")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FUNCTION"))]
    pub output_activation: OutputActivation,
    /// Batch normalisation before each hidden activation of an mlp
    #[serde(alias = "batch_norm")]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
            default_missing_value = "true", action = clap::ArgAction::Set)
    )]
    pub batch_norm: bool,
    /// Probability that a hidden unit of an mlp is dropped in training
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = real))]
    pub dropout: f64,
}

impl Default for Mlp {
    fn default() -> Self {
        Mlp {
            hidden: vec![3000],
            activation: Activation::Tanh,
            output_activation: OutputActivation::None,
            batch_norm: false,
            dropout: 0.0,
        }
    }
}

/// What a step of the sgd solver draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(
    feature = "clap",
    derive(clap::Args),
    command(next_help_heading = "Solver sgd")
)]
pub struct Sampling {
    /// How the sgd solver draws pairs
    #[cfg_attr(feature = "clap", arg(long, value_name = "SAMPLER"))]
    pub sampler: Sampler,
    /// Links of a step of the sgd solver, m1
    /// [default: 512, more where blocks hold few links]
    #[cfg_attr(feature = "clap", arg(long, value_name = "M1", value_parser = open_whole))]
    pub link_batch: Open<usize>,
    /// Pairs of a step of the pairs sampler, m2
    #[cfg_attr(feature = "clap", arg(long, value_name = "M2", value_parser = whole))]
    pub pair_batch: usize,
    /// Nodes of a block of the block sampler [default: 1024; 4096 for tables]
    #[cfg_attr(feature = "clap", arg(long, value_name = "B", value_parser = open_whole))]
    pub block: Open<usize>,
    /// Weight of all pairs against the links under the pairs sampler [default: auto]
    #[cfg_attr(feature = "clap", arg(long, value_name = "auto|X", value_parser = open_real))]
    pub lambda: Open<f64>,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            sampler: Sampler::Block,
            link_batch: None,
            pair_batch: 512,
            block: None,
            lambda: None,
        }
    }
}

/// How gradients become steps with every optimizer but L-BFGS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(
    feature = "clap",
    derive(clap::Args),
    command(next_help_heading = "Optimizers adam and sgd")
)]
pub struct Descent {
    /// Length of the first step of adam and sgd [default: chosen to fit]
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", value_parser = open_real))]
    pub learning_rate: Open<f64>,
    /// Exponent alpha of the schedule D (1 + t/t0)^-alpha of adam and sgd
    /// [default: 0 for adam, 0.5 for sgd]
    #[cfg_attr(feature = "clap", arg(long, value_name = "A", value_parser = open_real))]
    pub schedule_alpha: Open<f64>,
    /// The t0 of the schedule
    #[cfg_attr(feature = "clap", arg(long, value_name = "T", value_parser = real))]
    pub schedule_t0: f64,
    /// Momentum of the sgd optimizer
    #[cfg_attr(feature = "clap", arg(long, value_name = "M", value_parser = real))]
    pub momentum: f64,
    /// Largest norm of a gradient; longer ones are shortened [default: none]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NORM", value_parser = open_real))]
    pub clip: Open<f64>,
    /// Radius of the ball around the start that parameters stay in [default: none]
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", value_parser = open_real))]
    pub radius: Open<f64>,
}

impl Default for Descent {
    fn default() -> Self {
        Descent {
            learning_rate: None,
            schedule_alpha: None,
            schedule_t0: 100.0,
            momentum: 0.9,
            clip: None,
            radius: None,
        }
    }
}

impl Descent {
    /// The length of step `t`, counted from 0: `D (1 + t/t0)^-alpha`. (A plan has made every
    /// open choice.)
    pub fn rate(&self, t: f64) -> f64 {
        let [first, alpha] =
            [self.learning_rate, self.schedule_alpha].map(Option::unwrap_or_default);
        first * math::pow(1.0 + t / self.schedule_t0, -alpha)
    }
}

//! The settings of a fit as typed, and how they become `linkproof::Params`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use linkproof::error::quote;
use linkproof::params::{
    Activation, EncoderKind, Normalize, OptimizerKind, OutputActivation, Precision, Sampler,
    ScoreKind, SolverKind, WeightTransform,
};
use linkproof::{Error, Params};

use crate::args::{choice, real, whole};
use crate::config;

/// Every option that is a setting of the fit. What is not given stays as in
/// the configuration file, or else as `Params::default` has it.
#[derive(Debug, Clone, Default, Args)]
pub struct SettingArgs {
    /// Settings in a TOML file, by the names of these options; the command
    /// line wins
    #[arg(long, value_name = "FILE.toml", help_heading = "Settings")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// What is fitted.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What is fitted")]
pub struct ModelArgs {
    /// Dimension of the embedding [default: 64]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = whole)]
    dim: Option<usize>,
    /// How links are compared with expected weights [default: moment]
    #[arg(long, value_parser = choice!(ScoreKind))]
    pub score: Option<ScoreKind>,
    /// Exponent of the robust scores; 0 is the likelihood [default: 0.1]
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = real)]
    pub beta: Option<f64>,
    /// Transform of the link weights [default: asis]
    #[arg(long, value_parser = choice!(WeightTransform))]
    weights: Option<WeightTransform>,
    /// Map from data vectors to embeddings: linear, mlp or table, or
    /// VIEW=KIND for one view; may be repeated [default: linear with features,
    /// table without]
    #[arg(long, value_name = "[VIEW=]KIND")]
    encoder: Vec<EncoderChoice>,
    /// Pairs of views that take part, as a:b,c:d [default: those with a link]
    #[arg(long, value_name = "PAIRS")]
    view_pairs: Option<ViewPairs>,
    /// Widths of the hidden layers of an mlp [default: 3000]
    #[arg(long, value_name = "N[,N..]", value_delimiter = ',', value_parser = whole)]
    hidden: Vec<usize>,
    /// Function after a hidden layer [default: tanh]
    #[arg(long, value_parser = choice!(Activation))]
    activation: Option<Activation>,
    /// Function after the last layer of an mlp [default: none]
    #[arg(long, value_parser = choice!(OutputActivation))]
    output_activation: Option<OutputActivation>,
    /// Batch normalisation before each hidden activation [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    batch_norm: Option<bool>,
    /// Probability with which a hidden unit is dropped in training [default: 0]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = real)]
    dropout: Option<f64>,
    /// Probability with which an entry of a data vector is dropped in training
    /// [default: 0]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = real)]
    input_dropout: Option<f64>,
    /// Normalisation of each data vector [default: l2]
    #[arg(long, value_parser = choice!(Normalize))]
    normalize: Option<Normalize>,
    /// How often data vectors are averaged over the normalised links
    /// [default: 0]
    #[arg(long, value_name = "H", allow_negative_numbers = true, value_parser = whole)]
    propagate: Option<usize>,
    /// Link weights averaged over walks of up to this length; 0: as they are
    /// [default: 0]
    #[arg(long, value_name = "H", allow_negative_numbers = true, value_parser = whole)]
    walks: Option<usize>,
    /// Walks follow the weights rather than the pattern of the links
    /// [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    walks_weighted: Option<bool>,
    /// Weight of the squared encoder weights against the sum over pairs
    /// [default: 2]
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = real)]
    pub ridge: Option<f64>,
}

/// How it is fitted.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "How it is fitted")]
pub struct SolverArgs {
    /// All pairs a step, or a sample [default: exact up to 20000 nodes]
    #[arg(long, value_parser = choice!(SolverKind))]
    solver: Option<SolverKind>,
    /// How a gradient becomes a step; lbfgs with exact only and without
    /// dropout [default: chosen to fit]
    #[arg(long, value_parser = choice!(OptimizerKind))]
    optimizer: Option<OptimizerKind>,
    /// How the sgd solver draws pairs [default: block]
    #[arg(long, value_parser = choice!(Sampler))]
    sampler: Option<Sampler>,
    /// Largest number of steps [default: chosen to fit]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    steps: Option<usize>,
    /// Share of the pairs held out to decide when to stop; 0: none
    /// [default: 0.05, or 0 below 2000 links]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = real)]
    validation: Option<f64>,
    /// Evaluations without a better held-out score that end the fit
    /// [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    patience: Option<usize>,
    /// Length of the first step [default: chosen to fit]
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = real)]
    learning_rate: Option<f64>,
    /// Exponent alpha of the schedule D (1 + t/t0)^-alpha
    /// [default: 0 for adam, 0.5 for sgd]
    #[arg(long, value_name = "A", allow_negative_numbers = true, value_parser = real)]
    schedule_alpha: Option<f64>,
    /// The t0 of the schedule [default: 100]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = real)]
    schedule_t0: Option<f64>,
    /// Momentum of the sgd optimizer [default: 0.9]
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = real)]
    momentum: Option<f64>,
    /// Largest norm of a gradient; longer ones are shortened [default: none]
    #[arg(long, value_name = "NORM", allow_negative_numbers = true, value_parser = real)]
    clip: Option<f64>,
    /// Links of a step, m1 [default: 512, more where blocks hold few links]
    #[arg(long, value_name = "M1", allow_negative_numbers = true, value_parser = whole)]
    link_batch: Option<usize>,
    /// Pairs of a step, m2, of the pairs sampler [default: 512]
    #[arg(long, value_name = "M2", allow_negative_numbers = true, value_parser = whole)]
    pair_batch: Option<usize>,
    /// Nodes of a block of the block sampler [default: 1024; 4096 for tables]
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = whole)]
    block: Option<usize>,
    /// Weight of the all-pairs part under the pairs sampler [default: auto]
    #[arg(long, value_name = "auto|X", allow_negative_numbers = true)]
    lambda: Option<Lambda>,
    /// Radius of the ball around the start that parameters stay in
    /// [default: none]
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = real)]
    radius: Option<f64>,
    /// Scale of the random start [default: 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = real)]
    init_scale: Option<f64>,
    /// Precision of the arithmetic [default: f32]
    #[arg(long, value_parser = choice!(Precision))]
    precision: Option<Precision>,
}

/// Puts what was given in the place of what stood there.
macro_rules! put {
    ($args:expr => $params:expr; $($field:ident),+) => {
        $(if let Some(given) = $args.$field { $params.$field = given; })+
    };
}
macro_rules! put_some {
    ($args:expr => $params:expr; $($field:ident),+) => {
        $(if $args.$field.is_some() { $params.$field = $args.$field; })+
    };
}

impl SettingArgs {
    /// The settings: the configuration file first, then the command line.
    pub fn params(&self, seed: Option<u64>) -> Result<Params, Error> {
        let mut params = match &self.config {
            Some(path) => config::read(path)?,
            None => Params::default(),
        };
        self.apply(&mut params);
        if let Some(seed) = seed {
            params.seed = seed;
        }
        Ok(params)
    }

    /// The settings that were given, by the file or on the command line. Of the
    /// latter those that the robust recipe makes itself, and the ridge.
    pub fn given(&self) -> Result<Vec<Given>, Error> {
        let model = &self.model;
        let typed = [
            ("score", model.score.is_some()),
            ("beta", model.beta.is_some()),
            ("weights", model.weights.is_some()),
            ("propagate", model.propagate.is_some()),
            ("walks", model.walks.is_some()),
            ("walks-weighted", model.walks_weighted.is_some()),
            ("view-pairs", model.view_pairs.is_some()),
            ("ridge", model.ridge.is_some()),
            ("validation", self.solver.validation.is_some()),
            ("lambda", self.solver.lambda.is_some()),
        ];
        let typed = typed.into_iter().filter(|(_, given)| *given);
        let mut given: Vec<Given> = typed
            .map(|(name, _)| Given {
                name: name.to_owned(),
                place: None,
            })
            .collect();
        if let Some(path) = &self.config {
            given.extend(config::names(path)?.into_iter().map(|(name, line)| Given {
                name,
                place: Some((path.clone(), line)),
            }));
        }
        Ok(given)
    }

    /// The ridge, if it was given.
    pub fn ridge(&self, given: &[Given]) -> Result<Option<f64>, Error> {
        let is_given = given.iter().any(|given| given.name == "ridge");
        Ok(match is_given {
            true => Some(self.params(None)?.ridge),
            false => None,
        })
    }

    /// Names the file of settings in an error that one of its values made, however
    /// late that was found.
    pub fn in_config(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast() {
            Ok(error) => self.named(error).into(),
            Err(other) => other,
        }
    }

    fn named(&self, error: Error) -> Error {
        let (Some(path), Error::Param { name, .. }) = (&self.config, &error) else {
            return error;
        };
        let value = |params: &Params| serde_json::json!(params).get(*name).cloned();
        let Ok(read) = config::read(path) else {
            return error;
        };
        let mut params = read.clone();
        self.apply(&mut params);
        let stands = value(&read) != value(&Params::default()) && value(&read) == value(&params);
        match stands {
            true => config::in_file(path, error),
            false => error,
        }
    }

    /// Overrides `params` with what was typed.
    fn apply(&self, params: &mut Params) {
        let model = &self.model;
        put!(model => params; dim, score, beta, weights, activation, output_activation, batch_norm,
             dropout, input_dropout, normalize, propagate, walks, walks_weighted, ridge);
        for choice in &model.encoder {
            choice.clone().apply(params);
        }
        if let Some(pairs) = &model.view_pairs {
            params.view_pairs = Some(pairs.0.clone());
        }
        if !model.hidden.is_empty() {
            params.hidden.clone_from(&model.hidden);
        }
        let solver = &self.solver;
        put!(solver => params; sampler, patience, schedule_t0, momentum, pair_batch,
             init_scale, precision);
        put_some!(solver => params; solver, optimizer, steps, validation, learning_rate, schedule_alpha, clip,
                  link_batch, block, radius);
        if let Some(lambda) = solver.lambda {
            params.lambda = lambda.0;
        }
    }
}

/// A setting that was given, and where in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its name, that of the option.
    pub name: String,
    place: Option<(PathBuf, u64)>,
}

impl std::fmt::Display for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Some((path, line)) => write!(f, "{}, line {line}: {}", path.display(), self.name),
            None => write!(f, "--{}", self.name),
        }
    }
}

/// `KIND` for all views, or `VIEW=KIND` for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncoderChoice {
    view: Option<String>,
    kind: EncoderKind,
}

impl EncoderChoice {
    /// Puts the choice into the parameters.
    pub fn apply(self, params: &mut Params) {
        match self.view {
            Some(view) => {
                params.view_encoders.insert(view, self.kind);
            }
            None => params.encoder = Some(self.kind),
        }
    }
}

impl FromStr for EncoderChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (view, kind) = match text.rsplit_once('=') {
            Some(("", _)) => return Err("expected KIND or VIEW=KIND".to_owned()),
            Some((view, kind)) => (Some(view.to_owned()), kind),
            None => (None, text),
        };
        let kind = kind.parse()?;
        Ok(EncoderChoice { view, kind })
    }
}

/// Pairs of views as `a:b,c:d`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewPairs(pub Vec<(String, String)>);

impl FromStr for ViewPairs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pair = |text: &str| match text.split_once(':') {
            Some((a, b)) if !a.is_empty() && !b.is_empty() && !b.contains(':') => {
                Ok((a.to_owned(), b.to_owned()))
            }
            _ => Err(format!("{} is no pair of views, such as a:b", quote(text))),
        };
        let pairs: Result<_, String> = text.split(',').map(|text| pair(text.trim())).collect();
        Ok(ViewPairs(pairs?))
    }
}

/// `auto`, or a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lambda(pub Option<f64>);

impl FromStr for Lambda {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Lambda(None));
        }
        let number = text.parse();
        let number =
            number.map_err(|_| format!("{} is neither 'auto' nor a number", quote(text)))?;
        Ok(Lambda(Some(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args;
    use serde_json::Value;

    /// Every parameter is an option whose help states the default.
    #[test]
    fn help_states_the_defaults() {
        let command = SettingArgs::augment_args(clap::Command::new("fit"));
        let Ok(Value::Object(defaults)) = serde_json::to_value(Params::default()) else {
            panic!("no object")
        };
        for (name, value) in defaults {
            // The seed is an option of every command; encoders of views are
            // given by --encoder.
            if matches!(name.as_str(), "seed" | "view-encoders") {
                continue;
            }
            let is_named = |arg: &&clap::Arg| arg.get_long() == Some(name.as_str());
            let option = command.get_arguments().find(is_named);
            let help = option.and_then(clap::Arg::get_help).unwrap().to_string();
            let expected = match value {
                Value::Null => "[default: ".to_owned(),
                Value::Number(number) => format!("[default: {}]", number.as_f64().unwrap()),
                Value::String(text) => format!("[default: {text}]"),
                Value::Array(list) => format!("[default: {}]", list[0]),
                other => format!("[default: {other}]"),
            };
            assert!(help.contains(&expected), "{name}: {help}");
        }
    }
}

//! Every setting of a fit in one table: name, type, default, accepted range and
//! help. TOML files, the command line and Python all read it here, so that a new
//! setting is a row.

mod choices;
mod encoders;
pub(crate) mod value;

pub use choices::{
    Activation, Normalize, OptimizerKind, OutputActivation, Precision, Sampler, Similarity,
    SolverKind, WeightTransform,
};
pub use encoders::{Encoder, EncoderKind, LayerSpec, Shift};
pub use value::{Kind, Range, Value, any_of, choice};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::score::ScoreKind;

/// Where a front end lists a setting ([example](crate::params)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Group {
    /// Among what is fitted.
    Model,
    /// Among how it is fitted.
    Solver,
    /// Given in a way of its own.
    Apart,
}

/// What is to be known of a setting ([example](crate::params)).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Setting {
    /// What it means.
    pub help: &'static str,
    /// A word for its value.
    pub value_name: &'static str,
    /// What is done where it is left open; empty where it has a default.
    pub open: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// Whether it may be left open.
    pub optional: bool,
    /// The numbers that it accepts.
    pub range: Range,
    /// Where it is listed.
    pub group: Group,
}

macro_rules! settings {
    ($(
        $(#[doc = $help:literal])+
        $variant:ident $field:ident $name:literal : $type:ty = $default:expr;
        $range:expr; $group:ident $value_name:literal $open:literal $applies:ident
    )+) => {
        /// The settings of a fit. `None` means: chosen to fit the data and the other
        /// settings; `fit.json` records what was chosen.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Params {
            $($(#[doc = $help])+ #[serde(rename = $name)] pub $field: $type,)+
        }

        impl Default for Params {
            fn default() -> Self {
                Params { $($field: $default,)+ }
            }
        }

        /// The name of a setting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Param {
            $($(#[doc = $help])+ $variant,)+
        }

        impl Param {
            /// Every setting, in the order of [`Params`].
            pub const ALL: &'static [Param] = &[$(Param::$variant,)+];

            /// The name in files and on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Param::$variant => $name,)+ }
            }

            /// What is to be known of it.
            pub fn setting(self) -> Setting {
                match self {
                    $(Param::$variant => Setting {
                        help: concat!($($help),+).trim_start(),
                        value_name: $value_name,
                        open: $open,
                        kind: <$type as Value>::KIND,
                        optional: <$type as Value>::OPTIONAL,
                        range: $range,
                        group: Group::$group,
                    },)+
                }
            }
        }

        impl Params {
            /// Takes the value of a setting as it is written on a command line. An
            /// encoder may be written `VIEW=KIND`, for one view.
            ///
            /// # Errors
            /// What was expected.
            pub fn set(&mut self, param: Param, text: &str) -> Result<(), String> {
                if let (Param::Encoder, Some((view, kind))) = (param, text.rsplit_once('=')) {
                    if view.is_empty() {
                        return Err("expected KIND or VIEW=KIND".to_owned());
                    }
                    self.view_encoders.insert(view.to_owned(), Value::read(kind)?);
                    return Ok(());
                }
                match param {
                    $(Param::$variant => self.$field = Value::read(text)?,)+
                }
                Ok(())
            }

            /// The value of a setting, as [`Params::set`] takes it; `auto` where it
            /// is left open.
            pub fn get(&self, param: Param) -> String {
                match param { $(Param::$variant => self.$field.show(),)+ }
            }

            /// The settings of a list as they are here, all others at their default.
            fn only(&self, params: &[Param]) -> Params {
                let mut only = Params::default();
                for param in params {
                    match param { $(Param::$variant => only.$field.clone_from(&self.$field),)+ }
                }
                only
            }

            /// The numbers in the value of a setting.
            pub(crate) fn numbers(&self, param: Param) -> Vec<f64> {
                match param { $(Param::$variant => self.$field.numbers(),)+ }
            }
        }

        typed!(@ {} {} {} {} $([$($help)+] $field $type; $applies)+);
    };
}

/// The settings that apply whatever the others are, and those that encoders read.
macro_rules! typed {
    (@ {$($fields:tt)*} {$($names:ident)*} {$($of_encoders:tt)*} {$($read:ident)*}) => {
        /// The settings that mean something whatever the score and the encoders are;
        /// those that do not are inside these.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct Common { $($fields)* }

        impl Common {
            pub(crate) fn of(params: &Params) -> Common {
                Common { $($names: params.$names.clone(),)* }
            }
        }

        /// The settings that encoders read.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        #[non_exhaustive]
        pub struct EncoderSettings { $($of_encoders)* }

        impl EncoderSettings {
            fn of(params: &Params) -> EncoderSettings {
                EncoderSettings { $($read: params.$read.clone(),)* }
            }
        }
    };
    (@ {$($fields:tt)*} {$($names:ident)*} $encoders:tt $read:tt [$($help:literal)+] $field:ident $type:ty; always $($rest:tt)*) => {
        typed!(@ {$($fields)* $(#[doc = $help])+ pub $field: $type,} {$($names)* $field} $encoders $read $($rest)*);
    };
    (@ $fields:tt $names:tt {$($fields_of:tt)*} {$($read:ident)*} [$($help:literal)+] $field:ident $type:ty; encoder $($rest:tt)*) => {
        typed!(@ $fields $names {$($fields_of)* $(#[doc = $help])+ pub $field: $type,} {$($read)* $field} $($rest)*);
    };
    (@ $fields:tt $names:tt $encoders:tt $read:tt [$($help:literal)+] $field:ident $type:ty; inside $($rest:tt)*) => {
        typed!(@ $fields $names $encoders $read $($rest)*);
    };
}

const WIDTHS: Range = Range::Between(1.0, 1_048_576.0);
const ROUNDS: Range = Range::Between(0.0, 100.0);
const ONE_OR_MORE: Range = Range::AtLeast(1.0);

// Each row: the name as an enum, as a field and in files; type and default; accepted
// numbers; where it is listed, a word for its value, and what is done where it is left
// open; and whether it applies always, is read by encoders, or is inside a score.
settings! {
    /// Dimension of the embedding
    Dim dim "dim": usize = 64; Range::Between(1.0, 65_536.0); Model "K" "" always
    /// How links are compared with expected weights
    Score score "score": ScoreKind = ScoreKind::Moment; Range::Any; Model "SCORE" "" inside
    /// Exponent of the robust scores; 0 is the likelihood
    Beta beta "beta": f64 = 0.1; Range::Between(0.0, 10.0); Model "B" "" inside
    /// Transform of the link weights
    Weights weights "weights": WeightTransform = WeightTransform::AsIs; Range::Any; Model "HOW" "" always
    /// How embeddings make a similarity; signed: unlike nodes may attract each other
    Similarity similarity "similarity": Similarity = Similarity::Inner; Range::Any; Model "HOW" "" always
    /// Share of the dimensions that a signed similarity counts as negative
    NegativeShare negative_share "negative-share": f64 = 0.5; Range::Share; Model "SHARE" "" always
    /// An offset for each node: popular nodes need no long embeddings
    Offsets offsets "offsets": bool = false; Range::Any; Model "BOOL" "" always
    /// Map from data vectors to embeddings
    Encoder encoder "encoder": Option<EncoderKind> = None;
    Range::Any; Model "[VIEW=]KIND" "linear with features, table without" inside
    /// The encoders of single views
    ViewEncoders view_encoders "view-encoders": BTreeMap<String, EncoderKind> = BTreeMap::new();
    Range::Any; Apart "" "" inside
    /// Pairs of views that take part, as a:b,c:d
    ViewPairs view_pairs "view-pairs": Option<Vec<(String, String)>> = None;
    Range::Any; Model "PAIRS" "those with a link" always
    /// Widths of the hidden layers of an mlp
    Hidden hidden "hidden": Vec<usize> = vec![3000]; WIDTHS; Model "N[,N..]" "" encoder
    /// Function after a hidden layer of an mlp
    Activation activation "activation": Activation = Activation::Tanh; Range::Any; Model "FUNCTION" "" encoder
    /// Function after the last layer of an mlp
    OutputActivation output_activation "output-activation": OutputActivation = OutputActivation::None;
    Range::Any; Model "FUNCTION" "" encoder
    /// Batch normalisation before each hidden activation of an mlp
    BatchNorm batch_norm "batch-norm": bool = false; Range::Any; Model "BOOL" "" encoder
    /// Probability that a hidden unit of an mlp is dropped in training
    Dropout dropout "dropout": f64 = 0.0; Range::Share; Model "P" "" encoder
    /// Probability that an entry of a data vector is dropped in training
    InputDropout input_dropout "input-dropout": f64 = 0.0; Range::Share; Model "P" "" always
    /// Normalisation of each data vector
    Normalize normalize "normalize": Normalize = Normalize::L2; Range::Any; Model "HOW" "" always
    /// How often data vectors are averaged over the normalised links
    Propagate propagate "propagate": usize = 0; ROUNDS; Model "H" "" always
    /// All pairs at each step, or a sample of them
    Solver solver "solver": Option<SolverKind> = None;
    Range::Any; Solver "SOLVER" "exact up to 20000 nodes" always
    /// How a gradient becomes a step; lbfgs needs the exact solver and no dropout
    Optimizer optimizer "optimizer": Option<OptimizerKind> = None;
    Range::Any; Solver "OPTIMIZER" "chosen to fit" always
    /// How the sgd solver draws pairs
    Sampler sampler "sampler": Sampler = Sampler::Block; Range::Any; Solver "SAMPLER" "" always
    /// Largest number of steps
    Steps steps "steps": Option<usize> = None; ONE_OR_MORE; Solver "N" "chosen to fit" always
    /// Share of the pairs held out to decide when to stop; 0: none
    Validation validation "validation": Option<f64> = None;
    Range::Share; Solver "SHARE" "0.05, or 0 below 2000 links" always
    /// Evaluations without a better held-out score that end the fit
    Patience patience "patience": usize = 10; ONE_OR_MORE; Solver "N" "" always
    /// Link weights averaged over walks of up to this length; 0: as they are
    Walks walks "walks": usize = 0; ROUNDS; Model "H" "" always
    /// Walks follow the weights rather than the pattern of the links
    WalksWeighted walks_weighted "walks-weighted": bool = false; Range::Any; Model "BOOL" "" always
    /// Length of the first step of adam and sgd
    LearningRate learning_rate "learning-rate": Option<f64> = None;
    Range::Positive; Solver "D" "chosen to fit" always
    /// Exponent alpha of the schedule D (1 + t/t0)^-alpha of adam and sgd
    ScheduleAlpha schedule_alpha "schedule-alpha": Option<f64> = None;
    Range::Between(0.0, 1.0); Solver "A" "0 for adam, 0.5 for sgd" always
    /// The t0 of the schedule
    ScheduleT0 schedule_t0 "schedule-t0": f64 = 100.0; Range::Positive; Solver "T" "" always
    /// Momentum of the sgd optimizer
    Momentum momentum "momentum": f64 = 0.9; Range::Share; Solver "M" "" always
    /// Largest norm of a gradient; longer ones are shortened
    Clip clip "clip": Option<f64> = None; Range::Positive; Solver "NORM" "none" always
    /// Links of a step of the sgd solver, m1
    LinkBatch link_batch "link-batch": Option<usize> = None;
    ONE_OR_MORE; Solver "M1" "512, more where blocks hold few links" always
    /// Pairs of a step of the pairs sampler, m2
    PairBatch pair_batch "pair-batch": usize = 512; ONE_OR_MORE; Solver "M2" "" always
    /// Nodes of a block of the block sampler
    Block block "block": Option<usize> = None; Range::AtLeast(2.0); Solver "B" "1024; 4096 for tables" always
    /// Weight of all pairs against the links under the pairs sampler
    Lambda lambda "lambda": Option<f64> = None; Range::Positive; Solver "auto|X" "auto" always
    /// Radius of the ball around the start that parameters stay in
    Radius radius "radius": Option<f64> = None; Range::Positive; Solver "D" "none" always
    /// Weight of the squared encoder weights against the sum over pairs
    Ridge ridge "ridge": f64 = 2.0; Range::AtLeast(0.0); Model "R" "" always
    /// Scale of the random start; 1 makes the mean squared length of an embedding 1
    InitScale init_scale "init-scale": f64 = 1.0; Range::Positive; Solver "S" "" always
    /// Precision of the arithmetic
    Precision precision "precision": Precision = Precision::F32; Range::Any; Solver "P" "" always
    /// Seed of all randomness
    Seed seed "seed": u64 = 0; Range::Any; Apart "N" "" always
}

impl Param {
    /// The setting of this name.
    pub fn named(name: &str) -> Option<Param> {
        Param::ALL
            .iter()
            .copied()
            .find(|param| param.name() == name)
    }
}

impl std::fmt::Display for Param {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Setting {
    /// What is accepted, in words that follow "must be".
    pub fn accepted(&self) -> String {
        value::accepted(self.kind, self.range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for score in ScoreKind::ALL {
            assert_eq!(score.name().parse(), Ok(*score));
        }
        assert!("x".parse::<Sampler>().is_err());
        for &param in Param::ALL {
            assert_eq!(Param::named(param.name()), Some(param));
        }
    }

    #[test]
    fn every_value_is_read_as_it_is_shown() {
        let mut params = Params {
            view_pairs: Some(vec![("a".into(), "b".into()), ("b".into(), "b".into())]),
            view_encoders: [("a".into(), EncoderKind::Mlp)].into(),
            hidden: vec![30, 10],
            lambda: Some(2.5),
            ..Params::default()
        };
        for &param in Param::ALL {
            let (before, text) = (params.clone(), params.get(param));
            if param != Param::ViewEncoders || !text.is_empty() {
                params.set(param, &text).unwrap();
            }
            assert_eq!(params, before, "{param}");
        }
        params.set(Param::Encoder, "b=table").unwrap();
        assert_eq!(params.view_encoders["b"], EncoderKind::Table);
        params.set(Param::Lambda, "auto").unwrap();
        assert_eq!(params.lambda, None);
        for (param, text) in [
            (Param::Dim, "x"),
            (Param::Dim, "-1"),
            (Param::Lambda, "some"),
            (Param::Encoder, "deep"),
            (Param::Encoder, "=mlp"),
            (Param::ViewPairs, "a"),
            (Param::ViewPairs, "a:b:c"),
            (Param::BatchNorm, "maybe"),
            (Param::Hidden, "5,"),
        ] {
            assert!(params.set(param, text).is_err(), "{param} {text}");
        }
    }

    #[test]
    fn the_table_names_what_files_name() {
        let Ok(serde_json::Value::Object(all)) = serde_json::to_value(Params::default()) else {
            panic!("no object")
        };
        let names: Vec<&str> = Param::ALL.iter().map(|param| param.name()).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.iter().all(|name| all.contains_key(*name)));
        for &param in Param::ALL {
            let setting = param.setting();
            assert_eq!(setting.open.is_empty(), !setting.optional, "{param}");
        }
    }
}

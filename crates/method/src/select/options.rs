//! What a search is asked for, by a command line or by Python.

use serde::Deserialize;

use super::{Criterion, Grid, Search};
use crate::model::folds::HoldOut;
#[cfg(feature = "clap")]
use crate::params::typed::{real, whole};
use crate::params::{Params, ScoreKind};

/// The options of a search. What is left open follows the settings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(
    feature = "clap",
    derive(clap::Args),
    command(next_help_heading = "Search")
)]
pub struct SearchOptions {
    /// Scores to try [default: likelihood,probability, or the one that is given]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "S[,S..]", value_delimiter = ',', num_args = 0..=1)
    )]
    pub scores: Option<Vec<ScoreKind>>,
    /// Exponents to try [default: 0.1,0.5, or the one that is given]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "B[,B..]", value_delimiter = ',', num_args = 0..=1, value_parser = real)
    )]
    pub betas: Option<Vec<f64>>,
    /// Ridges to try [default: 0.1,0.3,1,3,10,30,100,300, or the one that is given]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "R[,R..]", value_delimiter = ',', num_args = 0..=1, value_parser = real)
    )]
    pub ridges: Option<Vec<f64>>,
    /// Dimensions to try [default: that of the settings alone]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "K[,K..]", value_delimiter = ',', num_args = 0..=1, value_parser = whole)
    )]
    pub dims: Option<Vec<usize>>,
    /// Lengths of walks to try [default: that of the settings alone]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "H[,H..]", value_delimiter = ',', num_args = 0..=1, value_parser = whole)
    )]
    pub walk_lengths: Option<Vec<usize>>,
    /// Largest numbers of steps to try [default: that of the settings alone]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N[,N..]", value_delimiter = ',', num_args = 0..=1, value_parser = whole)
    )]
    pub step_limits: Option<Vec<usize>>,
    /// Folds of the pairs, 2 to 100 [default: 5]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)
    )]
    pub folds: Option<usize>,
    /// What a fold holds out: single pairs, or nodes with all their pairs, for
    /// models that will embed unseen nodes [default: pairs]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHAT"))]
    pub hold_out: Option<HoldOut>,
    /// What candidates are compared by: rank, how well embeddings separate held-out
    /// links from non-links, without their weights; or a score of the
    /// weights of held-out pairs, SCORE or SCORE:BETA, such as probability:0.5 (the moment
    /// score rejects the right model where weights are corrupted) [default: rank]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHAT"))]
    pub criterion: Option<Criterion>,
    /// Fit every candidate on every fold; otherwise most are dropped after one or
    /// two folds
    #[cfg_attr(feature = "clap", arg(long))]
    pub exhaustive: bool,
    /// With a score as criterion: choose the simplest of the candidates within one
    /// standard error of the best, the largest ridge, then the smallest exponent
    #[cfg_attr(feature = "clap", arg(long))]
    pub one_standard_error: bool,
}

impl SearchOptions {
    /// The search around settings. Those that are given, by their names, are not searched
    /// over.
    pub fn search(&self, base: &Params, is_given: impl Fn(&str) -> bool) -> Search {
        let around = Grid::around(base);
        let score = is_given("score").then(|| vec![base.score]);
        let beta = is_given("beta").then(|| vec![base.beta]);
        let ridge = is_given("ridge").then(|| vec![base.ridge()]);
        Search {
            grid: Grid {
                scores: self.scores.clone().or(score).unwrap_or(around.scores),
                betas: self.betas.clone().or(beta).unwrap_or(around.betas),
                ridges: self.ridges.clone().or(ridge).unwrap_or(around.ridges),
                dims: self.dims.clone().unwrap_or(around.dims),
                walks: self.walk_lengths.clone().unwrap_or(around.walks),
                steps: self.step_limits.clone().unwrap_or(around.steps),
            },
            folds: self.folds.unwrap_or(5),
            hold_out: self.hold_out.unwrap_or_default(),
            criterion: self.criterion.unwrap_or_default(),
            halving: !self.exhaustive,
            one_standard_error: self.one_standard_error,
            weights: is_given("weights").then_some(base.weights),
            try_offsets: !is_given("offsets"),
            try_signed: !is_given("similarity"),
        }
    }
}

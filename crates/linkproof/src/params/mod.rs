//! Every setting of a fit, in one schema for TOML files, the command line and
//! other languages. [`Params`] is what was asked for; [`CheckedParams`] proves
//! that each value lies in its accepted range.

mod choices;

pub use choices::{
    Activation, EncoderKind, Normalize, OptimizerKind, OutputActivation, Precision, Sampler,
    ScoreKind, SolverKind, WeightTransform,
};

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The settings of a fit. `None` means: chosen to fit the data and the other
/// settings; `fit.json` records what was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Params {
    /// The dimension `K` of the embedding.
    pub dim: usize,
    /// The score.
    pub score: ScoreKind,
    /// The exponent of the robust scores; 0 is the likelihood.
    pub beta: f64,
    /// The transform of the link weights.
    pub weights: WeightTransform,
    /// The encoder of every view that `view_encoders` does not name; unset: linear
    /// with data vectors, table without.
    pub encoder: Option<EncoderKind>,
    /// The encoders of single views.
    pub view_encoders: BTreeMap<String, EncoderKind>,
    /// The pairs of views that take part; unset: those with at least one link.
    pub view_pairs: Option<Vec<(String, String)>>,
    /// The widths of the hidden layers of an MLP.
    pub hidden: Vec<usize>,
    /// The function after each hidden layer.
    pub activation: Activation,
    /// The function after the last layer of an MLP.
    pub output_activation: OutputActivation,
    /// Batch normalisation before each hidden activation.
    pub batch_norm: bool,
    /// The probability with which a hidden unit is dropped in training.
    pub dropout: f64,
    /// The probability with which an entry of a data vector is dropped in training.
    pub input_dropout: f64,
    /// The normalisation of the data vectors.
    pub normalize: Normalize,
    /// How often the data vectors are averaged over the normalised links.
    pub propagate: usize,
    /// The solver; unset: exact up to 20,000 nodes.
    pub solver: Option<SolverKind>,
    /// The optimizer.
    pub optimizer: Option<OptimizerKind>,
    /// The sampler of the stochastic solver.
    pub sampler: Sampler,
    /// The largest number of steps.
    pub steps: Option<usize>,
    /// The share of the pairs that are held out to decide when to stop; 0: none.
    /// Unset: 0.05, or none where that would hold out fewer than 100 links,
    /// too few to judge by.
    pub validation: Option<f64>,
    /// How many evaluations without a better held-out score end the fit.
    pub patience: usize,
    /// Link weights averaged over walks of up to this length; 0: as they are.
    pub walks: usize,
    /// Walks follow the weights rather than the pattern of the links.
    pub walks_weighted: bool,
    /// The length of the first step, `delta_0`.
    pub learning_rate: Option<f64>,
    /// The exponent of the schedule `delta_0 (1 + t/t_0)^-alpha`; unset: 0 for
    /// Adam, 0.5 for SGD.
    pub schedule_alpha: Option<f64>,
    /// The `t_0` of the schedule.
    pub schedule_t0: f64,
    /// The momentum of the SGD optimizer.
    pub momentum: f64,
    /// The largest norm of a gradient; longer ones are shortened. Unset: none.
    pub clip: Option<f64>,
    /// The links of a step, `m1`; unset: 512, and four a node of the block
    /// where a block of a large graph holds too few links itself.
    pub link_batch: Option<usize>,
    /// The pairs of a step, `m2`.
    pub pair_batch: usize,
    /// The nodes of a block, `B`; unset: 1,024, and 4,096 in sweeps over tables.
    pub block: Option<usize>,
    /// The weight of the all-pairs part under the pair sampler; unset: the
    /// value at which the limit solves the exact estimating equation.
    pub lambda: Option<f64>,
    /// The radius of the ball around the start that parameters are kept in.
    pub radius: Option<f64>,
    /// The weight of the squared encoder weights, against the sum over pairs.
    pub ridge: f64,
    /// The scale of the random start; 1 makes the mean squared length of an
    /// embedding 1.
    pub init_scale: f64,
    /// The precision of the arithmetic.
    pub precision: Precision,
    /// The seed of all randomness.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            dim: 64,
            score: ScoreKind::Moment,
            beta: 0.1,
            weights: WeightTransform::AsIs,
            encoder: None,
            view_encoders: BTreeMap::new(),
            view_pairs: None,
            hidden: vec![3000],
            activation: Activation::Tanh,
            output_activation: OutputActivation::None,
            batch_norm: false,
            dropout: 0.0,
            input_dropout: 0.0,
            normalize: Normalize::L2,
            propagate: 0,
            solver: None,
            optimizer: None,
            sampler: Sampler::Block,
            steps: None,
            validation: None,
            patience: 10,
            walks: 0,
            walks_weighted: false,
            learning_rate: None,
            schedule_alpha: None,
            schedule_t0: 100.0,
            momentum: 0.9,
            clip: None,
            link_batch: None,
            pair_batch: 512,
            block: None,
            lambda: None,
            radius: None,
            ridge: 2.0,
            init_scale: 1.0,
            precision: Precision::F32,
            seed: 0,
        }
    }
}

/// Settings that passed [`Params::check`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedParams(Params);

impl Deref for CheckedParams {
    type Target = Params;
    fn deref(&self) -> &Params {
        &self.0
    }
}

impl Params {
    /// Checks every value against its accepted range.
    pub fn check(self) -> Result<CheckedParams> {
        within(
            "dim",
            "1 to 65536",
            self.dim,
            (1..=65_536).contains(&self.dim),
        )?;
        real(
            "beta",
            "0 to 10",
            self.beta,
            (0.0..=10.0).contains(&self.beta),
        )?;
        for &width in &self.hidden {
            within(
                "hidden",
                "widths of 1 to 1048576",
                width,
                (1..=1 << 20).contains(&width),
            )?;
        }
        for pair in self.hidden.windows(2) {
            let weights = pair[0] * pair[1];
            within(
                "hidden",
                "widths of at most 2^32 weights between two layers",
                weights,
                weights <= 1 << 32,
            )?;
        }
        for (name, share) in [
            ("dropout", self.dropout),
            ("input-dropout", self.input_dropout),
            ("validation", self.validation.unwrap_or(0.0)),
        ] {
            real(
                name,
                "0 or more and below 1",
                share,
                (0.0..1.0).contains(&share),
            )?;
        }
        within(
            "propagate",
            "0 to 100",
            self.propagate,
            self.propagate <= 100,
        )?;
        within("walks", "0 to 100", self.walks, self.walks <= 100)?;
        within("patience", "1 or more", self.patience, self.patience >= 1)?;
        if let Some(steps) = self.steps {
            within("steps", "1 or more", steps, steps >= 1)?;
        }
        for (name, value) in [
            ("learning-rate", self.learning_rate),
            ("clip", self.clip),
            ("lambda", self.lambda),
            ("radius", self.radius),
            ("schedule-t0", Some(self.schedule_t0)),
            ("init-scale", Some(self.init_scale)),
        ] {
            let value = value.unwrap_or(1.0);
            real(
                name,
                "a finite number above 0",
                value,
                value > 0.0 && value.is_finite(),
            )?;
        }
        if let Some(alpha) = self.schedule_alpha {
            real(
                "schedule-alpha",
                "0 to 1",
                alpha,
                (0.0..=1.0).contains(&alpha),
            )?;
        }
        real(
            "momentum",
            "0 or more and below 1",
            self.momentum,
            (0.0..1.0).contains(&self.momentum),
        )?;
        real(
            "ridge",
            "a finite number of 0 or more",
            self.ridge,
            self.ridge >= 0.0 && self.ridge.is_finite(),
        )?;
        for (name, count, least) in [
            ("link-batch", self.link_batch.unwrap_or(512), 1),
            ("pair-batch", self.pair_batch, 1),
            ("block", self.block.unwrap_or(1024), 2),
        ] {
            within(name, format!("{least} or more"), count, count >= least)?;
        }
        self.check_combinations()?;
        Ok(CheckedParams(self))
    }

    fn check_combinations(&self) -> Result<()> {
        let refuse = |name, accepted: &str, given: &str| {
            Err(Error::Param {
                name,
                accepted: accepted.into(),
                given: given.into(),
            })
        };
        if self.optimizer == Some(OptimizerKind::Lbfgs) {
            if self.solver == Some(SolverKind::Sgd) {
                return refuse("optimizer", "adam or sgd with the sgd solver", "lbfgs");
            }
            if self.dropout > 0.0 || self.input_dropout > 0.0 {
                return refuse(
                    "optimizer",
                    "adam or sgd with dropout, whose objective changes from step to step",
                    "lbfgs",
                );
            }
        }
        if self.lambda.is_some() && self.uses_probability() {
            return refuse(
                "lambda",
                "auto with the probability score, which fixes the scale of the weights",
                "a number",
            );
        }
        if self.lambda.is_some()
            && (self.sampler == Sampler::Block || self.solver == Some(SolverKind::Exact))
        {
            return refuse(
                "lambda",
                "a number with --solver sgd --sampler pairs only",
                "a number",
            );
        }
        if self.radius.is_some() && self.optimizer == Some(OptimizerKind::Lbfgs) {
            return refuse(
                "radius",
                "a radius with the adam or sgd optimizer only",
                "a radius with lbfgs",
            );
        }
        Ok(())
    }

    /// The share of the pairs that a fit to so many links holds out: unless it
    /// is set, a twentieth, or none where fewer than 100 links would be held
    /// out: the choice of a step by so few is a lottery.
    pub fn validation_share(&self, n_links: usize) -> f64 {
        let fallback = if n_links >= 2000 { 0.05 } else { 0.0 };
        self.validation.unwrap_or(fallback)
    }

    /// The encoder of a view: the one named for it, else that of all views, else
    /// a linear one where there are data vectors and a table where there are
    /// none.
    pub fn encoder_of(&self, view: &str, has_vectors: bool) -> EncoderKind {
        let named = self.view_encoders.get(view).copied();
        named.or(self.encoder).unwrap_or(match has_vectors {
            true => EncoderKind::Linear,
            false => EncoderKind::Table,
        })
    }

    /// Whether the probability score is in force (at beta 0 it is the likelihood).
    pub fn uses_probability(&self) -> bool {
        self.score == ScoreKind::Probability && self.beta > 0.0
    }
}

fn within(name: &'static str, accepted: impl Into<String>, given: usize, ok: bool) -> Result<()> {
    if ok {
        return Ok(());
    }
    Err(Error::Param {
        name,
        accepted: accepted.into(),
        given: given.to_string(),
    })
}

fn real(name: &'static str, accepted: &str, given: f64, ok: bool) -> Result<()> {
    if ok {
        return Ok(());
    }
    Err(Error::Param {
        name,
        accepted: accepted.into(),
        given: given.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_value_is_refused_by_name() {
        type Spoil = fn(&mut Params);
        let cases: &[(&str, Spoil)] = &[
            ("dim", |p| p.dim = 0),
            ("beta", |p| p.beta = -1.0),
            ("beta", |p| p.beta = f64::NAN),
            ("beta", |p| p.beta = f64::INFINITY),
            ("hidden", |p| p.hidden = vec![10, 0]),
            ("hidden", |p| p.hidden = vec![1 << 20, 1 << 20]),
            ("dropout", |p| p.dropout = 1.0),
            ("input-dropout", |p| p.input_dropout = f64::NAN),
            ("validation", |p| p.validation = Some(-0.1)),
            ("propagate", |p| p.propagate = 101),
            ("walks", |p| p.walks = 101),
            ("patience", |p| p.patience = 0),
            ("steps", |p| p.steps = Some(0)),
            ("learning-rate", |p| p.learning_rate = Some(0.0)),
            ("clip", |p| p.clip = Some(f64::NAN)),
            ("lambda", |p| p.lambda = Some(-1.0)),
            ("radius", |p| p.radius = Some(0.0)),
            ("schedule-t0", |p| p.schedule_t0 = f64::NAN),
            ("schedule-alpha", |p| p.schedule_alpha = Some(1.5)),
            ("init-scale", |p| p.init_scale = f64::INFINITY),
            ("momentum", |p| p.momentum = 1.0),
            ("ridge", |p| p.ridge = f64::NAN),
            ("link-batch", |p| p.link_batch = Some(0)),
            ("pair-batch", |p| p.pair_batch = 0),
            ("block", |p| p.block = Some(1)),
            ("optimizer", |p| {
                p.optimizer = Some(OptimizerKind::Lbfgs);
                p.solver = Some(SolverKind::Sgd);
            }),
            ("optimizer", |p| {
                p.optimizer = Some(OptimizerKind::Lbfgs);
                p.dropout = 0.5;
            }),
            ("lambda", |p| {
                p.lambda = Some(1.0);
                p.score = ScoreKind::Probability;
            }),
            ("lambda", |p| p.lambda = Some(1.0)),
            ("radius", |p| {
                p.radius = Some(1.0);
                p.optimizer = Some(OptimizerKind::Lbfgs);
            }),
        ];
        for (expected, spoil) in cases {
            let mut params = Params::default();
            spoil(&mut params);
            match params.clone().check() {
                Err(Error::Param { name, .. }) => assert_eq!(&name, expected),
                other => panic!("{expected}: {other:?} for {params:?}"),
            }
        }
        assert!(Params::default().check().is_ok());
    }

    #[test]
    fn names_go_both_ways() {
        for score in ScoreKind::ALL {
            assert_eq!(score.name().parse(), Ok(*score));
        }
        assert!("x".parse::<Sampler>().is_err());
    }
}

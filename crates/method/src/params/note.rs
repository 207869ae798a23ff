//! What a user should know after a fit, such as settings without effect.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    CheckedParams, EncoderKind, OptimizerKind, Params, Sampler, ScoreKind, Similarity, SolverKind,
};

/// What a user should know ([example](crate::Fitted)).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "String")]
pub enum Note {
    /// A setting was given that nothing in the fit reads.
    Unused {
        /// The setting, by its name in files.
        name: String,
        /// Why.
        why: Unused,
    },
    /// No step was better than the start.
    RandomStart,
    /// The probability score meets a sparse graph of honest weights above 1.
    TooHeavyForProbability {
        /// The median weight, as the fit sees it.
        weight: f64,
        /// The share of the pairs that are linked.
        linked: f64,
    },
    /// The fit expects only this share of the weight that there is.
    ExpectsTooLittle(f64),
    /// The embeddings use hardly any of their dimensions.
    Collapsed {
        /// The effective rank.
        used: f64,
        /// The dimensions.
        dim: usize,
    },
    /// A note of a stored model, as it was written.
    Stored(String),
}

/// Why a setting has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unused {
    /// The score does not read it.
    Score(ScoreKind),
    /// No encoder is an mlp.
    Encoders,
    /// No encoder reads data vectors.
    NoVectors,
    /// Link weights are not averaged over walks.
    NoWalks,
    /// No pairs are held out.
    NoHeldOut,
    /// The exact solver draws no samples.
    Exact,
    /// The block sampler draws no single pairs.
    Blocks,
    /// The pairs sampler draws no blocks.
    Pairs,
    /// L-BFGS finds the length of its steps itself.
    Lbfgs,
    /// Only the SGD optimizer has a momentum.
    NotSgd,
    /// The steps do not get shorter.
    Constant,
    /// The similarity is not signed.
    NotSigned,
}

/// What a fit uses, once its data are known.
#[derive(Debug, Clone, PartialEq)]
pub struct InUse {
    /// The encoders of all views.
    pub encoders: Vec<EncoderKind>,
    /// The solver.
    pub solver: SolverKind,
    /// The optimizer.
    pub optimizer: OptimizerKind,
    /// The exponent of its schedule.
    pub schedule_alpha: f64,
    /// Whether pairs are held out.
    pub holds_out: bool,
}

impl CheckedParams {
    /// The settings that were given, and differ from the default, but that a fit does
    /// not read.
    pub fn unused(&self, fit: &InUse) -> Vec<Note> {
        let default = entries(&Params::default());
        let mut given = entries(self);
        given.retain(|name, value| default.get(name) != Some(value));
        let mut notes = Vec::new();
        let mut add = |why: Unused, names: &[&str]| {
            let unused = names.iter().filter(|name| given.contains_key(**name));
            notes.extend(unused.map(|&name| Note::Unused {
                name: name.to_owned(),
                why,
            }));
        };
        // With 0 other scores are the likelihood by another name.
        if !self.score.reads_beta() && self.beta != 0.0 {
            add(Unused::Score(self.score), &["beta"]);
        }
        if !fit.encoders.contains(&EncoderKind::Mlp) {
            add(Unused::Encoders, &names(&entries(&self.mlp)));
        }
        if !fit.encoders.iter().any(|kind| kind.reads_vectors()) {
            let of_vectors = ["input-dropout", "normalize", "propagate"];
            add(Unused::NoVectors, &of_vectors);
        }
        if self.similarity != Similarity::Signed {
            add(Unused::NotSigned, &["negative-share"]);
        }
        if self.walks == 0 {
            add(Unused::NoWalks, &["walks-weighted"]);
        }
        if !fit.holds_out {
            add(Unused::NoHeldOut, &["patience"]);
        }
        match (fit.solver, self.sampling.sampler) {
            (SolverKind::Exact, _) => add(Unused::Exact, &names(&entries(&self.sampling))),
            (SolverKind::Sgd, Sampler::Block) => add(Unused::Blocks, &["pair-batch"]),
            (SolverKind::Sgd, Sampler::Pairs) => add(Unused::Pairs, &["block"]),
        }
        if fit.optimizer == OptimizerKind::Lbfgs {
            add(Unused::Lbfgs, &names(&entries(&self.descent)));
        } else {
            if fit.schedule_alpha == 0.0 {
                add(Unused::Constant, &["schedule-t0"]);
            }
            if fit.optimizer != OptimizerKind::Sgd {
                add(Unused::NotSgd, &["momentum"]);
            }
        }
        notes
    }
}

/// Settings by their names in files.
fn entries<T: Serialize>(settings: &T) -> Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(entries)) => entries,
        _ => Map::new(),
    }
}

fn names(entries: &Map<String, Value>) -> Vec<&str> {
    entries.keys().map(String::as_str).collect()
}

impl From<String> for Note {
    fn from(text: String) -> Note {
        Note::Stored(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Descent, EncoderKind, Mlp, OutputActivation, Sampling, ScoreKind};
    use super::*;

    fn fit() -> InUse {
        InUse {
            encoders: vec![EncoderKind::Linear],
            solver: SolverKind::Exact,
            optimizer: OptimizerKind::Lbfgs,
            schedule_alpha: 0.0,
            holds_out: true,
        }
    }

    fn unused(params: Params, fit: &InUse) -> Vec<(String, Unused)> {
        let notes = params.check().unwrap().unused(fit).into_iter();
        let unused = |note| match note {
            Note::Unused { name, why } => Some((name, why)),
            _ => None,
        };
        notes.filter_map(unused).collect()
    }

    #[test]
    fn settings_of_an_mlp_without_one() {
        let params = Params {
            mlp: Mlp {
                hidden: vec![10],
                batch_norm: true,
                dropout: 0.5,
                output_activation: OutputActivation::Tanh,
                ..Mlp::default()
            },
            ..Params::default()
        };
        let notes = unused(params.clone(), &fit());
        assert_eq!(notes.len(), 4, "{notes:?}");
        let hidden = ("hidden".to_owned(), Unused::Encoders);
        assert!(notes.contains(&hidden), "{notes:?}");
        let params = Params {
            encoder: Some(EncoderKind::Mlp),
            ..params
        };
        let encoders = vec![EncoderKind::Table, EncoderKind::Mlp];
        let fit = InUse { encoders, ..fit() };
        assert!(unused(params, &fit).is_empty());
    }

    #[test]
    fn settings_of_scores_samples_and_steps() {
        let likely = |beta| Params {
            score: ScoreKind::Likelihood,
            beta,
            ..Params::default()
        };
        let expected = ("beta".to_owned(), Unused::Score(ScoreKind::Likelihood));
        assert_eq!(unused(likely(0.5), &fit()), [expected]);
        // The likelihood by another name.
        assert!(unused(likely(0.0), &fit()).is_empty());
        let sampled = Params {
            sampling: Sampling {
                block: Some(64),
                pair_batch: 64,
                ..Sampling::default()
            },
            descent: Descent {
                momentum: 0.5,
                schedule_t0: 7.0,
                ..Descent::default()
            },
            walks_weighted: true,
            patience: 3,
            ..Params::default()
        };
        let names = |fit: &InUse| -> Vec<String> {
            let notes = unused(sampled.clone(), fit).into_iter();
            notes.map(|(name, _)| name).collect()
        };
        assert_eq!(
            names(&fit()),
            [
                "walks-weighted",
                "block",
                "pair-batch",
                "momentum",
                "schedule-t0"
            ]
        );
        let stochastic = InUse {
            solver: SolverKind::Sgd,
            optimizer: OptimizerKind::Sgd,
            schedule_alpha: 0.5,
            holds_out: false,
            ..fit()
        };
        assert_eq!(
            names(&stochastic),
            ["walks-weighted", "patience", "pair-batch"]
        );
    }

    #[test]
    fn settings_of_data_vectors_that_nothing_reads() {
        let params = Params {
            propagate: 2,
            input_dropout: 0.1,
            ..Params::default()
        };
        let tables = InUse {
            encoders: vec![EncoderKind::Table],
            ..fit()
        };
        let notes = unused(params, &tables);
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert_eq!(notes[0], ("input-dropout".to_owned(), Unused::NoVectors));
    }
}

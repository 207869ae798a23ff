//! What a user should know after a fit, such as settings without effect.

use serde::Deserialize;

use super::{
    CheckedParams, EncoderKind, OptimizerKind, Param, Params, Sampler, ScoreKind, Similarity,
    SolverKind,
};

/// What a user should know ([example](crate::Fitted)).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "String")]
pub enum Note {
    /// A setting was given that nothing in the fit reads.
    Unused {
        /// The setting.
        param: Param,
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
    /// No encoder reads it.
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
        let (given, default) = (self.given(), Params::default());
        let mut notes = Vec::new();
        let mut add = |why: Unused, params: &[Param]| {
            let is_given = |param: &&Param| given.get(**param) != default.get(**param);
            let given = params.iter().filter(is_given);
            notes.extend(given.map(|&param| Note::Unused { param, why }));
        };
        for &param in Param::ALL {
            let of_score = |score: &ScoreKind| score.settings().contains(&param.name());
            // With 0 other scores are the likelihood by another name.
            if ScoreKind::ALL.iter().any(of_score)
                && !of_score(&given.score)
                && given.numbers(param) != [0.0]
            {
                add(Unused::Score(given.score), &[param]);
            }
        }
        for &param in Param::ALL {
            let of_encoder = |kind: &EncoderKind| kind.settings().contains(&param);
            if EncoderKind::ALL.iter().any(of_encoder) && !fit.encoders.iter().any(of_encoder) {
                add(Unused::Encoders, &[param]);
            }
        }
        if !fit.encoders.iter().any(|kind| kind.reads_vectors()) {
            let of_vectors = [Param::InputDropout, Param::Normalize, Param::Propagate];
            add(Unused::NoVectors, &of_vectors);
        }
        if self.similarity != Similarity::Signed {
            add(Unused::NotSigned, &[Param::NegativeShare]);
        }
        if self.walks == 0 {
            add(Unused::NoWalks, &[Param::WalksWeighted]);
        }
        if !fit.holds_out {
            add(Unused::NoHeldOut, &[Param::Patience]);
        }
        match (fit.solver, self.sampler) {
            (SolverKind::Exact, _) => {
                let of_samples = [
                    Param::Sampler,
                    Param::LinkBatch,
                    Param::PairBatch,
                    Param::Block,
                ];
                add(Unused::Exact, &of_samples);
            }
            (SolverKind::Sgd, Sampler::Block) => add(Unused::Blocks, &[Param::PairBatch]),
            (SolverKind::Sgd, Sampler::Pairs) => add(Unused::Pairs, &[Param::Block]),
        }
        if fit.optimizer == OptimizerKind::Lbfgs {
            let of_steps = [
                Param::LearningRate,
                Param::ScheduleAlpha,
                Param::ScheduleT0,
                Param::Clip,
                Param::Momentum,
            ];
            add(Unused::Lbfgs, &of_steps);
        } else {
            if fit.schedule_alpha == 0.0 {
                add(Unused::Constant, &[Param::ScheduleT0]);
            }
            if fit.optimizer != OptimizerKind::Sgd {
                add(Unused::NotSgd, &[Param::Momentum]);
            }
        }
        notes
    }
}

impl From<String> for Note {
    fn from(text: String) -> Note {
        Note::Stored(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EncoderKind, OutputActivation, ScoreKind};
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

    fn unused(params: Params, fit: &InUse) -> Vec<(Param, Unused)> {
        let notes = params.check().unwrap().unused(fit).into_iter();
        let unused = |note| match note {
            Note::Unused { param, why } => Some((param, why)),
            _ => None,
        };
        notes.filter_map(unused).collect()
    }

    #[test]
    fn settings_of_an_mlp_without_one() {
        let params = Params {
            hidden: vec![10],
            batch_norm: true,
            dropout: 0.5,
            output_activation: OutputActivation::Tanh,
            ..Params::default()
        };
        let notes = unused(params.clone(), &fit());
        assert_eq!(notes.len(), 4, "{notes:?}");
        assert_eq!(notes[0], (Param::Hidden, Unused::Encoders));
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
        let expected = (Param::Beta, Unused::Score(ScoreKind::Likelihood));
        assert_eq!(unused(likely(0.5), &fit()), [expected]);
        // The likelihood by another name.
        assert!(unused(likely(0.0), &fit()).is_empty());
        let sampled = Params {
            block: Some(64),
            pair_batch: 64,
            momentum: 0.5,
            schedule_t0: 7.0,
            walks_weighted: true,
            patience: 3,
            ..Params::default()
        };
        let names = |fit: &InUse| -> Vec<Param> {
            let notes = unused(sampled.clone(), fit).into_iter();
            notes.map(|(param, _)| param).collect()
        };
        assert_eq!(
            names(&fit()),
            [
                Param::WalksWeighted,
                Param::PairBatch,
                Param::Block,
                Param::ScheduleT0,
                Param::Momentum
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
            [Param::WalksWeighted, Param::Patience, Param::PairBatch]
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
        assert_eq!(notes[0], (Param::InputDropout, Unused::NoVectors));
    }
}

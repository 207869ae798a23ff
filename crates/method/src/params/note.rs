//! What a user should know after a fit, such as settings without effect.

use serde::{Deserialize, Deserializer};

use super::{
    CheckedParams, EncoderKind, OptimizerKind, Param, Params, Sampler, ScoreKind, Similarity,
    SolverKind,
};
use crate::error::{Dialect, any_of, in_words};

/// What a user should know ([example](crate::Fitted)).
#[derive(Debug, Clone)]
#[non_exhaustive]
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
#[non_exhaustive]
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

impl Note {
    /// In the words of a front end.
    pub fn told(&self, dialect: &dyn Dialect) -> String {
        let name = |param: Param| dialect.name(param.name());
        match self {
            Note::Unused { param, why } => {
                let why = match why {
                    Unused::Score(score) => format!("the {score} score does not read it"),
                    Unused::Encoders => {
                        let kinds = EncoderKind::ALL.iter().copied();
                        let readers = kinds.filter(|kind| kind.settings().contains(param));
                        let names: Vec<&str> = readers.map(EncoderKind::name).collect();
                        format!("only the {} encoder reads it", any_of(&names))
                    }
                    Unused::NoVectors => "no encoder reads data vectors".to_owned(),
                    Unused::NoWalks => format!("{} is 0", name(Param::Walks)),
                    Unused::NoHeldOut => "no pairs are held out".to_owned(),
                    Unused::Exact => "the exact solver draws no samples".to_owned(),
                    Unused::Blocks => "the block sampler draws no single pairs".to_owned(),
                    Unused::Pairs => "the pairs sampler draws no blocks".to_owned(),
                    Unused::Lbfgs => "lbfgs finds the length of its steps itself".to_owned(),
                    Unused::NotSgd => "only the sgd optimizer has a momentum".to_owned(),
                    Unused::NotSigned => {
                        format!("{} is not {}", name(Param::Similarity), Similarity::Signed)
                    }
                    Unused::Constant => format!("{} is 0", name(Param::ScheduleAlpha)),
                };
                format!("{} has no effect: {why}", name(*param))
            }
            Note::RandomStart => format!(
                "no step lowered the held-out score, so the model is its random start: try a \
                 smaller {} or {}, or let {} choose",
                name(Param::Beta),
                name(Param::Ridge),
                dialect.selection()
            ),
            Note::TooHeavyForProbability { weight, linked } => format!(
                "the probability score cannot follow weights above 1 on a sparse graph (half of \
                 the weights are {weight} or more, and {:.2}% of the pairs are linked): to it such \
                 links look like errors, and the fit may give them all up. Set {}, or take {}",
                100.0 * linked,
                dialect.with(Param::Weights.name(), &["binary"]),
                dialect.with(Param::Score.name(), &["moment"])
            ),
            Note::ExpectsTooLittle(share) => format!(
                "the fit expects only {:.0}% of the total weight: the probability score took most \
                 links for errors. Set {} or a smaller {}, or take {}",
                100.0 * share,
                dialect.with(Param::Weights.name(), &["binary"]),
                name(Param::Beta),
                dialect.with(Param::Score.name(), &["moment"])
            ),
            Note::Collapsed { used, dim } => format!(
                "the embeddings {}. Try a smaller {}, or let {} choose",
                collapsed_in_words(*used, *dim),
                name(Param::Ridge),
                dialect.selection()
            ),
            Note::Stored(text) => text.clone(),
        }
    }
}

/// What embeddings do that really use so many of their dimensions.
pub fn collapsed_in_words(used: f64, dim: usize) -> String {
    match used < 0.5 {
        true => format!("are all the same in all of {dim} dimensions: they tell nothing"),
        false => format!(
            "lie nearly on a line: of {dim} dimensions they use {used:.1} (effective rank), so that \
             hardly more than two groups can be told apart"
        ),
    }
}

in_words!(Note);

/// A note is what it says, fresh or stored.
impl PartialEq for Note {
    fn eq(&self, other: &Note) -> bool {
        self.to_string() == other.to_string()
    }
}

impl<'de> Deserialize<'de> for Note {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Note, D::Error> {
        String::deserialize(from).map(Note::Stored)
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

    fn unused(params: Params, fit: &InUse) -> Vec<String> {
        let notes = params.check().unwrap().unused(fit);
        notes.iter().map(Note::to_string).collect()
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
        assert_eq!(
            notes[0],
            "hidden has no effect: only the mlp encoder reads it"
        );
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
        let expected = "beta has no effect: the likelihood score does not read it";
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
            let notes = sampled.clone().check().unwrap().unused(fit);
            let name = |note: Note| match note {
                Note::Unused { param, .. } => Some(param),
                _ => None,
            };
            notes.into_iter().filter_map(name).collect()
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
        assert!(notes[0].starts_with("input_dropout has no effect"));
    }
}

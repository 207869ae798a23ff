//! Reasons and cautions in the words of a front end.

use super::{Caution, Reason, WeightsLook};
use crate::error::{Dialect, in_words};
use crate::inspect::Way;
use crate::params::Param;

impl Reason {
    /// In the words of a front end.
    pub fn told(&self, dialect: &dyn Dialect) -> String {
        let set = |param: Param, value: &str| dialect.with(param.name(), &[value]);
        match self {
            Reason::Weights {
                score,
                beta,
                weights,
                why,
            } => format!(
                "{}, {}, {}: {}",
                set(Param::Score, score.name()),
                set(Param::Beta, &beta.to_string()),
                set(Param::Weights, weights.name()),
                why.told(dialect)
            ),
            Reason::Nodes {
                solver,
                optimizer,
                way,
                nodes,
            } => {
                let many = "have too many pairs to visit all at every step";
                let reason = match way {
                    Way::AllPairs => "are few enough to visit all pairs at every step".to_owned(),
                    Way::Blocks => many.to_owned(),
                    Way::Sweeps => format!("{many}, and free vectors can move a block at a time"),
                };
                format!(
                    "{}, {}: {nodes} nodes {reason}; a fit chooses this by itself.",
                    set(Param::Solver, solver.name()),
                    set(Param::Optimizer, optimizer.name())
                )
            }
        }
    }
}

impl WeightsLook {
    fn told(&self, dialect: &dyn Dialect) -> String {
        match self {
            WeightsLook::Equal => format!(
                "all weights are equal, so no weight can be wrong; the moment score with a small \
                 beta keeps links that should not exist from pulling hard. Or let {} choose score, \
                 beta and ridge, without labels.",
                dialect.selection()
            ),
            WeightsLook::Sound { median, max } => format!(
                "no weight is larger than a Poisson count may be (median {median}, largest {max})."
            ),
            WeightsLook::HeavyTail(share) => format!(
                "{} of the weights are larger than a Poisson count can be, at the end of a smooth \
                 tail: real counts (contacts, co-occurrences) look like this. {} keeps the order \
                 and tames the size.",
                in_percent(*share),
                dialect.with(Param::Weights.name(), &["log1p"])
            ),
            WeightsLook::Backed { share, agreement } => format!(
                "{} of the weights are larger than a Poisson count can be, and heavier links are \
                 likelier by the rest of the evidence (correlation {agreement:.2}): they are \
                 signal. {} keeps the order and tames the size.",
                in_percent(*share),
                dialect.with(Param::Weights.name(), &["log1p"])
            ),
            WeightsLook::WrongAndHeavy { share, median } => format!(
                "{} of the weights look wrong. The probability score would not follow them, but \
                 neither can it follow honest weights above 1 on a sparse graph (half of the weights \
                 are {median} or more): it would give all links up. {} tames them all.",
                in_percent(*share),
                dialect.with(Param::Weights.name(), &["log1p"])
            ),
            WeightsLook::Signed(share) => format!(
                "{} of the weights are negative, as correlations are. Expected weights of a fit to \
                 weights are positive; a fit to the pattern tells which pairs are linked, and has \
                 a law of sizes of either sign. {} does both too.",
                in_percent(*share),
                dialect.with("robust", &["true"])
            ),
            WeightsLook::Wrong { share, agreement } => {
                let why = match agreement {
                    Some(agreement) => format!(
                        "heavier links are less likely by the rest of the evidence (correlation \
                         {agreement:.2})"
                    ),
                    None => "they stand apart from the rest".to_owned(),
                };
                format!(
                    "{} of the weights are larger than a Poisson count can be, and {why}. They may be \
                     errors, and the probability score does not follow them; the moment score and the \
                     likelihood are linear in the weights and would.",
                    in_percent(*share)
                )
            }
        }
    }
}

impl Caution {
    /// In the words of a front end.
    pub fn told(&self, dialect: &dyn Dialect) -> String {
        let set = |param: Param, value: &str| dialect.with(param.name(), &[value]);
        let probability = || set(Param::Score, "probability");
        match self {
            Caution::SomeMayBeTooLarge => format!(
                "if some weights are far too large all the same, take {}: the moment score is \
                 linear in the weights.",
                probability()
            ),
            Caution::NotProbability(median) => format!(
                "not {}: it cannot follow weights above 1 on a sparse graph (half of the weights \
                 are {median} or more) and takes such links for errors. If some weights are far too \
                 large, {} tames them.",
                probability(),
                set(Param::Weights, "log1p")
            ),
            Caution::HeavyMayBeReal => format!(
                "heavy weights can be noise or can be the signal (contacts, co-occurrence counts): \
                 look at the heaviest links. If they are real, take {} instead: the probability \
                 score takes them for errors.",
                set(Param::Weights, "log1p")
            ),
            Caution::OthersAreEqual(median) => format!(
                "nearly all other weights are {median}: {}, which looks at the links alone, does \
                 no worse where the sizes mean nothing.",
                set(Param::Weights, "binary")
            ),
            Caution::TwoKinds(share) => format!(
                "{} is a lot for errors: perhaps two kinds of links stand in one file.",
                in_percent(*share)
            ),
            Caution::UnknownNodes(count) => format!(
                "{count} of the nodes have neither links nor data vectors: nothing is known of \
                 them, and their embeddings mean nothing. Leave them out, or give them data \
                 vectors."
            ),
            Caution::ZeroVectors(count) => format!(
                "{count} of the data vectors are zero: their nodes all get the same embedding."
            ),
            Caution::Components(count) => format!(
                "the links fall into {count} components: without data vectors, only missing links \
                 say how the vectors of one lie to those of another."
            ),
            Caution::FewLinks {
                links,
                nodes,
                vectors,
            } => {
                let what = match vectors {
                    false => {
                        "too few to learn a free vector for each node; data vectors would help."
                            .to_owned()
                    }
                    true => format!(
                        "the map has to learn from few; a small {} and a larger {} are safer.",
                        dialect.name(Param::Dim.name()),
                        dialect.name(Param::Ridge.name())
                    ),
                };
                format!("fewer links than nodes ({links} and {nodes}): {what}")
            }
        }
    }
}

in_words!(Reason);
in_words!(Caution);

/// A share in words: `3.2%`, and `0.004%` rather than `0.0%`.
pub fn in_percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        0.0 => "0%".to_owned(),
        ..0.001 => "less than 0.001%".to_owned(),
        ..0.1 => format!("{percent:.3}%"),
        ..1.0 => format!("{percent:.2}%"),
        _ => format!("{percent:.1}%"),
    }
}

//! Settings to begin with, and the facts that speak for them.

use serde::Serialize;

use super::{LinksJudged, SolverCost, Tail, Weights};
use crate::model::too_heavy_for_probability;
use crate::params::{OptimizerKind, Params, ScoreKind, SolverKind, WeightTransform};

/// The exponent of the probability score. With the default ridge a larger one
/// sees too little of a sparse graph: on Cora with a tenth of the links at
/// weight 10 or 100 a fit at 0.5 never improves on the held-out score of its
/// start. One fit each, NMI at beta 0.1, 0.2 and 0.5: Cora, weight 100, .454,
/// .442 and .058; a planted graph of 2,000 nodes without data vectors, some 8%
/// at weight 100, .998, .172 and .038. Purity on the demonstration's 200 nodes:
/// .990, .990 and .975. These figures, Cora's labels among them, were looked at
/// when the exponent was settled.
const PROBABILITY_BETA: f64 = 0.1;
/// Weights agree with the rest of the evidence, or contradict it, if their correlation is
/// this far from 0, and this many standard errors.
const LEAST_AGREEMENT: f64 = 0.05;
const LEAST_ERRORS: f64 = 4.0;

/// Settings to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Advice {
    /// The score.
    pub score: ScoreKind,
    /// Its exponent.
    pub beta: f64,
    /// The transform of the weights.
    pub weights: WeightTransform,
    /// What the weights look like, which decides on these three.
    pub because: Look,
    /// Whether the probability score would take usual weights for errors.
    pub too_heavy_for_probability: bool,
    /// The solver.
    pub solver: SolverKind,
    /// Its optimizer.
    pub optimizer: OptimizerKind,
}

/// What weights look like. If some are larger than a Poisson count can be, the rest of the
/// evidence says what they are, then the tail: a Poisson count alone decides nothing, because
/// most real counts spread wider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Look {
    /// Some are negative.
    Signed,
    /// All are equal.
    Equal,
    /// None is larger than a Poisson count can be.
    Counts,
    /// Heavier links are likelier by the rest of the evidence.
    Signal,
    /// Heavier links are less likely by the rest of the evidence.
    Unlikely,
    /// The heavy ones are the end of a smooth tail.
    Tail,
    /// The heavy ones stand apart.
    Apart,
}

impl Advice {
    /// The advice that follows from facts about weights, links and solvers.
    pub(super) fn new(
        weights: &Weights,
        judged: Option<&LinksJudged>,
        linked_share: f64,
        solvers: &[SolverCost],
    ) -> Advice {
        let params = Params::default();
        let because = look(weights, judged);
        let median = weights.median;
        let too_heavy = too_heavy_for_probability(median, PROBABILITY_BETA, linked_share);
        let resists = matches!(because, Look::Unlikely | Look::Apart) && !too_heavy;
        let solver = solvers.iter().find(|cost| cost.is_default);
        Advice {
            score: match resists {
                true => ScoreKind::Probability,
                false => params.score,
            },
            beta: if resists {
                PROBABILITY_BETA
            } else {
                params.beta
            },
            weights: match because {
                Look::Signed => WeightTransform::Binary,
                Look::Equal if median != 1.0 => WeightTransform::Binary,
                Look::Equal | Look::Counts => params.weights,
                _ if resists => WeightTransform::AsIs,
                _ => WeightTransform::Log1p,
            },
            because,
            too_heavy_for_probability: too_heavy,
            solver: solver.map_or(SolverKind::Exact, |cost| cost.solver),
            optimizer: solver.map_or(OptimizerKind::Lbfgs, |cost| cost.optimizer),
        }
    }
}

fn look(weights: &Weights, judged: Option<&LinksJudged>) -> Look {
    let agreement = judged.filter(|it| !it.facts.abstained);
    let agreement = agreement.and_then(|it| it.facts.weight_agreement);
    let agreement = agreement.unwrap_or(0.0);
    let n_links = judged.map_or(0, |it| it.tally.links);
    let least = LEAST_AGREEMENT.max(LEAST_ERRORS / (n_links as f64).sqrt());
    match weights.impossible.tail {
        _ if weights.negative > 0.0 => Look::Signed,
        Tail::None if weights.all_equal => Look::Equal,
        Tail::None => Look::Counts,
        _ if agreement >= least => Look::Signal,
        _ if agreement <= -least => Look::Unlikely,
        Tail::Smooth => Look::Tail,
        Tail::Isolated => Look::Apart,
    }
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;

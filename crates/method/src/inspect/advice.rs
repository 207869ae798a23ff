//! Which settings to begin with, and why, in plain words.

mod words;

pub use words::in_percent;

use serde::Serialize;

use super::{Report, Tail, Way};
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
/// Where so many weights are equal, the others are all that weights say.
const NEARLY_ALL: f64 = 0.85;
/// Weights agree with the rest of the evidence, or contradict it, if their correlation is
/// this far from 0, and this many standard errors.
const LEAST_AGREEMENT: f64 = 0.05;
const LEAST_ERRORS: f64 = 4.0;
/// Isolated heavy weights above this share look like a second kind of link.
const SECOND_KIND: f64 = 0.1;

/// Settings to begin with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The score.
    pub score: ScoreKind,
    /// Its exponent.
    pub beta: f64,
    /// The transform of the weights.
    pub weights: WeightTransform,
    /// The solver.
    pub solver: SolverKind,
    /// Its optimizer.
    pub optimizer: OptimizerKind,
    /// Why, for each choice.
    pub reasons: Vec<Reason>,
    /// When to choose otherwise, and what else to look at.
    pub cautions: Vec<Caution>,
}

/// Why settings are advised.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// What the weights say about score, exponent and transform.
    Weights {
        /// The score.
        score: ScoreKind,
        /// Its exponent.
        beta: f64,
        /// The transform.
        weights: WeightTransform,
        /// What the weights are like.
        why: WeightsLook,
    },
    /// What the number of nodes says about the solver.
    Nodes {
        /// The solver.
        solver: SolverKind,
        /// Its optimizer.
        optimizer: OptimizerKind,
        /// How it goes through the pairs.
        way: Way,
        /// The number of nodes.
        nodes: usize,
    },
}

/// What weights are like.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum WeightsLook {
    /// All are equal.
    Equal,
    /// None is larger than a count may be.
    Sound {
        /// The median.
        median: f64,
        /// The largest.
        max: f64,
    },
    /// This share is too large for Poisson counts: the end of a smooth tail.
    HeavyTail(f64),
    /// A share is too large for Poisson counts, and heavier links are likelier.
    Backed {
        /// The share.
        share: f64,
        /// The correlation of the weights with the rest of the evidence.
        agreement: f64,
    },
    /// A share of the weights looks wrong, and the probability score cannot follow the
    /// others either.
    WrongAndHeavy {
        /// The share.
        share: f64,
        /// The median weight.
        median: f64,
    },
    /// This share is negative.
    Signed(f64),
    /// A share of the weights looks wrong.
    Wrong {
        /// The share.
        share: f64,
        /// The correlation of the weights with the rest of the evidence, if heavier links
        /// are less likely.
        agreement: Option<f64>,
    },
}

/// What to look at, or when to choose otherwise.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// Weights may be too large although they do not look so.
    SomeMayBeTooLarge,
    /// The probability score cannot follow such a median weight on a sparse graph.
    NotProbability(f64),
    /// Heavy weights may be real.
    HeavyMayBeReal,
    /// All other weights are nearly equal, to this.
    OthersAreEqual(f64),
    /// There may be two kinds of links, this share of them heavy.
    TwoKinds(f64),
    /// So many nodes have neither links nor data vectors.
    UnknownNodes(usize),
    /// So many data vectors are zero.
    ZeroVectors(usize),
    /// The links fall into so many components.
    Components(usize),
    /// There are fewer links than nodes.
    FewLinks {
        /// The links.
        links: usize,
        /// The nodes.
        nodes: usize,
        /// Whether all nodes have data vectors.
        vectors: bool,
    },
}

impl Default for Advice {
    fn default() -> Advice {
        let params = Params::default();
        Advice {
            score: params.score,
            beta: params.beta,
            weights: params.weights,
            solver: SolverKind::Exact,
            optimizer: OptimizerKind::Lbfgs,
            reasons: Vec::new(),
            cautions: Vec::new(),
        }
    }
}

/// The advice that follows from the rest of a report.
pub fn advise(report: &Report) -> Advice {
    let mut advice = Advice::default();
    advise_on_weights(report, &mut advice);
    advise_on_solver(report, &mut advice);
    advice.cautions.extend(cautions(report));
    advice
}

fn advise_on_weights(report: &Report, advice: &mut Advice) {
    let weights = &report.weights;
    let (share, tail) = (weights.impossible.share, weights.impossible.tail);
    let (why, caution) = match tail {
        Tail::None if weights.all_equal && weights.negative == 0.0 => {
            if weights.median != 1.0 {
                advice.weights = WeightTransform::Binary;
            }
            (WeightsLook::Equal, None)
        }
        _ if weights.negative > 0.0 => {
            advice.weights = WeightTransform::Binary;
            (WeightsLook::Signed(weights.negative), None)
        }
        Tail::None => {
            let (median, max) = (weights.median, weights.max);
            let sound = WeightsLook::Sound { median, max };
            let caution = match heavy_for_probability(report) {
                true => Caution::NotProbability(median),
                false => Caution::SomeMayBeTooLarge,
            };
            (sound, Some(caution))
        }
        _ => {
            let (look, caution) = look_at_heavy(report, share);
            match look {
                WeightsLook::Wrong { .. } => {
                    advice.score = ScoreKind::Probability;
                    advice.beta = PROBABILITY_BETA;
                }
                _ => advice.weights = WeightTransform::Log1p,
            }
            (look, caution)
        }
    };
    advice.reasons.push(Reason::Weights {
        score: advice.score,
        beta: advice.beta,
        weights: advice.weights,
        why,
    });
    advice.cautions.extend(caution);
    if tail == Tail::Isolated && weights.at_median >= NEARLY_ALL.min(1.0 - 1.5 * share) {
        let median = weights.median;
        advice.cautions.push(Caution::OthersAreEqual(median));
    }
    if tail == Tail::Isolated && share > SECOND_KIND {
        advice.cautions.push(Caution::TwoKinds(share));
    }
}

/// Heavy weights are signal if heavier links are likelier by the rest of the evidence, and
/// errors if they are less likely. Otherwise the tail decides: a Poisson count alone decides
/// nothing, because most real counts spread wider.
fn look_at_heavy(report: &Report, share: f64) -> (WeightsLook, Option<Caution>) {
    let judged = report.judged.as_ref().map(|judged| &judged.facts);
    let agreement = judged.filter(|facts| !facts.abstained);
    let agreement = agreement.and_then(|facts| facts.weight_agreement);
    let agreement = agreement.unwrap_or(0.0);
    let least = LEAST_AGREEMENT.max(LEAST_ERRORS / (report.links as f64).sqrt());
    if agreement >= least {
        return (WeightsLook::Backed { share, agreement }, None);
    }
    let contradicts = agreement <= -least;
    if report.weights.impossible.tail == Tail::Smooth && !contradicts {
        return (WeightsLook::HeavyTail(share), None);
    }
    if heavy_for_probability(report) {
        let median = report.weights.median;
        return (WeightsLook::WrongAndHeavy { share, median }, None);
    }
    let agreement = contradicts.then_some(agreement);
    let look = WeightsLook::Wrong { share, agreement };
    (look, Some(Caution::HeavyMayBeReal))
}

/// Whether the probability score would take honest weights for errors.
fn heavy_for_probability(report: &Report) -> bool {
    too_heavy_for_probability(report.weights.median, PROBABILITY_BETA, report.linked_share)
}

fn advise_on_solver(report: &Report, advice: &mut Advice) {
    let Some(default) = report.solvers.iter().find(|cost| cost.is_default) else {
        return;
    };
    (advice.solver, advice.optimizer) = (default.solver, default.optimizer);
    advice.reasons.push(Reason::Nodes {
        solver: default.solver,
        optimizer: default.optimizer,
        way: default.way,
        nodes: report.nodes,
    });
}

fn cautions(report: &Report) -> Vec<Caution> {
    let vectors = report.views.iter().all(|view| view.vectors.is_some());
    let zero = |view: &super::ViewShape| view.vectors.as_ref().map_or(0, |vectors| vectors.zero);
    let zero: usize = report.views.iter().map(zero).sum();
    let unknown = report.isolated.without_vectors;
    let components = report.components.count;
    let (links, nodes) = (report.links, report.nodes);
    let all = [
        (unknown > 0, Caution::UnknownNodes(unknown)),
        (zero > 0, Caution::ZeroVectors(zero)),
        (!vectors && components > 1, Caution::Components(components)),
        (
            links < nodes,
            Caution::FewLinks {
                links,
                nodes,
                vectors,
            },
        ),
    ];
    let applies = all.into_iter().filter(|(applies, _)| *applies);
    applies.map(|(_, caution)| caution).collect()
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;

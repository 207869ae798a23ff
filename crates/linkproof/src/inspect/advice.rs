//! Which settings to begin with, and why, in plain words.

use serde::Serialize;

use super::{Report, Tail, Way};
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
/// From this share of impossible weights on, a smooth tail is the data's nature.
const MANY: f64 = 0.01;
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
    /// Why, one sentence or two for each choice.
    pub reasons: Vec<String>,
    /// When to choose otherwise, and what else to look at.
    pub cautions: Vec<String>,
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
    warn_of_nodes(report, &mut advice);
    advice
}

fn advise_on_weights(report: &Report, advice: &mut Advice) {
    let weights = &report.weights;
    let impossible = &weights.impossible;
    let share = in_percent(impossible.share);
    let many = impossible.share >= MANY;
    let (reason, caution): (String, Option<&str>) = match impossible.tail {
        Tail::None if weights.all_equal => {
            if weights.median != 1.0 {
                advice.weights = WeightTransform::Binary;
            }
            (
                "all weights are equal, so no weight can be wrong; the moment score with a small \
                 beta keeps links that should not exist from pulling hard. Or let linkproof \
                 select choose score, beta and ridge, without labels."
                    .to_owned(),
                None,
            )
        }
        Tail::None => (
            format!(
                "no weight is larger than a Poisson count may be (median {}, largest {}).",
                weights.median, weights.max
            ),
            Some(
                "should some weights be far too large all the same, take --score probability: \
                 the moment score is linear in the weights.",
            ),
        ),
        Tail::Smooth if many => {
            advice.weights = WeightTransform::Log1p;
            (
                format!(
                    "{share} of the weights are larger than a Poisson count may be, and the \
                     others lead up to them without a gap: such a heavy tail is how real counts \
                     (contacts, co-occurrences) look. --weights log1p keeps the order and tames \
                     the size."
                ),
                Some(
                    "should the heaviest links be errors, take --score probability \
                     --weights asis instead: it gives up on weights that it cannot explain. With \
                     these weights that would be much of the signal.",
                ),
            )
        }
        Tail::Smooth | Tail::Isolated => {
            advice.score = ScoreKind::Probability;
            advice.beta = PROBABILITY_BETA;
            let beyond = match impossible.tail {
                Tail::Isolated => ", far beyond the rest",
                _ => "",
            };
            (
                format!(
                    "{share} of the weights are larger than a Poisson count may be{beyond}. They \
                     may be errors, and the probability score does not follow them; the moment \
                     score and the likelihood are linear in the weights and would."
                ),
                Some(
                    "heavy weights can be noise or can be the signal (contacts, co-occurrence \
                     counts): look at the heaviest links. If they are real, take --weights log1p \
                     instead: the probability score takes them for corruption.",
                ),
            )
        }
    };
    advice.reasons.push(format!(
        "--score {} --beta {} --weights {}: {reason}",
        advice.score, advice.beta, advice.weights
    ));
    advice.cautions.extend(caution.map(str::to_owned));
    if impossible.tail == Tail::Isolated
        && weights.at_median >= NEARLY_ALL.min(1.0 - 1.5 * impossible.share)
    {
        advice.cautions.push(format!(
            "nearly all other weights are {}: --weights binary, which looks at the links alone, \
             does no worse where the sizes mean nothing.",
            weights.median
        ));
    }
    if impossible.tail == Tail::Isolated && impossible.share > SECOND_KIND {
        advice.cautions.push(format!(
            "{share} is much for errors: perhaps two kinds of links stand in one file."
        ));
    }
}

fn advise_on_solver(report: &Report, advice: &mut Advice) {
    let Some(default) = report.solvers.iter().find(|cost| cost.is_default) else {
        return;
    };
    (advice.solver, advice.optimizer) = (default.solver, default.optimizer);
    let nodes = report.nodes;
    let reason = match default.way {
        Way::AllPairs => format!("{nodes} nodes are few enough to visit all pairs at every step"),
        Way::Blocks => format!("{nodes} nodes have too many pairs to visit all at every step"),
        Way::Sweeps => format!(
            "{nodes} nodes have too many pairs to visit all at every step, and free vectors can \
             move a block at a time"
        ),
    };
    advice.reasons.push(format!(
        "--solver {} --optimizer {}: {reason}; fit chooses it by itself.",
        default.solver, default.optimizer
    ));
}

fn warn_of_nodes(report: &Report, advice: &mut Advice) {
    let cautions = &mut advice.cautions;
    let no_vectors = report.views.iter().any(|view| view.vectors.is_none());
    let isolated = &report.isolated;
    if isolated.without_vectors > 0 {
        cautions.push(format!(
            "{} of the nodes have neither links nor data vectors: nothing is known of them, and \
             their embeddings mean nothing. Leave them out, or give them data vectors.",
            isolated.without_vectors
        ));
    }
    let zero = |view: &super::ViewShape| view.vectors.as_ref().map_or(0, |vectors| vectors.zero);
    let zero: usize = report.views.iter().map(zero).sum();
    if zero > 0 {
        cautions.push(format!(
            "{zero} of the data vectors are zero: their nodes all get the same embedding."
        ));
    }
    if no_vectors && report.components.count > 1 {
        cautions.push(format!(
            "the links fall into {} components: without data vectors nothing but the absence of \
             links says how the vectors of one lie to those of another.",
            report.components.count
        ));
    }
    if report.links < report.nodes {
        cautions.push(format!(
            "fewer links than nodes ({} and {}): {}",
            report.links,
            report.nodes,
            if no_vectors {
                "too few to learn a free vector for each node; data vectors (--features) would help."
            } else {
                "the map has to learn from few; a small --dim and a larger --ridge are safer."
            }
        ));
    }
}

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

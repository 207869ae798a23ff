//! Settings to begin with, and why, in the words of a front end.

use serde::Serialize;

use super::{Report, Tail, Way};
use crate::error::Dialect;
use crate::model::too_heavy_for_probability;
use crate::params::{OptimizerKind, Param, Params, ScoreKind, SolverKind, WeightTransform};

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
pub fn advise(report: &Report, dialect: &dyn Dialect) -> Advice {
    let words = Words { report, dialect };
    let mut advice = Advice::default();
    let why = words.advise_on_weights(&mut advice);
    advice.reasons.push(format!(
        "{}, {}, {}: {why}",
        words.set(Param::Score, advice.score.name()),
        words.set(Param::Beta, &advice.beta.to_string()),
        words.set(Param::Weights, advice.weights.name()),
    ));
    words.advise_on_solver(&mut advice);
    advice.cautions.extend(words.on_few_links_and_features());
    advice
}

/// A report, and how a front end names settings.
struct Words<'r> {
    report: &'r Report,
    dialect: &'r dyn Dialect,
}

/// What the weights beyond a Poisson count are.
enum Heavy {
    /// Heavier links are likelier by the rest of the evidence: the correlation.
    Signal(f64),
    /// The end of a smooth tail.
    Tail,
    /// Errors; if heavier links are less likely, the correlation.
    Errors(Option<f64>),
}

impl Words<'_> {
    fn set(&self, param: Param, value: &str) -> String {
        self.dialect.with(param.name(), &[value])
    }

    /// Whether the probability score would take correct weights for errors.
    fn too_heavy_for_probability(&self) -> bool {
        let median = self.report.weights.median;
        too_heavy_for_probability(median, PROBABILITY_BETA, self.report.linked_share)
    }

    /// Fills in score, exponent and transform, and cautions about weights; returns the
    /// reason.
    fn advise_on_weights(&self, advice: &mut Advice) -> String {
        let weights = &self.report.weights;
        let (median, max) = (weights.median, weights.max);
        let (share, tail) = (weights.impossible.share, weights.impossible.tail);
        let binary = self.set(Param::Weights, "binary");
        let why = if weights.negative > 0.0 {
            advice.weights = WeightTransform::Binary;
            format!(
                "{} of the weights are negative, like correlations. Expected weights are positive, \
                 so a fit to the pattern of links is safer. {} fits the pattern too, and estimates \
                 sizes of either sign.",
                in_percent(weights.negative),
                self.dialect.with("robust", &["true"])
            )
        } else if tail != Tail::None {
            self.advise_on_heavy(share, advice)
        } else if weights.all_equal {
            if median != 1.0 {
                advice.weights = WeightTransform::Binary;
            }
            format!(
                "all weights are equal, so no weight can be wrong; the moment score with a small \
                 beta keeps false links from pulling hard. Or let {} choose score, beta and ridge, \
                 without labels.",
                self.dialect.selection()
            )
        } else {
            let probability = self.set(Param::Score, "probability");
            advice.cautions.push(if self.too_heavy_for_probability() {
                format!(
                    "not {probability}: it cannot follow weights above 1 on a sparse graph (half of \
                     the weights are {median} or more) and takes such links for errors. If some \
                     weights are far too large, {} tames them.",
                    self.set(Param::Weights, "log1p")
                )
            } else {
                format!(
                    "if some weights are far too large all the same, take {probability}: the moment \
                     score is linear in the weights."
                )
            });
            format!(
                "no weight is larger than a Poisson count can be (median {median}, largest {max})."
            )
        };
        if tail == Tail::Isolated && weights.at_median >= NEARLY_ALL.min(1.0 - 1.5 * share) {
            advice.cautions.push(format!(
                "nearly all other weights are {median}: {binary}, which uses the links alone, does \
                 no worse if the sizes mean nothing."
            ));
        }
        if tail == Tail::Isolated && share > SECOND_KIND {
            advice.cautions.push(format!(
                "{} is a lot for errors: perhaps two kinds of links stand in one file.",
                in_percent(share)
            ));
        }
        why
    }

    /// What heavy weights are. The rest of the evidence decides, then the tail: a Poisson
    /// count alone decides nothing, because most real counts spread wider.
    fn heavy(&self) -> Heavy {
        let judged = self.report.judged.as_ref().map(|judged| &judged.facts);
        let agreement = judged.filter(|facts| !facts.abstained);
        let agreement = agreement.and_then(|facts| facts.weight_agreement);
        let agreement = agreement.unwrap_or(0.0);
        let least = LEAST_AGREEMENT.max(LEAST_ERRORS / (self.report.links as f64).sqrt());
        match agreement {
            _ if agreement >= least => Heavy::Signal(agreement),
            _ if agreement <= -least => Heavy::Errors(Some(agreement)),
            _ if self.report.weights.impossible.tail == Tail::Smooth => Heavy::Tail,
            _ => Heavy::Errors(None),
        }
    }

    fn advise_on_heavy(&self, share: f64, advice: &mut Advice) -> String {
        let log1p = self.set(Param::Weights, "log1p");
        let large = format!(
            "{} of the weights are larger than a Poisson count can be",
            in_percent(share)
        );
        advice.weights = WeightTransform::Log1p;
        let why = match self.heavy() {
            Heavy::Signal(agreement) => {
                return format!(
                    "{large}, and heavier links are likelier by the rest of the evidence \
                     (correlation {agreement:.2}): they are signal. {log1p} keeps the order and \
                     tames the size."
                );
            }
            Heavy::Tail => {
                return format!(
                    "{large}, at the end of a smooth tail: that is how real counts (contacts, \
                     co-occurrences) look. {log1p} keeps the order and tames the size."
                );
            }
            Heavy::Errors(Some(agreement)) => format!(
                "heavier links are less likely by the rest of the evidence (correlation \
                 {agreement:.2})"
            ),
            Heavy::Errors(None) => "they stand apart from the rest".to_owned(),
        };
        if self.too_heavy_for_probability() {
            return format!(
                "{large}, and {why}. The probability score would not follow them, but neither can \
                 it follow correct weights above 1 on a sparse graph (half of the weights are {} or \
                 more). {log1p} tames them all.",
                self.report.weights.median
            );
        }
        advice.weights = WeightTransform::AsIs;
        advice.score = ScoreKind::Probability;
        advice.beta = PROBABILITY_BETA;
        advice.cautions.push(format!(
            "heavy weights can be noise or can be the signal (contacts, co-occurrence counts): look \
             at the heaviest links. If they are real, take {log1p} instead: the probability score \
             takes them for errors."
        ));
        format!(
            "{large}, and {why}. They may be errors, and the probability score does not follow \
             them; the moment score and the likelihood are linear in the weights and would."
        )
    }

    fn advise_on_solver(&self, advice: &mut Advice) {
        let Some(default) = self.report.solvers.iter().find(|cost| cost.is_default) else {
            return;
        };
        (advice.solver, advice.optimizer) = (default.solver, default.optimizer);
        let why = match default.way {
            Way::AllPairs => "are few enough to visit all pairs at every step",
            Way::Blocks => "have too many pairs to visit all at every step",
            Way::Sweeps => {
                "have too many pairs to visit all at every step, and free vectors can move a \
                 block at a time"
            }
        };
        advice.reasons.push(format!(
            "{}, {}: {} nodes {why}; a fit chooses this by itself.",
            self.set(Param::Solver, default.solver.name()),
            self.set(Param::Optimizer, default.optimizer.name()),
            self.report.nodes
        ));
    }

    fn on_few_links_and_features(&self) -> Vec<String> {
        let report = self.report;
        let all = report.views.iter().all(|view| view.vectors.is_some());
        let zero = report.views.iter().filter_map(|view| view.vectors.as_ref());
        let zero: usize = zero.map(|vectors| vectors.zero).sum();
        let (unknown, components) = (report.isolated.without_vectors, report.components.count);
        let (links, nodes) = (report.links, report.nodes);
        let mut cautions = Vec::new();
        if unknown > 0 {
            cautions.push(format!(
                "{unknown} of the nodes have neither links nor features: nothing is known of them, \
                 and their embeddings mean nothing. Leave them out, or give them features."
            ));
        }
        if zero > 0 {
            cautions.push(format!(
                "{zero} of the rows of features are zero: their nodes all get the same embedding."
            ));
        }
        if !all && components > 1 {
            cautions.push(format!(
                "the links fall into {components} components: without features, only missing links \
                 say how the vectors of one lie to those of another."
            ));
        }
        if links < nodes {
            let what = if all {
                format!(
                    "the map has to learn from few; a small {} and a larger {} are safer.",
                    self.dialect.name(Param::Dim.name()),
                    self.dialect.name(Param::Ridge.name())
                )
            } else {
                "too few to learn a free vector for each node; features would help.".to_owned()
            };
            cautions.push(format!(
                "fewer links than nodes ({links} and {nodes}): {what}"
            ));
        }
        cautions
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

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;

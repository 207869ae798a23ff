//! Which settings to begin with, and why, in plain words.

use serde::Serialize;

use super::{Report, Tail, Way};
use crate::error::{Dialect, in_words};
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
    /// This share is too large for counts, and the others lead up to them.
    HeavyTail(f64),
    /// A share is too large for counts, and the probability score cannot follow the
    /// others either.
    ImpossibleAndHeavy {
        /// The share.
        share: f64,
        /// The median weight.
        median: f64,
    },
    /// This share is negative.
    Signed(f64),
    /// A share is too large for counts.
    Impossible {
        /// The share.
        share: f64,
        /// Whether they are far beyond the rest.
        isolated: bool,
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
    /// The heaviest links may be errors.
    HeaviestMayBeErrors,
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
                "{} of the weights are larger than a Poisson count may be, and the others lead up \
                 to them without a gap: such a heavy tail is how real counts (contacts, \
                 co-occurrences) look. {} keeps the order and tames the size.",
                in_percent(*share),
                dialect.with(Param::Weights.name(), &["log1p"])
            ),
            WeightsLook::ImpossibleAndHeavy { share, median } => format!(
                "{} of the weights are larger than a Poisson count may be and may be errors. The \
                 probability score would not follow them, but neither can it follow honest weights \
                 above 1 on a sparse graph (half of the weights are {median} or more): it would \
                 give all links up. {} tames them all.",
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
            WeightsLook::Impossible { share, isolated } => format!(
                "{} of the weights are larger than a Poisson count may be{}. They may be errors, \
                 and the probability score does not follow them; the moment score and the \
                 likelihood are linear in the weights and would.",
                in_percent(*share),
                if *isolated {
                    ", far beyond the rest"
                } else {
                    ""
                }
            ),
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
            Caution::HeaviestMayBeErrors => format!(
                "if the heaviest links are errors, take {} and {} instead: it gives up on weights \
                 that it cannot explain. With these weights that would be much of the signal.",
                probability(),
                set(Param::Weights, "asis")
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
        Tail::Smooth if share >= MANY => {
            advice.weights = WeightTransform::Log1p;
            let heavy = WeightsLook::HeavyTail(share);
            let blind = heavy_for_probability(report);
            (heavy, (!blind).then_some(Caution::HeaviestMayBeErrors))
        }
        Tail::Smooth | Tail::Isolated if heavy_for_probability(report) => {
            advice.weights = WeightTransform::Log1p;
            let median = weights.median;
            (WeightsLook::ImpossibleAndHeavy { share, median }, None)
        }
        Tail::Smooth | Tail::Isolated => {
            advice.score = ScoreKind::Probability;
            advice.beta = PROBABILITY_BETA;
            let isolated = tail == Tail::Isolated;
            let impossible = WeightsLook::Impossible { share, isolated };
            (impossible, Some(Caution::HeavyMayBeReal))
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

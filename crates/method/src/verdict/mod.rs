//! The verdict: what was found about links and embedding, in sentences, and what to do.
//!
//! The command line, Python and the report page print the same sentences. None depends on
//! the unit of the weights.

mod links;

pub use links::{auc, links};

use links::percent;

use std::fmt;

use serde::Serialize;

use crate::judge::Facts;
use crate::model::has_collapsed;

/// What a sentence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// Whether to use the embedding.
    Use,
    /// The share of false links, contradictions and duplicates.
    Links,
    /// What became of planted links.
    Test,
    /// Whether features and links agree.
    Features,
    /// Heavy weights.
    Weights,
    /// Smoothing over believed links.
    Smoothing,
    /// How many dimensions carry information.
    Dimensions,
}

/// What a verdict advises, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// Use the embedding.
    Use,
    /// The embedding is about as good as the features alone.
    Either,
    /// Use the features alone.
    VectorsAlone,
    /// Leave the features out, and fit to the links alone.
    LinksAlone,
    /// A robust fit would do better.
    FitRobustly,
    /// Fit again: the dimensions collapsed.
    FitAgain,
    /// Unknown.
    Unknown,
}

/// A sentence of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// What it is about.
    pub about: Topic,
    /// The sentence.
    pub says: String,
}

impl Said {
    /// A sentence about a topic.
    pub fn new(about: Topic, says: impl Into<String>) -> Said {
        let says = says.into();
        Said { about, says }
    }
}

/// What is known after a robust fit.
#[derive(Debug, Clone, Copy)]
pub struct RobustFacts<'a> {
    /// What the judge found.
    pub judged: &'a Facts,
    /// The number of links.
    pub n_links: usize,
    /// How many of them are flagged.
    pub n_flagged: usize,
    /// The dimension of the embedding.
    pub dim: usize,
    /// How many dimensions carry information.
    pub effective_dimension: f64,
    /// What clusters explain of hidden feature columns, if there are enough columns.
    pub explained: Option<Explained>,
    /// Whether the embedding is smoothed.
    pub averaged: bool,
}

/// The share of the variance (R2) of hidden feature columns that clusters explain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Explained {
    /// Clusters of the embedding before smoothing.
    pub embedding: f64,
    /// Clusters of the smoothed embedding.
    pub smoothed: f64,
    /// Clusters of the features alone.
    pub features: f64,
}

/// The embedding is better than the features alone, or worse, if its explained variance
/// differs by more than this factor.
const CLEARLY: f64 = 0.9;

/// What explains more of hidden feature columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    Embedding,
    Either,
    Features,
    /// Neither explains anything.
    Neither,
}

impl Explained {
    /// The share of the embedding that is used.
    fn used(&self, averaged: bool) -> f64 {
        if averaged {
            self.smoothed
        } else {
            self.embedding
        }
    }

    fn better(&self, averaged: bool) -> Better {
        let (used, features) = (self.used(averaged), self.features);
        match used {
            _ if used <= 0.0 && features <= 0.0 => Better::Neither,
            _ if CLEARLY * used > features => Better::Embedding,
            _ if used < CLEARLY * features => Better::Features,
            _ => Better::Either,
        }
    }
}

/// The advice after a robust fit, and the sentences: use, links, test, dimensions, smoothing.
pub fn robust(facts: &RobustFacts<'_>) -> (Advice, Vec<Said>) {
    let (advice, says) = facts.whether_to_use();
    let mut said = vec![Said::new(Topic::Use, says)];
    said.extend(links(facts.judged, facts.n_links, facts.n_flagged));
    let dimensions = dimensions(facts.effective_dimension, facts.dim);
    said.push(Said::new(Topic::Dimensions, dimensions));
    let smoothing = facts.explained.map(|it| it.smoothing(facts.averaged));
    said.extend(smoothing.map(|says| Said::new(Topic::Smoothing, says)));
    (advice, said)
}

impl RobustFacts<'_> {
    /// Whether to use the embedding.
    fn whether_to_use(&self) -> (Advice, String) {
        let better = self.explained.map(|it| (it, it.better(self.averaged)));
        let collapsed = has_collapsed(self.effective_dimension, self.dim);
        if self.judged.abstained {
            return match better {
                Some((_, Better::Features)) => (
                    Advice::VectorsAlone,
                    "No. The links look random to everything that is known; use the features \
                     alone."
                        .to_owned(),
                ),
                _ if collapsed => (Advice::FitAgain, on_a_line(self)),
                _ => (
                    Advice::Unknown,
                    "Unknown. The links look random to everything that is known.".to_owned(),
                ),
            };
        }
        match better {
            Some((it, Better::Embedding)) => {
                let what = if collapsed {
                    "Yes, for two groups and no more"
                } else {
                    "Yes"
                };
                (
                    Advice::Use,
                    format!("{what}. {}", it.compared(self.averaged)),
                )
            }
            Some((it, Better::Either)) if !collapsed => (
                Advice::Either,
                format!(
                    "As good as the features alone. {}",
                    it.compared(self.averaged)
                ),
            ),
            Some((it, Better::Features)) => (
                Advice::VectorsAlone,
                format!("No. {} Use the features alone.", it.compared(self.averaged)),
            ),
            _ if collapsed => (Advice::FitAgain, on_a_line(self)),
            Some(_) => (
                Advice::LinksAlone,
                "No. Neither its clusters nor k-means on the features explain hidden feature \
                 columns: the features look like noise. Fit to the links alone."
                    .to_owned(),
            ),
            None => (
                Advice::Use,
                format!(
                    "Yes, as far as links show: {} There are no features to compare with.",
                    lowered(&auc(self.judged))
                ),
            ),
        }
    }
}

fn on_a_line(facts: &RobustFacts<'_>) -> String {
    format!("No. {}", collapsed(facts.effective_dimension, facts.dim))
}

/// What is said of an embedding that lost its dimensions.
pub fn collapsed(effective_dimension: f64, dim: usize) -> String {
    format!(
        "{} It tells hardly more than two groups apart. Fit again with a smaller ridge.",
        dimensions(effective_dimension, dim)
    )
}

impl Explained {
    /// How much clusters of the embedding explain against k-means on the features.
    fn compared(&self, averaged: bool) -> String {
        let used = self.used(averaged);
        let what = "of hidden feature columns";
        if self.features <= 0.0 {
            return format!(
                "Its clusters explain {} of the variance {what}; k-means on the features explains \
                 none.",
                percent(used)
            );
        }
        let times = Times(used / self.features);
        format!("Its clusters explain {times} {what} as k-means on the features.")
    }

    /// What smoothing did, or would have done.
    fn smoothing(&self, averaged: bool) -> String {
        let what = if averaged {
            "The embedding is smoothed over believed links: its clusters explain"
        } else {
            "The embedding is not smoothed: smoothed clusters would explain"
        };
        format!(
            "{what} {} of the variance of hidden feature columns, clusters before smoothing {}.",
            percent(self.smoothed.max(0.0)),
            percent(self.embedding.max(0.0))
        )
    }
}

/// A factor before "of .. as ..".
struct Times(f64);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ..0.095 => f.write_str("less than a tenth as much"),
            times if (0.95..1.05).contains(&times) => f.write_str("as much"),
            ..1.0 => write!(f, "{:.0}% as much", 100.0 * self.0),
            times => write!(f, "{times:.1} times as much"),
        }
    }
}

/// How many dimensions carry information, in a sentence.
pub fn dimensions(effective_dimension: f64, dim: usize) -> String {
    let verb = |count: f64| if count == 1.0 { "carries" } else { "carry" };
    match effective_dimension {
        ..0.5 => format!("None of {dim} carries information: all nodes have the same embedding."),
        _ if has_collapsed(effective_dimension, dim) => {
            format!("{effective_dimension:.1} of {dim} carry information.")
        }
        used => format!("{:.0} of {dim} {} information.", used, verb(used.round())),
    }
}

/// A sentence with a small first letter, to stand behind a colon.
pub(crate) fn lowered(says: &str) -> String {
    let mut letters = says.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests;

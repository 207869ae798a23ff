//! What a fit is good for, by the facts that are known of it. None of it depends on the unit
//! of the weights.

use std::cmp::Ordering;

use serde::Serialize;

use crate::judge::{Facts, Tally};
use crate::model::has_collapsed;

/// What to do with a fit, in one word.
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

/// The share of the variance (R2) of hidden feature columns that clusters explain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Explained {
    /// Clusters of the embedding before smoothing.
    pub plain: f64,
    /// Clusters of the smoothed embedding.
    pub smoothed: f64,
    /// Clusters of the other feature columns, without any link.
    pub features: f64,
}

impl Explained {
    /// The share of the embedding that is used.
    pub fn used(&self, averaged: bool) -> f64 {
        if averaged { self.smoothed } else { self.plain }
    }

    /// How the embedding that is used lies to the features alone; none if neither explains
    /// anything.
    fn compared(&self, averaged: bool) -> Option<Ordering> {
        let (used, features) = (self.used(averaged), self.features);
        match used {
            _ if used <= 0.0 && features <= 0.0 => None,
            _ if CLEARLY * used > features => Some(Ordering::Greater),
            _ if used < CLEARLY * features => Some(Ordering::Less),
            _ => Some(Ordering::Equal),
        }
    }

    /// Whether smoothed embeddings explain at least such a share of what embeddings do.
    pub fn passes(&self, least: f64) -> bool {
        self.smoothed > 0.0 && self.smoothed >= least * self.plain
    }

    /// What smoothed embeddings explain, as a share of what embeddings explain.
    pub fn share(&self) -> Option<f64> {
        (self.plain > 0.0).then(|| self.smoothed / self.plain)
    }
}

/// What is known after a robust fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustFacts {
    /// What the judge found.
    pub judged: Facts,
    /// How many links there are of each sort.
    pub tally: Tally,
    /// Whether there was to be a test with planted links.
    pub tested: bool,
    /// The dimension of the embedding.
    pub dim: usize,
    /// How many dimensions carry information.
    pub effective_dimension: f64,
    /// What clusters explain of hidden feature columns, if there are enough columns.
    pub explained: Option<Explained>,
    /// Whether the embedding is smoothed.
    pub averaged: bool,
}

/// The embedding is better than the features alone, or worse, if its explained variance
/// differs by more than this factor.
const CLEARLY: f64 = 0.9;

/// Clusters that explain less than this share of the variance explain nothing.
const LEAST_EXPLAINED: f64 = 1e-3;

impl RobustFacts {
    /// What clusters of the features alone explain, as a share of what clusters of the
    /// recommended embeddings explain: above 1, the links do harm.
    pub fn features_alone(&self) -> Option<f64> {
        let explained = self.explained?;
        let used = explained.used(self.averaged);
        let something = used > 0.0 || explained.features > 0.0;
        something.then(|| explained.features / used.max(LEAST_EXPLAINED))
    }

    /// What to do.
    pub fn advice(&self) -> Advice {
        let collapsed = has_collapsed(self.effective_dimension, self.dim);
        match self.explained.map(|it| it.compared(self.averaged)) {
            Some(Some(Ordering::Less)) => Advice::VectorsAlone,
            Some(Some(Ordering::Greater)) if !self.judged.abstained => Advice::Use,
            _ if collapsed => Advice::FitAgain,
            _ if self.judged.abstained => Advice::Unknown,
            None => Advice::Use,
            Some(None) => Advice::LinksAlone,
            Some(Some(_)) => Advice::Either,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_keeps_its_names() {
        for (advice, name) in [
            (Advice::Use, "use"),
            (Advice::Either, "either"),
            (Advice::VectorsAlone, "vectors-alone"),
            (Advice::LinksAlone, "links-alone"),
            (Advice::FitRobustly, "fit-robustly"),
            (Advice::FitAgain, "fit-again"),
            (Advice::Unknown, "unknown"),
        ] {
            assert_eq!(serde_json::json!(advice), name);
        }
    }
}

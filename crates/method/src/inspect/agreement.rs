//! Whether features and links agree: whether linked nodes have more similar features than
//! random pairs of the same degrees.

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::error::Result;
use crate::explained::explained_by_features;
use crate::judge::{Judgment, Kind};
use linkproof_numeric::math;

/// Links are alike, or unlike, if the AUC differs from a half by this much, and by this
/// many standard errors.
const LEAST_EXCESS: f64 = 0.03;
const LEAST_ERRORS: f64 = 4.0;
/// With a larger standard error nothing is claimed.
const LARGEST_ERROR: f64 = 0.0125;

/// How links lie to features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Links join nodes with similar features, or features that go together.
    Agree,
    /// Features and links have nothing in common.
    Unrelated,
    /// Links join nodes with unlike features.
    Opposed,
    /// There are too few links.
    Unclear,
}

/// Whether features and links agree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// How often a link outranks a random pair of its degrees by features (AUC).
    pub alike: f64,
    /// Its standard error.
    pub error: f64,
    /// The number of links that were compared.
    pub links: usize,
    /// How links lie to features.
    pub relation: Relation,
    /// Whether k-means on the features alone is a better choice than an embedding.
    pub vectors_alone: bool,
}

impl Agreement {
    /// Reads the judge's evidence from features: similarity, or if the two sides have
    /// other columns, features that go together. None without features on both sides.
    pub(super) fn new(data: &Dataset, judged: &Judgment, seed: u64) -> Result<Option<Agreement>> {
        let kinds = &judged.facts.kinds;
        let mut places = [Kind::Features, Kind::TraitPairs]
            .into_iter()
            .filter_map(|kind| kinds.iter().position(|&it| it == kind));
        let Some(place) = places.next() else {
            return Ok(None);
        };
        let ranks = judged.tails[place].iter().filter(|tail| !tail.is_nan());
        let ranks: Vec<f64> = ranks.map(|&it| 1.0 - math::exp(-f64::from(it))).collect();
        if ranks.is_empty() {
            return Ok(None);
        }
        let m = ranks.len() as f64;
        let alike = ranks.iter().sum::<f64>() / m;
        let squares = ranks.iter().map(|rank| (rank - alike).powi(2));
        let error = (squares.sum::<f64>() / (m * m)).sqrt();
        let relation = relation(alike, error);
        let is_apart = matches!(relation, Relation::Unrelated | Relation::Opposed);
        Ok(Some(Agreement {
            alike,
            error,
            links: ranks.len(),
            relation,
            vectors_alone: is_apart && features_show_groups(data, seed)?,
        }))
    }
}

fn relation(alike: f64, error: f64) -> Relation {
    let least = LEAST_EXCESS.max(LEAST_ERRORS * error);
    match alike - 0.5 {
        excess if excess >= least => Relation::Agree,
        excess if excess <= -least => Relation::Opposed,
        _ if error <= LARGEST_ERROR => Relation::Unrelated,
        _ => Relation::Unclear,
    }
}

/// Whether clusters of the features explain held-out columns in any view; true if no view
/// has enough columns.
fn features_show_groups(data: &Dataset, seed: u64) -> Result<bool> {
    let mut measured = false;
    for matrix in data.views().iter().filter_map(|view| view.matrix.as_ref()) {
        if let Some(explained) = explained_by_features(matrix, seed)? {
            if explained > 0.0 {
                return Ok(true);
            }
            measured = true;
        }
    }
    Ok(!measured)
}

#[cfg(test)]
#[path = "agreement_tests.rs"]
mod tests;

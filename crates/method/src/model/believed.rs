//! What a model keeps of its links beside their weights: how they were judged, and the
//! features that new links are judged by.

use crate::data::features::Matrix;
use crate::data::graph::Graph;
use crate::judge::{Columns, Facts, Judgment};

/// The judgment of the links of a robust fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Believed {
    /// Numbers by name, one for each link in the order of the model's links:
    /// [`Believed::BELIEF`], and the evidence.
    pub numbers: Columns,
    /// What holds for all links together; none of models of earlier versions.
    pub facts: Option<Facts>,
    /// Whether the links look random to everything that is known.
    pub abstained: bool,
    /// Rounds of smoothing over believed links; 0 if smoothed embeddings are not
    /// recommended.
    pub rounds: usize,
    /// The features of each view's nodes, in row order.
    pub vectors: Vec<Option<Matrix>>,
}

impl Believed {
    /// The name of the beliefs among the numbers.
    pub const BELIEF: &'static str = "belief";

    /// The belief in each link.
    pub fn beliefs(&self) -> &[f64] {
        let beliefs = self.numbers.get(Believed::BELIEF);
        beliefs.map_or(&[], Vec::as_slice)
    }

    /// The judgment, of `links` of the model; none of models of earlier versions.
    pub fn judgment(&self, links: &Graph) -> Option<Judgment> {
        let facts = self.facts.clone()?;
        Judgment::from_columns(links.links(), &self.numbers, facts).ok()
    }

    /// Whether it is of so many links and such views.
    pub(super) fn fits(&self, n_links: usize, n_views: usize) -> bool {
        let whole = |numbers: &Vec<f64>| numbers.len() == n_links;
        self.numbers.contains_key(Believed::BELIEF)
            && self.numbers.values().all(whole)
            && (self.vectors.is_empty() || self.vectors.len() == n_views)
    }
}

/// Classes of nodes, as the user knows them.
#[derive(Debug, Clone, PartialEq)]
pub struct Classes {
    /// The classes, as the labels have them.
    pub names: Vec<String>,
    /// What they are called, where the labels are codes for that; else none.
    pub titles: Vec<String>,
    /// The class of each node, in row order, where it has one.
    pub codes: Vec<Option<u32>>,
}

impl Classes {
    /// What classes are shown as: what they are called, or else their labels.
    pub fn shown(&self) -> Vec<&str> {
        let titled = |(place, name)| match self.titles.get(place) {
            Some(title) if !String::is_empty(title) => title.as_str(),
            _ => String::as_str(name),
        };
        self.names.iter().enumerate().map(titled).collect()
    }

    /// Whether it is of so many nodes.
    pub(super) fn fits(&self, n: usize) -> bool {
        let known = |code: &u32| (*code as usize) < self.names.len();
        self.codes.len() == n
            && self.codes.iter().flatten().all(known)
            && (self.titles.is_empty() || self.titles.len() == self.names.len())
    }
}

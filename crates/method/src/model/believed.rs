//! What a model keeps of links beside their weights: how far a robust fit
//! believes them, and what links of unseen nodes are judged by.

use std::collections::BTreeMap;

use crate::data::features::Matrix;

/// What a robust fit knows of its links.
#[derive(Debug, Clone, PartialEq)]
pub struct Believed {
    /// Numbers by name, one for each link in the order of the model's links:
    /// [`Believed::BELIEF`], and what spoke for and against it.
    pub numbers: BTreeMap<String, Vec<f64>>,
    /// Whether links could not be told from pairs without a link.
    pub abstained: bool,
    /// The ridge of the fits that judged links.
    pub judge_ridge: f64,
    /// Rounds of averaging over believed links; 0 where averages are not
    /// recommended.
    pub rounds: usize,
    /// The data vectors of each view's nodes, in row order, for links of unseen
    /// nodes; none where averages are not recommended.
    pub vectors: Vec<Option<Matrix>>,
}

impl Believed {
    /// The name of the chance that a link is sound.
    pub const BELIEF: &'static str = "belief";

    /// The numbers of a name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.numbers.get(name).map(Vec::as_slice)
    }

    /// The chance that each link is sound.
    pub fn beliefs(&self) -> &[f64] {
        self.column(Believed::BELIEF).unwrap_or_default()
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

//! Features as the judge compares them: prepared rows, and few numbers that stand for them.

use super::rows::{Rows, to_unit_rows};
use crate::data::dataset::{DataView, Dataset};
use crate::data::features::Matrix;

/// Numbers that stand for the features of a node: so many leading singular triples.
const FEATURE_DIM: usize = 64;
/// With many feature spaces, so many at least for each.
const LEAST_DIM: usize = 16;

/// A node without features.
const NO_ROW: u32 = u32::MAX;

/// Nodes whose features have the same columns.
struct Space {
    rows: Rows,
    /// For each row how similar it is to everything on average (dense: its squared length).
    usual: Vec<f64>,
}

/// The features of all nodes.
pub(super) struct FeatureSpaces {
    spaces: Vec<Space>,
    /// For each node its space and its row there.
    places: Vec<(u32, u32)>,
    /// Whether a node has no features, or only zeros.
    pub silent: Vec<bool>,
    /// For each node the constant and the leading singular vectors of its space.
    pub z: Vec<f64>,
    /// The numbers of a row of `z`.
    pub width: usize,
    /// The columns of `z` that are constant within a space.
    constants: Vec<usize>,
}

impl FeatureSpaces {
    /// The features of `data`, whose internal row `r` is the node `node_of[r]`; a node
    /// takes the features of the first of its rows. None if no view has features.
    pub fn new(data: &Dataset, node_of: &[u32], n: usize, seed: u64) -> Option<FeatureSpaces> {
        let views: Vec<&DataView> = data.views().iter().collect();
        if views.iter().all(|view| view.matrix.is_none()) {
            return None;
        }
        let mut places = vec![(0, NO_ROW); n];
        let mut known = vec![false; n];
        let mut spaces = Vec::new();
        let mut silent = vec![true; n];
        let mut labels: Vec<usize> = views.iter().map(|view| view.space).collect();
        labels.sort_unstable();
        labels.dedup();
        for (place, &label) in labels.iter().enumerate() {
            let members = views.iter().filter(|view| view.space == label);
            let mut parts: Vec<(&Matrix, Vec<u32>)> = Vec::new();
            let mut count = 0u32;
            for view in members {
                let mut rows = Vec::new();
                for (row, inside) in view.rows.clone().enumerate() {
                    let node = node_of[inside] as usize;
                    if known[node] {
                        continue;
                    }
                    known[node] = true;
                    places[node] = (place as u32, NO_ROW);
                    if let Some(matrix) = &view.matrix {
                        places[node].1 = count;
                        silent[node] = matrix.row(row).iter().all(|&(_, x)| x == 0.0);
                        rows.push(row as u32);
                        count += 1;
                    }
                }
                if let Some(matrix) = &view.matrix {
                    parts.push((matrix, rows));
                }
            }
            let rows = Rows::new(&parts);
            let usual = rows.usual(count as usize);
            spaces.push(Space { rows, usual });
        }
        let mut features = FeatureSpaces {
            spaces,
            places,
            silent,
            z: Vec::new(),
            width: 0,
            constants: Vec::new(),
        };
        features.reduce(n, seed);
        Some(features)
    }

    /// Fills `z`.
    fn reduce(&mut self, n: usize, seed: u64) {
        let most = (2 * FEATURE_DIM / self.spaces.len()).clamp(LEAST_DIM, FEATURE_DIM);
        let reduced: Vec<(Vec<f64>, usize)> = self
            .spaces
            .iter()
            .map(|space| space.rows.reduced(space.usual.len(), most, seed))
            .collect();
        self.width = reduced.iter().map(|(_, width)| width + 1).sum();
        let mut firsts = Vec::new();
        let mut first = 0;
        for (_, width) in &reduced {
            firsts.push(first);
            first += width + 1;
        }
        self.z = vec![0.0; n * self.width];
        for (row, &(space, place)) in self.z.chunks_exact_mut(self.width).zip(&self.places) {
            let (numbers, width) = &reduced[space as usize];
            let first = firsts[space as usize];
            row[first] = 0.1;
            if place != NO_ROW {
                let from = place as usize * width;
                row[first + 1..first + 1 + width].copy_from_slice(&numbers[from..from + width]);
            }
        }
        self.constants = firsts;
    }

    /// `z` without its constants, in rows of unit length; and the width of these.
    pub fn unit_rows(&self) -> (Vec<f64>, usize) {
        let kept: Vec<usize> = (0..self.width)
            .filter(|column| !self.constants.contains(column))
            .collect();
        let mut rows: Vec<f64> = self
            .z
            .chunks_exact(self.width)
            .flat_map(|row| kept.iter().map(|&column| row[column]))
            .collect();
        to_unit_rows(&mut rows, kept.len());
        (rows, kept.len())
    }

    /// Whether both nodes have features in one space.
    pub fn comparable(&self, i: u32, j: u32) -> bool {
        let (a, b) = (self.places[i as usize], self.places[j as usize]);
        a.0 == b.0 && a.1 != NO_ROW && b.1 != NO_ROW
    }

    /// How similar two nodes are beyond what each is with everything; 0 if they have no
    /// features in common.
    pub fn nearness(&self, i: u32, j: u32) -> f64 {
        if !self.comparable(i, j) {
            return 0.0;
        }
        let (space, a) = self.places[i as usize];
        let b = self.places[j as usize].1 as usize;
        let (space, a) = (&self.spaces[space as usize], a as usize);
        space.rows.product(a, b) - (space.usual[a] + space.usual[b]) / 2.0
    }

    /// Nodes whose feature rows are equal, in groups of at most `most`; nodes without
    /// features are in none.
    pub fn equal_rows(&self, most: usize) -> Vec<Vec<u32>> {
        let mut groups: std::collections::BTreeMap<(u32, u64), Vec<u32>> =
            std::collections::BTreeMap::new();
        for (node, &(space, row)) in self.places.iter().enumerate() {
            if row != NO_ROW && !self.silent[node] {
                let digest = self.spaces[space as usize].rows.digest(row as usize);
                groups.entry((space, digest)).or_default().push(node as u32);
            }
        }
        let mut found = Vec::new();
        for ((space, _), nodes) in groups {
            let rows = &self.spaces[space as usize].rows;
            let row = |node: u32| self.places[node as usize].1 as usize;
            let equal = nodes
                .iter()
                .all(|&node| rows.same(row(nodes[0]), row(node)));
            if (2..=most).contains(&nodes.len()) && equal {
                found.push(nodes);
            }
        }
        found
    }
}

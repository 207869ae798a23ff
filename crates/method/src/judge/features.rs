//! Features as the judge compares them: prepared rows, and few numbers that stand for them.

use super::evidence::NodeRows;
use super::rows::{Rows, to_unit_rows};
use crate::data::dataset::{DataView, Dataset};
use crate::data::features::Matrix;

/// Numbers that stand for the features of a node: so many leading singular triples.
const FEATURE_DIM: usize = 64;
/// With many feature spaces, so many at least for each.
const LEAST_DIM: usize = 16;

/// A node without features.
const NO_ROW: u32 = u32::MAX;

/// The features of all nodes.
pub(super) struct FeatureSpaces {
    /// Nodes whose features have the same columns.
    spaces: Vec<Rows>,
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
            spaces.push(Rows::new(&parts));
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
        let spaces = self.spaces.iter();
        let reduced: Vec<(Vec<f64>, usize)> = spaces.map(|rows| rows.reduced(most, seed)).collect();
        for (_, width) in &reduced {
            self.constants.push(self.width);
            self.width += width + 1;
        }
        self.z = vec![0.0; n * self.width];
        for (row, &(space, place)) in self.z.chunks_exact_mut(self.width).zip(&self.places) {
            let (numbers, width) = &reduced[space as usize];
            let row = &mut row[self.constants[space as usize]..];
            row[0] = 0.1;
            if place != NO_ROW {
                row[1..=*width].copy_from_slice(&numbers[place as usize * width..][..*width]);
            }
        }
    }

    /// `z` without its constants, in rows of unit length.
    pub fn unit_rows(&self) -> NodeRows {
        let kept = (0..self.width).filter(|column| !self.constants.contains(column));
        let kept: Vec<usize> = kept.collect();
        let rows = self.z.chunks_exact(self.width);
        let rows = rows.flat_map(|row| kept.iter().map(|&column| row[column]));
        let mut rows: Vec<f64> = rows.collect();
        to_unit_rows(&mut rows, kept.len());
        NodeRows::alike(rows, kept.len())
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
        let [(space, a), (_, b)] = [i, j].map(|node| self.places[node as usize]);
        self.spaces[space as usize].nearness(a as usize, b as usize)
    }

    /// Nodes whose feature rows are equal, in groups of at most `most`; nodes without
    /// features are in none.
    pub fn equal_rows(&self, most: usize) -> Vec<Vec<u32>> {
        let order = |a: &u32, b: &u32| {
            let [(space, a), (other, b)] = [a, b].map(|&node| self.places[node as usize]);
            let order = space.cmp(&other);
            order.then_with(|| self.spaces[space as usize].order(a as usize, b as usize))
        };
        let nodes = 0..self.places.len() as u32;
        let mut nodes: Vec<u32> = nodes.filter(|&node| !self.silent[node as usize]).collect();
        nodes.sort_by(order);
        let groups = nodes.chunk_by(|a, b| order(a, b).is_eq());
        let few = groups.filter(|nodes| (2..=most).contains(&nodes.len()));
        few.map(<[u32]>::to_vec).collect()
    }
}

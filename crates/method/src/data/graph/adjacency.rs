//! Links in both directions.

use super::Link;

/// Pairs listed under both their rows (of a graph's links: targets ascending).
#[derive(Debug, Clone)]
pub struct Adjacency {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
}

impl Adjacency {
    /// From pairs of different rows, each listed once; a row's targets stand
    /// in the order of the list, smaller rows first.
    pub fn new(n_rows: usize, pairs: impl Iterator<Item = Link> + Clone) -> Adjacency {
        let mut offsets = vec![0usize; n_rows + 1];
        for pair in pairs.clone() {
            offsets[pair.src as usize + 1] += 1;
            offsets[pair.dst as usize + 1] += 1;
        }
        for row in 0..n_rows {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; offsets[n_rows]];
        let mut weights = vec![0.0; offsets[n_rows]];
        let mut put = |from: u32, to: u32, weight: f64| {
            let place = &mut next[from as usize];
            targets[*place] = to;
            weights[*place] = weight;
            *place += 1;
        };
        // For sorted links this order keeps every row's targets ascending: a
        // row first receives its smaller neighbours, then its larger ones.
        for pair in pairs.clone() {
            put(pair.src.max(pair.dst), pair.src.min(pair.dst), pair.weight);
        }
        for pair in pairs {
            put(pair.src.min(pair.dst), pair.src.max(pair.dst), pair.weight);
        }
        Adjacency {
            offsets,
            targets,
            weights,
        }
    }

    /// The neighbours of a row and the weights of their links.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.targets[range.clone()], &self.weights[range])
    }

    /// The number of pairs.
    pub fn n_pairs(&self) -> usize {
        self.targets.len() / 2
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }
}

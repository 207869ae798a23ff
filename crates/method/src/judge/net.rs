//! The links as the judge sees them: neighbors of each node, with or without direction.

use linkproof_numeric::linear::TallProduct;
use linkproof_numeric::real::add_scaled;
use rayon::prelude::*;

/// Rows of a product that one task computes.
const ROWS: usize = 256;

/// Neighbors of each node, in ascending order.
#[derive(Debug, Clone)]
pub(crate) struct Neighbors {
    offsets: Vec<usize>,
    targets: Vec<u32>,
}

impl Neighbors {
    /// The second ends of some ordered pairs under their first.
    pub fn new(n: usize, pairs: impl Iterator<Item = [u32; 2]> + Clone) -> Neighbors {
        let mut offsets = vec![0usize; n + 1];
        for [from, _] in pairs.clone() {
            offsets[from as usize + 1] += 1;
        }
        for node in 0..n {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; offsets[n]];
        for [from, to] in pairs {
            targets[next[from as usize]] = to;
            next[from as usize] += 1;
        }
        for node in 0..n {
            targets[offsets[node]..offsets[node + 1]].sort_unstable();
        }
        Neighbors { offsets, targets }
    }

    /// The neighbors of a node.
    pub fn of(&self, node: usize) -> &[u32] {
        &self.targets[self.offsets[node]..self.offsets[node + 1]]
    }

    /// How many neighbors a node has.
    pub fn degree(&self, node: usize) -> usize {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// For each node the sum of the rows of its neighbors.
    pub fn sums(&self, rows: &[f64], width: usize) -> Vec<f64> {
        let mut out = vec![0.0; (self.offsets.len() - 1) * width];
        let neighbors = |node: usize| self.of(node).iter().map(|&other| (other, 1.0));
        sum_rows(rows, width, &mut out, |node| (1.0, neighbors(node)));
        out
    }
}

/// Links between nodes. A link of an undirected net stands under both its ends.
#[derive(Debug, Clone)]
pub(crate) struct Net {
    /// Whether a link from i to j is another one than a link from j to i.
    pub directed: bool,
    out: Neighbors,
    into: Option<Neighbors>,
}

impl Net {
    /// A net of `n` nodes.
    pub fn new(n: usize, directed: bool, links: impl Iterator<Item = [u32; 2]> + Clone) -> Net {
        let turned = links.clone().map(|[i, j]| [j, i]);
        let (out, into) = if directed {
            (Neighbors::new(n, links), Some(Neighbors::new(n, turned)))
        } else {
            (Neighbors::new(n, links.chain(turned)), None)
        };
        Net {
            directed,
            out,
            into,
        }
    }

    /// The number of nodes.
    pub fn n(&self) -> usize {
        self.out.offsets.len() - 1
    }

    /// Where links from a node lead.
    pub fn outgoing(&self) -> &Neighbors {
        &self.out
    }

    /// Where links to a node come from.
    pub fn incoming(&self) -> &Neighbors {
        self.into.as_ref().unwrap_or(&self.out)
    }

    /// The number of links from one node, and of those to another.
    pub fn degrees(&self, [i, j]: [u32; 2]) -> [f64; 2] {
        let into = self.incoming().degree(j as usize);
        [self.out.degree(i as usize) as f64, into as f64]
    }

    /// The number of links at a node, of either direction.
    pub fn degree(&self, node: usize) -> f64 {
        let into = self.into.as_ref().map_or(0, |into| into.degree(node));
        (self.out.degree(node) + into) as f64
    }

    /// Whether there is a link from i to j.
    pub fn has(&self, i: u32, j: u32) -> bool {
        self.out.of(i as usize).binary_search(&j).is_ok()
    }
}

/// Writes to each row of `out` the sum of some rows of `q`, each times a factor of its own;
/// the sum is multiplied, too. `terms`: the factor of a sum, and its terms.
pub(super) fn sum_rows<I: Iterator<Item = (u32, f64)>>(
    q: &[f64],
    width: usize,
    out: &mut [f64],
    terms: impl Fn(usize) -> (f64, I) + Sync,
) {
    if width == 0 {
        return;
    }
    let blocks = out.par_chunks_mut(width * ROWS).enumerate();
    blocks.for_each(|(block, out)| {
        for (row, sum) in (block * ROWS..).zip(out.chunks_exact_mut(width)) {
            let (factor, terms) = terms(row);
            sum.fill(0.0);
            for (from, x) in terms {
                let from = from as usize * width;
                add_scaled(sum, x, &q[from..from + width]);
            }
            sum.iter_mut().for_each(|x| *x *= factor);
        }
    });
}

/// A net as a matrix, its rows and columns scaled.
pub(super) struct ScaledNet<'n> {
    net: &'n Net,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl<'n> ScaledNet<'n> {
    /// `D_out^-1/2 A D_in^-1/2`; if `calm`, the mean degree is added to each degree, else no
    /// degree is below 1.
    pub fn new(net: &'n Net, calm: bool) -> ScaledNet<'n> {
        let scale = |neighbors: &Neighbors| -> Vec<f64> {
            let mean = neighbors.targets.len() as f64 / net.n().max(1) as f64;
            let root = |node: usize| {
                let degree = neighbors.degree(node) as f64;
                let degree = if calm { degree + mean } else { degree.max(1.0) };
                // Without a link there is nothing to scale.
                1.0 / degree.max(f64::MIN_POSITIVE).sqrt()
            };
            (0..net.n()).map(root).collect()
        };
        ScaledNet {
            net,
            rows: scale(net.outgoing()),
            columns: scale(net.incoming()),
        }
    }
}

impl TallProduct for ScaledNet<'_> {
    fn n_out(&self) -> usize {
        self.net.n()
    }

    fn n_in(&self) -> usize {
        self.net.n()
    }

    fn apply(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        let of = self.net.outgoing();
        let terms = |row| of.of(row).iter().map(|&to| (to, self.columns[to as usize]));
        sum_rows(q, columns, out, |row| (self.rows[row], terms(row)));
    }

    fn apply_transposed(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        let of = self.net.incoming();
        let terms = |row| of.of(row).iter().map(|&to| (to, self.rows[to as usize]));
        sum_rows(q, columns, out, |row| (self.columns[row], terms(row)));
    }
}

//! The links as the judge sees them: neighbors of each node, with or without direction.

use linkproof_numeric::linear::TallProduct;
use linkproof_numeric::real::add_scaled;
use rayon::prelude::*;

/// Rows of a product that one task computes.
const ROWS: usize = 512;

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

    /// The number of nodes.
    pub fn n(&self) -> usize {
        self.offsets.len() - 1
    }

    fn degrees(&self) -> Vec<f64> {
        (0..self.n()).map(|node| self.degree(node) as f64).collect()
    }
}

/// Links between nodes. A link of an undirected net stands under both its ends.
#[derive(Debug, Clone)]
pub(crate) struct Net {
    /// Whether a link from i to j is another one than a link from j to i.
    pub directed: bool,
    out: Neighbors,
    into: Option<Neighbors>,
    /// The number of links from each node.
    pub d_out: Vec<f64>,
    /// The number of links to each node.
    pub d_in: Vec<f64>,
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
        let d_out = out.degrees();
        let d_in = into
            .as_ref()
            .map_or_else(|| d_out.clone(), Neighbors::degrees);
        Net {
            directed,
            out,
            into,
            d_out,
            d_in,
        }
    }

    /// The number of nodes.
    pub fn n(&self) -> usize {
        self.out.n()
    }

    /// Where links from a node lead.
    pub fn outgoing(&self) -> &Neighbors {
        &self.out
    }

    /// Where links to a node come from.
    pub fn incoming(&self) -> &Neighbors {
        self.into.as_ref().unwrap_or(&self.out)
    }

    /// The number of links at a node, of either direction.
    pub fn degree(&self, node: usize) -> f64 {
        if self.directed {
            self.d_out[node] + self.d_in[node]
        } else {
            self.d_out[node]
        }
    }

    /// Whether there is a link from i to j.
    pub fn has(&self, i: u32, j: u32) -> bool {
        self.out.of(i as usize).binary_search(&j).is_ok()
    }
}

/// A net as a matrix, its rows and columns scaled.
pub(super) struct ScaledNet<'n> {
    net: &'n Net,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl<'n> ScaledNet<'n> {
    /// `D_out^-1/2 A D_in^-1/2`, with `extra` times the mean degree added to degrees, and
    /// no degree below 1 without that.
    pub fn new(net: &'n Net, calm: bool) -> ScaledNet<'n> {
        let scale = |degrees: &[f64]| -> Vec<f64> {
            let mean = degrees.iter().sum::<f64>() / degrees.len().max(1) as f64;
            let scaled = |&degree: &f64| if calm { degree + mean } else { degree.max(1.0) };
            let root = |degree: f64| {
                if degree > 0.0 {
                    1.0 / degree.sqrt()
                } else {
                    0.0
                }
            };
            degrees.iter().map(scaled).map(root).collect()
        };
        ScaledNet {
            net,
            rows: scale(&net.d_out),
            columns: scale(&net.d_in),
        }
    }
}

/// `out = diag(rows) A diag(columns) q`.
fn product(
    neighbors: &Neighbors,
    (rows, columns): (&[f64], &[f64]),
    q: &[f64],
    width: usize,
    out: &mut [f64],
) {
    if width == 0 {
        return;
    }
    out.par_chunks_mut(width * ROWS)
        .enumerate()
        .for_each(|(block, out)| {
            for (place, sum) in out.chunks_exact_mut(width).enumerate() {
                let row = block * ROWS + place;
                sum.fill(0.0);
                for &to in neighbors.of(row) {
                    let to = to as usize;
                    add_scaled(sum, columns[to], &q[to * width..(to + 1) * width]);
                }
                sum.iter_mut().for_each(|x| *x *= rows[row]);
            }
        });
}

impl TallProduct for ScaledNet<'_> {
    fn n_out(&self) -> usize {
        self.net.n()
    }

    fn n_in(&self) -> usize {
        self.net.n()
    }

    fn apply(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        let scales = (&self.rows[..], &self.columns[..]);
        product(self.net.outgoing(), scales, q, columns, out);
    }

    fn apply_transposed(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        let scales = (&self.columns[..], &self.rows[..]);
        product(self.net.incoming(), scales, q, columns, out);
    }
}

/// For each node the sum of the rows of its neighbors.
pub(super) fn sums_of_neighbors(neighbors: &Neighbors, y: &[f64], width: usize) -> Vec<f64> {
    let ones = vec![1.0; neighbors.n()];
    let mut out = vec![0.0; neighbors.n() * width];
    product(neighbors, (&ones, &ones), y, width, &mut out);
    out
}

//! The size and shape of data: views, data vectors, degrees.

use serde::Serialize;

use super::quantile;
use crate::data::dataset::Dataset;
use crate::data::features::Matrix;

/// How many nodes are named as examples.
const EXAMPLES: usize = 5;

/// A view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViewShape {
    /// Its name; empty when there is only one, unnamed view.
    pub name: String,
    /// Its nodes.
    pub nodes: usize,
    /// Those of them without links.
    pub isolated: usize,
    /// Their data vectors, if they have any.
    pub vectors: Option<Vectors>,
}

/// Data vectors. That their entries are finite has been checked before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Vectors {
    /// Their dimension.
    pub dim: usize,
    /// Whether they came as stored entries only.
    pub sparse: bool,
    /// The share of the entries that are not zero.
    pub density: f64,
    /// Vectors without any entry but zero, which say nothing of their nodes.
    pub zero: usize,
}

/// The links between two views, or inside one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViewLinks {
    /// The names of the two views.
    pub views: (String, String),
    /// Linked pairs.
    pub links: usize,
    /// All pairs.
    pub pairs: u64,
}

/// The number of links of a node, over all nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Degrees {
    /// The mean.
    pub mean: f64,
    /// The smallest.
    pub min: u32,
    /// A quarter of the nodes have no more.
    pub q25: u32,
    /// Half of the nodes have no more.
    pub median: u32,
    /// Three quarters of the nodes have no more.
    pub q75: u32,
    /// 99% of the nodes have no more.
    pub q99: u32,
    /// The largest.
    pub max: u32,
    /// The nodes with most links, five at most.
    pub largest: Vec<Hub>,
}

/// A node with many links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hub {
    /// Its id.
    pub node: String,
    /// Its number of links.
    pub degree: u32,
}

/// Nodes without links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Isolated {
    /// How many there are.
    pub count: usize,
    /// How many of them have no data vector either.
    pub without_vectors: usize,
    /// The first few, by their ids.
    pub examples: Vec<String>,
}

/// The number of pairs of `n` nodes.
pub(super) fn n_pairs(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

pub(super) fn views(data: &Dataset, degrees: &[u32]) -> Vec<ViewShape> {
    let views = data.views().iter();
    views
        .map(|view| ViewShape {
            name: view.name.clone(),
            nodes: view.rows.len(),
            isolated: count_zero(&degrees[view.rows.clone()]),
            vectors: view.matrix.as_ref().map(vectors),
        })
        .collect()
}

fn count_zero(degrees: &[u32]) -> usize {
    degrees.iter().filter(|&&degree| degree == 0).count()
}

fn vectors(matrix: &Matrix) -> Vectors {
    let (n, dim) = (matrix.n_rows(), matrix.n_columns());
    let filled = |row| matrix.row(row).iter().filter(|(_, x)| *x != 0.0).count();
    let filled: Vec<usize> = (0..n).map(filled).collect();
    Vectors {
        dim,
        sparse: matches!(matrix, Matrix::Sparse(_)),
        density: filled.iter().sum::<usize>() as f64 / (n as f64 * dim as f64).max(1.0),
        zero: filled.iter().filter(|filled| **filled == 0).count(),
    }
}

pub(super) fn view_pairs(data: &Dataset) -> Vec<ViewLinks> {
    let views = data.views();
    let mut counts = vec![0; views.len() * views.len()];
    for link in data.graph().links() {
        // Rows are grouped by view, and `src < dst`.
        counts[data.view_of(link.src) * views.len() + data.view_of(link.dst)] += 1;
    }
    let places = (0..counts.len()).filter(|&place| counts[place] > 0);
    places
        .map(|place| {
            let (d, e) = (&views[place / views.len()], &views[place % views.len()]);
            let pairs = if d.rows == e.rows {
                n_pairs(d.rows.len())
            } else {
                d.rows.len() as u64 * e.rows.len() as u64
            };
            ViewLinks {
                views: (d.name.clone(), e.name.clone()),
                links: counts[place],
                pairs,
            }
        })
        .collect()
}

/// `degrees` by internal row.
pub(super) fn degrees(data: &Dataset, degrees: Vec<u32>) -> Degrees {
    let mut rows: Vec<usize> = (0..degrees.len()).collect();
    let first = |row: &usize| (std::cmp::Reverse(degrees[*row]), data.user_row(*row));
    let n_largest = EXAMPLES.min(rows.len());
    if n_largest < rows.len() {
        rows.select_nth_unstable_by_key(n_largest, first);
    }
    rows.truncate(n_largest);
    rows.sort_unstable_by_key(first);
    let largest = rows
        .iter()
        .map(|&row| Hub {
            node: data.name(row).into_owned(),
            degree: degrees[row],
        })
        .collect();
    let mut sorted = degrees;
    sorted.sort_unstable();
    Degrees {
        mean: 2.0 * data.graph().n_links() as f64 / sorted.len() as f64,
        min: quantile(&sorted, 0.0),
        q25: quantile(&sorted, 0.25),
        median: quantile(&sorted, 0.5),
        q75: quantile(&sorted, 0.75),
        q99: quantile(&sorted, 0.99),
        max: quantile(&sorted, 1.0),
        largest,
    }
}

/// `degrees` by internal row.
pub(super) fn isolated(data: &Dataset, degrees: &[u32]) -> Isolated {
    let mut rows: Vec<usize> = (0..degrees.len())
        .filter(|&row| degrees[row] == 0)
        .map(|row| data.user_row(row))
        .collect();
    rows.sort_unstable();
    let without = data.views().iter().filter(|view| view.matrix.is_none());
    Isolated {
        count: rows.len(),
        without_vectors: without
            .map(|view| count_zero(&degrees[view.rows.clone()]))
            .sum(),
        examples: rows
            .iter()
            .take(EXAMPLES)
            .map(|&row| data.ids().name(row).into_owned())
            .collect(),
    }
}

//! The plain way to doubt a link: data vectors that are not alike.

use crate::data::dataset::Dataset;
use crate::data::features::Matrix;
use crate::error::Result;
use crate::measure::auc;

/// Cosines of the data vectors of pairs.
#[derive(Debug)]
pub struct Baseline<'d> {
    /// For each node of the user its data vectors' matrix and row, if any.
    nodes: Vec<Option<(&'d Matrix, usize)>>,
}

impl<'d> Baseline<'d> {
    /// Of the data vectors of a data set; `None` where no node has any.
    pub fn new(data: &'d Dataset) -> Option<Baseline<'d>> {
        let mut nodes = vec![None; data.n_nodes()];
        for view in data.views() {
            let Some(matrix) = &view.matrix else { continue };
            for row in view.rows.clone() {
                nodes[data.user_row(row)] = Some((matrix, row - view.rows.start));
            }
        }
        let known = nodes.iter().any(Option::is_some);
        known.then_some(Baseline { nodes })
    }

    /// The cosine of two nodes' data vectors, 0 where one of them is zero;
    /// `None` where they are of different kinds.
    pub fn cosine(&self, a: u32, b: u32) -> Option<f64> {
        let (first, i) = self.nodes[a as usize]?;
        let (second, j) = self.nodes[b as usize]?;
        if !std::ptr::eq(first, second) {
            return None;
        }
        let (x, y) = (first.row(i), second.row(j));
        let length = |x: &[(u32, f64)]| x.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
        let lengths = length(&x) * length(&y);
        if lengths == 0.0 {
            return Some(0.0);
        }
        Some(product(&x, &y) / lengths)
    }
}

/// The product of two data vectors, by their entries.
pub(crate) fn product(x: &[(u32, f64)], y: &[(u32, f64)]) -> f64 {
    let (mut p, mut q, mut product) = (0, 0, 0.0);
    while p < x.len() && q < y.len() {
        match x[p].0.cmp(&y[q].0) {
            std::cmp::Ordering::Less => p += 1,
            std::cmp::Ordering::Greater => q += 1,
            std::cmp::Ordering::Equal => {
                product += x[p].1 * y[q].1;
                (p, q) = (p + 1, q + 1);
            }
        }
    }
    product
}

/// How well fit and baseline tell links from random pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contest {
    /// The area under the curve of the expected weights.
    pub fit: f64,
    /// That of the cosines.
    pub baseline: f64,
    /// The links that were told from random pairs.
    pub links: usize,
}

impl Contest {
    /// Whether the data vectors alone do better.
    pub fn baseline_is_better(&self) -> bool {
        self.baseline > self.fit
    }
}

/// Compares fit and baseline on links that the fit did not see, and random
/// pairs: for each the expected weight and the cosine. `None` where there are
/// no links, or no pairs, with both.
pub fn contest(
    links: &[(f64, Option<f64>)],
    random: &[(f64, Option<f64>)],
) -> Result<Option<Contest>> {
    let known = |pairs: &[(f64, Option<f64>)]| -> Vec<(f64, f64)> {
        let both = pairs.iter().filter_map(|&(mu, cosine)| Some((mu, cosine?)));
        both.collect()
    };
    let (links, random) = (known(links), known(random));
    if links.is_empty() || random.is_empty() {
        return Ok(None);
    }
    let positive: Vec<bool> = (0..links.len() + random.len())
        .map(|place| place < links.len())
        .collect();
    let scores = |pick: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        links.iter().chain(&random).map(pick).collect()
    };
    Ok(Some(Contest {
        fit: auc(&scores(|pair| pair.0), &positive)?,
        baseline: auc(&scores(|pair| pair.1), &positive)?,
        links: links.len(),
    }))
}

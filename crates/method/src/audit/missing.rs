//! The strongest pairs without a link: a missing link is noise too.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::data::graph::Graph;
use crate::engine::pairs::mirrored;
use crate::model::Fitted;
use linkproof_numeric::real::{Packed, View};

/// A pair without a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Missing {
    /// The smaller row.
    pub src: u32,
    /// The larger row.
    pub dst: u32,
    /// The expected weight.
    pub mu: f64,
}

/// Columns of a tile, and rows that one task multiplies with it.
const COLUMNS: usize = 2048;
const ROWS: usize = 64;

/// A pair by its similarity.
type Found = (f32, u32, u32);

/// Larger similarities first, then smaller rows.
fn order(a: &Found, b: &Found) -> Ordering {
    b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2)))
}

/// The `count` pairs that most likely have a link and have none, the most similar
/// first. All pairs are looked at, tile by tile; `links` are between the
/// model's rows.
pub fn missing(model: &Fitted, links: &Graph, count: usize) -> Vec<Missing> {
    if count == 0 {
        return Vec::new();
    }
    let (n, dim) = (model.n_nodes(), model.dim());
    let y = model.embeddings();
    let mirror = mirrored(y, dim, model.negative());
    let mut best: Vec<Found> = Vec::new();
    let mut memory = Vec::new();
    for first in (0..n).step_by(COLUMNS) {
        let columns = first..n.min(first + COLUMNS);
        let tile = View::new(
            &mirror[columns.start * dim..columns.end * dim],
            columns.len(),
            dim,
        );
        memory.resize(Packed::<f32>::size(dim, columns.len()), 0.0);
        let packed = Packed::new_parallel(&mut memory, tile.t());
        let least = if best.len() < count {
            f32::NEG_INFINITY
        } else {
            best[count - 1].0
        };
        let blocks: Vec<usize> = (0..columns.end).step_by(ROWS).collect();
        let parts: Vec<Vec<Found>> = blocks
            .par_iter()
            .map(|&start| {
                let rows = start..columns.end.min(start + ROWS);
                let left = View::new(&y[rows.start * dim..rows.end * dim], rows.len(), dim);
                let mut products = vec![0.0; rows.len() * columns.len()];
                packed.multiply(&mut products, left, 0..dim, false);
                let look = Look {
                    model,
                    links,
                    count,
                };
                look.best_of(rows.start, columns.start, columns.len(), &products, least)
            })
            .collect();
        best.extend(parts.into_iter().flatten());
        keep_best(&mut best, count);
    }
    best.iter()
        .map(|&(_, src, dst)| Missing {
            src,
            dst,
            mu: model.mu(src as usize, dst as usize),
        })
        .collect()
}

struct Look<'m> {
    model: &'m Fitted,
    links: &'m Graph,
    count: usize,
}

impl Look<'_> {
    /// The best pairs of a tile that reach the `least` similarity.
    fn best_of(
        &self,
        first_row: usize,
        first_column: usize,
        n_columns: usize,
        products: &[f32],
        mut least: f32,
    ) -> Vec<Found> {
        let views = self.model.node_views();
        let pairs = self.model.view_pairs();
        let mut found = Vec::new();
        for (i, products) in (first_row..).zip(products.chunks_exact(n_columns)) {
            for (j, &product) in (first_column..).zip(products) {
                if j <= i {
                    continue;
                }
                let (d, e) = (views[i] as usize, views[j] as usize);
                let offsets = self.model.offsets();
                let offsets = offsets.map_or(0.0, |offsets| offsets[i] + offsets[j]);
                let similarity = product + offsets - self.model.gamma().get(d, e) as f32;
                if similarity < least
                    || !pairs.contains(&(d.min(e), d.max(e)))
                    || self.model.ids().is_same_node(i as u32, j as u32)
                    || self.links.weight(i as u32, j as u32).is_some()
                {
                    continue;
                }
                found.push((similarity, i as u32, j as u32));
                if found.len() >= 2 * self.count.max(ROWS) {
                    keep_best(&mut found, self.count);
                    least = least.max(found[found.len() - 1].0);
                }
            }
        }
        keep_best(&mut found, self.count);
        found
    }
}

fn keep_best(found: &mut Vec<Found>, count: usize) {
    found.sort_unstable_by(order);
    found.truncate(count);
}

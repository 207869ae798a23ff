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
    let (views, pairs_of_views) = (model.node_views(), model.view_pairs());
    let offsets = model.offsets();
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
        let least = best.get(count - 1).map_or(f32::NEG_INFINITY, |it| it.0);
        let blocks: Vec<usize> = (0..columns.end).step_by(ROWS).collect();
        let best_of = |&start: &usize| {
            let rows = start..columns.end.min(start + ROWS);
            let left = View::new(&y[rows.start * dim..rows.end * dim], rows.len(), dim);
            let mut products = vec![0.0; rows.len() * columns.len()];
            packed.multiply(&mut products, left, 0..dim, false);
            let mut least = least;
            let mut found: Vec<Found> = Vec::new();
            for (i, products) in rows.zip(products.chunks_exact(columns.len())) {
                for (j, &product) in columns.clone().zip(products).filter(|(j, _)| *j > i) {
                    let [d, e] = [i, j].map(|row| views[row] as usize);
                    let offsets = offsets.map_or(0.0, |offsets| offsets[i] + offsets[j]);
                    let similarity = product + offsets - model.gamma().get(d, e) as f32;
                    let (src, dst) = (i as u32, j as u32);
                    if similarity < least
                        || !pairs_of_views.contains(&(d.min(e), d.max(e)))
                        || model.ids().is_same_node(src, dst)
                        || links.weight(src, dst).is_some()
                    {
                        continue;
                    }
                    found.push((similarity, src, dst));
                    if found.len() >= 2 * count.max(ROWS) {
                        keep_best(&mut found, count);
                        least = least.max(found[found.len() - 1].0);
                    }
                }
            }
            keep_best(&mut found, count);
            found
        };
        let parts: Vec<Vec<Found>> = blocks.par_iter().map(best_of).collect();
        best.extend(parts.into_iter().flatten());
        keep_best(&mut best, count);
    }
    let missing = |&(_, src, dst): &Found| Missing {
        src,
        dst,
        mu: model.mu(src as usize, dst as usize),
    };
    best.iter().map(missing).collect()
}

fn keep_best(found: &mut Vec<Found>, count: usize) {
    found.sort_unstable_by(order);
    found.truncate(count);
}

//! Embeddings as products over tiles read them.

use std::ops::Range;

use rayon::prelude::*;

use super::EmbeddedRows;
use linkproof_numeric::real::{Real, View, pack_panel, panel_width};

/// The embeddings, packed in both directions for the products of a pass.
#[derive(Debug)]
pub(super) struct Packed<T> {
    /// Panels of the embeddings' entries: the rows of all nodes in each.
    pub(super) entries: Vec<T>,
    /// For each block, panels of its nodes: all their entries in each.
    pub(super) nodes: Vec<T>,
    /// Where each block's panels of nodes stand.
    pub(super) places: Vec<Range<usize>>,
}

impl<T> Default for Packed<T> {
    fn default() -> Packed<T> {
        Packed {
            entries: Vec::new(),
            nodes: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl<T: Real> Packed<T> {
    /// Packs the embeddings as the other ends of their pairs see them, for blocks of
    /// rows.
    pub(super) fn fill(&mut self, embedded: &EmbeddedRows<'_, T>, blocks: &[Range<usize>]) {
        let width = panel_width::<T>();
        let (n, dim) = (embedded.n_rows(), embedded.dim);
        let y = View::new(embedded.mirror, n, dim);
        self.entries
            .resize(dim.div_ceil(width) * width * n, T::ZERO);
        self.entries
            .par_chunks_mut(n * width)
            .enumerate()
            .for_each(|(panel, out)| pack_panel(out, y, panel * width));

        self.places.clear();
        let mut end = 0;
        for block in blocks {
            let start = end;
            end += block.len().next_multiple_of(width) * dim;
            self.places.push(start..end);
        }
        self.nodes.resize(end, T::ZERO);
        let mut rest = &mut self.nodes[..];
        let mut parts = Vec::with_capacity(blocks.len());
        for (block, place) in blocks.iter().zip(&self.places) {
            let (part, tail) = rest.split_at_mut(place.len());
            parts.push((block, part));
            rest = tail;
        }
        parts.into_par_iter().for_each(|(block, part)| {
            let nodes = y.rows(block.clone()).t();
            for (panel, out) in part.chunks_exact_mut(width * dim).enumerate() {
                pack_panel(out, nodes, panel * width);
            }
        });
    }
}

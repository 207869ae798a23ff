//! One tile: product, score and both gradient products, fused a strip of rows at a time.

use std::ops::Range;

use super::packed::Packed;
use super::split::mask_row;
use super::{AllPairs, EmbeddedRows, Part};
use crate::score::{Kernel, Masks, Term};
use linkproof_numeric::real::{Real, Target, View, add_scaled, multiply_panel, panel_width};

/// The largest number of rows of a block.
pub(super) const BLOCK: usize = 384;

/// Rows of one view that are handled together.
#[derive(Debug)]
pub(super) struct RowBlock {
    pub(super) index: usize,
    pub(super) rows: Range<usize>,
    pub(super) view: usize,
}

/// Two blocks that meet; the same one twice on the diagonal.
pub(super) struct Tile<'a, T> {
    pub(super) first: &'a RowBlock,
    pub(super) second: &'a RowBlock,
    pub(super) first_gradient: Option<Slopes<'a, T>>,
    pub(super) second_gradient: Option<Slopes<'a, T>>,
}

/// The gradient of a block: in its embeddings, and in its offsets where it has any.
pub(super) struct Slopes<'a, T> {
    pub(super) y: &'a mut [T],
    pub(super) offsets: &'a mut [T],
}

/// Rows of a tile that are handled together: a multiple of the rows whose
/// products the registers hold, and few enough for the products to stay in
/// the second-level cache until both gradients have used them.
const STRIP: usize = 96;

/// Buffers of a tile, handed from tile to tile.
#[derive(Debug)]
pub(super) struct Scratch<T> {
    products: Vec<T>,
    masks: [Vec<T>; 2],
}

impl<T: Real> Scratch<T> {
    pub(super) fn new() -> Scratch<T> {
        Scratch {
            products: vec![T::ZERO; STRIP * stride(BLOCK)],
            masks: [vec![T::ZERO; BLOCK], vec![T::ZERO; BLOCK]],
        }
    }
}

/// The distance between rows of products: an odd number of cache lines in
/// single precision, so that a column does not crowd into a few cache sets.
fn stride(columns: usize) -> usize {
    columns.next_multiple_of(32) + 16
}

/// Some rows of a tile, and the rows that they meet.
struct Strip {
    first: Range<usize>,
    second: Range<usize>,
    view: (usize, usize),
    diagonal: bool,
    stride: usize,
}

/// Fills `mask` with 1 where another has 0; returns how many those are.
fn others<T: Real>(mask: &mut [T], other: &[T]) -> u32 {
    let mut count = 0;
    for (mask, other) in mask.iter_mut().zip(other) {
        *mask = T::ONE - *other;
        count += u32::from(*other == T::ZERO);
    }
    count
}

/// The sums over some pairs.
pub(super) struct TileSums {
    pub(super) term: Term,
    /// How many pairs are in the sum.
    pub(super) pairs: f64,
    /// The values of watched pairs, and how many they are.
    pub(super) watched: (f64, f64),
}

impl TileSums {
    const ZERO: TileSums = TileSums {
        term: Term::ZERO,
        pairs: 0.0,
        watched: (0.0, 0.0),
    };

    fn add_term(&mut self, term: Term) {
        self.term.value += term.value;
        self.term.slope += term.slope;
    }

    fn add(&mut self, other: TileSums) {
        self.add_term(other.term);
        self.pairs += other.pairs;
        self.watched.0 += other.watched.0;
        self.watched.1 += other.watched.1;
    }
}

/// What all tiles of a pass share.
pub(super) struct TilePass<'a, T: Real> {
    pub(super) embedded: &'a EmbeddedRows<'a, T>,
    pub(super) pairs: &'a AllPairs<'a>,
    pub(super) kernel: &'a Kernel<T>,
    pub(super) packed: &'a Packed<T>,
}

impl<T: Real> TilePass<'_, T> {
    /// The sums over a tile; adds the scaled gradient to the tile's blocks.
    pub(super) fn visit(&self, tile: &mut Tile<'_, T>, scratch: &mut Scratch<T>) -> TileSums {
        let width = panel_width::<T>();
        let diagonal = tile.first.index == tile.second.index;
        let mut sum = TileSums::ZERO;
        for start in tile.first.rows.clone().step_by(STRIP) {
            // On the diagonal, earlier pairs are an earlier strip's.
            let skipped = if diagonal {
                (start - tile.first.rows.start) / width * width
            } else {
                0
            };
            let strip = Strip {
                first: start..tile.first.rows.end.min(start + STRIP),
                second: tile.second.rows.start + skipped..tile.second.rows.end,
                view: (tile.first.view, tile.second.view),
                diagonal,
                stride: stride(tile.second.rows.len() - skipped),
            };
            let nodes = &self.packed.nodes[self.packed.places[tile.second.index].clone()];
            let products = &mut scratch.products[..strip.first.len() * strip.stride];
            self.products(&strip, &nodes[skipped * self.embedded.dim..], products);
            sum.add(self.score_strip(&strip, products, &mut scratch.masks));
            self.differentiate(&strip, products, tile);
            self.differentiate_offsets(&strip, products, tile);
        }
        sum
    }

    /// The inner products of a strip, from the panels of the nodes it meets.
    fn products(&self, strip: &Strip, nodes: &[T], products: &mut [T]) {
        let (dim, width) = (self.embedded.dim, panel_width::<T>());
        let y = View::new(self.embedded.y, self.embedded.n_rows(), dim);
        for (panel, nodes) in nodes.chunks_exact(width * dim).enumerate() {
            let target = Target {
                data: &mut products[panel * width..],
                stride: strip.stride,
                columns: width,
            };
            multiply_panel(target, T::ONE, y.rows(strip.first.clone()), nodes, false);
        }
    }

    /// Turns the inner products of a strip into slopes, 0 for pairs that do
    /// not take part.
    fn score_strip(&self, strip: &Strip, products: &mut [T], masks: &mut [Vec<T>; 2]) -> TileSums {
        let gamma = T::of(self.embedded.gamma.get(strip.view.0, strip.view.1));
        let nodes = self.pairs.nodes;
        let mut sum = TileSums::ZERO;
        let rows = products.chunks_exact_mut(strip.stride);
        for (i, s) in strip.first.clone().zip(rows) {
            let skipped = if strip.diagonal {
                i + 1 - strip.second.start
            } else {
                0
            };
            s[..skipped].fill(T::ZERO);
            let s = &mut s[skipped..strip.second.len()];
            let mut gamma = gamma;
            if let Some(&offset) = self.embedded.offsets.get(i) {
                gamma -= offset;
                let others = strip.second.start + skipped..strip.second.end;
                add_scaled(s, T::ONE, &self.embedded.offsets[others]);
            }
            let Some((split, part)) = self.pairs.split else {
                sum.pairs += s.len() as f64;
                sum.add_term(self.kernel.apply(s, gamma, None));
                continue;
            };
            let second = &nodes[strip.second.start + skipped..strip.second.end];
            let [counted, watched] = masks.each_mut().map(|mask| &mut mask[..s.len()]);
            sum.pairs += f64::from(mask_row(counted, split, part, nodes[i], second));
            if self.pairs.watched {
                let all_others = part == Part::Training && !split.judges();
                let number = match all_others {
                    true => others(watched, counted),
                    false => mask_row(watched, split, Part::HeldOut, nodes[i], second),
                };
                sum.watched.1 += f64::from(number);
            }
            let masks = Masks {
                counted: Some(counted),
                watched: self.pairs.watched.then_some(&*watched),
            };
            let (term, beside) = self.kernel.apply_masked(s, gamma, masks);
            sum.add_term(term);
            sum.watched.0 += beside;
        }
        sum
    }

    /// Adds what the slopes of a strip mean for the gradient of both its sides.
    fn differentiate(&self, strip: &Strip, slopes: &[T], tile: &mut Tile<'_, T>) {
        let (dim, width) = (self.embedded.dim, panel_width::<T>());
        let factor = T::of(self.pairs.scale.get(strip.view.0, strip.view.1));
        let (m, n) = (strip.first.len(), strip.second.len());
        let slopes = View::strided(slopes, m, n, strip.stride);
        let first_place = (strip.first.start - tile.first.rows.start) * dim;
        let second_place = (strip.second.start - tile.second.rows.start) * dim;
        let panels = self
            .packed
            .entries
            .chunks_exact(self.embedded.n_rows() * width);
        for (panel, entries) in panels.enumerate() {
            let column = panel * width;
            let columns = width.min(dim - column);
            let rows = |rows: &Range<usize>| &entries[rows.start * width..rows.end * width];
            if let Some(gradient) = tile.first_gradient.as_mut() {
                let data = &mut gradient.y[first_place + column..];
                let out = Target {
                    data,
                    stride: dim,
                    columns,
                };
                multiply_panel(out, factor, slopes, rows(&strip.second), true);
            }
            let second = if strip.diagonal {
                tile.first_gradient.as_mut()
            } else {
                tile.second_gradient.as_mut()
            };
            if let Some(gradient) = second {
                let data = &mut gradient.y[second_place + column..];
                let out = Target {
                    data,
                    stride: dim,
                    columns,
                };
                multiply_panel(out, factor, slopes.t(), rows(&strip.first), true);
            }
        }
    }

    /// The same for offsets: sums of slopes over rows and columns.
    fn differentiate_offsets(&self, strip: &Strip, slopes: &[T], tile: &mut Tile<'_, T>) {
        if self.embedded.offsets.is_empty() {
            return;
        }
        let factor = T::of(self.pairs.scale.get(strip.view.0, strip.view.1));
        let first_place = strip.first.start - tile.first.rows.start;
        let second_place = strip.second.start - tile.second.rows.start;
        let n = strip.second.len();
        for (row, slopes) in slopes.chunks_exact(strip.stride).enumerate() {
            let slopes = &slopes[..n];
            if let Some(gradient) = tile.first_gradient.as_mut() {
                gradient.offsets[first_place + row] += factor * sum(slopes);
            }
            let second = if strip.diagonal {
                tile.first_gradient.as_mut()
            } else {
                tile.second_gradient.as_mut()
            };
            if let Some(gradient) = second {
                add_scaled(&mut gradient.offsets[second_place..][..n], factor, slopes);
            }
        }
    }
}

/// The sum of a row, in interleaved sums so that it vectorises; the order of
/// additions is fixed.
fn sum<T: Real>(row: &[T]) -> T {
    let mut lanes = [T::ZERO; 16];
    let chunks = row.chunks_exact(16);
    let rest: T = chunks.remainder().iter().copied().sum();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += *x;
        }
    }
    lanes.into_iter().sum::<T>() + rest
}

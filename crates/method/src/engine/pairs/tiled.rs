//! Sums over all pairs: tiles over the upper triangle, each pair visited
//! once; product, score and both gradient products fused per tile.
//!
//! Blocks of rows meet in rounds, as players do in a tournament: within a
//! round no block takes part in two tiles, so tiles run in parallel and write
//! to their blocks' gradients directly. The order in which a block meets the
//! others is fixed: a tile waits until both its blocks have been through their
//! earlier tiles, and for nothing else. The result has the same bits at any
//! thread count, and the memory is a strip a thread.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::packed::Packed;
use super::schedule::{HeldBlocks, schedule};
use super::split::mask_row;
use super::{AllPairs, EmbeddedRows, Part, SumPairs, Sums};
use crate::score::{Kernel, Masks, Term};
use linkproof_numeric::real::{Real, Target, View, add_scaled, multiply_panel, panel_width};

/// The largest number of rows of a block.
const BLOCK: usize = 384;

/// Tiles, in parallel; keeps its buffers from pass to pass.
#[derive(Debug)]
pub struct Tiled<T> {
    packed: Spare<Packed<T>>,
    scratch: Spare<Scratch<T>>,
}

impl<T: Real> Default for Tiled<T> {
    fn default() -> Tiled<T> {
        Tiled {
            packed: Spare(Mutex::new(Vec::new())),
            scratch: Spare(Mutex::new(Vec::new())),
        }
    }
}

/// Buffers that nobody uses at the moment.
#[derive(Debug)]
struct Spare<B>(Mutex<Vec<B>>);

impl<B> Spare<B> {
    fn take(&self, make: impl FnOnce() -> B) -> B {
        let spare = self.0.lock().ok().and_then(|mut spare| spare.pop());
        spare.unwrap_or_else(make)
    }

    fn give(&self, buffer: B) {
        if let Ok(mut spare) = self.0.lock() {
            spare.push(buffer);
        }
    }
}

/// Rows of one view that are handled together.
struct RowBlock {
    index: usize,
    rows: Range<usize>,
    view: usize,
}

/// Two blocks that meet; the same one twice on the diagonal.
struct Tile<'a, 's, T> {
    first: &'a RowBlock,
    second: &'a RowBlock,
    first_gradient: Option<&'a mut Slot<'s, T>>,
    second_gradient: Option<&'a mut Slot<'s, T>>,
}

/// The gradient of a block: in its embeddings, and in its offsets where it has any.
struct Slot<'a, T> {
    y: &'a mut [T],
    offsets: &'a mut [T],
}

impl<T: Real> SumPairs<T> for Tiled<T> {
    fn all_pairs(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        kernel: &Kernel<T>,
        gradient: Option<&mut [T]>,
    ) -> Sums {
        let blocks = cut(pairs.rows);
        let mut packed = self.packed.take(Packed::default);
        let rows: Vec<Range<usize>> = blocks.iter().map(|block| block.rows.clone()).collect();
        packed.fill(embedded, &rows);
        let pass = TilePass {
            embedded,
            pairs,
            kernel,
            packed: &packed,
        };
        let mut counted = 0..;
        let takes_part = |a: usize, b: usize| {
            pairs.scale.get(blocks[a].view, blocks[b].view) != 0.0
                && counted.next().is_some_and(|tile| pairs.share.has(tile))
        };
        let tiles = schedule(blocks.len(), takes_part);
        let gradients = gradient.map(|gradient| slots(&blocks, embedded, gradient));
        let through: Vec<AtomicU32> = blocks.iter().map(|_| AtomicU32::new(0)).collect();
        let next = AtomicUsize::new(0);
        let work = |_| {
            let mut scratch = self.scratch.take(Scratch::new);
            let mut results = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(tile) = tiles.get(place) else {
                    break;
                };
                let held = HeldBlocks::wait(tile, &through);
                let (a, b) = tile.blocks;
                let lock = |block: usize| {
                    let gradients = gradients.as_ref()?;
                    Some(
                        gradients[block]
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner),
                    )
                };
                let mut first_gradient = lock(a);
                let mut second_gradient = if a == b { None } else { lock(b) };
                let mut tile = Tile {
                    first: &blocks[a],
                    second: &blocks[b],
                    first_gradient: first_gradient.as_deref_mut(),
                    second_gradient: second_gradient.as_deref_mut(),
                };
                results.push((place, pass.visit(&mut tile, &mut scratch)));
                drop((first_gradient, second_gradient));
                drop(held);
            }
            self.scratch.give(scratch);
            results
        };
        let workers = 0..rayon::current_num_threads();
        let mut results: Vec<_> = workers.into_par_iter().flat_map_iter(work).collect();
        results.sort_unstable_by_key(|(place, _)| *place);

        let mut sums = Sums::zero(pairs.scale.n_views());
        for (place, of_tile) in results {
            let (a, b) = tiles[place].blocks;
            let (d, e) = (blocks[a].view, blocks[b].view);
            let scale = pairs.scale.get(d, e);
            sums.value += scale * of_tile.term.value;
            sums.pairs += scale * of_tile.pairs;
            sums.gamma.add(d, e, -scale * of_tile.term.slope);
            sums.watched.0 += scale * of_tile.watched.0;
            sums.watched.1 += scale * of_tile.watched.1;
        }
        self.packed.give(packed);
        sums
    }
}

/// Cuts the rows of each view into blocks of about equal size.
fn cut(rows: &[Range<usize>]) -> Vec<RowBlock> {
    let mut blocks = Vec::new();
    for (view, rows) in rows.iter().enumerate() {
        // A multiple of four fills the rounds of two threads, and nearly those
        // of more; the number must not depend on the machine. Whole panels
        // leave no registers idle.
        let n_blocks = match rows.len().div_ceil(BLOCK) {
            few @ 0..=1 => few,
            many => many.next_multiple_of(4),
        };
        let size = rows.len().div_ceil(n_blocks.max(1)).next_multiple_of(32);
        for start in rows.clone().step_by(size.max(1)) {
            blocks.push(RowBlock {
                index: blocks.len(),
                rows: start..rows.end.min(start + size),
                view,
            });
        }
    }
    blocks
}

/// The gradient rows of each block; no two tiles ask for one at a time.
fn slots<'a, T: Real>(
    blocks: &[RowBlock],
    embedded: &EmbeddedRows<'_, T>,
    gradient: &'a mut [T],
) -> Vec<Mutex<Slot<'a, T>>> {
    let (dim, n) = (embedded.dim, embedded.n_rows());
    let (mut y, mut offsets) = gradient.split_at_mut(n * dim);
    let width = usize::from(!offsets.is_empty());
    let mut done = 0;
    let mut slots = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (skipped, rows) = (block.rows.start - done, block.rows.len());
        let slot = Slot {
            y: take_rows(&mut y, skipped * dim, rows * dim),
            offsets: take_rows(&mut offsets, skipped * width, rows * width),
        };
        done = block.rows.end;
        slots.push(Mutex::new(slot));
    }
    slots
}

/// The numbers after some that are skipped; what comes after them stays.
fn take_rows<'a, T>(rest: &mut &'a mut [T], skipped: usize, count: usize) -> &'a mut [T] {
    let (_, tail) = std::mem::take(rest).split_at_mut(skipped);
    let (taken, tail) = tail.split_at_mut(count);
    *rest = tail;
    taken
}

/// Rows of a tile that are handled together: a multiple of the rows whose
/// products the registers hold, and few enough for the products to stay in
/// the second-level cache until both gradients have used them.
const STRIP: usize = 96;

/// Buffers of a tile, handed from tile to tile.
#[derive(Debug)]
struct Scratch<T> {
    products: Vec<T>,
    masks: [Vec<T>; 2],
}

impl<T: Real> Scratch<T> {
    fn new() -> Scratch<T> {
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
struct TileSums {
    term: Term,
    /// How many pairs are in the sum.
    pairs: f64,
    /// The values of watched pairs, and how many they are.
    watched: (f64, f64),
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
struct TilePass<'a, T: Real> {
    embedded: &'a EmbeddedRows<'a, T>,
    pairs: &'a AllPairs<'a>,
    kernel: &'a Kernel<T>,
    packed: &'a Packed<T>,
}

impl<T: Real> TilePass<'_, T> {
    /// The sums over a tile; adds the scaled gradient to the tile's blocks.
    fn visit(&self, tile: &mut Tile<'_, '_, T>, scratch: &mut Scratch<T>) -> TileSums {
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
    fn differentiate(&self, strip: &Strip, slopes: &[T], tile: &mut Tile<'_, '_, T>) {
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
            if let Some(gradient) = tile.first_gradient.as_deref_mut() {
                let data = &mut gradient.y[first_place + column..];
                let out = Target {
                    data,
                    stride: dim,
                    columns,
                };
                multiply_panel(out, factor, slopes, rows(&strip.second), true);
            }
            let second = if strip.diagonal {
                tile.first_gradient.as_deref_mut()
            } else {
                tile.second_gradient.as_deref_mut()
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
    fn differentiate_offsets(&self, strip: &Strip, slopes: &[T], tile: &mut Tile<'_, '_, T>) {
        if self.embedded.offsets.is_empty() {
            return;
        }
        let factor = T::of(self.pairs.scale.get(strip.view.0, strip.view.1));
        let first_place = strip.first.start - tile.first.rows.start;
        let second_place = strip.second.start - tile.second.rows.start;
        let n = strip.second.len();
        for (row, slopes) in slopes.chunks_exact(strip.stride).enumerate() {
            let slopes = &slopes[..n];
            if let Some(gradient) = tile.first_gradient.as_deref_mut() {
                gradient.offsets[first_place + row] += factor * sum(slopes);
            }
            let second = if strip.diagonal {
                tile.first_gradient.as_deref_mut()
            } else {
                tile.second_gradient.as_deref_mut()
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

//! The pair engine for use: tiles over the upper triangle, each pair visited
//! once; product, score and both gradient products fused per tile.
//!
//! Blocks of rows meet in rounds, as players do in a tournament: within a
//! round no block takes part in two tiles, so tiles run in parallel and write
//! to their blocks' gradients directly, and the order in which a block meets
//! the others is fixed. The result has the same bits at any thread count, and
//! the memory is a tile a thread.

use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;

use super::split::mask_row;
use super::{AllPairs, Embedded, PairEngine, Sums};
use crate::real::{Real, View, multiply};
use crate::score::{Kernel, Score, Term};

/// The largest number of rows of a block.
const BLOCK: usize = 384;

/// Tiles, in parallel.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tiled;

/// Rows of one view that are handled together.
struct Block {
    rows: Range<usize>,
    view: usize,
}

/// Two blocks that meet; the same one twice on the diagonal.
struct Tile<'a, T> {
    first: &'a Block,
    second: &'a Block,
    first_gradient: Option<&'a mut [T]>,
    second_gradient: Option<&'a mut [T]>,
}

impl<T: Real> PairEngine<T> for Tiled {
    fn all_pairs(
        &self,
        embedded: &Embedded<'_, T>,
        pairs: &AllPairs<'_>,
        _score: &Score,
        kernel: &Kernel<T>,
        gradient: Option<&mut [T]>,
    ) -> Sums {
        let blocks = cut(pairs.rows);
        let mut sums = Sums::zero(pairs.scale.n_views());
        let spare = Spare(Mutex::new(Vec::new()));
        let mut gradients = gradient.map(|gradient| slots(&blocks, embedded.dim, gradient));
        for round in rounds(blocks.len()) {
            let mut tiles = Vec::with_capacity(round.len());
            for &(a, b) in &round {
                let (first, second) = (&blocks[a], &blocks[b]);
                if pairs.scale.get(first.view, second.view) == 0.0 {
                    continue;
                }
                tiles.push((
                    (a, b),
                    Tile {
                        first,
                        second,
                        first_gradient: gradients.as_mut().and_then(|g| g[a].take()),
                        second_gradient: gradients.as_mut().and_then(|g| g[b].take()),
                    },
                ));
            }
            let results: Vec<(Term, f64)> = tiles
                .par_iter_mut()
                .map(|(_, tile)| {
                    let mut scratch = spare.take();
                    let result = visit(tile, embedded, pairs, kernel, &mut scratch);
                    spare.give(scratch);
                    result
                })
                .collect();
            for ((place, tile), (term, count)) in tiles.into_iter().zip(results) {
                let views = (tile.first.view, tile.second.view);
                let scale = pairs.scale.get(views.0, views.1);
                sums.value += scale * term.value;
                sums.pairs += scale * count;
                sums.gamma.add(views.0, views.1, -scale * term.slope);
                if let Some(gradients) = gradients.as_mut() {
                    if tile.second_gradient.is_some() {
                        gradients[place.1] = tile.second_gradient;
                    }
                    gradients[place.0] = tile.first_gradient;
                }
            }
        }
        sums
    }
}

/// Cuts the rows of each view into blocks of about equal size.
fn cut(rows: &[Range<usize>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (view, rows) in rows.iter().enumerate() {
        // A multiple of four fills the rounds of two threads, and nearly those
        // of more; the number must not depend on the machine.
        let n_blocks = match rows.len().div_ceil(BLOCK) {
            few @ 0..=1 => few,
            many => many.next_multiple_of(4),
        };
        for block in 0..n_blocks {
            let start = rows.start + rows.len() * block / n_blocks;
            let end = rows.start + rows.len() * (block + 1) / n_blocks;
            blocks.push(Block {
                rows: start..end,
                view,
            });
        }
    }
    blocks
}

/// The gradient rows of each block, to be borrowed one by one.
fn slots<'a, T>(blocks: &[Block], dim: usize, gradient: &'a mut [T]) -> Vec<Option<&'a mut [T]>> {
    let mut rest = gradient;
    let mut done = 0;
    let mut slots = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (_, tail) = rest.split_at_mut(block.rows.start * dim - done);
        let (slot, tail) = tail.split_at_mut(block.rows.len() * dim);
        done = block.rows.end * dim;
        rest = tail;
        slots.push(Some(slot));
    }
    slots
}

/// The rounds of a tournament in which each of `n` blocks meets itself once
/// and every other block once; no block is in two tiles of a round.
fn rounds(n: usize) -> Vec<Vec<(usize, usize)>> {
    let mut rounds = vec![(0..n).map(|block| (block, block)).collect()];
    let even = n.next_multiple_of(2);
    for round in 0..even.saturating_sub(1) {
        let mut tiles = Vec::with_capacity(even / 2);
        let mut meet = |a: usize, b: usize| {
            if a < n && b < n {
                tiles.push((a.min(b), a.max(b)));
            }
        };
        // One block stays, the others rotate (the circle method).
        meet(even - 1, round);
        for step in 1..even / 2 {
            let turn = even - 1;
            meet((round + step) % turn, (round + turn - step) % turn);
        }
        rounds.push(tiles);
    }
    rounds
}

/// Buffers of a tile, handed from tile to tile.
struct Scratch<T> {
    products: Vec<T>,
    mask: Vec<T>,
}

/// Scratch that no tile uses at the moment.
struct Spare<T>(Mutex<Vec<Scratch<T>>>);

impl<T: Real> Spare<T> {
    fn take(&self) -> Scratch<T> {
        let spare = self.0.lock().ok().and_then(|mut spare| spare.pop());
        spare.unwrap_or_else(|| Scratch {
            products: vec![T::ZERO; BLOCK * BLOCK],
            mask: vec![T::ZERO; BLOCK],
        })
    }

    fn give(&self, scratch: Scratch<T>) {
        if let Ok(mut spare) = self.0.lock() {
            spare.push(scratch);
        }
    }
}

/// The sums over a tile and its number of pairs; adds the scaled gradient to
/// the tile's blocks.
fn visit<T: Real>(
    tile: &mut Tile<'_, T>,
    embedded: &Embedded<'_, T>,
    pairs: &AllPairs<'_>,
    kernel: &Kernel<T>,
    scratch: &mut Scratch<T>,
) -> (Term, f64) {
    let dim = embedded.dim;
    let (m, n) = (tile.first.rows.len(), tile.second.rows.len());
    let rows = |block: &Block| &embedded.y[block.rows.start * dim..block.rows.end * dim];
    let first = View::new(rows(tile.first), m, dim);
    let second = View::new(rows(tile.second), n, dim);
    let diagonal = tile.first.rows == tile.second.rows;

    let products = &mut scratch.products[..m * n];
    multiply(products, T::ONE, first, second.t(), false);
    let (sum, count) = pay(products, tile, embedded, pairs, kernel, &mut scratch.mask);

    let factor = T::of(pairs.scale.get(tile.first.view, tile.second.view));
    let slopes = View::new(products, m, n);
    if let Some(gradient) = tile.first_gradient.as_deref_mut() {
        multiply(gradient, factor, slopes, second, true);
        if diagonal {
            multiply(gradient, factor, slopes.t(), first, true);
        }
    }
    if let Some(gradient) = tile.second_gradient.as_deref_mut() {
        multiply(gradient, factor, slopes.t(), first, true);
    }
    (sum, count)
}

/// Turns the inner products of a tile into slopes, 0 for pairs that do not
/// take part.
fn pay<T: Real>(
    products: &mut [T],
    tile: &Tile<'_, T>,
    embedded: &Embedded<'_, T>,
    pairs: &AllPairs<'_>,
    kernel: &Kernel<T>,
    mask: &mut [T],
) -> (Term, f64) {
    let n = tile.second.rows.len();
    let diagonal = tile.first.rows == tile.second.rows;
    let gamma = T::of(embedded.gamma.get(tile.first.view, tile.second.view));
    let mut sum = Term {
        value: 0.0,
        slope: 0.0,
    };
    let mut count = 0.0;
    for (row, s) in products.chunks_exact_mut(n).enumerate() {
        let start = if diagonal { row + 1 } else { 0 };
        s[..start].fill(T::ZERO);
        let s = &mut s[start..];
        let term = match pairs.split {
            None => {
                count += s.len() as f64;
                kernel.apply(s, gamma, None)
            }
            Some((split, part)) => {
                let i = pairs.nodes[tile.first.rows.start + row];
                let nodes = &pairs.nodes[tile.second.rows.start + start..tile.second.rows.end];
                let mask = &mut mask[..s.len()];
                count += f64::from(mask_row(mask, split, part, i, nodes));
                kernel.apply(s, gamma, Some(mask))
            }
        };
        sum.value += term.value;
        sum.slope += term.slope;
    }
    (sum, count)
}

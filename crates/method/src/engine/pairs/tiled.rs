//! Sums over all pairs: tiles over the upper triangle, each pair visited
//! once; product, score and both gradient products fused per tile.
//!
//! Blocks of rows meet in rounds, as players do in a tournament: within a
//! round no block takes part in two tiles, so tiles run in parallel and write
//! to their blocks' gradients directly. The order in which a block meets the
//! others is fixed: a tile waits until both its blocks have been through their
//! earlier tiles, and for nothing else. The result has the same bits at any
//! thread count, and the memory is a strip a thread.
//!
//! Many blocks meet in groups, and what a block adds up in each round of groups is
//! added up by a binary tree: so parts of a pass can be computed elsewhere
//! ([`Partial`]), to the same bits.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::packed::Packed;
use super::partial::{FlatPartial, Partial, PassShare};
use super::schedule::{HeldBlocks, Schedule, ScheduledTile};
use super::tile::{BLOCK, RowBlock, Scratch, Slopes, Tile, TilePass};
use super::tree::{Node, Spare, Tree, root};
use super::{AllPairs, EmbeddedRows, PairPass, Sums};
use crate::error::Result;
use crate::score::Kernel;
use linkproof_numeric::real::{Real, add_scaled};

/// Tiles, in parallel; keeps its buffers from pass to pass.
#[derive(Debug)]
pub struct Tiled<T> {
    packed: Spare<Packed<T>>,
    scratch: Spare<Scratch<T>>,
    sums: Spare<Vec<T>>,
}

impl<T> Default for Tiled<T> {
    fn default() -> Tiled<T> {
        Tiled {
            packed: Spare::default(),
            scratch: Spare::default(),
            sums: Spare::default(),
        }
    }
}

/// Where a block's gradient is added up.
enum Slot<'a, T> {
    /// In place.
    Place(Slopes<'a, T>),
    /// By the rounds of its group, for rows of so many numbers with their offsets after
    /// them.
    Tree(Tree<'a, T>, usize),
}

impl<T: Real> Slot<'_, T> {
    fn in_round(&mut self, round: usize) -> Slopes<'_, T> {
        match self {
            Slot::Place(slopes) => Slopes {
                y: slopes.y,
                offsets: slopes.offsets,
            },
            Slot::Tree(tree, end) => {
                let (y, offsets) = tree.leaf(round).split_at_mut(*end);
                Slopes { y, offsets }
            }
        }
    }
}

/// The blocks of a pass and when they meet.
pub(super) struct Layout {
    pub(super) blocks: Vec<RowBlock>,
    pub(super) schedule: Schedule,
}

impl Layout {
    pub(super) fn new(pairs: &AllPairs<'_>) -> Layout {
        let blocks = cut(pairs.rows);
        Layout {
            schedule: Schedule::new(blocks.len()),
            blocks,
        }
    }

    /// The tiles of some units, as far as they take part.
    pub(super) fn tiles(
        &self,
        pairs: &AllPairs<'_>,
        has: impl Fn(usize) -> bool,
    ) -> Vec<ScheduledTile> {
        self.schedule.tiles(|unit, (a, b)| {
            pairs.scale.get(self.blocks[a].view, self.blocks[b].view) != 0.0 && has(unit)
        })
    }

    /// How many numbers a block's gradient has: of its rows, and with their offsets.
    pub(super) fn numbers<T: Real>(
        &self,
        block: usize,
        embedded: &EmbeddedRows<'_, T>,
    ) -> (usize, usize) {
        let rows = self.blocks[block].rows.len();
        let of_offsets = usize::from(!embedded.offsets.is_empty());
        (rows * embedded.dim, rows * (embedded.dim + of_offsets))
    }
}

impl<T: Real> PairPass<T> for Tiled<T> {
    fn all_pairs(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        kernel: &Kernel<T>,
        gradient: Option<&mut [T]>,
    ) -> Result<Sums> {
        let layout = Layout::new(pairs);
        let how = (pairs, kernel);
        Ok(match gradient {
            Some(gradient) if layout.schedule.depth() > 0 => {
                let whole = self.part_of(&layout, embedded, how, (PassShare::WHOLE, true));
                // One part that has every unit is a whole.
                let sums = self.put_together(&layout, vec![whole], embedded, gradient);
                sums.unwrap_or_else(|| Sums::zero(pairs.scale.n_views()))
            }
            gradient => {
                let tiles = layout.tiles(pairs, |_| true);
                let slots = gradient.map(|gradient| places(&layout.blocks, embedded, gradient));
                let slots = slots.map(|slots| slots.into_iter().map(Slot::Place));
                let (sums, _) = self.pass(&layout, embedded, how, (&tiles, slots));
                total(&sums, pairs.scale.n_views())
            }
        })
    }
}

/// How many copies of the gradient of so many nodes a pass holds beside it.
pub fn copies_of_gradient(n_nodes: usize) -> usize {
    let blocks = cut(std::slice::from_ref(&(0..n_nodes)));
    match Schedule::new(blocks.len()).depth() {
        0 => 0,
        depth => depth as usize + 1,
    }
}

/// The sums of units, one after another.
fn total<'s>(of_units: impl IntoIterator<Item = &'s Sums>, n_views: usize) -> Sums {
    let mut sums = Sums::zero(n_views);
    of_units.into_iter().for_each(|of_unit| sums.add(of_unit));
    sums
}

impl<T: Real> Tiled<T> {
    /// A share of a pass over all pairs, as plain lists: sums that those of the other shares
    /// complete.
    pub fn flat_part(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        kernel: &Kernel<T>,
        how: (PassShare, bool),
    ) -> FlatPartial<T> {
        let part = self.part_of(&Layout::new(pairs), embedded, (pairs, kernel), how);
        let flat = part.flat();
        for (_, node) in part.nodes {
            self.sums.give(node.numbers);
        }
        flat
    }

    /// The sum of all shares of a pass, with the bits of [`PairPass::all_pairs`]; the
    /// derivative is added to `gradient`. None where the parts make no whole.
    pub fn join(
        &self,
        parts: Vec<Partial<T>>,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        gradient: Option<&mut [T]>,
    ) -> Option<Sums> {
        let gradient = gradient.unwrap_or_default();
        self.put_together(&Layout::new(pairs), parts, embedded, gradient)
    }

    fn part_of(
        &self,
        layout: &Layout,
        embedded: &EmbeddedRows<'_, T>,
        how: (&AllPairs<'_>, &Kernel<T>),
        (share, with_gradient): (PassShare, bool),
    ) -> Partial<T> {
        let units = share.units(layout, how.0);
        let tiles = layout.tiles(how.0, |unit| units.binary_search(&unit).is_ok());
        let tree = |block: usize| {
            let (end, len) = layout.numbers(block, embedded);
            Slot::Tree(Tree::new(len, &self.sums), end)
        };
        let trees = with_gradient.then(|| (0..layout.blocks.len()).map(tree));
        let (sums, slots) = self.pass(layout, embedded, how, (&tiles, trees));
        let nodes = slots.into_iter().enumerate().flat_map(|(block, slot)| {
            let nodes = match slot {
                Slot::Place(_) => Vec::new(),
                Slot::Tree(tree, _) => tree.finish(),
            };
            nodes.into_iter().map(move |node| (block, node))
        });
        Partial {
            nodes: nodes.collect(),
            sums: units.iter().map(|&unit| sums[unit].clone()).collect(),
            units,
        }
    }

    fn put_together(
        &self,
        layout: &Layout,
        parts: Vec<Partial<T>>,
        embedded: &EmbeddedRows<'_, T>,
        gradient: &mut [T],
    ) -> Option<Sums> {
        let n_units = layout.schedule.units().len();
        let mut of_units: Vec<Option<Sums>> = vec![None; n_units];
        let mut of_blocks: Vec<Vec<Node<T>>> = layout.blocks.iter().map(|_| Vec::new()).collect();
        for part in parts {
            for (unit, sums) in part.units.into_iter().zip(part.sums) {
                if of_units.get_mut(unit)?.replace(sums).is_some() {
                    return None;
                }
            }
            for (block, node) in part.nodes {
                of_blocks.get_mut(block)?.push(node);
            }
        }
        let of_units: Vec<Sums> = of_units.into_iter().collect::<Option<_>>()?;
        if !gradient.is_empty() {
            let places = places(&layout.blocks, embedded, gradient);
            let depth = layout.schedule.depth();
            let put = |(place, nodes): (Slopes<'_, T>, Vec<Node<T>>)| {
                if nodes.is_empty() {
                    return Some(());
                }
                let sum = root(nodes, depth, &self.sums)?;
                let (y, offsets) = sum.numbers.split_at_checked(place.y.len())?;
                add_scaled(place.y, T::ONE, y);
                add_scaled(place.offsets, T::ONE, offsets);
                self.sums.give(sum.numbers);
                Some(())
            };
            let all = places.into_par_iter().zip(of_blocks);
            all.map(put).collect::<Option<Vec<()>>>()?;
        }
        let n_views = of_units.first().map_or(0, |sums| sums.gamma.n_views());
        Some(total(&of_units, n_views))
    }

    /// Visits tiles; the sums of each unit, and the slots.
    fn pass<'s>(
        &self,
        layout: &Layout,
        embedded: &EmbeddedRows<'_, T>,
        (pairs, kernel): (&AllPairs<'_>, &Kernel<T>),
        (tiles, slots): (&[ScheduledTile], Option<impl Iterator<Item = Slot<'s, T>>>),
    ) -> (Vec<Sums>, Vec<Slot<'s, T>>) {
        let blocks = &layout.blocks;
        let mut packed = self.packed.take(Packed::default);
        let rows: Vec<Range<usize>> = blocks.iter().map(|block| block.rows.clone()).collect();
        packed.fill(embedded, &rows);
        let pass = TilePass {
            embedded,
            pairs,
            kernel,
            packed: &packed,
        };
        let slots: Option<Vec<Mutex<Slot<'s, T>>>> =
            slots.map(|slots| slots.map(Mutex::new).collect());
        let through: Vec<AtomicU32> = blocks.iter().map(|_| AtomicU32::new(0)).collect();
        let next = AtomicUsize::new(0);
        let work = |mut scratch| {
            let mut results = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(tile) = tiles.get(place) else {
                    break;
                };
                let held = HeldBlocks::wait(tile, &through);
                let (a, b) = tile.blocks;
                let lock = |block: usize| {
                    let slot = slots.as_ref()?[block].lock();
                    Some(slot.unwrap_or_else(PoisonError::into_inner))
                };
                let mut first = lock(a);
                let mut second = if a == b { None } else { lock(b) };
                let mut visited = Tile {
                    first: &blocks[a],
                    second: &blocks[b],
                    first_gradient: first.as_mut().map(|slot| slot.in_round(tile.round)),
                    second_gradient: second.as_mut().map(|slot| slot.in_round(tile.round)),
                };
                results.push((place, pass.visit(&mut visited, &mut scratch)));
                drop((first, second));
                drop(held);
            }
            self.scratch.give(scratch);
            results
        };
        // Taken before the work starts, so that how many there are does not depend on which
        // thread is late.
        let workers = rayon::current_num_threads().min(tiles.len());
        let workers: Vec<Scratch<T>> = (0..workers)
            .map(|_| self.scratch.take(Scratch::new))
            .collect();
        let mut results: Vec<_> = workers.into_par_iter().flat_map_iter(work).collect();
        results.sort_unstable_by_key(|(place, _)| *place);

        let n_views = pairs.scale.n_views();
        let mut sums = vec![Sums::zero(n_views); layout.schedule.units().len()];
        for (place, of_tile) in results {
            let (a, b) = tiles[place].blocks;
            let (d, e) = (blocks[a].view, blocks[b].view);
            let scale = pairs.scale.get(d, e);
            let sums = &mut sums[tiles[place].unit];
            sums.value += scale * of_tile.term.value;
            sums.pairs += scale * of_tile.pairs;
            sums.gamma.add(d, e, -scale * of_tile.term.slope);
            sums.watched.0 += scale * of_tile.watched.0;
            sums.watched.1 += scale * of_tile.watched.1;
        }
        self.packed.give(packed);
        let slots = slots.into_iter().flatten();
        let slots = slots.map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
        (sums, slots.collect())
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

/// The gradient rows of each block.
fn places<'a, T: Real>(
    blocks: &[RowBlock],
    embedded: &EmbeddedRows<'_, T>,
    gradient: &'a mut [T],
) -> Vec<Slopes<'a, T>> {
    let (dim, n) = (embedded.dim, embedded.n_rows());
    let (mut y, mut offsets) = gradient.split_at_mut(n * dim);
    let width = usize::from(!offsets.is_empty());
    let mut done = 0;
    let mut places = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (skipped, rows) = (block.rows.start - done, block.rows.len());
        let slopes = Slopes {
            y: take_rows(&mut y, skipped * dim, rows * dim),
            offsets: take_rows(&mut offsets, skipped * width, rows * width),
        };
        done = block.rows.end;
        places.push(slopes);
    }
    places
}

/// The numbers after some that are skipped; what comes after them stays.
fn take_rows<'a, T>(rest: &mut &'a mut [T], skipped: usize, count: usize) -> &'a mut [T] {
    let (_, tail) = std::mem::take(rest).split_at_mut(skipped);
    let (taken, tail) = tail.split_at_mut(count);
    *rest = tail;
    taken
}

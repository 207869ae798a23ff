//! Where rows stand on the card: each view starts at a whole tile, and rows without a
//! node fill its last one. And what the blocks of a pass do.

use std::ops::Range;

use linkproof_method::engine::pairs::{AllPairs, PassShare, ViewMatrix};

use crate::pass::Item;

/// Rows of a tile that others meet.
pub const TILE: usize = 64;
/// The largest number of rows that a kernel handles together.
pub const WIDEST: usize = 128;

/// The rows of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Where they start on the card.
    pub start: usize,
    /// The rows on the host.
    pub rows: Range<usize>,
}

/// The rows of all views.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Each view's.
    pub places: Vec<Place>,
    /// All rows, padding included.
    pub rows: usize,
    /// The dimension, and what it is padded to.
    pub dim: usize,
    /// Numbers in a row, padding included.
    pub width: usize,
}

/// What each block of a pass does, and the pair of views it is about.
pub struct Work {
    /// For the kernels.
    pub items: Vec<Item>,
    /// The pair of views of each item.
    pub views: Vec<(usize, usize)>,
    /// The number of pairs of each item, where all take part. Those of a tile and a view
    /// are counted with the first item of the two.
    pub pairs: Vec<f64>,
    /// The tiles of the share.
    pub tiles: Vec<Tile>,
    /// Partial gradients that are to be added up.
    pub slots: usize,
}

/// Rows that kernels handle together.
pub struct Tile {
    /// The rows on the host.
    pub rows: Range<usize>,
    /// Where they start on the card.
    pub start: usize,
    /// Its items.
    pub items: Range<usize>,
}

impl Layout {
    /// Lays rows out.
    pub fn new(rows: &[Range<usize>], dim: usize, width: usize) -> Layout {
        let mut next = 0;
        let place = |rows: &Range<usize>| {
            let start = next;
            next += rows.len().next_multiple_of(WIDEST);
            let rows = rows.clone();
            Place { start, rows }
        };
        Layout {
            places: rows.iter().map(place).collect(),
            rows: next,
            dim,
            width,
        }
    }

    /// What blocks of `own` rows do; about `blocks` of them are wanted for a whole pass. What
    /// is done for a tile is the same in every share.
    pub fn work(
        &self,
        pairs: &AllPairs<'_>,
        gamma: &ViewMatrix,
        (own, blocks): (usize, usize),
        share: PassShare,
    ) -> Work {
        let n_tiles: usize = self.places.iter().map(|place| place.tiles(own).len()).sum();
        let longest = self
            .places
            .iter()
            .map(|place| place.tiles(TILE).len())
            .max();
        // Few rows leave much of a card idle: these meet parts of the others.
        let most = longest.unwrap_or(0).div_ceil(8).clamp(1, 16);
        let cuts = blocks.div_ceil(n_tiles.max(1)).clamp(1, most);
        let mut work = Work {
            items: Vec::new(),
            views: Vec::new(),
            pairs: Vec::new(),
            tiles: Vec::new(),
            slots: cuts * self.places.len(),
        };
        let mut counted = 0..;
        for (d, place) in self.places.iter().enumerate() {
            for tile in place.tiles(own) {
                if !counted.next().is_some_and(|index| share.has_tile(index)) {
                    continue;
                }
                let valid = place.start + place.rows.len();
                let start = tile * own;
                let here = valid.min(start + own) - start;
                let first = place.rows.start + start - place.start;
                let items = work.items.len();
                for (e, other) in self.places.iter().enumerate() {
                    let scale = pairs.scale.get(d, e);
                    if scale == 0.0 || other.rows.is_empty() {
                        continue;
                    }
                    let partners = other.rows.len() - usize::from(d == e);
                    let mut n_pairs = 0.5 * scale * here as f64 * partners as f64;
                    let tiles = other.tiles(TILE);
                    for cut in 0..cuts {
                        let at = |cut: usize| tiles.start + tiles.len() * cut / cuts;
                        if at(cut) == at(cut + 1) {
                            continue;
                        }
                        work.items.push(Item {
                            tile: tile as i32,
                            from: at(cut) as i32,
                            to: at(cut + 1) as i32,
                            end: (other.start + other.rows.len()) as i32,
                            valid: valid as i32,
                            slot: (e * cuts + cut) as i32,
                            shift: -gamma.get(d, e),
                            scale,
                        });
                        work.views.push((d, e));
                        work.pairs.push(std::mem::take(&mut n_pairs));
                    }
                }
                work.tiles.push(Tile {
                    rows: first..first + here,
                    start,
                    items: items..work.items.len(),
                });
            }
        }
        work
    }
}

impl Place {
    /// The tiles of so many rows.
    fn tiles(&self, size: usize) -> Range<usize> {
        self.start / size..(self.start + self.rows.len()).div_ceil(size)
    }
}

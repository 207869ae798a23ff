//! Parts of a pass over all pairs, as they travel.

use super::tiled::Layout;
use super::tree::Node;
use super::{AllPairs, EmbeddedRows, Sums};
use linkproof_numeric::real::Real;

/// One of several shares of a pass, which keep the bits of the whole.
///
/// A share is some of the units in which blocks meet. Units stand in the order of a
/// Z-curve, and a share is a piece of it, so that it touches few blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassShare {
    index: usize,
    of: usize,
}

impl PassShare {
    /// Everything.
    pub const WHOLE: PassShare = PassShare { index: 0, of: 1 };

    /// One of so many shares, counted from 0; none where there are not so many.
    pub fn new(index: usize, of: usize) -> Option<PassShare> {
        (index < of).then_some(PassShare { index, of })
    }

    /// Whether it has a tile of a card, counted from 0.
    pub fn has_tile(self, tile: usize) -> bool {
        tile % self.of == self.index
    }

    /// The places of its units, ascending.
    pub(super) fn units(self, layout: &Layout, pairs: &AllPairs<'_>) -> Vec<usize> {
        let units = layout.schedule.units();
        if self.of == 1 {
            return (0..units.len()).collect();
        }
        let mut cost = vec![0u64; units.len()];
        for tile in layout.tiles(pairs, |_| true) {
            // A tile on the diagonal has half the pairs.
            cost[tile.unit] += if tile.blocks.0 == tile.blocks.1 { 1 } else { 2 };
        }
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|&unit| z_order(units[unit].groups));
        let all = cost.iter().sum::<u64>().max(1);
        let mut done = 0;
        let mut mine = Vec::new();
        for unit in order {
            let middle = 2 * done + cost[unit];
            done += cost[unit];
            if (middle * self.of as u64 / (2 * all)).min(self.of as u64 - 1) == self.index as u64 {
                mine.push(unit);
            }
        }
        mine.sort_unstable();
        mine
    }
}

/// The place of a pair on the Z-curve: the bits of both, in turn.
fn z_order((p, q): (usize, usize)) -> u128 {
    let spread = |x: usize| {
        (0..64).fold(0u128, |code, bit| {
            code | ((x as u128 >> bit & 1) << (2 * bit))
        })
    };
    spread(p) << 1 | spread(q)
}

/// How many shares a pass over these pairs can have at most: more would be idle.
pub fn most_shares(pairs: &AllPairs<'_>) -> usize {
    Layout::new(pairs).schedule.units().len()
}

/// The sums of a share of a pass.
#[derive(Debug, Clone)]
pub struct Partial<T> {
    pub(super) units: Vec<usize>,
    pub(super) sums: Vec<Sums>,
    pub(super) nodes: Vec<(usize, Node<T>)>,
}

/// The sums of a share as plain lists.
#[derive(Debug, Clone, PartialEq)]
pub struct FlatPartial<T> {
    /// Of each unit value, pairs, the watched value and pairs, and the derivatives in
    /// `gamma`. A card's tile may have several.
    pub sums: Vec<f64>,
    /// Of each sum of a block's gradient the block, the height and the place; of each tile
    /// of a card the first row, the row after its last, and how many sums it has.
    pub places: Vec<u32>,
    /// The sums of gradients, one after another; of a card the slopes of each row.
    pub numbers: Vec<T>,
}

/// The same, borrowed.
pub type FlatLists<'s, T> = (&'s [f64], &'s [u32], &'s [T]);

impl<T> FlatPartial<T> {
    /// Its lists.
    pub fn lists(&self) -> FlatLists<'_, T> {
        (&self.sums, &self.places, &self.numbers)
    }
}

impl<T: Real> Partial<T> {
    pub(super) fn flat(&self) -> FlatPartial<T> {
        let mut sums = Vec::new();
        self.sums.iter().for_each(|unit| unit.put_flat(&mut sums));
        let place =
            |(block, node): &(usize, Node<T>)| [*block as u32, node.level, node.index as u32];
        let len = self.nodes.iter().map(|(_, node)| node.numbers.len()).sum();
        let mut numbers = Vec::with_capacity(len);
        for (_, node) in &self.nodes {
            numbers.extend_from_slice(&node.numbers);
        }
        FlatPartial {
            sums,
            places: self.nodes.iter().flat_map(place).collect(),
            numbers,
        }
    }

    /// A share from plain lists; none where they are not those of this share.
    pub fn of_flat(
        share: PassShare,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        (sums, places, numbers): FlatLists<'_, T>,
    ) -> Option<Partial<T>> {
        let layout = Layout::new(pairs);
        let (units, depth) = (share.units(&layout, pairs), layout.schedule.depth());
        let n = pairs.scale.n_views();
        let width = Sums::flat_len(n);
        if sums.len() != width * units.len() || places.len() % 3 != 0 {
            return None;
        }
        let of_unit = |row: &[f64]| Sums::of_flat(row, n);
        let mut nodes = Vec::with_capacity(places.len() / 3);
        let mut rest = numbers;
        for place in places.chunks_exact(3) {
            let (block, level, index) = (place[0] as usize, place[1], place[2] as usize);
            if block >= layout.blocks.len() || level > depth || index >> (depth - level) != 0 {
                return None;
            }
            let (numbers, more) = rest.split_at_checked(layout.numbers(block, embedded).1)?;
            rest = more;
            let numbers = numbers.to_vec();
            let node = Node {
                level,
                index,
                numbers,
            };
            nodes.push((block, node));
        }
        rest.is_empty().then(|| Partial {
            sums: sums.chunks_exact(width).map(of_unit).collect(),
            units,
            nodes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::pairs::{PairPass, Tiled, ViewMatrix};
    use crate::params::ScoreKind;
    use crate::score::{Kernel, Score};

    /// Enough rows for groups: two views, offsets.
    fn rows(n: usize, dim: usize) -> Vec<f32> {
        (0..n * dim).map(|x| (x as f32 * 0.37).sin()).collect()
    }

    #[test]
    fn shares_of_any_number_make_the_same_bits_as_the_whole() {
        let (n, dim) = (5000, 3);
        let (y, nodes): (_, Vec<u32>) = (rows(n, dim), (0..n as u32).collect());
        let offsets = rows(n, 1);
        let kernel = Kernel::new(&Score::new(ScoreKind::Likelihood, 0.0));
        for cut in [n, 1800] {
            let views = [0..cut, cut..n];
            let views: Vec<_> = views.into_iter().filter(|view| !view.is_empty()).collect();
            let gamma = ViewMatrix::filled(views.len(), 0.3);
            let mut scale = ViewMatrix::filled(views.len(), 1.0);
            if views.len() > 1 {
                scale.set(0, 0, 0.0);
            }
            let embedded = EmbeddedRows {
                y: &y,
                mirror: &y,
                offsets: &offsets,
                dim,
                views: &views,
                gamma: &gamma,
            };
            let pairs = AllPairs {
                rows: &views,
                scale: &scale,
                nodes: &nodes,
                split: None,
                watched: false,
            };
            assert!(most_shares(&pairs) > 2);
            let tiled = Tiled::default();
            let mut whole = vec![0.0; embedded.n_slopes()];
            let sums = tiled
                .all_pairs(&embedded, &pairs, &kernel, Some(&mut whole))
                .unwrap();
            for of in [1, 2, 3, 7, 50] {
                let part = |index| {
                    let share = PassShare::new(index, of).unwrap();
                    let part = tiled.flat_part(&embedded, &pairs, &kernel, (share, true));
                    Partial::of_flat(share, &embedded, &pairs, part.lists()).unwrap()
                };
                let parts: Vec<Partial<f32>> = (0..of).map(part).collect();
                let mut gradient = vec![0.0; embedded.n_slopes()];
                let found = tiled.join(parts.clone(), &embedded, &pairs, Some(&mut gradient));
                assert_eq!(found.unwrap(), sums);
                assert!(gradient == whole, "{of} shares");
                // Without one of them, or with one twice, there is no whole. (Of more
                // shares than units some are empty.)
                let some = parts
                    .iter()
                    .position(|part| !part.units.is_empty())
                    .unwrap();
                let mut fewer = parts.clone();
                fewer.remove(some);
                assert!(tiled.join(fewer, &embedded, &pairs, None).is_none());
                let twice = [&parts[..], &parts[some..=some]].concat();
                assert!(tiled.join(twice, &embedded, &pairs, None).is_none());
            }
            let share = PassShare::new(0, 2).unwrap();
            let part = tiled.flat_part(&embedded, &pairs, &kernel, (share, true));
            let (sums, places, numbers) = part.lists();
            let damaged = [
                (&sums[1..], places, numbers),
                (sums, &places[1..], numbers),
                (sums, places, &numbers[1..]),
                (sums, &[9999, 0, 0], numbers),
                (sums, &[0, 30, 0], numbers),
            ];
            for lists in damaged {
                assert!(Partial::of_flat(share, &embedded, &pairs, lists).is_none());
            }
            assert!(PassShare::new(2, 2).is_none());
        }
    }
}

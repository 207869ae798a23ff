//! Which blocks meet when: the rounds of a tournament, and the order of its
//! tiles.
//!
//! Many blocks stand in groups, as many as a power of two. In round `r` group `p` meets
//! group `p XOR r`, itself in round 0, so that two groups meet once and none is in two
//! pairs of a round. Two groups that meet are a *unit*. Inside a unit, blocks meet in
//! rounds of their own.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// A group has at least so many blocks, where there is more than one: what a block adds
/// up in a round is added to the sum of the other rounds, which takes time.
const GROUP: usize = 6;

/// Fewer blocks than these are one group: a pass over them takes no longer than to have
/// it computed elsewhere.
const GROUPED: usize = 16;

/// Groups of blocks, and who meets whom.
#[derive(Debug, Clone)]
pub struct Schedule {
    groups: Vec<Range<usize>>,
    units: Vec<Unit>,
}

/// Two groups that meet, the same one twice in round 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// The round.
    pub round: usize,
    /// The groups.
    pub groups: (usize, usize),
}

/// A tile, and how many tiles each of its blocks has to be through before.
pub struct ScheduledTile {
    /// The blocks, the same one twice on the diagonal.
    pub blocks: (usize, usize),
    /// The place of its unit.
    pub unit: usize,
    /// The round of its unit.
    pub round: usize,
    earlier: (u32, u32),
}

impl Schedule {
    /// Groups so many blocks: by their number and nothing else.
    pub fn new(n: usize) -> Schedule {
        let count = match n {
            ..GROUPED => 1,
            _ => 1 << (n / GROUP).ilog2(),
        };
        let groups = (0..count).map(|group| group * n / count..(group + 1) * n / count);
        let meet = |round: usize| {
            let pairs = (0..count).map(move |p| (p, p ^ round));
            let pairs = pairs.filter(|(p, q)| p <= q);
            pairs.map(move |groups| Unit { round, groups })
        };
        Schedule {
            groups: groups.collect(),
            units: (0..count).flat_map(meet).collect(),
        }
    }

    /// All units, round after round.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The logarithm of the number of groups, and so of rounds.
    pub fn depth(&self) -> u32 {
        self.groups.len().ilog2()
    }

    /// All tiles in the order of the rounds, without those that do not take part.
    pub fn tiles(
        &self,
        mut takes_part: impl FnMut(usize, (usize, usize)) -> bool,
    ) -> Vec<ScheduledTile> {
        let n = self.groups.last().map_or(0, |group| group.end);
        let mut tiles = vec![0; n];
        let mut scheduled = Vec::new();
        for (unit, round, (a, b)) in self.in_order() {
            if !takes_part(unit, (a, b)) {
                continue;
            }
            scheduled.push(ScheduledTile {
                blocks: (a, b),
                unit,
                round,
                earlier: (tiles[a], tiles[b]),
            });
            tiles[a] += 1;
            if a != b {
                tiles[b] += 1;
            }
        }
        scheduled
    }

    /// The units of a round side by side, tile by tile.
    fn in_order(&self) -> impl Iterator<Item = (usize, usize, (usize, usize))> {
        let mut first = 0;
        let of_rounds = self.units.chunk_by(|a, b| a.round == b.round);
        of_rounds.flat_map(move |units| {
            let rounds: Vec<_> = units.iter().map(|unit| self.inside(*unit)).collect();
            let most = rounds.iter().map(Vec::len).max().unwrap_or(0);
            let mut tiles = Vec::new();
            for inner in 0..most {
                for (place, (unit, rounds)) in units.iter().zip(&rounds).enumerate() {
                    let here = rounds.get(inner).into_iter().flatten();
                    tiles.extend(here.map(|&tile| (first + place, unit.round, tile)));
                }
            }
            first += units.len();
            tiles
        })
    }

    /// The rounds in which the blocks of a unit meet.
    fn inside(&self, unit: Unit) -> Vec<Vec<(usize, usize)>> {
        let (p, q) = unit.groups;
        let (first, second) = (&self.groups[p], &self.groups[q]);
        if p == q {
            let shifted = |(a, b)| (first.start + a, first.start + b);
            let rounds = rounds(first.len()).into_iter();
            return rounds
                .map(|tiles| tiles.into_iter().map(shifted).collect())
                .collect();
        }
        let most = first.len().max(second.len());
        let meet = |round: usize| {
            let pairs = (0..most).map(|a| (a, (a + round) % most));
            let pairs = pairs.filter(|&(a, b)| a < first.len() && b < second.len());
            pairs
                .map(|(a, b)| (first.start + a, second.start + b))
                .collect()
        };
        (0..most).map(meet).collect()
    }
}

/// The blocks of a tile for its own use, until this is dropped.
pub struct HeldBlocks<'a> {
    first: &'a AtomicU32,
    second: Option<&'a AtomicU32>,
}

impl<'a> HeldBlocks<'a> {
    /// Waits until both blocks have been through their earlier tiles. Those
    /// were handed out before and are being worked on, so the wait ends.
    pub fn wait(tile: &ScheduledTile, through: &'a [AtomicU32]) -> HeldBlocks<'a> {
        let (a, b) = tile.blocks;
        for (block, earlier) in [(a, tile.earlier.0), (b, tile.earlier.1)] {
            let mut tries = 0u32;
            while through[block].load(Ordering::Acquire) < earlier {
                tries += 1;
                if tries.is_multiple_of(64) {
                    std::thread::yield_now();
                } else {
                    std::hint::spin_loop();
                }
            }
        }
        HeldBlocks {
            first: &through[a],
            second: (a != b).then(|| &through[b]),
        }
    }
}

impl Drop for HeldBlocks<'_> {
    fn drop(&mut self) {
        self.first.fetch_add(1, Ordering::Release);
        if let Some(second) = self.second {
            second.fetch_add(1, Ordering::Release);
        }
    }
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
            let others = even - 1;
            meet((round + step) % others, (round + others - step) % others);
        }
        rounds.push(tiles);
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_two_blocks_meet_once_and_none_twice_in_a_round() {
        for n in 0..12 {
            let mut met = HashSet::new();
            for round in rounds(n) {
                let mut busy = HashSet::new();
                for (a, b) in round {
                    assert!(a <= b && met.insert((a, b)));
                    assert!(busy.insert(a) && (a == b || busy.insert(b)));
                }
            }
            assert_eq!(met.len(), n * (n + 1) / 2);
        }
    }

    #[test]
    fn groups_meet_once_and_rounds_of_a_block_come_in_order() {
        for n in [0, 1, 5, 15, 16, 17, 24, 31, 50] {
            let schedule = Schedule::new(n);
            let count = 1 << schedule.depth();
            assert_eq!(schedule.units().len(), count * (count + 1) / 2);
            assert_eq!(count > 1, n >= GROUPED);
            assert!(count == 1 || n >= GROUP * count);
            let (mut met, mut last) = (HashSet::new(), vec![0; n]);
            for tile in schedule.tiles(|_, _| true) {
                let (a, b) = tile.blocks;
                assert!(a <= b && met.insert((a, b)));
                assert_eq!(schedule.units()[tile.unit].round, tile.round);
                for block in [a, b] {
                    assert!(last[block] <= tile.round);
                    last[block] = tile.round;
                }
            }
            assert_eq!(met.len(), n * (n + 1) / 2, "{n} blocks");
        }
    }

    #[test]
    fn a_block_waits_for_its_earlier_tiles_alone() {
        let scheduled = Schedule::new(5).tiles(|_, (a, b)| a != b);
        assert_eq!(scheduled.len(), 10);
        let mut tiles = [0; 5];
        for tile in &scheduled {
            let (a, b) = tile.blocks;
            assert_eq!(tile.earlier, (tiles[a], tiles[b]));
            tiles[a] += 1;
            tiles[b] += 1;
        }
        assert_eq!(tiles, [4; 5]);
    }
}

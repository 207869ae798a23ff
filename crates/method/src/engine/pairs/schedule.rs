//! Which blocks meet when: the rounds of a tournament, and the order of its
//! tiles.

use std::sync::atomic::{AtomicU32, Ordering};

/// A tile, and how many tiles each of its blocks has to be through before.
pub struct ScheduledTile {
    /// The blocks, the same one twice on the diagonal.
    pub blocks: (usize, usize),
    earlier: (u32, u32),
}

/// All tiles in the order of the rounds, without pairs of blocks that do not
/// take part.
pub fn schedule(n: usize, mut takes_part: impl FnMut(usize, usize) -> bool) -> Vec<ScheduledTile> {
    let mut tiles = vec![0; n];
    let mut scheduled = Vec::new();
    for (a, b) in rounds(n).into_iter().flatten() {
        if !takes_part(a, b) {
            continue;
        }
        scheduled.push(ScheduledTile {
            blocks: (a, b),
            earlier: (tiles[a], tiles[b]),
        });
        tiles[a] += 1;
        if a != b {
            tiles[b] += 1;
        }
    }
    scheduled
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
    fn a_block_waits_for_its_earlier_tiles_alone() {
        let scheduled = schedule(5, |a, b| a != b);
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

//! Which blocks meet when: the rounds of a tournament, and the turns of its
//! tiles.

use std::sync::atomic::{AtomicU32, Ordering};

/// Blocks that are to meet, and how many tiles each has to be through before.
pub struct Meeting {
    /// The blocks, the same one twice on the diagonal.
    pub blocks: (usize, usize),
    earlier: (u32, u32),
}

/// All tiles in the order of the rounds, without pairs of blocks that do not
/// take part.
pub fn meetings(n: usize, takes_part: impl Fn(usize, usize) -> bool) -> Vec<Meeting> {
    let mut tiles = vec![0; n];
    let mut meetings = Vec::new();
    for (a, b) in rounds(n).into_iter().flatten() {
        if !takes_part(a, b) {
            continue;
        }
        meetings.push(Meeting {
            blocks: (a, b),
            earlier: (tiles[a], tiles[b]),
        });
        tiles[a] += 1;
        if a != b {
            tiles[b] += 1;
        }
    }
    meetings
}

/// The turn of a tile: from when its blocks are free until it is dropped.
pub struct Turn<'a> {
    first: &'a AtomicU32,
    second: Option<&'a AtomicU32>,
}

impl<'a> Turn<'a> {
    /// Waits until both blocks have been through their earlier tiles. Those
    /// were handed out before and are being worked on, so the wait ends.
    pub fn wait(meeting: &Meeting, through: &'a [AtomicU32]) -> Turn<'a> {
        let (a, b) = meeting.blocks;
        for (block, earlier) in [(a, meeting.earlier.0), (b, meeting.earlier.1)] {
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
        Turn {
            first: &through[a],
            second: (a != b).then(|| &through[b]),
        }
    }
}

impl Drop for Turn<'_> {
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
            let turn = even - 1;
            meet((round + step) % turn, (round + turn - step) % turn);
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
        let meetings = meetings(5, |a, b| a != b);
        assert_eq!(meetings.len(), 10);
        let mut tiles = [0; 5];
        for meeting in &meetings {
            let (a, b) = meeting.blocks;
            assert_eq!(meeting.earlier, (tiles[a], tiles[b]));
            tiles[a] += 1;
            tiles[b] += 1;
        }
        assert_eq!(tiles, [4; 5]);
    }
}

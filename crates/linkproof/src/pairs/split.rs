//! The held-out rule: a pair's hash decides, so no list of pairs is needed and
//! links and zeros are treated alike.

use serde::{Deserialize, Serialize};

use crate::processor::vectorised;
use crate::real::Real;

/// Pairs whose hash falls into a range are held out, or all pairs of nodes
/// whose hash does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    seed: u32,
    from: u32,
    width: u32,
    by_node: bool,
}

/// One side of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The pairs that a fit sees.
    Training,
    /// The others.
    HeldOut,
}

impl Split {
    /// Holds out a share of all pairs.
    pub fn share(seed: u64, share: f64) -> Split {
        Split::range(seed, 0.0, share)
    }

    /// Holds out fold `fold` of `n_folds`.
    pub fn fold(seed: u64, fold: usize, n_folds: usize) -> Split {
        Split::range(
            seed,
            fold as f64 / n_folds as f64,
            (fold + 1) as f64 / n_folds as f64,
        )
    }

    /// Holds out every pair of the nodes of fold `fold` of `n_folds`.
    pub fn node_fold(seed: u64, fold: usize, n_folds: usize) -> Split {
        Split {
            by_node: true,
            ..Split::fold(seed, fold, n_folds)
        }
    }

    fn range(seed: u64, from: f64, to: f64) -> Split {
        let place = |share: f64| (share * 4_294_967_296.0) as u64;
        Split {
            seed: mix(seed as u32 ^ mix((seed >> 32) as u32 ^ 0x9e37_79b9)),
            from: place(from) as u32,
            width: (place(to) - place(from)).min(u64::from(u32::MAX)) as u32,
            by_node: false,
        }
    }

    /// The share of pairs that is held out.
    pub fn held_share(self) -> f64 {
        let share = f64::from(self.width) / 4_294_967_296.0;
        match self.by_node {
            true => 1.0 - (1.0 - share).powi(2),
            false => share,
        }
    }

    #[inline(always)]
    fn has(self, hash: u32) -> bool {
        hash.wrapping_sub(self.from) < self.width
    }

    /// Whether all pairs of a node are held out.
    #[inline(always)]
    fn has_node(self, node: u32) -> bool {
        self.by_node && self.has(pair_hash(self.seed, node, node))
    }

    /// Whether the pair of nodes `i < j` is held out.
    #[inline(always)]
    pub fn holds_out(self, i: u32, j: u32) -> bool {
        match self.by_node {
            true => self.has_node(i) || self.has_node(j),
            false => self.has(pair_hash(self.seed, i, j)),
        }
    }

    /// Whether the pair of nodes `i < j` belongs to a part.
    #[inline(always)]
    pub fn keeps(self, part: Part, i: u32, j: u32) -> bool {
        self.holds_out(i, j) == (part == Part::HeldOut)
    }
}

vectorised!(
    /// Fills `mask` with 1 for the nodes `j > i` whose pair with `i` belongs to
    /// the part, else 0; returns how many do.
    pub fn mask_row<T>(mask: &mut [T], split: Split, part: Part, i: u32, nodes: &[u32]) -> u32 = mask_body
);

#[inline(always)]
fn mask_body<T: Real, const FMA: bool>(
    mask: &mut [T],
    split: Split,
    part: Part,
    i: u32,
    nodes: &[u32],
) -> u32 {
    let mut count = 0;
    // Told apart outside the loop, which is then one of wide registers.
    let row = split.has_node(i);
    for (mask, &j) in mask.iter_mut().zip(nodes) {
        let held = match split.by_node {
            true => row || split.has_node(j),
            false => split.has(pair_hash(split.seed, i, j)),
        };
        let keeps = held == (part == Part::HeldOut);
        *mask = if keeps { T::ONE } else { T::ZERO };
        count += u32::from(keeps);
    }
    count
}

#[inline(always)]
fn pair_hash(seed: u32, i: u32, j: u32) -> u32 {
    mix(i.wrapping_mul(0x9e37_79b1) ^ j.wrapping_mul(0x85eb_ca77).wrapping_add(seed))
}

/// A 32-bit finaliser (Wellons' `lowbias32`).
#[inline(always)]
fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_partition_the_pairs_evenly() {
        let folds: Vec<_> = (0..5).map(|fold| Split::fold(7, fold, 5)).collect();
        let mut counts = [0usize; 5];
        for i in 0..300 {
            for j in i + 1..300 {
                let hits: Vec<_> = (0..5).filter(|&f| folds[f].holds_out(i, j)).collect();
                assert_eq!(hits.len(), 1);
                counts[hits[0]] += 1;
            }
        }
        for count in counts {
            assert!((count as f64 / 44_850.0 - 0.2).abs() < 0.01, "{counts:?}");
        }
    }

    #[test]
    fn folds_of_nodes_hold_out_all_their_pairs() {
        let folds: Vec<_> = (0..4).map(|fold| Split::node_fold(7, fold, 4)).collect();
        let nodes: Vec<u32> = (0..200).collect();
        for (place, fold) in folds.iter().enumerate() {
            let inside = |node: u32| fold.has_node(node);
            let n_inside = nodes.iter().filter(|&&node| inside(node)).count();
            assert!((30..70).contains(&n_inside), "{n_inside}");
            for i in 0..200 {
                let mut mask = [0f32; 200];
                let count = mask_row(&mut mask, *fold, Part::HeldOut, i, &nodes);
                let held: Vec<bool> = nodes.iter().map(|&j| inside(i) || inside(j)).collect();
                assert_eq!(count as usize, held.iter().filter(|held| **held).count());
                for j in 0..200 {
                    assert_eq!(mask[j as usize] == 1.0, held[j as usize]);
                    assert_eq!(fold.holds_out(i, j), held[j as usize]);
                }
                let others = folds.iter().filter(|other| other.has_node(i)).count();
                assert_eq!(others, 1, "{place}");
            }
            let share = fold.held_share();
            assert!((share - 0.4375).abs() < 1e-6, "{share}");
        }
    }

    #[test]
    fn shares_are_kept_and_seeds_differ() {
        let held = |split: Split| {
            (0..400u32)
                .flat_map(|i| (i + 1..400).map(move |j| (i, j)))
                .filter(|&(i, j)| split.holds_out(i, j))
                .collect::<Vec<_>>()
        };
        let (a, b) = (held(Split::share(0, 0.05)), held(Split::share(1, 0.05)));
        assert!((a.len() as f64 / 79_800.0 - 0.05).abs() < 0.005);
        assert_ne!(a, b);
        assert!(held(Split::share(0, 0.0)).is_empty());
    }
}

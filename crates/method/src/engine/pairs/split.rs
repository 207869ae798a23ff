//! The held-out rule: a pair's hash decides, so no list of pairs is needed and
//! links and zeros are treated alike.
//!
//! Two disjoint sets of pairs can be absent from training: a fold, which a fit
//! never looks at and is judged by, and pairs that it looks at to decide when to
//! stop. What decided when to stop has been seen, and judges too kindly.

use serde::{Deserialize, Serialize};

use linkproof_numeric::processor::vectorised;
use linkproof_numeric::real::Real;

/// Which pairs are absent from training, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    fold: Option<Rule>,
    stopping: Option<Rule>,
}

/// Pairs whose hash falls into a range, or all pairs of nodes whose hash does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The seed of the hash.
    pub seed: u32,
    /// Where the range starts.
    pub from: u32,
    /// How many hashes it has.
    pub width: u32,
    /// Whether it names nodes.
    pub by_node: bool,
}

/// One side of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// The pairs that a fit is fitted to.
    Training,
    /// The pairs held out to decide when to stop.
    HeldOut,
    /// The fold: pairs that a fit has not looked at in any way.
    Judged,
}

impl Split {
    /// Holds out a share of all pairs to decide when to stop.
    pub fn share(seed: u64, share: f64) -> Split {
        Split {
            fold: None,
            stopping: Some(Rule::range(seed, 0.0, share)),
        }
    }

    /// Keeps fold `fold` of `n_folds` apart, to be judged.
    pub fn fold(seed: u64, fold: usize, n_folds: usize) -> Split {
        let place = |fold: usize| fold as f64 / n_folds as f64;
        Split {
            fold: Some(Rule::range(seed, place(fold), place(fold + 1))),
            stopping: None,
        }
    }

    /// Keeps every pair of the nodes of fold `fold` of `n_folds` apart.
    pub fn node_fold(seed: u64, fold: usize, n_folds: usize) -> Split {
        let mut split = Split::fold(seed, fold, n_folds);
        if let Some(rule) = &mut split.fold {
            rule.by_node = true;
        }
        split
    }

    /// The same fold, with the pairs outside it that another split holds out to
    /// decide when to stop.
    pub fn stopping_by(self, other: Option<Split>) -> Split {
        Split {
            stopping: other.and_then(|other| other.stopping),
            ..self
        }
    }

    /// The rules of the fold and of the pairs that decide when to stop.
    pub fn rules(self) -> [Option<Rule>; 2] {
        [self.fold, self.stopping]
    }

    /// Whether some pairs decide when to stop.
    pub fn stops(self) -> bool {
        self.stopping.is_some()
    }

    /// Whether there is a fold to be judged.
    pub fn judges(self) -> bool {
        self.fold.is_some()
    }

    /// The share of pairs that is absent from training.
    pub fn held_share(self) -> f64 {
        let seen = |rule: Option<Rule>| 1.0 - rule.map_or(0.0, Rule::share);
        match (self.fold, self.stopping) {
            (Some(rule), None) | (None, Some(rule)) => rule.share(),
            (fold, stopping) => 1.0 - seen(fold) * seen(stopping),
        }
    }

    /// Whether the pair of nodes `i < j` is absent from training.
    #[inline(always)]
    pub fn holds_out(self, i: u32, j: u32) -> bool {
        self.part_of(i, j) != Part::Training
    }

    /// The part that the pair of nodes `i < j` belongs to.
    #[inline(always)]
    pub fn part_of(self, i: u32, j: u32) -> Part {
        let has = |rule: Option<Rule>| rule.is_some_and(|rule| rule.has_pair(i, j));
        if has(self.fold) {
            Part::Judged
        } else if has(self.stopping) {
            Part::HeldOut
        } else {
            Part::Training
        }
    }

    /// Whether the pair of nodes `i < j` belongs to a part.
    #[inline(always)]
    pub fn keeps(self, part: Part, i: u32, j: u32) -> bool {
        self.part_of(i, j) == part
    }
}

impl Rule {
    fn range(seed: u64, from: f64, to: f64) -> Rule {
        let place = |share: f64| (share * 4_294_967_296.0) as u64;
        Rule {
            seed: mix(seed as u32 ^ mix((seed >> 32) as u32 ^ 0x9e37_79b9)),
            from: place(from) as u32,
            width: (place(to) - place(from)).min(u64::from(u32::MAX)) as u32,
            by_node: false,
        }
    }

    /// The share of pairs that it names.
    fn share(self) -> f64 {
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

    /// Whether it names all pairs of a node.
    #[inline(always)]
    pub fn has_node(self, node: u32) -> bool {
        self.by_node && self.has(pair_hash(self.seed, node, node))
    }

    #[inline(always)]
    fn has_pair(self, i: u32, j: u32) -> bool {
        match self.by_node {
            true => self.has_node(i) || self.has_node(j),
            false => self.has(pair_hash(self.seed, i, j)),
        }
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
    // Told apart outside the loops, which are then ones of wide registers.
    match (split.fold, split.stopping, part) {
        (Some(rule), _, Part::Judged) | (None, Some(rule), Part::HeldOut) => {
            rule_mask(mask, rule, true, i, nodes)
        }
        (Some(rule), None, Part::Training) | (None, Some(rule), Part::Training) => {
            rule_mask(mask, rule, false, i, nodes)
        }
        (None, _, Part::Judged) | (_, None, Part::HeldOut) => {
            mask.fill(T::ZERO);
            0
        }
        (None, None, Part::Training) => {
            mask.fill(T::ONE);
            mask.len().min(nodes.len()) as u32
        }
        (Some(fold), Some(stopping), _) => {
            let outside = rule_mask(mask, fold, false, i, nodes);
            let row = stopping.has_node(i);
            let stops = part == Part::HeldOut;
            let mut dropped = 0;
            for (mask, &j) in mask.iter_mut().zip(nodes) {
                let named = match stopping.by_node {
                    true => row || stopping.has_node(j),
                    false => stopping.has(pair_hash(stopping.seed, i, j)),
                };
                let kept = if named == stops { T::ONE } else { T::ZERO };
                dropped += u32::from(named != stops && *mask == T::ONE);
                *mask *= kept;
            }
            outside - dropped
        }
    }
}

/// Fills `mask` with 1 where a rule names a pair, or where it does not.
#[inline(always)]
fn rule_mask<T: Real>(mask: &mut [T], rule: Rule, named: bool, i: u32, nodes: &[u32]) -> u32 {
    let mut count = 0;
    let row = rule.has_node(i);
    for (mask, &j) in mask.iter_mut().zip(nodes) {
        let has = match rule.by_node {
            true => row || rule.has_node(j),
            false => rule.has(pair_hash(rule.seed, i, j)),
        };
        let keeps = has == named;
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
            let inside = |node: u32| fold.fold.unwrap().has_node(node);
            let n_inside = nodes.iter().filter(|&&node| inside(node)).count();
            assert!((30..70).contains(&n_inside), "{n_inside}");
            for i in 0..200 {
                let mut mask = [0f32; 200];
                let count = mask_row(&mut mask, *fold, Part::Judged, i, &nodes);
                let held: Vec<bool> = nodes.iter().map(|&j| inside(i) || inside(j)).collect();
                assert_eq!(count as usize, held.iter().filter(|held| **held).count());
                for j in 0..200 {
                    assert_eq!(mask[j as usize] == 1.0, held[j as usize]);
                    assert_eq!(fold.holds_out(i, j), held[j as usize]);
                }
                let others = folds.iter();
                let others = others
                    .filter(|other| other.fold.unwrap().has_node(i))
                    .count();
                assert_eq!(others, 1, "{place}");
            }
            let share = fold.held_share();
            assert!((share - 0.4375).abs() < 1e-6, "{share}");
        }
    }

    #[test]
    fn a_fold_and_the_pairs_that_stop_a_fit_are_disjoint() {
        let nodes: Vec<u32> = (0..150).collect();
        let stopping = Split::share(3, 0.1);
        for fold in [Split::fold(9, 2, 5), Split::node_fold(9, 2, 5)] {
            let both = fold.stopping_by(Some(stopping));
            let mut counts = [0.0; 3];
            for i in 0..150u32 {
                let masks = [Part::Training, Part::HeldOut, Part::Judged].map(|part| {
                    let mut mask = [0f32; 150];
                    let count = mask_row(&mut mask, both, part, i, &nodes);
                    let kept = mask.iter().filter(|x| **x == 1.0).count();
                    assert_eq!(count as usize, kept);
                    mask
                });
                for j in i + 1..150 {
                    let at = |place: usize| masks[place][j as usize] == 1.0;
                    let expected = match (fold.holds_out(i, j), stopping.holds_out(i, j)) {
                        (true, _) => [false, false, true],
                        (false, true) => [false, true, false],
                        (false, false) => [true, false, false],
                    };
                    assert_eq!([at(0), at(1), at(2)], expected);
                    assert_eq!(both.holds_out(i, j), !expected[0]);
                    for (count, is_in) in counts.iter_mut().zip(expected) {
                        *count += f64::from(u8::from(is_in));
                    }
                }
            }
            let all: f64 = counts.iter().sum();
            assert!((1.0 - counts[0] / all - both.held_share()).abs() < 0.1);
            assert!(both.stops() && both.judges() && counts[1] > 0.0);
            assert!(!fold.stops() && !stopping.judges());
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

//! Paths of three links between the ends of pairs.

use rayon::prelude::*;

use super::net::{Neighbors, Net};
use super::pairs::{Links, mixed, pair_hash};

/// Starts of paths that one task goes through.
const STARTS: usize = 64;
/// The stream of random numbers by which middle links are thinned.
const MIDDLE_STREAM: u64 = 0x7370_6563;
/// Middle links of paths are thinned where a node has more links than this.
const MOST_MIDDLE: f64 = 1000.0;
/// The links that may stand in the middle of a path: those of nodes with very many links
/// are thinned, and weigh more instead.
pub(super) struct Middle {
    pub out: Neighbors,
    into: Option<Neighbors>,
    pub weight: MiddleWeight,
}

/// What a middle link weighs, by the degrees of its ends.
pub(super) struct MiddleWeight(Vec<f64>);

impl MiddleWeight {
    fn of(&self, k: u32, l: u32) -> f64 {
        let most = self.0[k as usize].max(self.0[l as usize]);
        (most / MOST_MIDDLE).max(1.0)
    }
}

impl Middle {
    /// Middle links of the given links.
    pub fn new(links: &Links, net: &Net, seed: u64) -> Middle {
        let weight = MiddleWeight((0..net.n()).map(|node| net.degree(node)).collect());
        let seed = mixed(seed ^ MIDDLE_STREAM);
        let is_kept = |ends: &[u32; 2]| {
            let weight = weight.of(ends[0], ends[1]);
            weight == 1.0 || (pair_hash(*ends, seed) >> 11) as f64 * weight < (1u64 << 53) as f64
        };
        let kept: Vec<[u32; 2]> = links.ends.iter().copied().filter(is_kept).collect();
        let kept = Net::new(net.n(), net.directed, kept.iter().copied());
        Middle {
            into: net.directed.then(|| kept.incoming().clone()),
            out: kept.outgoing().clone(),
            weight,
        }
    }

    /// Middle links by the node in which they end.
    pub fn incoming(&self) -> &Neighbors {
        self.into.as_ref().unwrap_or(&self.out)
    }

    /// The weight of the middle link from one node to another, 0 if there is none.
    pub fn weight_of(&self, k: u32, l: u32) -> f64 {
        match self.out.of(k as usize).binary_search(&l) {
            Ok(_) => self.weight.of(k, l),
            Err(_) => 0.0,
        }
    }

    /// Ways back and forth at each node: over a middle link first, and over one last.
    pub fn round_trips(&self, net: &Net, inv: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let sum = |middle: &Neighbors, is_back: &dyn Fn(u32, u32) -> bool| -> Vec<f64> {
            let of_node = |node: usize| {
                let others = middle.of(node).iter();
                let others = others.filter(|&&other| is_back(node as u32, other));
                others
                    .map(|&other| self.weight.of(node as u32, other) * inv[other as usize])
                    .sum()
            };
            (0..net.n()).map(of_node).collect()
        };
        let first = sum(&self.out, &|node, other| net.has(other, node));
        if !net.directed {
            return (first.clone(), first);
        }
        let last = sum(self.incoming(), &|node, other| net.has(node, other));
        (first, last)
    }
}

/// Paths from some nodes, in one direction.
pub(super) struct Walk<'w> {
    pub near: &'w Neighbors,
    pub far: &'w Neighbors,
    pub middle: &'w Neighbors,
    pub weight: &'w MiddleWeight,
    pub inv: &'w [f64],
}

impl Walk<'_> {
    /// For (start, end, place), sorted, the place with common neighbors and paths.
    pub fn all(&self, pairs: &[(u32, u32, u32)]) -> Vec<(u32, f64, f64)> {
        let by_start: Vec<&[(u32, u32, u32)]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
        let n = self.near.n();
        let found: Vec<Vec<(u32, f64, f64)>> = by_start
            .par_chunks(STARTS)
            .map_init(
                || (vec![0.0; n], vec![0.0; n]),
                |(one, two), starts| {
                    let mut found = Vec::new();
                    for pairs in starts {
                        self.all_from_start(pairs, one, two, &mut found);
                    }
                    found
                },
            )
            .collect();
        found.concat()
    }

    fn all_from_start(
        &self,
        pairs: &[(u32, u32, u32)],
        one: &mut [f64],
        two: &mut [f64],
        found: &mut Vec<(u32, f64, f64)>,
    ) {
        let near = self.near.of(pairs[0].0 as usize);
        for &k in near {
            let inv = self.inv[k as usize];
            one[k as usize] = inv * inv;
            for &l in self.middle.of(k as usize) {
                two[l as usize] += self.weight.of(k, l) * inv * self.inv[l as usize];
            }
        }
        for &(_, end, place) in pairs {
            let far = self.far.of(end as usize).iter();
            let sum = |sums: &[f64]| far.clone().map(|&l| sums[l as usize]).sum::<f64>();
            found.push((place, sum(one), sum(two)));
        }
        for &k in near {
            one[k as usize] = 0.0;
            for &l in self.middle.of(k as usize) {
                two[l as usize] = 0.0;
            }
        }
    }
}

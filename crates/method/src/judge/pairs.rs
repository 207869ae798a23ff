//! The pairs that are compared: links, sampled non-links, and others that are asked for.

use hashbrown::HashSet;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::net::Net;

/// Parts of the pairs whose evidence is computed without the links of the part.
pub(super) const FOLDS: usize = 5;
/// At least so many non-links, if there are as many.
const LEAST_NON_LINKS: usize = 4000;
/// A pair of views with fewer links is pooled with the smallest other one.
pub(super) const LEAST_LINKS: usize = 20;
/// Draws for each non-link before the search ends.
const DRAWS: usize = 100;
const NON_LINK_STREAM: u64 = 0x6e6f_6e6c;

/// A well mixed number from another one.
pub(super) fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number that stands for a pair, whichever end comes first.
pub(super) fn pair_hash([i, j]: [u32; 2], seed: u64) -> u64 {
    let code = u64::from(i.min(j)) << 32 | u64::from(i.max(j));
    mixed(mixed(code) ^ seed)
}

/// What is judged: nodes in groups, the links between them, and pairs that are neither
/// links nor non-links.
pub(crate) struct Links {
    /// The number of nodes.
    pub n: usize,
    /// Whether links have a direction.
    pub directed: bool,
    /// The group of each node: its view.
    pub group: Vec<u32>,
    /// The links, each pair once.
    pub ends: Vec<[u32; 2]>,
    /// Pairs that are never drawn as non-links.
    pub excluded: Vec<[u32; 2]>,
}

impl Links {
    /// The links as a net.
    pub fn net(&self) -> Net {
        Net::new(self.n, self.directed, self.ends.iter().copied())
    }

    /// A number that stands for a pair.
    pub fn code(&self, [i, j]: [u32; 2]) -> u64 {
        let (i, j) = if self.directed {
            (i, j)
        } else {
            (i.min(j), i.max(j))
        };
        u64::from(i) << 32 | u64::from(j)
    }

    /// The groups of the ends of a pair.
    pub fn groups(&self, [i, j]: [u32; 2]) -> (u32, u32) {
        let (a, b) = (self.group[i as usize], self.group[j as usize]);
        if self.directed {
            (a, b)
        } else {
            (a.min(b), a.max(b))
        }
    }

    /// The pairs of groups that have links, the links of each, and the nodes of each
    /// group.
    pub fn kinds(&self) -> Kinds {
        let mut found: std::collections::BTreeMap<(u32, u32), Vec<u32>> =
            std::collections::BTreeMap::new();
        for (place, &ends) in self.ends.iter().enumerate() {
            found
                .entry(self.groups(ends))
                .or_default()
                .push(place as u32);
        }
        let n_groups = self.group.iter().max().map_or(0, |&most| most as usize + 1);
        let mut members = vec![Vec::new(); n_groups];
        for (node, &group) in self.group.iter().enumerate() {
            members[group as usize].push(node as u32);
        }
        Kinds {
            groups: found.keys().copied().collect(),
            links: found.into_values().collect(),
            members,
        }
    }
}

/// Kinds of links: the pairs of groups between which there are links.
pub(crate) struct Kinds {
    groups: Vec<(u32, u32)>,
    links: Vec<Vec<u32>>,
    members: Vec<Vec<u32>>,
}

impl Kinds {
    /// The number of kinds.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are links between the groups of a pair.
    pub fn has(&self, links: &Links, ends: [u32; 2]) -> bool {
        self.of(links.groups(ends)).is_some()
    }

    /// How many links are of a kind.
    pub fn n_links(&self, kind: usize) -> usize {
        self.links[kind].len()
    }

    /// The kind of a link that is drawn at random.
    pub fn of_random_link(&self, random: &mut ChaCha8Rng) -> usize {
        let all: usize = self.links.iter().map(Vec::len).sum();
        let at = random.random_range(0..all.max(1));
        let mut before = 0;
        let holds = |of_kind: &Vec<u32>| {
            before += of_kind.len();
            at < before
        };
        self.links.iter().position(holds).unwrap_or(0)
    }

    /// Two nodes of a kind, each equally likely.
    pub fn uniform(&self, kind: usize, random: &mut ChaCha8Rng) -> [u32; 2] {
        let (a, b) = self.groups[kind];
        [a, b].map(|group| {
            let members = &self.members[group as usize];
            members[random.random_range(0..members.len())]
        })
    }

    /// Ends of two links of a kind.
    pub fn by_degree(&self, kind: usize, links: &Links, random: &mut ChaCha8Rng) -> [u32; 2] {
        let (a, b) = self.groups[kind];
        [0, 1].map(|side| {
            let of_kind = &self.links[kind];
            let mut ends = links.ends[of_kind[random.random_range(0..of_kind.len())] as usize];
            if links.directed {
                return ends[side];
            }
            if a == b {
                return ends[usize::from(random.random_range(0..2u8))];
            }
            if links.group[ends[0] as usize] != a {
                ends.swap(0, 1);
            }
            ends[side]
        })
    }

    /// How many pairs of a kind there are.
    pub fn n_pairs(&self, kind: usize, directed: bool) -> f64 {
        let (a, b) = self.groups[kind];
        let size = |group: u32| self.members[group as usize].len() as f64;
        match (a == b, directed) {
            (true, true) => size(a) * (size(a) - 1.0),
            (true, false) => size(a) * (size(a) - 1.0) / 2.0,
            (false, _) => size(a) * size(b),
        }
    }

    /// For each kind the one that it is compared with: kinds of fewer than
    /// [`LEAST_LINKS`] links join the smallest other one.
    pub fn pooled(&self) -> Vec<u32> {
        let mut pool: Vec<usize> = (0..self.len()).collect();
        let mut sizes: Vec<usize> = self.links.iter().map(Vec::len).collect();
        loop {
            let alive = || (0..pool.len()).filter(|&kind| pool[kind] == kind);
            let least = alive().min_by_key(|&kind| sizes[kind]);
            let Some(least) = least.filter(|&kind| sizes[kind] < LEAST_LINKS) else {
                break;
            };
            let other = alive()
                .filter(|&kind| kind != least)
                .min_by_key(|&kind| sizes[kind]);
            let Some(other) = other else {
                break;
            };
            sizes[other] += sizes[least];
            pool.iter_mut()
                .filter(|to| **to == least)
                .for_each(|to| *to = other);
        }
        pool.into_iter().map(|kind| kind as u32).collect()
    }

    /// The kind of links between two groups.
    pub fn of(&self, groups: (u32, u32)) -> Option<usize> {
        self.groups.binary_search(&groups).ok()
    }
}

/// Links, then non-links, then other pairs.
pub(crate) struct Pairs {
    /// The ends of each pair.
    pub ends: Vec<[u32; 2]>,
    /// The first so many are links.
    pub n_links: usize,
    /// So many after them are non-links.
    pub n_non_links: usize,
    /// The kind that each pair is compared with.
    pub pool: Vec<u32>,
    /// The part of each pair.
    pub fold: Vec<u8>,
}

impl Pairs {
    /// Draws non-links: as many as links, at least 4,000, at most half of all unlinked
    /// pairs; half of them uniform, half with ends drawn by degree; shared out among the
    /// kinds as the links are. Other pairs follow.
    pub fn new(links: &Links, kinds: &Kinds, others: &[[u32; 2]], seed: u64) -> Pairs {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(NON_LINK_STREAM);
        let m = links.ends.len();
        let known = links.ends.iter().chain(&links.excluded).chain(others);
        let mut taken: HashSet<u64> = known.map(|&ends| links.code(ends)).collect();
        let free = |kind: usize| {
            let all = kinds.n_pairs(kind, links.directed);
            ((all - kinds.n_links(kind) as f64) / 2.0).max(0.0)
        };
        let all_free: f64 = (0..kinds.len()).map(free).sum();
        let count = (m.max(LEAST_NON_LINKS) as f64).min(all_free.floor());
        let mut ends = links.ends.clone();
        for kind in 0..kinds.len() {
            let of_kind = (count * kinds.n_links(kind) as f64 / m.max(1) as f64).min(free(kind));
            let want = of_kind as usize / 2;
            for by_degree in [false, true] {
                let mut found = 0;
                for _ in 0..want * DRAWS {
                    if found == want {
                        break;
                    }
                    let pair = if by_degree {
                        kinds.by_degree(kind, links, &mut random)
                    } else {
                        kinds.uniform(kind, &mut random)
                    };
                    if pair[0] != pair[1] && taken.insert(links.code(pair)) {
                        ends.push(pair);
                        found += 1;
                    }
                }
            }
        }
        let n_non_links = ends.len() - m;
        ends.extend(others);
        let pools = kinds.pooled();
        let pool = ends.iter().map(|&pair| {
            let kind = kinds.of(links.groups(pair));
            // Without positive links there is no kind.
            pools.get(kind.unwrap_or(0)).copied().unwrap_or(0)
        });
        Pairs {
            pool: pool.collect(),
            fold: ends
                .iter()
                .map(|&pair| (pair_hash(pair, seed) % FOLDS as u64) as u8)
                .collect(),
            n_links: m,
            n_non_links,
            ends,
        }
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether a pair is a link.
    pub fn is_link(&self, place: usize) -> bool {
        place < self.n_links
    }

    /// Whether a pair is a non-link.
    pub fn is_non_link(&self, place: usize) -> bool {
        (self.n_links..self.n_links + self.n_non_links).contains(&place)
    }

    /// 1 for a link, 0 for other pairs.
    pub fn own(&self, place: usize) -> f64 {
        f64::from(u8::from(self.is_link(place)))
    }
}

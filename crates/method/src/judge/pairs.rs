//! The pairs that are compared: links, sampled non-links, and others that are asked for.

use std::collections::BTreeMap;
use std::iter::repeat_with;

use hashbrown::HashSet;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::net::Net;

/// Parts of the pairs whose evidence is computed without the links of the part.
pub(super) const FOLDS: usize = 5;
/// At least so many non-links, if there are as many.
const LEAST_NON_LINKS: usize = 4000;
/// A kind of fewer links is pooled with the smallest other one.
const LEAST_LINKS: usize = 20;
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

/// A pair whose first end comes first: without a direction the smaller one.
pub(super) fn ordered(directed: bool, [i, j]: [u32; 2]) -> [u32; 2] {
    if directed || i <= j { [i, j] } else { [j, i] }
}

/// The random numbers that a subspace iteration starts from.
pub(super) fn random_numbers(count: usize, seed: u64, stream: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    (0..count).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// What is judged: nodes in groups, the links between them, and pairs that are neither
/// links nor non-links.
pub(crate) struct Links {
    /// The number of nodes.
    pub n: usize,
    /// Whether links have a direction.
    pub directed: bool,
    /// The links, each pair once.
    pub ends: Vec<[u32; 2]>,
    /// Pairs that are never drawn as non-links.
    pub excluded: Vec<[u32; 2]>,
    /// The group of each node: its view.
    pub group: Vec<u32>,
    /// The nodes of each group.
    members: Vec<Vec<u32>>,
    kinds: Vec<LinkKind>,
}

/// Links of one kind: between the same two groups.
struct LinkKind {
    groups: [u32; 2],
    /// The places of the links.
    links: Vec<u32>,
}

impl Links {
    /// Links between nodes whose group is given.
    pub fn new(
        group: Vec<u32>,
        directed: bool,
        ends: Vec<[u32; 2]>,
        excluded: Vec<[u32; 2]>,
    ) -> Links {
        let n_groups = group.iter().max().map_or(0, |&most| most as usize + 1);
        let mut members = vec![Vec::new(); n_groups];
        for (node, &group) in group.iter().enumerate() {
            members[group as usize].push(node as u32);
        }
        let mut links = Links {
            n: group.len(),
            directed,
            ends,
            excluded,
            group,
            members,
            kinds: Vec::new(),
        };
        let mut kinds: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for (place, &ends) in (0..).zip(&links.ends) {
            kinds.entry(links.groups(ends)).or_default().push(place);
        }
        let kinds = kinds.into_iter();
        links.kinds = kinds
            .map(|(groups, links)| LinkKind { groups, links })
            .collect();
        links
    }

    /// The links as a net.
    pub fn net(&self) -> Net {
        Net::new(self.n, self.directed, self.ends.iter().copied())
    }

    /// A number that stands for a pair.
    pub fn code(&self, ends: [u32; 2]) -> u64 {
        let [i, j] = ordered(self.directed, ends);
        u64::from(i) << 32 | u64::from(j)
    }

    /// The codes of links and excluded pairs.
    pub fn taken(&self) -> HashSet<u64> {
        let taken = self.ends.iter().chain(&self.excluded);
        taken.map(|&ends| self.code(ends)).collect()
    }

    fn groups(&self, ends: [u32; 2]) -> [u32; 2] {
        ordered(self.directed, ends.map(|node| self.group[node as usize]))
    }

    /// The number of kinds.
    pub fn n_kinds(&self) -> usize {
        self.kinds.len()
    }

    /// How many links are of a kind.
    pub fn n_links(&self, kind: usize) -> usize {
        self.kinds[kind].links.len()
    }

    /// How many pairs of a kind there are.
    pub fn n_pairs(&self, kind: usize) -> f64 {
        let [a, b] = self.kinds[kind].groups;
        let size = |group: u32| self.members[group as usize].len() as f64;
        match (a == b, self.directed) {
            (true, true) => size(a) * (size(a) - 1.0),
            (true, false) => size(a) * (size(a) - 1.0) / 2.0,
            (false, _) => size(a) * size(b),
        }
    }

    /// The kind of links that a pair would be one of.
    pub fn kind_of(&self, ends: [u32; 2]) -> Option<usize> {
        let groups = self.groups(ends);
        self.kinds
            .binary_search_by_key(&groups, |kind| kind.groups)
            .ok()
    }

    /// The kind of a link that is drawn at random.
    pub fn kind_of_random_link(&self, random: &mut ChaCha8Rng) -> usize {
        let at = random.random_range(0..self.ends.len().max(1));
        let mut before = 0;
        let holds = |kind: &LinkKind| {
            before += kind.links.len();
            at < before
        };
        self.kinds.iter().position(holds).unwrap_or(0)
    }

    /// Two nodes of a kind, each equally likely.
    pub fn uniform(&self, kind: usize, random: &mut ChaCha8Rng) -> [u32; 2] {
        self.kinds[kind].groups.map(|group| {
            let members = &self.members[group as usize];
            members[random.random_range(0..members.len())]
        })
    }

    /// Ends of two links of a kind.
    pub fn by_degree(&self, kind: usize, random: &mut ChaCha8Rng) -> [u32; 2] {
        let LinkKind { groups, links } = &self.kinds[kind];
        [0, 1].map(|side| {
            let ends = self.ends[links[random.random_range(0..links.len())] as usize];
            let side = if self.directed {
                side
            } else if groups[0] == groups[1] {
                usize::from(random.random_range(0..2u8))
            } else {
                usize::from(self.group[ends[0] as usize] != groups[side])
            };
            ends[side]
        })
    }

    /// Draws `want` pairs that are accepted, each of at most `draws` times as many; half of
    /// them uniform, half with ends drawn by degree.
    pub fn draw_non_links(
        &self,
        kind: usize,
        want: usize,
        draws: usize,
        random: &mut ChaCha8Rng,
        mut accept: impl FnMut(&[u32; 2]) -> bool,
    ) -> Vec<[u32; 2]> {
        let mut found = Vec::new();
        let drawn = repeat_with(|| self.uniform(kind, random)).take(want / 2 * draws);
        found.extend(drawn.filter(&mut accept).take(want / 2));
        let drawn = repeat_with(|| self.by_degree(kind, random)).take(want / 2 * draws);
        found.extend(drawn.filter(&mut accept).take(want / 2));
        found
    }

    /// For each kind the one that its pairs are compared with: kinds of few links are pooled.
    fn pools(&self) -> Vec<u32> {
        let mut pool: Vec<usize> = (0..self.kinds.len()).collect();
        let mut sizes: Vec<usize> = self.kinds.iter().map(|kind| kind.links.len()).collect();
        loop {
            let alive = || (0..pool.len()).filter(|&kind| pool[kind] == kind);
            let least = alive().min_by_key(|&kind| sizes[kind]);
            let Some(least) = least.filter(|&kind| sizes[kind] < LEAST_LINKS) else {
                break;
            };
            let others = alive().filter(|&kind| kind != least);
            let Some(other) = others.min_by_key(|&kind| sizes[kind]) else {
                break;
            };
            sizes[other] += sizes[least];
            let pooled = pool.iter_mut().filter(|to| **to == least);
            pooled.for_each(|to| *to = other);
        }
        pool.into_iter().map(|kind| kind as u32).collect()
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
    /// pairs, shared out among the kinds as the links are. Other pairs follow.
    pub fn new(links: &Links, others: &[[u32; 2]], seed: u64) -> Pairs {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(NON_LINK_STREAM);
        let m = links.ends.len();
        let mut taken = links.taken();
        taken.extend(others.iter().map(|&ends| links.code(ends)));
        let free = |kind: usize| {
            let free = links.n_pairs(kind) - links.n_links(kind) as f64;
            (free / 2.0).max(0.0)
        };
        let all_free: f64 = (0..links.n_kinds()).map(free).sum();
        let count = (m.max(LEAST_NON_LINKS) as f64).min(all_free.floor());
        let mut non_links = Vec::new();
        for kind in 0..links.n_kinds() {
            let of_kind = count * links.n_links(kind) as f64 / m.max(1) as f64;
            let want = of_kind.min(free(kind)) as usize;
            let is_new = |&ends: &[u32; 2]| ends[0] != ends[1] && taken.insert(links.code(ends));
            non_links.extend(links.draw_non_links(kind, want, DRAWS, &mut random, is_new));
        }
        Pairs::of(links, &non_links, others, seed)
    }

    /// Links, these non-links and other pairs.
    pub fn of(links: &Links, non_links: &[[u32; 2]], others: &[[u32; 2]], seed: u64) -> Pairs {
        let ends = [&links.ends, non_links, others].concat();
        let pools = links.pools();
        let pool = |&ends: &[u32; 2]| {
            // Without positive links there is no kind.
            let kind = links.kind_of(ends).unwrap_or(0);
            pools.get(kind).copied().unwrap_or(0)
        };
        let fold = |&ends: &[u32; 2]| (pair_hash(ends, seed) % FOLDS as u64) as u8;
        Pairs {
            pool: ends.iter().map(pool).collect(),
            fold: ends.iter().map(fold).collect(),
            n_links: links.ends.len(),
            n_non_links: non_links.len(),
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

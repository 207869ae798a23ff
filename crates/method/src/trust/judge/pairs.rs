//! The pairs that are judged: links, decoys and implants, each with its fold.
//!
//! A decoy is a pair without a link. Half of them are drawn uniformly, half with
//! ends drawn by degree, so that whatever made a false link, there are decoys
//! that were made the same way.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::evidence::Standing;
use crate::data::dataset::Dataset;
use crate::data::graph::{Adjacency, Graph, Link, LinkRules};
use crate::engine::pairs::Split;
use crate::error::Result;
use crate::model::folds::Folds;
use crate::params::CheckedParams;

/// Two rows, the smaller first, the fold that holds them out, and their pair of
/// views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The smaller internal row.
    pub src: u32,
    /// The larger one.
    pub dst: u32,
    /// The fold.
    pub fold: u32,
    /// The place of the pair of views among [`Bench::groups`].
    pub group: u32,
}

/// A way to draw pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// Both ends uniformly.
    Uniform,
    /// Ends of links, so by degree.
    ByDegree,
    /// Of several pairs the one whose data vectors are most alike.
    Similar,
}

impl Draw {
    /// All ways.
    pub const ALL: [Draw; 3] = [Draw::Uniform, Draw::ByDegree, Draw::Similar];
}

/// What one fold's fit may see.
#[derive(Debug, Clone)]
pub struct Training {
    /// The data with the links outside the fold, at weight 1.
    pub data: Dataset,
    /// Those links.
    pub links: Adjacency,
}

/// Two views and the links between them.
#[derive(Debug, Clone)]
pub struct Group {
    /// The views.
    pub views: (usize, usize),
    /// The places of its links.
    pub links: Vec<u32>,
}

/// Everything that is judged.
#[derive(Debug, Clone)]
pub struct Bench {
    /// The pairs of views that have links.
    pub groups: Vec<Group>,
    /// The links, in the order of the graph.
    pub links: Vec<Pair>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// The decoys.
    pub decoys: Vec<Pair>,
    /// For each fold what its fit may see.
    pub training: Vec<Training>,
    splits: Vec<Split>,
}

/// Decoys for each link, and for each pair of views at least and at most.
const DECOYS_PER_LINK: usize = 5;
const LEAST_DECOYS: usize = 8_000;
const MOST_DECOYS: usize = 200_000;
/// Implants of each kind, for each link, and at most.
const IMPLANTS_PER_LINK: f64 = 0.1;
const MOST_IMPLANTS: usize = 4_000;
/// The pairs of which the most similar one is implanted.
const CANDIDATES: usize = 40;

/// About how many pairs are judged in a graph of so many links, with them.
pub fn expected_pairs(n_links: usize) -> usize {
    let decoys = (DECOYS_PER_LINK * n_links).clamp(LEAST_DECOYS, MOST_DECOYS);
    let implants = (IMPLANTS_PER_LINK * n_links as f64) as usize;
    n_links + decoys + Draw::ALL.len() * implants.min(MOST_IMPLANTS)
}

impl Bench {
    /// Shares the links of `data` out to folds, draws decoys, and puts together what
    /// the fit of each fold may see.
    pub fn new(data: &Dataset, folds: Folds, params: &CheckedParams) -> Result<Bench> {
        let mut bench = Bench::pairs(data, folds, params)?;
        bench.training = (0..folds.number() as u32)
            .map(|fold| without_fold(data, &bench.links, fold))
            .collect::<Result<_>>()?;
        Ok(bench)
    }

    /// The same for fits that are made elsewhere: the pairs alone.
    pub fn pairs(data: &Dataset, folds: Folds, params: &CheckedParams) -> Result<Bench> {
        folds.check(data, params)?;
        let seed = params.seed;
        let splits: Vec<_> = (0..folds.number()).map(|fold| folds.split(fold)).collect();
        let view_of = |row: u32| {
            let views = data.views();
            views.partition_point(|view| view.rows.end <= row as usize)
        };
        let mut groups: Vec<Group> = Vec::new();
        let mut links = Vec::with_capacity(data.graph().n_links());
        for (place, link) in data.graph().links().enumerate() {
            let views = (view_of(link.src), view_of(link.dst));
            let found = groups.iter().position(|group| group.views == views);
            let group = found.unwrap_or_else(|| {
                let links = Vec::new();
                groups.push(Group { views, links });
                groups.len() - 1
            });
            groups[group].links.push(place as u32);
            links.push(Pair {
                src: link.src,
                dst: link.dst,
                fold: fold_of(&splits, link.src, link.dst),
                group: group as u32,
            });
        }
        let mut bench = Bench {
            groups,
            links,
            weights: data.graph().weights().to_vec(),
            decoys: Vec::new(),
            training: Vec::new(),
            splits,
        };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(0x6465_636f);
        for group in 0..bench.groups.len() {
            let links = bench.groups[group].links.len();
            let most = MOST_DECOYS * links / bench.links.len();
            let wanted = (DECOYS_PER_LINK * links).clamp(LEAST_DECOYS, most.max(LEAST_DECOYS));
            for draw in [Draw::Uniform, Draw::ByDegree] {
                let drawn = bench.draw(data, group, draw, wanted / 2, &mut random);
                bench.decoys.extend(drawn);
            }
        }
        Ok(bench)
    }

    /// The number of folds.
    pub fn n_folds(&self) -> usize {
        self.splits.len()
    }

    /// All links by both of their ends; in place of a weight stands the fold.
    pub fn folded(&self, n_nodes: usize) -> Adjacency {
        let links = self.links.iter().map(|pair| Link {
            src: pair.src,
            dst: pair.dst,
            weight: f64::from(pair.fold),
        });
        Adjacency::new(n_nodes, links)
    }

    /// Pairs without a link between two views. A pair may come twice.
    fn draw(
        &self,
        data: &Dataset,
        group: usize,
        draw: Draw,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Vec<Pair> {
        const TRIES: usize = 20;
        let Group { views, links } = &self.groups[group];
        let same = views.0 == views.1;
        let rows = [views.0, views.1].map(|view| data.views()[view].rows.clone());
        let mut pairs = Vec::with_capacity(count);
        for _ in 0..count * TRIES {
            if pairs.len() == count {
                break;
            }
            let mut end = |side: usize| match draw {
                Draw::Uniform | Draw::Similar => random.random_range(rows[side].clone()) as u32,
                Draw::ByDegree => {
                    let link = self.links[links[random.random_range(0..links.len())] as usize];
                    let side = if same {
                        random.random_range(0..2)
                    } else {
                        side
                    };
                    [link.src, link.dst][side]
                }
            };
            let (a, b) = (end(0), end(1));
            let (src, dst) = (a.min(b), a.max(b));
            let possible = src != dst && !data.ids().is_same_node(src, dst);
            if possible && data.graph().weight(src, dst).is_none() {
                pairs.push(Pair {
                    src,
                    dst,
                    fold: fold_of(&self.splits, src, dst),
                    group: group as u32,
                });
            }
        }
        pairs
    }

    /// Pairs without a link, drawn in some way and each once: judged as links
    /// would be that are known to be false.
    pub fn implants(
        &self,
        data: &Dataset,
        standing: &Standing,
        draw: Draw,
        seed: u64,
    ) -> Vec<Pair> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(0x696d_7000 + draw as u64);
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for (place, group) in self.groups.iter().enumerate() {
            let share = group.links.len() as f64 / self.links.len() as f64;
            let wanted = (IMPLANTS_PER_LINK * group.links.len() as f64).ceil();
            let wanted = wanted.min(MOST_IMPLANTS as f64 * share) as usize;
            let drawn = match draw {
                Draw::Similar if !standing.compares(group.views) => Vec::new(),
                Draw::Similar => {
                    let candidates = self.draw(data, place, draw, CANDIDATES * wanted, &mut random);
                    let cosine = |p: &&Pair| standing.cosine(group.views.0, p.src, p.dst);
                    let most = |list: &[Pair]| {
                        let alike = |a: &&Pair, b: &&Pair| cosine(a).total_cmp(&cosine(b));
                        list.iter().max_by(alike).copied()
                    };
                    candidates.chunks(CANDIDATES).filter_map(most).collect()
                }
                _ => self.draw(data, place, draw, wanted, &mut random),
            };
            all.extend(
                drawn
                    .into_iter()
                    .filter(|pair| seen.insert((pair.src, pair.dst))),
            );
        }
        all
    }
}

/// The fold that holds a pair out.
fn fold_of(splits: &[Split], src: u32, dst: u32) -> u32 {
    let found = splits.iter().position(|split| split.holds_out(src, dst));
    found.unwrap_or(0) as u32
}

/// What a fit may see that does not see a fold.
fn without_fold(data: &Dataset, links: &[Pair], fold: u32) -> Result<Training> {
    let kept = links.iter().filter(|link| link.fold != fold);
    let kept: Vec<Link> = kept
        .map(|link| Link {
            src: link.src,
            dst: link.dst,
            weight: 1.0,
        })
        .collect();
    let graph = Graph::new(data.graph().ids().clone(), kept, LinkRules::default())?;
    let links = graph.adjacency();
    Ok(Training {
        data: data.with_graph(graph),
        links,
    })
}

//! What a stochastic step looks at: a block of nodes (ours), or links and
//! pairs one by one (the paper's). Each step draws from its own stream of
//! random numbers, so a sample depends on the seed and the step alone.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::plan::Plan;
use crate::graph::Link;
use crate::objective::{Problem, Sample};
use crate::pairs::{Charge, ListedPairs, ViewMatrix};
use crate::params::Sampler as SamplerKind;
use crate::real::Real;

const NOWHERE: u32 = u32::MAX;

/// Draws samples.
#[derive(Debug)]
pub struct Sampler<'p, 'd, T: Real> {
    problem: &'p Problem<'d, T>,
    plan: Plan,
    /// The position of each node in the sample's joined rows.
    position: Vec<u32>,
}

impl<'p, 'd, T: Real> Sampler<'p, 'd, T> {
    /// A sampler for a problem.
    pub fn new(problem: &'p Problem<'d, T>, plan: &Plan) -> Self {
        Sampler {
            problem,
            plan: plan.clone(),
            position: vec![NOWHERE; problem.training().n_nodes()],
        }
    }

    /// The sample of a step.
    pub fn draw(&mut self, step: u64) -> Sample {
        let mut random = ChaCha8Rng::seed_from_u64(self.plan.seed);
        random.set_stream(step);
        match self.plan.sampler {
            SamplerKind::Block => self.draw_block(&mut random),
            SamplerKind::Pairs => self.draw_pairs(&mut random),
        }
    }

    /// Every pair and every link inside a block, each times the inverse of its
    /// chance to be there; or, where links would be rare inside, the block's
    /// pairs and `m1` links from anywhere.
    fn draw_block(&mut self, random: &mut ChaCha8Rng) -> Sample {
        let block = self.problem.draw_block(self.plan.block, random);
        let mut rows = block.rows;
        let sizes: Vec<usize> = rows.iter().map(Vec::len).collect();
        let (links, scale) = if self.plan.links_apart {
            let links = self.draw_links(random);
            let scale = self.problem.training().n_links() as f64 / links.len() as f64;
            (links, ViewMatrix::filled(rows.len(), scale))
        } else {
            (self.links_inside(&rows), block.scale.clone())
        };
        let listed = self.place(&mut rows, &links);
        Sample {
            rows,
            block: sizes,
            scale: block.scale,
            listed: vec![(listed, Charge::Correction, scale)],
        }
    }

    /// `m1` links and `m2` pairs; the links' part times `|W|/m1`, the pairs'
    /// part times `lambda |W|/m1`.
    fn draw_pairs(&mut self, random: &mut ChaCha8Rng) -> Sample {
        let n_views = self.problem.views().len();
        let links = self.draw_links(random);
        let pairs = self.draw_any_pairs(random);
        let per_link = self.problem.training().n_links() as f64 / links.len() as f64;
        let mut rows = vec![Vec::new(); n_views];
        let both: Vec<Link> = links.iter().chain(&pairs).copied().collect();
        let places = self.place_nodes(&mut rows, &both);
        let listed = |range: std::ops::Range<usize>| {
            ListedPairs::new(
                rows.iter().map(Vec::len).sum(),
                places[range].iter().copied(),
            )
        };
        Sample {
            block: vec![0; n_views],
            scale: ViewMatrix::filled(n_views, 0.0),
            listed: vec![
                (
                    listed(0..links.len()),
                    Charge::Correction,
                    ViewMatrix::filled(n_views, per_link),
                ),
                (
                    listed(links.len()..places.len()),
                    Charge::Unlinked,
                    ViewMatrix::filled(n_views, per_link * self.plan.lambda),
                ),
            ],
            rows,
        }
    }

    fn draw_links(&self, random: &mut ChaCha8Rng) -> Vec<Link> {
        let training = self.problem.training();
        let mut places =
            rand::seq::index::sample(random, training.n_links(), self.plan.link_batch).into_vec();
        places.sort_unstable();
        places
            .into_iter()
            .map(|place| training.link(place))
            .collect()
    }

    /// `m2` distinct training pairs, uniformly over the pairs of views that
    /// take part.
    fn draw_any_pairs(&self, random: &mut ChaCha8Rng) -> Vec<Link> {
        let prepared = self.problem.prepared();
        let total = prepared.n_pairs_total();
        let mut seen = HashSet::new();
        let mut pairs = Vec::with_capacity(self.plan.pair_batch);
        while pairs.len() < self.plan.pair_batch {
            let mut place = random.random_range(0.0..total);
            let views = prepared.view_pairs.iter().find(|&&(d, e)| {
                place -= prepared.n_pairs(d, e);
                place < 0.0
            });
            let Some(&(d, e)) = views.or(prepared.view_pairs.last()) else {
                break;
            };
            let a = random.random_range(prepared.views[d].rows.clone()) as u32;
            let mut b = random.random_range(prepared.views[e].rows.clone()) as u32;
            // Drawn again here and not with another pair of views, or pairs
            // inside a view would be rarer than pairs across.
            while a == b && prepared.views[d].rows.len() > 1 {
                b = random.random_range(prepared.views[e].rows.clone()) as u32;
            }
            let (src, dst) = (a.min(b), a.max(b));
            let held_out = prepared
                .split
                .is_some_and(|split| split.holds_out(src, dst));
            if src != dst && !held_out && seen.insert((src, dst)) {
                pairs.push(Link {
                    src,
                    dst,
                    weight: 0.0,
                });
            }
        }
        pairs
    }

    /// The training links between nodes of a block.
    fn links_inside(&mut self, rows: &[Vec<u32>]) -> Vec<Link> {
        let nodes: Vec<u32> = self
            .problem
            .views()
            .iter()
            .zip(rows)
            .flat_map(|(view, rows)| rows.iter().map(|&row| view.rows.start as u32 + row))
            .collect();
        for &node in &nodes {
            self.position[node as usize] = 0;
        }
        let mut links = Vec::new();
        for &src in &nodes {
            let (targets, weights) = self.problem.training().upper_row(src as usize);
            for (&dst, &weight) in targets.iter().zip(weights) {
                if self.position[dst as usize] != NOWHERE {
                    links.push(Link { src, dst, weight });
                }
            }
        }
        for &node in &nodes {
            self.position[node as usize] = NOWHERE;
        }
        links
    }

    fn place(&mut self, rows: &mut [Vec<u32>], links: &[Link]) -> ListedPairs {
        let places = self.place_nodes(rows, links);
        ListedPairs::new(rows.iter().map(Vec::len).sum(), places.into_iter())
    }

    /// Adds the ends of the pairs to the rows of their views, each node once,
    /// and returns the pairs between positions in the joined rows.
    fn place_nodes(&mut self, rows: &mut [Vec<u32>], pairs: &[Link]) -> Vec<Link> {
        let views = self.problem.views();
        for (view, rows) in views.iter().zip(rows.iter()) {
            for &row in rows {
                self.position[view.rows.start + row as usize] = 0;
            }
        }
        for pair in pairs {
            for node in [pair.src, pair.dst] {
                if self.position[node as usize] == NOWHERE {
                    self.position[node as usize] = 0;
                    let view = self.problem.prepared().view_of(node as usize);
                    rows[view].push(node - views[view].rows.start as u32);
                }
            }
        }
        let nodes = || {
            views
                .iter()
                .zip(rows.iter())
                .flat_map(|(view, rows)| rows.iter().map(|&row| view.rows.start + row as usize))
        };
        for (position, node) in nodes().enumerate() {
            self.position[node] = position as u32;
        }
        let placed = pairs
            .iter()
            .map(|pair| Link {
                src: self.position[pair.src as usize],
                dst: self.position[pair.dst as usize],
                weight: pair.weight,
            })
            .collect();
        for node in nodes() {
            self.position[node] = NOWHERE;
        }
        placed
    }
}

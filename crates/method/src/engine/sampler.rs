//! What a stochastic step looks at: a block of nodes (ours), or links and
//! pairs one by one (the paper's). Each step draws from its own stream of
//! random numbers, so a sample depends on the seed and the step alone.

use std::collections::HashSet;
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::plan::Plan;
use crate::data::graph::{Adjacency, Graph, Link};
use crate::engine::objective::{Problem, ViewEncoder};
use crate::engine::pairs::{PairTerm, ViewMatrix};
use crate::params::Sampler as SamplerKind;

const NOWHERE: u32 = u32::MAX;

/// Nodes and pairs of a step. Every factor is relative to the sum over all
/// training pairs, so that each sample estimates the same objective.
#[derive(Debug, Clone)]
pub struct Sample {
    /// For each view the rows to encode, those of the block first and ascending.
    pub rows: Vec<Vec<u32>>,
    /// For each view the number of rows in the block.
    pub block: Vec<usize>,
    /// The factor of the pairs inside the block.
    pub scale: ViewMatrix,
    /// Pairs named one by one, between positions in the joined rows.
    pub listed: Vec<(Adjacency, PairTerm, ViewMatrix)>,
}

/// Nodes drawn at random and what each of their pairs stands for.
#[derive(Debug, Clone)]
pub struct DrawnNodes {
    /// For each view the drawn rows, ascending.
    pub rows: Vec<Vec<u32>>,
    /// The factor of a pair.
    pub scale: ViewMatrix,
}

impl DrawnNodes {
    /// About `size` distinct nodes, drawn from each view in proportion, and the
    /// factors that make the sum over their pairs an unbiased estimate of that
    /// over all pairs.
    pub fn draw(problem: &Problem<'_>, size: usize, random: &mut ChaCha8Rng) -> DrawnNodes {
        let n = problem.n_nodes() as f64;
        let mut rows = Vec::new();
        for view in problem.encoders() {
            let members = view.rows.len();
            let share = (size as f64 * members as f64 / n).round() as usize;
            let count = share.clamp(2.min(members), members);
            let mut drawn: Vec<u32> = rand::seq::index::sample(random, members, count)
                .into_iter()
                .map(|row| row as u32)
                .collect();
            drawn.sort_unstable();
            rows.push(drawn);
        }
        let mut scale = ViewMatrix::filled(rows.len(), 0.0);
        for &(d, e, _) in &problem.parameters.gammas {
            let (a, b) = (rows[d].len() as f64, rows[e].len() as f64);
            let inside = if d == e { a * (a - 1.0) / 2.0 } else { a * b };
            if inside > 0.0 {
                scale.set(d, e, problem.data.n_pairs(d, e) / inside);
            }
        }
        DrawnNodes { rows, scale }
    }
}

/// Draws samples. Its memory serves again from step to step.
#[derive(Debug)]
pub struct StepSampler<'p> {
    problem: &'p Problem<'p>,
    plan: Plan,
    /// The position of each node in the sample's joined rows.
    position: Vec<u32>,
    /// The links and pairs of the step: between nodes, then between positions.
    drawn: Vec<Link>,
    /// The places of drawn links, and the drawn pairs.
    link_places: HashSet<usize>,
    sorted_places: Vec<usize>,
    seen: HashSet<(u32, u32)>,
    sample: Sample,
}

impl<'p> StepSampler<'p> {
    /// A sampler for a problem.
    pub fn new(problem: &'p Problem<'p>, plan: &Plan) -> Self {
        let n_views = problem.encoders().len();
        StepSampler {
            problem,
            plan: plan.clone(),
            position: vec![NOWHERE; problem.n_nodes()],
            drawn: Vec::new(),
            link_places: HashSet::new(),
            sorted_places: Vec::new(),
            seen: HashSet::new(),
            sample: Sample {
                rows: vec![Vec::new(); n_views],
                block: vec![0; n_views],
                scale: ViewMatrix::filled(n_views, 0.0),
                listed: Vec::new(),
            },
        }
    }

    /// The sample of a step.
    pub fn draw(&mut self, step: u64) -> &Sample {
        let mut random = ChaCha8Rng::seed_from_u64(self.plan.seed);
        random.set_stream(step);
        self.drawn.clear();
        self.sample.listed.clear();
        match self.plan.sampling.sampler {
            SamplerKind::Block => self.draw_block(&mut random),
            SamplerKind::Pairs => self.draw_pairs(&mut random),
        }
        &self.sample
    }

    /// Every pair and every link inside a block, each times the inverse of its
    /// chance to be there; or, where links would be rare inside, the block's
    /// pairs and `m1` links from anywhere.
    fn draw_block(&mut self, random: &mut ChaCha8Rng) {
        let size = self.plan.sampling.block.unwrap_or(self.problem.n_nodes());
        let block = DrawnNodes::draw(self.problem, size, random);
        self.sample.rows = block.rows;
        self.sample.block.clear();
        let sizes = self.sample.rows.iter().map(Vec::len);
        self.sample.block.extend(sizes);
        let scale = if self.plan.links_apart {
            self.draw_links(random);
            let scale = self.problem.n_links() / self.drawn.len() as f64;
            ViewMatrix::filled(self.sample.rows.len(), scale)
        } else {
            self.draw_inside(&self.problem.data.training);
            block.scale.clone()
        };
        let n_links = self.drawn.len();
        if let Some(aside) = &self.problem.data.aside {
            self.draw_inside(aside);
        }
        self.sample.scale = block.scale;
        self.place_nodes();
        self.list(0..n_links, PairTerm::Correction, scale);
        if self.drawn.len() > n_links {
            // Pairs that were set aside are taken back out of the block's.
            let minus = self.sample.scale.map(|scale| -scale);
            self.list(n_links..self.drawn.len(), PairTerm::Unlinked, minus);
        }
    }

    /// `m1` links and `m2` pairs; the links' part times `|W|/m1`, the pairs'
    /// part times `lambda |W|/m1`.
    fn draw_pairs(&mut self, random: &mut ChaCha8Rng) {
        let n_views = self.problem.encoders().len();
        self.sample.rows.iter_mut().for_each(Vec::clear);
        self.draw_links(random);
        let n_links = self.drawn.len();
        self.draw_any_pairs(random);
        let per_link = self.problem.n_links() / n_links as f64;
        self.place_nodes();
        let scale = ViewMatrix::filled(n_views, per_link);
        self.list(0..n_links, PairTerm::Correction, scale);
        let scale =
            ViewMatrix::filled(n_views, per_link * self.plan.sampling.lambda.unwrap_or(1.0));
        self.list(n_links..self.drawn.len(), PairTerm::Unlinked, scale);
    }

    /// Adds some of the placed pairs to the sample.
    fn list(&mut self, pairs: Range<usize>, term: PairTerm, scale: ViewMatrix) {
        let n_rows = self.sample.rows.iter().map(Vec::len).sum();
        let listed = Adjacency::new(n_rows, self.drawn[pairs].iter().copied());
        self.sample.listed.push((listed, term, scale));
    }

    /// `m1` distinct links, by Floyd's method: as many draws as links.
    fn draw_links(&mut self, random: &mut ChaCha8Rng) {
        let training = &self.problem.data.training;
        let n_links = training.n_links();
        self.link_places.clear();
        let batch = self.plan.sampling.link_batch.unwrap_or(n_links);
        for last in n_links.saturating_sub(batch)..n_links {
            let place = random.random_range(0..=last);
            if !self.link_places.insert(place) {
                self.link_places.insert(last);
            }
        }
        self.sorted_places.clear();
        self.sorted_places.extend(&self.link_places);
        self.sorted_places.sort_unstable();
        let links = self.sorted_places.iter().map(|&place| training.link(place));
        self.drawn.extend(links);
    }

    /// `m2` distinct training pairs, uniformly over the pairs of views that
    /// take part.
    fn draw_any_pairs(&mut self, random: &mut ChaCha8Rng) {
        let data = self.problem.data;
        let total = data.n_pairs_total();
        self.seen.clear();
        while self.seen.len() < self.plan.sampling.pair_batch {
            let mut place = random.random_range(0.0..total);
            let views = data.view_pairs.iter().find(|&&(d, e)| {
                place -= data.n_pairs(d, e);
                place < 0.0
            });
            let Some(&(d, e)) = views.or(data.view_pairs.last()) else {
                break;
            };
            let a = random.random_range(data.views[d].rows.clone()) as u32;
            let mut b = random.random_range(data.views[e].rows.clone()) as u32;
            // Drawn again here and not with another pair of views, or pairs
            // inside a view would be rarer than pairs across.
            while a == b && data.views[d].rows.len() > 1 {
                b = random.random_range(data.views[e].rows.clone()) as u32;
            }
            let (src, dst) = (a.min(b), a.max(b));
            let held_out = data.split.is_some_and(|split| split.holds_out(src, dst));
            let absent = held_out || data.is_aside(src, dst);
            if src != dst && !absent && self.seen.insert((src, dst)) {
                self.drawn.push(Link {
                    src,
                    dst,
                    weight: 0.0,
                });
            }
        }
    }

    /// The links of a graph between nodes of the block.
    fn draw_inside(&mut self, graph: &Graph) {
        let views = self.problem.encoders();
        for node in nodes(views, &self.sample.rows) {
            self.position[node] = 0;
        }
        for src in nodes(views, &self.sample.rows) {
            let (targets, weights) = graph.upper_row(src);
            for (&dst, &weight) in targets.iter().zip(weights) {
                if self.position[dst as usize] != NOWHERE {
                    let src = src as u32;
                    self.drawn.push(Link { src, dst, weight });
                }
            }
        }
        for node in nodes(views, &self.sample.rows) {
            self.position[node] = NOWHERE;
        }
    }

    /// Adds the ends of the drawn pairs to the rows of their views, each node
    /// once, and turns them into positions in the joined rows.
    fn place_nodes(&mut self) {
        let views = self.problem.encoders();
        let rows = &mut self.sample.rows;
        for node in nodes(views, rows) {
            self.position[node] = 0;
        }
        for pair in &self.drawn {
            for node in [pair.src, pair.dst] {
                if self.position[node as usize] == NOWHERE {
                    self.position[node as usize] = 0;
                    let view = self.problem.data.view_of(node as usize);
                    rows[view].push(node - views[view].rows.start as u32);
                }
            }
        }
        for (position, node) in nodes(views, rows).enumerate() {
            self.position[node] = position as u32;
        }
        for pair in &mut self.drawn {
            pair.src = self.position[pair.src as usize];
            pair.dst = self.position[pair.dst as usize];
        }
        for node in nodes(views, rows) {
            self.position[node] = NOWHERE;
        }
    }
}

/// The nodes of the joined rows.
fn nodes<'r>(views: &'r [ViewEncoder], rows: &'r [Vec<u32>]) -> impl Iterator<Item = usize> + 'r {
    let views = views.iter().zip(rows);
    views.flat_map(|(view, rows)| rows.iter().map(|&row| view.rows.start + row as usize))
}

//! The score of the pairs that a fit did not see, and the plain value of those
//! that it did; estimated on blocks of nodes where all pairs are too many.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::Problem;
use crate::math;
use crate::pairs::{AllPairs, Embedded, PairEngine, Part, Sums, ViewMatrix};
use crate::real::Real;
use crate::score::{Kernel, Score};

/// Above this number of nodes sums over all pairs are estimated, whoever asks.
pub const EXACT_NODES: usize = 50_000;
/// The nodes of each block of an estimate, and the number of blocks.
const BLOCK: usize = 2048;
const BLOCKS: usize = 8;

/// How a solver looks at pairs that it is not fitted to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// The factor `k` up to which the weights are fitted: 1 unless `lambda` was
    /// set. What is compared with a weight `w` is `k e^s`, the expected weight
    /// that the model reports, so every score is taken at `s + log k`. Up to a
    /// factor and a constant that is what the solver minimises: under the
    /// likelihood `-w s + k e^s` less `w log k`, under the moment score
    /// `k^beta (-w e^{beta s}/beta + k e^{(1+beta)s}/(1+beta))` plus `w/beta`.
    /// Taken at `s` itself, a score would call the right fit wrong by a factor
    /// of `k`.
    pub k: f64,
    /// Whether every pair is visited while there are not more than
    /// [`EXACT_NODES`] nodes; otherwise fixed blocks of nodes stand for all.
    pub every_pair: bool,
}

impl Look {
    /// Every pair, and weights as they are.
    pub const PLAIN: Look = Look {
        k: 1.0,
        every_pair: true,
    };

    /// The same at every pair that there are not too many of.
    pub fn at_every_pair(self) -> Look {
        Look {
            every_pair: true,
            ..self
        }
    }

    /// Whether sums over pairs of so many nodes are estimates.
    pub fn estimates(self, n_nodes: usize) -> bool {
        n_nodes > EXACT_NODES || (!self.every_pair && n_nodes > BLOCK)
    }
}

impl<T: Real> Problem<'_, T> {
    /// The mean score, under inference, of the pairs held out to decide when to
    /// stop; `None` when there are none.
    pub fn held_out(&self, theta: &[T], look: Look) -> Option<f64> {
        self.held_out_links.as_ref()?;
        let is_plain = look.k == 1.0 && !look.estimates(self.nodes.len());
        let watched = self.watched.at(theta).filter(|_| is_plain);
        let by = (&self.score, &self.kernel);
        let sums = watched.unwrap_or_else(|| self.part_sums(theta, Part::HeldOut, by, look));
        (sums.pairs > 0.0).then(|| self.with_constant(&sums) / sums.pairs)
    }

    /// The mean of any score, uncapped, over the pairs of the fold that is to be
    /// judged, under inference; `None` when there is no fold.
    pub fn judged_by(&self, theta: &[T], score: &Score, look: Look) -> Option<f64> {
        self.judged_links.as_ref()?;
        let by = (score, &Kernel::new(score));
        let sums = self.part_sums(theta, Part::Judged, by, look);
        (sums.pairs > 0.0).then(|| sums.value / sums.pairs + score.constant())
    }

    /// The plain, uncapped sum of the score over the training pairs under
    /// inference, and whether it is an estimate.
    pub fn value(&self, theta: &[T], plain: &Score, look: Look) -> (f64, bool) {
        let by = (plain, &Kernel::new(plain));
        let sums = self.part_sums(theta, Part::Training, by, look);
        let is_estimated = look.estimates(self.nodes.len());
        (self.with_constant(&sums), is_estimated)
    }

    fn part_sums(
        &self,
        theta: &[T],
        part: Part,
        (score, kernel): (&Score, &Kernel<T>),
        look: Look,
    ) -> Sums {
        let statistics = self.statistics(theta);
        let y = self.embed(theta, &statistics);
        let mut gamma = self.gamma(theta);
        if look.k != 1.0 {
            for &(d, e, _) in &self.gammas {
                gamma.set(d, e, gamma.get(d, e) - math::ln(look.k));
            }
        }
        let rows = self.all_rows();
        let embedded = Embedded {
            y: &y,
            dim: self.dim,
            views: &rows,
            gamma: &gamma,
        };
        if look.estimates(self.nodes.len()) {
            return self.estimated_sums(&embedded, part, score, kernel);
        }
        self.pair_sums(&embedded, (part, false), (score, kernel), None)
    }

    /// All links, and the pairs inside a few fixed blocks of nodes.
    fn estimated_sums(
        &self,
        embedded: &Embedded<'_, T>,
        part: Part,
        score: &Score,
        kernel: &Kernel<T>,
    ) -> Sums {
        let mut total: Option<Sums> = None;
        for block in 0..BLOCKS {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(u64::MAX - block as u64);
            let drawn = self.draw_block(BLOCK, &mut random);
            let mut nodes = Vec::new();
            let mut y = Vec::new();
            let mut views = Vec::new();
            for (view, rows) in self.views.iter().zip(&drawn.rows) {
                views.push(nodes.len()..nodes.len() + rows.len());
                for &row in rows {
                    let node = view.rows.start + row as usize;
                    nodes.push(node as u32);
                    y.extend_from_slice(embedded.row(node));
                }
            }
            let inside = Embedded {
                y: &y,
                dim: self.dim,
                views: &views,
                gamma: embedded.gamma,
            };
            let mut scale = drawn.scale.clone();
            for d in 0..self.views.len() {
                for e in d..self.views.len() {
                    scale.set(d, e, drawn.scale.get(d, e) / BLOCKS as f64);
                }
            }
            let pairs = AllPairs {
                rows: &views,
                scale: &scale,
                nodes: &nodes,
                split: self.prepared.split.map(|split| (split, part)),
                watched: false,
            };
            let sums = self.engine.all_pairs(&inside, &pairs, score, kernel, None);
            match &mut total {
                Some(total) => total.add(&sums),
                None => total = Some(sums),
            }
        }
        let mut sums = total.unwrap_or_else(|| Sums::zero(self.views.len()));
        self.add_listed(embedded, part, score, &mut sums, None);
        sums
    }

    /// A block of about `size` distinct nodes, drawn from each view in
    /// proportion, and the factors that make the sum over its pairs an
    /// unbiased estimate of that over all pairs.
    pub fn draw_block(&self, size: usize, random: &mut ChaCha8Rng) -> Block {
        let n = self.nodes.len() as f64;
        let mut rows = Vec::new();
        for view in &self.views {
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
        let mut scale = ViewMatrix::filled(self.views.len(), 0.0);
        for &(d, e, _) in &self.gammas {
            let (a, b) = (rows[d].len() as f64, rows[e].len() as f64);
            let inside = if d == e { a * (a - 1.0) / 2.0 } else { a * b };
            if inside > 0.0 {
                scale.set(d, e, self.prepared.n_pairs(d, e) / inside);
            }
        }
        Block { rows, scale }
    }
}

/// Nodes drawn at random and what each of their pairs stands for.
#[derive(Debug, Clone)]
pub struct Block {
    /// For each view the drawn rows, ascending.
    pub rows: Vec<Vec<u32>>,
    /// The factor of a pair.
    pub scale: ViewMatrix,
}

//! How sums over pairs are taken when a fit is not at work on them: exactly, or
//! estimated on blocks of nodes where all pairs are too many.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::sampler::DrawnNodes;
use crate::engine::objective::Problem;

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

    /// The blocks of nodes whose pairs stand for all, where sums are estimates.
    /// Each pair counts by the scale of its block.
    pub fn blocks(problem: &Problem<'_>) -> impl Iterator<Item = DrawnNodes> {
        (0..BLOCKS).map(|block| {
            let mut random = ChaCha8Rng::seed_from_u64(problem.seed);
            random.set_stream(u64::MAX - block as u64);
            let mut drawn = DrawnNodes::draw(problem, BLOCK, &mut random);
            drawn.scale = drawn.scale.map(|scale| scale / BLOCKS as f64);
            drawn
        })
    }
}

//! The parts of sweeps over tables: a sweep takes the nodes in random order,
//! each once.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::engine::objective::Problem;

/// Nodes of a sweep that move together.
#[derive(Debug, Clone, Default)]
pub struct SweepPart {
    /// For each view the rows that move, ascending.
    pub rows: Vec<Vec<u32>>,
    /// The number of parts in which every node moves once.
    pub of: usize,
    /// How often a node has moved after this part.
    pub sweep: u32,
}

/// Draws the parts of sweeps. That of a step depends on the seed and the step
/// alone.
#[derive(Debug)]
pub struct Sweeper {
    seed: u64,
    /// The rows of each view in the order of the sweep.
    order: Vec<Vec<u32>>,
    part: SweepPart,
}

impl Sweeper {
    /// A sweeper that visits every node of a problem in so many parts.
    pub fn new(problem: &Problem<'_>, parts: usize, seed: u64) -> Sweeper {
        let views = problem.encoders();
        Sweeper {
            seed,
            order: views
                .iter()
                .map(|view| (0..view.rows.len() as u32).collect())
                .collect(),
            part: SweepPart {
                rows: vec![Vec::new(); views.len()],
                of: parts,
                sweep: 0,
            },
        }
    }

    /// The part of a step, counted from 1.
    pub fn draw(&mut self, step: u64) -> &SweepPart {
        let parts = self.part.of as u64;
        let sweep = (step - 1) / parts + 1;
        if self.part.sweep != sweep as u32 {
            self.shuffle(sweep);
            self.part.sweep = sweep as u32;
        }
        let place = ((step - 1) % parts) as usize;
        for (rows, order) in self.part.rows.iter_mut().zip(&self.order) {
            let cut = |place: usize| order.len() * place / self.part.of;
            rows.clear();
            rows.extend_from_slice(&order[cut(place)..cut(place + 1)]);
            rows.sort_unstable();
        }
        &self.part
    }

    fn shuffle(&mut self, sweep: u64) {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(sweep);
        for order in &mut self.order {
            order.sort_unstable();
            order.shuffle(&mut random);
        }
    }
}

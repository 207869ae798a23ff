//! The turns of sweeps over tables: a sweep takes the nodes in random order,
//! each once.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::objective::{Problem, Turn};
use crate::real::Real;

/// Draws turns. The turn of a step depends on the seed and the step alone.
#[derive(Debug)]
pub struct Sweeper {
    seed: u64,
    /// The rows of each view in the order of the sweep.
    order: Vec<Vec<u32>>,
    turn: Turn,
}

impl Sweeper {
    /// A sweeper that visits every node of a problem in so many turns.
    pub fn new<T: Real>(problem: &Problem<'_, T>, turns: usize, seed: u64) -> Sweeper {
        let views = problem.views();
        Sweeper {
            seed,
            order: views
                .iter()
                .map(|view| (0..view.rows.len() as u32).collect())
                .collect(),
            turn: Turn {
                rows: vec![Vec::new(); views.len()],
                turns,
                sweep: 0,
            },
        }
    }

    /// The turn of a step, counted from 1.
    pub fn draw(&mut self, step: u64) -> &Turn {
        let turns = self.turn.turns as u64;
        let sweep = (step - 1) / turns + 1;
        if self.turn.sweep != sweep as u32 {
            self.shuffle(sweep);
            self.turn.sweep = sweep as u32;
        }
        let place = ((step - 1) % turns) as usize;
        for (rows, order) in self.turn.rows.iter_mut().zip(&self.order) {
            let cut = |place: usize| order.len() * place / self.turn.turns;
            rows.clear();
            rows.extend_from_slice(&order[cut(place)..cut(place + 1)]);
            rows.sort_unstable();
        }
        &self.turn
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

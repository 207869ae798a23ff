//! Weights of the links of planted graphs.

use rand::RngExt;

use super::super::planted::Random;
use super::draw::{Drawn, tries_until};
use super::{Design, FalseWeight, Weights};
use linkproof_numeric::math;

impl Design {
    /// The weights of real and false links.
    pub(super) fn weights(&self, made: &Drawn, real: usize, random: &mut Random) -> Vec<f64> {
        let m = made.links.len();
        match self.weights {
            Weights::One => vec![1.0; m],
            Weights::FalseAtTen => (0..m)
                .map(|at| if at < real { 1.0 } else { 10.0 })
                .collect(),
            Weights::Drawn {
                geometric,
                of_false,
            } => {
                let mut weights: Vec<f64> = (0..m)
                    .map(|_| {
                        if geometric {
                            tries_until(0.2, random)
                        } else {
                            math::exp(1.5 * random.normals(1)[0] + 1.0).ceil()
                        }
                    })
                    .collect();
                let mut sorted = weights.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                let spike = 10.0 * sorted[(m - 1) * 99 / 100];
                match of_false {
                    FalseWeight::Same => {}
                    FalseWeight::Spike => weights[real..].fill(spike),
                    FalseWeight::One => weights[real..].fill(1.0),
                }
                weights
            }
            Weights::ByLikelihood => {
                let mut order: Vec<usize> = (0..real).collect();
                order.sort_by(|&a, &b| made.likelihood[a].total_cmp(&made.likelihood[b]));
                let mut rank = vec![0.0; m];
                for (before, at) in order.into_iter().enumerate() {
                    rank[at] = (before as f64 + 0.5) / real as f64;
                }
                rank[real..].iter_mut().for_each(|x| *x = random.0.random());
                let mean = |rank: &f64| 4.0 * math::exp(2.0 * (rank - 0.5));
                rank.iter()
                    .map(|rank| tries_until(1.0 / mean(rank).max(1.01), random))
                    .collect()
            }
        }
    }
}

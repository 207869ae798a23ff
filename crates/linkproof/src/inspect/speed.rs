//! How fast this machine is at what fits do, measured in a few moments on the
//! data themselves.

use std::time::Instant;

use crate::objective::{Gradient, Look, Problem, Workspace};
use crate::pairs::{
    AllPairs, Charge, Embedded, ListedPairs, PairEngine, Part, Tiled, ViewMatrix, listed_pairs,
};
use crate::real::Real;
use crate::score::Kernel;
use crate::solve::{FirstOrder, Plan, Sampler, Sweeper};

/// Work of more seconds than this is not tried but worked out.
const PATIENCE: f64 = 0.25;
/// Rows of the trial over all pairs, in up to 128 dimensions.
const TRIAL_ROWS: f64 = 2048.0;
const TRIAL_DIM: f64 = 128.0;
/// Links of the trial over links.
const TRIAL_LINKS: usize = 50_000;
/// A backward pass through an encoder costs about twice a forward pass.
const WHOLE_PASS: f64 = 3.0;

/// Parameters, or entries of embeddings, of a trial at most: whoever asks what a
/// fit would cost may not have the memory for it.
const MOST_NUMBERS: usize = 1 << 25;

/// Seconds of the parts of a fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speed {
    /// Value and gradient over all training pairs.
    pub(super) pass: f64,
    /// The value of one held-out pair, in the dimension of the trial.
    held_out_pair: f64,
}

/// A problem to measure with, of the dimension that is asked for or of a smaller
/// one: every part of a fit takes time in proportion to it.
#[derive(Debug)]
pub(super) struct Trial<'p, 'd, T: Real> {
    problem: &'p Problem<'d, T>,
    dim: usize,
    theta: Vec<T>,
    /// The dimension that is asked for over that of the trial.
    factor: f64,
}

impl<'p, 'd, T: Real> Trial<'p, 'd, T> {
    /// The dimension to measure a problem of dimension `dim` with.
    pub(super) fn dim(problem: &Problem<'_, T>, dim: usize) -> usize {
        let embeddings = problem.training().n_nodes().saturating_mul(dim);
        let numbers = problem.n_params().max(embeddings);
        let share = (MOST_NUMBERS as f64 / numbers as f64).min(1.0);
        ((dim as f64 * share) as usize).max(1)
    }

    /// A trial with a problem of dimension `dim` in the place of one of
    /// dimension `wanted`.
    pub(super) fn new(problem: &'p Problem<'d, T>, dim: usize, wanted: usize) -> Self {
        Trial {
            problem,
            dim,
            // Small, so that no score leaves its range.
            theta: (0..problem.n_params())
                .map(|place| entry(place, dim))
                .collect(),
            factor: wanted as f64 / dim as f64,
        }
    }

    /// Measures where it does not take long, and works out the rest.
    pub(super) fn speed(&self) -> Speed {
        let (problem, theta) = (self.problem, self.theta.as_slice());
        let (value, gradient) = pair_seconds(problem, self.dim);
        let pairs = problem.prepared().n_pairs_total();
        let pass = if pairs * gradient <= PATIENCE {
            let mut out = vec![T::ZERO; problem.n_params()];
            best_of(|| problem.full(theta, 1, Some(&mut out)))
        } else {
            let (forward, y) = self.forward_seconds();
            let links = problem.training().n_links() as f64;
            pairs * gradient + WHOLE_PASS * forward + links * self.link_seconds(&y)
        };
        Speed {
            pass: self.factor * pass,
            held_out_pair: value,
        }
    }

    /// Seconds of the held-out score; 0 where no pair is held out.
    pub(super) fn held_out_seconds(&self, speed: &Speed, look: Look) -> f64 {
        let problem = self.problem;
        let pairs = problem.prepared().n_pairs_total();
        let seconds = if !problem.has_held_out() {
            0.0
        } else if look.estimates(problem.training().n_nodes())
            || pairs * speed.held_out_pair <= PATIENCE
        {
            best_of(|| problem.held_out(&self.theta, look))
        } else {
            pairs * speed.held_out_pair + self.forward_seconds().0
        };
        self.factor * seconds
    }

    /// Seconds of one step of a stochastic solver.
    pub(super) fn step_seconds(&self, plan: &Plan) -> f64 {
        let problem = self.problem;
        let mut theta = self.theta.clone();
        let mut optimizer = FirstOrder::new(plan, &theta);
        let mut workspace = Workspace::default();
        let mut gradient = Gradient::whole(problem.n_params());
        let mut step = 0;
        let seconds = match plan.turns {
            Some(turns) => {
                let mut sweeper = Sweeper::new(problem, turns, plan.seed);
                best_of(|| {
                    step += 1;
                    let turn = sweeper.draw(step);
                    problem.swept(&theta, turn, &mut workspace, &mut gradient);
                    optimizer.step(&mut theta, &gradient)
                })
            }
            None => {
                let mut sampler = Sampler::new(problem, plan);
                best_of(|| {
                    step += 1;
                    let sample = sampler.draw(step);
                    problem.sampled(&theta, sample, step, &mut workspace, &mut gradient);
                    optimizer.step(&mut theta, &gradient)
                })
            }
        };
        self.factor * seconds
    }

    /// Seconds to embed all nodes, and their embeddings.
    fn forward_seconds(&self) -> (f64, Vec<T>) {
        let clock = Instant::now();
        let statistics = self.problem.statistics(&self.theta);
        let y = self.problem.embed(&self.theta, &statistics);
        (clock.elapsed().as_secs_f64(), y)
    }

    /// Seconds for each link of the pass over links.
    fn link_seconds(&self, y: &[T]) -> f64 {
        let problem = self.problem;
        let rows: Vec<_> = problem.views().iter().map(|v| v.rows.clone()).collect();
        let gamma = problem.gamma(&self.theta);
        let embedded = Embedded {
            y,
            dim: self.dim,
            views: &rows,
            gamma: &gamma,
        };
        let training = problem.training();
        // Some from everywhere, as far from each other in memory as all are.
        let every = training.n_links().div_ceil(TRIAL_LINKS);
        let some = training.links().step_by(every);
        let listed = ListedPairs::new(training.n_nodes(), some);
        let unit = ViewMatrix::filled(rows.len(), 1.0);
        let mut slopes = vec![T::ZERO; y.len()];
        let seconds = best_of(|| {
            let slopes = Some(slopes.as_mut_slice());
            let charge = Charge::Correction;
            listed_pairs(&embedded, &listed, charge, &unit, problem.score(), slopes)
        });
        seconds / listed.n_pairs().max(1) as f64
    }
}

/// The shortest of a few runs, so that the first use of memory and other
/// programs count little; one run where that is long.
fn best_of<R>(mut work: impl FnMut() -> R) -> f64 {
    let mut best = f64::INFINITY;
    let whole = Instant::now();
    for _ in 0..5 {
        let clock = Instant::now();
        std::hint::black_box(work());
        best = best.min(clock.elapsed().as_secs_f64());
        if whole.elapsed().as_secs_f64() > PATIENCE {
            break;
        }
    }
    best
}

/// Seconds for each pair of rows of the pass over all pairs: the value of the
/// held-out ones, and value and gradient of the others.
fn pair_seconds<T: Real>(problem: &Problem<'_, T>, dim: usize) -> (f64, f64) {
    let n = (TRIAL_ROWS * (TRIAL_DIM / dim as f64).sqrt().min(1.0)).max(128.0) as usize;
    let y: Vec<T> = (0..n * dim).map(|x| entry(x, dim)).collect();
    let rows = vec![0..n; 1];
    let (gamma, unit) = (ViewMatrix::filled(1, 1.0), ViewMatrix::filled(1, 1.0));
    let embedded = Embedded {
        y: &y,
        dim,
        views: &rows,
        gamma: &gamma,
    };
    let nodes: Vec<u32> = (0..n as u32).collect();
    let split = problem.prepared().split;
    let pairs = |part| AllPairs {
        rows: &rows,
        scale: &unit,
        nodes: &nodes,
        split: split.map(|split| (split, part)),
        watched: false,
    };
    let (score, engine) = (problem.score(), Tiled::default());
    let kernel = Kernel::new(score);
    let mut slopes = vec![T::ZERO; y.len()];
    let value =
        best_of(|| engine.all_pairs(&embedded, &pairs(Part::HeldOut), score, &kernel, None));
    let gradient = best_of(|| {
        let slopes = Some(slopes.as_mut_slice());
        engine.all_pairs(&embedded, &pairs(Part::Training), score, &kernel, slopes)
    });
    let n_pairs = super::shape::n_pairs(n) as f64;
    (value / n_pairs, gradient / n_pairs)
}

/// Entries of vectors of about unit length.
fn entry<T: Real>(place: usize, dim: usize) -> T {
    T::of(((place * 7919 % 1009) as f64 / 504.5 - 1.0) * (3.0 / dim as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::graph::Graph;
    use crate::objective::Prepared;
    use crate::pairs::Split;
    use crate::params::Params;

    #[test]
    fn what_is_worked_out_grows_with_the_pairs_and_the_dimension() {
        // A second for each pair: nothing is tried, so no clock decides here.
        let speed = Speed {
            pass: 0.0,
            held_out_pair: 1.0,
        };
        let seconds = |n: usize, wanted: usize| {
            let links: Vec<_> = (1..n as u32).map(|i| (i - 1, i, 1.0)).collect();
            let data = Dataset::from_links(Graph::from_rows(n, &links).unwrap()).unwrap();
            let params = Params {
                dim: 2,
                ..Params::default()
            };
            let params = params.check().unwrap();
            let split = Some(Split::share(0, 0.1));
            let prepared = Prepared::new(&data, &params, split).unwrap();
            let problem = Problem::<f32>::new(&prepared, &params).unwrap();
            Trial::new(&problem, 2, wanted).held_out_seconds(&speed, Look::PLAIN)
        };
        let small = seconds(3_000, 2);
        assert!((small / 4_498_500.0 - 1.0).abs() < 0.01, "{small}");
        assert!((seconds(30_000, 2) / (100.0 * small) - 1.0).abs() < 0.01);
        assert!((seconds(3_000, 20) / (10.0 * small) - 1.0).abs() < 0.01);
    }
}

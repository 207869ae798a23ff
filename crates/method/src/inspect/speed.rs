//! How fast this machine is at what fits do, measured in a few moments on the
//! data themselves.

use std::time::Instant;

use crate::data::graph::Adjacency;
use crate::engine::objective::Problem;
use crate::engine::pairs::{
    AllPairs, EmbeddedRows, PairPass, PairTerm, Part, Tiled, ViewMatrix, listed_pairs,
};
use crate::engine::{CpuEngine, Engine, Look, Plan};
use crate::error::Result;
use crate::score::Kernel;
use linkproof_numeric::real::Real;

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

/// An engine to measure with, of the dimension that is asked for or of a smaller
/// one: every part of a fit takes time in proportion to it.
#[derive(Debug)]
pub(super) struct Trial<'p, T: Real> {
    engine: CpuEngine<'p, T>,
    theta: Vec<T>,
    /// The dimension that is asked for over that of the trial.
    factor: f64,
}

impl<'p, T: Real> Trial<'p, T> {
    /// The dimension to measure a problem of dimension `dim` with.
    pub(super) fn dim(problem: &Problem<'_>, dim: usize) -> usize {
        let embeddings = problem.n_nodes().saturating_mul(dim);
        let numbers = problem.n_params().max(embeddings);
        let share = (MOST_NUMBERS as f64 / numbers as f64).min(1.0);
        ((dim as f64 * share) as usize).max(1)
    }

    /// A trial with an engine in the place of one of dimension `wanted`.
    pub(super) fn new(mut engine: CpuEngine<'p, T>, wanted: usize) -> Result<Self> {
        let (n_params, dim) = (engine.problem().n_params(), engine.problem().dim);
        // Small, so that no score leaves its range.
        let theta: Vec<T> = (0..n_params).map(|place| entry(place, dim)).collect();
        engine.load(&theta)?;
        Ok(Trial {
            engine,
            theta,
            factor: wanted as f64 / dim as f64,
        })
    }

    /// Measures where it does not take long, and works out the rest.
    pub(super) fn speed(&mut self) -> Result<Speed> {
        let (value, gradient) = pair_seconds::<T>(self.engine.problem())?;
        let pairs = self.engine.problem().data.n_pairs_total();
        let pass = if pairs * gradient <= PATIENCE {
            let mut out = vec![T::ZERO; self.theta.len()];
            best_of(|| self.engine.objective(Some(&mut out)))?
        } else {
            let (forward, y) = self.forward_seconds()?;
            let links = self.engine.problem().n_links();
            pairs * gradient + WHOLE_PASS * forward + links * self.link_seconds(&y)?
        };
        Ok(Speed {
            pass: self.factor * pass,
            held_out_pair: value,
        })
    }

    /// Seconds of the held-out score; 0 where no pair is held out.
    pub(super) fn held_out_seconds(&mut self, speed: &Speed, look: Look) -> Result<f64> {
        let problem = self.engine.problem();
        let pairs = problem.data.n_pairs_total();
        let seconds = if !problem.has_held_out() {
            0.0
        } else if look.estimates(problem.n_nodes()) || pairs * speed.held_out_pair <= PATIENCE {
            // As at new parameters, of which nothing is known.
            self.engine.load(&vec![T::ZERO; self.theta.len()])?;
            self.engine.load(&self.theta)?;
            best_of(|| self.engine.held_out(look))?
        } else {
            pairs * speed.held_out_pair + self.forward_seconds()?.0
        };
        Ok(self.factor * seconds)
    }

    /// Seconds of one step of a stochastic solver.
    pub(super) fn step_seconds(&mut self, plan: &Plan) -> Result<f64> {
        self.engine.begin(plan)?;
        let mut step = 0;
        let seconds = best_of(|| {
            step += 1;
            self.engine.step(step)
        })?;
        self.engine.load(&self.theta)?;
        Ok(self.factor * seconds)
    }

    /// Seconds to embed all nodes, and their embeddings.
    fn forward_seconds(&mut self) -> Result<(f64, Vec<T>)> {
        let clock = Instant::now();
        let y = self.engine.embed()?.y;
        Ok((clock.elapsed().as_secs_f64(), y))
    }

    /// Seconds for each link of the pass over links.
    fn link_seconds(&self, y: &[T]) -> Result<f64> {
        let problem = self.engine.problem();
        let rows: Vec<_> = problem.encoders().iter().map(|v| v.rows.clone()).collect();
        let gamma = problem.parameters.gamma(&self.theta);
        // Offsets and signs cost next to nothing.
        let embedded = EmbeddedRows {
            y,
            mirror: y,
            offsets: &[],
            dim: problem.dim,
            views: &rows,
            gamma: &gamma,
        };
        let training = &problem.data.training;
        // Some from everywhere, as far from each other in memory as all are.
        let every = training.n_links().div_ceil(TRIAL_LINKS);
        let some = training.links().step_by(every);
        let listed = Adjacency::new(training.n_nodes(), some);
        let unit = ViewMatrix::filled(rows.len(), 1.0);
        let mut slopes = vec![T::ZERO; y.len()];
        let term = PairTerm::Correction;
        let seconds = best_of(|| {
            let slopes = Some(slopes.as_mut_slice());
            Ok(listed_pairs(
                &embedded,
                &listed,
                term,
                &unit,
                &problem.score,
                slopes,
            ))
        })?;
        Ok(seconds / listed.n_pairs().max(1) as f64)
    }
}

/// The shortest of a few runs, so that the first use of memory and other
/// programs count little; one run where that is long.
fn best_of<R>(mut work: impl FnMut() -> Result<R>) -> Result<f64> {
    let mut best = f64::INFINITY;
    let whole = Instant::now();
    for _ in 0..5 {
        let clock = Instant::now();
        std::hint::black_box(work()?);
        best = best.min(clock.elapsed().as_secs_f64());
        if whole.elapsed().as_secs_f64() > PATIENCE {
            break;
        }
    }
    Ok(best)
}

/// Seconds for each pair of rows of the pass over all pairs: the value of the
/// held-out ones, and value and gradient of the others.
fn pair_seconds<T: Real>(problem: &Problem<'_>) -> Result<(f64, f64)> {
    let dim = problem.dim;
    let n = (TRIAL_ROWS * (TRIAL_DIM / dim as f64).sqrt().min(1.0)).max(128.0) as usize;
    let y: Vec<T> = (0..n * dim).map(|x| entry(x, dim)).collect();
    let rows = vec![0..n; 1];
    let (gamma, unit) = (ViewMatrix::filled(1, 1.0), ViewMatrix::filled(1, 1.0));
    let embedded = EmbeddedRows {
        y: &y,
        mirror: &y,
        offsets: &[],
        dim,
        views: &rows,
        gamma: &gamma,
    };
    let nodes: Vec<u32> = (0..n as u32).collect();
    let split = problem.data.split;
    let pairs = |part| AllPairs {
        rows: &rows,
        scale: &unit,
        nodes: &nodes,
        split: split.map(|split| (split, part)),
        watched: false,
    };
    let (tiles, kernel) = (
        Tiled::default(),
        Kernel::new(&problem.score.clone().capped::<T>()),
    );
    let mut slopes = vec![T::ZERO; y.len()];
    let value = best_of(|| tiles.all_pairs(&embedded, &pairs(Part::HeldOut), &kernel, None))?;
    let gradient = best_of(|| {
        let slopes = Some(slopes.as_mut_slice());
        Ok(tiles.all_pairs(&embedded, &pairs(Part::Training), &kernel, slopes))
    })?;
    let n_pairs = super::shape::n_pairs(n) as f64;
    Ok((value / n_pairs, gradient / n_pairs))
}

/// Entries of vectors of about unit length.
fn entry<T: Real>(place: usize, dim: usize) -> T {
    T::of(((place * 7919 % 1009) as f64 / 504.5 - 1.0) * (3.0 / dim as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::Dataset;
    use crate::data::graph::Graph;
    use crate::engine::objective::Prepared;
    use crate::engine::pairs::Split;
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
            let prepared = Prepared::new(&data, &params, split, None).unwrap();
            let problem = Problem::new(&prepared, &params).unwrap();
            let mut trial = Trial::new(CpuEngine::<f32>::new(&problem), wanted).unwrap();
            trial.held_out_seconds(&speed, Look::PLAIN).unwrap()
        };
        let small = seconds(3_000, 2);
        assert!((small / 4_498_500.0 - 1.0).abs() < 0.01, "{small}");
        assert!((seconds(30_000, 2) / (100.0 * small) - 1.0).abs() < 0.01);
        assert!((seconds(3_000, 20) / (10.0 * small) - 1.0).abs() < 0.01);
    }
}

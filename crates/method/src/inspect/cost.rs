//! What each solver would cost: time and memory, about.
//!
//! The steps are those of the plan that `fit` would make, and one of each kind
//! is timed on the data (`speed.rs`). How many it takes to stop is not known
//! before; the usual numbers below are those of the fits that were measured.
//! Estimates made so, and then the fits, on two shared cores (seconds of the steps
//! that the fit took, and MB as foretold then; [`Forecast`] has been measured anew):
//!
//! | data, 64 dimensions | solver | estimate | fit |
//! |---|---|---|---|
//! | Cora, 2,708 nodes | L-BFGS, 129 steps | 4.6 s, 26 MB | 5.4 s, 25 MB |
//! | | Adam, 300 steps | 7.0 s, 18 MB | 8.0 s, 19 MB |
//! | | blocks, 2,000 steps | 8.6 s, 17 MB | 10 s, 21 MB |
//! | planted, 6,000 nodes, 200 entries | L-BFGS, 25 steps | 4.5 s, 36 MB | 8.6 s, 30 MB |
//! | planted, 6,000 nodes, no data vectors | L-BFGS, 63 steps | 13 s, 59 MB | 17 s, 63 MB |
//! | | Adam, 100 steps | 12 s, 28 MB | 14 s, 26 MB |
//! | planted, 25,000 nodes, no data vectors | Adam, 10 steps | 21 s, 83 MB | 21 s, 83 MB |
//! | | sweeps, 336 steps | 78 s, 71 MB | 62 s, 73 MB |
//! | 100,000 nodes, 1 million links | sweeps, 125 steps | 8.7 s, 242 MB | 9.9 s, 244 MB |

use serde::Serialize;

use super::judged::judged_bytes;
use super::speed::Trial;
use crate::data::dataset::Dataset;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::{CpuEngine, Forecast, Plan};
use crate::error::Result;
use crate::model::held_out_pairs;
use crate::params::{CheckedParams, OptimizerKind, Params, Precision, SolverKind};
use linkproof_numeric::real::Real;

/// Passes that a step of L-BFGS takes, with its line search.
const PASSES: f64 = 1.1;

/// What a solver looks at in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// All pairs.
    AllPairs,
    /// The pairs inside a block of nodes.
    Blocks,
    /// A block of free vectors with all of their links.
    Sweeps,
}

/// What a fit by one solver would cost on this machine, about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SolverCost {
    /// The solver.
    pub solver: SolverKind,
    /// Its optimizer.
    pub optimizer: OptimizerKind,
    /// What it looks at in a step.
    pub way: Way,
    /// Whether `fit` takes it unless told otherwise.
    pub is_default: bool,
    /// Seconds of a step, with its share of the held-out scores.
    pub seconds_per_step: f64,
    /// The steps that such a fit usually takes.
    pub usual_steps: usize,
    /// The seconds of so many steps.
    pub seconds: f64,
    /// The steps after which it ends in any case.
    pub most_steps: usize,
    /// The seconds of so many steps.
    pub most_seconds: f64,
    /// The most memory that the program holds, with the look at the fit that follows.
    pub memory_bytes: u64,
}

/// The cost of every solver that can fit the data with the given parameters,
/// whose own choice of a solver only says which one is the default.
pub fn solver_costs(data: &Dataset, params: &CheckedParams) -> Result<Vec<SolverCost>> {
    match params.precision {
        Precision::F32 => costs_in::<f32>(data, params),
        Precision::F64 => costs_in::<f64>(data, params),
    }
}

fn costs_in<T: Real>(data: &Dataset, params: &CheckedParams) -> Result<Vec<SolverCost>> {
    let split = held_out_pairs(params, data.graph().n_links());
    let prepared = Prepared::new(data, params, split, None)?;
    let problem = Problem::new(&prepared, params)?;
    let dim = Trial::<T>::dim(&problem, params.dim);
    let smaller = if dim < params.dim {
        let params = Params {
            dim,
            ..params.given().clone()
        };
        Some(Problem::new(&prepared, &params.check()?)?)
    } else {
        None
    };
    let tried = smaller.as_ref().unwrap_or(&problem);
    let mut trial = Trial::new(CpuEngine::<T>::new(tried), params.dim)?;
    let speed = trial.speed()?;
    let default = Plan::new(params, &problem)?;
    let look_bytes = judged_bytes(data);
    let mut costs = Vec::new();
    for (solver, optimizer) in [
        (SolverKind::Exact, OptimizerKind::Lbfgs),
        (SolverKind::Exact, OptimizerKind::Adam),
        (SolverKind::Sgd, OptimizerKind::Adam),
    ] {
        let params = Params {
            solver: Some(solver),
            optimizer: Some(optimizer),
            ..params.given().clone()
        };
        let Ok(params) = params.check() else {
            continue;
        };
        let plan = Plan::new(&params, &problem)?;
        let step = match (solver, optimizer) {
            (SolverKind::Exact, OptimizerKind::Lbfgs) => PASSES * speed.pass,
            (SolverKind::Exact, _) => speed.pass,
            (SolverKind::Sgd, _) => trial.step_seconds(&plan)?,
        };
        let look = plan.look();
        let held_out = trial.held_out_seconds(&speed, look)?;
        let value = match look.every_pair {
            true => held_out,
            false => trial.held_out_seconds(&speed, look.at_every_pair())?,
        };
        let seconds_per_step = step + held_out / plan.evaluate_every as f64;
        let usual_steps = match split {
            Some(_) => plan.usual_steps(problem.parameters.is_all_tables()),
            // Nothing stops such a fit but its convergence.
            None => plan.steps,
        };
        // The score of the start, and the value of the result.
        let seconds = |steps: usize| held_out + value + steps as f64 * seconds_per_step;
        costs.push(SolverCost {
            solver,
            optimizer,
            way: match (solver, plan.turns) {
                (SolverKind::Exact, _) => Way::AllPairs,
                (SolverKind::Sgd, None) => Way::Blocks,
                (SolverKind::Sgd, Some(_)) => Way::Sweeps,
            },
            is_default: (default.solver, default.optimizer) == (solver, optimizer),
            seconds_per_step,
            usual_steps,
            seconds: seconds(usual_steps),
            most_steps: plan.steps,
            most_seconds: seconds(plan.steps),
            memory_bytes: Forecast::new::<T>(&problem, &plan).of(1.0).max(look_bytes),
        });
    }
    Ok(costs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::graph::Graph;

    fn ring(n: usize) -> Dataset {
        let links: Vec<_> = (0..n as u32)
            .map(|i| (i, (i + 1) % n as u32, 1.0))
            .collect();
        Dataset::from_links(Graph::from_rows(n, &links).unwrap()).unwrap()
    }

    fn costs(data: &Dataset, dim: usize) -> Vec<SolverCost> {
        let params = Params {
            dim,
            ..Params::default()
        };
        solver_costs(data, &params.check().unwrap()).unwrap()
    }

    fn default_of(costs: &[SolverCost]) -> &SolverCost {
        let defaults: Vec<_> = costs.iter().filter(|cost| cost.is_default).collect();
        assert_eq!(defaults.len(), 1, "{costs:?}");
        defaults[0]
    }

    #[test]
    fn the_default_is_the_one_that_a_fit_chooses() {
        let small = ring(40);
        let params = Params {
            dim: 3,
            steps: Some(2),
            ..Params::default()
        };
        let fitted = crate::fit(&params.check().unwrap(), &small).unwrap();
        let found = costs(&small, 3);
        let default = default_of(&found);
        let plan = &fitted.report().plan;
        assert_eq!(plan.solver, default.solver);
        assert_eq!(plan.optimizer, default.optimizer);
        let large = costs(&ring(20_001), 2);
        let default = default_of(&large);
        assert_eq!(default.solver, SolverKind::Sgd);
        assert_eq!(default.way, Way::Sweeps);
    }

    #[test]
    fn every_solver_has_a_cost_even_for_two_nodes() {
        let graph = Graph::from_rows(2, &[(0, 1, 1.0)]).unwrap();
        let found = costs(&Dataset::from_links(graph).unwrap(), 1);
        assert_eq!(found.len(), 3);
        for cost in found {
            assert!(cost.seconds > 0.0 && cost.seconds <= cost.most_seconds);
            assert!(cost.memory_bytes > 1 << 20, "{cost:?}");
        }
    }

    #[test]
    fn what_is_too_large_to_try_is_worked_out() {
        // Ten thousand million parameters: 40 GB of them.
        let data = ring(200_000);
        let found = costs(&data, 50_000);
        let parameters = 200_000.0 * 50_000.0 * 4.0;
        for cost in &found {
            assert!(cost.memory_bytes as f64 > 5.0 * parameters, "{cost:?}");
        }
    }

    #[test]
    fn memory_grows_with_the_nodes() {
        // Enough rows that exact passes are worked out rather than tried.
        let (small, large) = (costs(&ring(3_000), 64), costs(&ring(60_000), 64));
        for (small, large) in small.iter().zip(&large).take(2) {
            assert!(large.memory_bytes > small.memory_bytes);
        }
        assert!(large[0].memory_bytes > large[1].memory_bytes, "L-BFGS");
    }
}

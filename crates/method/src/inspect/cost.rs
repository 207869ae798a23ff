//! What each solver would cost: time and memory, about.
//!
//! Two small fits are timed, to rings of nodes with the degrees and features of the data, and
//! scaled by the nodes and pairs that a step of the plan visits. How many steps a fit takes
//! is not known before; the usual numbers are those of the fits that were measured.

use std::time::Instant;

use serde::Serialize;

use super::judged::judged_bytes;
use crate::data::dataset::Dataset;
use crate::data::features::Features;
use crate::data::graph::Graph;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::{Forecast, Plan};
use crate::error::Result;
use crate::model::{fit, held_out_pairs};
use crate::params::{CheckedParams, OptimizerKind, Params, SolverKind, WeightTransform};

/// Passes that a step of L-BFGS takes, with its line search.
const PASSES: f64 = 1.1;
/// Value and gradient take so many times as long as the value.
const WHOLE_PASS: f64 = 3.0;
/// Nodes of the two fits that are timed, and their dimensions, links of a node and steps at
/// most.
const NODES: [u32; 2] = [256, 1024];
const MOST_DIMENSIONS: usize = 256;
const MOST_LINKS: usize = 32;
const STEPS: usize = 5;

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
    let split = held_out_pairs(params, data.graph().n_links());
    let prepared = Prepared::new(data, params, split, None)?;
    let problem = Problem::new(&prepared, params)?;
    let default = Plan::new(params, &problem)?;
    let speed = Speed::measured(data, params)?;
    let (n, all) = (data.n_nodes() as f64, prepared.n_pairs_total());
    let pass = |nodes: f64, pairs: f64| speed.node * nodes + speed.pair * pairs;
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
        let [block, links] = [plan.sampling.block, plan.sampling.link_batch];
        let [block, links] = [block, links].map(|number| number.unwrap_or(data.n_nodes()) as f64);
        let (way, step) = match (solver, plan.turns) {
            (SolverKind::Exact, _) if optimizer == OptimizerKind::Lbfgs => {
                (Way::AllPairs, PASSES * pass(n, all))
            }
            (SolverKind::Exact, _) => (Way::AllPairs, pass(n, all)),
            (SolverKind::Sgd, turns) => {
                let pairs = block * block / 2.0 + links;
                let way = turns.map_or(Way::Blocks, |_| Way::Sweeps);
                (way, pass(block, pairs.min(all)))
            }
        };
        let visited = |every| if every { all } else { all.min(n * block) };
        let value = |every| pass(n, visited(every)) / WHOLE_PASS;
        let held_out = split.map_or(0.0, |_| value(plan.every_pair));
        let seconds_per_step = step + held_out / plan.evaluate_every as f64;
        let usual_steps = match split {
            Some(_) => plan.usual_steps(problem.parameters.is_all_tables()),
            // Nothing stops such a fit but its convergence.
            None => plan.steps,
        };
        let seconds = |steps: usize| value(true) + steps as f64 * seconds_per_step;
        let forecast = Forecast::new(&problem, &plan);
        costs.push(SolverCost {
            solver,
            optimizer,
            way,
            is_default: (default.solver, default.optimizer) == (solver, optimizer),
            seconds_per_step,
            usual_steps,
            seconds: seconds(usual_steps),
            most_steps: plan.steps,
            most_seconds: seconds(plan.steps),
            memory_bytes: forecast.of(1.0).max(judged_bytes(data)),
        });
    }
    Ok(costs)
}

/// Seconds of value and gradient for each node, and for each pair beside.
struct Speed {
    node: f64,
    pair: f64,
}

impl Speed {
    fn measured(data: &Dataset, params: &CheckedParams) -> Result<Speed> {
        let matrices = data.views().iter().filter_map(|view| view.matrix.as_ref());
        let matrix = matrices.max_by_key(|matrix| matrix.n_columns());
        let degree = data
            .graph()
            .n_links()
            .div_ceil(data.n_nodes())
            .min(MOST_LINKS) as u32;
        let wanted = params.dim;
        let params = Params {
            dim: wanted.min(MOST_DIMENSIONS),
            solver: Some(SolverKind::Exact),
            optimizer: Some(OptimizerKind::Adam),
            steps: Some(STEPS),
            validation: Some(0.0),
            weights: WeightTransform::Binary,
            view_encoders: Default::default(),
            view_pairs: None,
            ..params.given().clone()
        };
        let factor = wanted as f64 / params.dim as f64;
        let params = params.check()?;
        let seconds = |n: u32| -> Result<f64> {
            let to_next = |i| (1..=degree.max(1)).map(move |step| (i, (i + step) % n, 1.0));
            let links: Vec<(u32, u32, f64)> = (0..n).flat_map(to_next).collect();
            let graph = Graph::from_rows(n as usize, &links)?;
            let ring = match matrix {
                Some(matrix) => {
                    let rows: Vec<u32> = (0..n).map(|row| row % matrix.n_rows() as u32).collect();
                    Dataset::new(graph, Features::new(matrix.select(&rows)))?
                }
                None => Dataset::from_links(graph)?,
            };
            let clock = Instant::now();
            fit(&params, &ring)?;
            // The value of the result is a part of a pass.
            Ok(factor * clock.elapsed().as_secs_f64() / (STEPS as f64 + 1.0 / WHOLE_PASS))
        };
        let [small, large] = NODES;
        let [of_small, of_large] = [seconds(small)?, seconds(large)?];
        let pairs = |n: u32| f64::from(n) * f64::from(n - 1) / 2.0;
        let per_node = |seconds: f64, n: u32| seconds / f64::from(n);
        let more = per_node(of_large, large) - per_node(of_small, small);
        let pair = 2.0 * more / f64::from(large - small);
        // Other programs may have had the processor during one of the fits.
        let pair = pair.clamp(0.0, of_large / pairs(large));
        Ok(Speed {
            node: (of_large - pair * pairs(large)) / f64::from(large),
            pair,
        })
    }
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

//! What will run: the settings of a fit with every open choice made.

use serde::{Deserialize, Serialize};

use super::Look;
use crate::engine::encoder::Network;
use crate::engine::objective::{Problem, TABLE_RATE, method};
use crate::error::{Error, Result};
use crate::params::{
    CheckedParams, Descent, OptimizerKind, Sampler as SamplerKind, Sampling, SolverKind,
};

/// Sweeps over tables, at most.
const SWEEPS: usize = 100;

/// Value and gradient of a pair cost so many times what its value costs.
const PASSES_OF_A_STEP: f64 = 3.0;
/// So many pairs are visited at every look, four times as many as the blocks
/// have that would stand for them: blocks spare little there.
const WORTH_VISITING: f64 = 67e6;

/// A fit's settings with every open choice made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Plan {
    /// The solver.
    pub solver: SolverKind,
    /// The optimizer.
    pub optimizer: OptimizerKind,
    /// The largest number of steps.
    pub steps: usize,
    /// Steps between evaluations of the held-out score.
    pub evaluate_every: usize,
    /// Whether the held-out score is the sum over every pair; otherwise that
    /// would cost more than the steps between two evaluations, and blocks of
    /// nodes stand for all.
    pub every_pair: bool,
    /// Evaluations without a better held-out score that end the fit.
    pub patience: usize,
    /// Whether the held-out pairs, where there are any, end the fit and choose
    /// its parameters.
    pub validates: bool,
    /// A gain of this share of the objective counts as none (L-BFGS).
    pub tolerance: f64,
    /// What a step of the stochastic solver draws, with every open choice made.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// How a gradient becomes a step, with every open choice made.
    #[serde(flatten)]
    pub descent: Descent,
    /// Whether a block's links are drawn apart from its nodes, because too few
    /// would lie inside it.
    pub links_apart: bool,
    /// The steps of a sweep, where the block sampler sweeps over tables.
    pub turns: Option<usize>,
    /// With another `lambda` than the automatic one a fit finds `mu` up to
    /// this factor: `score` returns `k mu`.
    pub k: f64,
    /// The seed.
    pub seed: u64,
}

impl Plan {
    /// Makes every open choice for a problem.
    pub fn new(params: &CheckedParams, problem: &Problem<'_>) -> Result<Plan> {
        let n = problem.n_nodes();
        let networks = problem.encoders().iter().map(|view| &view.network);
        let (solver, optimizer) = method(params, n, networks);
        if optimizer == OptimizerKind::Lbfgs && solver == SolverKind::Sgd {
            let accepted = "adam or sgd with the sgd solver, which a graph of this size gets";
            let error = Error::argument("optimizer", accepted, optimizer);
            return Err(error.or("or set {solver=exact}"));
        }
        let asked = &params.sampling;
        let sweeps = solver == SolverKind::Sgd
            && asked.sampler == SamplerKind::Block
            && asked.lambda.is_none()
            && asked.link_batch.is_none()
            && problem.parameters.is_all_tables();
        let block = asked.block.unwrap_or(if sweeps { 4096 } else { 1024 });
        let turns = sweeps.then(|| n.div_ceil(block)).filter(|turns| {
            let views = problem.encoders().iter();
            views.map(|view| view.rows.len()).min() >= Some(2 * turns)
        });
        let links_apart = n > block.saturating_mul(4);
        let default_links = match asked.sampler {
            SamplerKind::Block if links_apart => 4 * block,
            _ => 512,
        };
        // A part of a larger graph may have none.
        let n_links = problem.data.training.n_links().max(1);
        let link_batch = asked.link_batch.unwrap_or(default_links).min(n_links);
        let n_pairs = problem.data.n_training_pairs();
        let pair_batch = asked.pair_batch.min((n_pairs / 2.0).max(1.0) as usize);
        let unbiased = n_pairs * link_batch as f64 / (n_links as f64 * pair_batch as f64);
        let lambda = match asked.lambda {
            Some(lambda) if solver == SolverKind::Sgd => lambda,
            _ => unbiased,
        };
        let default_steps = match (solver, optimizer, turns) {
            (SolverKind::Exact, OptimizerKind::Lbfgs, _) => 500,
            (SolverKind::Exact, _, _) => 1000,
            (SolverKind::Sgd, _, Some(turns)) => SWEEPS * turns,
            // About ten looks at every link.
            (SolverKind::Sgd, _, None) if links_apart => (10 * n_links / link_batch).max(2000),
            (SolverKind::Sgd, _, None) => 2000,
        };
        let steps = params.steps.unwrap_or(default_steps);
        let evaluate_every = match (solver, optimizer, turns) {
            (SolverKind::Exact, OptimizerKind::Lbfgs, _) => 1,
            (SolverKind::Exact, _, _) => 5,
            (SolverKind::Sgd, _, Some(turns)) => turns,
            (SolverKind::Sgd, _, None) => (steps / 100).max(10),
        };
        let every_pair = solver == SolverKind::Exact || {
            let per_step = match asked.sampler {
                SamplerKind::Block => block.min(n) as f64 * block.min(n) as f64 / 2.0,
                SamplerKind::Pairs => pair_batch as f64,
            } + link_batch as f64;
            let steps = PASSES_OF_A_STEP * per_step * evaluate_every as f64;
            problem.data.n_pairs_total() <= steps.max(WORTH_VISITING)
        };
        let mut descent = params.descent.clone();
        descent
            .learning_rate
            .get_or_insert_with(|| default_learning_rate(optimizer, problem, turns.is_some()));
        descent.schedule_alpha.get_or_insert(match optimizer {
            OptimizerKind::Sgd => 0.5,
            _ => 0.0,
        });
        Ok(Plan {
            solver,
            optimizer,
            steps,
            evaluate_every,
            every_pair,
            patience: params.patience,
            validates: true,
            tolerance: 1e-9,
            sampling: Sampling {
                sampler: asked.sampler,
                link_batch: Some(link_batch),
                pair_batch,
                block: Some(block.min(n)),
                lambda: Some(lambda),
            },
            descent,
            turns,
            links_apart,
            k: lambda / unbiased,
            seed: params.seed,
        })
    }

    /// How the solver looks at held-out pairs.
    pub fn look(&self) -> Look {
        Look {
            k: self.k,
            every_pair: self.every_pair,
        }
    }
}

/// Adam moves every weight by about the learning rate. A table's vectors are touched
/// seldom, so each touch may move them further.
fn default_learning_rate(optimizer: OptimizerKind, problem: &Problem<'_>, sweeps: bool) -> f64 {
    if optimizer == OptimizerKind::Sgd {
        return 0.05;
    }
    let rate = |network: &Network| match network.is_table() {
        true if sweeps => 0.05,
        true => TABLE_RATE,
        false => network.rate(),
    };
    let rates = problem.encoders().iter().map(|view| rate(&view.network));
    rates.fold(f64::INFINITY, f64::min)
}

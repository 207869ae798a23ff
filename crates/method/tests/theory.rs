//! What the theory of the paper promises (Theorems 3.1 and 3.2, and the rate
//! at which the mean score converges), checked on the library's own functions.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod support;

use linkproof_method::data::graph::Graph;
use linkproof_method::engine::objective::{Prepared, Problem};
use linkproof_method::engine::{Evaluator, Gradient, Plan, StepSampler, Workspace};
use linkproof_method::params::{
    Descent, Normalize, OptimizerKind, Params, Precision, Sampler, Sampling, ScoreKind, SolverKind,
};
use linkproof_method::score::Score;
use linkproof_method::{Dataset, Features, Fitted, Matrix, fit};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

proptest! {
    #![proptest_config(support::cases(256))]
    /// Theorem 3.1: with weights `mu* + eta` the mean moment score is that of
    /// `mu*` plus `alpha/beta` less `M eps^{beta/beta_0}`, and `M` is bounded.
    #[test]
    fn noise_moves_the_moment_score_by_a_constant_and_a_small_term(
        pairs in prop::collection::vec((0.001..2.0f64, 0.0..3.0f64, 0.001..2.0f64), 2..40),
        beta_0 in 0.2..2.0f64,
        share in 0.05..1.0f64,
    ) {
        let beta = share * beta_0;
        let score = Score::new(ScoreKind::Moment, beta);
        let n = pairs.len() as f64;
        let mean = |f: &dyn Fn(f64, f64, f64) -> f64| {
            pairs.iter().map(|&(mu_star, eta, mu)| f(mu_star, eta, mu)).sum::<f64>() / n
        };
        let noisy = mean(&|mu_star, eta, mu| score.pair(mu.ln(), mu_star + eta).value);
        let clean = mean(&|mu_star, _, mu| score.pair(mu.ln(), mu_star).value);
        let alpha = mean(&|_, eta, _| eta);
        // The smallest eps for which theta lies in the restricted set.
        let eps = mean(&|_, eta, mu| eta * mu.powf(beta_0)) * (1.0 + 1e-9) + 1e-300;
        let m = mean(&|_, eta, mu| eta * mu.powf(beta)) / beta * eps.powf(-beta / beta_0);
        let predicted = clean + alpha / beta - m * eps.powf(beta / beta_0);
        prop_assert!((noisy - predicted).abs() < 1e-9 * (1.0 + noisy.abs() + alpha / beta));
        let bound = alpha.powf(1.0 - beta / beta_0) / beta;
        prop_assert!(m <= bound * (1.0 + 1e-9), "{m} above {bound}");
    }
}

/// Nodes on a line with links between near ones.
fn line(n: usize) -> Dataset {
    let x: Vec<f64> = (0..n).map(|i| 0.4 + (i as f64 * 1.7).sin()).collect();
    let mut links = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            if (i * 7 + j * 3) % 5 == 0 || x[i] * x[j] > 0.9 {
                links.push((i as u32, j as u32, 1.0 + ((i + j) % 2) as f64));
            }
        }
    }
    let matrix = Matrix::dense(n, 1, x).unwrap();
    Dataset::new(Graph::from_rows(n, &links).unwrap(), Features::new(matrix)).unwrap()
}

fn line_params() -> Params {
    Params {
        dim: 1,
        beta: 0.5,
        ridge: Some(3.0),
        normalize: Normalize::None,
        validation: Some(0.0),
        precision: Precision::F64,
        ..Params::default()
    }
}

/// Theorem 3.2: for any lambda the expected stochastic gradient is
/// `1/(m1 |I|) sum over I of (-v m1 w + lambda m2 mu) mu^beta dlog mu`.
#[test]
fn the_expected_stochastic_gradient_is_the_theorems() {
    let (m1, m2, lambda) = (4.0, 12.0, 2.5);
    let params = Params {
        solver: Some(SolverKind::Sgd),
        sampling: Sampling {
            sampler: Sampler::Pairs,
            link_batch: Some(m1 as usize),
            pair_batch: m2 as usize,
            lambda: Some(lambda),
            ..Sampling::default()
        },
        optimizer: Some(OptimizerKind::Sgd),
        ridge: Some(0.0),
        ..line_params()
    };
    let params = params.check().unwrap();
    let data = line(14);
    let prepared = Prepared::new(&data, &params, None, None).unwrap();
    let problem = Problem::new(&prepared, &params).unwrap();
    let evaluator = Evaluator::<f64>::new(&problem);
    let plan = Plan::new(&params, &problem).unwrap();
    let theta = vec![0.7, 0.9]; // the weight of the map, gamma

    let matrix = data.views()[0].matrix.as_ref().unwrap();
    let x: Vec<f64> = (0..14).map(|row| matrix.row(row)[0].1).collect();
    let (n_pairs, n_links) = (91.0, data.graph().n_links() as f64);
    let v = n_pairs / n_links;
    let mut expected = [0.0, 0.0];
    for i in 0..14 {
        for j in i + 1..14 {
            let w = data.graph().weight(i as u32, j as u32).unwrap_or(0.0);
            let mu = (theta[0] * theta[0] * x[i] * x[j] - theta[1]).exp();
            let factor = (-v * m1 * w + lambda * m2 * mu) * mu.powf(0.5) / (n_pairs * m1);
            expected[0] += factor * 2.0 * theta[0] * x[i] * x[j];
            expected[1] -= factor;
        }
    }
    let draws = 20_000;
    let mut draw = StepSampler::new(&problem, &plan);
    let (mut workspace, mut gradient) = (Workspace::default(), Gradient::default());
    let (mut mean, mut square) = ([0.0; 2], [0.0; 2]);
    for step in 0..draws {
        let sample = draw.draw(step);
        let value = evaluator.sampled(&theta, sample, step, &mut workspace, &mut gradient);
        assert!(value.unwrap().is_finite());
        for place in 0..2 {
            mean[place] += gradient.values[place] / draws as f64;
            square[place] += gradient.values[place].powi(2) / draws as f64;
        }
    }
    for place in 0..2 {
        let error = ((square[place] - mean[place].powi(2)) / draws as f64).sqrt();
        assert!(
            (mean[place] - expected[place]).abs() < 5.0 * error,
            "{mean:?} {expected:?} {error}"
        );
    }
    assert!((plan.k - lambda * m2 / (v * m1)).abs() < 1e-12);
}

/// Theorem 3.2: projected SGD with steps of order `t^-alpha` converges to the
/// exact solution of a locally strongly convex problem.
#[test]
fn projected_sgd_converges_to_the_exact_solution() {
    let data = line(40);
    let distance = |a: &Fitted, b: &Fitted| {
        let gamma = (a.gamma().get(0, 0) - b.gamma().get(0, 0)).powi(2);
        // The sign of a one-dimensional embedding is free.
        let sign = if a.embeddings()[0] * b.embeddings()[0] > 0.0 {
            1.0
        } else {
            -1.0
        };
        let y = a.embeddings().iter().zip(b.embeddings());
        gamma + y.map(|(a, b)| f64::from(a - sign * b).powi(2)).sum::<f64>() / 40.0
    };
    let exact = Params {
        optimizer: Some(OptimizerKind::Lbfgs),
        steps: Some(500),
        ..line_params()
    };
    let exact = fit(&exact.check().unwrap(), &data).unwrap();
    let mut errors = Vec::new();
    for steps in [20, 400, 20_000] {
        let mut error = 0.0;
        for seed in 0..6 {
            let params = Params {
                solver: Some(SolverKind::Sgd),
                optimizer: Some(OptimizerKind::Sgd),
                sampling: Sampling {
                    sampler: Sampler::Pairs,
                    link_batch: Some(30),
                    pair_batch: 60,
                    ..Sampling::default()
                },
                descent: Descent {
                    momentum: 0.0,
                    learning_rate: Some(0.05),
                    schedule_alpha: Some(0.75),
                    radius: Some(3.0),
                    ..Descent::default()
                },
                steps: Some(steps),
                seed,
                ..line_params()
            };
            error += distance(&fit(&params.check().unwrap(), &data).unwrap(), &exact) / 6.0;
        }
        errors.push(error);
    }
    assert!(
        errors[1] < 0.6 * errors[0] && errors[2] < 0.2 * errors[1],
        "{errors:?}"
    );
    assert!(errors[2] < 1e-3, "{errors:?}");
}

/// When the data vectors are drawn anew the mean score over pairs varies as
/// `1/sqrt(n)`, not as `1/n`.
#[test]
fn the_mean_score_converges_at_the_root_of_n() {
    let score = Score::new(ScoreKind::Moment, 0.5);
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut deviation = |n: usize| {
        let runs = 300;
        let values: Vec<f64> = (0..runs)
            .map(|_| {
                let x: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut random)).collect();
                let mut sum = 0.0;
                for i in 0..n {
                    for j in i + 1..n {
                        let mu_star = (0.3 * x[i] * x[j] - 1.0).exp();
                        let w = if random.random_bool(mu_star.min(1.0)) {
                            1.0
                        } else {
                            0.0
                        };
                        sum += score
                            .pair(0.2 * x[i] * x[j] - 1.0 + 0.3 * (x[i] + x[j]), w)
                            .value;
                    }
                }
                sum / (n * (n - 1) / 2) as f64
            })
            .collect();
        let mean = values.iter().sum::<f64>() / runs as f64;
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / runs as f64).sqrt()
    };
    let (small, large) = (deviation(20), deviation(180));
    let rate = (small / large).ln() / 9f64.ln();
    assert!(
        (0.38..0.72).contains(&rate),
        "the deviation falls as n^-{rate:.2}"
    );
}

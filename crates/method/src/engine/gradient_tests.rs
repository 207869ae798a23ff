//! Gradients along every path to the objective, against differences.

use super::tests::{data, some_links};
use super::{Engine, Evaluator, Gradient, Plan, StepSampler, Workspace};
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::Split;
use crate::params::{
    Activation, EncoderKind, Mlp, OptimizerKind, OutputActivation, Params, Sampling, ScoreKind,
    SolverKind,
};
use crate::support::{cases, derivative};
use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(super) enum Path {
    Full,
    Block,
    BlockLinksApart,
    Pairs,
}

/// The objective at `theta` along one path, and its gradient as one vector.
fn along(problem: &Problem<'_>, plan: &Plan, path: &Path, theta: &[f64]) -> (f64, Vec<f64>) {
    let mut whole = vec![0.0; problem.n_params()];
    if matches!(path, Path::Full) {
        let mut engine = super::CpuEngine::new(problem);
        engine.load(theta).unwrap();
        let found = engine.objective(Some(&mut whole));
        return (found.unwrap().value, whole);
    }
    let mut plan = plan.clone();
    plan.links_apart = matches!(path, Path::BlockLinksApart);
    if matches!(path, Path::Pairs) {
        plan.sampling.sampler = crate::params::Sampler::Pairs;
    }
    let mut sampler = StepSampler::new(problem, &plan);
    let sample = sampler.draw(7);
    let mut gradient = Gradient::default();
    let evaluator = Evaluator::new(problem);
    let value = evaluator.sampled(theta, sample, 3, &mut Workspace::default(), &mut gradient);
    for piece in &gradient.pieces {
        for offset in 0..piece.len {
            whole[piece.place + offset] += gradient.values[piece.start + offset];
        }
    }
    (value.unwrap(), whole)
}

fn any_params() -> impl Strategy<Value = (Params, Path, bool)> {
    let encoder = prop_oneof![
        Just(EncoderKind::Linear),
        Just(EncoderKind::Mlp),
        Just(EncoderKind::Table)
    ];
    let score = prop_oneof![
        Just(ScoreKind::Likelihood),
        Just(ScoreKind::Moment),
        Just(ScoreKind::Probability)
    ];
    let path = prop_oneof![
        Just(Path::Full),
        Just(Path::Block),
        Just(Path::BlockLinksApart),
        Just(Path::Pairs)
    ];
    let rest = (0.05..2.0f64, any::<[bool; 5]>(), 0..100u64, 0..3usize);
    (encoder, score, path, rest).prop_map(|(encoder, score, path, (beta, flags, seed, hidden))| {
        let [tanh, norm, drop, hold, views] = flags;
        let mlp = encoder == EncoderKind::Mlp;
        let params = Params {
            dim: 3,
            score,
            beta,
            encoder: Some(encoder),
            mlp: Mlp {
                hidden: vec![4; hidden],
                activation: Activation::Tanh,
                output_activation: if tanh && mlp {
                    OutputActivation::Tanh
                } else {
                    OutputActivation::None
                },
                batch_norm: norm && mlp,
                dropout: if drop && mlp { 0.3 } else { 0.0 },
            },
            input_dropout: if drop { 0.2 } else { 0.0 },
            validation: Some(if hold { 0.2 } else { 0.0 }),
            // The ridge on a table is estimated from the block, so only its
            // full gradient is the derivative of the full value.
            ridge: Some(if encoder == EncoderKind::Table {
                0.0
            } else {
                0.7
            }),
            solver: Some(SolverKind::Sgd),
            optimizer: Some(OptimizerKind::Adam),
            sampling: Sampling {
                block: Some(8),
                link_batch: Some(5),
                pair_batch: 9,
                ..Sampling::default()
            },
            seed,
            ..Params::default()
        };
        (params, path, views)
    })
}

proptest! {
    #![proptest_config(cases(200))]
    #[test]
    fn gradients_of_every_path_are_central_differences((params, path, views) in any_params()) {
        let params = params.check().unwrap();
        let data = data(views);
        let split = params
            .validation
            .filter(|&share| share > 0.0)
            .map(|share| Split::share(params.seed, share));
        let aside = (params.seed % 2 == 1).then(|| some_links(&data));
        let prepared = Prepared::new(&data, &params, split, aside.as_ref()).unwrap();
        let problem = Problem::new(&prepared, &params).unwrap();
        let plan = Plan::new(&params, &problem).unwrap();
        let theta = problem.start(&problem.inputs(), 0.8);
        let (_, gradient) = along(&problem, &plan, &path, &theta);
        for place in 0..theta.len() {
            let slope = gradient[place];
            // Batch normalisation over units that hardly vary is sharp: the step
            // must be as small as the function wants it.
            let wanted = 1e-7 * (1.0 + slope.abs());
            let found = derivative(wanted, |by| {
                let mut theta = theta.clone();
                theta[place] += by;
                along(&problem, &plan, &path, &theta).0
            });
            prop_assert!(found.error <= 10.0 * wanted, "place {place} along {path:?}: {found:?}");
            prop_assert!((slope - found.value).abs() <= wanted + 4.0 * found.error,
                "place {place} along {path:?}: {slope} against {found:?}");
        }
    }
}

use super::gradient_tests::Path;
use super::{CpuEngine, Engine, Evaluator, Gradient, Look, Plan, StepSampler, Workspace};
use crate::data::dataset::{Dataset, NodeViews};
use crate::data::features::{Features, Matrix};
use crate::data::graph::Graph;
use crate::data::ids::Ids;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::{Part, Split};
use crate::params::{
    EncoderKind, Mlp, Note, OutputActivation, Params, Sampling, SolverKind, Unused,
};

/// An engine at its random start, and the start.
fn started<'p>(problem: &'p Problem<'p>) -> (CpuEngine<'p, f64>, Vec<f64>) {
    let mut engine = CpuEngine::new(problem);
    let theta = engine.start(1.0).unwrap();
    engine.load(&theta).unwrap();
    (engine, theta)
}

fn wave(n: usize, frequency: f64) -> Vec<f64> {
    (0..n)
        .map(|i| (i as f64 * frequency + 0.3).sin() + 0.1)
        .collect()
}

/// Two views of 9 and 6 nodes, interleaved, with 4 and 3 columns; links across
/// and inside the first.
pub(super) fn data(several_views: bool) -> Dataset {
    let links = [
        (0, 1, 1.0),
        (0, 4, 2.0),
        (2, 3, 0.7),
        (5, 8, 1.0),
        (6, 11, 3.0),
        (9, 12, 1.0),
        (10, 13, 1.0),
        (2, 7, 5.0),
        (0, 14, 1.0),
        (3, 12, 1.5),
        (1, 6, 1.0),
    ];
    let graph = Graph::from_rows(15, &links).unwrap();
    if !several_views {
        let matrix = Matrix::dense(15, 4, wave(60, 1.3)).unwrap();
        return Dataset::new(graph, Features::new(matrix)).unwrap();
    }
    let views = (0..15).map(|i| if i % 5 < 3 { "a" } else { "b" }.to_owned());
    let nodes = NodeViews {
        ids: Ids::Rows(15),
        views: views.collect(),
        rows: None,
    };
    let a = Features::new(Matrix::dense(9, 4, wave(36, 1.3)).unwrap());
    let b = Matrix::sparse(
        3,
        vec![0, 2, 3, 3, 5, 6, 8],
        vec![0, 1, 2, 0, 2, 1, 0, 1],
        wave(8, 0.7),
    );
    let b = Features::new(b.unwrap());
    Dataset::with_views(graph, nodes, vec![("a".into(), a), ("b".into(), b)]).unwrap()
}

/// Some of the links, to be set aside.
pub(super) fn some_links(data: &Dataset) -> Graph {
    let links = data.graph().links().step_by(4).collect();
    Graph::new(data.graph().ids().clone(), links, Default::default()).unwrap()
}

/// The plain, uncapped sum of the score over the training pairs.
fn value(engine: &mut dyn Engine<f64>, look: Look) -> f64 {
    let score = engine.problem().score.clone();
    let sum = engine.sums(Part::Training, Some(&score), look).unwrap();
    sum.value + score.constant() * sum.pairs
}

#[test]
fn pairs_set_aside_are_neither_links_nor_zeros() {
    for views in [false, true] {
        let data = data(views);
        let aside = some_links(&data);
        for kind in crate::params::ScoreKind::ALL {
            let params = Params {
                dim: 2,
                beta: 0.4,
                score: *kind,
                ridge: Some(0.0),
                precision: crate::params::Precision::F64,
                ..Params::default()
            };
            let params = params.check().unwrap();
            for split in [None, Some(Split::share(3, 0.3))] {
                let whole = Prepared::new(&data, &params, split, None).unwrap();
                let thin = Prepared::new(&data, &params, split, Some(&aside)).unwrap();
                let whole_problem = Problem::new(&whole, &params).unwrap();
                let problem = Problem::new(&thin, &params).unwrap();
                let (mut whole_engine, theta) = started(&whole_problem);
                let mut engine = CpuEngine::new(&problem);
                engine.load(&theta).unwrap();
                let plain = crate::score::Score::new(*kind, 0.4);
                let all = value(&mut whole_engine, Look::PLAIN);
                let rest = value(&mut engine, Look::PLAIN);
                // What the pairs set aside pay, one by one.
                let y = engine.embed().unwrap().y;
                let gamma = problem.parameters.gamma(&theta);
                let mut paid = 0.0;
                let absent = thin.aside.as_ref().unwrap();
                for link in absent.links() {
                    let (i, j) = (link.src as usize, link.dst as usize);
                    let product: f64 = (0..2).map(|k| y[2 * i + k] * y[2 * j + k]).sum();
                    let gamma = gamma.get(thin.view_of(i), thin.view_of(j));
                    paid += plain.pair(product - gamma, link.weight).value;
                    assert!(thin.training.weight(link.src, link.dst).is_none());
                }
                assert!(
                    (all - rest - paid).abs() < 1e-10 * all.abs(),
                    "{kind} {views}"
                );
                assert!(absent.n_links() >= 1);
                assert_eq!(
                    whole.n_training_pairs() - thin.n_training_pairs(),
                    absent.n_links() as f64
                );
                // The held-out pairs are what they were.
                let held = [&whole, &thin].map(|prepared| {
                    let held = prepared.held_out.as_ref();
                    held.map(|graph| graph.links().collect::<Vec<_>>())
                });
                assert_eq!(held[0], held[1]);
                let look = Look::PLAIN;
                let held_out = engine.held_out(look).unwrap();
                assert_eq!(held_out, whole_engine.held_out(look).unwrap());
                assert_eq!(held_out.is_some(), split.is_some());
            }
        }
    }
}

/// The mean of many samples' gradients is the full gradient.
fn check_unbiased(path: &Path, views: bool, encoder: EncoderKind, draws: u64) {
    let params = Params {
        dim: 2,
        encoder: Some(encoder),
        beta: 0.4,
        ridge: Some(0.5),
        validation: Some(0.1),
        solver: Some(SolverKind::Sgd),
        sampling: Sampling {
            block: Some(7),
            link_batch: Some(4),
            pair_batch: 10,
            ..Sampling::default()
        },
        ..Params::default()
    };
    let params = params.check().unwrap();
    let data = data(views);
    // With a table, each node of which is in its own number of training pairs,
    // the ridge is exact only where none is held out.
    let split = (encoder != EncoderKind::Table).then(|| Split::share(1, 0.1));
    let aside = split.map(|_| some_links(&data));
    let prepared = Prepared::new(&data, &params, split, aside.as_ref()).unwrap();
    let problem = Problem::new(&prepared, &params).unwrap();
    let mut plan = Plan::new(&params, &problem).unwrap();
    plan.links_apart = matches!(path, Path::BlockLinksApart);
    if matches!(path, Path::Pairs) {
        plan.sampling.sampler = crate::params::Sampler::Pairs;
    }
    let (mut engine, theta) = started(&problem);
    let mut full = vec![0.0; theta.len()];
    engine.objective(Some(&mut full)).unwrap();
    let evaluator = Evaluator::new(&problem);
    let (mut mean, mut square) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
    let mut sampler = StepSampler::new(&problem, &plan);
    let (mut workspace, mut gradient) = (Workspace::default(), Gradient::default());
    for step in 0..draws {
        let sample = sampler.draw(step);
        let value = evaluator.sampled(&theta, sample, step, &mut workspace, &mut gradient);
        assert!(value.unwrap().is_finite());
        let mut whole = vec![0.0; theta.len()];
        for piece in &gradient.pieces {
            for offset in 0..piece.len {
                whole[piece.place + offset] += gradient.values[piece.start + offset];
            }
        }
        for place in 0..theta.len() {
            mean[place] += whole[place] / draws as f64;
            square[place] += whole[place].powi(2) / draws as f64;
        }
    }
    for place in 0..theta.len() {
        let error = ((square[place] - mean[place].powi(2)).max(0.0) / draws as f64).sqrt();
        assert!(
            (mean[place] - full[place]).abs() < 5.0 * error + 1e-9,
            "{path:?} {encoder} place {place}: {} against {} +- {error}",
            mean[place],
            full[place]
        );
    }
}

#[test]
fn stochastic_gradients_are_unbiased() {
    // Theorem 3.2: with the automatic lambda the expected stochastic gradient
    // is that of the exact objective.
    for views in [false, true] {
        for path in [Path::Block, Path::BlockLinksApart, Path::Pairs] {
            check_unbiased(&path, views, EncoderKind::Linear, 4000);
        }
    }
    // A table's ridge is estimated from the block or from the pairs.
    for views in [false, true] {
        for path in [Path::Block, Path::BlockLinksApart, Path::Pairs] {
            check_unbiased(&path, views, EncoderKind::Table, 4000);
        }
    }
}

#[test]
fn pairs_are_drawn_uniformly_over_the_pairs_of_views() {
    let params = Params {
        solver: Some(SolverKind::Sgd),
        sampling: Sampling {
            sampler: crate::params::Sampler::Pairs,
            pair_batch: 1,
            ..Sampling::default()
        },
        ..Params::default()
    };
    let params = params.check().unwrap();
    let data = data(true);
    let prepared = Prepared::new(&data, &params, None, None).unwrap();
    assert_eq!(prepared.view_pairs, [(0, 0), (0, 1)]);
    let problem = Problem::new(&prepared, &params).unwrap();
    let plan = Plan::new(&params, &problem).unwrap();
    let mut sampler = StepSampler::new(&problem, &plan);
    let draws = 20_000;
    let across: usize = (0..draws)
        .map(|step| {
            let sample = sampler.draw(step);
            let (first, all) = (sample.rows[0].len(), sample.rows.concat().len());
            let pairs = &sample.listed[1].0;
            (first..all)
                .map(|row| pairs.row(row).0.len())
                .sum::<usize>()
        })
        .sum();
    // 9 x 6 pairs across, 36 inside the first view
    let share = across as f64 / draws as f64;
    assert!((share - 54.0 / 90.0).abs() < 0.015, "{share}");
}

#[test]
fn walks_reach_neither_held_out_pairs_nor_other_views() {
    let params = Params {
        walks: 3,
        ..Params::default()
    };
    let params = params.check().unwrap();
    let data = data(true);
    let split = Split::share(5, 0.3);
    let prepared = Prepared::new(&data, &params, Some(split), None).unwrap();
    let training = &prepared.training;
    assert!(training.n_links() > data.graph().n_links());
    for link in training.links() {
        assert!(!split.holds_out(link.src, link.dst), "{link:?}");
        let views = [link.src, link.dst].map(|row| prepared.view_of(row as usize));
        assert!(prepared.view_pairs.contains(&views.into()), "{link:?}");
    }
    let seen = |link: &crate::data::graph::Link| !split.holds_out(link.src, link.dst);
    let total: f64 = data
        .graph()
        .links()
        .filter(seen)
        .map(|link| link.weight)
        .sum();
    assert!((training.weights().iter().sum::<f64>() / total - 1.0).abs() < 1e-12);
}

#[test]
fn a_lambda_asks_for_samples_and_training_pairs_are_counted() {
    let params = Params {
        sampling: Sampling {
            lambda: Some(3.0),
            sampler: crate::params::Sampler::Pairs,
            ..Sampling::default()
        },
        ..Params::default()
    };
    let params = params.check().unwrap();
    let data = data(false);
    let split = Split::share(1, 0.5);
    let prepared = Prepared::new(&data, &params, Some(split), None).unwrap();
    let rows = |i: u32| (i + 1..15).map(move |j| (i, j));
    let seen = (0..15).flat_map(rows);
    let seen = seen.filter(|&(i, j)| !split.holds_out(i, j)).count();
    assert_eq!(prepared.n_training_pairs(), seen as f64);
    let problem = Problem::new(&prepared, &params).unwrap();
    let plan = Plan::new(&params, &problem).unwrap();
    assert_eq!(
        (plan.solver, plan.sampling.lambda),
        (SolverKind::Sgd, Some(3.0))
    );
    assert!(plan.sampling.pair_batch <= seen);
}

#[test]
fn changing_a_held_out_link_changes_nothing_in_training() {
    let params = Params {
        dim: 3,
        walks: 2,
        propagate: 2,
        validation: Some(0.3),
        ..Params::default()
    };
    let params = params.check().unwrap();
    let original = data(false);
    let split = Split::share(5, 0.3);
    let held: Vec<_> = original
        .graph()
        .links()
        .filter(|link| split.holds_out(link.src, link.dst))
        .collect();
    assert!(!held.is_empty());
    let evaluate = |data: &Dataset| {
        let prepared = Prepared::new(data, &params, Some(split), None).unwrap();
        let problem = Problem::new(&prepared, &params).unwrap();
        let (mut engine, theta) = started(&problem);
        let mut gradient = vec![0.0; theta.len()];
        let found = engine.objective(Some(&mut gradient));
        let held_out = engine.held_out(Look::PLAIN).unwrap();
        (theta, found.unwrap().value, gradient, held_out)
    };
    let before = evaluate(&original);
    for weight in [0.0, 1000.0] {
        let changed = original
            .graph()
            .map_weights(|link| {
                if held.contains(&link) {
                    weight
                } else {
                    link.weight
                }
            })
            .unwrap();
        let after = evaluate(&original.with_graph(changed));
        assert_eq!(before.0, after.0);
        assert_eq!((before.1, &before.2), (after.1, &after.2));
        assert_ne!(before.3, after.3);
    }
}

#[test]
fn lambda_fits_the_weights_up_to_a_factor() {
    let params = Params {
        solver: Some(SolverKind::Sgd),
        sampling: Sampling {
            sampler: crate::params::Sampler::Pairs,
            lambda: Some(3.0),
            link_batch: Some(4),
            pair_batch: 10,
            ..Sampling::default()
        },
        validation: Some(0.0),
        ..Params::default()
    };
    let params = params.check().unwrap();
    let data = data(false);
    let prepared = Prepared::new(&data, &params, None, None).unwrap();
    let problem = Problem::new(&prepared, &params).unwrap();
    let plan = Plan::new(&params, &problem).unwrap();
    // k = lambda m2 |W| / (|I| m1)
    assert!((plan.k - 3.0 * 10.0 * 11.0 / (105.0 * 4.0)).abs() < 1e-12);
}

#[test]
fn starts_ignore_corrupted_weights() {
    let params = Params::default().check().unwrap();
    let gamma = |factor: f64| {
        let graph = data(false).graph().map_weights(|link| {
            if link.weight == 5.0 {
                5.0 * factor
            } else {
                link.weight
            }
        });
        let data = data(false).with_graph(graph.unwrap());
        let prepared = Prepared::new(&data, &params, None, None).unwrap();
        let problem = Problem::new(&prepared, &params).unwrap();
        started(&problem).1.pop()
    };
    assert_eq!(gamma(1.0), gamma(1e6));
}

#[test]
fn settings_that_no_encoder_reads_are_named() {
    let data = data(false);
    let notes = |encoder| {
        let params = Params {
            encoder,
            mlp: Mlp {
                batch_norm: true,
                dropout: 0.5,
                output_activation: OutputActivation::Tanh,
                ..Mlp::default()
            },
            ..Params::default()
        };
        let params = Params {
            steps: Some(2),
            ..params
        };
        let model = crate::fit(&params.check().unwrap(), &data).unwrap();
        let notes = model.report().notes.iter();
        let unused = notes.filter(|note| matches!(note, Note::Unused { .. }));
        unused.cloned().collect::<Vec<_>>()
    };
    let expected = |name: &str| Note::Unused {
        name: name.to_owned(),
        why: Unused::Encoders,
    };
    let of_mlp = ["batch-norm", "dropout", "output-activation"];
    assert_eq!(notes(None), of_mlp.map(expected));
    assert_eq!(notes(Some(EncoderKind::Mlp)), []);
}

#[test]
fn a_factor_of_the_weights_is_one_of_the_expected_weights() {
    for kind in [
        crate::params::ScoreKind::Likelihood,
        crate::params::ScoreKind::Moment,
    ] {
        let params = Params {
            dim: 2,
            score: kind,
            beta: 0.4,
            ..Params::default()
        };
        let params = params.check().unwrap();
        let data = data(true);
        let split = Split::share(5, 0.3);
        let prepared = Prepared::new(&data, &params, Some(split), None).unwrap();
        let problem = Problem::new(&prepared, &params).unwrap();
        let (mut engine, theta) = started(&problem);
        let mut shifted = theta.clone();
        for &(_, _, place) in &problem.parameters.gammas {
            shifted[place] -= 3f64.ln();
        }
        let look = Look {
            k: 3.0,
            ..Look::PLAIN
        };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * b.abs();
        let mut numbers = |theta: &[f64], look| {
            engine.load(theta).unwrap();
            (
                engine.held_out(look).unwrap().unwrap(),
                value(&mut engine, look),
            )
        };
        let [looked, moved, plain] = [
            (&theta, look),
            (&shifted, Look::PLAIN),
            (&theta, Look::PLAIN),
        ]
        .map(|(theta, look)| numbers(theta, look));
        assert!(close(looked.0, moved.0) && close(looked.1, moved.1));
        assert!(!close(looked.0, plain.0));
    }
}

#[test]
fn looks_that_would_cost_more_than_the_steps_between_them_are_estimates() {
    let ring = |n: usize| {
        let link = |i: usize| (i as u32, ((i + 1) % n) as u32, 1.0);
        let links: Vec<_> = (0..n).map(link).collect();
        Dataset::from_links(Graph::from_rows(n, &links).unwrap()).unwrap()
    };
    let check = |n: usize, solver, every_pair: bool| {
        let params = Params {
            dim: 2,
            solver: Some(solver),
            validation: Some(0.1),
            ..Params::default()
        };
        let params = params.check().unwrap();
        let data = ring(n);
        let prepared = Prepared::new(&data, &params, Some(Split::share(0, 0.1)), None).unwrap();
        let problem = Problem::new(&prepared, &params).unwrap();
        let plan = Plan::new(&params, &problem).unwrap();
        assert_eq!(plan.every_pair, every_pair, "{n} {solver}");
        assert_eq!(plan.look().estimates(n), !every_pair);
    };
    check(3_000, SolverKind::Sgd, true);
    check(30_000, SolverKind::Exact, true);
    check(30_000, SolverKind::Sgd, false);
    // Blocks of nodes stand for all of them.
    let data = ring(5_000);
    let params = Params {
        dim: 2,
        ..Params::default()
    }
    .check()
    .unwrap();
    let prepared = Prepared::new(&data, &params, Some(Split::share(0, 0.1)), None).unwrap();
    let problem = Problem::new(&prepared, &params).unwrap();
    let (mut engine, _) = started(&problem);
    let blocks = Look {
        every_pair: false,
        ..Look::PLAIN
    };
    let [exact, estimate] =
        [Look::PLAIN, blocks].map(|look| engine.held_out(look).unwrap().unwrap());
    assert!(
        exact != estimate && (estimate / exact - 1.0).abs() < 0.1,
        "{exact} {estimate}"
    );
}

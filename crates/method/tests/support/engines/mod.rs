//! What every engine must do, whoever computes. A crate with a backend of its
//! own includes this file and calls each function with it.

mod reference;
mod steps;

pub use reference::Reference;

use linkproof::{Dataset, Features, Graph, Matrix, Params};
use linkproof_method::data::dataset::NodeViews;
use linkproof_method::data::graph::{Ends, Link, LinkRules};
use linkproof_method::data::ids::Ids;
use linkproof_method::engine::objective::{Prepared, Problem};
use linkproof_method::engine::pairs::{Part, Split};
use linkproof_method::engine::{Backend, Engine, Look, OptimizerMemory, Plan};
use linkproof_method::params::{
    Activation, EncoderKind, Mlp, OptimizerKind, OutputActivation, Sampler, Sampling, ScoreKind,
    Similarity, SolverKind,
};
use linkproof_method::score::Score;

/// Numbers between -1 and 1, the same every time.
fn wave(count: usize, frequency: f64) -> Vec<f64> {
    let wave = |place: usize| (place as f64 * frequency + 0.3).sin();
    (0..count).map(wave).collect()
}

/// Links on a ring with chords, and data vectors; all nodes of one view, or two
/// kinds of nodes by turns.
fn data(n: usize, two_views: bool) -> Dataset {
    let node = |place: usize| (place % n) as u32;
    let links: Vec<(u32, u32, f64)> = (0..n)
        .flat_map(|i| [1, 7].map(|by| (node(i), node(i + by), 1.0 + (i % 3) as f64)))
        .collect();
    let graph = Graph::from_rows(n, &links).unwrap();
    let dense = |n: usize| Features::new(Matrix::dense(n, 4, wave(4 * n, 1.3)).unwrap());
    if !two_views {
        return Dataset::new(graph, dense(n)).unwrap();
    }
    let kinds: Vec<String> = (0..n)
        .map(|i| if i % 3 == 0 { "b" } else { "a" }.to_owned())
        .collect();
    let count = kinds.iter().filter(|kind| *kind == "b").count();
    let offsets: Vec<usize> = (0..=count).map(|row| 2 * row).collect();
    let columns: Vec<u32> = (0..2 * count as u32).map(|place| place % 5).collect();
    let sparse = Matrix::sparse(5, offsets, columns, wave(2 * count, 0.7)).unwrap();
    let nodes = NodeViews {
        ids: Ids::Rows(n),
        views: kinds,
        rows: None,
    };
    let vectors = vec![
        ("a".to_owned(), dense(n - count)),
        ("b".to_owned(), Features::new(sparse)),
    ];
    Dataset::with_views(graph, nodes, vectors).unwrap()
}

/// The same links with directions, so that each node is a source and a target.
fn directed(n: usize) -> Dataset {
    let node = |place: usize| (place % n) as u32;
    let links = (0..n).flat_map(|i| {
        [1, 7].map(|by| Link {
            src: node(i),
            dst: node(i + by),
            weight: 1.0 + (i % 3) as f64,
        })
    });
    let rules = LinkRules {
        ends: Ends::Directed,
        ..LinkRules::default()
    };
    let graph = Graph::new(Ids::Rows(n), links.collect(), rules).unwrap();
    let vectors = Matrix::dense(n, 4, wave(4 * n, 1.3)).unwrap();
    Dataset::new(graph, Features::new(vectors)).unwrap()
}

/// Every fourth link, to be set aside.
fn aside(data: &Dataset) -> Graph {
    let links = data.graph().links().step_by(4).collect();
    Graph::new(data.graph().ids().clone(), links, LinkRules::default()).unwrap()
}

/// The encoders that are tried.
fn encoders() -> [Params; 3] {
    let params = |encoder| Params {
        dim: 3,
        ridge: Some(0.7),
        beta: 0.4,
        encoder: Some(encoder),
        mlp: Mlp {
            hidden: vec![6, 5],
            activation: Activation::Tanh,
            ..Mlp::default()
        },
        ..Params::default()
    };
    [
        params(EncoderKind::Linear),
        Params {
            mlp: Mlp {
                batch_norm: true,
                dropout: 0.3,
                output_activation: OutputActivation::Tanh,
                ..params(EncoderKind::Mlp).mlp
            },
            input_dropout: 0.2,
            ..params(EncoderKind::Mlp)
        },
        params(EncoderKind::Table),
    ]
}

/// Calls `check` with problems of every kind: encoders, scores, one view and two,
/// pairs that are held out, judged and set aside.
pub fn each_problem(n: usize, mut check: impl FnMut(&str, &Params, &Problem<'_>)) {
    let stopping = Split::share(3, 0.2);
    let fold = Split::fold(5, 1, 4).stopping_by(Some(stopping));
    let mut place = 0;
    for params in encoders() {
        for score in ScoreKind::ALL {
            for kind in ["one view", "two views", "directed"] {
                let splits = [None, Some(stopping), Some(fold)];
                let split = splits[(place + place / 3) % 3];
                place += 1;
                let data = match kind {
                    "directed" => directed(n / 2),
                    kind => data(n, kind == "two views"),
                };
                let aside = (place % 2 == 0).then(|| aside(&data));
                // Offsets and signs by turns, and both.
                let params = Params {
                    score: *score,
                    offsets: place % 4 >= 2,
                    similarity: match place % 3 {
                        1 => Similarity::Inner,
                        _ => Similarity::Signed,
                    },
                    negative_share: 0.3,
                    ..params.clone()
                };
                let checked = params.clone().check().unwrap();
                let prepared = Prepared::new(&data, &checked, split, aside.as_ref()).unwrap();
                let problem = Problem::new(&prepared, &checked).unwrap();
                let encoder = params.encoder.unwrap();
                let name = format!("{encoder} {score} {kind} case {place}");
                check(&name, &params, &problem);
            }
        }
    }
}

/// Where a fit of a problem starts.
pub fn start(problem: &Problem<'_>) -> Vec<f64> {
    problem.start(&problem.inputs(), 0.8)
}

/// Value and gradient at some parameters.
fn objective(engine: &mut dyn Engine<f64>, theta: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; theta.len()];
    engine.load(theta).unwrap();
    let found = engine.objective(Some(&mut gradient));
    (found.unwrap().value, gradient)
}

/// How far apart two lists are, relative to the length of the second.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let length = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    let between = length(&mut a.iter().zip(b).map(|(a, b)| a - b));
    between / length(&mut b.iter().copied()).max(1e-300)
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs()
}

/// Value and gradient are those of plain loops, in both precisions, and the
/// gradient is that of the value.
pub fn values_and_gradients(backend: &dyn Backend) {
    each_problem(31, |name, _, problem| {
        let theta = start(problem);
        let mut engine = backend.double(problem).unwrap();
        let (value, gradient) = objective(&mut *engine, &theta);
        let expected = objective(&mut *Reference.double(problem).unwrap(), &theta);
        assert!(
            close(value, expected.0, 1e-9),
            "{name}: {value} {}",
            expected.0
        );
        let error = apart(&gradient, &expected.1);
        assert!(error < 1e-8, "{name}: {error}");
        // Along a few parameters of each kind.
        for place in (0..theta.len()).step_by(17).chain([theta.len() - 1]) {
            let mut at = |by: f64| {
                let mut moved = theta.clone();
                moved[place] += by;
                objective(&mut *engine, &moved).0
            };
            let h = 1e-4;
            // Richardson's extrapolation of two central differences.
            let [near, far] = [h, 2.0 * h].map(|h| (at(h) - at(-h)) / (2.0 * h));
            let slope = (4.0 * near - far) / 3.0;
            let error = (gradient[place] - slope).abs();
            assert!(
                error < 1e-6 * (1.0 + slope.abs()),
                "{name}: {place} {error}"
            );
        }
        let single: Vec<f32> = theta.iter().map(|&x| x as f32).collect();
        let mut engine = backend.single(problem).unwrap();
        engine.load(&single).unwrap();
        let mut slopes = vec![0f32; single.len()];
        let found = engine.objective(Some(&mut slopes));
        assert!(close(found.unwrap().value, value, 1e-4), "{name}");
        let slopes: Vec<f64> = slopes.iter().map(|&x| f64::from(x)).collect();
        assert!(apart(&slopes, &gradient) < 1e-3, "{name}");
    });
}

/// Sums over held-out, judged and training pairs are those of plain loops, by
/// either score and at any factor; after a pass for a gradient too.
pub fn sums_over_parts(backend: &dyn Backend) {
    each_problem(31, |name, _, problem| {
        let theta = start(problem);
        let mut engine = backend.double(problem).unwrap();
        let mut plain = Reference.double(problem).unwrap();
        for engine in [&mut engine, &mut plain] {
            engine.load(&theta).unwrap();
        }
        let other = Score::new(ScoreKind::Moment, 1.0);
        let scaled = Look {
            k: 3.0,
            ..Look::PLAIN
        };
        for part in [Part::Training, Part::HeldOut, Part::Judged] {
            for (by, look) in [(None, Look::PLAIN), (Some(&other), scaled)] {
                let found = engine.sums(part, by, look).unwrap();
                let expected = plain.sums(part, by, look).unwrap();
                assert_eq!(found.pairs, expected.pairs, "{name} {part:?}");
                assert!(close(found.value, expected.value, 1e-9), "{name} {part:?}");
            }
        }
        let fresh = engine.held_out(Look::PLAIN).unwrap();
        assert_eq!(fresh.is_some(), problem.data.held_out.is_some());
        objective(&mut *engine, &theta);
        if let (Some(fresh), Some(known)) = (fresh, engine.held_out(Look::PLAIN).unwrap()) {
            assert!(close(known, fresh, 1e-12), "{name}: {known} {fresh}");
            // Elsewhere it is another.
            let moved: Vec<f64> = theta.iter().map(|x| 1.1 * x).collect();
            engine.load(&moved).unwrap();
            assert_ne!(engine.held_out(Look::PLAIN).unwrap(), Some(known), "{name}");
        }
    });
}

/// Where all pairs are too many, the same blocks stand for them.
pub fn estimates(backend: &dyn Backend) {
    let data = data(2100, true);
    let params = Params {
        dim: 2,
        encoder: Some(EncoderKind::Linear),
        offsets: true,
        similarity: Similarity::Signed,
        ..Params::default()
    };
    let params = params.check().unwrap();
    let split = Some(Split::share(1, 0.1));
    let prepared = Prepared::new(&data, &params, split, Some(&aside(&data))).unwrap();
    let problem = Problem::new(&prepared, &params).unwrap();
    let look = Look {
        every_pair: false,
        ..Look::PLAIN
    };
    let theta = start(&problem);
    let [found, expected] = [backend, &Reference].map(|backend| {
        let mut engine = backend.double(&problem).unwrap();
        engine.load(&theta).unwrap();
        [Part::Training, Part::HeldOut].map(|part| {
            let sum = engine.sums(part, None, look).unwrap();
            [sum.value, sum.pairs]
        })
    });
    assert!(apart(&found.concat(), &expected.concat()) < 1e-9);
}

/// The ways a first-order method can take.
pub fn plans(params: &Params, problem: &Problem<'_>) -> Vec<(&'static str, Plan)> {
    let plan = |change: fn(&mut Params)| {
        let mut params = Params {
            optimizer: Some(OptimizerKind::Adam),
            solver: Some(SolverKind::Sgd),
            sampling: Sampling {
                block: Some(12),
                link_batch: Some(9),
                pair_batch: 14,
                ..Sampling::default()
            },
            ..params.clone()
        };
        change(&mut params);
        Plan::new(&params.check().unwrap(), problem).unwrap()
    };
    let blocks = |links_apart| Plan {
        links_apart,
        ..plan(|_| ())
    };
    let sweep = plan(|params| {
        params.sampling.link_batch = None;
        params.sampling.block = Some(8);
    });
    let mut plans = vec![
        (
            "all pairs",
            plan(|params| params.solver = Some(SolverKind::Exact)),
        ),
        ("blocks", blocks(false)),
        ("blocks and links", blocks(true)),
        (
            "pairs",
            plan(|params| params.sampling.sampler = Sampler::Pairs),
        ),
        (
            "momentum, clipped, in a ball",
            plan(|params| {
                params.optimizer = Some(OptimizerKind::Sgd);
                params.descent.clip = Some(0.5);
                params.descent.radius = Some(0.02);
            }),
        ),
    ];
    if sweep.turns.is_some() {
        plans.push(("sweeps", sweep));
    }
    plans
}

/// Steps see and do what plain loops see and do.
pub fn first_order_steps(backend: &dyn Backend) {
    let mut swept = 0;
    each_problem(31, |name, params, problem| {
        let theta = start(problem);
        for (way, plan) in plans(params, problem) {
            swept += usize::from(way == "sweeps");
            let mut engine = backend.double(problem).unwrap();
            let mut plain = Reference.double(problem).unwrap();
            for engine in [&mut engine, &mut plain] {
                engine.load(&theta).unwrap();
                engine.begin(&plan).unwrap();
            }
            for step in 1..=6 {
                let found = engine.step(step).unwrap();
                let expected = plain.step(step).unwrap();
                let numbers = [found.value, found.gradient_norm];
                let others = [expected.value, expected.gradient_norm];
                assert!(
                    apart(&numbers, &others) < 1e-8,
                    "{name}, {way}, step {step}"
                );
            }
            let found = engine.parameters().unwrap();
            let expected = plain.parameters().unwrap();
            assert!(apart(&found, &expected) < 1e-8, "{name}, {way}");
            assert!(apart(&found, &theta) > 1e-4, "{name}, {way}: nothing moved");
        }
    });
    assert!(swept > 0);
}

/// What is loaded is read back, and a new start forgets the steps before.
pub fn loads(backend: &dyn Backend) {
    each_problem(31, |name, params, problem| {
        let mut engine = backend.double(problem).unwrap();
        let theta = engine.start(0.8).unwrap();
        assert_eq!(theta, start(problem), "{name}");
        engine.load(&theta).unwrap();
        assert_eq!(engine.parameters().unwrap(), theta, "{name}");
        assert!(engine.step(1).is_err(), "{name}: no plan was given");
        let (_, plan) = &plans(params, problem)[0];
        let mut run = || {
            engine.load(&theta).unwrap();
            engine.begin(plan).unwrap();
            let outcomes: Vec<_> = (1..=3).map(|step| engine.step(step).unwrap()).collect();
            (outcomes, engine.parameters().unwrap())
        };
        assert_eq!(run(), run(), "{name}");
    });
}

/// A first-order method goes on from what it remembers as if nothing had happened, where
/// an engine tells; whether it does.
pub fn resumes(backend: &dyn Backend) -> bool {
    let mut tells = 0;
    each_problem(31, |name, params, problem| {
        let theta = start(problem);
        for (way, plan) in plans(params, problem) {
            let mut engine = backend.double(problem).unwrap();
            engine.load(&theta).unwrap();
            engine.begin(&plan).unwrap();
            let take = |engine: &mut dyn Engine<f64>, steps: std::ops::Range<u64>| {
                let outcomes: Vec<_> = steps.map(|step| engine.step(step).unwrap()).collect();
                (outcomes, engine.parameters().unwrap())
            };
            let (_, halfway) = take(&mut *engine, 1..4);
            let Some(memory) = engine.memory().unwrap() else {
                continue;
            };
            let memory = OptimizerMemory {
                steps: memory.steps,
                vectors: memory
                    .vectors
                    .into_iter()
                    .map(|vector| vector.into_vec().into())
                    .collect(),
            };
            tells += 1;
            let expected = take(&mut *engine, 4..7);
            let mut other = backend.double(problem).unwrap();
            other.load(&halfway).unwrap();
            other.resume(&plan, memory.clone()).unwrap();
            assert_eq!(take(&mut *other, 4..7), expected, "{name}, {way}");
            let mut less = memory;
            less.vectors.truncate(1);
            assert!(other.resume(&plan, less).is_err(), "{name}, {way}");
        }
    });
    tells > 0
}

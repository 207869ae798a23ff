//! The suite for every engine, run by a card, and its agreement with the processor at
//! sizes that fill many tiles. Where there is no card, it says so; an emulated one runs
//! the same at small sizes, wherever there is a `g++`.

// A test may fail and print.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]

mod emulator;

#[path = "../../method/tests/support/engines/mod.rs"]
mod engines;

mod passes;

use linkproof::{Dataset, Features, Graph, Matrix, Params};
use linkproof_cuda::{Cuda, Products};
use linkproof_method::engine::objective::{Prepared, Problem};
use linkproof_method::engine::pairs::Split;
use linkproof_method::engine::{Backend, Cpu, Look};
use linkproof_method::params::{Activation, EncoderKind, Mlp, ScoreKind, Similarity};
use sha2::{Digest, Sha256};

/// A part of the suite.
type Check = fn(&dyn Backend);

/// A number between -0.5 and 0.5, the same every time.
fn drawn(place: u64) -> f64 {
    let mut x = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    let square = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    let between = square(&mut a.iter().zip(b).map(|(a, b)| a - b));
    between / square(&mut b.iter().copied())
}

/// A graph of some nodes, with data vectors of so many columns if any.
fn graph(n: usize, columns: usize) -> Dataset {
    let links: Vec<(u32, u32, f64)> = (0..n as u64)
        .flat_map(|i| (1..4).map(move |k| (i, 4 * i + k)))
        .map(|(i, at)| {
            (
                i as u32,
                ((drawn(at) + 0.5) * n as f64) as u32,
                1.0 + (at % 3) as f64,
            )
        })
        .filter(|(i, j, _)| i < j && (*j as usize) < n)
        .collect();
    let mut once = links.clone();
    once.sort_unstable_by_key(|&(i, j, _)| (i, j));
    once.dedup_by_key(|&mut (i, j, _)| (i, j));
    let graph = Graph::from_rows(n, &once).unwrap();
    if columns == 0 {
        return Dataset::from_links(graph).unwrap();
    }
    let numbers: Vec<f64> = (0..(n * columns) as u64)
        .map(|at| f64::from(drawn(at + 5) as f32))
        .collect();
    let vectors = Matrix::dense(n, columns, numbers).unwrap();
    Dataset::new(graph, Features::new(vectors)).unwrap()
}

/// How far value, gradient and held-out sum of a card are from the processor's in
/// double precision: in single and in double precision.
fn distance(card: &Cuda, data: &Dataset, params: Params, split: Option<Split>) -> [f64; 2] {
    let params = params.check().unwrap();
    let prepared = Prepared::new(data, &params, split, None).unwrap();
    let problem = Problem::new(&prepared, &params).unwrap();
    // Weights of networks are so small that no similarity comes near the cap, which
    // depends on the precision.
    let spread = match params.given().encoder {
        Some(EncoderKind::Mlp) => 0.3,
        _ => 3.0 / (params.dim as f64).sqrt(),
    };
    let mut theta: Vec<f64> = (0..problem.n_params() as u64)
        .map(|k| spread * drawn(k + 77))
        .collect();
    // As single precision has them.
    *theta.last_mut().unwrap() = 2.5;
    theta.iter_mut().for_each(|x| *x = f64::from(*x as f32));
    let in_double = |backend: &dyn Backend| {
        let mut engine = backend.double(&problem).unwrap();
        engine.load(&theta).unwrap();
        let mut gradient = vec![0.0; theta.len()];
        let value = engine.objective(Some(&mut gradient)).unwrap().value;
        let held_out = engine.held_out(Look::PLAIN).unwrap();
        (value, gradient, held_out)
    };
    let (value, gradient, held_out) = in_double(&Cpu);
    let far = |found: (f64, Vec<f64>, Option<f64>)| {
        let ahead = held_out
            .zip(found.2)
            .map_or(0.0, |(a, b)| (b / a - 1.0).abs());
        assert_eq!(found.2.is_some(), held_out.is_some());
        (found.0 / value - 1.0)
            .abs()
            .max(ahead)
            .max(apart(&found.1, &gradient))
    };
    let single: Vec<f32> = theta.iter().map(|&x| x as f32).collect();
    let mut engine = card.single(&problem).unwrap();
    let mut run = || {
        engine.load(&single).unwrap();
        let mut slopes = vec![0f32; single.len()];
        let value = engine.objective(Some(&mut slopes)).unwrap().value;
        let fresh = engine.held_out(Look::PLAIN).unwrap();
        (
            value,
            slopes.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>(),
            fresh,
        )
    };
    let found = run();
    assert_eq!(found, run(), "the same bits again");
    [far(found), far(in_double(card))]
}

/// A digest of what engines find in problems of every kind, and of where steps lead.
fn bits(card: &Cuda) -> String {
    let mut digest = Sha256::new();
    engines::each_problem(150, |_, params, problem| {
        let theta = engines::start(problem);
        let mut engine = card.double(problem).unwrap();
        let mut gradient = vec![0.0; theta.len()];
        engine.load(&theta).unwrap();
        let found = engine.objective(Some(&mut gradient));
        let held_out = engine.held_out(Look::PLAIN).unwrap();
        gradient.extend([found.unwrap().value, held_out.unwrap_or_default()]);
        for (_, plan) in engines::plans(params, problem) {
            engine.load(&theta).unwrap();
            engine.begin(&plan).unwrap();
            gradient.extend((1..3).map(|step| engine.step(step).unwrap().value));
            gradient.extend(engine.parameters().unwrap());
        }
        let single: Vec<f32> = theta.iter().map(|&x| x as f32).collect();
        let mut engine = card.single(problem).unwrap();
        let mut slopes = vec![0f32; single.len()];
        engine.load(&single).unwrap();
        let found = engine.objective(Some(&mut slopes));
        gradient.extend(slopes.iter().map(|&x| f64::from(x)));
        gradient.push(found.unwrap().value);
        assert!(gradient.iter().all(|x| x.is_finite()));
        gradient
            .iter()
            .for_each(|x| digest.update(x.to_bits().to_le_bytes()));
    });
    let digest = digest.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The suite for every engine.
const SUITE: [(&str, Check); 5] = [
    ("values_and_gradients", engines::values_and_gradients),
    ("sums_over_parts", engines::sums_over_parts),
    ("estimates", engines::estimates),
    ("first_order_steps", engines::first_order_steps),
    ("loads", engines::loads),
];

fn run_suite(card: &Cuda) {
    println!("engines on {}", card.name());
    for (name, check) in SUITE {
        let clock = std::time::Instant::now();
        check(card);
        println!("{name}, {:.1} s: ok", clock.elapsed().as_secs_f64());
    }
    assert!(engines::resumes(card));
    println!("resumes: ok");
    passes::shares_of_passes(card);
}

/// Agreement with the processor, of every score and kind of rule.
fn agree(card: &Cuda, sizes: &[(usize, usize)]) {
    let plain = card.clone().products(Products::Plain);
    let fast = card.clone().products(Products::Fast);
    let stopping = Split::share(3, 0.1);
    let fold = Split::node_fold(5, 1, 4).stopping_by(Some(stopping));
    for &(n, dim) in sizes {
        let data = graph(n, 0);
        for score in ScoreKind::ALL {
            for split in [None, Some(stopping), Some(fold)] {
                let params = Params {
                    dim,
                    score: *score,
                    beta: 0.5,
                    ridge: Some(0.1),
                    encoder: Some(EncoderKind::Table),
                    ..Params::default()
                };
                let exact = distance(card, &data, params.clone(), split);
                let [single, double] = exact;
                let quick = distance(&fast, &data, params.clone(), split)[0];
                let by_loops = distance(&plain, &data, params, split)[0];
                let rules = split.map_or(0, |split| split.rules().iter().flatten().count());
                println!(
                    "{n} x {dim} {score} {rules} rules: exact {single:.1e}, plain {by_loops:.1e}, \
                     fast {quick:.1e}, double {double:.1e}"
                );
                assert!(single < 2e-6 && by_loops < 2e-6 && quick < 2e-3 && double < 1e-10);
            }
        }
    }
    println!("agreement with the processor: ok");
}

/// The same for networks, offsets and signs, alone and together.
fn agree_as_whole(card: &Cuda, sizes: &[(usize, usize)]) {
    let plain = Params {
        score: ScoreKind::Moment,
        beta: 0.5,
        ridge: Some(0.1),
        encoder: Some(EncoderKind::Linear),
        mlp: Mlp {
            hidden: vec![70, 33],
            ..Mlp::default()
        },
        ..Params::default()
    };
    let network = Params {
        encoder: Some(EncoderKind::Mlp),
        ..plain.clone()
    };
    let normed = Params {
        mlp: Mlp {
            batch_norm: true,
            dropout: 0.4,
            activation: Activation::Relu,
            ..network.mlp.clone()
        },
        input_dropout: 0.2,
        ..network.clone()
    };
    let signed = Params {
        similarity: Similarity::Signed,
        negative_share: 0.3,
        ..plain.clone()
    };
    let cases = [
        (
            "offsets",
            Params {
                offsets: true,
                ..plain.clone()
            },
        ),
        ("signs", signed.clone()),
        (
            "offsets and signs of a table",
            Params {
                offsets: true,
                encoder: Some(EncoderKind::Table),
                ..signed.clone()
            },
        ),
        (
            "dropout of a linear map",
            Params {
                input_dropout: 0.3,
                ..plain
            },
        ),
        ("network", network),
        ("network with dropout and norms", normed.clone()),
        (
            "network with everything",
            Params {
                offsets: true,
                similarity: Similarity::Signed,
                negative_share: 0.3,
                ..normed
            },
        ),
    ];
    for &(n, dim) in sizes {
        let data = graph(n, 40);
        for (name, params) in &cases {
            let params = Params {
                dim,
                ..params.clone()
            };
            let [single, double] =
                distance(card, &data, params.clone(), Some(Split::share(3, 0.1)));
            println!("{n} x {dim} {name}: exact {single:.1e}, double {double:.1e}");
            assert!(single < 2e-6 && double < 1e-10);
        }
    }
    println!("agreement with the processor as a whole: ok");
}

fn on_a_card() {
    if Cuda::count() == 0 {
        println!("engines on a card: skipped, this machine has no NVIDIA card");
        return;
    }
    let card = Cuda::open(0).unwrap();
    run_suite(&card);
    engines::values_and_gradients(&card.clone().products(Products::Plain));
    engines::values_and_gradients(&card.clone().products(Products::Fast));
    agree(
        &card,
        &[(129, 5), (700, 64), (1500, 100), (2500, 128), (900, 200)],
    );
    agree_as_whole(&card, &[(129, 5), (1500, 62), (2500, 126)]);
}

/// The same on the emulated card, in several orders of blocks and threads.
fn on_the_emulated_card() {
    let folder = match emulator::built() {
        Ok(folder) => folder,
        Err(why) => {
            println!("engines on an emulated card: skipped, {why}");
            return;
        }
    };
    emulator::equipment::finds_what_it_is_for(&folder);
    let orders = ["ascending", "descending", "7"];
    let found = orders.map(|order| emulator::run(&folder, "bits", order));
    assert!(
        found.iter().all(|bits| *bits == found[0]),
        "results depend on the order of blocks or threads"
    );
    println!("the same bits in every order of blocks and threads: ok");
    print!("{}", emulator::run(&folder, "suite", "descending"));
}

fn main() {
    let card = || Cuda::open(0).unwrap();
    match emulator::task().as_deref() {
        None => {
            on_a_card();
            on_the_emulated_card();
        }
        Some("suite") => {
            run_suite(&card());
            agree(&card(), &[(129, 5), (260, 20), (70, 140)]);
            agree_as_whole(&card(), &[(129, 5), (300, 20)]);
        }
        Some("bits") => println!("{}", bits(&card())),
        Some(task) => emulator::equipment::run(task),
    }
}

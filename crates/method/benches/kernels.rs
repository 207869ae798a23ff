//! The inner loops: `cargo bench -p linkproof`. What a user waits for is
//! measured by `bench/run`.

// Compared with the system's functions.
#![allow(clippy::disallowed_methods)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use linkproof_files::read_links;
use linkproof_method::engine::encoder::{Input, Network, NetworkSpec, Pass};
use linkproof_method::engine::objective::evaluate;
use linkproof_method::error::Result;
use linkproof_method::params::{Encoder, EncoderKind, Mlp, ScoreKind};
use linkproof_method::score::{Kernel, Score};
use linkproof_method::{Graph, Matrix};
use linkproof_numeric::real::Real;

const ROW: usize = 4096;
const DIM: usize = 128;
const BETA: f64 = 0.5;

/// Numbers around zero, the same every time.
fn numbers<T: Real>(count: usize, scale: f64) -> Vec<T> {
    let wave = |place: usize| (place as f64 * 12.9898).sin() * scale;
    (0..count).map(|place| T::of(wave(place))).collect()
}

/// What every pair pays, over a row of similarities.
fn score_rows<T: Real>(c: &mut Criterion, precision: &str) {
    let mut group = c.benchmark_group(format!("score a row, {precision}"));
    group.throughput(Throughput::Elements(ROW as u64));
    let start = numbers::<T>(ROW, 1.0);
    let mask = vec![T::ONE; ROW];
    let mut s = start.clone();
    for kind in [ScoreKind::Moment, ScoreKind::Probability] {
        let kernel = Kernel::<T>::new(&Score::new(kind, BETA));
        for (name, mask) in [("all", None), ("masked", Some(mask.as_slice()))] {
            group.bench_function(BenchmarkId::new(kind.name(), name), |b| {
                b.iter(|| {
                    s.copy_from_slice(&start);
                    kernel.apply(black_box(&mut s), T::of(7.0), mask)
                });
            });
        }
    }
    group.finish();
}

/// The likelihood's row is one `exp` a pair and little else.
fn exponential(c: &mut Criterion) {
    let mut group = c.benchmark_group("exp of a row, f32");
    group.throughput(Throughput::Elements(ROW as u64));
    let start = numbers::<f32>(ROW, 5.0);
    let mut s = start.clone();
    let kernel = Kernel::<f32>::new(&Score::new(ScoreKind::Likelihood, 0.0));
    group.bench_function("ours, with its sums", |b| {
        b.iter(|| {
            s.copy_from_slice(&start);
            kernel.apply(black_box(&mut s), 0.0, None)
        });
    });
    group.bench_function("the standard library's", |b| {
        b.iter(|| {
            s.copy_from_slice(&start);
            black_box(&mut s).iter_mut().for_each(|x| *x = x.exp());
        });
    });
    group.finish();
}

/// Value and gradient over all pairs.
fn exact_pass(c: &mut Criterion) {
    let mut group = c.benchmark_group("all pairs, f32, K = 128");
    group.sample_size(10);
    for n in [2000usize, 5000] {
        group.throughput(Throughput::Elements((n * (n - 1) / 2) as u64));
        let y = numbers::<f32>(n * DIM, 0.1);
        let rows = n as u32;
        let links: Vec<_> = (0..rows).map(|i| (i, (i + 1) % rows, 1.0)).collect();
        let Ok(graph) = Graph::from_rows(n, &links) else {
            continue;
        };
        for kind in [ScoreKind::Moment, ScoreKind::Probability] {
            let score = Score::new(kind, BETA);
            group.bench_function(BenchmarkId::new(kind.name(), n), |b| {
                b.iter(|| evaluate(black_box(&y), DIM, &graph, 7.0, &score, true));
            });
        }
    }
    group.finish();
}

/// Sparse data vectors of Cora's shape: 512 rows of about 18 words.
fn words() -> Result<Matrix> {
    let (rows, columns, each) = (512, 1433, 18);
    let offsets: Vec<usize> = (0..=rows).map(|row| row * each).collect();
    let stride = columns / each;
    let places = (0..rows * each).map(|place| {
        let (row, word) = (place / each, place % each);
        (word * stride + row % stride) as u32
    });
    Matrix::sparse(
        columns,
        offsets,
        places.collect::<Vec<u32>>(),
        vec![0.2f32; rows * each],
    )
}

/// The paper's network, there and back.
fn encoder(c: &mut Criterion) {
    let mut group = c.benchmark_group("512 sparse rows, 1433-3000-100");
    group.sample_size(10);
    let Ok(matrix) = words() else {
        return;
    };
    let input = Input::<f32>::new(&matrix);
    let settings = Mlp {
        batch_norm: true,
        ..Mlp::default()
    };
    let network = Network::new(NetworkSpec {
        encoder: Encoder::new(EncoderKind::Mlp, &settings),
        inputs: 1433,
        outputs: 100,
    });
    let params = network.start(&input, 0, 0, 1.0);
    let batch = input.all();
    let mut pass = Pass::default();
    group.bench_function("forward", |b| {
        b.iter(|| network.forward(black_box(&params), &batch, None, &mut pass));
    });
    network.forward(&params, &batch, None, &mut pass);
    let mut slopes = numbers::<f32>(512 * 100, 0.01);
    let mut gradient = vec![0.0f32; network.n_params()];
    group.bench_function("backward", |b| {
        b.iter(|| {
            let derivative = (slopes.as_mut_slice(), 0.0);
            network.backward(
                &params,
                &batch,
                &mut pass,
                derivative,
                black_box(&mut gradient),
            );
        });
    });
    group.finish();
}

/// Links from text to a graph.
fn parsing(c: &mut Criterion) {
    const LINKS: usize = 100_000;
    let mut group = c.benchmark_group("links from CSV");
    group.throughput(Throughput::Elements(LINKS as u64));
    for (name, prefix) in [("integer ids", ""), ("text ids", "user-")] {
        let mut text = String::from("src,dst\n");
        for link in 0..LINKS {
            let (a, b) = (link % 10_007, (link * 7919 + 1) % 10_009 + 10_007);
            text.push_str(&format!("{prefix}{a},{prefix}{b}\n"));
        }
        let Ok(folder) = tempfile::tempdir() else {
            continue;
        };
        let path = folder.path().join("links.csv");
        if std::fs::write(&path, text).is_err() {
            continue;
        }
        group.bench_function(name, |b| {
            b.iter(|| read_links(black_box(&path), &Default::default()));
        });
    }
    group.finish();
}

fn rows(c: &mut Criterion) {
    score_rows::<f32>(c, "f32");
    score_rows::<f64>(c, "f64");
}

criterion_group!(kernels, rows, exponential, exact_pass, encoder, parsing);
criterion_main!(kernels);

//! Whole fits give the bits that are written down here: on every instruction
//! set that the machine has, and at any number of threads.
//!
//! Each instruction set gets a process of its own, which computes everything
//! and prints a digest a line. Where a change means to change results, run
//! `LINKPROOF_GOLDEN=write cargo test --release -p linkproof --test golden` and
//! say in the changelog what changed.

// A test may fail.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use linkproof_method::data::features::Matrix;
use linkproof_method::measure::KMeans;
use linkproof_method::params::{
    Activation, EncoderKind, Mlp, OptimizerKind, Precision, Sampler, Sampling, ScoreKind,
    SolverKind,
};
use linkproof_method::select::{Grid, Search};
use linkproof_method::{Dataset, Features, Graph, Params};
use linkproof_pictures::layout::{Method, layout};

/// The variable that tells a process to compute, or to write the digests down.
const TASK: &str = "LINKPROOF_GOLDEN";

#[test]
fn fits_have_their_bits_on_every_instruction_set_at_any_number_of_threads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt");
    if std::env::var(TASK).is_ok_and(|task| task == "compute") {
        return compute();
    }
    let found: Vec<_> = ["plain", "avx2", "avx512"]
        .into_iter()
        .zip(1..)
        .filter_map(|(instructions, threads)| Some((instructions, digests(instructions, threads)?)))
        .collect();
    let (_, first) = found.first().unwrap();
    if std::env::var(TASK).is_ok_and(|task| task == "write") {
        std::fs::write(&path, first).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    for (instructions, digests) in &found {
        for (found, golden) in digests.lines().zip(golden.lines()) {
            assert_eq!(found, golden, "{instructions}");
        }
        assert_eq!(digests.lines().count(), golden.lines().count());
    }
}

/// The digests by an instruction set; none where the machine does not have it.
fn digests(instructions: &str, threads: usize) -> Option<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .arg("--nocapture")
        .env(TASK, "compute")
        .env("LINKPROOF_INSTRUCTIONS", instructions)
        .env("RAYON_NUM_THREADS", threads.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if text.contains("the machine lacks these instructions") {
        eprintln!("skipped: this machine has no {instructions}");
        return None;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{instructions}: {text}{errors}");
    let lines = text.lines().filter_map(|line| line.strip_prefix("golden "));
    Some(lines.map(|line| format!("{line}\n")).collect())
}

/// What the processes of single instruction sets do.
fn compute() {
    let has_fused_operation = cfg!(not(target_arch = "x86_64")) || has_fma();
    if linkproof_method::instructions().is_err() || !has_fused_operation {
        println!("the machine lacks these instructions");
        return;
    }
    for line in golden_lines().lines() {
        println!("golden {line}");
    }
}

#[cfg(target_arch = "x86_64")]
fn has_fma() -> bool {
    is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_fma() -> bool {
    true
}

fn golden_lines() -> String {
    let mut lines = String::new();
    let (data, linked) = (planted(true), planted(false));
    for (name, params) in fits() {
        let fitted = linkproof_method::fit(&params.check().unwrap(), &data).unwrap();
        let digest = digest(fitted.embeddings().iter().map(|x| u64::from(x.to_bits())));
        let value = fitted.report().value.to_bits();
        writeln!(lines, "{name} {digest:016x} {value:016x}").unwrap();
        if name == "exact-moment" {
            lines.push_str(&pictures(fitted.embeddings(), 9));
        }
    }
    for (name, params) in tables() {
        let fitted = linkproof_method::fit(&params.check().unwrap(), &linked).unwrap();
        let digest = digest(fitted.embeddings().iter().map(|x| u64::from(x.to_bits())));
        let value = fitted.report().value.to_bits();
        writeln!(lines, "{name} {digest:016x} {value:016x}").unwrap();
    }
    lines.push_str(&selection(&data));
    lines.push_str(&robust(&data));
    lines
}

/// Fits with data vectors.
fn fits() -> Vec<(&'static str, Params)> {
    let short = Params {
        dim: 9,
        steps: Some(15),
        ..Params::default()
    };
    let exact = Params {
        solver: Some(SolverKind::Exact),
        ..short.clone()
    };
    let network = Params {
        encoder: Some(EncoderKind::Mlp),
        mlp: Mlp {
            hidden: vec![45, 20],
            batch_norm: true,
            dropout: 0.3,
            ..Mlp::default()
        },
        input_dropout: 0.1,
        ..short.clone()
    };
    let blocks = Params {
        solver: Some(SolverKind::Sgd),
        sampling: Sampling {
            block: Some(300),
            ..Sampling::default()
        },
        ..short.clone()
    };
    vec![
        ("exact-moment", exact.clone()),
        (
            "exact-likelihood-double",
            Params {
                score: ScoreKind::Likelihood,
                precision: Precision::F64,
                ..exact.clone()
            },
        ),
        (
            "exact-probability",
            Params {
                score: ScoreKind::Probability,
                beta: 0.5,
                validation: Some(0.1),
                ..exact.clone()
            },
        ),
        (
            "exact-probability-double",
            Params {
                score: ScoreKind::Probability,
                precision: Precision::F64,
                ..exact.clone()
            },
        ),
        (
            "walks-adam",
            Params {
                walks: 3,
                optimizer: Some(OptimizerKind::Adam),
                ..exact.clone()
            },
        ),
        (
            "propagated",
            Params {
                propagate: 2,
                ..exact
            },
        ),
        ("stochastic-blocks", blocks.clone()),
        (
            "stochastic-pairs",
            Params {
                sampling: Sampling {
                    sampler: Sampler::Pairs,
                    ..blocks.sampling.clone()
                },
                optimizer: Some(OptimizerKind::Sgd),
                ..blocks
            },
        ),
        (
            "network-exact",
            Params {
                solver: Some(SolverKind::Exact),
                ..network.clone()
            },
        ),
        (
            "network-stochastic",
            Params {
                solver: Some(SolverKind::Sgd),
                mlp: Mlp {
                    activation: Activation::Relu,
                    ..network.mlp.clone()
                },
                precision: Precision::F64,
                ..network
            },
        ),
    ]
}

/// Fits without data vectors.
fn tables() -> Vec<(&'static str, Params)> {
    let table = Params {
        dim: 6,
        steps: Some(10),
        ..Params::default()
    };
    vec![
        ("table-exact", table.clone()),
        (
            "table-sweeps",
            Params {
                solver: Some(SolverKind::Sgd),
                sampling: Sampling {
                    block: Some(256),
                    ..Sampling::default()
                },
                ..table
            },
        ),
    ]
}

/// Layouts and clusters of embeddings.
fn pictures(y: &[f32], dim: usize) -> String {
    let n = y.len() / dim;
    let mut lines = String::new();
    for (name, method) in [
        ("layout", Method::Neighbors),
        ("principal", Method::Principal),
    ] {
        let layout = layout(y, n, dim, Some(method), 3, &mut |_, _| true).unwrap();
        let bits = layout.points.iter().flatten();
        let digest = digest(bits.map(|x| u64::from(x.to_bits())));
        writeln!(lines, "{name} {digest:016x}").unwrap();
    }
    let clusters = KMeans::new(4, 5).fit(y, n, dim).unwrap();
    let digest = digest(clusters.labels.iter().map(|&label| u64::from(label)));
    let inertia = clusters.inertia.to_bits();
    writeln!(lines, "clusters {digest:016x} {inertia:016x}").unwrap();
    lines
}

/// A small search, with every candidate's criterion on every fold.
fn selection(data: &Dataset) -> String {
    let params = Params {
        dim: 4,
        ..Params::default()
    };
    let search = Search {
        grid: Grid {
            ridges: vec![0.3, 3.0, 30.0],
            ..Grid::around(&params)
        },
        folds: 3,
        ..Search::around(&params)
    };
    let found =
        linkproof_method::select(&params, data, &search, linkproof_method::Runtime::default())
            .unwrap();
    let criteria = found.candidates.iter().flat_map(|found| &found.folds);
    let digest = digest(criteria.map(|(_, criterion)| criterion.to_bits()));
    format!("select {digest:016x}\n")
}

/// A robust fit: its embeddings, and how far each link is believed.
fn robust(data: &Dataset) -> String {
    let params = Params {
        dim: 8,
        ..Params::default()
    };
    let recipe = linkproof_method::robust::Recipe::default();
    let runtime = linkproof_method::Runtime::default();
    let found =
        linkproof_method::robust::fit_robust(&params.check().unwrap(), data, &recipe, runtime)
            .unwrap();
    let beliefs = found
        .judgment
        .links
        .iter()
        .map(|link| link.belief.to_bits());
    let (y, beliefs) = (
        digest(found.embeddings().iter().map(|x| u64::from(x.to_bits()))),
        digest(beliefs),
    );
    format!("robust {y:016x} {beliefs:016x}\n")
}

/// A graph of 700 nodes in four groups: more than one tile of pairs, more than
/// one block of a sampler.
fn planted(with_vectors: bool) -> Dataset {
    const N: usize = 700;
    let mut state = 0x5851_f42d_4c95_7f2du64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut links = Vec::new();
    for i in 0..N as u32 {
        for j in i + 1..N as u32 {
            let chance = if i % 4 == j % 4 { 0.035 } else { 0.0015 };
            if next() < chance {
                links.push((i, j, 1.0 + (next() * 3.0).floor()));
            }
        }
    }
    let graph = Graph::from_rows(N, &links).unwrap();
    if !with_vectors {
        return Dataset::from_links(graph).unwrap();
    }
    let mut x = Vec::new();
    for i in 0..N {
        for column in 0..7 {
            x.push(f64::from(u8::from(i % 4 == column)) + 0.6 * (next() - 0.5));
        }
    }
    let features = Features::new(Matrix::dense(N, 7, x).unwrap());
    Dataset::new(graph, features).unwrap()
}

/// FNV-1a over whole words.
fn digest(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

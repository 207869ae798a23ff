//! Times value and gradient over all pairs on a card, through the engine:
//! `pairs NODES DIM [exact|fast|plain] [moment|probability|likelihood] [held-out share]`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Instant;

use linkproof::{Dataset, Graph, Params};
use linkproof_cuda::{Cuda, Products};
use linkproof_method::engine::Backend;
use linkproof_method::engine::objective::{Prepared, Problem};
use linkproof_method::engine::pairs::{Split, TileShare};
use linkproof_method::params::{EncoderKind, ScoreKind};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |place: usize, default: &'static str| {
        args.get(place).map_or(default, String::as_str).to_owned()
    };
    let n: usize = arg(0, "20000").parse().unwrap();
    let dim: usize = arg(1, "128").parse().unwrap();
    let products = match arg(2, "exact").as_str() {
        "exact" => Products::Exact,
        "fast" => Products::Fast,
        _ => Products::Plain,
    };
    let score = match arg(3, "moment").as_str() {
        "moment" => ScoreKind::Moment,
        "probability" => ScoreKind::Probability,
        _ => ScoreKind::Likelihood,
    };
    let share: f64 = arg(4, "0").parse().unwrap();
    let card = Cuda::open(0).unwrap().products(products);
    let links: Vec<(u32, u32, f64)> = (0..n as u32 - 1)
        .flat_map(|i| [(i, i + 1, 1.0), (i / 2, i + 1, 2.0)])
        .filter(|(i, j, w)| i < j && (*w == 1.0 || i + 1 != *j))
        .collect();
    let data = Dataset::from_links(Graph::from_rows(n, &links).unwrap()).unwrap();
    let params = Params {
        dim,
        score,
        encoder: Some(EncoderKind::Table),
        ..Params::default()
    };
    let params = params.check().unwrap();
    let split = (share > 0.0).then(|| Split::share(1, share));
    let prepared = Prepared::new(&data, &params, split, None).unwrap();
    let problem = Problem::new(&prepared, &params).unwrap();
    let mut engine = card.single(&problem).unwrap();
    let mut theta = engine.start(1.2).unwrap();
    let mut gradient = vec![0f32; theta.len()];
    let mut times = Vec::new();
    for round in 0..7 {
        theta[round] += 1e-3;
        engine.load(&theta).unwrap();
        let start = Instant::now();
        let found = engine
            .objective(TileShare::WHOLE, Some(&mut gradient))
            .unwrap();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        assert!(found.value.is_finite());
    }
    times[1..].sort_by(f64::total_cmp);
    println!(
        "{n} x {dim} {score} {products:?} held out {share}: first {:.2} ms, then {:.2} ms (median)",
        times[0], times[4]
    );
}

//! Times value and gradient over all pairs on a card, and through the engine:
//! `pairs NODES DIM [exact|fast|plain] [moment|probability|likelihood] [held-out share]`.
//! Prints a line of JSON.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use linkproof::{Dataset, Graph, Params};
use linkproof_cuda::{Cuda, Products};
use linkproof_method::engine::Backend;
use linkproof_method::engine::objective::{Prepared, Problem};
use linkproof_method::engine::pairs::Split;
use linkproof_method::params::{EncoderKind, ScoreKind};

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    1e3 * times[times.len() / 2]
}

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
    let score: ScoreKind = arg(3, "moment").parse().unwrap();
    let share: f64 = arg(4, "0").parse().unwrap();
    let card = Cuda::open(0).unwrap().products(products);
    let params = Params {
        dim,
        score,
        encoder: Some(EncoderKind::Table),
        ..Params::default()
    };
    let params = params.check().unwrap();
    let split = (share > 0.0).then(|| Split::share(1, share));
    let free = card.memory().unwrap().0;
    let least = AtomicUsize::new(free);
    let done = AtomicBool::new(false);
    let capped = params.score().capped::<f32>();
    let repeats = if n > 300_000 { 3 } else { 9 };
    let on_card = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                least.fetch_min(card.memory().unwrap().0, Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        let times = card.time_of_pairs(n, dim, &capped, split, repeats).unwrap();
        done.store(true, Ordering::Relaxed);
        median(times)
    });
    let mut through = f64::NAN;
    // Of value and gradient, against double precision on the card.
    let mut wrong = [f64::NAN; 2];
    let memory = free - least.load(Ordering::Relaxed);
    if n <= 100_000 {
        let links: Vec<(u32, u32, f64)> = (0..n as u32 - 1)
            .flat_map(|i| [(i, i + 1, 1.0), (i / 2, i + 1, 2.0)])
            .filter(|(i, j, w)| i < j && (*w == 1.0 || i + 1 != *j))
            .collect();
        let data = Dataset::from_links(Graph::from_rows(n, &links).unwrap()).unwrap();
        let prepared = Prepared::new(&data, &params, split, None).unwrap();
        let problem = Problem::new(&prepared, &params).unwrap();
        let mut engine = card.single(&problem).unwrap();
        let mut theta = engine.start(1.2).unwrap();
        // As long as embeddings of a fit are; the factors gamma are at the end.
        let embeddings = n * dim;
        let squares: f64 = theta[..embeddings]
            .iter()
            .map(|x| f64::from(*x).powi(2))
            .sum();
        let longer = 1.05 / (dim as f64).sqrt().sqrt() / (squares / embeddings as f64).sqrt();
        theta[..embeddings]
            .iter_mut()
            .for_each(|x| *x *= longer as f32);
        let mut gradient = vec![0f32; theta.len()];
        let mut times = Vec::new();
        for round in 0..8 {
            theta[round] += 1e-3;
            let clock = Instant::now();
            engine.load(&theta).unwrap();
            let found = engine.objective(Some(&mut gradient)).unwrap();
            times.push(clock.elapsed().as_secs_f64());
            assert!(found.value.is_finite());
        }
        through = median(times.split_off(1));
        let mut exact = card.double(&problem).unwrap();
        let wide: Vec<f64> = theta.iter().map(|x| f64::from(*x)).collect();
        let mut expected = vec![0f64; wide.len()];
        exact.load(&wide).unwrap();
        let right = exact.objective(Some(&mut expected)).unwrap();
        let found = engine.objective(Some(&mut gradient)).unwrap();
        let square = |x: f64| x * x;
        let apart: f64 = gradient
            .iter()
            .zip(&expected)
            .map(|(g, e)| square(f64::from(*g) - e))
            .sum();
        let norm: f64 = expected.iter().map(|e| square(*e)).sum();
        wrong = [
            ((found.value - right.value) / right.value).abs(),
            (apart / norm).sqrt(),
        ];
    }
    println!(
        "{{\"nodes\": {n}, \"dim\": {dim}, \"products\": \"{products:?}\", \"score\": \"{score}\", \
         \"held_out\": {share}, \"card_ms\": {on_card:.3}, \"engine_ms\": {through:.2}, \
         \"memory_mb\": {}, \"value_error\": {:.1e}, \"gradient_error\": {:.1e}}}",
        memory / 1_000_000,
        wrong[0],
        wrong[1]
    );
}

use super::*;
use crate::data::features::Matrix;
use crate::data::graph::Graph;
use crate::params::ScoreKind;
use linkproof_numeric::math;

/// A Poisson count.
fn count(random: &mut ChaCha8Rng, mean: f64) -> f64 {
    let (mut term, mut found) = (math::exp(-mean), 0.0);
    let mut u: f64 = random.random();
    while u > term && found < 1e4 {
        u -= term;
        found += 1.0;
        term *= mean / found;
    }
    found
}

/// Nodes with data vectors of four numbers, and counts with these logarithms of
/// expected weights.
fn simulated(vectors: &Matrix, log_mu: impl Fn(usize, usize) -> f64, seed: u64) -> Dataset {
    let n = vectors.n_rows();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut links = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let weight = count(&mut random, math::exp(log_mu(i, j)));
            if weight > 0.0 {
                links.push((i as u32, j as u32, weight));
            }
        }
    }
    let graph = Graph::from_rows(n, &links).unwrap();
    Dataset::new(graph, Features::new(vectors.clone())).unwrap()
}

fn vectors(n: usize) -> Matrix {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let values: Vec<f64> = (0..4 * n).map(|_| random.random_range(-1.0..1.0)).collect();
    Matrix::dense(n, 4, values).unwrap()
}

fn params() -> CheckedParams {
    let params = Params {
        dim: 2,
        score: ScoreKind::Likelihood,
        beta: 0.0,
        ridge: 1e-3,
        validation: Some(0.0),
        normalize: crate::params::Normalize::None,
        ..Params::default()
    };
    params.check().unwrap()
}

/// A fit, and the data of a graph that is simulated from it.
fn fitted(n: usize, seed: u64) -> (Fitted, Dataset) {
    let x = vectors(n);
    let value = |row: usize, k: usize| x.row(row)[k].1;
    let truth =
        |i: usize, j: usize| 1.2 * value(i, 0) * value(j, 0) + value(i, 1) * value(j, 1) - 1.5;
    let data = simulated(&x, truth, 100 + seed);
    let first = crate::fit(&params(), &data).unwrap();
    let log_mu = |i: usize, j: usize| math::ln(first.mu(i, j));
    let again = simulated(&x, log_mu, 200 + seed);
    (first, again)
}

#[test]
fn intervals_hold_what_the_graph_was_simulated_from() {
    let (mut held, mut all) = (0.0, 0.0);
    for seed in 0..30 {
        let (truth, data) = fitted(80, seed);
        let model = crate::fit(&params(), &data).unwrap();
        let found = bootstrap(&params(), &data, &model, 60, Runtime::default()).unwrap();
        let model = model.with_replicates(found).unwrap();
        for i in 0..80 {
            for j in i + 1..80 {
                let (low, high) = model.spread(i, j).unwrap().interval;
                let log_mu = math::ln(truth.mu(i, j));
                held += f64::from(u8::from(low <= log_mu && log_mu <= high));
                all += 1.0;
            }
        }
    }
    let share: f64 = held / all;
    assert!((0.85..=0.95).contains(&share), "{share}");
}

#[test]
fn the_spread_shrinks_as_the_graph_grows() {
    let error = |n: usize| {
        let (_, data) = fitted(n, 1);
        let model = crate::fit(&params(), &data).unwrap();
        let found = bootstrap(&params(), &data, &model, 30, Runtime::default()).unwrap();
        let model = model.with_replicates(found).unwrap();
        let errors = (0..40).map(|i| model.spread(i, 40 + i % 3).unwrap().error);
        errors.sum::<f64>() / 40.0
    };
    let (small, large) = (error(60), error(180));
    // Three times the nodes, nine times the pairs.
    assert!(
        large < 0.55 * small && large > 0.15 * small,
        "{small} {large}"
    );
}

#[test]
fn neighbours_and_clusters_are_told_how_stable_they_are() {
    let (_, data) = fitted(90, 2);
    let model = crate::fit(&params(), &data).unwrap();
    let found = bootstrap(&params(), &data, &model, 20, Runtime::default()).unwrap();
    let model = model.with_replicates(found).unwrap();
    let near = model.neighbors(model.point(3), 5, Some(3), None).unwrap();
    let near: Vec<usize> = near.iter().map(|it| it.row).collect();
    let stable = model.stability(3, &near).unwrap();
    assert!(stable.iter().all(|share| (0.0..=1.0).contains(share)));
    let far: Vec<usize> = {
        let all = model.neighbors(model.point(3), 89, Some(3), None).unwrap();
        all[84..].iter().map(|it| it.row).collect()
    };
    let sum = |list: &[f64]| list.iter().sum::<f64>();
    assert!(sum(&stable) > 1.0 + sum(&model.stability(3, &far).unwrap()));
    let clusters = KMeans::new(3, 0)
        .fit(model.embeddings(), 90, 2)
        .unwrap()
        .labels;
    let shares = model.together(&clusters, 0).unwrap().unwrap();
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
    assert!(sum(&shares) / 90.0 > 0.5, "{}", sum(&shares) / 90.0);
}

#[test]
fn free_vectors_are_compared_where_both_nodes_took_part() {
    let (_, data) = fitted(60, 3);
    let links = Dataset::from_links(data.graph().clone()).unwrap();
    let params = Params {
        ridge: 1.0,
        ..params().given().clone()
    };
    let params = params.check().unwrap();
    let model = crate::fit(&params, &links).unwrap();
    let found = bootstrap(&params, &links, &model, 24, Runtime::default()).unwrap();
    let model = model.with_replicates(found).unwrap();
    let drawn = |part: &Replicate| {
        part.has
            .as_ref()
            .map_or(60, |has| has.iter().filter(|it| **it).count())
    };
    assert!(
        model
            .replicates()
            .unwrap()
            .parts
            .iter()
            .all(|part| (25..58).contains(&drawn(part)))
    );
    assert!(model.spread(0, 1).is_some_and(|spread| spread.error > 0.0));
    let few = bootstrap(&params, &links, &model, 2, Runtime::default());
    assert!(few.unwrap_err().to_string().contains("at least 5"));
}

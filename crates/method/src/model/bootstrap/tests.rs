use super::*;
use crate::data::features::Matrix;
use crate::data::graph::{Ends, Graph, Link, LinkRules};
use crate::data::ids::Ids;
use crate::measure::KMeans;
use crate::params::Params;
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
        ridge: Some(1e-3),
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
        ridge: Some(1.0),
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

/// A share of pairs whose interval holds the planted logarithm of the expected weight,
/// over graphs that are simulated from a fit to links with directions, or with offsets.
fn coverage(params: &CheckedParams, ends: Ends, nodes: usize, graphs: u64, free: bool) -> f64 {
    let x = vectors(nodes);
    let n = nodes as u32;
    let simulated = |log_mu: &dyn Fn(u32, u32) -> f64, seed: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut links = Vec::new();
        for src in 0..n {
            for dst in 0..n {
                let possible = match ends {
                    Ends::Directed => src != dst,
                    _ => src < dst,
                };
                let weight = count(&mut random, math::exp(log_mu(src, dst)));
                if possible && weight > 0.0 {
                    links.push(Link { src, dst, weight });
                }
            }
        }
        let rules = LinkRules {
            ends,
            ..LinkRules::default()
        };
        let graph = Graph::new(Ids::Rows(nodes), links, rules).unwrap();
        match free {
            true => Dataset::with_nodes(graph, Ids::Rows(nodes)).unwrap(),
            false => Dataset::new(graph, Features::new(x.clone())).unwrap(),
        }
    };
    let value = |row: u32, k: usize| x.row(row as usize)[k].1;
    let planted = |i: u32, j: u32| {
        let popular = if params.offsets {
            0.8 * (value(i, 2) + value(j, 3))
        } else {
            0.0
        };
        1.2 * value(i, 0) * value(j, 1) + value(i, 1) * value(j, 0) + popular - 1.2
    };
    let other = if ends == Ends::Directed { n } else { 0 };
    let log_mu =
        |model: &Fitted, i: u32, j: u32| math::ln(model.mu(i as usize, (j + other) as usize));
    let (mut held, mut all) = (0.0, 0.0);
    for seed in 0..graphs {
        let truth = crate::fit(params, &simulated(&planted, 300 + seed)).unwrap();
        let data = simulated(&|i, j| log_mu(&truth, i, j), 400 + seed);
        let model = crate::fit(params, &data).unwrap();
        let found = bootstrap(params, &data, &model, 40, Runtime::default()).unwrap();
        let model = model.with_replicates(found).unwrap();
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                let spread = model.spread(i as usize, (j + other) as usize);
                let (low, high) = spread.unwrap().interval;
                let at = log_mu(&truth, i, j);
                held += f64::from(u8::from(low <= at && at <= high));
                all += 1.0;
            }
        }
    }
    held / all
}

#[test]
fn intervals_of_directed_models_hold_what_was_planted() {
    let share = coverage(&params(), Ends::Directed, 60, 12, false);
    println!("directed: {share}");
    assert!((0.83..=0.97).contains(&share), "{share}");
}

#[test]
fn intervals_of_models_with_offsets_hold_what_was_planted() {
    let params = Params {
        offsets: true,
        ridge: Some(0.05),
        ..params().given().clone()
    };
    let share = coverage(&params.check().unwrap(), Ends::Alike, 80, 12, false);
    println!("offsets: {share}");
    assert!((0.83..=0.97).contains(&share), "{share}");
}

#[test]
fn intervals_of_free_vectors_hold_what_was_planted() {
    let params = Params {
        ridge: Some(0.05),
        ..params().given().clone()
    };
    let share = coverage(&params.check().unwrap(), Ends::Alike, 80, 8, true);
    println!("free vectors: {share}");
    assert!((0.8..=0.98).contains(&share), "{share}");
}

#[test]
fn a_node_of_a_directed_model_is_drawn_as_source_and_target_together() {
    let ring = |n: u32| (0..n).flat_map(move |i| [1, 3].map(|step| (i, (i + step) % n, 1.0)));
    let links = ring(30).map(|(src, dst, weight)| Link { src, dst, weight });
    let rules = LinkRules {
        ends: Ends::Directed,
        ..LinkRules::default()
    };
    let graph = Graph::new(Ids::Rows(30), links.collect(), rules).unwrap();
    let data = Dataset::from_links(graph).unwrap();
    let params = Params {
        ridge: Some(0.5),
        offsets: true,
        ..params().given().clone()
    };
    let params = params.check().unwrap();
    let model = crate::fit(&params, &data).unwrap();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| bootstrap(&params, &data, &model, 8, Runtime::default()).unwrap())
    };
    let found = with(1);
    assert_eq!(found, with(3), "the number of threads does not matter");
    for part in &found.parts {
        let has = part.has.as_ref().unwrap();
        assert_eq!(has[..30], has[30..]);
        assert!(part.offsets.is_some());
    }
    // The whole fit starts where the model ended.
    let model = model.with_replicates(found).unwrap();
    let whole = &model.replicates().unwrap().whole;
    let apart = whole.embeddings.iter().zip(model.embeddings());
    let apart = apart.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 0.2, "{apart}");
    let clusters = vec![0; 30];
    assert_eq!(model.together(&clusters, 0).unwrap().unwrap().len(), 30);
    assert!(model.stability(3, &[34, 36]).is_some());
}

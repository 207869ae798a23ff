//! Planted structure is found again: quality floors on generated data.

#![allow(clippy::unwrap_used)]

use linkproof_lab::demo::{SETTINGS, run_setting};
use linkproof_lab::mean::Mean;
use linkproof_lab::synthetic::{Noise, synthetic};
use linkproof_method::data::dataset::NodeViews;
use linkproof_method::data::graph::Graph;
use linkproof_method::data::ids::Ids;
use linkproof_method::measure::{KMeans, auc, nmi, purity};
use linkproof_method::params::{
    Descent, EncoderKind, Mlp, OptimizerKind, OutputActivation, Params, Sampler, Sampling,
    ScoreKind, SolverKind,
};
use linkproof_method::{Dataset, Features, Fitted, Matrix, fit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

fn normal(random: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(random)).collect()
}

#[test]
fn the_demonstration_shows_what_it_says() {
    let [false_links, corrupted] = SETTINGS.map(|setting| run_setting(setting, 0, || {}).unwrap());
    let [likelihood, moment, _] = [0, 1, 2].map(|score| false_links.purity[score].mean);
    assert!(
        moment >= 0.92 && likelihood < 0.86,
        "{:?}",
        false_links.purity
    );
    let [likelihood, _, probability] = [0, 1, 2].map(|score| corrupted.purity[score].mean);
    assert!(
        probability >= 0.94 && likelihood < 0.4,
        "{:?}",
        corrupted.purity
    );
}

#[test]
fn a_plain_fit_finds_the_clusters_of_the_synthetic_graph() {
    let purities: Vec<f64> = (0..20)
        .map(|seed| {
            let made = synthetic(seed, Noise::false_links(0.02)).unwrap();
            let params = Params {
                dim: 2,
                seed,
                ..Params::default()
            };
            let model = fit(&params.check().unwrap(), &made.data).unwrap();
            let clusters = KMeans::new(4, 0).fit(model.embeddings(), 200, 2).unwrap();
            purity(&made.labels, &clusters.labels).unwrap()
        })
        .collect();
    let mean = Mean::of(&purities);
    assert!(mean.mean >= 0.93, "{mean:?}");
}

/// Three views of the same entities, of 5, 40 (sparse) and 300 columns; links
/// between the views of an entity, some missing, some false.
struct ThreeViews {
    nodes: NodeViews,
    features: Vec<(String, Features)>,
    padded: Features,
    graph: Graph,
    entities: usize,
}

fn three_views(seed: u64) -> ThreeViews {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let entities = 120;
    let widths = [5, 40, 300];
    let latent = normal(&mut random, entities * 5);
    let mut matrices = Vec::new();
    let mut padded = Vec::new();
    for (view, &width) in widths.iter().enumerate() {
        let map = normal(&mut random, 5 * width);
        let mut rows = normal(&mut random, entities * width);
        for (entity, row) in rows.chunks_exact_mut(width).enumerate() {
            for (column, x) in row.iter_mut().enumerate() {
                let signal: f64 = (0..5)
                    .map(|k| latent[entity * 5 + k] * map[k * width + column])
                    .sum();
                *x = signal + 0.1 * *x;
                if view == 1 && *x < 1.0 {
                    *x = 0.0;
                }
            }
            padded.extend_from_slice(row);
            padded.extend(vec![0.0; 300 - width]);
        }
        let matrix = if view == 1 {
            let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
            for row in rows.chunks_exact(width) {
                for (column, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    columns.push(column as u32);
                    values.push(x);
                }
                offsets.push(columns.len());
            }
            Matrix::sparse(width, offsets, columns, values).unwrap()
        } else {
            Matrix::dense(entities, width, rows).unwrap()
        };
        matrices.push((["a", "b", "c"][view].to_owned(), Features::new(matrix)));
    }
    let mut links = Vec::new();
    for entity in 0..entities {
        for (d, e) in [(0, 1), (0, 2), (1, 2)] {
            let node = |view: usize, entity: usize| (view * entities + entity) as u32;
            if random.random_bool(0.7) {
                links.push((node(d, entity), node(e, entity), 1.0));
            }
            let stranger = random.random_range(0..entities);
            if stranger != entity && random.random_bool(0.1) {
                links.push((node(d, entity), node(e, stranger), 1.0));
            }
        }
    }
    ThreeViews {
        nodes: NodeViews {
            ids: Ids::Rows(3 * entities),
            views: (0..3 * entities)
                .map(|i| ["a", "b", "c"][i / entities].to_owned())
                .collect(),
            rows: None,
        },
        features: matrices,
        padded: Features::new(Matrix::dense(3 * entities, 300, padded).unwrap()),
        graph: Graph::from_rows(3 * entities, &links).unwrap(),
        entities,
    }
}

/// How often a node's partner in another view has the largest expected weight
/// among the nodes of that view.
fn partner_first(model: &Fitted, entities: usize) -> f64 {
    let mut hits = 0;
    for view in 0..3 {
        for other in (0..3).filter(|&other| other != view) {
            for entity in 0..entities {
                let row = view * entities + entity;
                let mu = |candidate: usize| model.mu(row, other * entities + candidate);
                let best = (0..entities).max_by(|&a, &b| mu(a).total_cmp(&mu(b)));
                hits += usize::from(best == Some(entity));
            }
        }
    }
    hits as f64 / (6 * entities) as f64
}

#[test]
fn several_views_find_their_partners_where_padding_does_not() {
    let mut results = Vec::new();
    for encoder in [EncoderKind::Linear, EncoderKind::Mlp] {
        let made = three_views(4);
        let params = Params {
            dim: 16,
            ridge: Some(0.1),
            mlp: Mlp {
                hidden: vec![64],
                ..Mlp::default()
            },
            encoder: Some(encoder),
            steps: Some(150),
            descent: Descent {
                learning_rate: Some(5e-3),
                ..Descent::default()
            },
            ..Params::default()
        };
        let params = params.check().unwrap();
        let data = Dataset::with_views(made.graph.clone(), made.nodes, made.features).unwrap();
        let model = fit(&params, &data).unwrap();
        assert_eq!(model.view_pairs(), [(0, 1), (0, 2), (1, 2)]);
        let flat = fit(&params, &Dataset::new(made.graph, made.padded).unwrap()).unwrap();
        results.push((
            partner_first(&model, made.entities),
            partner_first(&flat, made.entities),
        ));
    }
    let chance = 1.0 / 120.0;
    for (with_views, without) in &results {
        assert!(
            *with_views > 30.0 * chance && *with_views > 1.1 * without,
            "{results:?}"
        );
    }
}

/// A graph of planted blocks without features.
fn blocks(n: usize, n_blocks: usize, degree: f64, seed: u64) -> (Graph, Vec<u32>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let labels: Vec<u32> = (0..n).map(|i| (i % n_blocks) as u32).collect();
    let mut links = std::collections::BTreeSet::new();
    while (links.len() as f64) < n as f64 * degree / 2.0 {
        let a = random.random_range(0..n);
        let inside = random.random_bool(0.9);
        let b = if inside {
            random.random_range(0..n / n_blocks) * n_blocks + a % n_blocks
        } else {
            random.random_range(0..n)
        };
        if a != b && b < n {
            links.insert((a.min(b) as u32, a.max(b) as u32, ()));
        }
    }
    let links: Vec<_> = links.into_iter().map(|(a, b, ())| (a, b, 1.0)).collect();
    (Graph::from_rows(n, &links).unwrap(), labels)
}

#[test]
fn tables_find_planted_blocks_with_every_solver() {
    let (graph, labels) = blocks(1500, 5, 16.0, 1);
    let data = Dataset::from_links(graph).unwrap();
    for (solver, sampler, block) in [
        (SolverKind::Exact, Sampler::Block, 512),
        (SolverKind::Sgd, Sampler::Block, 512),
        (SolverKind::Sgd, Sampler::Block, 128), // several turns a sweep
    ] {
        let params = Params {
            dim: 16,
            solver: Some(solver),
            sampling: Sampling {
                sampler,
                block: Some(block),
                ..Sampling::default()
            },
            ..Params::default()
        };
        let model = fit(&params.check().unwrap(), &data).unwrap();
        let clusters = KMeans::new(5, 0).fit(model.embeddings(), 1500, 16).unwrap();
        let found = nmi(&labels, &clusters.labels).unwrap();
        assert!(
            found > 0.9,
            "{solver} {sampler} block {block}: NMI {found}, {:?}",
            model.report().stop_reason
        );
    }
}

#[test]
fn fits_predict_links_that_they_did_not_see() {
    let (graph, labels) = blocks(1000, 4, 14.0, 2);
    let hidden = |src: u32, dst: u32| (src * 31 + dst * 17).is_multiple_of(10);
    let seen: Vec<_> = graph
        .links()
        .filter(|l| !hidden(l.src, l.dst))
        .map(|l| (l.src, l.dst, l.weight))
        .collect();
    let data = Dataset::from_links(Graph::from_rows(1000, &seen).unwrap()).unwrap();
    let model = fit(
        &Params {
            dim: 16,
            ..Params::default()
        }
        .check()
        .unwrap(),
        &data,
    )
    .unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let (mut scores, mut positive) = (vec![], vec![]);
    for link in graph.links().filter(|l| hidden(l.src, l.dst)) {
        scores.push(model.mu(link.src as usize, link.dst as usize));
        positive.push(true);
        let (a, b) = (random.random_range(0..1000), random.random_range(0..1000));
        if a != b && graph.weight(a, b).is_none() {
            scores.push(model.mu(a as usize, b as usize));
            positive.push(false);
        }
    }
    let found = auc(&scores, &positive).unwrap();
    assert!(found > 0.8, "{found}");
    assert_eq!(labels.len(), 1000);
}

/// The paper's network at a quarter of its width, on a generated graph: it
/// must not diverge with either sampler at the default learning rate.
#[test]
fn the_papers_network_trains_with_either_sampler() {
    let (graph, labels) = blocks(600, 4, 10.0, 3);
    let mut random = ChaCha8Rng::seed_from_u64(9);
    // A bag of words: 12 of 200, mostly from the block's own quarter.
    let (mut offsets, mut columns) = (vec![0], vec![]);
    for &label in &labels {
        let mut words = std::collections::BTreeSet::new();
        while words.len() < 12 {
            let own = random.random_bool(0.6);
            let start = if own { 50 * label } else { 0 };
            words.insert(start + random.random_range(0..if own { 50 } else { 200 }));
        }
        columns.extend(words);
        offsets.push(columns.len());
    }
    let values = vec![1.0f32; columns.len()];
    let matrix = Matrix::sparse(200, offsets, columns, values).unwrap();
    let data = Dataset::new(graph, Features::new(matrix)).unwrap();
    for sampler in [Sampler::Block, Sampler::Pairs] {
        let params = Params {
            dim: 25,
            encoder: Some(EncoderKind::Mlp),
            mlp: Mlp {
                hidden: vec![750],
                output_activation: OutputActivation::Tanh,
                batch_norm: true,
                dropout: 0.5,
                ..Mlp::default()
            },
            solver: Some(SolverKind::Sgd),
            optimizer: Some(OptimizerKind::Adam),
            sampling: Sampling {
                sampler,
                block: Some(256),
                ..Sampling::default()
            },
            steps: Some(150),
            ..Params::default()
        };
        let params = Params {
            validation: Some(0.05),
            ..params
        };
        let model = fit(&params.check().unwrap(), &data).unwrap();
        let (start, best) = model.report().held_out.unwrap();
        assert!(best < start, "{sampler}: {start} -> {best}");
    }
}

#[test]
fn corrupted_weights_move_the_likelihood_but_not_the_probability_score() {
    let clean = synthetic(3, Noise::false_links(0.01)).unwrap();
    let dirty = synthetic(3, Noise::corrupted_weights(0.01, 0.005, 100.0)).unwrap();
    let gamma = |data: &Dataset, score: ScoreKind| {
        let params = Params {
            dim: 2,
            score,
            beta: 0.5,
            ..Params::default()
        };
        fit(&params.check().unwrap(), data)
            .unwrap()
            .gamma()
            .get(0, 0)
    };
    let shift = |score| (gamma(&dirty.data, score) - gamma(&clean.data, score)).abs();
    assert!(shift(ScoreKind::Probability) < 0.3 && shift(ScoreKind::Likelihood) > 0.6);
}

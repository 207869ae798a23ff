use super::*;
use crate::data::dataset::NodeViews;
use crate::data::features::{Features, Matrix};
use crate::data::graph::Graph;
use crate::data::ids::{Ids, Names};
use crate::params::{Params, ScoreKind, SolverKind, WeightTransform};

fn look(data: &Dataset) -> Report {
    let params = Params {
        dim: 2,
        ..Params::default()
    };
    inspect(data, &params.check().unwrap()).unwrap()
}

fn links_alone(n: usize, links: &[(u32, u32, f64)]) -> Report {
    look(&Dataset::from_links(Graph::from_rows(n, links).unwrap()).unwrap())
}

/// 200 nodes in a ring, each linked to the next three.
fn ring(weight: impl Fn(u32) -> f64) -> Report {
    let n = 200;
    let pairs = (0..n).flat_map(|i| (1..4).map(move |step| (i, (i + step) % n)));
    let links: Vec<_> = (0..)
        .zip(pairs)
        .map(|(k, (i, j))| (i, j, weight(k)))
        .collect();
    links_alone(n as usize, &links)
}

#[test]
fn shape_is_counted() {
    let report = links_alone(7, &[(0, 1, 1.0), (0, 2, 1.0), (0, 3, 2.0), (4, 5, 1.0)]);
    assert_eq!((report.nodes, report.links, report.pairs), (7, 4, 21));
    assert_eq!(report.linked_share, 4.0 / 21.0);
    let degrees = &report.degrees;
    assert_eq!((degrees.min, degrees.median, degrees.max), (0, 1, 3));
    assert_eq!((degrees.q25, degrees.q75, degrees.q99), (1, 1, 3));
    assert_eq!(degrees.mean, 8.0 / 7.0);
    assert_eq!(degrees.largest.len(), 5);
    assert_eq!(degrees.largest[0].node, "0");
    assert_eq!(degrees.largest[1].node, "1", "equal degrees in row order");
    assert_eq!(report.isolated.examples, ["6"]);
    assert_eq!(report.isolated.without_vectors, 1);
    assert_eq!((report.components.count, report.components.largest), (2, 4));
    assert_eq!(report.components.next, [2]);
}

#[test]
fn quantiles_are_values_that_occur() {
    let sorted = [1, 2, 3, 4];
    let found = [0.0, 0.25, 0.26, 0.5, 0.75, 0.99, 1.0].map(|share| quantile(&sorted, share));
    assert_eq!(found, [1, 1, 2, 2, 3, 4, 4]);
    assert_eq!(quantile(&[7], 0.5), 7);
}

#[test]
fn views_and_their_data_vectors_are_described() {
    let mut names = Names::default();
    for name in ["a", "x", "b", "y", "c"] {
        names.insert(name);
    }
    let link = |src, dst| crate::data::graph::Link {
        src,
        dst,
        weight: 1.0,
    };
    let ids = Ids::from(names);
    let links = vec![link(0, 1), link(2, 1), link(2, 0)];
    let graph = Graph::new(ids.clone(), links, Default::default()).unwrap();
    let nodes = NodeViews {
        ids,
        views: ["u", "v", "u", "v", "u"].map(String::from).to_vec(),
        rows: None,
    };
    let u = Matrix::sparse(4, vec![0, 2, 3, 3], vec![0, 1, 2], vec![1.0f32, 2.0, 0.0]).unwrap();
    let features = vec![("u".to_owned(), Features::new(u))];
    let report = look(&Dataset::with_views(graph, nodes, features).unwrap());
    let [u, v] = report.views.as_slice() else {
        panic!("{:?}", report.views)
    };
    assert_eq!((u.name.as_str(), u.nodes, u.isolated), ("u", 3, 1));
    assert_eq!((v.name.as_str(), v.nodes, v.isolated), ("v", 2, 1));
    let vectors = u.vectors.as_ref().unwrap();
    // A stored zero is a zero.
    assert_eq!((vectors.dim, vectors.zero, vectors.sparse), (4, 2, true));
    assert_eq!(vectors.density, 2.0 / 12.0);
    assert!(v.vectors.is_none());
    let between: Vec<_> = report
        .view_pairs
        .iter()
        .map(|pair| {
            (
                pair.views.0.as_str(),
                pair.views.1.as_str(),
                pair.links,
                pair.pairs,
            )
        })
        .collect();
    assert_eq!(between, [("u", "u", 1, 3), ("u", "v", 2, 6)]);
    assert_eq!(report.isolated.examples, ["y", "c"]);
    assert_eq!(report.isolated.without_vectors, 1);
}

#[test]
fn equal_weights_get_the_moment_score() {
    let advice = ring(|_| 1.0).advice;
    assert_eq!((advice.score, advice.beta), (ScoreKind::Moment, 0.1));
    assert_eq!(advice.weights, WeightTransform::AsIs);
    assert_eq!(advice.solver, SolverKind::Exact);
    assert_eq!(advice.because, Look::Equal);
    assert_eq!(ring(|_| 7.0).advice.weights, WeightTransform::Binary);
}

#[test]
fn a_few_impossible_weights_get_the_probability_score_and_a_caution() {
    let report = ring(|k| {
        if k.is_multiple_of(40) {
            100.0
        } else {
            1.0 + f64::from(k % 3)
        }
    });
    assert_eq!(report.weights.impossible.count, 15);
    assert_eq!(report.weights.impossible.heaviest.len(), 5);
    let advice = report.advice;
    assert_eq!((advice.score, advice.beta), (ScoreKind::Probability, 0.1));
    assert_eq!(advice.weights, WeightTransform::AsIs);
    assert_eq!(advice.because, Look::Unlikely);
}

#[test]
fn a_smooth_heavy_tail_gets_log1p_and_no_word_of_the_probability_score() {
    // The quantiles of Zipf's law, in mixed order.
    let report = ring(|k| (600.0 / (f64::from(k * 7 % 600) + 0.5)).floor());
    assert_eq!(report.weights.impossible.tail, Tail::Smooth);
    let advice = report.advice;
    assert_eq!(advice.weights, WeightTransform::Log1p);
    assert_eq!(advice.score, ScoreKind::Moment);
    assert_eq!(advice.because, Look::Tail);
}

#[test]
fn the_probability_score_is_not_advised_where_honest_weights_are_heavy() {
    let heavy = |k: u32| {
        if k.is_multiple_of(40) {
            5000.0
        } else {
            20.0 + f64::from(k % 3)
        }
    };
    let advice = ring(heavy).advice;
    assert_eq!(advice.score, ScoreKind::Moment);
    assert_eq!(advice.weights, WeightTransform::Log1p);
    // Sound weights of that size are too heavy, light ones are not.
    let sound = ring(|k| 20.0 + f64::from(k % 3)).advice;
    let light = ring(|k| 1.0 + f64::from(k % 3)).advice;
    assert_eq!([sound.because, light.because], [Look::Counts; 2]);
    assert!(sound.too_heavy_for_probability && !light.too_heavy_for_probability);
}

use super::*;
use linkproof_method::params::{Normalize, ScoreKind, Similarity};
use linkproof_method::select::{Change, Grid, Search, Tried, select};
use linkproof_method::{Runtime, fit};

fn params(ridge: f64) -> Params {
    Params {
        dim: 8,
        ridge: Some(ridge),
        normalize: Normalize::None,
        ..Params::default()
    }
}

fn fitted(params: &Params, data: &Dataset) -> Fitted {
    fit(&params.clone().check().unwrap(), data).unwrap()
}

/// What a search with a few ridges says of the kind of a graph.
fn wanted(kind: &Kind) -> Vec<Change> {
    let base = params(2.0);
    let around = Search::around(&base);
    let search = Search {
        grid: Grid {
            scores: vec![ScoreKind::Likelihood],
            ridges: vec![1.0, 3.0],
            ..around.grid
        },
        folds: 4,
        ..around
    };
    let found = select(&base, &kind.data, &search, Runtime::default()).unwrap();
    let wanted = found.tried.iter().filter(|tried| tried.wanted);
    wanted.map(|Tried { change, .. }| *change).collect()
}

#[test]
fn offsets_tell_who_is_popular_and_free_embeddings_of_it() {
    let kind = Kind::hubs(1.0, false, 0).unwrap();
    let plain = params(3.0);
    let ours = Change::Offsets.params(&plain);
    let [before, after] =
        [&plain, &ours].map(|params| kind.held_out_auc(params, &kind.data).unwrap());
    assert!(after > before + 0.01, "{before} {after}");
    let [before, after] =
        [&plain, &ours].map(|params| kind.clusters(&fitted(params, &kind.data)).unwrap());
    assert!(after > before + 0.05, "{before} {after}");
    assert!(kind.popularity_told(&fitted(&ours, &kind.data)) > 0.8);
}

#[test]
fn data_vectors_tell_the_offsets_of_unseen_nodes() {
    let kind = Kind::hubs(1.0, true, 0).unwrap();
    let model = fitted(&Change::Offsets.params(&params(3.0)), &kind.data);
    assert!(kind.popularity_told(&model) > 0.9);
    let matrix = kind.data.views()[0].matrix.clone().unwrap();
    let encoded = model.encode_view(0, &Features::new(matrix), None).unwrap();
    let told: Vec<f64> = encoded.offsets.iter().map(|&b| f64::from(b)).collect();
    assert!(correlation(&told, &kind.popularity) > 0.8);
    // Its own number aside, a node is its data vector.
    let unseen = encoded.point(0);
    assert_eq!(unseen.y, model.point(0).y);
    let apart = f64::from(model.point(0).offset) - f64::from(unseen.offset);
    let [known, new] = [model.point(0), unseen].map(|it| model.expected(it, model.point(9)));
    assert!((known.similarity - new.similarity - apart).abs() < 1e-5);
}

#[test]
fn a_signed_similarity_finds_classes_that_link_to_each_other() {
    let kind = Kind::unlike(0).unwrap();
    let plain = params(3.0);
    let ours = Params {
        similarity: Similarity::Signed,
        ..plain.clone()
    };
    let [before, after] = [&plain, &ours].map(|params| {
        let clusters = kind.clusters(&fitted(params, &kind.data)).unwrap();
        (clusters, kind.held_out_auc(params, &kind.data).unwrap())
    });
    assert!(before.0 < 0.7 && after.0 > 0.9, "{before:?} {after:?}");
    assert!(after.1 > before.1 + 0.05, "{before:?} {after:?}");
}

#[test]
fn directions_are_told() {
    let kind = Kind::directed(0).unwrap();
    let params = params(1.0);
    let [plain, ours] = [&kind.plain, &kind.data].map(|data| fitted(&params, data));
    assert_eq!(kind.direction_told(&plain), 0.5);
    assert!(kind.direction_told(&ours) > 0.9);
    let [before, after] = [&plain, &ours].map(|model| kind.clusters(model).unwrap());
    assert!(before < 0.5 && after > 0.8, "{before} {after}");
    // Nobody is a neighbour of itself, and all of them are targets.
    let near = ours.neighbors(ours.point(3), 50, Some(3), None).unwrap();
    assert!(
        near.iter()
            .all(|near| near.row >= NODES && near.row != NODES + 3)
    );
}

#[test]
fn nodes_of_two_kinds_find_their_classes() {
    let kind = Kind::bipartite(0).unwrap();
    let params = params(1.0);
    let [plain, ours] = [&kind.plain, &kind.data].map(|data| fitted(&params, data));
    let [before, after] = [&plain, &ours].map(|model| kind.clusters(model).unwrap());
    // Within a side a plain model finds them too, at twice the pairs.
    assert!(after > 0.8 && after > before - 0.1, "{before} {after}");
    // Pairs of one side take no part, so nothing is spent on them.
    assert_eq!(ours.view_pairs(), [(0, 1)]);
}

#[test]
fn graphs_say_what_they_want() {
    assert_eq!(wanted(&Kind::hubs(0.0, true, 0).unwrap()), []);
    assert_eq!(wanted(&Kind::hubs(0.0, false, 1).unwrap()), []);
    assert_eq!(
        wanted(&Kind::hubs(1.0, true, 0).unwrap()),
        [Change::Offsets]
    );
    let unlike = wanted(&Kind::unlike(0).unwrap());
    assert!(matches!(unlike[..], [Change::Signed { .. }]), "{unlike:?}");
}

use std::fs;

use super::*;
use linkproof_method::data::dataset::{Dataset, NodeViews};
use linkproof_method::data::features::Features;
use linkproof_method::data::graph::Link;
use linkproof_method::data::ids::Ids;
use linkproof_method::data::ids::Names;
use linkproof_method::engine::runtime::{Event, Runtime};
use linkproof_method::error::{Error, Subject};
use linkproof_method::model::*;
use linkproof_method::params::{
    Descent, EncoderKind, Mlp, Note, Precision, Sampling, ScoreKind, WeightTransform,
};
use linkproof_method::{Graph, Matrix, Params};

fn wave(n: usize, frequency: f64) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * frequency + 0.3).sin()).collect()
}

fn names(n: usize) -> Ids {
    let mut names = Names::default();
    for i in 0..n {
        names.insert(&format!("node, {i}"));
    }
    Ids::from(names)
}

fn links(n: u32) -> Graph {
    let links = (0..n).flat_map(|i| {
        [1, 3].map(|step| Link {
            src: i,
            dst: (i + step) % n,
            weight: 1.0 + f64::from(i % 3),
        })
    });
    Graph::new(names(n as usize), links.collect(), Default::default()).unwrap()
}

fn one_view() -> Dataset {
    let matrix = Matrix::dense(20, 4, wave(80, 1.3)).unwrap();
    Dataset::new(links(20), Features::with_ids(names(20), matrix).unwrap()).unwrap()
}

fn two_views() -> Dataset {
    let nodes = NodeViews {
        ids: names(20),
        views: (0..20)
            .map(|i| if i % 2 == 0 { "a" } else { "b" }.to_owned())
            .collect(),
        rows: None,
    };
    let a = Features::new(Matrix::dense(10, 4, wave(40, 1.3)).unwrap());
    Dataset::with_views(links(20), nodes, vec![("a".into(), a)]).unwrap()
}

fn fitted(params: Params, data: &Dataset) -> Fitted {
    let params = Params {
        dim: 3,
        steps: Some(5),
        mlp: Mlp {
            hidden: vec![6],
            ..params.mlp
        },
        ..params
    };
    fit(&params.check().unwrap(), data).unwrap()
}

/// A report as a file holds it: its notes in words.
fn as_stored(report: &FitReport) -> FitReport {
    let notes = report.notes.iter();
    let notes = notes.map(|it| Note::Stored(linkproof_text::note(it, Default::default())));
    FitReport {
        notes: notes.collect(),
        ..report.clone()
    }
}

#[test]
fn models_survive_saving_and_loading() {
    let mlp = Params {
        encoder: Some(EncoderKind::Mlp),
        mlp: Mlp {
            batch_norm: true,
            ..Mlp::default()
        },
        ..Params::default()
    };
    let double = Params {
        precision: Precision::F64,
        propagate: 2,
        ..Params::default()
    };
    for (params, data) in [
        (Params::default(), one_view()),
        (Params::default(), two_views()),
        (mlp, one_view()),
        (double, one_view()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let model = fitted(params, &data);
        save(&model, &path).unwrap();
        let loaded = load(&path).unwrap().model;
        assert_eq!(loaded.embeddings(), model.embeddings());
        assert_eq!(loaded.gamma(), model.gamma());
        assert_eq!(loaded.params(), model.params());
        assert_eq!(loaded.report(), &as_stored(model.report()));
        assert_eq!(loaded.mu(2, 5), model.mu(2, 5));
        assert_eq!(loaded.ids().name(7), "node, 7");
        assert_eq!(loaded.node_views(), model.node_views());
        // In one piece it is the same.
        let record = serde_json::Map::from_iter([("noted".to_owned(), 3.into())]);
        let bytes = to_bytes(&model, &record).unwrap();
        let stored = from_bytes(&bytes).unwrap();
        assert_eq!(stored.record, record);
        assert_eq!(to_bytes(&stored.model, &record).unwrap(), bytes);
        assert_eq!(stored.model.mu(2, 5), model.mu(2, 5));
        assert!(from_bytes(&bytes[..bytes.len() - 1]).is_err());
        // Saving twice gives the same bytes.
        let again = folder.path().join("again");
        save(&loaded, &again).unwrap();
        for file in ["model.safetensors", "embeddings.npy", "nodes.csv", LINKS] {
            assert_eq!(
                fs::read(path.join(file)).unwrap(),
                fs::read(again.join(file)).unwrap(),
                "{file}"
            );
        }
    }
}

#[test]
fn training_rows_embed_to_the_embeddings() {
    let data = one_view();
    let matrix = data.views()[0].matrix.clone().unwrap();
    for params in [
        Params::default(),
        Params {
            encoder: Some(EncoderKind::Mlp),
            mlp: Mlp {
                batch_norm: true,
                dropout: 0.3,
                ..Mlp::default()
            },
            ..Params::default()
        },
        Params {
            propagate: 2,
            ..Params::default()
        },
    ] {
        let model = fitted(params, &data);
        let features = Features::with_ids(names(20), matrix.clone()).unwrap();
        assert_eq!(model.embed(&features).unwrap(), model.embeddings());
    }
}

#[test]
fn unseen_nodes_need_the_right_view_and_width() {
    let data = two_views();
    let model = fitted(Params::default(), &data);
    let three = Features::new(Matrix::dense(1, 3, vec![1.0; 3]).unwrap());
    let four = Features::new(Matrix::dense(1, 4, vec![1.0; 4]).unwrap());
    assert!(matches!(
        model.embed(&four),
        Err(Error::Param {
            subject: Subject::Argument("view"),
            ..
        })
    ));
    assert!(model.embed_view(0, &four, None).is_ok());
    assert!(model.embed_view(0, &three, None).is_err());
    assert!(
        model.embed_view(1, &four, None).is_err(),
        "a table knows no others"
    );
    assert_eq!(model.view(Some("b")).unwrap(), 1);
    assert!(model.view(Some("c")).is_err());
}

#[test]
fn new_nodes_may_bring_links() {
    let data = one_view();
    let model = fitted(
        Params {
            propagate: 1,
            validation: Some(0.0),
            ..Params::default()
        },
        &data,
    );
    let matrix = data.views()[0].matrix.as_ref().unwrap().select(&[4]);
    let mut fresh = Names::default();
    fresh.insert("fresh");
    let features = Features::with_ids(Ids::from(fresh.clone()), matrix).unwrap();
    // The neighbours of node 4: 1, 3, 5 and 7.
    let mut ids = fresh;
    let links = [1, 3, 5, 7].map(|i| Link {
        src: 0,
        dst: ids.insert(&format!("node, {i}")),
        weight: 1.0,
    });
    let graph = Graph::new(Ids::from(ids.clone()), links.to_vec(), Default::default()).unwrap();
    let known = |graph: &Graph| model.links_of_new(0, features.ids(), graph);
    let found = known(&graph).unwrap();
    assert_eq!((found.links.len(), found.between_known), (4, 0));
    let with_links = model.embed_view(0, &features, Some(&found.links)).unwrap();
    for (a, b) in with_links.iter().zip(model.row(4)) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
    assert_ne!(model.embed(&features).unwrap(), with_links);
    // One of two training nodes says nothing new, one of a stranger is refused.
    let stranger = ids.insert("stranger");
    let link = |src, dst| Link {
        src,
        dst,
        weight: 1.0,
    };
    let graph = |links| Graph::new(Ids::from(ids.clone()), links, Default::default()).unwrap();
    let found = known(&graph(vec![link(1, 2), link(0, 1)])).unwrap();
    assert_eq!((found.links.len(), found.between_known), (1, 1));
    let refused = known(&graph(vec![link(0, stranger)])).unwrap_err();
    assert!(refused.to_string().contains("'stranger'"), "{refused}");
    // An id of both.
    let twice = model.links_of_new(0, model.ids(), &graph(vec![link(1, 2)]));
    assert!(twice.unwrap_err().to_string().contains("tell them apart"));
    let wrong = NewLink {
        row: 1,
        end: End::Known(0),
        weight: 1.0,
    };
    assert!(model.embed_view(0, &features, Some(&[wrong])).is_err());
}

#[test]
fn neighbours_are_sorted_by_expected_weight() {
    let data = one_view();
    let model = fitted(Params::default(), &data);
    let near = model.neighbors(model.point(3), 5, Some(3), None).unwrap();
    assert_eq!(near.len(), 5);
    assert!(near.windows(2).all(|pair| pair[0].mu >= pair[1].mu));
    assert!(near.iter().all(|neighbor| neighbor.row != 3));
    let best = (0..20)
        .filter(|&row| row != 3)
        .map(|row| model.mu(3, row))
        .fold(0.0, f64::max);
    assert!((near[0].mu - best).abs() < 1e-12);
}

#[test]
fn damaged_and_hostile_models_are_refused() {
    let data = one_view();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    save(&fitted(Params::default(), &data), &path).unwrap();
    let file = path.join("model.safetensors");
    let good = fs::read(&file).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let error = load(&path).expect_err("a damaged model");
        assert!(
            error.is_bad_input() && error.to_string().contains("model.safetensors"),
            "{error}"
        );
        error.to_string()
    };
    for cut in [0, 4, 8, 100, good.len() - 1] {
        refused(&good[..cut]);
    }
    let edited = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let mut bytes = good.clone();
        let place = bytes
            .windows(from.len())
            .position(|window| window == from.as_bytes())
            .expect(from);
        bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    assert!(refused(&edited(r#""version":"1""#, r#""version":"7""#)).contains("version 7"));
    refused(&edited("linkproof", "linkproog"));
    refused(&edited(r#"inputs\":4"#, r#"inputs\":9"#));
    refused(&edited(r#"outputs\":3"#, r#"outputs\":0"#));
    refused(&edited(r#""dtype":"F32""#, r#""dtype":"I32""#));
    refused(&edited(r#"\"dim\":3"#, r#"\"dim\":0"#));
    let mut huge = u64::MAX.to_le_bytes().to_vec();
    huge.extend_from_slice(&good[8..]);
    refused(&huge);
    // Not a number among the weights.
    let mut nan = good.clone();
    let end = nan.len();
    nan[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    refused(&nan);
    fs::write(&file, &good).unwrap();
    assert!(load(&path).is_ok());
    fs::write(path.join("nodes.csv"), "node\nx\n").unwrap();
    assert!(load(&path).is_err());
    fs::remove_file(path.join("fit.json")).unwrap();
    assert!(load(&path).is_err());
}

#[test]
fn one_node_and_no_links_are_refused() {
    let matrix = Matrix::dense(3, 1, vec![1.0, 2.0, 3.0]).unwrap();
    let none = Graph::from_rows(3, &[]).unwrap();
    assert!(Dataset::new(none, Features::new(matrix)).is_err());
    let one = Graph::from_rows(1, &[]).unwrap();
    assert!(Dataset::from_links(one).is_err());
}

#[test]
fn a_monitor_can_end_a_fit() {
    let params = Params {
        dim: 2,
        steps: Some(50),
        ..Params::default()
    }
    .check()
    .unwrap();
    let monitor = |event: Event<'_>| match event {
        Event::Step { record, .. } => record.step < 3,
        _ => true,
    };
    let fit = Fit::new(&params).runtime(Runtime::watched_by(&monitor));
    let outcome = fit.run(&one_view());
    assert!(matches!(outcome, Err(Error::Interrupted { step: 3 })));
}

#[test]
fn links_set_aside_are_named_by_the_users_rows() {
    // Rows of two views by turns stand elsewhere inside.
    let data = two_views();
    let link = data.user_graph().unwrap().links().nth(7).unwrap();
    let aside = Graph::new(names(20), vec![link], Default::default()).unwrap();
    let params = Params {
        dim: 2,
        steps: Some(2),
        validation: Some(0.0),
        ..Params::default()
    };
    let params = params.check().unwrap();
    let model = Fit::new(&params).without(&aside).run(&data).unwrap();
    let counts = model.report().counts;
    assert_eq!(counts.set_aside_links, 1);
    assert_eq!(counts.training_links, data.graph().n_links() - 1);
}

#[test]
fn weights_that_no_arithmetic_bears_are_named() {
    let heavy = |weight: f64| {
        let links = [(0, 1, 1.0), (1, 2, weight), (2, 3, 1.0), (0, 3, 2.0)];
        Dataset::from_links(Graph::from_rows(4, &links).unwrap()).unwrap()
    };
    let fit_of = |params: Params, weight: f64| {
        let params = Params {
            dim: 2,
            steps: Some(3),
            ..params
        };
        fit(&params.check().unwrap(), &heavy(weight))
    };
    let double = || Params {
        precision: Precision::F64,
        ..Params::default()
    };
    for (params, weight, limit) in [
        (Params::default(), 1e308, 1e17),
        (Params::default(), 2e17, 1e17),
        (double(), 1e308, 1e86),
    ] {
        let error = fit_of(params, weight).unwrap_err();
        let Error::TooHeavy {
            src,
            dst,
            limit: at,
            ..
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!((src.as_str(), dst.as_str(), *at), ("1", "2", limit));
        assert!(error.to_string().contains("weights = log1p"), "{error}");
    }
    fit_of(Params::default(), 1e16).unwrap();
    fit_of(double(), 1e18).unwrap();
    let log = Params {
        weights: WeightTransform::Log1p,
        ..Params::default()
    };
    fit_of(log, 1e308).unwrap();
    let robust = Params {
        score: ScoreKind::Probability,
        ..Params::default()
    };
    fit_of(robust, 1e308).unwrap();
}

#[test]
fn links_that_are_not_the_models_name_their_file() {
    let data = Dataset::from_links(links(20)).unwrap();
    let model = fitted(Params::default(), &data);
    let folder = tempfile::tempdir().unwrap();
    save(&model, folder.path().join("m")).unwrap();
    let other = Graph::from_rows(30, &[(0, 29, 1.0), (1, 2, 1.0)]).unwrap();
    let path = folder.path().join("m").join(LINKS);
    crate::write_links(&path, &other).unwrap();
    let error = load(folder.path().join("m")).unwrap_err();
    assert!(matches!(error, Error::Input { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains(LINKS) && text.contains("found node '"),
        "{text}"
    );
}

#[test]
fn links_far_beyond_their_weight_come_back() {
    // Six nodes, all linked, thrown far apart: beyond its weight the probability
    // score forgets a link, and nothing but the solver's continuation holds it.
    let pairs = (0..6u32).flat_map(|i| (i + 1..6).map(move |j| (i, j, 1.0)));
    let graph = Graph::from_rows(6, &pairs.collect::<Vec<_>>()).unwrap();
    let data = Dataset::from_links(graph).unwrap();
    for precision in [Precision::F32, Precision::F64] {
        for seed in 0..4 {
            let params = Params {
                dim: 1,
                ridge: Some(0.0),
                beta: 0.5,
                score: linkproof_method::params::ScoreKind::Probability,
                encoder: Some(EncoderKind::Table),
                init_scale: 4.0,
                precision,
                seed,
                ..Params::default()
            };
            let model = fit(&params.check().unwrap(), &data).unwrap();
            for i in 0..6 {
                for j in i + 1..6 {
                    let mu = model.mu(i, j);
                    assert!(mu < 10.0, "{precision:?} {seed} {i} {j}: {mu}");
                }
            }
        }
    }
}

#[test]
fn a_lambda_is_fitted_and_validated_up_to_its_factor() {
    use linkproof_lab::synthetic::{Noise, synthetic};
    let made = synthetic(1, Noise::false_links(0.01)).unwrap();
    let params = |lambda| Params {
        dim: 2,
        score: linkproof_method::params::ScoreKind::Likelihood,
        normalize: linkproof_method::params::Normalize::None,
        ridge: Some(10.0),
        solver: Some(linkproof_method::params::SolverKind::Sgd),
        sampling: Sampling {
            sampler: linkproof_method::params::Sampler::Pairs,
            link_batch: Some(200),
            pair_batch: 4000,
            lambda,
            ..Sampling::default()
        },
        descent: Descent {
            learning_rate: Some(0.02),
            ..Descent::default()
        },
        validation: Some(0.2),
        steps: Some(1000),
        ..Params::default()
    };
    let plain = fit(&params(None).check().unwrap(), &made.data).unwrap();
    let unbiased = plain.report().plan.sampling.lambda.unwrap();
    let model = fit(&params(Some(8.0 * unbiased)).check().unwrap(), &made.data).unwrap();
    let report = model.report();
    assert!((report.k - 8.0).abs() < 1e-9, "{}", report.k);
    let (start, best) = report.held_out.unwrap();
    assert!(
        report.best_step > 0 && best < start,
        "{:?}",
        report.held_out
    );
    // The held-out score and the value are those of a fit that needs no factor.
    let (_, other) = plain.report().held_out.unwrap();
    assert!((best - other).abs() < 0.2 * other.abs(), "{best} {other}");
    let values = [report.value, plain.report().value];
    assert!((values[0] / values[1] - 1.0).abs() < 0.2, "{values:?}");
    // So are the expected weights, in sum those of the links.
    let n = model.n_nodes();
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let expected: f64 = pairs.map(|(i, j)| model.mu(i, j)).sum();
    let observed: f64 = made.data.graph().weights().iter().sum();
    assert!(
        (0.5..2.0).contains(&(expected / observed)),
        "{expected} {observed}"
    );
}

#[test]
fn the_law_of_sizes_is_kept_and_checked() {
    use linkproof_method::model::ModelParts;
    use linkproof_method::size::{SizeLaw, SizedLink};
    let sized = |place: u32| SizedLink {
        weight: 0.1 + f64::from(place * place % 17) / 3.0,
        belief: 0.9,
        similarity: f64::from(place % 7),
    };
    let sizes = SizeLaw::estimate(&(0..200).map(sized).collect::<Vec<_>>(), true);
    let parts = fitted(Params::default(), &one_view()).parts().clone();
    let model = Fitted::new(ModelParts { sizes, ..parts }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    save(&model, folder.path().join("m")).unwrap();
    let loaded = load(folder.path().join("m")).unwrap();
    assert_eq!(loaded.model.sizes(), sizes.as_ref());
    assert_eq!(loaded.model.pair(2, 5), model.pair(2, 5));
    // It is the model's own, and no part of what else was noted.
    assert!(!loaded.record.contains_key("sizes"));
    let bytes = to_bytes(&model, &serde_json::Map::new()).unwrap();
    assert_eq!(from_bytes(&bytes).unwrap().model.sizes(), sizes.as_ref());
    let sizes = sizes.map(|law| SizeLaw { unit: -1.0, ..law });
    let parts = model.parts().clone();
    let error = Fitted::new(ModelParts { sizes, ..parts }).unwrap_err();
    assert!(error.to_string().contains("the law of sizes"), "{error}");
}

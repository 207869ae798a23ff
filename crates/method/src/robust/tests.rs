//! Robust fits on planted graphs.

use super::*;
use crate::engine::runtime::Runtime;
use crate::judge::Reason;
use crate::measure::{KMeans, nmi};
use crate::model::{End, NewLink};
use crate::size::tests::planted;
use crate::support::planted::{Planted, Rows};
use crate::verdict::Explained;
use crate::{Dataset, Features, Matrix};

/// Settings of a small fit.
fn small() -> crate::CheckedParams {
    let params = crate::Params {
        dim: 8,
        ..Default::default()
    };
    params.check().unwrap()
}

fn quick() -> Recipe {
    Recipe {
        ridges: vec![1.0, 3.0],
        ..Recipe::default()
    }
}

fn run(data: &Dataset) -> Robust {
    fit_robust(&small(), data, &quick(), Runtime::default()).unwrap()
}

fn clusters(plan: &Planted, y: &[f32]) -> f64 {
    let truth: Vec<u32> = (0..plan.nodes as u32)
        .map(|node| plan.class(node))
        .collect();
    let found = KMeans::new(plan.classes, 0).fit(y, plan.nodes, 8).unwrap();
    nmi(&truth, &found.labels).unwrap()
}

/// As bloggers link: many links, of nodes of very uneven degrees, some of them
/// inside a class, and data vectors that tell the class.
fn bloggers(inside: f64) -> Planted {
    Planted {
        nodes: 500,
        classes: 5,
        degree: 60,
        inside,
        tail: 1.2,
        spread: 1.2,
        columns: 40,
    }
}

#[test]
fn embeddings_are_not_smoothed_over_links_that_cross_classes() {
    let plan = bloggers(0.2);
    let robust = run(&plan.data(&plan.links(1), plan.vectors(1)));
    assert!(robust.smoothed.is_none(), "{:?}", robust.check);
    assert_eq!(robust.embeddings(), robust.model.embeddings());
}

#[test]
fn features_alone_explain_more_than_links_that_cross_classes_and_less_than_others() {
    let plan = Planted {
        spread: 0.5,
        columns: 40,
        ..Planted::default()
    };
    let alone = |links: &Rows| {
        let robust = run(&plan.data(links, plan.vectors(1)));
        let found = KMeans::new(plan.classes, 0);
        let truth: Vec<u32> = (0..plan.nodes as u32).map(|n| plan.class(n)).collect();
        let x: Vec<f32> = plan.vectors(1).iter().map(|&x| x as f32).collect();
        let raw = found.fit(&x, plan.nodes, plan.columns).unwrap();
        let raw = nmi(&truth, &raw.labels).unwrap();
        (
            robust.summary(&quick()).facts.features_alone().unwrap(),
            raw - clusters(&plan, robust.embeddings()),
        )
    };
    let (ratio, better) = alone(&plan.links(1));
    assert!(ratio < 1.0 && better < 0.0, "{ratio} {better}");
    // Every link leads to the next class.
    let next = |link: (u32, u32, f64)| (link.0, (link.1 + 1) % plan.nodes as u32, link.2);
    let crossing = plan.links(1).into_iter().map(next).collect();
    let (ratio, better) = alone(&crossing);
    assert!(ratio > 1.0 && better > 0.0, "{ratio} {better}");
}

#[test]
fn many_uneven_links_of_which_two_in_five_stay_inside_do_no_harm() {
    let plan = bloggers(0.4);
    let robust = run(&plan.data(&plan.links(1), plan.vectors(1)));
    let plain = clusters(&plan, robust.model.embeddings());
    let chosen = clusters(&plan, robust.embeddings());
    let found = format!("{plain} {chosen} {:?}", robust.check);
    assert!(chosen > plain - 0.02 && chosen > 0.9, "{found}");
}

#[test]
fn walks_keep_few_links_a_node() {
    let plan = bloggers(0.4);
    let data = plan.data(&plan.links(1), plan.vectors(1));
    let walked = walks_over(&data, data.graph(), 4).unwrap();
    assert!(walked.n_links() <= 64 * plan.nodes);
    let total = |graph: &crate::Graph| graph.weights().iter().sum::<f64>();
    assert!((total(&walked) / total(data.graph()) - 1.0).abs() < 1e-9);
}

#[test]
fn embeddings_are_smoothed_over_links_of_like_nodes_and_false_links_do_not_spoil_them() {
    let plan = Planted {
        inside: 0.95,
        spread: 0.6,
        columns: 40,
        ..Planted::default()
    };
    let mut links = plan.links(2);
    let clean = run(&plan.data(&links, plan.vectors(2)));
    assert!(clean.smoothed.is_some(), "{:?}", clean.check);
    plan.add_false(&mut links, 0.5, false, 3);
    let robust = run(&plan.data(&links, plan.vectors(2)));
    let (before, after) = (
        clusters(&plan, clean.embeddings()),
        clusters(&plan, robust.embeddings()),
    );
    assert!(before > 0.8 && after > before - 0.15, "{before} {after}");
}

#[test]
fn the_unit_of_the_weights_is_that_of_expected_weights_alone() {
    let plan = Planted {
        nodes: 300,
        ..Planted::default()
    };
    let mut links = plan.links(4);
    for (link, weight) in links.iter_mut().zip(planted("geometric", 1_200, 4)) {
        link.2 = weight;
    }
    let one = run(&plan.data(&links, plan.vectors(4)));
    let believed =
        |robust: &Robust| -> Vec<f64> { robust.judgment.links.iter().map(|l| l.belief).collect() };
    for factor in [1000.0, 0.001] {
        let scaled = links
            .iter()
            .map(|row| (row.0, row.1, factor * row.2))
            .collect();
        let other = run(&plan.data(&scaled, plan.vectors(4)));
        assert_eq!(one.embeddings(), other.embeddings());
        assert_eq!((&one.ridges, one.check), (&other.ridges, other.check));
        assert_eq!(believed(&one), believed(&other));
        let [a, b] = [&one, &other].map(|robust| robust.model.pair(0, 6));
        assert_eq!(a.p_link, b.p_link);
        for (found, expected) in [(b.size, factor * a.size), (b.mu, factor * a.mu)] {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        }
    }
}

#[test]
fn weights_are_expected_by_the_chance_of_a_link_and_its_size() {
    let plan = Planted {
        degree: 20,
        ..Planted::default()
    };
    let mut links = plan.links(14);
    let weights = planted("geometric", links.len(), 14);
    for (link, &weight) in links.iter_mut().zip(&weights) {
        link.2 = weight;
    }
    // Every fiftieth link is honest, and its weight is not.
    let spike = |place: usize| place % 50 == 7;
    let mut sorted = weights.clone();
    sorted.sort_by(f64::total_cmp);
    let far = 10.0 * sorted[sorted.len() * 99 / 100];
    for (place, link) in links.iter_mut().enumerate() {
        if spike(place) {
            link.2 = far;
        }
    }
    let data = plan.data(&links, plan.vectors(14));
    let found = fit_model(&small(), &data, &quick(), Runtime::default()).unwrap();
    let law = *found.model.sizes().unwrap();
    assert_eq!(law.unit, 1.0);
    assert!((law.mean(0.0) - 5.0).abs() < 0.5, "{law:?}");
    let (mut links_expected, mut weight_expected) = (0.0, 0.0);
    for i in 0..plan.nodes {
        for j in 0..i {
            let pair = found.model.pair(i, j);
            assert_eq!(pair.mu, pair.p_link * pair.size);
            links_expected += pair.p_link;
            weight_expected += pair.mu;
        }
    }
    // Where links are dense, 1 - e^-nu is less than the intensity nu, which was fitted.
    let share = links_expected / links.len() as f64;
    assert!(share > 0.7 && share < 1.1, "{share}");
    let mean = weight_expected / links_expected;
    assert!((mean - 5.0).abs() < 0.5, "{mean}");
    // Where a weight is absurd its reason says so, and honest weights have no such reason.
    let judgment = found.model.believed().unwrap();
    let judgment = judgment.judgment(found.model.links()).unwrap();
    for (place, link) in judgment.links.iter().enumerate() {
        let reasons = judgment.reasons(place);
        let is_heavy = reasons.iter().any(|it| matches!(it, Reason::Heavy { .. }));
        assert!(is_heavy || link.weight < far, "{link:?} {reasons:?}");
    }
}

#[test]
fn new_nodes_come_near_to_those_they_are_linked_to_unless_the_link_is_absurd() {
    let plan = Planted {
        inside: 0.95,
        columns: 40,
        ..Planted::default()
    };
    let x = plan.vectors(5);
    let mut links = plan.links(5);
    plan.add_false(&mut links, 0.6, false, 6);
    let data = plan.data(&links, x.clone());
    let robust = run(&data);
    assert!(robust.smoothed.is_some(), "{:?}", robust.check);
    // Two new nodes of class 0, by vectors like those of nodes 0 and 6.
    let vectors: Vec<f64> = (0..40).map(|c| x[c] + 0.3 * x[40 * 6 + c]).collect();
    let features =
        Features::new(Matrix::dense(2, 40, [vectors.clone(), vectors].concat()).unwrap());
    let link = |row: u32, to: u32| NewLink {
        row,
        end: End::Known(to),
        weight: 1.0,
    };
    let links: Vec<NewLink> = (2..8)
        .map(|k| link(0, 6 * k))
        .chain([link(1, 1), link(1, 9)])
        .collect();
    let model = robust.into_model(&data, &Recipe::default(), 0.0).unwrap();
    let alone = embed_new(&model, 0, &features, None).unwrap().embeddings;
    let found = embed_new(&model, 0, &features, Some(&links)).unwrap();
    let beliefs = found.beliefs.as_deref().unwrap();
    let alike: f64 = beliefs[..6].iter().sum::<f64>() / 6.0;
    let absurd: f64 = beliefs[6..].iter().sum::<f64>() / 2.0;
    assert!(alike > absurd + 0.2, "{beliefs:?}");
    assert_eq!(alone[..8], alone[8..]);
    assert_ne!(found.embeddings[..8], alone[..8]);
    assert_eq!(
        found.embeddings[8..],
        alone[8..],
        "links that nobody believes"
    );
    assert_eq!(found.by_links, 1);
    let backwards: Vec<NewLink> = links.iter().rev().copied().collect();
    let turned = embed_new(&model, 0, &features, Some(&backwards)).unwrap();
    assert_eq!(turned.embeddings, found.embeddings, "the order of links");
    for wrong in [link(2, 0), link(0, 600)] {
        assert!(embed_new(&model, 0, &features, Some(&[wrong])).is_err());
    }
}

#[test]
fn without_smoothing_links_of_new_nodes_change_nothing() {
    let plan = Planted::default();
    let x = plan.vectors(5);
    let data = plan.data(&plan.links(5), x.clone());
    let recipe = Recipe {
        threshold: f64::INFINITY,
        ridges: vec![1.0],
        ..Recipe::default()
    };
    let params = crate::Params {
        dim: 4,
        ..Default::default()
    };
    let params = params.check().unwrap();
    let found = fit_model(&params, &data, &recipe, Runtime::default()).unwrap();
    let n_columns = data.views()[0].matrix.as_ref().unwrap().n_columns();
    let features = Features::new(Matrix::dense(1, n_columns, x[..n_columns].to_vec()).unwrap());
    let link = NewLink {
        row: 0,
        end: End::Known(6),
        weight: 1.0,
    };
    let alone = embed_new(&found.model, 0, &features, None).unwrap();
    let linked = embed_new(&found.model, 0, &features, Some(&[link])).unwrap();
    assert_eq!(alone, linked);
    assert_eq!(linked.by_links, 0);
    // To a plain model they are an error: nobody asked it to judge.
    let plain = crate::fit(&params, &data).unwrap();
    let refused = embed_new(&plain, 0, &features, Some(&[link])).unwrap_err();
    assert!(
        refused.to_string().contains("does not average over links"),
        "{refused}"
    );
}

#[test]
fn links_alone_are_not_smoothed() {
    let plan = Planted {
        nodes: 200,
        classes: 8,
        degree: 10,
        inside: 0.95,
        ..Planted::default()
    };
    let graph = crate::Graph::from_rows(200, &plan.links(6)).unwrap();
    let robust = run(&Dataset::from_links(graph).unwrap());
    assert_eq!(robust.check, None);
    assert!(robust.smoothed.is_none());
    assert!(clusters(&plan, robust.embeddings()) > 0.5);
}

#[test]
fn smoothed_embeddings_must_explain_a_share_of_what_others_do() {
    let check = |plain, smoothed| Explained {
        plain,
        smoothed,
        features: 0.3,
    };
    for (plain, smoothed, passes) in [
        (0.4, 0.4, true),
        (0.4, 0.399, true),
        (0.4, 0.38, false),
        (0.0, 0.1, true),
        (0.0, 0.0, false),
    ] {
        assert_eq!(check(plain, smoothed).passes(0.985), passes);
    }
}

#[test]
fn links_that_look_random_get_the_plain_fit() {
    let mut state = 1u64;
    let mut random = |n: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) as u32) % n
    };
    let mut links: Vec<(u32, u32, f64)> = Vec::new();
    while links.len() < 600 {
        let (i, j) = (random(200), random(200));
        let (i, j) = (i.min(j), i.max(j));
        if i != j && !links.iter().any(|link| (link.0, link.1) == (i, j)) {
            links.push((i, j, 1.0));
        }
    }
    let graph = crate::Graph::from_rows(200, &links).unwrap();
    let data = Dataset::from_links(graph).unwrap();
    let robust = run(&data);
    assert!(robust.judgment.facts.abstained);
    let plain = crate::fit(&small(), &data).unwrap();
    assert_eq!(robust.embeddings(), plain.embeddings());
    assert_eq!(robust.judgment.facts.share, None);
}

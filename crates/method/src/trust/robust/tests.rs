//! The whole recipe on planted graphs.

use super::*;
use crate::engine::runtime::Runtime;
use crate::measure::{KMeans, auc, nmi};
use crate::size::tests::planted;
use crate::trust::judge::tests::{Planted, Rows, small};
use crate::trust::smooth::{End, NewLink};
use crate::{Dataset, Features, Matrix};

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
fn averages_are_refused_where_links_know_nothing_of_what_data_tell() {
    let plan = bloggers(0.2);
    let robust = run(&plan.data(&plan.links(1), plan.vectors(1)));
    assert!(!robust.recommends_averages, "{:?}", robust.gate);
    assert_eq!(robust.embeddings(), robust.model.embeddings());
}

#[test]
fn data_vectors_alone_tell_more_where_links_cross_classes_and_less_where_they_do_not() {
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
            robust.vectors_alone().unwrap(),
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
    let [plain, averaged, chosen] = [
        robust.model.embeddings(),
        &robust.averaged,
        robust.embeddings(),
    ]
    .map(|y| clusters(&plan, y));
    let found = format!("{plain} {averaged} {:?}", robust.gate);
    assert!(
        chosen > plain.max(averaged) - 0.02 && chosen > 0.9,
        "{found}"
    );
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
fn averages_are_taken_where_neighbours_are_alike_and_false_links_do_not_spoil_them() {
    let plan = Planted {
        inside: 0.95,
        spread: 0.6,
        columns: 40,
        ..Planted::default()
    };
    let mut links = plan.links(2);
    let clean = run(&plan.data(&links, plan.vectors(2)));
    assert!(clean.recommends_averages, "{:?}", clean.gate);
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
        |robust: &Robust| -> Vec<f64> { robust.judgement.links.iter().map(|l| l.belief).collect() };
    for factor in [1000.0, 0.001] {
        let scaled = links
            .iter()
            .map(|row| (row.0, row.1, factor * row.2))
            .collect();
        let other = run(&plan.data(&scaled, plan.vectors(4)));
        assert_eq!(one.embeddings(), other.embeddings());
        assert_eq!((one.ridge, one.gate), (other.ridge, other.gate));
        assert_eq!(one.judge_ridge, other.judge_ridge);
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
    let settings = AuditSettings {
        judge: true,
        cross_fit: false,
        folds: 5,
        limits: Limits::new(true, None, None, None).unwrap(),
        missing: 0,
        own_links: true,
    };
    let audited = audit(&found.model, &data, &settings, Runtime::default()).unwrap();
    let is_spike = |link: &AuditedLink| link.verdict.weight == far;
    let (spikes, others): (Vec<AuditedLink>, Vec<AuditedLink>) =
        audited.links.iter().copied().partition(is_spike);
    assert!(spikes.len() > 50 && spikes.iter().all(|link| link.suspect));
    let doubted = others.iter().filter(|link| link.suspect).count();
    assert!(doubted as f64 <= 0.1 * others.len() as f64, "{doubted}");
    // Of the suspects by weight a tenth may be honest, which is 13.
    let heavy = others.iter().filter(|link| link.weight_fdr <= 0.1).count();
    assert!(heavy <= 30, "{heavy}");
    let surprises: Vec<f64> = audited.links.iter().map(|link| link.surprise).collect();
    let truth: Vec<bool> = audited.links.iter().map(is_spike).collect();
    let told = auc(&surprises, &truth).unwrap();
    assert!(told > 0.99, "{told}");
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
    let mut robust = run(&data);
    robust.recommends_averages = true;
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
fn without_averages_links_of_new_nodes_change_nothing() {
    let plan = Planted::default();
    let x = plan.vectors(5);
    let data = plan.data(&plan.links(5), x.clone());
    let recipe = Recipe {
        averaging: Averaging::Never,
        ..Recipe::at_ridge(1.0)
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
fn links_alone_get_no_averages() {
    let plan = Planted {
        nodes: 200,
        classes: 8,
        degree: 10,
        inside: 0.95,
        ..Planted::default()
    };
    let graph = crate::Graph::from_rows(200, &plan.links(6)).unwrap();
    let robust = run(&Dataset::from_links(graph).unwrap());
    assert_eq!(robust.gate.told, None);
    assert!(!robust.recommends_averages);
    assert!(clusters(&plan, robust.embeddings()) > 0.5);
}

#[test]
fn averages_of_a_plain_model_ask_the_gate() {
    use super::{Gate, Smoothing, Told, smooth};
    use crate::trust::audit::Judges;
    let plan = Planted {
        spread: 1.5,
        ..Planted::default()
    };
    let params = crate::Params {
        dim: 6,
        ridge: 3.0,
        ..Default::default()
    };
    let params = params.check().unwrap();
    let asked = |plan: &Planted, averaging| {
        let data = plan.data(&plan.links(7), plan.vectors(7));
        let model = crate::fit(&params, &data).unwrap();
        let smoothing = Smoothing {
            judges: Judges::Folds(3),
            times: 2,
            averaging,
        };
        let found = smooth(&model, &data, smoothing, None, Runtime::default()).unwrap();
        (found.0, found.1, model.embeddings().to_vec())
    };
    // Links inside classes, most of them.
    let (found, gate, plain) = asked(&plan, Averaging::Gate);
    let gate = gate.unwrap();
    assert!(gate.opens && found.averaged, "{gate:?}");
    assert_ne!(found.embeddings, plain);
    let (forced, none, _) = asked(&plan, Averaging::Always);
    assert!(none.is_none() && forced.embeddings == found.embeddings);
    // Of three columns none can be held back, so it cannot be tried.
    let narrow = Planted { columns: 3, ..plan };
    let (found, gate, plain) = asked(&narrow, Averaging::Gate);
    assert!(gate == Some(Gate::SHUT) && !found.averaged);
    assert_eq!(found.embeddings, plain);
    let (found, gate, plain) = asked(&narrow, Averaging::Never);
    assert!(gate.is_none() && found.embeddings == plain);
    let told = |plain_clusters, averaged_clusters| Told {
        plain: 0.5,
        averaged: 0.5,
        plain_each: 0.5,
        averaged_each: 0.5,
        plain_clusters,
        averaged_clusters,
        vectors_clusters: 0.3,
    };
    for (plain, averaged, opens) in [
        (0.4, 0.4, true),
        (0.4, 0.399, true),
        (0.4, 0.38, false),
        (0.0, 0.1, true),
        (0.0, 0.0, false),
    ] {
        assert_eq!(Gate::new(told(plain, averaged), 0.985).opens, opens);
    }
}

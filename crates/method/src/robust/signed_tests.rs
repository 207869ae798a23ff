//! Weights of two signs: patterns are fitted, beliefs read them, sizes have a law.

use super::*;
use crate::audit::{AuditSettings, audit};
use crate::data::graph::Graph;
use crate::engine::runtime::Runtime;
use crate::error::Error;
use crate::model::Fit;
use crate::params::{Params, WeightTransform};
use crate::support::planted::{Planted, Rows};
use crate::{Dataset, Matrix};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

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

/// Links inside classes and some between, with signed weights as correlations are.
fn signed(nodes: usize, seed: u64) -> (Planted, Rows) {
    let plan = Planted {
        nodes,
        ..Planted::default()
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut links = plan.links(seed);
    for link in &mut links {
        let sum: f64 = (0..12).map(|_| random.random::<f64>() - 0.5).sum();
        link.2 = (0.1 + 0.25 * sum).tanh();
    }
    (plan, links)
}

fn times(links: &Rows, factor: f64) -> Rows {
    let scaled = links.iter().map(|row| (row.0, row.1, factor * row.2));
    scaled.collect()
}

#[test]
fn a_fit_to_weights_refuses_negative_ones_and_says_what_to_do() {
    let (plan, links) = signed(120, 1);
    let data = plan.data(&links, plan.vectors(1));
    for weights in [WeightTransform::AsIs, WeightTransform::Log1p] {
        let params = Params {
            weights,
            ..small().given().clone()
        };
        let error = Fit::new(&params.check().unwrap()).run(&data).unwrap_err();
        assert!(matches!(error, Error::Negative { weight, .. } if weight < 0.0));
        let said = error.to_string();
        assert!(said.contains("weights = binary or robust = true"), "{said}");
        assert!(error.is_bad_input());
    }
}

#[test]
fn the_unit_of_signed_weights_changes_no_belief_and_no_embedding() {
    let (plan, links) = signed(300, 2);
    let run = |links: &Rows| {
        let data = plan.data(links, plan.vectors(2));
        fit_robust(&small(), &data, &quick(), Runtime::default()).unwrap()
    };
    let one = run(&links);
    assert!(!one.judgment.facts.abstained);
    let believed =
        |robust: &Robust| -> Vec<f64> { robust.judgment.links.iter().map(|l| l.belief).collect() };
    for factor in [1000.0, 0.001] {
        let other = run(&times(&links, factor));
        let beliefs = believed(&one).into_iter().zip(believed(&other));
        let most = beliefs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(most < 1e-9, "{factor}: {most}");
        let y = one.embeddings().iter().zip(other.embeddings());
        let most = y.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most < 1e-4, "{factor}: {most}");
        assert_eq!(one.embeddings(), other.embeddings());
        assert_eq!(believed(&one), believed(&other));
        let [a, b] = [&one, &other].map(|robust| robust.model.pair(0, 6));
        assert!((a.p_link - b.p_link).abs() < 1e-6);
        assert!((b.size - factor * a.size).abs() < 1e-4 * factor.abs());
    }
}

#[test]
fn sizes_of_two_signs_have_a_law_in_robust_and_binary_fits() {
    let (plan, mut links) = signed(400, 3);
    // Every fiftieth link weighs what no correlation does.
    for (place, link) in links.iter_mut().enumerate().filter(|it| it.0 % 50 == 7) {
        link.2 = if place % 100 == 7 { 9.0 } else { -9.0 };
    }
    let data = plan.data(&links, plan.vectors(3));
    let robust = fit_model(&small(), &data, &quick(), Runtime::default()).unwrap();
    let binary = Params {
        weights: WeightTransform::Binary,
        ..small().given().clone()
    };
    let plain = crate::fit(&binary.check().unwrap(), &data).unwrap();
    let pattern = data.with_graph(data.graph().map_weights(|_| 1.0).unwrap());
    let as_ones = crate::fit(&small(), &pattern).unwrap();
    assert_eq!(plain.embeddings(), as_ones.embeddings());
    for model in [&robust.model, &plain] {
        let law = model.sizes().unwrap();
        assert!(model.is_signed() && law.distance < 0.05, "{law:?}");
        assert!((law.mean(0.0) - 0.1).abs() < 0.05, "{law:?}");
        let pair = model.pair(0, 6);
        assert_eq!(pair.mu, pair.p_link * pair.size);
        assert!(pair.strength > 0.0 && pair.signed);
        // The nearest are those that are most likely linked.
        let near = model.neighbors(model.point(0), 5, Some(0), None).unwrap();
        let chances: Vec<f64> = near.iter().map(|it| model.p_link(0, it.row)).collect();
        assert!(chances.is_sorted_by(|a, b| a >= b), "{chances:?}");
        let settings = AuditSettings {
            missing: 2,
            ..AuditSettings::default()
        };
        let audited = audit(model, Some(&data), &settings, Runtime::default()).unwrap();
        assert!(audited.expected.iter().all(|it| it.trust.is_finite()));
        assert_eq!(audited.missing.len(), 2);
    }
}

#[test]
fn where_links_tell_nothing_signed_ones_get_the_plain_fit_to_their_pattern() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut links: Vec<(u32, u32, f64)> = Vec::new();
    for i in 0..80u32 {
        for j in 0..i {
            if random.random_bool(0.1) {
                links.push((j, i, random.random::<f64>() - 0.5));
            }
        }
    }
    let x: Vec<f64> = (0..80 * 6).map(|_| random.random()).collect();
    let features = crate::Features::new(Matrix::dense(80, 6, x).unwrap());
    let data = Dataset::new(Graph::from_rows(80, &links).unwrap(), features).unwrap();
    let found = fit_robust(&small(), &data, &quick(), Runtime::default()).unwrap();
    assert!(found.judgment.facts.abstained);
    assert!(found.model.is_signed());
    assert_eq!(found.model.params().weights, WeightTransform::Binary);
}

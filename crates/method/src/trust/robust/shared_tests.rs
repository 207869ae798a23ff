//! What neighbours share, on planted graphs.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::engine::runtime::Runtime;
use crate::trust::judge::tests::{Planted, Rows, small};
use crate::trust::robust::{Recipe, fit_robust};

/// Data vectors that tell the class, and something of each node's own far better.
fn with_styles(plan: &Planted, seed: u64) -> Vec<f64> {
    let mut x = plan.vectors(seed);
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x5717);
    let style = Planted {
        classes: 4,
        spread: 1.2,
        ..*plan
    };
    let centres = style.vectors(seed + 100);
    for x in x.chunks_exact_mut(plan.columns) {
        let like: usize = random.random_range(0..style.nodes);
        let other = &centres[like * plan.columns..][..plan.columns];
        x.iter_mut().zip(other).for_each(|(x, o)| *x += o);
    }
    x
}

/// Links inside of teams that know nothing of classes.
fn teams(plan: &Planted, seed: u64) -> Rows {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let team: Vec<u32> = (0..plan.nodes)
        .map(|_| random.random_range(0..12))
        .collect();
    let (n, wanted) = (plan.nodes as u32, plan.nodes * plan.degree / 2);
    let mut seen = HashSet::new();
    while seen.len() < wanted {
        let (a, b) = (random.random_range(0..n), random.random_range(0..n));
        if a < b && team[a as usize] == team[b as usize] {
            seen.insert((a, b));
        }
    }
    let mut rows: Rows = seen.into_iter().map(|(a, b)| (a, b, 1.0)).collect();
    rows.sort_by_key(|row| (row.0, row.1));
    rows
}

fn told(plan: &Planted, links: &Rows, vectors: Vec<f64>) -> Shared {
    let data = plan.data(links, vectors);
    let recipe = Recipe::at_ridge(3.0);
    let robust = fit_robust(&small(), &data, &recipe, Runtime::default()).unwrap();
    robust.shared.unwrap()
}

#[test]
fn embeddings_tell_more_of_what_neighbours_share_where_links_follow_classes() {
    let plan = Planted {
        inside: 0.7,
        ..Planted::default()
    };
    let found = told(&plan, &plan.links(1), with_styles(&plan, 1));
    assert!(found.favours_embeddings(), "{found:?}");
    assert!(!found.favours_vectors() && !found.is_nothing(), "{found:?}");
}

#[test]
fn nothing_is_shared_where_links_follow_what_data_vectors_do_not_know() {
    let plan = Planted::default();
    let found = told(&plan, &teams(&plan, 1), plan.vectors(1));
    assert!(found.is_nothing(), "{found:?}");
}

#[test]
fn data_vectors_tell_more_where_links_lead_from_class_to_class() {
    // Every link leads to the next class of six: neighbours are told by the class, which
    // averages over them blur.
    let plan = Planted {
        inside: 1.0,
        spread: 1.2,
        ..Planted::default()
    };
    let next = |link: (u32, u32, f64)| (link.0, (link.1 + 1) % plan.nodes as u32, link.2);
    let crossing: HashSet<(u32, u32)> = plan
        .links(1)
        .into_iter()
        .map(next)
        .map(|(a, b, _)| (a.min(b), a.max(b)))
        .filter(|(a, b)| a != b)
        .collect();
    let mut crossing: Rows = crossing.into_iter().map(|(a, b)| (a, b, 1.0)).collect();
    crossing.sort_by_key(|row| (row.0, row.1));
    let found = told(&plan, &crossing, plan.vectors(1));
    assert!(found.vectors > found.embeddings, "{found:?}");
    assert!(
        !found.favours_embeddings() && !found.is_nothing(),
        "{found:?}"
    );
}

#[test]
fn links_without_data_vectors_tell_nothing() {
    let plan = Planted::default();
    let links = plan.links(1);
    let graph = crate::Graph::from_rows(plan.nodes, &links).unwrap();
    let data = Dataset::with_nodes(graph.clone(), graph.ids().clone()).unwrap();
    let recipe = Recipe::at_ridge(3.0);
    let robust = fit_robust(&small(), &data, &recipe, Runtime::default()).unwrap();
    assert_eq!(robust.shared, None);
}

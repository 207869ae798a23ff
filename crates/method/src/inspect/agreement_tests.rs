use super::*;
use crate::data::graph::Graph;
use crate::trust::judge::tests::{Planted, Rows};

fn look(plan: &Planted, links: &Rows, vectors: Vec<f64>) -> Agreement {
    agreement(&plan.data(links, vectors), 0).unwrap().unwrap()
}

/// Six classes that data vectors tell, with this share of the links inside one.
fn planted(inside: f64, seed: u64) -> Agreement {
    let plan = Planted {
        inside,
        ..Planted::default()
    };
    look(&plan, &plan.links(seed), plan.vectors(seed))
}

#[test]
fn links_that_follow_the_classes_help() {
    for seed in 1..4 {
        let found = planted(0.85, seed);
        assert_eq!(found.relation, Relation::Agree, "{found:?}");
        assert!(!found.vectors_alone);
        assert!(found.says.contains("Links help: clusters"), "{found}");
        // Links of which half join what is unlike are doubted, and not given up.
        let found = planted(0.45, seed);
        assert_eq!(found.relation, Relation::Agree, "{found:?}");
        assert!(found.says.contains("Use a robust fit"), "{found}");
        assert!(!found.vectors_alone);
    }
}

#[test]
fn links_at_random_and_links_across_leave_the_data_vectors_alone() {
    for seed in 1..4 {
        let random = planted(1.0 / 6.0, seed);
        assert_eq!(random.relation, Relation::Unrelated, "{random:?}");
        let across = planted(0.0, seed);
        assert_eq!(across.relation, Relation::Opposed, "{across:?}");
        for found in [random, across] {
            assert!(found.vectors_alone);
            let better = "k-means on the data vectors alone is the better choice";
            assert!(found.says.contains(better), "{found}");
        }
    }
}

#[test]
fn data_vectors_that_are_noise_are_no_better_choice() {
    let plan = Planted::default();
    let noise = Planted {
        spread: 0.0,
        ..plan
    };
    for seed in 1..4 {
        let found = look(&plan, &plan.links(seed), noise.vectors(seed));
        assert_eq!(found.relation, Relation::Unrelated, "{found:?}");
        assert!(!found.vectors_alone, "{found}");
        assert!(found.says.contains("fit to the links alone"), "{found}");
    }
}

#[test]
fn weak_data_vectors_need_the_links() {
    let plan = Planted {
        spread: 0.35,
        ..Planted::default()
    };
    let found = look(&plan, &plan.links(1), plan.vectors(1));
    assert_eq!(found.relation, Relation::Agree, "{found:?}");
    assert!(found.says.contains("Links help"), "{found}");
}

#[test]
fn hubs_do_not_make_links_alike() {
    // Nodes with many links have long data vectors of one kind: among pairs with
    // degrees like theirs, links are no more alike than others.
    let plan = Planted {
        nodes: 800,
        classes: 1,
        inside: 1.0,
        tail: 1.2,
        degree: 12,
        spread: 0.0,
        ..Planted::default()
    };
    let links = plan.links(2);
    let degrees = Graph::from_rows(800, &links).unwrap().degrees();
    let mut vectors = plan.vectors(2);
    for (row, x) in vectors.chunks_exact_mut(plan.columns).enumerate() {
        x[0] += 3.0 * f64::from(degrees[row]).ln_1p();
    }
    let found = look(&plan, &links, vectors);
    assert!((found.alike - 0.5).abs() < 0.03, "{found:?}");
}

#[test]
fn the_unit_of_the_weights_changes_nothing_and_few_links_tell_nothing() {
    let plan = Planted::default();
    let mut links = plan.links(3);
    let vectors = plan.vectors(3);
    let one = look(&plan, &links, vectors.clone());
    for (place, link) in links.iter_mut().enumerate() {
        link.2 = 1000.0 * (1 + place % 3) as f64;
    }
    assert_eq!(look(&plan, &links, vectors.clone()), one);
    let few: Rows = links.into_iter().step_by(80).collect();
    let found = look(&plan, &few, vectors);
    assert!(found.error > 0.02 && found.links == few.len(), "{found:?}");
    let random = Agreement::new(0.53, 0.03, 100, None);
    assert_eq!(random.relation, Relation::Unclear);
    assert!(random.says.contains("too few links"), "{random}");
    let alone = Dataset::from_links(Graph::from_rows(3, &[(0, 1, 1.0)]).unwrap()).unwrap();
    assert_eq!(agreement(&alone, 0).unwrap(), None);
}

#[test]
fn of_many_nodes_some_are_taken_with_those_around_them() {
    let n = MOST_NODES + 2000;
    let links: Vec<_> = (0..n as u32)
        .map(|i| (i, (i + 1) % n as u32, 2.0))
        .collect();
    let links = Graph::from_rows(n, &links).unwrap().adjacency();
    let rows = surroundings(&links, 0..n, 1);
    assert_eq!(rows.len(), MOST_NODES);
    assert!(rows.is_sorted_by(|a, b| a < b));
    let part = inside(&links, 0, &rows);
    // Nearly all of the neighbours came along.
    let kept = part.n_pairs() as f64 / rows.len() as f64;
    assert!(kept > 0.85, "{kept}");
    assert!((0..rows.len()).all(|row| part.row(row).1.iter().all(|&weight| weight == 1.0)));
}

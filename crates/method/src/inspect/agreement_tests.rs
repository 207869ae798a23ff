use super::*;
use crate::data::graph::Graph;
use crate::engine::runtime::Runtime;
use crate::inspect::judged::judged;
use crate::support::planted::{Planted, Rows};

fn agreement(data: &Dataset) -> Option<Agreement> {
    judged(data, 0, Runtime::default()).unwrap().agreement
}

fn look(plan: &Planted, links: &Rows, features: Vec<f64>) -> Agreement {
    agreement(&plan.data(links, features)).unwrap()
}

/// Six classes that features show, with this share of the links inside one.
fn planted(inside: f64, seed: u64) -> Agreement {
    let plan = Planted {
        inside,
        ..Planted::default()
    };
    look(&plan, &plan.links(seed), plan.vectors(seed))
}

#[test]
fn links_inside_classes_agree_with_features() {
    for seed in 1..4 {
        for inside in [0.85, 0.45] {
            let found = planted(inside, seed);
            assert_eq!(found.relation, Relation::Agree, "{found:?}");
            assert!(!found.vectors_alone);
        }
    }
}

#[test]
fn random_links_and_links_across_classes_leave_the_features_alone() {
    for seed in 1..4 {
        let random = planted(1.0 / 6.0, seed);
        assert_eq!(random.relation, Relation::Unrelated, "{random:?}");
        let across = planted(0.0, seed);
        assert_eq!(across.relation, Relation::Opposed, "{across:?}");
        for found in [random, across] {
            assert!(found.vectors_alone);
        }
    }
}

#[test]
fn features_of_noise_are_no_better_choice() {
    let plan = Planted::default();
    let noise = Planted {
        spread: 0.0,
        ..plan
    };
    for seed in 1..4 {
        let found = look(&plan, &plan.links(seed), noise.vectors(seed));
        assert_eq!(found.relation, Relation::Unrelated, "{found:?}");
        assert!(!found.vectors_alone, "{found:?}");
        assert!(!found.vectors_alone, "{found:?}");
    }
}

#[test]
fn the_unit_of_the_weights_changes_nothing_and_few_links_claim_nothing() {
    let plan = Planted::default();
    let mut links = plan.links(3);
    let features = plan.vectors(3);
    let one = look(&plan, &links, features.clone());
    for (place, link) in links.iter_mut().enumerate() {
        link.2 = 1000.0 * (1 + place % 3) as f64;
    }
    assert_eq!(look(&plan, &links, features.clone()), one);
    let few: Rows = links.into_iter().step_by(80).collect();
    let found = look(&plan, &few, features);
    assert!(found.error > 0.02 && found.links == few.len(), "{found:?}");
    assert_eq!(relation(0.53, 0.03), Relation::Unclear);
    assert_eq!(relation(0.53, 0.007), Relation::Agree);
    assert_eq!(relation(0.46, 0.009), Relation::Opposed);
    assert_eq!(relation(0.51, 0.01), Relation::Unrelated);
    let alone = Dataset::from_links(Graph::from_rows(3, &[(0, 1, 1.0)]).unwrap()).unwrap();
    assert_eq!(agreement(&alone), None);
}

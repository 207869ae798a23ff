use super::*;
use crate::params::Params;
use crate::support::planted::{Planted, Rows};

fn small() -> CheckedParams {
    let params = Params {
        dim: 8,
        ..Params::default()
    };
    params.check().unwrap()
}

fn fitted(plan: &Planted, links: &Rows, features: Vec<f64>) -> PlainVerdict {
    let data = plan.data(links, features);
    let model = crate::fit(&small(), &data).unwrap();
    plain_verdict(&model, &data, Runtime::default()).unwrap()
}

#[test]
fn links_that_help_links_that_are_false_and_links_that_lead_elsewhere() {
    let plan = Planted {
        inside: 0.97,
        ..Planted::default()
    };
    for seed in 1..4 {
        let clean = fitted(&plan, &plan.links(seed), plan.vectors(seed));
        assert_eq!(clean.advice, Advice::Unknown, "{clean:?}");
        let mut links = plan.links(seed);
        plan.add_false(&mut links, 0.5, false, seed + 5);
        let dirty = fitted(&plan, &links, plan.vectors(seed));
        let share = dirty.judged.as_ref().unwrap().facts.share.unwrap();
        // A third of them is false.
        assert!(
            (share.low..share.high + 0.03).contains(&(1.0 / 3.0)),
            "{share:?}"
        );
        assert_eq!(dirty.advice, Advice::FitRobustly, "{dirty:?}");
        let across = Planted {
            inside: 0.0,
            ..plan
        };
        let across = fitted(&across, &across.links(seed), across.vectors(seed));
        assert_eq!(across.advice, Advice::VectorsAlone);
    }
}

#[test]
fn weights_that_lead_a_fit_are_named() {
    let plan = Planted::default();
    let mut links = plan.links(3);
    links.iter_mut().step_by(40).for_each(|link| link.2 = 100.0);
    let led = fitted(&plan, &links, plan.vectors(3));
    let found = led.leading.unwrap();
    assert!(
        (found.share - 0.025).abs() < 1e-9 && found.share_weight > 0.7,
        "{found:?}"
    );
    assert_eq!(led.advice, Advice::FitRobustly);
    let data = plan.data(&links, plan.vectors(3));
    for (score, weights) in [("probability", "asis"), ("moment", "log1p")] {
        let params = Params {
            dim: 8,
            score: score.parse().unwrap(),
            weights: weights.parse().unwrap(),
            ..Params::default()
        };
        assert_eq!(leading(&params.check().unwrap(), &data), None);
    }
}

#[test]
fn a_ring_alone_and_a_graph_without_memory_for_the_judge() {
    let ring: Rows = (0..20u32)
        .map(|node| (node, (node + 1) % 20, 1.0))
        .collect();
    let graph = crate::Graph::from_rows(20, &ring).unwrap();
    let data = Dataset::from_links(graph).unwrap();
    let params = Params {
        dim: 2,
        ..Params::default()
    };
    let model = crate::fit(&params.check().unwrap(), &data).unwrap();
    let found = plain_verdict(&model, &data, Runtime::default()).unwrap();
    assert_eq!(
        (found.agreement.as_ref(), found.advice),
        (None, Advice::Unknown)
    );
    assert!(found.judged.as_ref().is_some_and(|it| it.facts.abstained));
    let found = PlainVerdict {
        judged: None,
        not_judged: Some("why".to_owned()),
        ..found
    };
    assert_eq!(found.advice(), Advice::Use);
}

use super::*;
use crate::model::fit;
use crate::params::{CheckedParams, Normalize, ScoreKind};
use crate::synthetic::{Noise, synthetic};

#[test]
fn trust_falls_with_weights_beyond_what_is_expected() {
    assert_eq!(log_trust(1.0, 2.0), 0.0);
    let expected = (0.5f64 * (-0.5f64).exp()) / (-1.0f64).exp();
    assert!((log_trust(1.0, 0.5).exp() - expected).abs() < 1e-12);
    assert!(log_trust(100.0, 0.5) < log_trust(2.0, 0.5));
    let influence = |score, log_trust, mu| Score::new(score, 0.5).influence(log_trust, mu);
    assert_eq!(influence(ScoreKind::Likelihood, -3.0, 0.1), 1.0);
    assert_eq!(influence(ScoreKind::Moment, -3.0, 0.25), 0.5);
    assert_eq!(influence(ScoreKind::Moment, -3.0, 9.0), 1.0);
    assert_eq!(
        influence(ScoreKind::Probability, -4.0, 0.1),
        (-2.0f64).exp()
    );
}

#[test]
fn an_expectation_reads_the_weight_as_the_fit_did() {
    let link = Link {
        src: 0,
        dst: 1,
        weight: 100.0,
    };
    let asis = ExpectedLink::new(&Params::default(), link, Expected::of_count(1.0));
    let logged = Params {
        weights: WeightTransform::Log1p,
        ..Params::default()
    };
    let logged = ExpectedLink::new(&logged, link, Expected::of_count(101f64.ln()));
    assert!(asis.trust < 1e-100);
    assert_eq!((logged.trust, logged.weight), (1.0, 100.0));
}

fn params() -> CheckedParams {
    let params = Params {
        dim: 2,
        ridge: Some(10.0),
        score: ScoreKind::Probability,
        beta: 0.5,
        normalize: Normalize::None,
        ..Params::default()
    };
    params.check().unwrap()
}

#[test]
fn corrupted_weights_are_trusted_least() {
    let made = synthetic(4, Noise::corrupted_weights(0.01, 0.005, 20.0)).unwrap();
    let model = fit(&params(), &made.data).unwrap();
    let settings = AuditSettings::default();
    let found = audit(&model, Some(&made.data), &settings, Runtime::default()).unwrap();
    let mut links = found.expected.clone();
    links.sort_by(|a, b| a.trust.total_cmp(&b.trust));
    let n_heavy = links.iter().filter(|link| link.weight == 20.0).count();
    assert!(n_heavy > 30);
    assert!(links[..n_heavy].iter().all(|link| link.weight == 20.0));
    // Both lists are of the same links in the same order.
    let ends = found.judgment.links.iter().zip(&found.expected);
    for (judged, expected) in ends {
        assert_eq!((judged.src, judged.dst), (expected.src, expected.dst));
        assert_eq!(judged.weight, expected.weight);
    }
}

#[test]
fn missing_pairs_are_those_of_a_plain_search() {
    let made = synthetic(5, Noise::false_links(0.01)).unwrap();
    let model = fit(&params(), &made.data).unwrap();
    let graph = made.data.graph();
    let mut all: Vec<(f64, u32, u32)> = (0..200u32)
        .flat_map(|i| (i + 1..200).map(move |j| (i, j)))
        .filter(|&(i, j)| graph.weight(i, j).is_none())
        .map(|(i, j)| (model.mu(i as usize, j as usize), i, j))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    for count in [1, 17, 500] {
        let found = missing(&model, graph, count);
        assert_eq!(found.len(), count);
        for (found, expected) in found.iter().zip(&all) {
            // Single precision may swap pairs that are as good as equal.
            assert!((found.mu / expected.0 - 1.0).abs() < 1e-5);
            assert!(graph.weight(found.src, found.dst).is_none());
        }
    }
    let n_all = all.len();
    assert_eq!(missing(&model, graph, 100_000).len(), n_all);
}

#[test]
fn links_of_a_fit_to_walks_are_judged_by_averaged_weights() {
    use crate::data::transform::average_over_walks;
    let made = synthetic(3, Noise::false_links(0.01)).unwrap();
    let params = Params {
        walks: 3,
        ..params().given().clone()
    };
    let params = params.check().unwrap();
    let model = fit(&params, &made.data).unwrap();
    let graph = made.data.graph();
    let averaged = average_over_walks(graph, 3, false, |_, _| true).unwrap();
    let found = expected_links(&model, &made.data).unwrap();
    for link in &found {
        let seen = averaged.weight(link.src, link.dst).unwrap();
        let trust = log_trust(seen, link.mu).exp();
        assert!((link.trust - trust).abs() < 1e-12, "{link:?}");
        // The file shows what was observed.
        assert_eq!(Some(link.weight), graph.weight(link.src, link.dst));
    }
    assert_eq!(found.len(), graph.n_links());
    // What the fit sees of a link is a part of it: beside the whole weight every
    // link would look too heavy.
    let mean = |f: &dyn Fn(&ExpectedLink) -> f64| found.iter().map(f).sum::<f64>();
    let raw = mean(&|link| log_trust(link.weight, link.mu).exp());
    assert!(mean(&|link| link.trust) > raw, "{raw}");
}

#[test]
fn a_robust_model_has_the_judgment_of_its_own_links() {
    use crate::robust::{Recipe, fit_model};
    use crate::support::planted::Planted;
    let plan = Planted::default();
    let mut links = plan.links(1);
    plan.add_false(&mut links, 0.2, false, 2);
    let data = plan.data(&links, plan.vectors(1));
    let params = Params {
        dim: 4,
        ..Params::default()
    };
    let recipe = Recipe {
        ridges: vec![3.0],
        ..Recipe::default()
    };
    let params = params.check().unwrap();
    let model = fit_model(&params, &data, &recipe, Runtime::default());
    let model = model.unwrap().model;
    let settings = AuditSettings::default();
    let own = audit(&model, None, &settings, Runtime::default()).unwrap();
    let again = audit(&model, Some(&data), &settings, Runtime::default()).unwrap();
    assert_eq!(own.judgment.links, again.judgment.links);
    assert_eq!(own.judgment.facts, again.judgment.facts);
    assert_eq!(own.expected, again.expected);
    assert!(!own.by_links_alone);
    // The rate of a link is the mean belief of those that are believed no more.
    let least = own.judgment.links.iter().map(|link| link.belief);
    let least = least.fold(1.0, f64::min);
    let rates = &own.false_discovery_rate;
    let smallest = rates.iter().copied().fold(1.0, f64::min);
    assert!((smallest - least).abs() < 1e-12, "{smallest} {least}");
    // A check changes the answer, not the model.
    let first = own.judgment.by_rank()[0];
    let (src, dst) = (own.judgment.links[first].src, own.judgment.links[first].dst);
    let checks = vec![Check {
        src,
        dst,
        real: true,
    }];
    let settings = AuditSettings {
        judge: JudgeSpec {
            checks,
            ..JudgeSpec::default()
        },
        missing: 0,
    };
    let checked = audit(&model, None, &settings, Runtime::default()).unwrap();
    assert_eq!(checked.judgment.links[first].belief, 1.0);
    assert!(!checked.judgment.links[first].suspect);
}

use super::*;
use crate::data::dataset::Dataset;
use crate::data::graph::Graph;
use crate::engine::runtime::Runtime;
use crate::measure::auc;
use crate::model::fit;
use crate::model::folds::Folds;
use crate::params::{Normalize, ScoreKind, WeightTransform};
use crate::size::SizedLink;
use crate::synthetic::{Noise, synthetic};

#[test]
fn trust_falls_with_surprise_only() {
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
fn a_verdict_reads_the_weight_as_the_fit_did() {
    let link = Link {
        src: 0,
        dst: 1,
        weight: 100.0,
    };
    let asis = Verdict::new(&Params::default(), link, Expected::of_count(1.0));
    let logged = Params {
        weights: WeightTransform::Log1p,
        ..Params::default()
    };
    let logged = Verdict::new(&logged, link, Expected::of_count(101f64.ln()));
    assert!(asis.trust < 1e-100);
    assert_eq!((logged.trust, logged.weight), (1.0, 100.0));
}

#[test]
fn ties_of_trust_fall_back_on_the_tail() {
    let link = |dst: u32| Link {
        src: 0,
        dst,
        weight: 1.0,
    };
    let params = Params::default();
    // All are weaker than expected, so all are trusted; the last is the least
    // unlikely to be as large.
    let sorted = least_trusted_first(vec![
        Verdict::new(&params, link(1), Expected::of_count(9.0)),
        Verdict::new(&params, link(2), Expected::of_count(2.0)),
        Verdict::new(&params, link(3), Expected::of_count(4.0)),
    ]);
    assert!(sorted.iter().all(|verdict| verdict.trust == 1.0));
    let order: Vec<u32> = sorted.iter().map(|verdict| verdict.dst).collect();
    assert_eq!(order, [2, 3, 1]);
}

/// The law that the links themselves tell.
fn law(verdicts: &[Verdict]) -> Option<SizeLaw> {
    let link = |verdict: &Verdict| SizedLink {
        weight: verdict.weight,
        belief: 1.0,
        similarity: 0.0,
    };
    SizeLaw::estimate(&verdicts.iter().map(link).collect::<Vec<_>>(), false)
}

fn params() -> CheckedParams {
    let params = Params {
        dim: 2,
        ridge: 10.0,
        score: ScoreKind::Probability,
        beta: 0.5,
        normalize: Normalize::None,
        ..Params::default()
    };
    params.check().unwrap()
}

use crate::params::CheckedParams;

#[test]
fn cross_fits_find_false_links_and_their_rate() {
    let made = synthetic(3, Noise::false_links(0.03)).unwrap();
    let random = random_pairs(&made.data, 4000, 0);
    assert_eq!(random.len(), 4000);
    let folds = Folds::new(0, 5).unwrap();
    let found = cross_fit(&params(), &made.data, folds, &random, Runtime::default()).unwrap();
    assert_eq!(found.verdicts.len(), made.data.graph().n_links());
    let is_false =
        |verdict: &Verdict| made.labels[verdict.src as usize] != made.labels[verdict.dst as usize];
    let truth: Vec<bool> = found.verdicts.iter().map(is_false).collect();
    let doubt: Vec<f64> = found.verdicts.iter().map(|v| -v.trust).collect();
    let ranked = auc(&doubt, &truth).unwrap();
    assert!(ranked > 0.8, "{ranked}");
    let discovery = discover(
        &found.verdicts,
        law(&found.verdicts).as_ref(),
        &found.random,
    );
    // Two thirds of the links are false, and no false one is inside a cluster,
    // as a quarter of all random pairs are: more seem random than are false.
    let share = truth.iter().filter(|x| **x).count() as f64 / truth.len() as f64;
    let seems = discovery.random_share;
    assert!(
        seems > share - 0.1 && seems < share / 0.75 + 0.1,
        "{share} {seems}"
    );
    let called: Vec<bool> = (0..truth.len())
        .filter(|&place| discovery.rates[place] <= 0.1)
        .map(|place| truth[place])
        .collect();
    let wrong = called.iter().filter(|x| !**x).count() as f64 / called.len() as f64;
    assert!(
        called.len() > 200 && wrong < 0.15,
        "{wrong} of {}",
        called.len()
    );
    assert_eq!(discovery.too_heavy, 0);
}

#[test]
fn links_that_are_no_better_than_random_pairs_are_suspects() {
    let link = |mu: f64| {
        let link = Link {
            src: 0,
            dst: 1,
            weight: 1.0,
        };
        Verdict::new(&Params::default(), link, Expected::of_count(mu))
    };
    let random: Vec<f64> = (0..1000).map(|x| f64::from(x) / 1000.0).collect();
    // 300 links like random pairs, 700 that are expected more than any of them.
    let verdicts: Vec<Verdict> = (0..300)
        .map(|x| link((f64::from(x) + 0.5) / 300.0))
        .chain((0..700).map(|_| link(2.0)))
        .collect();
    let found = discover(&verdicts, law(&verdicts).as_ref(), &random);
    assert!((found.random_share - 0.3).abs() < 0.01);
    assert!(found.rates[..290].iter().all(|&rate| rate < 0.05));
    assert!(found.rates[300..].iter().all(|&rate| rate > 0.95));
    let none = discover(&[], law(&[]).as_ref(), &random);
    assert!(none.rates.is_empty());
    // A fit that expects the same of every pair knows no suspects, and counts
    // are no errors where they are common.
    let counts: Vec<Verdict> = (0..100)
        .map(|x| {
            let link = Link {
                src: 0,
                dst: 1,
                weight: if x == 99 { 50.0 } else { f64::from(1 + x % 3) },
            };
            Verdict::new(&Params::default(), link, Expected::of_count(0.01))
        })
        .collect();
    let found = discover(&counts, law(&counts).as_ref(), &[0.01; 50]);
    assert_eq!(found.too_heavy, 1);
    assert!(found.rates[..99].iter().all(|&rate| rate > 0.3));
    assert!(found.rates[99] < 1e-6);
}

#[test]
fn corrupted_weights_are_discovered_as_too_heavy() {
    let made = synthetic(4, Noise::corrupted_weights(0.01, 0.005, 20.0)).unwrap();
    let model = fit(&params(), &made.data).unwrap();
    let verdicts = judge(&model, made.data.graph().links());
    let n_heavy = verdicts.iter().filter(|v| v.weight == 20.0).count();
    assert!(n_heavy > 30);
    assert!(verdicts[..n_heavy].iter().all(|v| v.weight == 20.0));
    let discovery = discover(&verdicts, law(&verdicts).as_ref(), &[]);
    assert_eq!(discovery.too_heavy, n_heavy);
    assert!(discovery.rates[..n_heavy].iter().all(|&rate| rate < 1e-6));
    assert!(discovery.rates[n_heavy..].iter().all(|&rate| rate == 1.0));
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
fn the_baseline_is_the_cosine_and_may_win() {
    use crate::data::features::{Features, Matrix};
    let matrix = Matrix::dense(3, 2, vec![3.0, 4.0, 4.0, 3.0, 0.0, 0.0]).unwrap();
    let graph = Graph::from_rows(3, &[(0, 1, 1.0)]).unwrap();
    let data = Dataset::new(graph.clone(), Features::new(matrix)).unwrap();
    let baseline = Baseline::new(&data).unwrap();
    assert!((baseline.cosine(0, 1).unwrap() - 0.96).abs() < 1e-12);
    assert_eq!(baseline.cosine(0, 2), Some(0.0));
    assert!(Baseline::new(&Dataset::from_links(graph).unwrap()).is_none());
    let links = [(0.1, Some(0.9)), (0.5, Some(0.8)), (0.2, None)];
    let random = [(0.2, Some(0.1)), (0.3, Some(0.2))];
    let contest = contest(&links, &random).unwrap().unwrap();
    assert_eq!((contest.fit, contest.baseline), (0.5, 1.0));
    assert!(contest.baseline_is_better() && contest.links == 2);
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
    let plain = as_fitted(&model, &made.data, &[]).unwrap();
    let folds = Folds::new(0, 3).unwrap();
    let crossed = cross_fit(&params, &made.data, folds, &[], Runtime::default()).unwrap();
    for verdict in plain.verdicts.iter().chain(&crossed.verdicts) {
        let seen = averaged.weight(verdict.src, verdict.dst).unwrap();
        let expected = log_trust(seen, verdict.mu).exp();
        assert!((verdict.trust - expected).abs() < 1e-12, "{verdict:?}");
        // The file shows what was observed.
        assert_eq!(Some(verdict.weight), graph.weight(verdict.src, verdict.dst));
    }
    assert_eq!(plain.verdicts.len(), graph.n_links());
    // What the fit sees of a link is a part of it: beside the whole weight every
    // link would look too heavy.
    let mean = |f: &dyn Fn(&Verdict) -> f64| {
        plain.verdicts.iter().map(f).sum::<f64>() / plain.verdicts.len() as f64
    };
    let raw = mean(&|verdict| log_trust(verdict.weight, verdict.mu).exp());
    assert!(mean(&|verdict| verdict.trust) > raw, "{raw}");
}

/// Links of these weights, about which the model knows nothing else.
fn of_weights(weights: &[f64]) -> Vec<Verdict> {
    let link = |(dst, &weight): (u32, &f64)| {
        let link = Link {
            src: 0,
            dst,
            weight,
        };
        Verdict::new(&Params::default(), link, Expected::of_count(0.02))
    };
    (1..).zip(weights).map(link).collect()
}

#[test]
fn honest_heavy_weights_are_no_suspects_and_spikes_are() {
    use crate::size::tests::{PLANTED, planted};
    const SPIKES: usize = 100;
    for (seed, name) in (20..).zip(PLANTED) {
        let mut weights = planted(name, 5_000, seed);
        let honest = of_weights(&weights);
        let law_of_honest = law(&honest);
        let found = discover(&honest, law_of_honest.as_ref(), &[]);
        let called = |rates: &[f64]| rates.iter().filter(|&&rate| rate <= 0.1).count();
        assert!(called(&found.weight_rates) <= 5, "{name} {law_of_honest:?}");
        let mut sorted = weights.clone();
        sorted.sort_by(f64::total_cmp);
        weights[..SPIKES].fill(10.0 * sorted[4_950]);
        let spiked = of_weights(&weights);
        let law = law(&spiked);
        let found = discover(&spiked, law.as_ref(), &[]);
        assert_eq!(
            called(&found.weight_rates[..SPIKES]),
            SPIKES,
            "{name} {law:?}"
        );
        // A tenth of all suspects are expected, so eleven.
        assert!(
            called(&found.weight_rates[SPIKES..]) <= 25,
            "{name} {law:?}"
        );
        let surprises = spiked.iter().map(|link| link.surprise(law.as_ref()));
        let surprises: Vec<f64> = surprises.collect();
        let is_spike: Vec<bool> = (0..weights.len()).map(|place| place < SPIKES).collect();
        let told = auc(&surprises, &is_spike).unwrap();
        assert!(told > 0.99, "{name} {told}");
    }
}

#[test]
fn surprise_is_of_a_link_and_of_its_size() {
    let counts = of_weights(&[1.0, 1.0, 1.0, 1.0, 40.0]);
    let law = law(&of_weights(&[1.0; 200]));
    let p_link = -(-0.02f64).exp_m1();
    for link in &counts[..4] {
        assert_eq!(link.p_link, p_link);
        assert!((link.surprise(law.as_ref()) + p_link.log10()).abs() < 1e-12);
    }
    assert!(counts[4].surprise(law.as_ref()) > 20.0);
    assert!((counts[4].surprise(None) + p_link.log10()).abs() < 1e-12);
}

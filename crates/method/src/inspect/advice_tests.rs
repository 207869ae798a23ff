//! Advice on planted graphs, whose weights are known to be honest or not.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, LogNormal, Poisson};

use super::*;
use crate::data::dataset::Dataset;
use crate::data::graph::Graph;
use crate::inspect::{Report, inspect};
use crate::support::planted::{Planted, Rows};

const SEEDS: std::ops::Range<u64> = 1..4;

fn look(data: &Dataset) -> Report {
    inspect(data, &Params::default().check().unwrap()).unwrap()
}

/// Links inside classes that features show, with weights from `draw`.
fn planted(seed: u64, mut draw: impl FnMut(&mut ChaCha8Rng, bool) -> f64) -> (Planted, Rows) {
    let plan = Planted {
        inside: 0.9,
        ..Planted::default()
    };
    let mut links = plan.links(seed);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(9);
    for link in &mut links {
        link.2 = draw(&mut random, plan.class(link.0) == plan.class(link.1));
    }
    (plan, links)
}

/// A report with features and one on the links alone.
fn both(plan: &Planted, links: &Rows, seed: u64) -> [Report; 2] {
    let alone = Graph::from_rows(plan.nodes, links).unwrap();
    let alone = Dataset::from_links(alone).unwrap();
    [look(&plan.data(links, plan.vectors(seed))), look(&alone)]
}

fn settings(report: &Report) -> (ScoreKind, WeightTransform) {
    (report.advice.score, report.advice.weights)
}

const KEEP: (ScoreKind, WeightTransform) = (ScoreKind::Moment, WeightTransform::AsIs);
const TAME: (ScoreKind, WeightTransform) = (ScoreKind::Moment, WeightTransform::Log1p);
const RESIST: (ScoreKind, WeightTransform) = (ScoreKind::Probability, WeightTransform::AsIs);

fn not_zero(draw: impl Fn(&mut ChaCha8Rng) -> f64, random: &mut ChaCha8Rng) -> f64 {
    loop {
        let weight = draw(random);
        if weight > 0.0 {
            return weight;
        }
    }
}

fn count(random: &mut ChaCha8Rng, mean: f64) -> f64 {
    Poisson::new(mean).unwrap().sample(random)
}

#[test]
fn citations_and_plain_counts_keep_their_weights() {
    for seed in SEEDS {
        let (plan, links) = planted(seed, |_, _| 1.0);
        for report in both(&plan, &links, seed) {
            assert_eq!(settings(&report), KEEP);
        }
        let (plan, links) = planted(seed, |random, inside| {
            not_zero(
                |random| count(random, if inside { 3.0 } else { 1.0 }),
                random,
            )
        });
        for report in both(&plan, &links, seed) {
            assert_eq!(settings(&report), KEEP);
        }
    }
}

#[test]
fn contacts_and_co_occurrences_are_tamed_and_never_resisted() {
    type Draw = fn(&mut ChaCha8Rng, bool) -> f64;
    let contacts: Draw = |random, _| LogNormal::new(0.0f64, 1.2).unwrap().sample(random).ceil();
    // Many contacts inside a class, few outside.
    let close: Draw = |random, inside| {
        let mean: f64 = if inside { 1.0 } else { -1.0 };
        LogNormal::new(mean, 1.2).unwrap().sample(random).ceil()
    };
    // Mostly single contacts, and a long tail: by a power law.
    let single: Draw = |random, _| random.random_range(0.0f64..1.0).powf(-0.8).floor();
    let co_occurrences: Draw = |random, _| {
        let rate = Gamma::new(0.125, 80.0).unwrap();
        not_zero(
            |random| {
                let mean: f64 = rate.sample(random);
                if mean > 1e-9 {
                    count(random, mean)
                } else {
                    0.0
                }
            },
            random,
        )
    };
    for seed in SEEDS {
        for (name, draw) in [
            ("contacts", contacts),
            ("close", close),
            ("single", single),
            ("co-occurrences", co_occurrences),
        ] {
            let (plan, links) = planted(seed, draw);
            for report in both(&plan, &links, seed) {
                assert_eq!(settings(&report), TAME, "{name}: {:?}", report.advice);
            }
        }
        let (plan, links) = planted(seed, close);
        let report = look(&plan.data(&links, plan.vectors(seed)));
        assert_eq!(report.advice.because, Look::Signal);
    }
}

#[test]
fn corrupted_weights_are_resisted_by_their_sizes_or_by_what_else_is_known() {
    for seed in SEEDS {
        // Links as they are, some of their weights absurd.
        let (plan, links) = planted(seed, |random, _| match random.random_bool(0.02) {
            true => 200.0,
            false => f64::from(random.random_range(1..4u8)),
        });
        for report in both(&plan, &links, seed) {
            assert_eq!(settings(&report), RESIST, "{:?}", report.advice);
            assert_eq!(report.advice.because, Look::Apart);
        }
        // Many false links, all of them heavy.
        let (plan, mut links) = planted(seed, |random, _| f64::from(random.random_range(1..4u8)));
        let sound = links.len();
        plan.add_false(&mut links, 0.4, false, seed + 10);
        links[sound..].iter_mut().for_each(|link| link.2 = 30.0);
        let report = look(&plan.data(&links, plan.vectors(seed)));
        assert_eq!(settings(&report), RESIST, "{:?}", report.advice);
        assert_eq!(report.advice.because, Look::Unlikely);
    }
}

#[test]
fn heavy_weights_that_mark_the_best_links_are_signal_however_far_they_stand() {
    for seed in SEEDS {
        // Two kinds of links: close ones that weigh 50, and others.
        let (plan, links) = planted(seed, |random, inside| match inside {
            true if random.random_bool(0.3) => 50.0,
            _ => 1.0,
        });
        let mut links = links;
        plan.add_false(&mut links, 0.4, false, seed + 20);
        let report = look(&plan.data(&links, plan.vectors(seed)));
        assert_eq!(settings(&report), TAME, "{:?}", report.advice);
        assert_eq!(report.advice.because, Look::Signal);
    }
}

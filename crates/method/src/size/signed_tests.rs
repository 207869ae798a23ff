use super::*;
use crate::size::Family;
use crate::support::is_derivative;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};

/// Weights of two signs as people have them, with similarities.
fn planted(name: &str, n: usize, seed: u64) -> Vec<SizedLink> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let normal = |random: &mut ChaCha8Rng, mean: f64, deviation: f64| -> f64 {
        Normal::new(mean, deviation).unwrap().sample(random)
    };
    let mut link = || -> SizedLink {
        let similarity = normal(&mut random, 0.0, 1.0);
        let weight = match name {
            "correlations" => normal(&mut random, 0.1 + 0.2 * similarity, 0.2).tanh(),
            // Those that are left above a threshold.
            "strong" => loop {
                let r = normal(&mut random, 0.1, 0.4).tanh();
                if r.abs() > 0.3 {
                    break r;
                }
            },
            "votes" => {
                let negative = random.random_bool(chance(-1.0 - 1.5 * similarity));
                let count = 1.0 + (random.random::<f64>().ln() / 0.6f64.ln()).floor();
                if negative { -count } else { count }
            }
            _ => {
                let negative = random.random_bool(0.4);
                let size = normal(&mut random, 1.0, 0.7).exp();
                if negative { -size } else { size }
            }
        };
        SizedLink {
            weight,
            belief: 0.9,
            similarity,
        }
    };
    (0..n).map(|_| link()).collect()
}

const NAMES: [&str; 4] = ["correlations", "strong", "votes", "flows"];

/// Kolmogorov's distance of fresh weights from what the law says of their ranks.
fn far(law: &SizeLaw, fresh: &[SizedLink]) -> f64 {
    let rank = |link: &SizedLink| (law.rank(link.weight, link.similarity), link.belief);
    distance(&fresh.iter().map(rank).collect::<Vec<_>>())
}

#[test]
fn fresh_weights_of_two_signs_are_uniform_under_the_law() {
    for name in NAMES {
        let law = SizeLaw::estimate(&planted(name, 10_000, 1), true).unwrap();
        let sides = law.negative.is_some();
        assert_eq!(sides, name != "correlations", "{name}: {law:?}");
        assert!(law.is_signed() && law.is_sound());
        let found = far(&law, &planted(name, 10_000, 2));
        println!("{name}: {found:.4} {:.4} {:?}", law.distance, law.family);
        // No law of sizes begins at a threshold.
        let most = if name == "strong" { 0.05 } else { 0.03 };
        assert!(found < most, "{name}: {found}");
        assert_eq!(name == "votes", law.family.is_counts());
    }
}

#[test]
fn absurd_weights_do_not_tell_the_law_and_are_told_by_it() {
    for name in NAMES {
        let honest = planted(name, 5_000, 3);
        let mut sizes: Vec<f64> = honest.iter().map(|link| link.weight.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let absurd = 10.0 * sizes[sizes.len() * 99 / 100];
        let mut links = honest.clone();
        for (place, link) in links.iter_mut().enumerate().filter(|it| it.0 % 50 == 0) {
            link.weight = if place % 100 == 0 { absurd } else { -absurd };
        }
        let law = SizeLaw::estimate(&links, true).unwrap();
        let found = far(&law, &honest);
        assert!(found < 0.05, "{name}: {found}");
        for weight in [absurd, -absurd] {
            assert!(law.log_chance(weight, 0.0) < 1e-5f64.ln(), "{name}");
        }
        let calm = honest
            .iter()
            .filter(|link| law.log_chance(link.weight, link.similarity) < -6.9);
        assert!(calm.count() < 60, "{name}");
    }
}

#[test]
fn units_and_the_sign_of_all_weights_are_the_laws_alone() {
    for name in NAMES {
        let links = planted(name, 2_000, 4);
        let one = SizeLaw::estimate(&links, true).unwrap();
        for factor in [1000.0, -1.0, -0.5] {
            let scaled: Vec<SizedLink> = links
                .iter()
                .map(|link| SizedLink {
                    weight: factor * link.weight,
                    ..*link
                })
                .collect();
            let other = SizeLaw::estimate(&scaled, true).unwrap();
            assert_eq!(one.family, other.family);
            for s in [-1.0, 0.0, 2.0] {
                let apart = other.mean(s) - factor * one.mean(s);
                assert!(apart.abs() < 1e-5 * other.unit, "{name} {factor}: {apart}");
                let chances = [one.log_chance(0.4, s), other.log_chance(0.4 * factor, s)];
                assert!((chances[0] - chances[1]).abs() < 1e-4, "{name} {chances:?}");
            }
        }
    }
}

#[test]
fn signs_are_told_by_the_penalised_likelihood() {
    let links = planted("votes", 400, 5);
    let signs = Signs::estimate(&links, true);
    // In deviations of the similarity, as the prior is.
    let all: f64 = links.iter().map(|link| link.belief).sum();
    let mean = links
        .iter()
        .map(|it| it.belief * it.similarity)
        .sum::<f64>()
        / all;
    let squares = links
        .iter()
        .map(|it| it.belief * (it.similarity - mean).powi(2));
    let unit = (squares.sum::<f64>() / all).sqrt();
    let at = [signs.log_odds + signs.slope * mean, signs.slope * unit];
    let paid = |theta: [f64; 2]| -> f64 {
        let of_links = links.iter().map(|link| {
            let p = chance(theta[0] + theta[1] * (link.similarity - mean) / unit);
            let of_sign = if link.weight < 0.0 { p } else { 1.0 - p };
            -link.belief * of_sign.ln()
        });
        of_links.sum::<f64>() + 0.125 * (theta[0].powi(2) + theta[1].powi(2))
    };
    let by = [
        is_derivative(0.0, 1e-5, |step| paid([at[0] + step, at[1]])),
        is_derivative(0.0, 1e-5, |step| paid([at[0], at[1] + step])),
    ];
    assert!(by.iter().all(Result::is_ok), "{by:?}");
    assert!(signs.slope < -1.0, "{signs:?}");
    // Signs that say nothing of similarities have no slope, and one sign alone is finite.
    assert_eq!(Signs::estimate(&planted("flows", 400, 6), true).slope, 0.0);
    let negative: Vec<SizedLink> = links
        .iter()
        .map(|link| SizedLink {
            weight: -link.weight.abs(),
            ..*link
        })
        .collect();
    let law = SizeLaw::estimate(&negative, true).unwrap();
    assert!(law.is_signed() && law.is_sound() && law.mean(0.0) < 0.0);
}

#[test]
fn few_links_of_two_signs_have_a_law_too() {
    for weights in [&[-1.0][..], &[-0.5, 0.5], &[-1.0, -1.0, 2.0]] {
        let link = |&weight: &f64| SizedLink {
            weight,
            belief: 1.0,
            similarity: 0.0,
        };
        let links: Vec<SizedLink> = weights.iter().map(link).collect();
        let law = SizeLaw::estimate(&links, true).unwrap();
        assert!(law.is_sound() && law.family == Family::Normal, "{law:?}");
    }
}

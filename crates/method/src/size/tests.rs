use super::choose::SizedLink;
use super::estimate::{Cell, Problem};
use super::*;
use crate::support::{cases, is_derivative};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, LogNormal, Normal, Poisson};

const FAMILIES: [Family; 5] = [
    Family::NegativeBinomial,
    Family::RoundedLogNormal,
    Family::LogNormal,
    Family::Gamma,
    Family::Normal,
];

/// A size that the family knows, somewhere around its location.
fn some_size(family: Family, eta: f64, rho: f64, away: f64) -> f64 {
    match family {
        Family::NegativeBinomial => (eta + away).exp().ceil().max(1.0),
        Family::RoundedLogNormal => (eta + away * rho.exp()).exp().ceil().clamp(1.0, 1e9),
        Family::LogNormal | Family::Normal => eta + away * rho.exp(),
        Family::Gamma => eta + away * (-0.5 * rho).exp(),
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn slopes_of_size_laws_are_derivatives(
        family in 0..FAMILIES.len(),
        eta in -2.0..5.0f64,
        rho in -1.5..2.5f64,
        away in -2.5..2.5f64,
        beta in 0.05..1.0f64,
    ) {
        let family = FAMILIES[family];
        let x = some_size(family, eta, rho, away);
        let density = |e: f64, r: f64| family.log_density(x, eta + e, rho + r);
        let power = |e: f64, r: f64| family.power(beta, eta + e, rho + r);
        for at in [&density as &dyn Fn(f64, f64) -> Point, &power] {
            let here = at(0.0, 0.0);
            let wanted = |slope: f64| 1e-6 * (1.0 + slope.abs() + here.value.abs());
            for found in [
                is_derivative(here.by_location, wanted(here.by_location), |e| at(e, 0.0).value),
                is_derivative(here.by_shape, wanted(here.by_shape), |r| at(0.0, r).value),
            ] {
                prop_assert!(found.is_ok(), "{:?} {} {} {} {:?}", family, eta, rho, x, found);
            }
        }
    }

    #[test]
    fn slopes_of_the_size_score_are_derivatives(
        family in 0..FAMILIES.len(),
        eta in -1.0..3.0f64,
        rho in -1.0..1.5f64,
        slope in -0.5..0.5f64,
    ) {
        let family = FAMILIES[family];
        let groups = [-1.0, 0.2, 1.4];
        let cells: Vec<Cell> = (0..9)
            .map(|place| Cell {
                x: some_size(family, eta, rho, f64::from(place) * 0.4 - 1.6),
                group: place as usize % 3,
                weight: 0.3 + 0.1 * f64::from(place),
                square: 0.0,
            })
            .collect();
        let problem = Problem {
            family,
            beta: 0.3,
            cells: cells.iter().collect(),
            groups: &groups,
            start: [0.3, 0.1, 0.0],
            shapes: (-5.0, 5.0),
            slopes: true,
        };
        let theta = [eta, rho, slope];
        let (_, by) = problem.evaluate(theta);
        for place in 0..3 {
            let at = |step: f64| {
                let mut moved = theta;
                moved[place] += step;
                problem.evaluate(moved).0
            };
            let found = is_derivative(by[place], 1e-6 * (1.0 + by[place].abs()), at);
            prop_assert!(found.is_ok(), "{:?} {} {:?}", family, place, found);
        }
    }
}

#[test]
fn sums_of_powers_are_those_of_all_terms() {
    // The geometric law of mean m + 1 has a closed form.
    for m in [0.01f64, 1.0, 4.0, 300.0, 1e5] {
        let q = m / (1.0 + m);
        for beta in [0.1, 0.3, 1.0] {
            let p = 1.0 / (1.0 + m);
            let expected = p.powf(1.0 + beta) / (1.0 - q.powf(1.0 + beta));
            let found = Family::NegativeBinomial.power(beta, m.ln(), 0.0).value;
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{m} {beta} {found} {expected}"
            );
        }
    }
    for (family, eta, rho) in [
        (Family::NegativeBinomial, 5.0, 6.0),
        (Family::NegativeBinomial, 6.5, 0.3),
        (Family::NegativeBinomial, 3.0, -2.0),
        (Family::RoundedLogNormal, 5.5, -1.5),
        (Family::RoundedLogNormal, 6.0, 0.0),
        (Family::RoundedLogNormal, 1.0, 0.4),
    ] {
        let term = |k: u32| (1.3 * family.log_density(f64::from(k), eta, rho).value).exp();
        let expected: f64 = (1..400_000).map(term).sum();
        let found = family.power(0.3, eta, rho).value;
        assert!(
            (found / expected - 1.0).abs() < 1e-7,
            "{family:?} {eta} {found} {expected}"
        );
    }
    // Of continuous laws by fine steps.
    for (family, eta, rho) in [
        (Family::LogNormal, 0.3, -0.4),
        (Family::Gamma, 0.3, -1.0),
        (Family::Gamma, -2.0, 2.0),
    ] {
        let step = 1e-3;
        let at = |place: i32| {
            let x = eta + step * f64::from(place);
            step * (1.3 * family.log_density(x, eta, rho).value).exp()
        };
        let expected: f64 = (-80_000..80_000).map(at).sum();
        let found = family.power(0.3, eta, rho).value;
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{family:?} {found} {expected}"
        );
    }
}

#[test]
fn tails_and_means_are_those_of_the_densities() {
    for (family, eta, rho) in [
        (Family::NegativeBinomial, 1.5, 0.0),
        (Family::NegativeBinomial, 3.0, -2.0),
        (Family::NegativeBinomial, 3.0, 5.0),
        (Family::NegativeBinomial, -5.0, 1.0),
        (Family::RoundedLogNormal, 1.2, 0.1),
        (Family::RoundedLogNormal, -0.5, -0.4),
        (Family::RoundedLogNormal, 4.2, -1.0),
    ] {
        let f: Vec<f64> = (1..200_000)
            .map(|k| family.log_density(f64::from(k), eta, rho).value.exp())
            .collect();
        let all: f64 = f.iter().sum();
        assert!((all - 1.0).abs() < 1e-8, "{family:?} {eta} {all}");
        let mean: f64 = f.iter().zip(1..).map(|(f, k)| f * f64::from(k)).sum();
        let found = family.mean(eta, rho);
        assert!(
            (found / mean - 1.0).abs() < 1e-5,
            "{family:?} {eta} {found} {mean}"
        );
        for k in [1usize, 2, 3, 10, 40] {
            let above: f64 = f[k - 1..].iter().sum();
            let found = family.log_above(k as f64, eta, rho).exp();
            assert!(
                (found - above).abs() < 1e-8,
                "{family:?} {eta} {k} {found} {above}"
            );
        }
    }
    // Far out chances are told apart, below the range of numbers too.
    for family in FAMILIES {
        let far = |x: f64| family.log_above(x, 0.0, 0.0);
        assert!(far(60.0) < far(50.0) && far(50.0) < far(40.0), "{family:?}");
        assert!(
            far(1e4).is_finite() || family == Family::Gamma,
            "{family:?}"
        );
    }
}

fn links(sizes: &[f64]) -> Vec<SizedLink> {
    let link = |&weight: &f64| SizedLink {
        weight,
        belief: 0.95,
        similarity: 0.0,
    };
    sizes.iter().map(link).collect()
}

/// Sizes as people have them, by name.
pub(crate) fn planted(name: &str, n: usize, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut draw: Box<dyn FnMut(&mut ChaCha8Rng) -> f64> = match name {
        // Mean 5 on 1, 2, ..
        "geometric" => Box::new(|random| {
            let u: f64 = random.random();
            1.0 + (u.ln() / 0.8f64.ln()).floor()
        }),
        // Mean 10, variance 80 times the mean.
        "co-occurrences" => Box::new(|random| {
            let rates = Gamma::new(10.0 / 79.0, 79.0).unwrap();
            loop {
                let rate: f64 = rates.sample(random);
                if rate > 0.0 {
                    let count: f64 = Poisson::new(rate).unwrap().sample(random);
                    if count >= 1.0 {
                        return count;
                    }
                }
            }
        }),
        "contacts" => Box::new(|random| {
            let x: f64 = LogNormal::new(1.0, 1.2).unwrap().sample(random);
            x.ceil()
        }),
        "strengths" => Box::new(|random| LogNormal::new(-3.0, 0.8).unwrap().sample(random)),
        "rates" => Box::new(|random| Gamma::new(0.7, 3.0).unwrap().sample(random)),
        _ => Box::new(|random| {
            let z: f64 = Normal::new(0.3, 0.2).unwrap().sample(random);
            z.tanh()
        }),
    };
    (0..n).map(|_| draw(&mut random)).collect()
}

pub(crate) const PLANTED: [&str; 6] = [
    "geometric",
    "co-occurrences",
    "contacts",
    "strengths",
    "rates",
    "correlations",
];

/// Kolmogorov's distance of randomised ranks of fresh sizes from uniform ones.
fn distance(law: &SizeLaw, fresh: &[f64], seed: u64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut ranks: Vec<f64> = fresh
        .iter()
        .map(|&weight| {
            let (from, to) = law.rank(weight, 0.0);
            from + (to - from) * random.random::<f64>()
        })
        .collect();
    ranks.sort_by(f64::total_cmp);
    let n = ranks.len() as f64;
    let far = ranks.iter().enumerate().map(|(place, u)| {
        let place = place as f64;
        (u - place / n).abs().max((u - (place + 1.0) / n).abs())
    });
    far.fold(0.0, f64::max)
}

#[test]
fn fresh_weights_are_uniform_under_the_law_also_when_some_seen_ones_were_absurd() {
    for (seed, name) in (0..).zip(PLANTED) {
        let honest = planted(name, 10_000, 2 * seed);
        let fresh = planted(name, 10_000, 2 * seed + 1);
        let mut sorted = honest.clone();
        sorted.sort_by(f64::total_cmp);
        let spike = 10.0 * sorted[9_900];
        for share in [0.0, 0.02] {
            let mut seen = honest.clone();
            let spikes = (share * 10_000.0) as usize;
            seen[..spikes].fill(spike);
            let law = SizeLaw::estimate(&links(&seen), false).unwrap();
            let found = distance(&law, &fresh, 77);
            assert!(found < 0.03, "{name} {share}: {found} {law:?}");
            assert!((law.distance - found).abs() < 0.03, "{name} {law:?}");
            // So small a chance is nobody's among ten thousand.
            let chances = fresh.iter().map(|&w| law.log_chance(w, 0.0));
            let impossible = chances.filter(|&chance| chance < 1e-7f64.ln()).count();
            assert_eq!(impossible, 0, "{name} {share} {law:?}");
            assert!(
                law.log_chance(spike, 0.0) < 1e-5f64.ln(),
                "{name} {share} {law:?}"
            );
        }
    }
}

#[test]
fn the_family_is_that_of_the_weights() {
    let expected = [
        Family::NegativeBinomial,
        Family::NegativeBinomial,
        Family::RoundedLogNormal,
        Family::LogNormal,
        Family::Gamma,
        Family::Normal,
    ];
    for (name, expected) in PLANTED.into_iter().zip(expected) {
        let seen = links(&planted(name, 5_000, 11));
        let law = SizeLaw::estimate(&seen, false).unwrap();
        assert_eq!(law.family, expected, "{name}");
        let mean = seen.iter().map(|it| it.weight).sum::<f64>() / 5_000.0;
        assert!(
            (law.mean(0.0) / mean - 1.0).abs() < 0.1,
            "{name} {mean} {law:?}"
        );
    }
}

#[test]
fn the_unit_of_the_weights_is_the_laws_alone() {
    for name in PLANTED {
        let weights = planted(name, 2_000, 5);
        let one = SizeLaw::estimate(&links(&weights), false).unwrap();
        for factor in [1000.0, 0.125] {
            let scaled: Vec<f64> = weights.iter().map(|weight| factor * weight).collect();
            let other = SizeLaw::estimate(&links(&scaled), false).unwrap();
            assert_eq!(other.family, one.family, "{name}");
            for (a, b) in [
                (other.unit, factor * one.unit),
                (other.location, one.location),
                (other.shape, one.shape),
                (other.mean(0.0), factor * one.mean(0.0)),
                (
                    other.log_chance(scaled[7], 0.0),
                    one.log_chance(weights[7], 0.0),
                ),
            ] {
                assert!((a - b).abs() <= 1e-6 * (1e-3 + b.abs()), "{name} {a} {b}");
            }
        }
    }
}

#[test]
fn sizes_follow_the_similarity_where_links_say_so() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut link = |slope: f64, counts: bool| {
        let similarity: f64 = Normal::new(-4.0, 0.7).unwrap().sample(&mut random);
        let size = (1.0 + slope * (similarity + 4.0)).exp();
        let rate = size * Gamma::new(2.0, 0.5).unwrap().sample(&mut random);
        let weight = match counts {
            true => 1.0 + Poisson::new(rate).unwrap().sample(&mut random),
            false => rate,
        };
        SizedLink {
            weight,
            belief: 0.9,
            similarity,
        }
    };
    for counts in [true, false] {
        let steep: Vec<SizedLink> = (0..6_000).map(|_| link(0.5, counts)).collect();
        let law = SizeLaw::estimate(&steep, true).unwrap();
        let (slope, error) = law.estimated_slope.unwrap();
        assert_eq!(law.slope, slope);
        assert!(error > 0.005 && error < 0.04, "{law:?}");
        if !counts {
            assert!((slope - 0.5).abs() < 4.0 * error, "{law:?}");
        }
        assert!(law.mean(-3.0) > 1.3 * law.mean(-4.5), "{law:?}");
        // Beyond the similarities of links nothing is known.
        assert_eq!(law.mean(-300.0), law.mean(law.similarities.0));
        assert_eq!(law.mean(300.0), law.mean(law.similarities.1));
        let mut sloped = 0;
        for _ in 0..6 {
            let flat: Vec<SizedLink> = (0..2_000).map(|_| link(0.0, counts)).collect();
            let law = SizeLaw::estimate(&flat, true).unwrap();
            let (slope, error) = law.estimated_slope.unwrap();
            assert!(slope.abs() < 4.0 * error, "{law:?}");
            sloped += usize::from(law.slope != 0.0);
        }
        assert!(sloped <= 1, "{sloped}");
    }
}

#[test]
fn links_count_by_belief() {
    let mut seen = links(&planted("geometric", 2_000, 3));
    for place in 0..1_500 {
        seen.push(SizedLink {
            weight: 40.0 + f64::from(place % 3),
            belief: 0.01,
            similarity: 0.0,
        });
    }
    let law = SizeLaw::estimate(&seen, false).unwrap();
    // Believed as the others, they would make it more than 15.
    assert!((law.mean(0.0) - 5.0).abs() < 1.0, "{law:?}");
}

#[test]
fn few_links_and_equal_ones_have_a_law_too() {
    assert_eq!(SizeLaw::estimate(&[], true), None);
    let unbelieved = SizedLink {
        weight: 1.0,
        belief: 0.0,
        similarity: 0.0,
    };
    assert_eq!(SizeLaw::estimate(&[unbelieved], true), None);
    for weight in [1.0, 7.0, 0.3, 1e-200, 1e200, 1e-7] {
        for n in [1, 2, 6, 1_000] {
            let mut seen = links(&vec![weight; n]);
            for (place, link) in seen.iter_mut().enumerate() {
                link.similarity = place as f64;
            }
            for with_slope in [false, true] {
                let law = SizeLaw::estimate(&seen, with_slope).unwrap();
                assert!(law.is_sound(), "{weight} {n} {law:?}");
                assert_eq!(law.log_chance(weight, 0.0), 0.0, "{weight} {n} {law:?}");
                if n == 1_000 {
                    assert!((law.mean(0.0) / weight - 1.0).abs() < 0.01, "{law:?}");
                    assert!(
                        law.log_chance(20.0 * weight, 0.0) < 1e-20f64.ln(),
                        "{law:?}"
                    );
                }
            }
        }
    }
    // Half of all weights are the same, the others are not: none of them is absurd.
    let mut seen = planted("strengths", 2_000, 9);
    seen[..1_000].fill(0.05);
    let law = SizeLaw::estimate(&links(&seen), false).unwrap();
    let absurd = |&&weight: &&f64| law.log_chance(weight, 0.0) < 1e-4f64.ln();
    let absurd = seen.iter().filter(absurd).count();
    assert!(absurd <= 100, "{absurd} {law:?}");
}

#[test]
fn laws_have_the_same_bits_at_any_number_of_threads() {
    let mut seen = links(&planted("contacts", 3_000, 2));
    for (place, link) in seen.iter_mut().enumerate() {
        link.similarity = (place as f64).sin();
    }
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| SizeLaw::estimate(&seen, true))
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn numbers_of_no_law_are_told() {
    let law = SizeLaw::estimate(&links(&[1.0, 2.0, 1.0]), false).unwrap();
    assert!(law.is_sound());
    for wrong in [
        SizeLaw { unit: 0.0, ..law },
        SizeLaw {
            unit: f64::NAN,
            ..law
        },
        SizeLaw {
            location: f64::INFINITY,
            ..law
        },
        SizeLaw {
            location: 1e4,
            ..law
        },
        SizeLaw {
            shape: f64::NAN,
            ..law
        },
        SizeLaw {
            slope: f64::NAN,
            ..law
        },
        SizeLaw {
            similarities: (1.0, 0.0),
            ..law
        },
    ] {
        assert!(!wrong.is_sound(), "{wrong:?}");
    }
}

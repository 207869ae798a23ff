//! What property tests share: their seed and number of cases, and derivatives
//! by differences that know their own error.

// Not every test needs all of it.
#![allow(dead_code, clippy::panic)]

pub mod planted;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// Names a seed: a number, or `random` for a fresh one.
const SEED: &str = "LINKPROOF_TEST_SEED";
/// Says how many times as many cases as usual are run.
const TIMES: &str = "LINKPROOF_TEST_TIMES";

/// The configuration of a property test that usually runs so many cases: the
/// same ones everywhere, unless the environment says otherwise. The seed is
/// printed, which is shown where the test fails. No files are written.
pub fn cases(usual: u32) -> ProptestConfig {
    let times: u32 = variable(TIMES).map_or(1, |times| {
        times
            .parse()
            .unwrap_or_else(|_| panic!("{TIMES} is '{times}', which is no whole number"))
    });
    let seed = seed();
    println!("to run these cases again: {SEED}={seed} {TIMES}={times}");
    ProptestConfig {
        cases: usual * times,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// The seed that the environment names, else a fixed one.
pub fn seed() -> u64 {
    match variable(SEED).as_deref() {
        None => 1,
        Some("random") => {
            let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            clock.map_or(0, |now| now.as_nanos() as u64 % 1_000_000_007)
        }
        Some(seed) => seed
            .parse()
            .unwrap_or_else(|_| panic!("{SEED} is '{seed}': expected a number or 'random'")),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A derivative and how far it may be off.
#[derive(Debug, Clone, Copy)]
pub struct Derivative {
    pub value: f64,
    pub error: f64,
}

/// Central differences need no finer step than this many halvings of the first.
const LEVELS: usize = 14;

/// The derivative at 0 of a function that is smooth there, by central
/// differences extrapolated to a step of zero (Ridders). The step is halved
/// until the error is below `wanted` or rounding takes over; the error is how
/// far neighbouring extrapolations differ, and what rounding of the function's
/// values does to the last of them.
pub fn derivative(wanted: f64, f: impl Fn(f64) -> f64) -> Derivative {
    extrapolated(wanted, 2, |h| {
        let (up, down) = (f(h), f(-h));
        ((up - down) / (2.0 * h), rounding(up, down) / h)
    })
}

/// The same from one side, that of the sign of `side`, for functions that have a
/// kink at 0 or too close to it to be told.
pub fn one_sided(wanted: f64, side: f64, f: impl Fn(f64) -> f64) -> Derivative {
    let here = f(0.0);
    extrapolated(wanted, 1, |h| {
        let there = f(side * h);
        (side * (there - here) / h, rounding(here, there) / h)
    })
}

/// Whether a slope is the derivative at 0 of a function. Where the function has
/// a kink there, or closer than any step, that is the derivative from the left
/// or from the right, and nothing between them.
pub fn is_derivative(slope: f64, wanted: f64, f: impl Fn(f64) -> f64) -> Result<(), String> {
    let fits = |found: &Derivative| {
        let known = found.error <= 10.0 * wanted;
        known && (slope - found.value).abs() <= wanted + 4.0 * found.error
    };
    let sides = [1.0, -1.0].map(|side| one_sided(wanted, side, &f));
    let differ = (sides[0].value - sides[1].value).abs();
    let is_kink = differ > 4.0 * (sides[0].error + sides[1].error + wanted);
    let central = derivative(wanted, &f);
    let is_right = match is_kink {
        true => sides.iter().any(fits),
        false => fits(&central),
    };
    match is_right {
        true => Ok(()),
        false => Err(format!(
            "{slope} is not the derivative: {central:?}, from the sides {sides:?}"
        )),
    }
}

/// The size of the rounding errors of two values, each the result of many
/// operations.
fn rounding(a: f64, b: f64) -> f64 {
    4.0 * f64::EPSILON * (a.abs() + b.abs())
}

/// Extrapolates `difference(h)` (value and rounding error), whose error is a
/// power series in `h^order`, to `h = 0`.
fn extrapolated(wanted: f64, order: i32, difference: impl Fn(f64) -> (f64, f64)) -> Derivative {
    let mut h = 1e-3;
    let (first, _) = difference(h);
    let mut row = vec![first];
    let mut best = Derivative {
        value: first,
        error: f64::INFINITY,
    };
    for _ in 1..LEVELS {
        h *= 0.5;
        let (value, rounding) = difference(h);
        let mut next = vec![value];
        for (place, before) in row.iter().enumerate() {
            let factor = 2f64.powi(order * (place as i32 + 1));
            let last = next[place];
            let better = last + (last - before) / (factor - 1.0);
            let error = (better - last).abs().max((better - before).abs()) + rounding;
            if error < best.error {
                best = Derivative {
                    value: better,
                    error,
                };
            }
            next.push(better);
        }
        if best.error <= 0.1 * wanted {
            break;
        }
        row = next;
    }
    best
}

mod helpers_tests {
    use super::*;

    #[test]
    fn derivatives_know_their_error() {
        // As sharp as a unit whose batch hardly varies: central differences of a
        // step of 1e-5 are wrong in the fourth digit.
        let sharp = |x: f64| (x + 3e-4) / ((x + 3e-4).powi(2) + 1e-6).sqrt();
        let exact = 1e-6 / (3e-4f64.powi(2) + 1e-6).powf(1.5);
        let found = derivative(1e-9 * exact, sharp);
        assert!((found.value - exact).abs() <= 2.0 * found.error);
        assert!(found.error < 1e-7 * exact, "{found:?} {exact}");
        let exact = 0.3f64.cos();
        let found = derivative(1e-10, |x| (0.3 + x).sin());
        assert!((found.value - exact).abs() < 1e-10 && found.error < 1e-10);
        let right = one_sided(1e-8, 1.0, |x| (0.3 + x).sin());
        assert!((right.value - exact).abs() < 1e-8, "{right:?}");
    }

    #[test]
    fn a_kink_allows_its_two_sides_and_nothing_between() {
        for place in [0.0, 1e-9, 1e-5, -3e-5] {
            let kink = |x: f64| x.exp() + 3.0 * (x - place).max(0.0);
            let is = |slope: f64| is_derivative(slope, 1e-7, kink).is_ok();
            // Left of the kink, or right of it.
            assert!(is(if place >= 0.0 { 1.0 } else { 4.0 }), "{place}");
            assert!(!is(2.5) && !is(1.001) && !is(3.999) && !is(7.0), "{place}");
        }
        assert!(is_derivative(1.0, 1e-7, f64::exp).is_ok());
        assert!(is_derivative(1.000_01, 1e-7, f64::exp).is_err());
    }
}

/// What work gives, which must be the same on every instruction set that the
/// machine has.
pub fn on_every_path<R: PartialEq + std::fmt::Debug>(work: impl Fn() -> R) -> R {
    let mut results = linkproof_numeric::processor::on_each(work).into_iter();
    let (first, expected) = results.next().unwrap_or_else(|| panic!("no path"));
    for (processor, found) in results {
        assert_eq!(found, expected, "{processor:?} against {first:?}");
    }
    expected
}

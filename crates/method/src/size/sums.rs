//! Sums over all counts 1, 2, .. of smooth functions: term by term at first, then as
//! integrals over panels of `log k`.
//!
//! By Euler and Maclaurin the terms from `K + 1` on add up to the integral from
//! `K + 1/2` on and a 24th of the slope there, which is `g(K+1) - g(K)`.

use super::Point;
use linkproof_numeric::math;

/// Counts that are summed up one by one.
const SUMMED: usize = 256;
/// Panels of this width in `log k`, or of the law's own spread where that is less.
const WIDTH: f64 = 0.5;
const MOST_PANELS: usize = 4_000;
/// No part of a narrow law lies further away than so many spreads.
const FAR: f64 = 40.0;
/// A part smaller than this share of the whole is none.
const NOTHING: f64 = 1e-17;

/// Gauss and Legendre's rule of eight points: places and weights.
const RULE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_2, 0.101_228_536_290_376_26),
];

/// A sum over counts around `e^centre`, most of them within a factor of `e^spread`.
pub(super) struct Sum {
    centre: f64,
    spread: f64,
}

impl Sum {
    pub(super) fn new(centre: f64, spread: f64) -> Sum {
        Sum { centre, spread }
    }

    /// The sum of `f^{1+beta}`, given `log f` with its derivatives.
    pub(super) fn of_powers(&self, beta: f64, log_f: impl Fn(f64) -> Point) -> Point {
        let mut sum = Point::default();
        self.over(|k, weight| {
            let log_f = log_f(k);
            let term = weight * math::exp((1.0 + beta) * log_f.value);
            sum.value += term;
            sum.by_location += (1.0 + beta) * term * log_f.by_location;
            sum.by_shape += (1.0 + beta) * term * log_f.by_shape;
            term
        });
        sum
    }

    /// Gives places and their weights; is told what each adds.
    fn over(&self, mut add: impl FnMut(f64, f64) -> f64) {
        let mut total = 0.0;
        for k in 1..=SUMMED {
            let term = add(k as f64, 1.0);
            total += term;
            if math::ln(k as f64) > self.centre && term < NOTHING * total {
                return;
            }
        }
        let last = SUMMED as f64;
        total += add(last, -1.0 / 24.0) + add(last + 1.0, 1.0 / 24.0);
        let width = WIDTH.min(self.spread.max(1e-6));
        let mut from = math::ln(last + 0.5).max(self.centre - FAR * width);
        for _ in 0..MOST_PANELS {
            let mut part = 0.0;
            for (place, weight) in RULE {
                for side in [-place, place] {
                    let k = math::exp(from + 0.5 * width * (1.0 + side));
                    part += add(k, 0.5 * width * weight * k);
                }
            }
            total += part;
            from += width;
            if from > self.centre && part < NOTHING * total {
                return;
            }
        }
    }
}

//! How likely a Poisson variable is to reach a weight: `P(X >= w)`, in logs, so
//! that chances far below the range of numbers can be told apart.
//!
//! For whole `w >= 1` the chance is the regularised lower incomplete gamma
//! function `P(w, mu)`, which extends it to real `w > 0`:
//!
//! ```text
//! P(w, mu)     = p(w|mu) (1 + mu/(w+1) + mu^2/((w+1)(w+2)) + ..)     mu < w + 1
//! 1 - P(w, mu) = p(w|mu) w / (mu+1-w - 1(1-w)/(mu+3-w - 2(2-w)/(mu+5-w - ..)))
//! ```
//!
//! (Abramowitz and Stegun, 6.5.29 and 6.5.31), with `p(w|mu) = e^{-mu} mu^w / w!`.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::log_factorial;
use super::probability::log_poisson;
use linkproof_numeric::math;

/// Above this weight the series would be long; its sum is that of a normal
/// variable, but for about one part in the square root of the weight.
const LARGE: f64 = 1e8;

/// `log P(X >= w)` for a Poisson `X` of mean `mu`; real `w` by continuity. About
/// 1e-12 of the chance is lost for `w` and `mu` up to 1e6. 0 for `w <= 0`.
///
/// ```
/// use linkproof::score::log_tail;
/// // P(X >= 1) = 1 - e^-mu
/// assert!((log_tail(1.0, 0.5).exp() - (1.0 - (-0.5f64).exp())).abs() < 1e-15);
/// // A weight of 1,000 where 1 is expected: one chance in 10^2568.
/// assert_eq!((log_tail(1000.0, 1.0) / 10f64.ln()).round(), -2568.0);
/// ```
pub fn log_tail(w: f64, mu: f64) -> f64 {
    if w.is_nan() || mu.is_nan() {
        return f64::NAN;
    }
    if w <= 0.0 || mu == f64::INFINITY {
        return 0.0;
    }
    if mu <= 0.0 || w == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    if mu < w + 1.0 {
        // Rounding must not make a chance of more than one.
        return (log_density(w, mu) + math::ln(series(w, mu))).min(0.0);
    }
    let below = math::exp(log_density(w, mu) + math::ln(w)) * fraction(w, mu);
    math::ln_1p(-below.min(1.0))
}

/// `log P(X >= x)` for a gamma variable `X` of this shape and scale 1.
pub fn log_gamma_above(shape: f64, x: f64) -> f64 {
    if x < shape + 1.0 {
        return math::ln_1p(-math::exp(log_tail(shape, x)));
    }
    (log_density(shape, x) + math::ln(shape) + math::ln(fraction(shape, x))).min(0.0)
}

/// `log P(X >= z)` for a standard normal `X`.
pub fn log_normal_above(z: f64) -> f64 {
    if z < 0.0 {
        return math::ln_1p(-0.5 * math::erfc(-z * FRAC_1_SQRT_2));
    }
    if z < 20.0 {
        return math::ln(0.5 * math::erfc(z * FRAC_1_SQRT_2));
    }
    math::ln(mills_ratio(z)) - 0.5 * (z * z + math::ln(2.0 * PI))
}

/// `log p(w|mu)` for real `w`.
fn log_density(w: f64, mu: f64) -> f64 {
    // Far from `mu` nothing cancels.
    if w > 20.0 && mu > 1e-3 * w {
        return log_poisson(w, mu);
    }
    w * math::ln(mu) - mu - log_factorial(w)
}

/// `1 + mu/(w+1) + mu^2/((w+1)(w+2)) + ..` for `mu < w + 1`.
fn series(w: f64, mu: f64) -> f64 {
    if w > LARGE {
        let root = mu.sqrt();
        return 1.0f64.max(root * mills_ratio((w + 0.5 - mu) / root));
    }
    let (mut term, mut sum, mut below) = (1.0, 1.0, w);
    while term > 1e-17 * sum {
        below += 1.0;
        term *= mu / below;
        sum += term;
    }
    sum
}

/// The continued fraction of `1 - P(w, mu)` for `mu >= w + 1`, by Lentz's
/// method.
fn fraction(w: f64, mu: f64) -> f64 {
    if w > LARGE {
        let root = mu.sqrt();
        return root / w * mills_ratio((mu - w - 0.5) / root);
    }
    let mut b = mu + 1.0 - w;
    let (mut c, mut d) = (f64::INFINITY, 1.0 / b);
    let mut product = d;
    let mut k = 0.0;
    loop {
        k += 1.0;
        let a = -k * (k - w);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        let factor = c * d;
        product *= factor;
        if !((factor - 1.0).abs() > 1e-15) || k > LARGE {
            return product;
        }
    }
}

/// The tail of the standard normal distribution beyond `z`, over its density.
fn mills_ratio(z: f64) -> f64 {
    if z < 20.0 {
        return (0.5 * PI).sqrt() * math::exp(0.5 * z * z) * math::erfc(z * FRAC_1_SQRT_2);
    }
    let r = 1.0 / (z * z);
    (1.0 - r * (1.0 - 3.0 * r * (1.0 - 5.0 * r))) / z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `log sum over k >= w of p(k|mu)`, term by term from the largest on.
    fn direct(w: u32, mu: f64) -> f64 {
        let log_p = |k: f64| k * mu.ln() - mu - log_factorial(k);
        let peak = log_p(f64::from(w).max(mu.floor()));
        let sum: f64 = (w..w + 4000)
            .map(|k| (log_p(f64::from(k)) - peak).exp())
            .sum();
        peak + sum.ln()
    }

    fn close(found: f64, expected: f64, digits: f64) -> bool {
        (found - expected).abs() <= digits * expected.abs().max(1.0)
    }

    #[test]
    fn agrees_with_the_sum_over_the_counts() {
        for mu in [1e-300, 1e-9, 0.03, 0.9, 1.0, 7.5, 40.0, 300.0] {
            for w in [1, 2, 3, 7, 19, 20, 21, 40, 100, 310, 1000] {
                let (found, expected) = (log_tail(f64::from(w), mu), direct(w, mu));
                assert!(close(found, expected, 1e-11), "{w} {mu} {found} {expected}");
            }
        }
    }

    #[test]
    fn both_formulas_meet_where_one_takes_over() {
        // P(w, mu) - P(w + 1, mu) = p(w|mu), across mu = w + 1 and for any w.
        for w in [0.3, 1.5, 12.25, 999.0, 999.9, 1e4, 1e6] {
            for mu in [w + 0.5, w + 0.999_999, w + 1.0, w + 1.000_001, w + 1.5] {
                let chance = log_tail(w, mu).exp() - log_tail(w + 1.0, mu).exp();
                let density = log_density(w, mu).exp();
                assert!(close(chance / density, 1.0, 1e-8), "{w} {mu}");
            }
        }
    }

    #[test]
    fn known_values_of_the_incomplete_gamma_function() {
        // P(1/2, x) = erf(sqrt x)
        for x in [1e-12, 0.01, 0.4, 1.49, 1.5, 1.51, 6.0] {
            let expected = libm::erf(f64::sqrt(x)).ln();
            assert!(close(log_tail(0.5, x), expected, 1e-13), "{x}");
        }
        // P(X >= 1) = 1 - e^-mu, to the last digit even where it is mu.
        for mu in [1e-300, 1e-20, 1e-3, 1.0, 3.0, 30.0] {
            let expected = (-f64::exp_m1(-mu)).ln();
            assert!(close(log_tail(1.0, mu), expected, 1e-14), "{mu}");
        }
    }

    #[test]
    fn chances_fall_with_the_weight_and_grow_with_the_mean() {
        for mu in [1e-300, 0.2, 5.0, 1e3, 1e6, 1e9, 1e15] {
            let step = 0.4 * f64::sqrt(mu).max(0.3);
            let place = |k: i32| (mu + step * f64::from(k)).max(0.0);
            for k in -20..40 {
                let (here, next) = (log_tail(place(k), mu), log_tail(place(k + 1), mu));
                assert!(here.is_finite() && next <= here, "{mu} {k} {here} {next}");
                assert!(log_tail(place(k), 1.01 * mu) >= here - 1e-15, "{mu} {k}");
            }
        }
    }

    #[test]
    fn large_weights_go_over_into_the_normal_distribution() {
        for z in [-3.0, -1.0, 0.0, 1.0, 5.0, 30.0] {
            let at = |mu: f64| log_tail((mu + z * mu.sqrt()).round(), mu);
            // Just below the change the sum is exact; the skew falls with sqrt(mu).
            let (exact, normal) = (at(0.99e8), at(1.01e8));
            assert!(close(exact, normal, 1e-3), "{z} {exact} {normal}");
        }
    }

    #[test]
    fn other_tails_are_what_is_left() {
        for shape in [0.01, 0.5, 1.0, 7.3, 900.0] {
            for x in [1e-6, 0.3, 1.9, 8.4, 30.0, 880.0, 905.0] {
                let sum = log_tail(shape, x).exp() + log_gamma_above(shape, x).exp();
                assert!(close(sum, 1.0, 1e-11), "{shape} {x} {sum}");
            }
            // Of shape 1: e^-x.
            assert!(close(
                log_gamma_above(1.0, 40.0 * shape),
                -40.0 * shape,
                1e-12
            ));
        }
        for z in [-9.0, -1.0, 0.0, 2.0, 8.0] {
            let sum = log_normal_above(z).exp() + log_normal_above(-z).exp();
            assert!(close(sum, 1.0, 1e-14), "{z}");
        }
        // The formulas meet, and the slope of the logarithm is nearly -z.
        let (before, after) = (log_normal_above(20.0 - 1e-9), log_normal_above(20.0));
        assert!(close(before, after, 1e-9), "{before} {after}");
        assert!(log_normal_above(1e8) < -4e15 && log_normal_above(1e8).is_finite());
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(log_tail(0.0, 3.0), 0.0);
        assert_eq!(log_tail(-1.0, 3.0), 0.0);
        assert_eq!(log_tail(2.0, 0.0), f64::NEG_INFINITY);
        assert_eq!(log_tail(2.0, f64::INFINITY), 0.0);
        assert_eq!(log_tail(f64::INFINITY, 2.0), f64::NEG_INFINITY);
        assert!(log_tail(f64::NAN, 2.0).is_nan() && log_tail(2.0, f64::NAN).is_nan());
        assert!(log_tail(1e6, 1e-300).is_finite());
        assert!(log_tail(1e300, 1.0) < -1e300);
        assert_eq!(log_tail(1.0, 1e6), 0.0);
    }
}

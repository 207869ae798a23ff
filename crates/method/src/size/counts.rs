//! Counts: negative binomial of mean `m = e^eta` and dispersion `r = e^rho`
//! (variance `m + m^2/r`), given that they are not zero.
//!
//! ```text
//! f(k) = Gamma(k + r) / (Gamma(r) k!) (r/(r+m))^r (m/(r+m))^k / (1 - p0),
//! p0 = (r/(r+m))^r
//! ```
//!
//! The geometric law on 1, 2, .. is the case `r = 1`, the Poisson law the limit
//! `r -> infinity`. The chance of `k` or more before the condition is the regularised
//! incomplete beta function `I_q(k, r)` with `q = m/(r+m)`.

use super::Point;
use super::sums::Sum;
use linkproof_numeric::math;

pub(super) fn log_density(k: f64, eta: f64, rho: f64) -> Point {
    let (m, r) = (math::exp(eta), math::exp(rho));
    let log_zero = math::ln_1p(m / r);
    // The chance of zero is e^zero.
    let zero = -r * log_zero;
    let odds_of_zero = 1.0 / math::exp_m1(-zero);
    let share = m / (r + m);
    Point {
        value: math::ln_gamma(k + r) - math::ln_gamma(r) - math::ln_gamma(k + 1.0) + zero
            - k * math::ln_1p(r / m)
            - math::ln(-math::exp_m1(zero)),
        by_location: (k - m) * (1.0 - share) - odds_of_zero * r * share,
        by_shape: r
            * (math::digamma(k + r) - math::digamma(r) - log_zero
                + (m - k) / (r + m)
                + odds_of_zero * (share - log_zero)),
    }
}

pub(super) fn power(beta: f64, eta: f64, rho: f64) -> Point {
    let spread = (math::exp(-eta) + math::exp(-rho)).sqrt();
    Sum::new(eta, spread).of_powers(beta, |k| log_density(k, eta, rho))
}

pub(super) fn log_above(k: f64, eta: f64, rho: f64) -> f64 {
    if k <= 1.0 {
        return 0.0;
    }
    let (m, r) = (math::exp(eta), math::exp(rho));
    let zero = -r * math::ln_1p(m / r);
    log_beta_share(k, r, m) - math::ln(-math::exp_m1(zero))
}

pub(super) fn mean(eta: f64, rho: f64) -> f64 {
    let (m, r) = (math::exp(eta), math::exp(rho));
    m / -math::exp_m1(-r * math::ln_1p(m / r))
}

/// `log I_q(a, b)` with `q = m/(m+b)`, by the continued fraction from the side on
/// which it is short.
fn log_beta_share(a: f64, b: f64, m: f64) -> f64 {
    let q = m / (m + b);
    let log_front = math::ln_gamma(a + b)
        - math::ln_gamma(a)
        - math::ln_gamma(b)
        - a * math::ln_1p(b / m)
        - b * math::ln_1p(m / b);
    if q < (a + 1.0) / (a + b + 2.0) {
        return log_front + math::ln(fraction(a, b, q) / a);
    }
    let other = math::exp(log_front) * fraction(b, a, b / (m + b)) / b;
    math::ln_1p(-other.min(1.0))
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun,
/// 26.5.8), by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const MOST: usize = 10_000;
    let away = |y: f64| if y.abs() < 1e-300 { 1e-300 } else { y };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut product = d;
    for step in 1..MOST {
        let k = step as f64;
        let even = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k));
        let odd = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
        let mut factor = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            factor = c * d;
            product *= factor;
        }
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    product
}

//! What an unlinked pair pays under the probability score, computed directly.
//!
//! With `c = 1 + beta`, `p` the Poisson probability and `mu = e^s`,
//!
//! ```text
//! l(s; 0) - 1/c = -(e^{-beta mu} - 1)/beta + (A - 1)/c,   A = sum_k p(k|mu)^c
//! l'(s; 0)      = mu e^{-beta mu} + sum_k p(k|mu)^c (k - mu)
//! ```
//!
//! Three regimes, each without cancellation: a plain sum for `mu` below 200,
//! the trapezoid rule around `mu` (its error is far below rounding) up to 1e6,
//! the asymptotic expansion above.

use linkproof_numeric::math;
use std::f64::consts::TAU;

/// Value (less `1/(1+beta)`) and derivative in `s`, accurate to about 1e-13.
pub fn unlinked(beta: f64, s: f64) -> (f64, f64) {
    let mu = math::exp(s);
    if mu < 200.0 {
        plain_sum(beta, s, mu)
    } else {
        let (a, moment) = if mu < 1e6 {
            trapezoid(beta, mu)
        } else {
            asymptotic(beta, s, mu)
        };
        let c = 1.0 + beta;
        let value = decay_integral(beta, mu) - (1.0 - a) / c;
        // Beyond the range of numbers `mu` is infinite, and its product zero.
        let decay = math::exp(-beta * mu);
        let fall = if decay == 0.0 { 0.0 } else { mu * decay };
        (value, fall + moment)
    }
}

/// `(1 - e^{-c mu})/c`, which is `mu` for `c = 0`.
fn decay_integral(c: f64, mu: f64) -> f64 {
    if c == 0.0 {
        mu
    } else {
        -math::exp_m1(-c * mu) / c
    }
}

/// `decay_integral(beta) - decay_integral(1 + beta)`, about `mu^2/2` for small `mu`.
fn decay_difference(beta: f64, mu: f64) -> f64 {
    let c = 1.0 + beta;
    if c * mu > 0.3 {
        return decay_integral(beta, mu) - decay_integral(c, mu);
    }
    // sum over m >= 1 of (-1)^{m+1} (c^m - beta^m) mu^{m+1} / (m+1)!
    let (mut power_c, mut power_beta, mut factor, mut sum) = (1.0, 1.0, mu, 0.0);
    for m in 1..20 {
        power_c *= c;
        power_beta *= beta;
        factor *= -mu / f64::from(m + 1);
        sum -= (power_c - power_beta) * factor;
    }
    sum
}

fn plain_sum(beta: f64, s: f64, mu: f64) -> (f64, f64) {
    let c = 1.0 + beta;
    let mut log_p = -mu;
    let (mut sum, mut moment) = (0.0, 0.0);
    let mut k = 0.0;
    loop {
        k += 1.0;
        log_p += s - math::ln(k);
        let term = math::exp(c * log_p);
        sum += term;
        moment += term * (k - mu);
        if k > mu && term * (k + mu) <= 1e-18 * sum {
            break;
        }
    }
    let value = decay_difference(beta, mu) + sum / c;
    let slope = -mu * math::exp(-beta * mu) * math::exp_m1(-mu) + moment;
    (value, slope)
}

/// `A` and `sum_k p^c (k - mu)`; the sum over integers is replaced by one with
/// a step of a quarter of the standard deviation, which differs by e^{-300}.
fn trapezoid(beta: f64, mu: f64) -> (f64, f64) {
    let c = 1.0 + beta;
    let step = 0.25 * (mu / c).sqrt();
    let reach = (12.0 * mu.sqrt() / step).ceil() as i32;
    let log_peak = log_poisson(mu, mu);
    let peak = math::exp(beta * log_peak);
    let (mut a, mut moment) = (0.0, 0.0);
    for j in -reach..=reach {
        let offset = f64::from(j) * step;
        let log_p = log_poisson(mu + offset, mu);
        a += math::exp(c * log_p);
        // sum_k p (k - mu) = 0, so a constant may be taken off p^beta; for
        // small beta that saves the digits.
        moment += offset
            * if beta < 0.5 {
                math::exp(log_p) * peak * math::exp_m1(beta * (log_p - log_peak))
            } else {
                math::exp(c * log_p)
            };
    }
    (a * step, moment * step)
}

/// `A = (2 pi mu)^{-beta/2} c^{-1/2} (1 + (c^2 - 1)/(24 c mu) + O(mu^-2))`.
fn asymptotic(beta: f64, s: f64, mu: f64) -> (f64, f64) {
    let c = 1.0 + beta;
    let correction = beta * (c + 1.0) / (24.0 * c) / mu;
    let a = math::exp(-0.5 * beta * (math::ln(TAU) + s)) / c.sqrt() * (1.0 + correction);
    (a, a / c * (-0.5 * beta - correction / (1.0 + correction)))
}

/// `log p(x|mu)` for real `x`, large enough for Stirling's series, in Loader's
/// form, which does not lose digits near `x = mu`.
pub fn log_poisson(x: f64, mu: f64) -> f64 {
    let u = (x - mu) / mu;
    let deviance = if u.abs() < 0.1 {
        // (1+u) ln(1+u) - u = sum over m >= 2 of (-u)^m / (m (m-1))
        let (mut power, mut sum) = (-u, 0.0);
        for m in 2..20 {
            power *= -u;
            sum += power / f64::from(m * (m - 1));
        }
        sum
    } else {
        (1.0 + u) * math::ln_1p(u) - u
    };
    let r = 1.0 / (x * x);
    let stirling = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r / 1680.0))) / x;
    -0.5 * math::ln(TAU * x) - stirling - mu * deviance
}

//! Counts with a heavier tail than the negative binomial's: a log-normal number,
//! rounded to the nearest whole one, given that this is not zero.
//!
//! ```text
//! f(k) = (Q(z(k - 1/2)) - Q(z(k + 1/2))) / Q(z(1/2)),   z(x) = (log x - eta)/sigma
//! ```
//!
//! with `Q` the upper tail of the standard normal distribution and `sigma = e^rho`.

use std::f64::consts::TAU;

use super::Point;
use super::sums::Sum;
use crate::score::log_normal_above;
use linkproof_numeric::math;

/// From this count on a cell is as narrow as a point.
const LARGE: f64 = 1e4;
/// The mean is a sum up to this count, and an integral beyond.
const SUMMED: usize = 64;

/// `log phi(z)`.
fn log_phi(z: f64) -> f64 {
    -0.5 * z * z - 0.5 * math::ln(TAU)
}

pub(super) fn log_density(k: f64, eta: f64, rho: f64) -> Point {
    let sigma = math::exp(rho);
    let z = |x: f64| (math::ln(x) - eta) / sigma;
    let first = z(0.5);
    let log_all = log_normal_above(first);
    let ratio = math::exp(log_phi(first) - log_all);
    let all = Point {
        value: log_all,
        by_location: ratio / sigma,
        by_shape: ratio * first,
    };
    let cell = if k > LARGE {
        let z = z(k);
        Point {
            value: log_phi(z) - math::ln(k) - rho,
            by_location: z / sigma,
            by_shape: z * z - 1.0,
        }
    } else {
        let (from, to) = (z(k - 0.5), z(k + 0.5));
        // The tail on the side on which it is small.
        let (large, small) = match from > 0.0 {
            true => (log_normal_above(from), log_normal_above(to)),
            false => (log_normal_above(-to), log_normal_above(-from)),
        };
        let value = large + math::ln(-math::exp_m1((small - large).min(-f64::MIN_POSITIVE)));
        let [at_from, at_to] = [from, to].map(|z| math::exp(log_phi(z) - value));
        Point {
            value,
            by_location: (at_from - at_to) / sigma,
            by_shape: from * at_from - to * at_to,
        }
    };
    Point {
        value: cell.value - all.value,
        by_location: cell.by_location - all.by_location,
        by_shape: cell.by_shape - all.by_shape,
    }
}

pub(super) fn power(beta: f64, eta: f64, rho: f64) -> Point {
    Sum::new(eta, math::exp(rho)).of_powers(beta, |k| log_density(k, eta, rho))
}

pub(super) fn log_above(k: f64, eta: f64, rho: f64) -> f64 {
    let sigma = math::exp(rho);
    let log_tail = |x: f64| log_normal_above((math::ln(x) - eta) / sigma);
    log_tail(k.max(1.0) - 0.5) - log_tail(0.5)
}

/// The sum of the chances of `k` or more. Beyond the first ones it is, by Euler and
/// Maclaurin, the integral of the tail `G` from the middle of the next cell on:
/// `integral + G/2 - G'/12`.
pub(super) fn mean(eta: f64, rho: f64) -> f64 {
    let sigma = math::exp(rho);
    let tail = |x: f64| math::exp(log_normal_above((math::ln(x) - eta) / sigma));
    let first: f64 = (0..SUMMED).map(|k| tail(k as f64 + 0.5)).sum();
    let from = SUMMED as f64 + 0.5;
    let z = (math::ln(from) - eta) / sigma;
    let log_moment = eta + 0.5 * sigma * sigma + log_normal_above(z - sigma);
    let integral = (math::exp(log_moment) - from * tail(from)).max(0.0);
    let slope = math::exp(log_phi(z)) / (sigma * from);
    (first + integral + 0.5 * tail(from) + slope / 12.0) / tail(0.5)
}

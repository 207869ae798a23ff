//! Normal numbers: signed sizes, and the logarithms of log-normal ones.
//!
//! ```text
//! log f(x) = -(x - eta)^2 / (2 sigma^2) - log sigma - log(2 pi)/2,   sigma = e^rho
//! integral of f^{1+beta} = (2 pi)^{-beta/2} sigma^{-beta} (1 + beta)^{-1/2}
//! ```

use std::f64::consts::TAU;

use super::Point;
use crate::score::log_normal_above;
use linkproof_numeric::math;

pub(super) fn log_density(x: f64, eta: f64, rho: f64) -> Point {
    let sigma = math::exp(rho);
    let z = (x - eta) / sigma;
    Point {
        value: -0.5 * z * z - rho - 0.5 * math::ln(TAU),
        by_location: z / sigma,
        by_shape: z * z - 1.0,
    }
}

pub(super) fn power(beta: f64, rho: f64) -> Point {
    let log_value = -beta * (0.5 * math::ln(TAU) + rho) - 0.5 * math::ln_1p(beta);
    let value = math::exp(log_value);
    Point {
        value,
        by_location: 0.0,
        by_shape: -beta * value,
    }
}

pub(super) fn log_above(x: f64, eta: f64, rho: f64) -> f64 {
    log_normal_above((x - eta) / math::exp(rho))
}

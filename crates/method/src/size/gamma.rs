//! Gamma sizes of mean `e^eta` and shape `kappa = e^rho`, by the logarithm `x` of a
//! size, so that the density has no unit. With `u = x - eta`:
//!
//! ```text
//! log f(x) = kappa (u - e^u) + kappa log kappa - log Gamma(kappa)
//! integral of f^{1+beta} = Gamma(k') (1 + beta)^{-k'} / Gamma(kappa)^{1+beta},
//!                          k' = (1 + beta) kappa
//! ```

use super::Point;
use crate::score::log_gamma_above;
use linkproof_numeric::math;

pub(super) fn log_density(x: f64, eta: f64, rho: f64) -> Point {
    let kappa = math::exp(rho);
    let u = x - eta;
    let excess = math::exp_m1(u);
    Point {
        value: kappa * (u - excess - 1.0 + rho) - math::ln_gamma(kappa),
        by_location: kappa * excess,
        by_shape: kappa * (u - excess + rho - math::digamma(kappa)),
    }
}

pub(super) fn power(beta: f64, rho: f64) -> Point {
    let kappa = math::exp(rho);
    let more = (1.0 + beta) * kappa;
    let log_value =
        math::ln_gamma(more) - more * math::ln_1p(beta) - (1.0 + beta) * math::ln_gamma(kappa);
    let value = math::exp(log_value);
    Point {
        value,
        by_location: 0.0,
        by_shape: value * more * (math::digamma(more) - math::ln_1p(beta) - math::digamma(kappa)),
    }
}

pub(super) fn log_above(x: f64, eta: f64, rho: f64) -> f64 {
    let kappa = math::exp(rho);
    log_gamma_above(kappa, kappa * math::exp(x - eta))
}

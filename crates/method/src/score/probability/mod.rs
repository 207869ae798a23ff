//! The probability score: the density power divergence of Poisson weights.

mod caps;
mod chebyshev;
mod pieces;
mod sums;
mod table;

use std::sync::Arc;

pub(super) use caps::LinkCaps;
pub(super) use pieces::{CHUNK, Pieces};
pub(super) use sums::log_poisson;
#[cfg(test)]
pub(super) use sums::unlinked;
pub(super) use table::Table;

use super::{Formula, LinkCap, Term, log_factorial, moment};
use linkproof_numeric::math;

#[derive(Debug)]
struct Probability {
    beta: f64,
    table: Arc<Table>,
}

/// The score with an exponent; at 0 it is the likelihood.
pub(super) fn new([beta]: [f64; 1]) -> Arc<dyn Formula> {
    if beta == 0.0 {
        return moment::likelihood([]);
    }
    let table = Table::shared(beta);
    Arc::new(Probability { beta, table })
}

impl Formula for Probability {
    fn unlinked(&self, s: f64) -> Term {
        self.table.evaluate(s)
    }

    fn correction(&self, s: f64, w: f64) -> Term {
        let beta = self.beta;
        // log p(w) - log p(0) and log p(0) = -mu
        let mu = math::exp(s);
        let (gain, log_p) = match w < LARGE {
            true => {
                let gain = w * s - log_factorial(w);
                (gain, gain - mu)
            }
            false => {
                let log_p = log_poisson_of_large(s, w);
                (log_p + mu, log_p)
            }
        };
        let p_zero = math::exp(-beta * mu);
        let p_link = math::exp(beta * log_p);
        let value = if beta * gain < 1.0 {
            -p_zero * math::exp_m1(beta * gain) / beta
        } else {
            -(p_link - p_zero) / beta
        };
        Term::new(value, -product(p_link, w - mu) - product(p_zero, mu))
    }

    fn influence(&self, log_trust: f64, _: f64) -> f64 {
        math::exp(self.beta * log_trust)
    }

    fn growth(&self) -> f64 {
        1.0 + self.beta
    }

    fn constant(&self) -> f64 {
        1.0 / (1.0 + self.beta)
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn caps(&self, largest: f64) -> (f64, LinkCap) {
        let by_weight = self.table.link_caps(|| LinkCaps::new(self, self.beta));
        let unlinked = self.table.steepest().min(largest);
        (unlinked, LinkCap::ByWeight(by_weight, largest))
    }

    fn pieces(&self) -> Option<&Pieces<f32>> {
        Some(self.table.pieces())
    }

    fn table(&self) -> Option<(f64, &Table)> {
        Some((self.beta, &self.table))
    }
}

/// From this weight on `w s - e^s - log w!` would lose the digits that its terms
/// have in common.
const LARGE: f64 = 1e6;

/// `log p(w | e^s)` for a large `w`, by Stirling's series:
/// `-w (e^r - 1 - r) - log(2 pi w)/2 - 1/(12 w)` with `r = s - log w`.
pub(super) fn log_poisson_of_large(s: f64, w: f64) -> f64 {
    let log_w = math::ln(w);
    let r = s - log_w;
    let deviance = (math::exp_m1(r) - r).max(0.0);
    -w * deviance - 0.5 * (math::ln(std::f64::consts::TAU) + log_w) - 1.0 / (12.0 * w)
}

/// `p x`, which is 0 where `p` underflows, whatever `x`.
fn product(p: f64, x: f64) -> f64 {
    if p == 0.0 { 0.0 } else { p * x }
}

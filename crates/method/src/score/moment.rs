//! The moment score, and the likelihood, which is its case `beta = 0`.

use std::sync::Arc;

use super::{Formula, Term};
use linkproof_numeric::math;

#[derive(Debug)]
struct Moment {
    beta: f64,
}

pub(super) fn new([beta]: [f64; 1]) -> Arc<dyn Formula> {
    Arc::new(Moment { beta })
}

pub(super) fn likelihood([]: [f64; 0]) -> Arc<dyn Formula> {
    new([0.0])
}

impl Formula for Moment {
    fn unlinked(&self, s: f64) -> Term {
        let a = self.growth();
        let slope = math::exp(a * s);
        Term::new(slope / a, slope)
    }

    fn correction(&self, s: f64, w: f64) -> Term {
        let beta = self.beta;
        if beta == 0.0 {
            return Term::new(-w * s, -w);
        }
        let value = -w * math::exp_m1(beta * s) / beta;
        Term::new(value, -w * math::exp(beta * s))
    }

    fn influence(&self, _: f64, mu: f64) -> f64 {
        math::pow(mu, self.beta).min(1.0)
    }

    fn growth(&self) -> f64 {
        1.0 + self.beta
    }

    fn is_power(&self) -> bool {
        true
    }
}

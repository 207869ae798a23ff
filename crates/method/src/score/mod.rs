//! The three scores: every formula of the objective lives here, once.
//!
//! A score is a sum over pairs of `l(s; w)` with `s = <y_i, y_j> - gamma`. It
//! splits into what every pair pays, `l(s; 0)`, and a correction that only
//! links pay, `l(s; w) - l(s; 0)`:
//!
//! | score | `l(s; 0)` | correction |
//! |---|---|---|
//! | likelihood | `e^s` | `-w s` |
//! | moment | `e^{(1+beta)s}/(1+beta)` | `-w (e^{beta s} - 1)/beta` |
//! | probability | see [`probability`] | `-(p(w)^beta - p(0)^beta)/beta` |
//!
//! Reference: Okuno and Shimodaira, *Robust Graph Embedding with Noisy Link
//! Weights*, AISTATS 2019, equations 4 to 7.

mod caps;
mod chebyshev;
mod kernel;
mod pieces;
pub mod probability;
mod table;
mod tail;

pub use kernel::{Kernel, Masks};
pub use pieces::Pieces;
pub use table::Table;
pub use tail::{log_gamma_above, log_normal_above, log_tail};

use std::sync::Arc;

use caps::{Caps, LinkCap, caps, continued};

use crate::params::{self, ScoreKind};
use linkproof_numeric::math;
use linkproof_numeric::real::Real;

/// Value and derivative in `s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The value.
    pub value: f64,
    /// The derivative in `s`.
    pub slope: f64,
}

/// A score with its exponent.
#[derive(Debug, Clone)]
pub struct Score {
    formula: Formula,
    beta: f64,
    caps: Option<Caps>,
    link_cap: LinkCap,
}

#[derive(Debug, Clone)]
enum Formula {
    /// Likelihood and moment score; the likelihood is the case beta = 0.
    Moment,
    Probability(Arc<Table>),
}

impl Score {
    /// The score as it is, everywhere.
    pub fn new(kind: ScoreKind, beta: f64) -> Score {
        Score::of(params::Score::new(kind, beta))
    }

    /// The same of a score with its exponent.
    pub fn of(score: params::Score) -> Score {
        let beta = score.beta();
        let formula = match score {
            params::Score::Probability { .. } => Formula::Probability(Table::shared(beta)),
            params::Score::Moment { .. } | params::Score::Likelihood => Formula::Moment,
        };
        Score {
            formula,
            beta,
            caps: None,
            link_cap: LinkCap::At(f64::INFINITY),
        }
    }

    /// The score that solvers follow: linear, with continuous value and slope,
    /// above a cap on `(1 + beta) s` that keeps it finite in the precision `T`.
    ///
    /// The probability score stays finite, but it forgets pairs that are
    /// expected to weigh far more than they do: its slope falls again and in the
    /// end turns negative, which would push them up without end. What an
    /// unlinked pair pays is therefore continued from its steepest point, and
    /// what a link pays from where, beyond its weight, the slope has fallen to a
    /// tenth of its steepest. That point is above the weight, whatever the
    /// weight, so a large and true one can be fitted.
    ///
    /// Where a slope is negative at the cap (a weight beyond the range of the
    /// precision) the score is constant beyond it. So no pair pays less and less
    /// as its similarity grows, and what it pays is bounded below.
    pub fn capped<T: Real>(mut self) -> Score {
        let (caps, link_cap) = caps::<T>(&self);
        (self.caps, self.link_cap) = (Some(caps), link_cap);
        self
    }

    /// The exponent beta.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// Whether this is the probability score.
    pub fn is_probability(&self) -> bool {
        matches!(self.formula, Formula::Probability(_))
    }

    /// A constant in what every pair pays, left out of [`Score::unlinked`]:
    /// `1/(1+beta)` for the probability score, else 0.
    pub fn constant(&self) -> f64 {
        match self.formula {
            Formula::Moment => 0.0,
            Formula::Probability(_) => 1.0 / (1.0 + self.beta),
        }
    }

    /// What every pair pays: `l(s; 0)` less [`Score::constant`].
    pub fn unlinked(&self, s: f64) -> Term {
        match self.caps {
            Some(caps) => continued(s, caps.unlinked, |s| self.unlinked_formula(s)),
            None => self.unlinked_formula(s),
        }
    }

    /// What a link pays on top: `l(s; w) - l(s; 0)`.
    pub fn correction(&self, s: f64, w: f64) -> Term {
        let Some(caps) = self.caps else {
            return self.correction_formula(s, w);
        };
        if s <= caps.unlinked {
            return self.correction_formula(s, w);
        }
        let whole = continued(s, self.link_cap.of(w), |s| self.whole_formula(s, w));
        let all = self.unlinked(s);
        Term {
            value: whole.value - all.value,
            slope: whole.slope - all.slope,
        }
    }

    /// What a pair with weight `w` pays in all: `l(s; w)`.
    pub fn pair(&self, s: f64, w: f64) -> Term {
        let all = self.unlinked(s);
        let link = if w > 0.0 {
            self.correction(s, w)
        } else {
            Term {
                value: 0.0,
                slope: 0.0,
            }
        };
        Term {
            value: all.value + link.value + self.constant(),
            slope: all.slope + link.slope,
        }
    }

    /// `l(s; w)` less [`Score::constant`], for a link.
    fn whole_formula(&self, s: f64, w: f64) -> Term {
        let (all, link) = (self.unlinked_formula(s), self.correction_formula(s, w));
        Term {
            value: all.value + link.value,
            slope: all.slope + link.slope,
        }
    }

    fn unlinked_formula(&self, s: f64) -> Term {
        match &self.formula {
            Formula::Moment => {
                let a = 1.0 + self.beta;
                let slope = math::exp(a * s);
                Term {
                    value: slope / a,
                    slope,
                }
            }
            Formula::Probability(table) => table.evaluate(s),
        }
    }

    fn correction_formula(&self, s: f64, w: f64) -> Term {
        let beta = self.beta;
        match self.formula {
            Formula::Moment if beta == 0.0 => Term {
                value: -w * s,
                slope: -w,
            },
            Formula::Moment => Term {
                value: -w * math::exp_m1(beta * s) / beta,
                slope: -w * math::exp(beta * s),
            },
            Formula::Probability(_) => {
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
                Term {
                    value,
                    slope: -product(p_link, w - mu) - product(p_zero, mu),
                }
            }
        }
    }
}

/// `log w!`, for real `w`.
pub fn log_factorial(w: f64) -> f64 {
    math::ln_gamma(w + 1.0)
}

/// From this weight on `w s - e^s - log w!` would lose the digits that its terms
/// have in common.
const LARGE: f64 = 1e6;

/// `log p(w | e^s)` for a large `w`, by Stirling's series:
/// `-w (e^r - 1 - r) - log(2 pi w)/2 - 1/(12 w)` with `r = s - log w`.
fn log_poisson_of_large(s: f64, w: f64) -> f64 {
    let log_w = math::ln(w);
    let r = s - log_w;
    let deviance = (math::exp_m1(r) - r).max(0.0);
    -w * deviance - 0.5 * (math::ln(std::f64::consts::TAU) + log_w) - 1.0 / (12.0 * w)
}

/// `p x`, which is 0 where `p` underflows, whatever `x`.
fn product(p: f64, x: f64) -> f64 {
    if p == 0.0 { 0.0 } else { p * x }
}

#[cfg(test)]
mod tests;

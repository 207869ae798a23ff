//! The scores: every formula of the objective lives here, once.
//!
//! A score is a sum over pairs of `l(s; w)` with `s = <y_i, y_j> - gamma`. It
//! splits into what every pair pays, `l(s; 0)`, and a correction that only
//! links pay, `l(s; w) - l(s; 0)`:
//!
//! | score | `l(s; 0)` | correction |
//! |---|---|---|
//! | likelihood | `e^s` | `-w s` |
//! | moment | `e^{(1+beta)s}/(1+beta)` | `-w (e^{beta s} - 1)/beta` |
//! | probability | a sum over all weights | `-(p(w)^beta - p(0)^beta)/beta` |
//!
//! A score is a file with a `Formula` and a row in the list below.
//!
//! Reference: Okuno and Shimodaira, *Robust Graph Embedding with Noisy Link
//! Weights*, AISTATS 2019, equations 4 to 7.

mod kernel;
mod moment;
mod probability;
mod tail;

pub use kernel::{Kernel, Masks};
pub use tail::{log_gamma_above, log_normal_above, log_tail};

use std::fmt::Debug;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::choice::choice;
use linkproof_numeric::math;
use linkproof_numeric::real::Real;
use probability::{LinkCaps, Pieces, Table};

/// The list of scores: the name, the settings that the score reads, and the function
/// that makes its formula from their values.
macro_rules! scores {
    ($($(#[$doc:meta])* $kind:ident = $name:literal $settings:tt $new:path;)+) => {
        choice!(
            /// How a fit judges the difference between links and expected weights.
            #[non_exhaustive]
            ScoreKind { $($(#[$doc])* $kind = $name),+ }
        );

        impl ScoreKind {
            /// The names of the settings that it reads.
            pub fn settings(self) -> &'static [&'static str] {
                match self { $(ScoreKind::$kind => &$settings),+ }
            }

            /// Whether it has an exponent.
            pub fn reads_beta(self) -> bool {
                self.settings().contains(&"beta")
            }

            fn formula(self, value: impl Fn(&'static str) -> f64) -> Arc<dyn Formula> {
                match self { $(ScoreKind::$kind => $new($settings.map(value)),)+ }
            }
        }
    };
}

scores! {
    /// The moment beta-score (EMBS).
    Moment = "moment" ["beta"] moment::new;
    /// The probability beta-score.
    Probability = "probability" ["beta"] probability::new;
    /// The Poisson likelihood, the limit of both at beta 0.
    Likelihood = "likelihood" [] moment::likelihood;
}

/// What a score is made of. All but the first four has a default that serves any score.
trait Formula: Debug + Send + Sync {
    /// What every pair pays: `l(s; 0)` less the constant.
    fn unlinked(&self, s: f64) -> Term;

    /// What a link pays on top: `l(s; w) - l(s; 0)`.
    fn correction(&self, s: f64, w: f64) -> Term;

    /// The weight of a link in the estimating equation, by the logarithm of its trust
    /// `p(w|mu)/p(w|w)` and by its expected weight.
    fn influence(&self, log_trust: f64, mu: f64) -> f64;

    /// The `a` with which what an unlinked pair pays grows as `e^{as}`, at most.
    fn growth(&self) -> f64;

    /// A constant in what every pair pays.
    fn constant(&self) -> f64 {
        0.0
    }

    /// Whether what a link pays is proportional to its weight: then a factor of all
    /// weights is one of the expected weights, and a weight can be too large.
    fn is_linear(&self) -> bool {
        true
    }

    /// Above these similarities solvers continue what an unlinked pair and what a link
    /// pays; the argument is the largest that the precision of a fit allows.
    fn caps(&self, largest: f64) -> (f64, LinkCap) {
        (largest, LinkCap::At(largest))
    }

    /// Whether what an unlinked pair pays is `e^{as}/a` itself, `a` the growth.
    fn is_power(&self) -> bool {
        false
    }

    /// Polynomials that take the place of [`Formula::unlinked`] in single precision.
    fn pieces(&self) -> Option<&Pieces<f32>> {
        None
    }

    /// Its table, where it is tabulated, with the exponent.
    fn table(&self) -> Option<(f64, &Table)> {
        None
    }

    /// Turns similarities into slopes of what unlinked pairs pay, continued above a
    /// cap, and writes the values beside.
    fn pay(&self, s: &mut [f64], values: &mut [f64], cap: f64) {
        for (s, value) in s.iter_mut().zip(values) {
            let term = continued(*s, cap, |s| self.unlinked(s));
            (*s, *value) = (term.slope, term.value);
        }
    }
}

/// Above this similarity solvers continue what a link pays in all.
#[derive(Debug, Clone)]
enum LinkCap {
    /// The same for every weight.
    At(f64),
    /// By the weight, and never above a number, so that slopes stay finite in the
    /// precision of the fit whatever the weight.
    ByWeight(LinkCaps, f64),
}

impl LinkCap {
    /// The largest similarity up to which a link of weight `w` is followed.
    fn of(&self, w: f64) -> f64 {
        match self {
            LinkCap::At(cap) => *cap,
            LinkCap::ByWeight(caps, largest) => caps.of(w).min(*largest),
        }
    }
}

/// Up to this value of the growth times `s` solvers follow a score in single and in
/// double precision; beyond it they continue it linearly.
const LARGEST: [f64; 2] = [40.0, 200.0];

/// Value and derivative in `s`, as in the example of [`Score`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The value.
    pub value: f64,
    /// The derivative in `s`.
    pub slope: f64,
}

impl Term {
    /// Nothing.
    pub const ZERO: Term = Term::new(0.0, 0.0);

    /// A value and its derivative.
    #[inline(always)]
    pub const fn new(value: f64, slope: f64) -> Term {
        Term { value, slope }
    }

    fn plus(self, other: Term) -> Term {
        Term::new(self.value + other.value, self.slope + other.slope)
    }
}

/// A score with its settings.
///
/// ```
/// use linkproof::params::ScoreKind;
/// use linkproof::score::Score;
///
/// // A link of weight 1,000 where 1 is expected pulls hard under the likelihood,
/// // not at all under the probability score.
/// let pull = |kind| Score::new(kind, 0.5).pair(0.0, 1000.0).slope.abs();
/// assert!(pull(ScoreKind::Likelihood) > 900.0 && pull(ScoreKind::Probability) < 1.0);
/// ```
#[derive(Debug, Clone)]
pub struct Score {
    formula: Arc<dyn Formula>,
    /// What the formula was made from.
    made_from: (ScoreKind, Vec<f64>),
    /// Where solvers continue what unlinked pairs and what links pay.
    caps: Option<(f64, LinkCap)>,
}

/// A score in words, to be made again elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreWords {
    kind: ScoreKind,
    settings: Vec<f64>,
    is_capped: bool,
}

impl ScoreWords {
    /// The score, capped where it was, for the precision of a fit.
    pub fn score<T: Real>(&self) -> Score {
        let names = self.kind.settings();
        let setting = |name| {
            let place = names.iter().position(|other| *other == name);
            let value = place.and_then(|place| self.settings.get(place));
            value.copied().unwrap_or(f64::NAN)
        };
        let score = Score::with(self.kind, setting);
        match self.is_capped {
            true => score.capped::<T>(),
            false => score,
        }
    }
}

impl Score {
    /// The score as it is, everywhere, with its settings by their names.
    pub fn with(kind: ScoreKind, setting: impl Fn(&'static str) -> f64) -> Score {
        let settings = kind.settings().iter().map(|name| setting(name)).collect();
        Score {
            formula: kind.formula(setting),
            made_from: (kind, settings),
            caps: None,
        }
    }

    /// The same in words.
    pub fn words(&self) -> ScoreWords {
        let (kind, settings) = self.made_from.clone();
        ScoreWords {
            kind,
            settings,
            is_capped: self.caps.is_some(),
        }
    }

    /// The score that solvers follow: linear, with continuous value and slope,
    /// above a cap on `s` that keeps it finite in the precision `T`.
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
        let largest = LARGEST[usize::from(!T::IS_SINGLE)] / self.formula.growth();
        self.caps = Some(self.formula.caps(largest));
        self
    }

    /// Whether what a link pays is proportional to its weight: then a factor of all
    /// weights is one of the expected weights, and a weight can be too large.
    pub fn is_linear(&self) -> bool {
        self.formula.is_linear()
    }

    /// Whether what an unlinked pair pays is a table, not a power.
    pub fn is_tabulated(&self) -> bool {
        self.formula.table().is_some()
    }

    /// What an unlinked pair pays, in numbers, for an engine that computes it elsewhere.
    pub fn unlinked_form(&self) -> UnlinkedForm {
        match self.formula.table() {
            None => UnlinkedForm::Power {
                growth: self.formula.growth(),
            },
            Some((beta, table)) => UnlinkedForm::Table {
                beta,
                cells: table.flat(),
                cells_per_unit: table.cells_per_unit(),
            },
        }
    }

    /// Above this similarity what an unlinked pair pays is continued; infinite where
    /// the score is as it is everywhere.
    pub fn cap(&self) -> f64 {
        self.caps.as_ref().map_or(f64::INFINITY, |caps| caps.0)
    }

    /// Above this similarity all that a link of weight `w` pays is continued.
    pub fn link_cap(&self, w: f64) -> f64 {
        let caps = self.caps.as_ref();
        caps.map_or(f64::INFINITY, |caps| caps.1.of(w))
    }

    /// A constant in what every pair pays, left out of [`Score::unlinked`]:
    /// `1/(1+beta)` for the probability score, else 0.
    pub fn constant(&self) -> f64 {
        self.formula.constant()
    }

    /// The weight of a link in the estimating equation: `trust^beta` under the
    /// probability score, `min(1, mu^beta)` under the moment score, 1 under the
    /// likelihood.
    pub fn influence(&self, log_trust: f64, mu: f64) -> f64 {
        self.formula.influence(log_trust, mu)
    }

    /// What every pair pays: `l(s; 0)` less [`Score::constant`].
    pub fn unlinked(&self, s: f64) -> Term {
        match &self.caps {
            Some((cap, _)) => continued(s, *cap, |s| self.formula.unlinked(s)),
            None => self.formula.unlinked(s),
        }
    }

    /// What a link pays on top: `l(s; w) - l(s; 0)`.
    pub fn correction(&self, s: f64, w: f64) -> Term {
        let Some((_, link_cap)) = self.caps.as_ref().filter(|caps| s > caps.0) else {
            return self.formula.correction(s, w);
        };
        let whole = continued(s, link_cap.of(w), |s| whole(&*self.formula, s, w));
        let all = self.unlinked(s);
        Term::new(whole.value - all.value, whole.slope - all.slope)
    }

    /// What a pair with weight `w` pays in all: `l(s; w)`.
    pub fn pair(&self, s: f64, w: f64) -> Term {
        let link = match w > 0.0 {
            true => self.correction(s, w),
            false => Term::ZERO,
        };
        let sum = self.unlinked(s).plus(link);
        Term::new(sum.value + self.constant(), sum.slope)
    }
}

/// What an unlinked pair pays below the cap of a score ([`Score::cap`]).
#[derive(Debug, Clone, PartialEq)]
pub enum UnlinkedForm {
    /// `e^{as}/a`.
    Power {
        /// `a`.
        growth: f64,
    },
    /// A table from -40 on, below which it falls as `e^{min(1 + beta, 2) s}`.
    Table {
        /// The exponent of the probability score.
        beta: f64,
        /// For each cell ten coefficients of the value and ten of the slope, lowest
        /// first, in the coordinate that runs from -1 to 1 over the cell.
        cells: Vec<f64>,
        /// The cells of a unit of similarity.
        cells_per_unit: f64,
    },
}

/// `l(s; w)` less the constant, for a link.
fn whole(formula: &(impl Formula + ?Sized), s: f64, w: f64) -> Term {
    formula.unlinked(s).plus(formula.correction(s, w))
}

/// `term` up to the cap; beyond, its tangent, or a constant where that would fall: what
/// a pair pays does not fall without end, and one that was thrown far out comes back.
fn continued(s: f64, cap: f64, term: impl Fn(f64) -> Term) -> Term {
    if s <= cap {
        return term(s);
    }
    let at_cap = term(cap);
    let slope = at_cap.slope.max(0.0);
    Term::new(at_cap.value + slope * (s - cap), slope)
}

/// `log w!`, for real `w`.
fn log_factorial(w: f64) -> f64 {
    math::ln_gamma(w + 1.0)
}

#[cfg(test)]
mod tests;

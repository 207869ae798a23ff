//! How far solvers follow a score, and how it goes on beyond.
//!
//! Beyond its cap a term is continued by its tangent, whose slope is never
//! negative: what a pair pays does not fall without end, and a pair that was
//! thrown far out comes back.

use std::sync::Arc;

use super::{Formula, Score, Term};
use linkproof_numeric::math;
use linkproof_numeric::real::Real;

/// Above this similarity solvers continue what every pair pays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caps {
    /// For pairs without a link.
    pub unlinked: f64,
}

/// Above this similarity solvers continue what a link pays in all.
#[derive(Debug, Clone)]
pub(super) enum LinkCap {
    /// The same for every weight.
    At(f64),
    /// By the weight `w`: at `mu = w + z(w) sqrt(1 + w)`, with `z` at the places
    /// `log(1 + w) = 0, STEP, 2 STEP, ..` and linear between them; and never
    /// above the second number, so that slopes stay finite in the precision of
    /// the fit whatever the weight.
    ByWeight(Arc<[f64]>, f64),
}

/// The caps by weight stand this far apart in `log(1 + w)`.
const STEP: f64 = 0.5;
/// So many of them: weights beyond `e^30` have the cap of the last one.
const PLACES: usize = 61;
/// A link is followed until its slope has fallen to this share of its steepest.
const SHARE: f64 = 0.1;
/// Standard deviations `sqrt(1 + w)` beyond the weight that are looked at, for
/// `beta = 1`; smaller ones are wider by `beta^-1/2`, and by as much again for
/// small weights.
const REACH: f64 = 12.0;

/// Up to this value of `(1 + beta) s` solvers follow a score in single and in double
/// precision; beyond it they continue it linearly.
const LARGEST: [f64; 2] = [40.0, 200.0];

/// The caps of a score in the precision `T`.
pub(super) fn caps<T: Real>(score: &Score) -> (Caps, LinkCap) {
    let largest = LARGEST[usize::from(!T::IS_SINGLE)] / (1.0 + score.beta);
    match &score.formula {
        Formula::Moment => (Caps { unlinked: largest }, LinkCap::At(largest)),
        Formula::Probability(table) => {
            let unlinked = table.steepest().min(largest);
            let by_weight = table.link_caps(|| by_weight(score));
            (Caps { unlinked }, LinkCap::ByWeight(by_weight, largest))
        }
    }
}

impl LinkCap {
    /// The largest similarity up to which a link of weight `w` is followed.
    pub fn of(&self, w: f64) -> f64 {
        match self {
            LinkCap::At(cap) => *cap,
            LinkCap::ByWeight(places, largest) => {
                let place = (math::ln_1p(w) / STEP).clamp(0.0, (PLACES - 1) as f64);
                let below = (place as usize).min(PLACES - 2);
                let part = place - below as f64;
                let z = (1.0 - part) * places[below] + part * places[below + 1];
                math::ln(w + z * (1.0 + w).sqrt()).min(*largest)
            }
        }
    }
}

/// `z` for each place: where the slope of `l(s; w)` has fallen, beyond its
/// steepest point, to a share of what it was there.
fn by_weight(score: &Score) -> Arc<[f64]> {
    let of = |place: usize| {
        let w = math::exp_m1(place as f64 * STEP);
        let spread = (1.0 + w).sqrt();
        let slope = |z: f64| score.whole_formula(math::ln(w + z * spread), w).slope;
        // Where p(w|mu)^beta no longer matters the slope is negative.
        let width = math::pow(score.beta, -0.5).max(1.0);
        let reach = REACH * width * (1.0 + width / spread);
        let cells = 400;
        let at = |cell: usize| reach * (cell as f64 / f64::from(cells)).powi(2);
        let (mut steepest, mut peak) = (0.0, 0);
        for cell in 1..=cells as usize {
            let here = slope(at(cell));
            if here > steepest {
                (steepest, peak) = (here, cell);
            }
        }
        // The slope is above its share at `low` and below it at `high`.
        let (mut low, mut high) = (at(peak.max(1)), reach);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if slope(middle) > SHARE * steepest {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    (0..PLACES).map(of).collect()
}

/// `term` up to the cap; beyond, its tangent, or a constant where that would
/// fall.
pub(super) fn continued(s: f64, cap: f64, term: impl Fn(f64) -> Term) -> Term {
    if s <= cap {
        return term(s);
    }
    let at_cap = term(cap);
    let slope = at_cap.slope.max(0.0);
    Term {
        value: at_cap.value + slope * (s - cap),
        slope,
    }
}

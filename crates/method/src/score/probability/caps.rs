//! How far solvers follow what a link pays under the probability score.

use std::sync::Arc;

use super::super::{Formula, whole};
use linkproof_numeric::math;

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

/// Above these similarities solvers continue what a link of weight `w` pays: at
/// `mu = w + z(w) sqrt(1 + w)`, with `z` at the places `log(1 + w) = 0, STEP, 2 STEP, ..`
/// and linear between them.
#[derive(Debug, Clone)]
pub struct LinkCaps(Arc<[f64]>);

impl LinkCaps {
    /// The similarity for a weight.
    pub fn of(&self, w: f64) -> f64 {
        let place = (math::ln_1p(w) / STEP).clamp(0.0, (PLACES - 1) as f64);
        let below = (place as usize).min(PLACES - 2);
        let part = place - below as f64;
        let z = (1.0 - part) * self.0[below] + part * self.0[below + 1];
        math::ln(w + z * (1.0 + w).sqrt())
    }

    /// `z` for each place: where the slope of `l(s; w)` has fallen, beyond its
    /// steepest point, to a share of what it was there.
    pub fn new(formula: &impl Formula, beta: f64) -> LinkCaps {
        let of = |place: usize| {
            let w = math::exp_m1(place as f64 * STEP);
            let spread = (1.0 + w).sqrt();
            let slope = |z: f64| whole(formula, math::ln(w + z * spread), w).slope;
            // Where p(w|mu)^beta no longer matters the slope is negative.
            let width = math::pow(beta, -0.5).max(1.0);
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
        LinkCaps((0..PLACES).map(of).collect())
    }
}

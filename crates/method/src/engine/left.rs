//! About how many steps a fit has left, by how such fits end.
//!
//! A fit mostly ends long before the last step that it is allowed: its held-out score has
//! not fallen for a while, or its steps gain nothing any more. When that will be cannot be
//! foretold from the steps so far (held-out scores turn without a sign), but fits of one
//! kind take about as long as each other. So what is left is what such fits usually take;
//! of one that has come further than that a third of what it took; and as its patience is
//! used up, more and more the rest of that. Where nothing is held out, so that only convergence
//! ends a fit, what is left is as much as it took so far.

use super::Plan;
use crate::params::{OptimizerKind, SolverKind};

/// A fit that took longer than is usual takes this share of its steps more.
const MORE: f64 = 1.0 / 3.0;

/// Steps after which L-BFGS stopped by held-out pairs: 85 to 256 on Cora, 25 to
/// 76 on planted graphs of 2,000 to 6,000 nodes.
const USUAL_LBFGS: usize = 100;
/// Steps after which Adam over all pairs stopped, for tables: 90 to 100 on the
/// same graphs. (For maps from data vectors, whose steps are shorter, it took
/// all 1,000 on Cora; blocks took 1,300 to 2,000 of 2,000.)
const USUAL_TABLE_ADAM: usize = 100;
/// Sweeps after which tables stopped: 30 to 48, from 2,000 to 25,000 nodes.
const USUAL_SWEEPS: usize = 40;

/// How a fit stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Steps done.
    pub step: usize,
    /// The largest number of steps.
    pub most: usize,
    /// The steps that such fits usually take, where that is known.
    pub usual: Option<usize>,
    /// Where held-out pairs end the fit: the evaluations without a gain so far, those
    /// that end it, and the steps from one to the next.
    pub patience: Option<(usize, usize, usize)>,
}

/// About how many steps are left.
///
/// ```
/// use linkproof::engine::{Standing, steps_left};
///
/// let fit = Standing { step: 30, most: 500, usual: Some(110), patience: Some((0, 10, 1)) };
/// assert_eq!(steps_left(fit), 80);
/// assert_eq!(steps_left(Standing { step: 150, ..fit }), 50);
/// assert_eq!(steps_left(Standing { patience: Some((8, 10, 1)), ..fit }), 18);
/// assert_eq!(steps_left(Standing { most: 40, ..fit }), 10);
/// assert_eq!(steps_left(Standing { usual: None, ..fit }), 30);
/// ```
pub fn steps_left(fit: Standing) -> usize {
    let bound = fit.most.saturating_sub(fit.step);
    let more = (MORE * fit.step as f64).ceil() as usize;
    let usual = match fit.usual {
        Some(usual) => usual.saturating_sub(fit.step).max(more),
        None => fit.step,
    };
    let guess = match fit.patience {
        Some((waited, patience, every)) => {
            let rest = patience.saturating_sub(waited).saturating_mul(every);
            // Scores fall again after a while without a gain, as often as not.
            let hope = rest as f64 / patience.saturating_mul(every).max(1) as f64;
            rest + (hope * usual.saturating_sub(rest) as f64).ceil() as usize
        }
        None => usual,
    };
    guess.min(bound)
}

impl Plan {
    /// The steps after which a fit with held-out pairs usually stops: those of the fits
    /// that were measured.
    pub fn usual_steps(&self, all_tables: bool) -> usize {
        let usual = match (self.solver, self.optimizer, self.turns) {
            (_, OptimizerKind::Lbfgs, _) => USUAL_LBFGS,
            (SolverKind::Exact, _, _) if all_tables => USUAL_TABLE_ADAM,
            (SolverKind::Sgd, _, Some(turns)) => USUAL_SWEEPS * turns,
            _ => self.steps,
        };
        usual.min(self.steps)
    }
}

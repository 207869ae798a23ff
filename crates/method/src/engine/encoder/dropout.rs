//! Which entries and units a training pass leaves out.

use super::input::Batch;
use linkproof_numeric::real::Real;

/// Which units are dropped in a training pass. Each draw is a hash of seed,
/// step, layer, node and unit, so it depends on neither threads nor batches.
#[derive(Debug, Clone, Copy)]
pub struct Dropout {
    /// The probability of dropping an entry of a data vector.
    pub input: f64,
    /// The probability of dropping a hidden unit.
    pub hidden: f64,
    /// The seed of the fit.
    pub seed: u64,
    /// The step of the fit.
    pub step: u64,
}

impl Dropout {
    /// What all draws for the units of one layer and node have in common.
    pub(super) fn key(&self, layer: usize, node: usize) -> u32 {
        let mut x = self.seed ^ self.step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for part in [layer, node] {
            x = (x ^ part as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x ^= x >> 29;
        }
        x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
        (x >> 32) as u32
    }

    /// Leaves entries out of the data vectors of a batch.
    pub fn drop_inputs<T: Real>(&self, batch: &mut Batch<'_, T>) {
        if self.input > 0.0 {
            let share = Share::new(self.input);
            batch.scale_entries(|node, column| share.factor(self.key(0, node), column as u32));
        }
    }
}

/// A probability of dropping a unit, ready for its draws.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share<T> {
    threshold: u32,
    kept: T,
}

impl<T: Real> Share<T> {
    pub(super) fn new(share: f64) -> Share<T> {
        Share {
            threshold: (share * 4_294_967_296.0) as u32,
            kept: T::of(1.0 / (1.0 - share)),
        }
    }

    /// 0 for a dropped unit, `1/(1-P)` for a kept one.
    #[inline(always)]
    pub(super) fn factor(&self, key: u32, unit: u32) -> T {
        // A 32-bit finaliser (Wellons' lowbias32) of the unit and the key.
        let mut x = key ^ unit.wrapping_mul(0x9e37_79b1);
        x ^= x >> 16;
        x = x.wrapping_mul(0x7feb_352d);
        x ^= x >> 15;
        x = x.wrapping_mul(0x846c_a68b);
        x ^= x >> 16;
        if x < self.threshold {
            T::ZERO
        } else {
            self.kept
        }
    }

    /// One over the factor of a kept unit.
    #[inline(always)]
    pub(super) fn inverse_kept(&self) -> T {
        T::ONE / self.kept
    }
}

/// The draws for the units of a strip, row after row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draws<'a, T> {
    /// The key of each row.
    pub(super) keys: &'a [u32],
    /// The strip's first unit.
    pub(super) first_unit: u32,
    /// The share to drop.
    pub(super) share: Share<T>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropout_keeps_the_mean_and_its_share() {
        let dropout = Dropout {
            input: 0.3,
            hidden: 0.5,
            seed: 9,
            step: 4,
        };
        let share = Share::<f64>::new(dropout.input);
        let draws: Vec<f64> = (0..20_000u32)
            .map(|i| share.factor(dropout.key(0, i as usize / 100), i % 100))
            .collect();
        let dropped = draws.iter().filter(|&&x| x == 0.0).count() as f64 / 20_000.0;
        assert!((dropped - 0.3).abs() < 0.01);
        assert!((draws.iter().sum::<f64>() / 20_000.0 - 1.0).abs() < 0.02);
    }
}

//! What may be said of the links: their share of false ones, and a belief for each.

use linkproof_numeric::math;
use linkproof_numeric::special::beta_quantile;

use super::outcome::Share;
use super::strata::quantile;

/// Where the upper bound looks, and the chance that each of its limits is too low.
const LOOKS: [f64; 6] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5];
const LIMIT: f64 = 0.99;
/// The lower bound assumes that at most this share of the real links looks random.
const UNEXPLAINED: f64 = 0.15;
/// Beliefs are kept inside.
pub(super) const LEAST_BELIEF: f64 = 0.001;
/// Steps of the density hold at least so many links, and this share of them.
const LEAST_STEP: usize = 50;
const STEPS: usize = 100;
/// Links must look better than random pairs by so much, and by two standard errors.
const LEAST_MEAN: f64 = 0.55;
const ERRORS: f64 = 2.0;

/// `ln(p / (1 - p))`, with `p` kept inside.
pub(super) fn logit(p: f64) -> f64 {
    let p = kept(p);
    math::ln(p / (1.0 - p))
}

/// `1 / (1 + e^-z)`.
pub(super) fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + math::exp(-z))
}

/// A probability that is neither 0 nor 1.
pub(super) fn kept(p: f64) -> f64 {
    p.clamp(LEAST_BELIEF, 1.0 - LEAST_BELIEF)
}

/// Low, estimate and high of the share of false links, by the share of non-links that
/// look worse than each link.
///
/// High: if false links fall like random pairs of their stratum, `worse` is uniform for
/// them, so that their share is at most `P(worse < r) / r` for every r. Low: if at most
/// 15% of the real links look random. The estimate is the middle.
pub(super) fn interval(worse: &[f64]) -> Share {
    let m = worse.len() as f64;
    let below = |r: f64| worse.iter().filter(|&&x| x < r).count() as f64;
    let high = LOOKS.iter().fold(1.0, |high: f64, &r| {
        let k = below(r);
        high.min(beta_quantile(LIMIT, k + 1.0, m - k) / r)
    });
    let random_looking = high.min(2.0 * below(0.5) / m.max(1.0));
    let low = ((random_looking - UNEXPLAINED) / (1.0 - UNEXPLAINED)).max(0.0);
    Share {
        low,
        estimate: Some((low + high) / 2.0),
        high,
        high_unchecked: None,
    }
}

/// The mean of `worse` over links, and its standard error by nodes.
pub(super) fn mean_by_nodes(worse: &[f64], ends: &[[u32; 2]], n: usize) -> (f64, f64) {
    let mean = worse.iter().sum::<f64>() / worse.len().max(1) as f64;
    let (mut sums, mut counts) = (vec![0.0; n], vec![0.0; n]);
    for (x, pair) in worse.iter().zip(ends) {
        for &node in pair {
            sums[node as usize] += x;
            counts[node as usize] += 1.0;
        }
    }
    let squares = sums
        .iter()
        .zip(&counts)
        .map(|(sum, count)| (sum - mean * count).powi(2));
    let error = squares.sum::<f64>().sqrt() / counts.iter().sum::<f64>().max(1.0);
    (mean, error)
}

/// Whether the links look random to everything that is known.
pub(super) fn looks_random((mean, error): (f64, f64)) -> bool {
    !(mean >= LEAST_MEAN.max(0.5 + ERRORS * error))
}

/// The density of numbers between 0 and 1, forced to rise.
pub(super) struct RisingDensity {
    middles: Vec<f64>,
    logs: Vec<f64>,
}

impl RisingDensity {
    /// Neighboring steps that fall are pooled; each holds at least 1% of the numbers, and
    /// 50, so that a handful of links does not decide how many are flagged.
    pub fn new(numbers: &[f64]) -> RisingDensity {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let n = sorted.len();
        let parts = (n / LEAST_STEP.max(n / STEPS)).max(1);
        let mut edges = vec![0.0];
        edges.extend(
            (1..parts.max(2)).map(|part| quantile(&sorted, part as f64 / parts.max(2) as f64)),
        );
        edges.push(1.0);
        edges.dedup();
        let mut cells: Vec<(f64, f64)> = Vec::new();
        let below = |edge: f64| sorted.partition_point(|&x| x < edge);
        for (at, edge) in edges.windows(2).enumerate() {
            // The last step holds its upper edge, too.
            let end = if at + 2 == edges.len() {
                n
            } else {
                below(edge[1])
            };
            let mut cell = ((end - below(edge[0])) as f64, edge[1] - edge[0]);
            while let Some(&last) = cells.last()
                && last.0 * cell.1 >= cell.0 * last.1
            {
                cell = (last.0 + cell.0, last.1 + cell.1);
                cells.pop();
            }
            cells.push(cell);
        }
        let mut right = 0.0;
        let (middles, logs) = cells
            .into_iter()
            .map(|(count, width)| {
                right += width;
                let density = (count / width / n.max(1) as f64).max(1e-6);
                (right - width / 2.0, math::ln(density))
            })
            .unzip();
        RisingDensity { middles, logs }
    }

    /// The logarithm of the density at a place, linear between the middles of the steps.
    pub fn log_at(&self, x: f64) -> f64 {
        let after = self.middles.partition_point(|&middle| middle <= x);
        if after == 0 {
            return self.logs[0];
        }
        if after == self.middles.len() {
            return self.logs[after - 1];
        }
        let (low, high) = (self.middles[after - 1], self.middles[after]);
        let share = (x - low) / (high - low);
        self.logs[after - 1] + share * (self.logs[after] - self.logs[after - 1])
    }
}

/// The probability that a link is real, by the estimated share of false links and the
/// logarithm of the density.
pub(super) fn belief(share: f64, log_density: f64) -> f64 {
    1.0 - kept(share / math::exp(log_density))
}

//! Sizes against what is usual at the ends of a link.
//!
//! One law for all links calls honest counts between popular nodes too large: words that
//! are frequent meet often. So sizes are seen as normal scores under the law, and where
//! what the other links of both ends weigh tells them, that is taken off:
//!
//! ```text
//! z' = (z - a - b h) / s
//! ```
//!
//! with `h` the sum over both ends of the mean score of their other links, `a` and `b` by a
//! regression in which large residuals count less (Huber), and `s` the spread of what is
//! left above its median. Where `b` is not surely positive nothing is taken off.

use super::Verdict;
use crate::size::SizeLaw;
use linkproof_numeric::math;

/// Scores beyond count as this much, so that a spike says little of its ends.
const MOST: f64 = 3.0;
/// The mean of an end counts as if so many links had the score 0.
const PRIOR_LINKS: f64 = 5.0;
/// The slope must be positive by so many standard errors.
const ERRORS: f64 = 6.0;
/// Fewer links tell nothing.
const FEWEST: usize = 200;
/// Residuals of more deviations than this count less.
const HUBER: f64 = 1.345;
const ROUNDS: usize = 20;
/// The normal score of a rank of .95, and the median deviation of normal numbers.
const SCORE_95: f64 = 1.644_853_6;
const MEDIAN_DEVIATION: f64 = 0.674_489_8;
/// The spread of what is left is not taken for less.
const LEAST_SPREAD: f64 = 0.3;

/// For each link the logarithm of the chance of a size as large, given what is usual at
/// its ends.
pub fn log_chances(verdicts: &[Verdict], law: &SizeLaw) -> Vec<f64> {
    let plain = || {
        let chance = |verdict: &Verdict| law.log_chance(verdict.weight, verdict.similarity);
        verdicts.iter().map(chance).collect::<Vec<f64>>()
    };
    if law.is_signed() || verdicts.len() < FEWEST {
        return plain();
    }
    // Equal counts share their ranks.
    let score = |verdict: &Verdict| {
        let (below, upto) = law.rank(verdict.weight, verdict.similarity);
        normal_score(math::ln((1.0 - 0.5 * (below + upto)).max(1e-300))).clamp(-MOST, MOST)
    };
    let scores: Vec<f64> = verdicts.iter().map(score).collect();
    let usual = at_ends(verdicts, &scores);
    let Some((a, b)) = regression(&usual, &scores) else {
        return plain();
    };
    let left = usual.iter().zip(&scores).map(|(h, z)| z - a - b * h);
    let mut left: Vec<f64> = left.collect();
    left.sort_by(f64::total_cmp);
    let at = |share: f64| left[(share * (left.len() - 1) as f64) as usize];
    let spread = ((at(0.95) - at(0.5)) / SCORE_95).max(LEAST_SPREAD);
    let chances = plain().into_iter().zip(&usual).map(|(log_chance, h)| {
        let score = (normal_score(log_chance) - a - b * h) / spread;
        log_above(score)
    });
    chances.collect()
}

/// The sum over both ends of the mean score of their other links.
fn at_ends(verdicts: &[Verdict], scores: &[f64]) -> Vec<f64> {
    let ends = |verdict: &Verdict| [verdict.src as usize, verdict.dst as usize];
    let n = verdicts
        .iter()
        .flat_map(ends)
        .max()
        .map_or(0, |most| most + 1);
    let mut sums = vec![(0.0, 0.0); n];
    for (verdict, z) in verdicts.iter().zip(scores) {
        for end in ends(verdict) {
            sums[end].0 += z;
            sums[end].1 += 1.0;
        }
    }
    let others = |(verdict, z): (&Verdict, &f64)| -> f64 {
        let mean = |end: usize| (sums[end].0 - z) / (sums[end].1 - 1.0 + PRIOR_LINKS);
        ends(verdict).map(mean).iter().sum()
    };
    verdicts.iter().zip(scores).map(others).collect()
}

/// `z = a + b h`; none where `b` is not surely positive.
fn regression(h: &[f64], z: &[f64]) -> Option<(f64, f64)> {
    let (mut a, mut b) = (0.0, 0.0);
    let mut error = f64::INFINITY;
    for _ in 0..ROUNDS {
        let apart = |(h, z): (&f64, &f64)| z - a - b * h;
        let mut sizes: Vec<f64> = h.iter().zip(z).map(|pair| apart(pair).abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let deviation = sizes[sizes.len() / 2] / MEDIAN_DEVIATION;
        let most = (HUBER * deviation).max(1e-9);
        let [mut w0, mut w1, mut w2, mut r0, mut r1, mut squares] = [0.0; 6];
        for (h, z) in h.iter().zip(z) {
            let far = apart((h, z)).abs();
            let weight = (most / far.max(most)).min(1.0);
            w0 += weight;
            w1 += weight * h;
            w2 += weight * h * h;
            r0 += weight * z;
            r1 += weight * h * z;
            squares += weight * far * far;
        }
        let determinant = w0 * w2 - w1 * w1;
        if !(determinant > 1e-9 * w0 * w0) {
            return None;
        }
        (a, b) = (
            (w2 * r0 - w1 * r1) / determinant,
            (w0 * r1 - w1 * r0) / determinant,
        );
        error = (squares / w0 * w0 / determinant).sqrt();
    }
    // Links share their ends: errors are larger than those of numbers of their own.
    (b > ERRORS * error).then_some((a, b))
}

/// The logarithm of the chance that a normal number is larger.
fn log_above(z: f64) -> f64 {
    match z < 20.0 {
        true => math::ln(0.5 * math::erfc(z / std::f64::consts::SQRT_2)),
        false => -0.5 * z * z - math::ln(z) - 0.918_938_533_204_672_7 - 1.0 / (z * z),
    }
}

/// The normal number that is exceeded with such a chance, by bisection.
fn normal_score(log_chance: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0 + (-2.0 * log_chance).max(0.0).sqrt());
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match log_above(middle) > log_chance {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::size::SizedLink;
    use crate::trust::audit::discovery::rates_of_chances;

    #[test]
    fn scores_and_chances_are_inverse_far_out_too() {
        for z in [-3.0, -1.0, 0.0, 0.5, 3.0, 19.9, 20.1, 40.0, 1000.0] {
            let found = normal_score(log_above(z));
            assert!((found - z).abs() < 1e-6 * z.abs().max(1.0), "{z} {found}");
        }
        assert!((log_above(1.644_853_6) - 0.05f64.ln()).abs() < 1e-6);
        // The two forms meet.
        let [below, above] = [20.0 - 1e-9, 20.0 + 1e-9].map(log_above);
        assert!((below - above).abs() < 1e-4, "{below} {above}");
        assert_eq!(normal_score(0.0), -10.0);
    }

    /// Counts: the product of two frequencies, or of none, spread by chance; every
    /// hundredth is a hundred times as large.
    fn counts(popular: bool) -> (Vec<Verdict>, Vec<bool>) {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let n = 300u32;
        let mut normal = || -> f64 { (0..12).map(|_| random.random_range(-0.5..0.5)).sum() };
        let frequency: Vec<f64> = (0..n).map(|_| 1.2 * normal()).collect();
        let mut links = Vec::new();
        for src in 0..n {
            for step in 1..12 {
                let dst = (src * 7 + step * 13 + 1) % n;
                if src >= dst {
                    continue;
                }
                let ends = match popular {
                    true => frequency[src as usize] + frequency[dst as usize],
                    false => 0.0,
                };
                let is_spike = links.len() % 100 == 50;
                let spike = if is_spike { 100.0 } else { 1.0 };
                let weight = (3.0 * spike * (ends + 0.5 * normal()).exp()).ceil();
                let verdict = Verdict {
                    src,
                    dst,
                    weight,
                    mu: 1.0,
                    p_link: 1.0,
                    strength: 1.0,
                    similarity: 0.0,
                    trust: 1.0,
                    influence: 1.0,
                    log_trust: 0.0,
                };
                links.push((verdict, is_spike));
            }
        }
        links.into_iter().unzip()
    }

    #[test]
    fn honest_counts_of_popular_nodes_are_not_too_large_and_spikes_are() {
        let (verdicts, spikes) = counts(true);
        let sized = verdicts.iter().map(|verdict| SizedLink {
            weight: verdict.weight,
            belief: 1.0,
            similarity: 0.0,
        });
        let law = SizeLaw::estimate(&sized.collect::<Vec<_>>(), false).unwrap();
        let found = |chances: Vec<f64>| {
            let chances: Vec<f64> = chances.iter().map(|x| x.exp()).collect();
            let rates = rates_of_chances(&chances);
            let called = |wanted: bool| {
                let all = rates.iter().zip(&spikes);
                all.filter(|(rate, is)| **rate <= 0.1 && **is == wanted)
                    .count()
            };
            (called(true), called(false))
        };
        let all = spikes.iter().filter(|is| **is).count();
        let (right, wrong) = found(log_chances(&verdicts, &law));
        let plain = verdicts.iter().map(|it| law.log_chance(it.weight, 0.0));
        let (before, _) = found(plain.collect());
        assert!(all > 10 && right * 10 >= all * 8, "{right} of {all}");
        assert!(wrong <= 2, "{wrong}");
        assert!(
            before < right,
            "{before} without, {right} with what is usual"
        );
    }

    #[test]
    fn where_ends_tell_nothing_chances_are_those_of_the_law() {
        let (verdicts, _) = counts(false);
        let sized = verdicts.iter().map(|verdict| SizedLink {
            weight: verdict.weight,
            belief: 1.0,
            similarity: 0.0,
        });
        let law = SizeLaw::estimate(&sized.collect::<Vec<_>>(), false).unwrap();
        let plain: Vec<f64> = verdicts
            .iter()
            .map(|it| law.log_chance(it.weight, it.similarity))
            .collect();
        assert_eq!(log_chances(&verdicts, &law), plain);
    }
}

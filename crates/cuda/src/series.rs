//! Polynomials of the probability score.
//!
//! With `mu = e^s` and `c = 1 + beta` an unlinked pair pays (less the constant)
//!
//! ```text
//! l(s; 0) = (1 - e^{-beta mu})/beta - (1 - e^{-c mu})/c
//!           + e^{-c mu}/c * sum over k >= 1 of mu^{ck}/k!^c
//! ```
//!
//! Over `mu^k`, `k = min(c, 2)`, that is a series in powers of `mu` whose exponents are sums
//! of `|1 - beta|`, 1 and `c`. As a function of `mu^p` it is smooth, for a `p` that fits
//! these exponents, and so is its slope. One polynomial of a few terms for each serves all
//! similarities from minus infinity to the steepest point. Two exponentials and some
//! multiply-adds: the same for every pair, and no range is looked up. Only for `beta` close to
//! 1, but not 1, `|1 - beta|` asks for too many terms.

use linkproof_method::params::ScoreKind;
use linkproof_method::score::Score;
use linkproof_numeric::math;

/// No polynomial has more terms.
const MOST: usize = 16;
/// Nor fewer.
const FEWEST: usize = 6;
/// Polynomials are tried from this similarity on.
const LOWEST: f64 = -25.0;
/// In so many places.
const PLACES: usize = 400;

/// The polynomials, as kernels read them.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Series {
    top: f32,
    slow: f32,
    origin: f32,
    /// How many terms they have; 0 where none of a few terms do.
    pub count: u32,
    terms: [[f32; MOST]; 2],
}

impl Series {
    /// Those of the probability score with an exponent, with the fewest terms that are
    /// wrong by no more than a share of what a pair pays.
    pub fn new(beta: f64, tolerance: f64) -> Series {
        let score = Score::new(ScoreKind::Probability, beta).capped::<f32>();
        let top = score.cap();
        let power = (1.0 + beta).min(2.0);
        let pays = |s: f64| {
            let term = score.unlinked(s);
            [term.value, term.slope].map(|paid| paid * math::exp(-power * s))
        };
        let tried: Vec<(f64, [f64; 2])> = (0..=PLACES)
            .map(|place| LOWEST + (top - LOWEST) * place as f64 / PLACES as f64)
            .map(|s| (s, pays(s)))
            .collect();
        let mut series = Series {
            top: (top * std::f64::consts::LOG2_E) as f32,
            ..Series::default()
        };
        for count in FEWEST..=MOST {
            let mut least = tolerance;
            for slow in powers(beta) {
                let at = |x: f64| top + math::ln(0.5 * (x + 1.0)) / slow;
                let terms = [0, 1].map(|which| through(count, |x| pays(at(x))[which]));
                let error = tried.iter().fold(0.0, |most: f64, (s, paid)| {
                    let x = 2.0 * math::exp(slow * (s - top)) - 1.0;
                    let found = terms.map(|terms| terms.iter().rev().fold(0.0, |y, a| y * x + a));
                    let wrong = (found[0] - paid[0]).abs().max((found[1] - paid[1]).abs());
                    most.max(wrong / paid[0].max(paid[1]))
                });
                if error <= least {
                    least = error;
                    series.count = count as u32;
                    series.slow = slow as f32;
                    series.origin = (1.0 - slow * top * std::f64::consts::LOG2_E) as f32;
                    series.terms = terms.map(|terms| terms.map(|term| term as f32));
                }
            }
            if series.count > 0 {
                break;
            }
        }
        series
    }
}

/// Powers of the expected weight that are tried.
fn powers(beta: f64) -> impl Iterator<Item = f64> {
    let bases = [(1.0 + beta).min(2.0), 1.0, (1.0 - beta).abs()];
    let parts = bases.map(|base| [1.0, 2.0, 3.0, 4.0, 5.0].map(|part| base / part));
    // Smaller ones bend too much near the top.
    parts.into_iter().flatten().filter(|power| *power > 0.15)
}

/// The polynomial with so many terms through a function at the Chebyshev nodes of [-1, 1],
/// lowest coefficient first.
fn through(count: usize, function: impl Fn(f64) -> f64) -> [f64; MOST] {
    let mut nodes = [0.0; MOST];
    let mut differences = [0.0; MOST];
    for place in 0..count {
        let angle = std::f64::consts::PI * (place as f64 + 0.5) / count as f64;
        nodes[place] = math::cos(angle);
        differences[place] = function(nodes[place]);
    }
    // Newton's divided differences, and from them powers.
    for order in 1..count {
        for place in (order..count).rev() {
            let between = nodes[place] - nodes[place - order];
            differences[place] = (differences[place] - differences[place - 1]) / between;
        }
    }
    let mut powers = [0.0; MOST];
    for place in (0..count).rev() {
        for power in (1..count).rev() {
            powers[power] = powers[power - 1] - nodes[place] * powers[power];
        }
        powers[0] = differences[place] - nodes[place] * powers[0];
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's arithmetic, in single precision.
    fn evaluate(by: &Series, beta: f64, s: f64) -> [f64; 2] {
        let t = (s * std::f64::consts::LOG2_E) as f32;
        let exp2 = |x: f32| math::exp(f64::from(x) * std::f64::consts::LN_2) as f32;
        let x = exp2(t * by.slow + by.origin) - 1.0;
        let fast = exp2(t * (1.0 + beta as f32).min(2.0));
        by.terms.map(|terms| {
            let sum = terms.iter().rev().fold(0f32, |sum, a| sum * x + a);
            f64::from(sum * fast)
        })
    }

    #[test]
    fn polynomials_are_as_exact_as_asked() {
        for beta in [0.02, 0.05, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0, 1.5, 1.7, 2.0] {
            let score = Score::new(ScoreKind::Probability, beta).capped::<f32>();
            for tolerance in [4e-4, 4e-6] {
                let series = Series::new(beta, tolerance);
                assert!(series.count > 0, "{beta} {tolerance}");
                let mut s = -25.0;
                while s <= score.cap() {
                    let term = score.unlinked(s);
                    let scale = term.value.abs().max(term.slope.abs());
                    let found = evaluate(&series, beta, s);
                    for (found, expected) in found.into_iter().zip([term.value, term.slope]) {
                        let error = (found - expected).abs() / scale;
                        // Exponents are rounded too.
                        assert!(error < tolerance + 5e-6, "{beta} {s}: {found} {expected}");
                    }
                    s += 0.01;
                }
            }
        }
    }

    #[test]
    fn few_terms_do_for_the_usual_exponent() {
        assert!(Series::new(0.5, 4e-4).count <= 8);
        assert!(Series::new(0.5, 4e-6).count <= 11);
        // And none near 1, where the table serves.
        assert_eq!(Series::new(0.95, 4e-6).count, 0);
        assert_eq!(Series::new(0.95, 4e-4).count, 0);
    }
}

//! Polynomials of the probability score.
//!
//! With `mu = e^s`, `c = 1 + beta` and `z = mu^c`, an unlinked pair pays (less the
//! constant)
//!
//! ```text
//! l(s; 0)  = mu^2 d(mu) + z e^{-c mu} f(z)/c
//! l'(s; 0) = mu^2 e(mu) + z e^{-c mu} (g(z) - mu f(z))
//!
//! d(mu) = ((1 - e^{-beta mu})/beta - (1 - e^{-c mu})/c) / mu^2
//! e(mu) = e^{-beta mu} (1 - e^{-mu}) / mu
//! f(z)  = sum over k >= 1 of z^{k-1}/k!^c,  g(z) = sum over k >= 1 of k z^{k-1}/k!^c
//! ```
//!
//! All four are entire functions: six terms do up to `s = -1`, where nearly all pairs
//! are. Above, up to the cap, `e^{-ks}` times value and slope are polynomials of `s`, with
//! `k = min(c, 2)`. No range of similarities has to be looked up.

use linkproof_method::score::Score;
use linkproof_numeric::math;

/// Terms of the polynomials below and above.
const FEW: usize = 6;
const MANY: usize = 12;
/// Up to this similarity the functions of the expected weight do.
const LOW: f64 = -1.0;

/// The polynomials, as kernels read them.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Series {
    low_top: f32,
    high_steep: f32,
    high_origin: f32,
    low: [[f32; FEW]; 4],
    high: [[f32; MANY]; 2],
}

impl Series {
    /// Those of the probability score with an exponent; those above where it has a cap.
    pub fn new(beta: f64, score: &Score) -> Series {
        let cap = score.cap();
        let low = cap.min(LOW);
        let mut series = Series {
            low_top: (low * std::f64::consts::LOG2_E) as f32,
            low: polynomials(beta, low),
            ..Series::default()
        };
        if cap.is_finite() && cap > low {
            let (middle, half) = (0.5 * (low + cap), 0.5 * (cap - low));
            let k = (1.0 + beta).min(2.0);
            let at = |u: f64| middle + half * u;
            series.high_steep = (std::f64::consts::LN_2 / half) as f32;
            series.high_origin = (-middle / half) as f32;
            series.high = [
                through([-1.0, 1.0], |u| {
                    score.unlinked(at(u)).value * math::exp(-k * at(u))
                }),
                through([-1.0, 1.0], |u| {
                    score.unlinked(at(u)).slope * math::exp(-k * at(u))
                }),
            ];
        }
        series
    }
}

/// d, e, f and g for similarities up to one.
fn polynomials<const N: usize>(beta: f64, top: f64) -> [[f32; N]; 4] {
    let c = 1.0 + beta;
    let mu = math::exp(top);
    let z = math::exp(c * top);
    let series = |term: &dyn Fn(f64) -> f64, x: f64| -> f64 {
        let mut power = 1.0;
        let mut sum = 0.0;
        for k in 1..80 {
            sum += power * term(f64::from(k));
            power *= x;
        }
        sum
    };
    let factorial = |k: f64| math::ln_gamma(k + 1.0);
    // sum over m >= 1 of (-1)^{m+1} (c^m - beta^m) mu^{m-1} / (m+1)!
    let d = |m: f64| {
        let sign = if m % 2.0 == 1.0 { 1.0 } else { -1.0 };
        sign * (math::pow(c, m) - math::pow(beta, m)) * math::exp(-factorial(m + 1.0))
    };
    let e = |mu: f64| match mu > 1e-9 {
        true => -math::exp(-beta * mu) * math::exp_m1(-mu) / mu,
        false => 1.0,
    };
    let f = |k: f64| math::exp(-c * factorial(k));
    let g = |k: f64| k * math::exp(-c * factorial(k));
    [
        through([0.0, mu], |x| series(&d, x)),
        through([0.0, mu], e),
        through([0.0, z], |x| series(&f, x)),
        through([0.0, z], |x| series(&g, x)),
    ]
}

/// The polynomial through a function at the Chebyshev nodes of a range, lowest
/// coefficient first.
fn through<const N: usize>([low, high]: [f64; 2], function: impl Fn(f64) -> f64) -> [f32; N] {
    let mut nodes = [0.0; N];
    for (place, node) in nodes.iter_mut().enumerate() {
        let angle = std::f64::consts::PI * (place as f64 + 0.5) / N as f64;
        *node = 0.5 * (low + high) + 0.5 * (high - low) * math::cos(angle);
    }
    // Newton's divided differences, and from them powers.
    let mut differences = nodes.map(function);
    for order in 1..N {
        for place in (order..N).rev() {
            let between = nodes[place] - nodes[place - order];
            differences[place] = (differences[place] - differences[place - 1]) / between;
        }
    }
    let mut powers = [0.0; N];
    for place in (0..N).rev() {
        for power in (1..N).rev() {
            powers[power] = powers[power - 1] - nodes[place] * powers[power];
        }
        powers[0] = differences[place] - nodes[place] * powers[0];
    }
    powers.map(|power| power as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkproof_method::params::ScoreKind;

    fn horner<const N: usize>(of: &[f32; N], x: f32) -> f32 {
        of.iter().rev().fold(0f32, |sum, a| sum * x + a)
    }

    /// The kernel's arithmetic, in single precision.
    fn evaluate(by: &Series, beta: f64, s: f64) -> [f64; 2] {
        let c = 1.0 + beta;
        let t = (s * std::f64::consts::LOG2_E) as f32;
        if t > by.low_top {
            let u = t * by.high_steep + by.high_origin;
            let fast = math::exp(c.min(2.0) * s) as f32;
            return [0, 1].map(|place| f64::from(horner(&by.high[place], u) * fast));
        }
        let (mu, z) = (math::exp(s) as f32, math::exp(c * s) as f32);
        let own = z * math::exp(-c * f64::from(mu)) as f32;
        let with = own * horner(&by.low[2], z);
        let value = mu * mu * horner(&by.low[0], mu) + with / c as f32;
        let slope = mu * mu * horner(&by.low[1], mu) + own * horner(&by.low[3], z) - mu * with;
        [f64::from(value), f64::from(slope)]
    }

    #[test]
    fn polynomials_are_as_exact_as_single_precision() {
        for beta in [0.05, 0.1, 0.5, 1.0, 1.7] {
            let score = Score::new(ScoreKind::Probability, beta).capped::<f32>();
            let series = Series::new(beta, &score);
            let mut s = -30.0;
            while s <= score.cap() {
                let term = score.unlinked(s);
                let scale = term.value.abs().max(term.slope.abs());
                let found = evaluate(&series, beta, s);
                for (found, expected) in found.into_iter().zip([term.value, term.slope]) {
                    let error = (found - expected).abs() / scale;
                    assert!(error < 2e-6, "{beta} {s}: {found} {expected}");
                }
                s += 0.01;
            }
        }
    }
}

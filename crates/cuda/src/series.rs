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
//! All four are entire functions, so a few terms do, and no range of similarities has to
//! be looked up: what a row of a tensor core's tile needs.

use linkproof_numeric::math;

/// Terms of the short and of the long polynomials.
const FEW: usize = 6;
const MANY: usize = 12;
/// Up to this similarity the short ones do.
const LOW: f64 = -1.0;
/// From this exponent on the long ones do, up to the cap; below, the cap is far up.
const LEAST_BETA: f64 = 0.3;

/// The polynomials, as kernels read them.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Series {
    low_top: f32,
    low: [[f32; FEW]; 4],
    high: [[f32; MANY]; 4],
}

impl Series {
    /// Those for an exponent and a cap, and whether the long ones reach up to it.
    pub fn new(beta: f64, cap: f64) -> (Series, bool) {
        let reaches = beta >= LEAST_BETA && cap.is_finite();
        let low = cap.min(LOW);
        let high = if reaches { cap.max(low) } else { low };
        let series = Series {
            low_top: (low * std::f64::consts::LOG2_E) as f32,
            low: polynomials(beta, low),
            high: polynomials(beta, high),
        };
        (series, reaches)
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
        through(mu, |x| series(&d, x)),
        through(mu, e),
        through(z, |x| series(&f, x)),
        through(z, |x| series(&g, x)),
    ]
}

/// The polynomial through a function at the Chebyshev nodes of [0, top], lowest
/// coefficient first.
fn through<const N: usize>(top: f64, function: impl Fn(f64) -> f64) -> [f32; N] {
    let n = N as f64;
    let mut nodes = [0.0; N];
    for (place, node) in nodes.iter_mut().enumerate() {
        let angle = std::f64::consts::PI * (place as f64 + 0.5) / n;
        *node = 0.5 * (1.0 + math::cos(angle));
    }
    // Newton's divided differences, and from them powers of x/top.
    let mut differences = nodes.map(|node| function(top * node));
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
    let mut scale = 1.0;
    powers.map(|power| {
        let coefficient = power / scale;
        scale *= top;
        coefficient as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkproof_method::params::ScoreKind;
    use linkproof_method::score::Score;

    /// The kernel's arithmetic, in single precision.
    fn evaluate<const N: usize>(by: &[[f32; N]; 4], beta: f64, s: f64) -> [f64; 2] {
        let c = 1.0 + beta;
        let (mu, z) = (math::exp(s) as f32, math::exp(c * s) as f32);
        let horner = |of: &[f32; N], x: f32| of.iter().rev().fold(0f32, |sum, a| sum * x + a);
        let own = z * math::exp(-c * f64::from(mu)) as f32;
        let with = own * horner(&by[2], z);
        let value = mu * mu * horner(&by[0], mu) + with / c as f32;
        let slope = mu * mu * horner(&by[1], mu) + own * horner(&by[3], z) - mu * with;
        [f64::from(value), f64::from(slope)]
    }

    #[test]
    fn polynomials_are_as_exact_as_single_precision() {
        for beta in [0.05, 0.3, 0.5, 1.0, 1.7] {
            let score = Score::new(ScoreKind::Probability, beta).capped::<f32>();
            let (series, reaches) = Series::new(beta, score.cap());
            assert_eq!(reaches, beta >= LEAST_BETA);
            let mut s = -30.0;
            while s <= score.cap() {
                let term = score.unlinked(s);
                let (value, slope) = (term.value, term.slope);
                let scale = value.abs().max(slope.abs());
                let close = |found: [f64; 2]| {
                    (found[0] - value).abs() < 2e-6 * scale
                        && (found[1] - slope).abs() < 3e-6 * scale
                };
                let low = evaluate(&series.low, beta, s);
                assert!(s > LOW || close(low), "{beta} {s}: {low:?} {term:?}");
                let high = evaluate(&series.high, beta, s);
                assert!(!reaches || close(high), "{beta} {s}: {high:?} {term:?}");
                s += 0.01;
            }
        }
    }
}

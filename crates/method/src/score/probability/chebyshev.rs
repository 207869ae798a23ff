//! Polynomials through the Chebyshev nodes of an interval.

use linkproof_numeric::math;

/// The polynomial of degree `N - 1` through `function` at the Chebyshev nodes
/// of [-1, 1]: its coefficients, lowest first.
pub struct Fit<const N: usize> {
    nodes: [f64; N],
    weights: [[f64; N]; N],
}

impl<const N: usize> Fit<N> {
    /// The nodes, and the matrix that turns values there into coefficients.
    pub fn new() -> Fit<N> {
        let n = N as f64;
        let mut nodes = [0.0; N];
        for (place, node) in nodes.iter_mut().enumerate() {
            *node = math::cos(std::f64::consts::PI * (place as f64 + 0.5) / n);
        }
        // The monomial coefficients of the Chebyshev polynomials T_0 .. T_{n-1}.
        let mut polynomials = [[0.0; N]; N];
        polynomials[0][0] = 1.0;
        polynomials[1][1] = 1.0;
        for degree in 2..N {
            for power in 0..N {
                let shifted = if power > 0 {
                    2.0 * polynomials[degree - 1][power - 1]
                } else {
                    0.0
                };
                polynomials[degree][power] = shifted - polynomials[degree - 2][power];
            }
        }
        let mut weights = [[0.0; N]; N];
        for (power, row) in weights.iter_mut().enumerate() {
            for (place, weight) in row.iter_mut().enumerate() {
                for (degree, polynomial) in polynomials.iter().enumerate() {
                    let angle = std::f64::consts::PI * degree as f64 * (place as f64 + 0.5) / n;
                    let norm = if degree == 0 { 1.0 / n } else { 2.0 / n };
                    *weight += norm * polynomial[power] * math::cos(angle);
                }
            }
        }
        Fit { nodes, weights }
    }

    /// The coefficients for value and slope of a function on [-1, 1].
    pub fn coefficients(&self, function: impl Fn(f64) -> (f64, f64)) -> [[f64; N]; 2] {
        let samples = self.nodes.map(function);
        let through = |samples: [f64; N]| {
            self.weights
                .map(|row| row.iter().zip(&samples).map(|(w, x)| w * x).sum())
        };
        [
            through(samples.map(|sample| sample.0)),
            through(samples.map(|sample| sample.1)),
        ]
    }
}

/// The polynomial at `u`.
#[inline(always)]
pub fn horner<const N: usize>(coefficients: &[f64; N], u: f64) -> f64 {
    let mut sum = 0.0;
    for &coefficient in coefficients.iter().rev() {
        sum = sum * u + coefficient;
    }
    sum
}

//! Functions of one number whose bits are the same on every machine. The
//! methods of `f64` call the system's library, whose results differ from one
//! version and one processor to the next; `clippy.toml` keeps the library's
//! code from them. (`sqrt`, `abs`, `floor` and `mul_add` are exact everywhere.)
//!
//! Loops over all pairs have an `exp` of their own: [`real`](crate::real).

/// `e^x`.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// `e^x - 1`, exact near 0.
#[inline]
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// The natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// `ln(1 + x)`, exact near 0.
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// The logarithm to base 2.
#[inline]
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// The logarithm to base 10.
#[inline]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// `x^power`.
#[inline]
pub fn pow(x: f64, power: f64) -> f64 {
    libm::pow(x, power)
}

/// `x^power` in single precision.
#[inline]
pub fn pow_single(x: f32, power: f32) -> f32 {
    libm::powf(x, power)
}

/// The sine.
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// The cosine.
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// The complementary error function.
#[inline]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// The logarithm of the gamma function.
#[inline]
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The derivative of `ln_gamma`, for `x > 0`: by `psi(x) = psi(x + 1) - 1/x` from
/// where its asymptotic series (Abramowitz and Stegun, 6.3.18) is exact.
pub fn digamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = 1.0 / 12.0
        - r * (1.0 / 120.0
            - r * (1.0 / 252.0
                - r * (1.0 / 240.0
                    - r * (1.0 / 132.0 - r * (691.0 / 32_760.0 - r * (1.0 / 12.0))))));
    ln(x) - 0.5 / x - r * series - below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The system's functions are exact to the last bit or nearly so.
    #[test]
    fn functions_agree_with_the_systems() {
        let near = |found: f64, expected: f64| {
            (found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs()
        };
        for step in -4000..4000 {
            let x = f64::from(step) * 0.013;
            assert!(near(exp(x), x.exp()), "exp {x}");
            assert!(near(exp_m1(x), x.exp_m1()), "exp_m1 {x}");
            assert!((sin(x) - x.sin()).abs() < 1e-15, "sin {x}");
            assert!((cos(x) - x.cos()).abs() < 1e-15, "cos {x}");
            let y = x.abs() + 1e-6;
            assert!(near(ln(y), y.ln()), "ln {y}");
            assert!(near(ln_1p(y), y.ln_1p()), "ln_1p {y}");
            assert!(near(log2(y), y.log2()), "log2 {y}");
            assert!(near(log10(y), y.log10()), "log10 {y}");
            assert!(near(pow(y, 0.37), y.powf(0.37)), "pow {y}");
            let single = f64::from(pow_single(y as f32, 0.37));
            assert!((single / y.powf(0.37) - 1.0).abs() < 1e-6, "pow {y}");
        }
    }

    #[test]
    fn digamma_has_its_known_values_and_is_a_derivative() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let known = [
            (1.0, -EULER),
            (2.0, 1.0 - EULER),
            (0.5, -EULER - 2.0 * 2f64.ln()),
            (10.0, 2.251_752_589_066_721),
            (1e-8, -1e8 - EULER + 1.644_934e-8),
        ];
        for (x, expected) in known {
            assert!((digamma(x) / expected - 1.0).abs() < 1e-14, "{x}");
        }
        for x in [0.03, 0.7, 3.3, 9.99, 25.0, 1e4] {
            let h = 1e-4 * x;
            let slope = (ln_gamma(x + h) - ln_gamma(x - h)) / (2.0 * h);
            assert!(
                (digamma(x) - slope).abs() < 1e-6 * (1.0 + slope.abs()),
                "{x}"
            );
        }
    }
}

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
}

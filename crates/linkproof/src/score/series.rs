//! The probability score's `l(s; 0)` for small expected weights, from two
//! exponentials and short series: no look-up, so that loops over it vectorise.
//!
//! With `c = 1 + beta`, `mu = e^s` and `E = e^{cs}`,
//!
//! ```text
//! value = sum_m a_m mu^{m+1}/(m+1)! + e^{-c mu}/c sum_k E^k/(k!)^c
//! slope = sum_m a_m mu^{m+1}/m!     + e^{-c mu}   sum_k (k - mu) E^k/(k!)^c
//! a_m = (-1)^{m+1} (c^m - beta^m),   m and k from 1 on
//! ```

use crate::real::Real;

const TERMS: usize = 8;
const POWERS: usize = 7;

/// The series for one beta, within 1.5e-7 relative (and rounding) up to [`Series::limit`].
#[derive(Debug, Clone)]
pub struct Series<T> {
    c: T,
    inverse_c: T,
    limit: T,
    value: [T; TERMS],
    slope: [T; TERMS],
    decay: [T; TERMS],
    powers: [T; POWERS],
}

impl<T: Real> Series<T> {
    /// Sums the coefficients up.
    pub fn new(beta: f64) -> Series<T> {
        let c = 1.0 + beta;
        let (mut value, mut slope, mut decay) =
            ([T::ZERO; TERMS], [T::ZERO; TERMS], [T::ZERO; TERMS]);
        let mut factorial = 1.0;
        for place in 0..TERMS {
            let m = place as i32 + 1;
            decay[place] = T::of((-c).powi(m - 1) / factorial);
            factorial *= f64::from(m);
            let sign = if m % 2 == 1 { 1.0 } else { -1.0 };
            let a = sign * (c.powi(m) - beta.powi(m));
            slope[place] = T::of(a / factorial);
            value[place] = T::of(a / (factorial * f64::from(m + 1)));
        }
        let mut powers = [T::ZERO; POWERS];
        let mut factorial = 1.0f64;
        for (place, power) in powers.iter_mut().enumerate() {
            factorial *= (place + 1) as f64;
            *power = T::of(factorial.powf(-c));
        }
        Series {
            c: T::of(c),
            inverse_c: T::of(1.0 / c),
            limit: T::of((0.5 / c).min(0.25).ln()),
            value,
            slope,
            decay,
            powers,
        }
    }

    /// The largest similarity at which the series holds.
    pub fn limit(&self) -> T {
        self.limit
    }

    /// Value and slope at a similarity up to the limit.
    #[inline(always)]
    pub fn evaluate<const FMA: bool>(&self, s: T) -> (T, T) {
        let mu = s.exp_inline::<FMA>();
        let e = (self.c * s).exp_inline::<FMA>();
        let square = mu * mu;
        let decay = polynomial::<T, TERMS, FMA>(&self.decay, mu);
        let (mut sum, mut weighted) = (T::ZERO, T::ZERO);
        for (place, &power) in self.powers.iter().enumerate().rev() {
            sum = sum.fma::<FMA>(e, power);
            weighted = weighted.fma::<FMA>(e, power * T::of((place + 1) as f64));
        }
        let (sum, weighted) = (sum * e, weighted * e);
        let value = polynomial::<T, TERMS, FMA>(&self.value, mu)
            .fma::<FMA>(square, decay * sum * self.inverse_c);
        let slope = polynomial::<T, TERMS, FMA>(&self.slope, mu)
            .fma::<FMA>(square, decay * (weighted - mu * sum));
        (value, slope)
    }
}

#[inline(always)]
fn polynomial<T: Real, const N: usize, const FMA: bool>(coefficients: &[T; N], x: T) -> T {
    let mut sum = T::ZERO;
    for &coefficient in coefficients.iter().rev() {
        sum = sum.fma::<FMA>(x, coefficient);
    }
    sum
}

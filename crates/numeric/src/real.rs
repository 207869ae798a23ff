//! Single and double precision behind one name, and the two operations on
//! them that decide how fast a fit is: a vectorisable `exp` and the product of
//! matrices.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::processor::Processor;

mod matrix;
mod packed;
mod panels;
mod reduce;
mod register;
pub use matrix::View;
pub use packed::Packed;
pub use panels::{Pieces, Target, multiply_panel, pack_panel, panel_width};
pub use reduce::{range, sum, sum_of_products};
pub use register::{Register, Task};

/// Nobody else's numbers are [`Real`]: formulas know the precision of these two.
mod sealed {
    /// Of `f32` and `f64`.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
pub trait Real:
    sealed::Sealed
    + Copy
    + Send
    + Sync
    + 'static
    + Debug
    + Display
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Whether this is single precision.
    const IS_SINGLE: bool;
    /// Above this argument `exp` is infinite.
    const EXP_MAX: f64;
    /// The relative size of rounding errors in a sum over pairs.
    const ROUNDING: f64;

    /// The slice, if it has this precision.
    fn from_f32(values: &[f32]) -> Option<&[Self]>;
    /// The slice, if it has this precision.
    fn from_f64(values: &[f64]) -> Option<&[Self]>;
    /// The same slice, if its precision is single.
    fn to_f32s(values: &[Self]) -> Option<&[f32]>;
    /// The same slice, if its precision is double.
    fn to_f64s(values: &[Self]) -> Option<&[f64]>;
    /// The nearest number of this precision.
    fn of(value: f64) -> Self;
    /// The same number in double precision.
    fn to_f64(self) -> f64;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// The smaller of two numbers (the other one where this is NaN).
    fn min(self, other: Self) -> Self;
    /// The larger of two numbers (the other one where this is NaN).
    fn max(self, other: Self) -> Self;
    /// `self * a + b`, fused when `FMA` says that the machine has it.
    fn fma<const FMA: bool>(self, a: Self, b: Self) -> Self;
    /// `e^x` without branches or casts, so that loops over it vectorise:
    /// 1.2e-7 relative in `f32`, 4e-16 in `f64`; infinite above
    /// [`Real::EXP_MAX`], a tiny positive number where it would underflow.
    fn exp_inline<const FMA: bool>(self) -> Self;
    /// The same for arguments up to [`Real::EXP_MAX`]; wrong above.
    fn exp_below<const FMA: bool>(self) -> Self;

    /// Does a task with the registers of this machine.
    fn with_registers<K: Task<Self>>(task: K) -> K::Output;
}

macro_rules! real {
    ($float:ident, $magic:expr, $shift:expr, $bias:expr, $low:expr, $high:expr, $rounding:expr,
     $ln2_high:expr, $ln2_low:expr, $from_f32:expr, $from_f64:expr, $coefficients:expr, $avx2:ident, $avx512:ident) => {
        impl Real for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const IS_SINGLE: bool = size_of::<$float>() == 4;
            const EXP_MAX: f64 = $high;
            const ROUNDING: f64 = $rounding;

            fn from_f32(values: &[f32]) -> Option<&[Self]> {
                $from_f32(values)
            }
            fn from_f64(values: &[f64]) -> Option<&[Self]> {
                $from_f64(values)
            }
            fn to_f32s(values: &[Self]) -> Option<&[f32]> {
                $from_f32(values)
            }
            fn to_f64s(values: &[Self]) -> Option<&[f64]> {
                $from_f64(values)
            }
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn fma<const FMA: bool>(self, a: Self, b: Self) -> Self {
                if FMA {
                    self.mul_add(a, b)
                } else {
                    self * a + b
                }
            }
            #[inline(always)]
            fn exp_inline<const FMA: bool>(self) -> Self {
                let high = $high as $float;
                let result = Real::min(self, high).exp_below::<FMA>();
                if self > high {
                    $float::INFINITY
                } else {
                    result
                }
            }
            #[inline(always)]
            fn exp_below<const FMA: bool>(self) -> Self {
                const MAGIC: $float = $magic;
                let x = Real::max(self, $low);
                // Adding 1.5 * 2^(mantissa bits) rounds to the nearest integer
                // and leaves that integer in the low bits.
                let shifted = x.fma::<FMA>(std::$float::consts::LOG2_E, MAGIC);
                let n = shifted - MAGIC;
                let r = n.fma::<FMA>(-$ln2_low, n.fma::<FMA>(-$ln2_high, x));
                let mut poly: $float = 0.0;
                for coefficient in $coefficients {
                    poly = poly.fma::<FMA>(r, coefficient);
                }
                let power = $float::from_bits((shifted.to_bits() << $shift).wrapping_add($bias));
                poly * power
            }
            fn with_registers<K: Task<Self>>(task: K) -> K::Output {
                // SAFETY: each is chosen only where the processor was found to have it.
                unsafe {
                    match Processor::here() {
                        #[cfg(target_arch = "x86_64")]
                        Processor::Avx512 => register::x86::$avx512(task),
                        #[cfg(target_arch = "x86_64")]
                        Processor::Avx2 => register::x86::$avx2(task),
                        #[cfg(target_arch = "x86_64")]
                        Processor::Plain => register::x86::plain(task),
                        Processor::Separate => register::plain::<$float, K, false>(task),
                        #[cfg(not(target_arch = "x86_64"))]
                        _ => register::plain::<$float, K, true>(task),
                    }
                }
            }
        }
    };
}

real!(
    f32,
    12_582_912.0,
    23,
    127 << 23,
    -87.0,
    88.37,
    1e-7,
    0.693_145_75,
    1.428_606_8e-6,
    Some,
    |_| None,
    // The smallest relative error on +-log(2)/2, 2e-9 before rounding.
    [
        0.001_383_679_4,
        0.008_374_857,
        0.041_668_23,
        0.166_664_2,
        0.499_999_9,
        1.0,
        1.0f32
    ],
    avx2_f32,
    avx512_f32
);
real!(
    f64,
    6_755_399_441_055_744.0,
    52,
    1023 << 52,
    -708.0,
    709.0,
    1e-14,
    0.693_147_180_369_123_8,
    1.908_214_929_270_587_7e-10,
    |_| None,
    Some,
    [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0f64
    ],
    avx2_f64,
    avx512_f64
);

/// The inner product, in eight interleaved sums so that it vectorises; the
/// order of additions is fixed.
#[inline]
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; 8];
    let chunks = a.chunks_exact(8).zip(b.chunks_exact(8));
    for (x, y) in chunks {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let done = a.len().min(b.len()) / 8 * 8;
    let mut rest = T::ZERO;
    for (x, y) in a[done..].iter().zip(&b[done..]) {
        rest += *x * *y;
    }
    lanes.into_iter().sum::<T>() + rest
}

/// The inner product in double precision, eight interleaved sums.
#[inline]
pub fn dot_f64<T: Real>(a: &[T], b: &[T]) -> f64 {
    let mut lanes = [0.0f64; 8];
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            lanes[lane] += x[lane].to_f64() * y[lane].to_f64();
        }
    }
    let done = a.len().min(b.len()) / 8 * 8;
    let rest: f64 = a[done..]
        .iter()
        .zip(&b[done..])
        .map(|(x, y)| x.to_f64() * y.to_f64())
        .sum();
    lanes.into_iter().sum::<f64>() + rest
}

/// `out += factor * x`.
#[inline]
pub fn add_scaled<T: Real>(out: &mut [T], factor: T, x: &[T]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += factor * *x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_accurate_over_the_whole_range() {
        let mut worst = (0.0f64, 0.0f64);
        for step in -170_000..176_000 {
            let x = f64::from(step) * 5e-4;
            let single = (x as f32).exp_inline::<true>();
            let exact = f64::from(x as f32).exp();
            worst.0 = worst.0.max((f64::from(single) / exact - 1.0).abs());
            let plain = (x as f32).exp_inline::<false>();
            worst.0 = worst.0.max((f64::from(plain) / exact - 1.0).abs());
        }
        for step in -70_000..70_000 {
            let x = f64::from(step) * 0.01;
            worst.1 = worst.1.max((x.exp_inline::<true>() / x.exp() - 1.0).abs());
            worst.1 = worst.1.max((x.exp_inline::<false>() / x.exp() - 1.0).abs());
        }
        assert!(worst.0 < 2.5e-7, "{worst:?}");
        assert!(worst.1 < 1e-15, "{worst:?}");
        assert_eq!(100f32.exp_inline::<true>(), f32::INFINITY);
        assert_eq!(800f64.exp_inline::<true>(), f64::INFINITY);
        assert!((-1e9f32).exp_inline::<true>() < 1e-37);
    }
}

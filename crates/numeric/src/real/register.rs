//! Registers of the machine at hand, for the loops in which the compiler's
//! own choice would cost too much: sums that stay in registers.

use super::Real;
use crate::processor::Processor;

/// A register of numbers. Every operation may only be used where the machine
/// has the register, and on pointers to as many numbers as it holds.
#[allow(clippy::missing_safety_doc)]
pub trait Register<T>: Copy {
    /// How many numbers it holds.
    const LANES: usize;
    /// The same number everywhere.
    unsafe fn splat(value: T) -> Self;
    /// Numbers from memory.
    unsafe fn load(from: *const T) -> Self;
    /// Numbers to memory.
    unsafe fn store(self, to: *mut T);
    /// `self + other`.
    unsafe fn add(self, other: Self) -> Self;
    /// The smaller ones; the other's where this is NaN.
    unsafe fn min(self, other: Self) -> Self;
    /// The larger ones; the other's where this is NaN.
    unsafe fn max(self, other: Self) -> Self;
    /// `self * factor + sum`.
    unsafe fn mul_add(self, factor: Self, sum: Self) -> Self;
}

/// Work that is compiled once for each kind of register.
pub trait Task<T: Real> {
    /// What it gives.
    type Output;

    /// Does the work with registers `V`, of which there are enough for `ROWS`
    /// times two sums, a row of two and one more.
    ///
    /// # Safety
    /// The machine must have the registers.
    unsafe fn run<V: Register<T>, const ROWS: usize>(self) -> Self::Output;
}

/// The numbers that one register holds on this machine.
pub fn lanes<T: Real>() -> usize {
    match Processor::here() {
        Processor::Avx512 => 64 / size_of::<T>(),
        Processor::Avx2 => 32 / size_of::<T>(),
        Processor::Plain | Processor::Separate => PLAIN_LANES,
    }
}

/// Numbers that the compiler is asked to treat as one register.
const PLAIN_LANES: usize = 4;

/// A task in plain code.
///
/// # Safety
/// With `FMA` the machine must have the operation.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
#[inline(always)]
pub unsafe fn plain<T: Real, K: Task<T>, const FMA: bool>(task: K) -> K::Output {
    // SAFETY: arrays exist on every machine.
    unsafe { task.run::<Lanes<T, FMA>, 4>() }
}

/// Numbers side by side, as plain code; multiply-adds are fused or not.
#[derive(Debug, Clone, Copy)]
pub struct Lanes<T, const FMA: bool>([T; PLAIN_LANES]);

impl<T: Real, const FMA: bool> Register<T> for Lanes<T, FMA> {
    const LANES: usize = PLAIN_LANES;

    #[inline(always)]
    unsafe fn splat(value: T) -> Self {
        Lanes([value; PLAIN_LANES])
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: by the trait's contract so many numbers can be read there.
        Lanes(unsafe { from.cast::<[T; PLAIN_LANES]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: by the trait's contract so many numbers can be written there.
        unsafe { to.cast::<[T; PLAIN_LANES]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Lanes(std::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        Lanes(std::array::from_fn(|lane| self.0[lane].min(other.0[lane])))
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Lanes(std::array::from_fn(|lane| self.0[lane].max(other.0[lane])))
    }

    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, sum: Self) -> Self {
        Lanes(std::array::from_fn(|lane| {
            self.0[lane].fma::<FMA>(factor.0[lane], sum.0[lane])
        }))
    }
}

#[cfg(target_arch = "x86_64")]
pub mod x86 {
    //! AVX2 and AVX-512, and plain code that may use the fused operation.

    use super::{Real, Register, Task};
    use std::arch::x86_64::*;

    macro_rules! register {
        ($register:ident, $float:ident, $lanes:expr, $splat:ident, $load:ident, $store:ident,
         $add:ident, $min:ident, $max:ident, $mul_add:ident) => {
            impl Register<$float> for $register {
                const LANES: usize = $lanes;
                #[inline(always)]
                unsafe fn splat(value: $float) -> Self {
                    // SAFETY: by the trait's contract the processor has it.
                    unsafe { $splat(value) }
                }
                #[inline(always)]
                unsafe fn load(from: *const $float) -> Self {
                    // SAFETY: by the trait's contract the processor has it, and so many
                    // numbers can be read there.
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut $float) {
                    // SAFETY: by the trait's contract the processor has it, and so many
                    // numbers can be written there.
                    unsafe { $store(to, self) }
                }
                #[inline(always)]
                unsafe fn add(self, other: Self) -> Self {
                    // SAFETY: by the trait's contract the processor has it.
                    unsafe { $add(self, other) }
                }
                #[inline(always)]
                unsafe fn min(self, other: Self) -> Self {
                    // SAFETY: by the trait's contract the processor has it.
                    unsafe { $min(self, other) }
                }
                #[inline(always)]
                unsafe fn max(self, other: Self) -> Self {
                    // SAFETY: by the trait's contract the processor has it.
                    unsafe { $max(self, other) }
                }
                #[inline(always)]
                unsafe fn mul_add(self, factor: Self, sum: Self) -> Self {
                    // SAFETY: by the trait's contract the processor has it.
                    unsafe { $mul_add(self, factor, sum) }
                }
            }
        };
    }
    register!(
        __m256,
        f32,
        8,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_min_ps,
        _mm256_max_ps,
        _mm256_fmadd_ps
    );
    register!(
        __m256d,
        f64,
        4,
        _mm256_set1_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_add_pd,
        _mm256_min_pd,
        _mm256_max_pd,
        _mm256_fmadd_pd
    );
    register!(
        __m512,
        f32,
        16,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_add_ps,
        _mm512_min_ps,
        _mm512_max_ps,
        _mm512_fmadd_ps
    );
    register!(
        __m512d,
        f64,
        8,
        _mm512_set1_pd,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_add_pd,
        _mm512_min_pd,
        _mm512_max_pd,
        _mm512_fmadd_pd
    );

    macro_rules! entry {
        ($name:ident, $float:ident, $register:ident, $rows:expr, $features:expr) => {
            /// A task with these registers.
            ///
            /// # Safety
            /// The machine must have them.
            #[target_feature(enable = $features)]
            pub unsafe fn $name<K: Task<$float>>(task: K) -> K::Output {
                // SAFETY: the caller's.
                unsafe { task.run::<$register, $rows>() }
            }
        };
    }
    /// A task in plain code.
    ///
    /// # Safety
    /// The machine must have the fused multiply-add.
    #[target_feature(enable = "fma")]
    pub unsafe fn plain<T: Real, K: Task<T>>(task: K) -> K::Output {
        // SAFETY: the caller's.
        unsafe { super::plain::<T, K, true>(task) }
    }
    // 16 registers with AVX2, 32 with AVX-512.
    entry!(avx2_f32, f32, __m256, 6, "avx2,fma");
    entry!(avx2_f64, f64, __m256d, 6, "avx2,fma");
    entry!(avx512_f32, f32, __m512, 12, "avx512f,avx512dq,avx2,fma");
    entry!(avx512_f64, f64, __m512d, 12, "avx512f,avx512dq,avx2,fma");
}

//! One binary for every machine of an architecture: loops that gain from wide
//! registers are compiled several times, and the version to run is chosen at
//! run time.

/// The instruction sets that loops are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// What every processor of the architecture has.
    Portable,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512.
    Avx512,
    /// 64-bit ARM.
    Neon,
}

impl Processor {
    /// The best that this machine has.
    #[inline]
    pub fn here() -> Processor {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                return Processor::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Processor::Avx2;
            }
        }
        if cfg!(target_arch = "aarch64") {
            return Processor::Neon;
        }
        Processor::Portable
    }
}

/// Wraps `body::<T, FMA>(arguments)`, an `#[inline(always)]` function, into a
/// function that runs the version for the machine at hand.
macro_rules! vectorised {
    ($(#[$doc:meta])* $vis:vis fn $name:ident<T>($($arg:ident: $type:ty),* $(,)?) -> $out:ty = $body:ident) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name<T: $crate::real::Real>($($arg: $type),*) -> $out {
            use $crate::processor::Processor;
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            #[allow(clippy::too_many_arguments)]
            fn avx2<T: $crate::real::Real>($($arg: $type),*) -> $out {
                $body::<T, true>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
            #[allow(clippy::too_many_arguments)]
            fn avx512<T: $crate::real::Real>($($arg: $type),*) -> $out {
                $body::<T, true>($($arg),*)
            }
            match Processor::here() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: chosen only where the processor was found to have it.
                Processor::Avx2 => unsafe { avx2($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Processor::Avx512 => unsafe { avx512($($arg),*) },
                Processor::Neon => $body::<T, true>($($arg),*),
                _ => $body::<T, false>($($arg),*),
            }
        }
    };
}
pub(crate) use vectorised;

//! One binary for every machine of an architecture: loops that gain from wide
//! registers are compiled several times, and the version to run is chosen at
//! run time.
//!
//! Every version that has the fused multiply-add gives the same bits: sums run
//! in one order, whatever the width of the registers, and each step rounds
//! once. Formulas outside those loops take their functions from
//! [`math`](crate::math) and not from the system's library.

use std::sync::OnceLock;

/// The variable that chooses among the instruction sets.
const VARIABLE: &str = "LINKPROOF_INSTRUCTIONS";

/// The environment asks for instructions that the machine does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownInstructions {
    /// What was asked for.
    pub given: String,
    /// What there is, separated by commas.
    pub here: String,
}

/// The instruction sets that loops are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// No fused multiply-add: x86-64 processors from before 2013. The only one
    /// whose results differ, in their last bits.
    Separate,
    /// The fused multiply-add, and no registers chosen by hand.
    Plain,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512.
    Avx512,
}

impl Processor {
    /// As it is written.
    fn name(self) -> &'static str {
        match self {
            // Where the operation is missing, plain code does without.
            Processor::Separate | Processor::Plain => "plain",
            Processor::Avx2 => "avx2",
            Processor::Avx512 => "avx512",
        }
    }

    /// What this machine has, the best last.
    pub fn all_here() -> impl Iterator<Item = Processor> {
        let plain = match Processor::Plain.is_here() {
            true => Processor::Plain,
            false => Processor::Separate,
        };
        let wide = [Processor::Avx2, Processor::Avx512];
        let wide = wide.into_iter().filter(|wide| wide.is_here());
        std::iter::once(plain).chain(wide)
    }

    #[cfg(target_arch = "x86_64")]
    fn is_here(self) -> bool {
        match self {
            Processor::Separate => true,
            Processor::Plain => is_x86_feature_detected!("fma"),
            Processor::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Processor::Avx512 => {
                Processor::Avx2.is_here()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
            }
        }
    }

    /// Other architectures have the operation or a library's version of it.
    #[cfg(not(target_arch = "x86_64"))]
    fn is_here(self) -> bool {
        matches!(self, Processor::Separate | Processor::Plain)
    }

    /// The one that loops run on: the best that this machine has, unless the
    /// variable names another.
    #[inline]
    pub fn here() -> Processor {
        #[cfg(any(test, feature = "switch"))]
        if let Some(processor) = SWITCHED.get() {
            return processor;
        }
        static HERE: OnceLock<Processor> = OnceLock::new();
        *HERE.get_or_init(|| asked_for().unwrap_or_else(|_| best()))
    }
}

#[cfg(any(test, feature = "switch"))]
thread_local! {
    /// What a test asks for, on its thread.
    static SWITCHED: std::cell::Cell<Option<Processor>> = const { std::cell::Cell::new(None) };
}

/// What work on this thread gives on each instruction set that the machine has, for
/// tests.
#[cfg(any(test, feature = "switch"))]
pub fn on_each<R>(work: impl Fn() -> R) -> Vec<(Processor, R)> {
    let switched = |processor| {
        SWITCHED.set(Some(processor));
        let result = work();
        SWITCHED.set(None);
        (processor, result)
    };
    Processor::all_here().map(switched).collect()
}

fn best() -> Processor {
    Processor::all_here().last().unwrap_or(Processor::Separate)
}

fn asked_for() -> Result<Processor, UnknownInstructions> {
    match std::env::var_os(VARIABLE) {
        None => Ok(best()),
        Some(asked) => choose(&asked.to_string_lossy()),
    }
}

fn choose(asked: &str) -> Result<Processor, UnknownInstructions> {
    let found = Processor::all_here().find(|processor| processor.name() == asked);
    found.ok_or_else(|| {
        let here: Vec<_> = Processor::all_here().map(Processor::name).collect();
        UnknownInstructions {
            given: asked.to_owned(),
            here: here.join(", "),
        }
    })
}

/// The instruction set that fits run on, by its name in
/// `LINKPROOF_INSTRUCTIONS` (`plain`, `avx2` or `avx512`); an error where that
/// variable asks for one that the machine lacks. Results do not depend on it.
pub fn instructions() -> Result<&'static str, UnknownInstructions> {
    asked_for().map(Processor::name)
}

/// Wraps `body::<T, FMA>(arguments)`, an `#[inline(always)]` function, into a
/// function that runs the version for the machine at hand.
#[macro_export]
macro_rules! vectorised {
    ($(#[$doc:meta])* $vis:vis fn $name:ident<T>($($arg:ident: $type:ty),* $(,)?) -> $out:ty = $body:ident) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name<T: $crate::real::Real>($($arg: $type),*) -> $out {
            use $crate::processor::Processor;
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "fma")]
            #[allow(clippy::too_many_arguments)]
            fn plain<T: $crate::real::Real>($($arg: $type),*) -> $out {
                $body::<T, true>($($arg),*)
            }
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
            #[cfg(target_arch = "x86_64")]
            match Processor::here() {
                // SAFETY: chosen only where the processor was found to have it.
                Processor::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                Processor::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                Processor::Plain => unsafe { plain($($arg),*) },
                Processor::Separate => $body::<T, false>($($arg),*),
            }
            #[cfg(not(target_arch = "x86_64"))]
            match Processor::here() {
                Processor::Separate => $body::<T, false>($($arg),*),
                _ => $body::<T, true>($($arg),*),
            }
        }
    };
}
pub use vectorised;

#[cfg(test)]
pub(crate) mod tests;

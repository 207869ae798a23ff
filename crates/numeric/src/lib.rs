//! Arithmetic with the same bits on every machine, for the crate `linkproof`.
//!
//! [`real`]: single and double precision behind one name, products of matrices by
//! packed panels, sums in a fixed order. [`processor`]: loops compiled for several
//! instruction sets and chosen at run time. [`math`]: `exp`, `ln` and the like, which
//! the system's library rounds differently from version to version. [`linear`]: small
//! dense linear algebra and leading eigenvectors. [`special`]: quantiles.

// Tests compare with the system's functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod linear;
pub mod math;
pub mod processor;
pub mod real;
pub mod special;

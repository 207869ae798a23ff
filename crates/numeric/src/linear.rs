//! Small dense linear algebra in double precision: products of tall matrices,
//! eigenvalues of symmetric matrices, leading eigenvectors of sparse ones.
//!
//! A matrix is a slice of its entries, row after row. A tall matrix has many rows
//! and few columns. Sums over its rows run over chunks of fixed size, whose partial
//! results are added in order, so results have the same bits at any number of
//! threads and on every instruction set.

mod definite;
mod leading;
mod orthonormal;
mod products;
mod symmetric;
#[cfg(test)]
mod tests;

pub use definite::{inverse, solve};
pub use leading::{Eigen, Singular, TallProduct, leading_eigen, leading_singular};
pub use orthonormal::orthonormalize;
pub use products::{cross, gram, times};
pub use symmetric::symmetric_eigen;

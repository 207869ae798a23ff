//! A fit that counts each link by the belief that it is real.
//!
//! 1. The judge gives each link a belief ([`crate::judge`]).
//! 2. The fit sees walks over believed links ([`walks_over`]).
//! 3. The ridge is the one whose embeddings explain most of hidden feature columns; without
//!    features, the one whose embeddings rank held-out links best ([`RidgeTried`]).
//! 4. Embeddings are smoothed over believed links if the smoothing check, which reads
//!    hidden feature columns and no label, says so ([`Explained`](crate::verdict::Explained)).

mod candidates;
mod fits;
mod own;
mod recipe;
mod regression;
mod replicates;
mod smooth;
mod summary;
mod unseen;
mod updated;
mod walks;

pub use candidates::RidgeTried;
pub use own::OWN_SETTINGS;
pub use recipe::{Recipe, Robust, fit_robust};
pub use replicates::{RobustFit, bootstrap, fit_model, together};
pub use summary::{Chosen, RobustSummary};
pub use unseen::{Newcomers, embed_new};
pub(crate) use updated::{NewVectors, Seen, rejudge};
pub use walks::walks_over;

#[cfg(test)]
mod bootstrap_tests;
#[cfg(test)]
mod signed_tests;
#[cfg(test)]
mod tests;

/// The weight of a link of some belief in walks and in smoothing, `max(0, 2b - 1)`: a
/// link that is as likely false as real does not count.
pub fn weight(belief: f64) -> f64 {
    (2.0 * belief - 1.0).max(0.0)
}

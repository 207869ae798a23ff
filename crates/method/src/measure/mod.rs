//! How good an embedding is: clusters against known classes, and scores
//! against known links. All figures agree with scikit-learn's.

pub mod clustering;
mod density;
pub mod kmeans;
pub mod links;
mod matching;
mod points;

pub use clustering::{Contingency, accuracy, ari, nmi, purity};
pub use density::falling_density;
pub use kmeans::{Clustering, KMeans};
pub use links::{auc, average_precision};

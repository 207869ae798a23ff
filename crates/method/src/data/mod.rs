//! Links and data vectors, checked and joined.

pub mod buffer;
pub mod dataset;
pub mod features;
pub mod graph;
pub mod ids;
pub mod transform;

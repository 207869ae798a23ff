//! Encoders: the maps `f` from data vectors to embeddings, forward and
//! backward.
//!
//! A [`Network`] knows where each weight stands in a flat vector of
//! parameters; it owns no numbers. Linear maps are networks without hidden
//! layers and biases; a table is one free vector a node.

mod backward;
mod dropout;
mod factor;
mod forward;
mod infer;
mod input;
mod layout;
mod scratch;
mod sparse;
mod start;
mod strip;

pub use dropout::Dropout;
pub use forward::Pass;
pub use infer::Statistics;
pub use input::{Batch, Input};
pub use layout::{Layer, Network, NetworkSpec, Norm};

#[cfg(test)]
mod tests;

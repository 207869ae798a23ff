//! Encoders: the maps `f` from data vectors to embeddings, forward and
//! backward.
//!
//! A [`Network`] knows where each weight stands in a flat vector of
//! parameters; it owns no numbers. Linear maps are networks without hidden
//! layers and biases; a table is one free vector a node.

mod backward;
mod forward;
mod input;
mod layout;
mod start;

pub use forward::{Dropout, Pass, Statistics};
pub use input::{Batch, Input};
pub use layout::{Layer, Network, NetworkSpec, Norm};

#[cfg(test)]
mod tests;

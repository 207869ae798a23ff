//! Experiments: generated data sets with known structure.

pub mod synthetic;

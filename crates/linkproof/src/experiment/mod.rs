//! Experiments: generated data sets with known structure, and what the scores
//! make of them.

pub mod contamination;
pub mod demo;
pub mod synthetic;

//! Graph embedding that holds up when the links are wrong.

pub mod dataset;
pub mod encoder;
pub mod error;
pub mod features;
pub mod graph;
pub mod ids;
pub mod pairs;
pub mod params;
mod processor;
pub mod real;
pub mod score;
pub mod transform;

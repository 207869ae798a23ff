//! Graph embedding that holds up when the links are wrong.

pub mod audit;
pub mod dataset;
pub mod encoder;
pub mod error;
pub mod experiment;
pub mod features;
pub mod graph;
pub mod ids;
pub mod io;
pub mod measure;
pub mod model;
pub mod objective;
pub mod pairs;
pub mod params;
mod processor;
pub mod real;
pub mod score;
pub mod solve;
pub mod transform;

pub use dataset::Dataset;
pub use error::{Error, Result};
pub use features::{Features, Matrix};
pub use graph::Graph;
pub use model::{Fitted, fit, fit_observed};
pub use params::{CheckedParams, Params};

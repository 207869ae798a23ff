//! Graph embedding that holds up when the links are wrong.
//!
//! Fits `log E[w_ij] = <f(x_i), f(x_j)> - gamma` to undirected link weights
//! `w_ij >= 0` and data vectors `x_i` by scores that false links and corrupted
//! weights do not spoil.
//!
//! ```
//! use linkproof::{Dataset, Features, Graph, Matrix, Params};
//!
//! let graph = Graph::from_rows(4, &[(0, 1, 1.0), (2, 3, 1.0), (0, 3, 100.0)])?;
//! let x = vec![1.0, 0.1, 0.9, 0.2, 0.1, 1.0, 0.2, 0.8];
//! let features = Features::new(Matrix::dense(4, 2, x)?);
//! let data = Dataset::new(graph, features)?;
//! let params = Params { dim: 2, beta: 0.5, ..Default::default() }.check()?;
//! let fitted = linkproof::fit(&params, &data)?;
//! let unseen = Features::new(Matrix::dense(1, 2, vec![0.5, 0.5])?);
//! assert_eq!(fitted.embed(&unseen)?.len(), 2);
//! # Ok::<(), linkproof::Error>(())
//! ```
//!
//! The modules, from the ground up: [`error`], [`ids`], [`buffer`], [`real`];
//! [`graph`], [`features`], [`params`]; [`dataset`] and [`io`]; [`score`];
//! [`pairs`], [`encoder`], [`transform`]; [`objective`]; [`engine`]; [`runtime`]; [`solve`]; [`model`];
//! [`inspect`], [`folds`]; [`audit`], [`select`](mod@select), [`judge`]; [`refine`],
//! [`smooth`], [`report`]; [`robust`]; [`experiment`]; and [`measure`], [`layout`](mod@layout)
//! and [`drawing`] beside them.

// Tests compare with the system's functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod audit;
pub mod buffer;
pub mod dataset;
pub mod drawing;
pub mod encoder;
pub mod engine;
pub mod error;
pub mod experiment;
pub mod features;
pub mod folds;
pub mod graph;
pub mod ids;
pub mod inspect;
pub mod io;
pub mod judge;
pub mod layout;
mod math;
pub mod measure;
pub mod model;
pub mod objective;
pub mod pairs;
pub mod params;
mod processor;
pub mod real;
pub mod report;
pub mod robust;
pub mod runtime;
mod schema;
pub mod score;
pub mod select;
pub mod smooth;
pub mod solve;
pub mod transform;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use dataset::Dataset;
pub use error::{Error, Result};
pub use features::{Features, Matrix};
pub use graph::Graph;
pub use model::{Fit, Fitted, fit};
pub use params::{CheckedParams, Params};
pub use processor::instructions;
pub use runtime::{Event, Monitor, Runtime};
pub use select::select;

/// The README's Rust example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

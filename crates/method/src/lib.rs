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
//! The rooms, from the ground up: [`error`]; [`data`] (links and data vectors),
//! [`params`]; [`score`] (the formulas); [`size`] (the law
//! of links' weights); [`engine`] (what computes a fit); [`model`]
//! (fits and what comes of them); [`judge`](mod@judge) (which links look false);
//! [`inspect`](mod@inspect), [`select`](mod@select); [`robust`] (fits to believed links);
//! [`audit`](mod@audit) (links against a model); [`verdict`] (sentences);
//! [`update`](mod@update) (a model brought up to date); and [`measure`] beside them.

// Tests compare with the system's functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod audit;
#[doc(hidden)]
pub mod choice;
pub mod data;
pub mod engine;
pub mod error;
pub(crate) mod explained;
pub mod inspect;
pub mod judge;
pub mod measure;
pub mod model;
pub mod params;
pub mod robust;
pub mod score;
pub mod select;
pub mod size;
pub mod update;
pub mod verdict;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

// Generated graphs of the experiments, for tests inside this crate.
#[cfg(test)]
extern crate self as linkproof_method;
#[cfg(test)]
#[allow(dead_code)]
#[path = "../../lab/src/contamination.rs"]
mod contamination;
#[cfg(test)]
#[allow(dead_code)]
#[path = "../../lab/src/synthetic.rs"]
mod synthetic;

#[cfg(feature = "clap")]
#[doc(hidden)]
pub use clap;
pub use data::dataset::Dataset;
pub use data::features::{Features, Matrix};
pub use data::graph::Graph;
pub use engine::instructions;
pub use engine::runtime::{Event, Monitor, Runtime};
pub use error::{Error, Result};
pub use model::{Fit, Fitted, fit};
pub use params::{CheckedParams, Params};
pub use select::select;

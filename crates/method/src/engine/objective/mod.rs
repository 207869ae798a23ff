//! What a fit minimises: the data as it sees them ([`Prepared`]), where its
//! parameters stand ([`ParameterLayout`]), and both with the settings of the
//! objective ([`Problem`]). The arithmetic is an engine's (module `engine`).
//!
//! All parameters stand in one flat vector: the weights of each view's
//! encoder, with offsets those of the map to them and the nodes' own, then one
//! `gamma` for each pair of views that takes part. The objective is
//!
//! ```text
//! ( sum over pairs of the score + ridge * (||encoder weights||^2 + ||u||^2 + ||e||^2) ) / |W|
//! ```

mod evaluate;
mod offsets;
mod parameters;
mod prepare;
mod problem;

pub use evaluate::{Evaluation, evaluate};
pub use offsets::ViewOffsets;
pub use parameters::{ParameterLayout, ViewEncoder};
pub(super) use parameters::{TABLE_RATE, method};
pub use prepare::Prepared;
pub use problem::Problem;

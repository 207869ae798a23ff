//! What a fit minimises: the data as it sees them ([`Prepared`]), where its
//! parameters stand ([`ParameterLayout`]), and both with the settings of the
//! objective ([`Problem`]). The arithmetic is an engine's (module `engine`).
//!
//! All parameters stand in one flat vector: the weights of each view's
//! encoder, then one `gamma` for each pair of views that takes part. The
//! objective is
//!
//! ```text
//! ( sum over pairs of the score + ridge * ||encoder weights||^2 ) / |W|
//! ```

mod evaluate;
mod parameters;
mod prepare;
mod problem;

pub use evaluate::{Evaluation, evaluate};
pub use parameters::{ParameterLayout, ViewEncoder};
pub use prepare::Prepared;
pub use problem::Problem;

//! Graph embedding that holds up when the links are wrong.

pub mod error;
pub mod features;
pub mod graph;
pub mod ids;
pub mod io;

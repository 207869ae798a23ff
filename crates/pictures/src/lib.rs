//! Pictures, layouts and the page of a model.

pub mod criterion;
pub mod drawing;
pub mod layout;
pub mod report;

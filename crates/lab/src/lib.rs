//! Experiments: generated data sets with known structure, what the scores make
//! of them, and the paper's tables. An experiment is a list of [`job`]s.

// Tests compare with the system's functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod bloggers;
pub mod contamination;
pub mod demo;
pub mod designs;
pub mod false_links;
pub mod job;
pub mod judged;
pub mod kinds;
pub mod labelled;
pub mod mean;
pub mod planted;
pub mod planted_links;
pub mod suite;
pub mod synthetic;
pub mod table1;
pub mod table2;

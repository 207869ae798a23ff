//! Arithmetic with the same bits on every machine.
pub mod math;
pub mod processor;
pub mod real;

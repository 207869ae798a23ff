//! The commands, one file each: what is typed, what is done, what is said.

pub mod audit;
pub mod check;
pub mod cluster;
pub mod completions;
pub mod datasets;
pub mod demo;
pub mod embed;
pub mod evaluate;
pub mod export;
pub mod fit;
pub mod gone;
pub mod inspect;
pub mod neighbors;
pub mod objective;
pub mod report;
pub mod reproduce;
pub mod score;
pub mod select;
pub mod update;

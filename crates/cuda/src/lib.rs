//! Fits on NVIDIA graphics cards.
//!
//! [`Cuda`] is a backend: `Runtime::default().on(&cuda)` computes a fit's sums over
//! all pairs, and their gradient, on a card. Kernels are compiled at run time, for the
//! card that is there, and kept in the user's cache folder. Without a driver nothing
//! of it is loaded, and [`Cuda::open`] says what is missing.

mod card;
mod choice;
mod compile;
mod descent;
mod device;
mod engine;
mod layout;
mod lists;
mod measure;
mod memory;
mod network;
mod pairs;
mod pass;
mod resident;
mod series;
mod shares;
mod vectors;

pub use choice::{Choice, Chosen, Opening};
pub use device::{Cuda, Objectives, Products};
pub use measure::Forecast;
pub use pass::Number;
pub use shares::{CardShares, most_shares};

//! Pictures of what the crate `linkproof` finds: places for nodes ([`layout`](mod@layout)),
//! charts and panels as SVG ([`drawing`]) and a model as one page that works without a
//! network ([`report`]).

// Tests compare with the system's functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod drawing;
pub mod layout;
pub mod report;

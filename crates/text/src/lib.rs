//! Results in words. The library finds facts, numbers and names; every sentence about them,
//! for a terminal, a page or Python, is made here.
//!
//! A sentence names options, keywords or fields as its reader types them: [`Style`].

mod advice;
mod figures;
mod inspect;
mod judge;
mod layout;
mod notes;
mod verdict;

pub use advice::advice;
pub use figures::{counted, figures, grouped, in_seconds, percent};
pub use inspect::{inspection, inspection_json};
pub use judge::{Reader, auc, judged, links, size, why};
pub use layout::{Said, Topic, aligned, topics, wrapped};
pub use linkproof_method::error::Style;
pub use notes::{compared, full_fit_due, left_out, note, selection_json, update_json, warning};
pub use verdict::{dimensions, plain, robust};

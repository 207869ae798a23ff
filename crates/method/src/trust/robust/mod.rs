//! A fit that believes each link as far as it deserves.
//!
//! The ridge is chosen by the ranks of held-out links among decoys, the links are
//! judged ([`crate::trust::judge`]), the embeddings are fitted to walks over believed
//! links, and averaged over them where a gate that reads no label says so.

mod audited;
mod believed;
mod blend;
mod forecast;
pub(crate) mod gate;
mod outcome;
mod own;
mod recipe;
mod sentences;
mod shared;
mod smoothed;
pub(crate) mod told;
mod unseen;
mod updated;
mod verdict;
mod walks;
mod workflow;

pub use audited::{Audit, AuditSettings, AuditedLink, Beliefs, Limits, audit, remembered};
pub use believed::believed;
pub use forecast::foretold;
pub use gate::{LEAST_COLUMNS, Told, tell};
pub use outcome::{Chosen, Implanted, RobustSummary, Trust, judge_links};
pub use own::OWN_SETTINGS;
pub use recipe::{Averaging, Gate, Recipe, RidgeTried, Robust, WalkRidge, fit_robust};
pub use sentences::dimensions_sentence;
pub use shared::Shared;
pub use smoothed::{SMOOTHING_THRESHOLD, Smoothing, smooth};
pub use unseen::{Newcomers, embed_new};
pub(crate) use updated::{NewVectors, Seen, rejudge};
pub use verdict::{Advice, ByWeight, Said, Topic, WeightsSay};
pub use walks::walks_over;
pub use workflow::{RobustFit, bootstrap, fit_model, together};

#[cfg(test)]
mod bootstrap_tests;
#[cfg(test)]
mod signed_tests;
#[cfg(test)]
mod tests;

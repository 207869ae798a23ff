//! The settings of a fit. [`Params`] is what users type: flat names that TOML files, the
//! command line, models and Python share, kept here in groups. [`CheckedParams`] proves
//! that each value lies in its accepted range and that they go together. A new setting is
//! a field and its default in `settings.rs`; a number has a row among the limits below.
//!
//! ```
//! use linkproof::params::{EncoderKind, Mlp, Params, ScoreKind, Shift};
//!
//! let mlp = Mlp { hidden: vec![300, 100], ..Mlp::default() };
//! let encoder = Some(EncoderKind::Mlp);
//! let params = Params { encoder, mlp, ..Params::default() };
//! let encoder = params.check()?.encoder("", true)?;
//! let layers = encoder.layers(64);
//! assert_eq!((encoder.kind, layers.len()), (EncoderKind::Mlp, 3));
//! assert_eq!((layers[0].outputs, layers[0].shift), (300, Shift::Bias));
//! assert_eq!(Params::accepted("beta").as_deref(), Some("between 0 and 10"));
//! assert_eq!(ScoreKind::Moment.settings(), ["beta"]);
//! # Ok::<(), linkproof::Error>(())
//! ```

mod choices;
mod note;
mod settings;
#[cfg(feature = "clap")]
pub mod typed;

pub use crate::score::ScoreKind;
pub use choices::{
    Activation, Encoder, EncoderKind, LayerSpec, Normalize, OptimizerKind, OutputActivation,
    Precision, Sampler, Shift, Similarity, SolverKind, WeightTransform,
};
pub use note::{InUse, Note, Unused};
pub use settings::{Descent, Mlp, Open, Params, Sampling};

use std::fmt;
use std::ops::Deref;

use serde::Serialize;

use crate::error::{Error, Result, quote};
use crate::score::Score;

/// The ridge of a fit whose settings leave it open.
const DEFAULT_RIDGE: f64 = 2.0;

/// The numbers that a setting accepts, in words that follow "must be".
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limits {
    /// Whole numbers between these.
    Whole(u32, u32),
    /// Whole numbers from this on.
    Least(u32),
    /// These and those between them.
    Between(f64, f64),
    /// 0 and more.
    NotNegative,
    /// 0 or more and below 1.
    Share,
    /// Finite numbers above 0.
    Positive,
}

impl Limits {
    /// Whether a number is accepted; NaN never is.
    fn hold(self, number: f64) -> bool {
        match self {
            Limits::Whole(least, most) => (f64::from(least)..=f64::from(most)).contains(&number),
            Limits::Least(least) => number >= f64::from(least),
            Limits::Between(least, most) => (least..=most).contains(&number),
            Limits::NotNegative => number >= 0.0 && number.is_finite(),
            Limits::Share => (0.0..1.0).contains(&number),
            Limits::Positive => number > 0.0 && number.is_finite(),
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limits::Whole(least, most) => write!(f, "a whole number from {least} to {most}"),
            Limits::Least(least) => write!(f, "a whole number of {least} or more"),
            Limits::Between(least, most) => write!(f, "between {least} and {most}"),
            Limits::NotNegative => write!(f, "a finite number of 0 or more"),
            Limits::Share => write!(f, "at least 0 and below 1"),
            Limits::Positive => write!(f, "a finite number above 0"),
        }
    }
}

/// Settings that passed [`Params::check`].
///
/// ```
/// use linkproof::Params;
///
/// let checked = Params { beta: 0.5, ..Default::default() }.check()?;
/// assert_eq!(checked.score().pair(0.0, 0.0).value, 1.0 / 1.5);
/// let error = Params { beta: -1.0, ..Default::default() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "beta must be between 0 and 10, but is -1");
/// # Ok::<(), linkproof::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedParams(Params);

impl Deref for CheckedParams {
    type Target = Params;
    fn deref(&self) -> &Params {
        &self.0
    }
}

impl CheckedParams {
    /// The settings as they were given.
    pub fn given(&self) -> &Params {
        &self.0
    }

    /// The score.
    pub fn score(&self) -> Score {
        Score::of(self)
    }

    /// The encoder of a view: the one named for it, else that of all views, else
    /// a linear one where there are data vectors and a table where there are
    /// none.
    ///
    /// # Errors
    /// A map from data vectors for a view that has none.
    pub fn encoder(&self, view: &str, has_vectors: bool) -> Result<Encoder> {
        let named = self.view_encoders.get(view).copied();
        let kind = named.or(self.encoder).unwrap_or(if has_vectors {
            EncoderKind::Linear
        } else {
            EncoderKind::Table
        });
        if kind.reads_vectors() && !has_vectors {
            let accepted = "table for nodes without data vectors";
            return Err(Error::argument("encoder", accepted, kind)
                .or("give them data vectors, or set it for other views only"));
        }
        Ok(Encoder::new(kind, &self.mlp))
    }

    /// The pairs of views that were asked for, as places among these views.
    ///
    /// # Errors
    /// A setting that names none of the views, or that one view alone can have.
    pub fn view_pairs_among(&self, views: &[&str]) -> Result<Option<Vec<(usize, usize)>>> {
        let place = |name: &String| views.iter().position(|view| view == name);
        let or_one = |accepted: &str, alone: &str| match views {
            [""] => format!("{alone}, as there is one view only"),
            views => format!("{accepted} {}", views.join(", ")),
        };
        for view in self.view_encoders.keys() {
            if place(view).is_none() {
                let accepted = or_one("set for one of the views", "set without a view");
                let given = format!("set for {}", quote(view));
                return Err(Error::argument("encoder", accepted, given));
            }
        }
        if self.propagate > 0 && views.len() > 1 {
            let accepted = "0 with several views, whose data vectors cannot be averaged";
            return Err(Error::argument("propagate", accepted, self.propagate));
        }
        let Some(pairs) = &self.view_pairs else {
            return Ok(None);
        };
        let mut places = Vec::new();
        for (a, b) in pairs {
            let (Some(d), Some(e)) = (place(a), place(b)) else {
                let accepted = or_one("pairs of the views", "left open");
                return Err(Error::argument("view-pairs", accepted, format!("{a}:{b}")));
            };
            places.push((d.min(e), d.max(e)));
        }
        places.sort_unstable();
        places.dedup();
        Ok(Some(places))
    }

    /// The share of the pairs that a fit to so many links holds out: unless it
    /// is set, a twentieth, or none where fewer than 100 links would be held
    /// out: the choice of a step by so few is a lottery.
    pub fn validation_share(&self, n_links: usize) -> f64 {
        let fallback = if n_links >= 2000 { 0.05 } else { 0.0 };
        self.validation.unwrap_or(fallback)
    }
}

impl Score {
    /// The score that settings ask for, as it is everywhere.
    pub fn of(params: &Params) -> Score {
        Score::with(params.score, |name| params.of_score(name))
    }

    /// A score with an exponent, and all else as by default.
    pub fn new(score: ScoreKind, beta: f64) -> Score {
        Score::of(&Params {
            score,
            beta,
            ..Params::default()
        })
    }
}

impl Params {
    /// The ridge; if it is left open, that of a plain fit.
    pub fn ridge(&self) -> f64 {
        self.ridge.unwrap_or(DEFAULT_RIDGE)
    }

    /// The number of dimensions that the similarity counts as negative, the last ones:
    /// at least one where it is signed.
    pub fn negative(&self) -> usize {
        match self.similarity {
            Similarity::Inner => 0,
            Similarity::Signed => {
                let share = (self.negative_share * self.dim as f64).round() as usize;
                share.max(1)
            }
        }
    }

    /// The value of a setting that scores read.
    fn of_score(&self, name: &str) -> f64 {
        match name {
            "beta" => self.beta,
            _ => f64::NAN,
        }
    }

    /// The settings that the score reads, with their values.
    pub fn score_settings(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let names = self.score.settings().iter();
        names.map(|&name| (name, self.of_score(name)))
    }

    /// What numbers a setting accepts, in words that follow "must be"; none of other settings.
    pub fn accepted(name: &str) -> Option<String> {
        let limited = Params::default().limited();
        let found = limited.into_iter().find(|(other, ..)| *other == name);
        found.map(|(_, limits, _)| limits.to_string())
    }

    /// Each setting that is a number, with its limits and its values.
    fn limited(&self) -> Vec<(&'static str, Limits, Vec<f64>)> {
        use Limits::{Between, Least, NotNegative, Positive, Share, Whole};
        let whole = |number: usize| vec![number as f64];
        let whole_or_open = |number: Option<usize>| number.into_iter().flat_map(whole).collect();
        let open = |number: Option<f64>| number.into_iter().collect();
        let (mlp, sampling, descent) = (&self.mlp, &self.sampling, &self.descent);
        let widths = mlp.hidden.iter().map(|&width| width as f64).collect();
        vec![
            ("dim", Whole(1, 65_536), whole(self.dim)),
            ("beta", Between(0.0, 10.0), vec![self.beta]),
            ("ridge", NotNegative, open(self.ridge)),
            ("negative-share", Share, vec![self.negative_share]),
            ("input-dropout", Share, vec![self.input_dropout]),
            ("propagate", Whole(0, 100), whole(self.propagate)),
            ("walks", Whole(0, 100), whole(self.walks)),
            ("hidden", Whole(1, 1_048_576), widths),
            ("dropout", Share, vec![mlp.dropout]),
            ("steps", Least(1), whole_or_open(self.steps)),
            ("validation", Share, open(self.validation)),
            ("patience", Least(1), whole(self.patience)),
            ("init-scale", Positive, vec![self.init_scale]),
            ("link-batch", Least(1), whole_or_open(sampling.link_batch)),
            ("pair-batch", Least(1), whole(sampling.pair_batch)),
            ("block", Least(2), whole_or_open(sampling.block)),
            ("lambda", Positive, open(sampling.lambda)),
            ("learning-rate", Positive, open(descent.learning_rate)),
            (
                "schedule-alpha",
                Between(0.0, 1.0),
                open(descent.schedule_alpha),
            ),
            ("schedule-t0", Positive, vec![descent.schedule_t0]),
            ("momentum", Share, vec![descent.momentum]),
            ("clip", Positive, open(descent.clip)),
            ("radius", Positive, open(descent.radius)),
        ]
    }

    /// Checks every value against its accepted range, and that they go together.
    pub fn check(self) -> Result<CheckedParams> {
        for (name, limits, numbers) in self.limited() {
            if let Some(wrong) = numbers.into_iter().find(|&number| !limits.hold(number)) {
                return Err(Error::argument(name, limits.to_string(), wrong));
            }
        }
        self.check_combinations()?;
        Ok(CheckedParams(self))
    }

    fn check_combinations(&self) -> Result<()> {
        let (hidden, lambda) = (&self.mlp.hidden, self.sampling.lambda);
        let wide = |pair: &&[usize]| pair[0] * pair[1] > 1 << 32;
        if let Some(pair) = hidden.windows(2).find(wide) {
            return Err(Error::argument(
                "hidden",
                "widths of at most 2^32 weights between two layers",
                format!("{} and {}", pair[0], pair[1]),
            ));
        }
        let drops = self.mlp.dropout > 0.0 || self.input_dropout > 0.0;
        let accepted = if self.optimizer != Some(OptimizerKind::Lbfgs) {
            None
        } else if self.solver == Some(SolverKind::Sgd) {
            Some("adam or sgd with the sgd solver")
        } else if drops {
            Some("adam or sgd with dropout, whose objective changes from step to step")
        } else {
            self.descent.radius.map(|_| "adam or sgd with a radius")
        };
        if let Some(accepted) = accepted {
            return Err(Error::argument("optimizer", accepted, OptimizerKind::Lbfgs));
        }
        let Some(lambda) = lambda else {
            return Ok(());
        };
        if !Score::of(self).is_linear() {
            let accepted = format!(
                "left open with the {} score, which fixes the scale of the weights",
                self.score
            );
            return Err(Error::argument("lambda", accepted, lambda));
        }
        if self.sampling.sampler == Sampler::Block || self.solver == Some(SolverKind::Exact) {
            let accepted = "left open unless the solver is sgd and the sampler is pairs";
            return Err(Error::argument("lambda", accepted, lambda));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

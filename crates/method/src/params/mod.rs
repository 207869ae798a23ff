//! The settings of a fit. [`Params`] is what was asked for, flat, by names that TOML
//! files, the command line and other languages share; [`CheckedParams`] proves that
//! each value lies in its accepted range and that they go together. In it a score and
//! an encoder carry their own settings, so that none is read that does not apply.
//!
//! ```
//! use linkproof::params::{EncoderKind, Kind, Param, Params, ScoreKind, Shift};
//!
//! // The table of settings, from which files and front ends read.
//! let beta = Param::named("beta").unwrap().setting();
//! assert_eq!((beta.kind, beta.accepted().as_str()), (Kind::Real, "between 0 and 10"));
//! assert_eq!(ScoreKind::Moment.settings(), ["beta"]);
//!
//! // Values by name, checked together.
//! let mut params = Params::default();
//! params.set(Param::Encoder, "mlp").unwrap();
//! params.set(Param::Hidden, "300,100").unwrap();
//! let encoder = params.check()?.encoder("", true)?;
//! let layers = encoder.layers(64);
//! assert_eq!((encoder.kind, layers.len()), (EncoderKind::Mlp, 3));
//! assert_eq!((layers[0].outputs, layers[0].shift), (300, Shift::Bias));
//! # Ok::<(), linkproof::Error>(())
//! ```

mod note;

pub use crate::schema::{
    Activation, Common, Encoder, EncoderKind, EncoderSettings, Group, Kind, LayerSpec, Normalize,
    OptimizerKind, OutputActivation, Param, Params, Precision, Range, Sampler, Setting, Shift,
    Similarity, SolverKind, WeightTransform,
};
pub use crate::score::ScoreKind;
pub use note::{InUse, Note, Unused};

use std::ops::Deref;

use serde::{Serialize, Serializer};

use crate::error::{Error, Result, quote};
use crate::score::Score;

/// Settings that passed [`Params::check`]: those of [`Common`], a score and encoders.
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
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedParams {
    given: Params,
    common: Common,
}

impl Deref for CheckedParams {
    type Target = Common;
    fn deref(&self) -> &Common {
        &self.common
    }
}

impl Serialize for CheckedParams {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        self.given.serialize(to)
    }
}

impl CheckedParams {
    /// The settings as they were given.
    pub fn given(&self) -> &Params {
        &self.given
    }

    /// The score.
    pub fn score(&self) -> Score {
        Score::of(&self.given)
    }

    /// The encoder of a view: the one named for it, else that of all views, else
    /// a linear one where there are data vectors and a table where there are
    /// none.
    ///
    /// # Errors
    /// A map from data vectors for a view that has none.
    pub fn encoder(&self, view: &str, has_vectors: bool) -> Result<Encoder> {
        let given = &self.given;
        let named = given.view_encoders.get(view).copied();
        let kind = named.or(given.encoder).unwrap_or(match has_vectors {
            true => EncoderKind::Linear,
            false => EncoderKind::Table,
        });
        if kind.reads_vectors() && !has_vectors {
            let accepted = "table for nodes without data vectors";
            return Err(Error::param(Param::Encoder, accepted, kind)
                .or("give them data vectors, or set it for other views only"));
        }
        Ok(Encoder::new(kind, given))
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
        for view in self.given.view_encoders.keys() {
            if place(view).is_none() {
                let accepted = or_one("set for one of the views", "set without a view");
                let given = format!("set for {}", quote(view));
                return Err(Error::param(Param::Encoder, accepted, given));
            }
        }
        if self.propagate > 0 && views.len() > 1 {
            let accepted = "0 with several views, whose data vectors cannot be averaged";
            return Err(Error::param(Param::Propagate, accepted, self.propagate));
        }
        let Some(pairs) = &self.view_pairs else {
            return Ok(None);
        };
        let mut places = Vec::new();
        for (a, b) in pairs {
            let (Some(d), Some(e)) = (place(a), place(b)) else {
                let accepted = or_one("pairs of the views", "left open");
                return Err(Error::param(Param::ViewPairs, accepted, format!("{a}:{b}")));
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
        Score::with(params.score, |name| {
            let number = Param::named(name).and_then(|param| params.numbers(param).pop());
            number.unwrap_or(f64::NAN)
        })
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

    /// The settings that the score reads, with their values.
    pub fn of_score(&self) -> impl Iterator<Item = (Param, String)> {
        let params = self
            .score
            .settings()
            .iter()
            .filter_map(|name| Param::named(name));
        params.map(|param| (param, self.get(param)))
    }

    /// Checks every value against its accepted range, and that they go together.
    pub fn check(self) -> Result<CheckedParams> {
        for &param in Param::ALL {
            let setting = param.setting();
            let mut numbers = self.numbers(param).into_iter();
            if let Some(wrong) = numbers.find(|&number| !setting.range.holds(number)) {
                return Err(Error::param(param, setting.accepted(), wrong));
            }
        }
        self.check_combinations()?;
        let common = Common::of(&self);
        Ok(CheckedParams {
            given: self,
            common,
        })
    }

    fn check_combinations(&self) -> Result<()> {
        let wide = |pair: &&[usize]| pair[0] * pair[1] > 1 << 32;
        if let Some(pair) = self.hidden.windows(2).find(wide) {
            return Err(Error::param(
                Param::Hidden,
                "widths of at most 2^32 weights between two layers",
                format!("{} and {}", pair[0], pair[1]),
            ));
        }
        let refuse = |param, accepted: &str| Err(Error::param(param, accepted, self.get(param)));
        if self.optimizer == Some(OptimizerKind::Lbfgs) {
            if self.solver == Some(SolverKind::Sgd) {
                return refuse(Param::Optimizer, "adam or sgd with the sgd solver");
            }
            if self.dropout > 0.0 || self.input_dropout > 0.0 {
                return refuse(
                    Param::Optimizer,
                    "adam or sgd with dropout, whose objective changes from step to step",
                );
            }
            if self.radius.is_some() {
                return refuse(Param::Optimizer, "adam or sgd with a radius");
            }
        }
        if self.lambda.is_none() {
            return Ok(());
        }
        if !Score::of(self).is_linear() {
            let accepted = format!(
                "left open with the {} score, which fixes the scale of the weights",
                self.score
            );
            return refuse(Param::Lambda, &accepted);
        }
        if self.sampler == Sampler::Block || self.solver == Some(SolverKind::Exact) {
            return refuse(
                Param::Lambda,
                "left open unless the solver is sgd and the sampler is pairs",
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Subject;

    #[test]
    fn every_bad_value_is_refused_by_name() {
        type Spoil = fn(&mut Params);
        let cases: &[(Param, Spoil)] = &[
            (Param::Dim, |p| p.dim = 0),
            (Param::Beta, |p| p.beta = -1.0),
            (Param::Beta, |p| p.beta = f64::NAN),
            (Param::Beta, |p| p.beta = f64::INFINITY),
            (Param::Hidden, |p| p.hidden = vec![10, 0]),
            (Param::Hidden, |p| p.hidden = vec![1 << 20, 1 << 20]),
            (Param::Dropout, |p| p.dropout = 1.0),
            (Param::NegativeShare, |p| p.negative_share = 1.0),
            (Param::NegativeShare, |p| p.negative_share = f64::NAN),
            (Param::InputDropout, |p| p.input_dropout = f64::NAN),
            (Param::Validation, |p| p.validation = Some(-0.1)),
            (Param::Propagate, |p| p.propagate = 101),
            (Param::Walks, |p| p.walks = 101),
            (Param::Patience, |p| p.patience = 0),
            (Param::Steps, |p| p.steps = Some(0)),
            (Param::LearningRate, |p| p.learning_rate = Some(0.0)),
            (Param::Clip, |p| p.clip = Some(f64::NAN)),
            (Param::Lambda, |p| p.lambda = Some(-1.0)),
            (Param::Radius, |p| p.radius = Some(0.0)),
            (Param::ScheduleT0, |p| p.schedule_t0 = f64::NAN),
            (Param::ScheduleAlpha, |p| p.schedule_alpha = Some(1.5)),
            (Param::InitScale, |p| p.init_scale = f64::INFINITY),
            (Param::Momentum, |p| p.momentum = 1.0),
            (Param::Ridge, |p| p.ridge = f64::NAN),
            (Param::LinkBatch, |p| p.link_batch = Some(0)),
            (Param::PairBatch, |p| p.pair_batch = 0),
            (Param::Block, |p| p.block = Some(1)),
            (Param::Optimizer, |p| {
                p.optimizer = Some(OptimizerKind::Lbfgs);
                p.solver = Some(SolverKind::Sgd);
            }),
            (Param::Optimizer, |p| {
                p.optimizer = Some(OptimizerKind::Lbfgs);
                p.dropout = 0.5;
            }),
            (Param::Lambda, |p| {
                p.lambda = Some(1.0);
                p.score = ScoreKind::Probability;
            }),
            (Param::Lambda, |p| p.lambda = Some(1.0)),
            (Param::Optimizer, |p| {
                p.radius = Some(1.0);
                p.optimizer = Some(OptimizerKind::Lbfgs);
            }),
        ];
        for (expected, spoil) in cases {
            let mut params = Params::default();
            spoil(&mut params);
            match params.clone().check() {
                Err(Error::Param { subject, .. }) => {
                    assert_eq!(subject, Subject::Param(*expected));
                }
                other => panic!("{expected}: {other:?} for {params:?}"),
            }
        }
        assert!(Params::default().check().is_ok());
    }

    #[test]
    fn messages_say_what_must_be_and_what_is() {
        let said = |params: Params| params.check().err().map(|error| error.to_string());
        let beta = Params {
            beta: -1.0,
            ..Params::default()
        };
        let expected = "beta must be between 0 and 10, but is -1";
        assert_eq!(said(beta).as_deref(), Some(expected));
        let dim = Params {
            dim: 0,
            ..Params::default()
        };
        let expected = "dim must be a whole number from 1 to 65536, but is 0";
        assert_eq!(said(dim).as_deref(), Some(expected));
    }

    #[test]
    fn scores_and_encoders_carry_their_settings() {
        let checked = |params: Params| params.check().unwrap();
        let plain = checked(Params::default());
        let kind = |params: &CheckedParams, view, has_vectors| {
            params
                .encoder(view, has_vectors)
                .map(|encoder| encoder.kind)
        };
        assert_eq!(kind(&plain, "", true).unwrap(), EncoderKind::Linear);
        assert_eq!(kind(&plain, "", false).unwrap(), EncoderKind::Table);
        let pays = |score, beta| {
            let params = Params {
                score,
                beta,
                ..Params::default()
            };
            checked(params).score().pair(0.7, 2.0)
        };
        let likelihood = pays(ScoreKind::Likelihood, 0.3);
        for &score in ScoreKind::ALL {
            assert_eq!(pays(score, 0.0), likelihood);
            assert_eq!(pays(score, 0.3) == likelihood, !score.reads_beta());
            // Each setting of a score is one number of the table.
            let of_score = |name: &&str| Param::named(name).unwrap().setting();
            let mut settings = score.settings().iter().map(of_score);
            assert!(settings.all(|setting| setting.kind == Kind::Real && !setting.optional));
        }
        let named = checked(Params {
            encoder: Some(EncoderKind::Table),
            view_encoders: [("a".to_owned(), EncoderKind::Mlp)].into(),
            hidden: vec![7],
            ..Params::default()
        });
        assert_eq!(kind(&named, "b", true).unwrap(), EncoderKind::Table);
        let hidden = |view| named.encoder(view, true).unwrap().settings.hidden;
        assert_eq!(hidden("a"), [7]);
        assert_eq!(hidden("b"), Params::default().hidden);
    }

    #[test]
    fn settings_of_views_are_checked_against_the_views() {
        let named = |error: Error| match error {
            Error::Param { subject, .. } => subject,
            other => panic!("{other:?}"),
        };
        let refused = |params: Params, views: &[&str]| {
            let found = params.check().unwrap().view_pairs_among(views);
            named(found.unwrap_err())
        };
        let pairs = Params {
            view_pairs: Some(vec![("b".into(), "a".into()), ("a".into(), "b".into())]),
            ..Params::default()
        };
        let checked = pairs.clone().check().unwrap();
        let found = checked.view_pairs_among(&["a", "b"]).unwrap();
        assert_eq!(found, Some(vec![(0, 1)]));
        assert_eq!(refused(pairs, &["a"]), Subject::Param(Param::ViewPairs));
        let encoder = Params {
            view_encoders: [("c".to_owned(), EncoderKind::Mlp)].into(),
            ..Params::default()
        };
        assert_eq!(refused(encoder, &["a"]), Subject::Param(Param::Encoder));
        let propagate = Params {
            propagate: 1,
            ..Params::default()
        };
        let subject = refused(propagate, &["a", "b"]);
        assert_eq!(subject, Subject::Param(Param::Propagate));
        let linear = Params {
            encoder: Some(EncoderKind::Linear),
            ..Params::default()
        };
        let linear = linear.check().unwrap();
        let error = linear.encoder("a", false).unwrap_err();
        assert_eq!(named(error), Subject::Param(Param::Encoder));
    }
}

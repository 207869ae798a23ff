//! What candidates are compared by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use crate::params::ScoreKind;
use crate::score::Score;

/// What fits of any kind are compared by on pairs that they did not see.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(try_from = "String")]
pub enum Criterion {
    /// How well embeddings tell links from pairs without one: by ranks, which know
    /// no unit of weights.
    #[default]
    Rank,
    /// The mean of a score.
    Score {
        /// The score.
        score: ScoreKind,
        /// Its exponent.
        beta: f64,
    },
}

impl Criterion {
    /// The probability score with `beta_0 = 0.5`: a corrupted weight among the
    /// held-out pairs costs every candidate the same.
    pub const PROBABILITY: Criterion = Criterion::Score {
        score: ScoreKind::Probability,
        beta: 0.5,
    };

    /// The formula, where it is a score.
    pub fn formula(self) -> Option<Score> {
        match self {
            Criterion::Rank => None,
            Criterion::Score { score, beta } => Some(Score::new(score, beta)),
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Rank => write!(f, "rank"),
            Criterion::Score { score, .. } if !score.reads_beta() => write!(f, "{score}"),
            Criterion::Score { score, beta } => write!(f, "{score}:{beta}"),
        }
    }
}

impl Serialize for Criterion {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl TryFrom<String> for Criterion {
    type Error = String;
    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Criterion {
    type Err = String;

    /// `rank`, `SCORE` or `SCORE:BETA`; `beta` is 0.5 unless it is given.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "rank" {
            return Ok(Criterion::Rank);
        }
        let (score, beta) = match text.split_once(':') {
            Some((score, beta)) => (score, Some(beta)),
            None => (text, None),
        };
        let scores = |error: String| match score {
            "rank" => "ranks have no exponent; expected 'rank'".to_owned(),
            _ => format!("{error}; or 'rank'"),
        };
        let score: ScoreKind = score.parse().map_err(scores)?;
        let beta = match (score.reads_beta(), beta) {
            (false, None) => 0.0,
            (false, Some(_)) => {
                return Err(format!(
                    "the {score} score has no exponent; expected '{score}'"
                ));
            }
            (true, None) => 0.5,
            (true, Some(beta)) => {
                let number = beta.parse().ok();
                let number = number.filter(|beta| (0.0..=10.0).contains(beta));
                number.ok_or_else(|| {
                    format!("'{beta}' is no exponent; expected a number from 0 to 10")
                })?
            }
        };
        Ok(Criterion::Score { score, beta })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_read_as_they_are_written() {
        for text in ["rank", "probability:0.5", "moment:1", "likelihood"] {
            assert_eq!(text.parse::<Criterion>().unwrap().to_string(), text);
        }
        let written = "probability".parse::<Criterion>().unwrap();
        assert_eq!(written, Criterion::PROBABILITY);
        assert_eq!(Criterion::default().to_string(), "rank");
        for text in [
            "",
            "auc",
            "moment:",
            "moment:-1",
            "moment:NaN",
            "likelihood:1",
            "rank:1",
        ] {
            assert!(text.parse::<Criterion>().is_err(), "{text}");
        }
    }
}

//! The candidates of a search.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::params::{CheckedParams, Params, ScoreKind, WeightTransform};

/// What a search tries: every combination of these.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The scores; at beta 0 all of them are the likelihood.
    pub scores: Vec<ScoreKind>,
    /// The exponents of the moment and the probability score.
    pub betas: Vec<f64>,
    /// The ridges.
    pub ridges: Vec<f64>,
    /// The dimensions.
    pub dims: Vec<usize>,
    /// The lengths of walks.
    pub walks: Vec<usize>,
    /// The largest numbers of steps; empty: as the parameters say.
    pub steps: Vec<usize>,
}

impl Grid {
    /// The default: scores, exponents and ridges; all else as in `params`.
    pub fn around(params: &Params) -> Grid {
        Grid {
            scores: vec![ScoreKind::Likelihood, ScoreKind::Probability],
            betas: vec![0.1, 0.5],
            ridges: vec![0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0],
            dims: vec![params.dim],
            walks: vec![params.walks],
            steps: Vec::new(),
        }
    }
}

/// One candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Candidate {
    /// The score.
    pub score: ScoreKind,
    /// Its exponent; 0 for the likelihood.
    pub beta: f64,
    /// The ridge.
    pub ridge: f64,
    /// The dimension.
    pub dim: usize,
    /// The length of the walks.
    pub walks: usize,
    /// The largest number of steps, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// How weights count; the same for all candidates.
    pub weights: WeightTransform,
}

impl Candidate {
    /// The parameters with the candidate's in place.
    pub fn params(&self, base: &Params) -> Params {
        Params {
            score: self.score,
            beta: self.beta,
            ridge: Some(self.ridge),
            dim: self.dim,
            walks: self.walks,
            steps: self.steps.or(base.steps),
            weights: self.weights,
            ..base.clone()
        }
    }

    /// Whether two candidates differ in the ridge at most.
    pub fn same_column(&self, other: &Candidate) -> bool {
        let ridge = self.ridge;
        *self == Candidate { ridge, ..*other }
    }
}

/// Every candidate once, checked: columns of equal score and exponent, each
/// from the largest ridge to the smallest.
pub fn candidates(grid: &Grid, base: &Params) -> Result<Vec<(Candidate, CheckedParams)>> {
    for (name, is_empty) in [
        ("scores", grid.scores.is_empty()),
        ("ridges", grid.ridges.is_empty()),
        ("dims", grid.dims.is_empty()),
        ("walk-lengths", grid.walks.is_empty()),
    ] {
        if is_empty {
            return Err(Error::argument(
                name,
                "a list of at least one value",
                "empty",
            ));
        }
    }
    let steps: Vec<Option<usize>> = match grid.steps.as_slice() {
        [] => vec![None],
        steps => steps.iter().map(|&steps| Some(steps)).collect(),
    };
    let mut ridges = grid.ridges.clone();
    ridges.sort_by(|a, b| b.total_cmp(a));
    let mut found: Vec<(Candidate, CheckedParams)> = Vec::new();
    for &dim in &grid.dims {
        for &walks in &grid.walks {
            for &steps in &steps {
                for (score, beta) in columns(grid)? {
                    for &ridge in &ridges {
                        let candidate = Candidate {
                            score,
                            beta,
                            ridge,
                            dim,
                            walks,
                            steps,
                            weights: base.weights,
                        };
                        if found.iter().all(|(other, _)| *other != candidate) {
                            let params = candidate.params(base).check()?;
                            found.push((candidate, params));
                        }
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Scores with their exponents, exponents ascending; all scores at 0 are one.
fn columns(grid: &Grid) -> Result<Vec<(ScoreKind, f64)>> {
    let mut betas = grid.betas.clone();
    betas.sort_by(f64::total_cmp);
    let mut columns: Vec<(ScoreKind, f64)> = Vec::new();
    for &score in &grid.scores {
        if !score.reads_beta() {
            columns.push((score, 0.0));
        } else if betas.is_empty() {
            let accepted = format!("a list of at least one value for the {score} score");
            return Err(Error::argument("betas", accepted, "empty"));
        } else {
            columns.extend(betas.iter().map(|&beta| match beta {
                0.0 => (ScoreKind::Likelihood, 0.0),
                _ => (score, beta),
            }));
        }
    }
    let place = |score: ScoreKind| (score.reads_beta(), score);
    columns.sort_by(|a, b| place(a.0).cmp(&place(b.0)).then(a.1.total_cmp(&b.1)));
    columns.dedup();
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid::around(&Params::default())
    }

    #[test]
    fn candidates_come_in_columns_without_repeats() {
        let found = candidates(&grid(), &Params::default()).unwrap();
        assert_eq!(found.len(), 24);
        let grid = Grid {
            scores: vec![
                ScoreKind::Probability,
                ScoreKind::Moment,
                ScoreKind::Likelihood,
            ],
            betas: vec![1.0, 0.0, 0.5],
            ridges: vec![1.0, 10.0, 1.0],
            ..grid()
        };
        let found = candidates(&grid, &Params::default()).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(c, _)| (c.score.name(), c.beta, c.ridge))
            .collect();
        let expected = [
            ("likelihood", 0.0),
            ("moment", 0.5),
            ("moment", 1.0),
            ("probability", 0.5),
            ("probability", 1.0),
        ]
        .iter()
        .flat_map(|&(score, beta)| [(score, beta, 10.0), (score, beta, 1.0)]);
        assert_eq!(found, expected.collect::<Vec<_>>());
    }

    #[test]
    fn an_empty_list_and_a_bad_value_are_named() {
        type Spoil = fn(&mut Grid);
        let cases: [(&str, Spoil); 7] = [
            ("scores", |grid| grid.scores.clear()),
            ("betas", |grid| grid.betas.clear()),
            ("ridges", |grid| grid.ridges.clear()),
            ("dims", |grid| grid.dims.clear()),
            ("ridge", |grid| grid.ridges.push(-1.0)),
            ("beta", |grid| grid.betas.push(f64::NAN)),
            ("dim", |grid| grid.dims.push(0)),
        ];
        for (expected, spoil) in cases {
            let mut grid = grid();
            spoil(&mut grid);
            match candidates(&grid, &Params::default()) {
                Err(Error::Param { subject, .. }) => {
                    assert_eq!(subject.in_style(Default::default()), expected);
                }
                other => panic!("{expected}: {other:?}"),
            }
        }
    }
}

//! Folds of the pairs, links and zeros alike, by a hash of the pair: fits that
//! do not see one fold, compared by one fixed score on that fold.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::data::dataset::{DataView, Dataset};
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::{Split, TileShare};
use crate::engine::runtime::Runtime;
use crate::engine::solve::solve;
use crate::engine::{Engine, Plan};
use crate::error::{Error, Remedy, Result};
use crate::model::held_out_pairs;
use crate::params::{CheckedParams, OptimizerKind, Param, Precision, ScoreKind};
use crate::schema::choice;
use crate::score::Score;
use linkproof_numeric::real::Real;

choice!(
    /// What is held out together.
    #[derive(Default)]
    HoldOut {
        /// Single pairs: how well are links between known nodes told?
        #[default]
        Pairs = "pairs",
        /// Nodes with all of their pairs: how well are unseen nodes embedded?
        Nodes = "nodes",
    }
);
/// A partition of all pairs, or of the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folds {
    seed: u64,
    number: usize,
    hold_out: HoldOut,
}

impl Folds {
    /// So many folds of about the same size.
    pub fn new(seed: u64, number: usize) -> Result<Folds> {
        if (2..=100).contains(&number) {
            return Ok(Folds {
                seed,
                number,
                hold_out: HoldOut::Pairs,
            });
        }
        Err(Error::argument(
            "folds",
            "a whole number from 2 to 100",
            number,
        ))
    }

    /// The same number of folds of something else.
    pub fn of(self, hold_out: HoldOut) -> Folds {
        Folds { hold_out, ..self }
    }

    /// The number of folds.
    pub fn number(self) -> usize {
        self.number
    }

    /// The split that keeps a fold apart.
    pub fn split(self, fold: usize) -> Split {
        // Apart from the pairs that `--validation` holds out under the same seed.
        const APART: u64 = 0x666f_6c64;
        let seed = self.seed ^ APART;
        match self.hold_out {
            HoldOut::Pairs => Split::fold(seed, fold, self.number),
            HoldOut::Nodes => Split::node_fold(seed, fold, self.number),
        }
    }

    /// The same, with the pairs outside the fold that a fit of these parameters
    /// holds out to decide when to stop.
    pub fn split_of_fit(self, fold: usize, params: &CheckedParams, data: &Dataset) -> Split {
        let stopping = held_out_pairs(params, data.graph().n_links());
        self.split(fold).stopping_by(stopping)
    }

    /// Refuses data with fewer links than folds, and folds of nodes that are not
    /// embedded from data vectors: a table's vectors of nodes held out would
    /// stay at their random start.
    pub fn check(self, data: &Dataset, params: &CheckedParams) -> Result<()> {
        let is_table = |view: &&DataView| {
            let encoder = params.encoder(&view.name, view.matrix.is_some());
            encoder.is_ok_and(|encoder| !encoder.kind.reads_vectors())
        };
        let table = data.views().iter().find(is_table);
        if let (HoldOut::Nodes, Some(view)) = (self.hold_out, table) {
            let what = match view.matrix.is_some() {
                true => "has a table for its encoder",
                false => "has no data vectors",
            };
            let whose = match view.name.as_str() {
                "" => "the one view".to_owned(),
                name => format!("view '{name}'"),
            };
            let accepted = "pairs where an encoder does not read data vectors";
            let given = format!("nodes, and {whose} {what}");
            return Err(Error::argument("hold-out", accepted, given));
        }
        let n_links = data.graph().n_links();
        if n_links >= self.number {
            return Ok(());
        }
        let expected = format!("at least as many as folds, {}", self.number);
        Err(Error::links(format!("{n_links} of them"), expected).or(Remedy::FewerFolds))
    }
}

/// The score by which fits of any kind are compared on pairs that they did not
/// see.
///
/// ```
/// use linkproof::model::folds::Criterion;
///
/// let criterion: Criterion = "moment:1".parse().unwrap();
/// assert_eq!((criterion.beta, criterion.to_string().as_str()), (1.0, "moment:1"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Criterion {
    /// The score.
    pub score: ScoreKind,
    /// Its exponent.
    pub beta: f64,
}

impl Default for Criterion {
    /// The probability score with `beta_0 = 0.5`: a corrupted weight among the
    /// held-out pairs costs every candidate the same.
    fn default() -> Self {
        Criterion {
            score: ScoreKind::Probability,
            beta: 0.5,
        }
    }
}

impl Criterion {
    /// The formula.
    pub fn formula(self) -> Score {
        Score::new(self.score, self.beta)
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.score.reads_beta() {
            false => write!(f, "{}", self.score),
            true => write!(f, "{}:{}", self.score, self.beta),
        }
    }
}

impl FromStr for Criterion {
    type Err = String;

    /// `SCORE` or `SCORE:BETA`; `beta` is 0.5 unless it is given.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (score, beta) = match text.split_once(':') {
            Some((score, beta)) => (score, Some(beta)),
            None => (text, None),
        };
        let score: ScoreKind = score.parse()?;
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
                let number = number.filter(|&beta| Param::Beta.setting().range.holds(beta));
                number.ok_or_else(|| {
                    format!("'{beta}' is no exponent; expected a number from 0 to 10")
                })?
            }
        };
        Ok(Criterion { score, beta })
    }
}

/// A fit that did not see one fold.
#[derive(Debug, Clone)]
pub struct FoldFit {
    /// Its parameters.
    pub theta: Vec<f64>,
    /// The mean of the criterion over the pairs of the fold.
    pub criterion: f64,
    /// The steps taken.
    pub steps: usize,
    /// Whether it moved from a warm start at all.
    pub moved: bool,
    /// Whether its embeddings are as good as zero, so that all pairs are alike.
    pub collapsed: bool,
}

/// A start whose embeddings are shorter than this, squared and on average, has
/// collapsed: at zero every gradient is zero, whatever the links say.
const COLLAPSED: f64 = 1e-2;
/// A gain of this share of the objective ends a coarse fit.
const TOLERANCE: f64 = 1e-6;
/// Steps between looks at held-out pairs, and the share of their score that
/// counts as a gain.
const LOOK_EVERY: usize = 2;
const SMALLEST_GAIN: f64 = 1e-3;

/// How a fit to all pairs but those of a fold is made.
#[derive(Debug, Clone, Copy)]
pub enum Care<'w> {
    /// As a fit to all data: the same start, tolerance and rule of stopping.
    AsAFit,
    /// Faster, to sift candidates: coarser tolerances, and L-BFGS starts from
    /// these parameters where their objective is lower than that of the random
    /// start. Other methods, which do not run to the minimum, take the random
    /// start.
    Coarse(Option<&'w [f64]>),
}

/// Fits to all pairs but those that `prepared` keeps apart, and judges the fit
/// by the fold, which it has not looked at: what ends it are other pairs, those
/// that `prepared` holds out to that end.
pub fn fit_fold(
    params: &CheckedParams,
    prepared: &Prepared,
    care: Care<'_>,
    criterion: &Score,
    runtime: Runtime<'_>,
) -> Result<FoldFit> {
    let problem = Problem::new(prepared, params)?;
    let plan = Plan::new(params, &problem)?;
    let (backend, how) = (runtime.backend(), (plan, care));
    match params.precision {
        Precision::F32 => {
            let engine = &mut *backend.single(&problem)?;
            fit_on(engine, params, how, criterion, runtime)
        }
        Precision::F64 => {
            let engine = &mut *backend.double(&problem)?;
            fit_on(engine, params, how, criterion, runtime)
        }
    }
}

fn fit_on<T: Real>(
    engine: &mut dyn Engine<T>,
    params: &CheckedParams,
    (mut plan, care): (Plan, Care<'_>),
    criterion: &Score,
    runtime: Runtime<'_>,
) -> Result<FoldFit> {
    let mut start = engine.start(params.init_scale)?;
    let mut is_warm = false;
    if let (OptimizerKind::Lbfgs, Care::Coarse(warm)) = (plan.optimizer, care) {
        plan.tolerance = TOLERANCE;
        plan.evaluate_every = LOOK_EVERY;
        plan.smallest_gain = SMALLEST_GAIN;
        plan.patience = plan.patience.div_ceil(LOOK_EVERY);
        if let Some(warm) = warm {
            let warm: Vec<T> = warm.iter().map(|&x| T::of(x)).collect();
            engine.load(&warm)?;
            is_warm = length(engine)? > COLLAPSED && {
                let of_warm = engine.objective(TileShare::WHOLE, None)?.value;
                engine.load(&start)?;
                of_warm < engine.objective(TileShare::WHOLE, None)?.value
            };
            if is_warm {
                start = warm;
            }
        }
    }
    let solution = solve(engine, &plan, start, runtime.of_one_of_many())?;
    let look = plan.look().at_every_pair();
    let by_criterion = engine.judged_by(criterion, look)?;
    let Some(by_criterion) = by_criterion.filter(|value| value.is_finite()) else {
        return Err(Error::Diverged {
            step: solution.steps,
            detail: format!("the criterion on the pairs of the fold is {by_criterion:?}"),
        });
    };
    Ok(FoldFit {
        moved: !is_warm || solution.best_step > 0,
        collapsed: length(engine)? <= COLLAPSED,
        theta: solution.theta.iter().map(|x| x.to_f64()).collect(),
        criterion: by_criterion,
        steps: solution.steps,
    })
}

/// The mean squared length of the embeddings.
fn length<T: Real>(engine: &mut dyn Engine<T>) -> Result<f64> {
    let y = engine.embed()?.y;
    let squares: f64 = y.iter().map(|x| x.to_f64().powi(2)).sum();
    Ok(squares / engine.problem().n_nodes() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::graph::Graph;
    use crate::engine::pairs::Part;
    use crate::params::{EncoderKind, Params};

    #[test]
    fn criteria_are_read_as_they_are_written() {
        for text in ["probability:0.5", "moment:1", "likelihood"] {
            assert_eq!(text.parse::<Criterion>().unwrap().to_string(), text);
        }
        assert_eq!("moment".parse::<Criterion>().unwrap().beta, 0.5);
        assert_eq!(Criterion::default().to_string(), "probability:0.5");
        for text in [
            "",
            "auc",
            "moment:",
            "moment:-1",
            "moment:NaN",
            "likelihood:1",
        ] {
            assert!(text.parse::<Criterion>().is_err(), "{text}");
        }
    }

    #[test]
    fn fewer_links_than_folds_are_refused() {
        let data = Dataset::from_links(
            Graph::from_rows(5, &[(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0)]).unwrap(),
        )
        .unwrap();
        let params = Params::default().check().unwrap();
        assert!(Folds::new(0, 3).unwrap().check(&data, &params).is_ok());
        let error = Folds::new(0, 4).unwrap().check(&data, &params).unwrap_err();
        assert!(error.to_string().contains("at least as many as folds, 4"));
        assert!(Folds::new(0, 1).is_err());
        assert!(Folds::new(0, 101).is_err());
    }
    #[test]
    fn folds_of_nodes_are_refused_where_a_view_has_a_table() {
        use crate::data::dataset::NodeViews;
        use crate::data::features::{Features, Matrix};
        use crate::data::ids::Ids;
        let graph = Graph::from_rows(6, &[(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0)]).unwrap();
        let vectors = |n: usize| Features::new(Matrix::dense(n, 1, vec![1.0; n]).unwrap());
        let nodes = NodeViews {
            ids: Ids::Rows(6),
            views: ["a", "a", "b", "b", "b", "b"].map(str::to_owned).to_vec(),
            rows: None,
        };
        let both = vec![("a".to_owned(), vectors(2)), ("b".to_owned(), vectors(4))];
        let data = Dataset::with_views(graph, nodes, both).unwrap();
        let folds = Folds::new(0, 2).unwrap();
        let check = |params: &Params, hold_out: HoldOut| {
            let params = params.clone().check().unwrap();
            folds.of(hold_out).check(&data, &params)
        };
        let refused = |params: &Params, hold_out| check(params, hold_out).is_err();
        let linear = Params::default();
        assert!(!refused(&linear, HoldOut::Nodes));
        let table = Params {
            encoder: Some(EncoderKind::Table),
            ..Params::default()
        };
        assert!(refused(&table, HoldOut::Nodes) && !refused(&table, HoldOut::Pairs));
        // Named for one view only; and a table for all but for both views.
        let mut named = Params::default();
        named.view_encoders.insert("b".into(), EncoderKind::Table);
        assert!(refused(&named, HoldOut::Nodes));
        let error = check(&named, HoldOut::Nodes).unwrap_err();
        assert!(
            error.to_string().contains("view 'b' has a table"),
            "{error}"
        );
        let mut none = table;
        for view in ["a", "b"] {
            none.view_encoders.insert(view.into(), EncoderKind::Linear);
        }
        assert!(!refused(&none, HoldOut::Nodes));
    }
    #[test]
    fn a_fit_does_not_look_at_the_fold_that_judges_it() {
        use crate::model::Fit;
        use crate::synthetic::{Noise, synthetic};
        let data = synthetic(4, Noise::false_links(0.02)).unwrap().data;
        let params = Params {
            dim: 2,
            ridge: 0.1,
            validation: Some(0.2),
            normalize: crate::params::Normalize::None,
            ..Params::default()
        };
        let params = params.check().unwrap();
        let folds = Folds::new(0, 4).unwrap();
        let both = folds.split_of_fit(1, &params, &data);
        let heavier = |part: Part| {
            let graph = data.graph().map_weights(|link| {
                let here = both.keeps(part, link.src, link.dst);
                if here {
                    1000.0 * link.weight
                } else {
                    link.weight
                }
            });
            data.with_graph(graph.unwrap())
        };
        let fitted = |data: &Dataset| {
            let fit = Fit::new(&params).not_seeing(folds.split(1));
            fit.run(data).unwrap()
        };
        let on_fold = |data: &Dataset| {
            let prepared = Prepared::new(data, &params, Some(both), None).unwrap();
            let formula = Criterion::default().formula();
            let fit = |care| fit_fold(&params, &prepared, care, &formula, Runtime::default());
            (fit(Care::AsAFit).unwrap(), fit(Care::Coarse(None)).unwrap())
        };
        let (model, folded) = (fitted(&data), on_fold(&data));
        assert!(model.report().held_out.is_some());
        // The fold's links, as heavy as may be: no bit of the fits moves, and
        // only what judges them does.
        let judged = heavier(Part::Judged);
        let (other, other_folded) = (fitted(&judged), on_fold(&judged));
        assert_eq!(model.embeddings(), other.embeddings());
        assert_eq!(model.report().held_out, other.report().held_out);
        assert_eq!(folded.0.theta, other_folded.0.theta);
        assert_eq!(folded.1.theta, other_folded.1.theta);
        assert_ne!(folded.0.criterion, other_folded.0.criterion);
        // The links that decide when to stop are looked at.
        let stopping = fitted(&heavier(Part::HeldOut));
        assert_ne!(model.report().held_out, stopping.report().held_out);
    }
}

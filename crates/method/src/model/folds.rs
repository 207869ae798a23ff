//! Folds of the pairs, links and zeros alike, by a hash of the pair: fits that
//! do not see one fold, and what they are compared by on that fold.

use crate::choice::choice;
use crate::data::dataset::{DataView, Dataset};
use crate::data::graph::Graph;
use crate::engine::Plan;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::{Part, Split};
use crate::engine::runtime::Runtime;
use crate::engine::solve::{Task, Trained, train};
use crate::error::{Error, Result};
use crate::model::held_out_pairs;
use crate::params::{CheckedParams, ScoreKind};
use crate::score::Score;
use linkproof_numeric::math;
use linkproof_numeric::real::dot_f64;

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
        Err(Error::links(format!("{n_links} of them"), expected).or("or set fewer {folds}"))
    }
}

/// A fit that did not see one fold.
#[derive(Debug, Clone)]
pub struct FoldFit {
    /// The embeddings, by internal rows.
    pub y: Vec<f32>,
    /// The mean of a score over the pairs of the fold, where one was asked for.
    pub criterion: Option<f64>,
    /// The steps taken.
    pub steps: usize,
    /// Whether its embeddings are as good as zero, so that all pairs are alike, or
    /// the weights that it expects are.
    pub collapsed: bool,
}

/// Embeddings that are shorter than this, squared and on average, have collapsed.
const COLLAPSED: f64 = 1e-2;
/// A fit has collapsed too that expects less than this share of the weights of the
/// fold, where those above the median count as the median.
const EXPECTED: f64 = 0.1;

/// Fits to all pairs but those of a fold as a fit to all data is made, and judges the fit by
/// the fold, which it has not looked at: what ends it are other pairs.
pub fn fit_fold(
    params: &CheckedParams,
    data: &Dataset,
    (folds, fold): (Folds, usize),
    criterion: Option<&Score>,
    runtime: Runtime<'_>,
) -> Result<FoldFit> {
    let split = folds.split_of_fit(fold, params, data);
    let prepared = Prepared::new(data, params, Some(split), None)?;
    let problem = Problem::new(&prepared, params)?;
    // All pairs pay `mu` under the likelihood, and links `-w log mu` too.
    let likelihood = Score::new(ScoreKind::Likelihood, 0.0);
    let scores = std::iter::once(&likelihood).chain(criterion);
    let task = Task {
        problem: &problem,
        plan: Plan::new(params, &problem)?,
        start: None,
        sums: scores.map(|score| (Part::Judged, score.clone())).collect(),
    };
    let trained = train(&task, runtime.of_one_of_many())?;
    let by_criterion = match (criterion, trained.sums.as_slice()) {
        (Some(score), [_, sum]) if prepared.judged.is_some() && sum.pairs > 0.0 => {
            Some(sum.value / sum.pairs + score.constant())
        }
        _ => None,
    };
    let y = trained.y.cast::<f64>();
    if criterion.is_some_and(|_| !by_criterion.is_some_and(f64::is_finite))
        || y.iter().any(|y| !y.is_finite())
    {
        return Err(Error::Diverged {
            step: trained.steps,
            detail: format!("the criterion on the pairs of the fold is {by_criterion:?}"),
        });
    }
    let squares: f64 = y.iter().map(|x| x.powi(2)).sum();
    let is_short = squares / problem.n_nodes() as f64 <= COLLAPSED;
    let collapsed = is_short || expected_share(&task, &trained, &y) < EXPECTED;
    Ok(FoldFit {
        collapsed,
        y: trained.y.cast::<f32>().into_owned(),
        criterion: by_criterion,
        steps: trained.steps,
    })
}

/// The sum of the expected weights of the fold's pairs, against that of the observed
/// ones. Weights above the median count as the median: a fit that expects nothing of
/// corrupted weights has not collapsed. 1 where the fold has no links.
fn expected_share(task: &Task<'_>, trained: &Trained, y: &[f64]) -> f64 {
    let problem = task.problem;
    let (dim, log_k) = (problem.dim, math::ln(task.plan.look().k));
    let gamma = (problem.parameters).gamma_at(|place| trained.theta.get(place));
    let (mut paid, mut weights) = (0.0, Vec::new());
    let mirror = problem.mirrored(y);
    let offset = |row: usize| match trained.offsets.is_empty() {
        true => 0.0,
        false => trained.offsets.get(row),
    };
    for link in problem.data.judged.iter().flat_map(Graph::links) {
        let [a, b] = [link.src, link.dst].map(|row| row as usize);
        let product = dot_f64(&y[a * dim..][..dim], &mirror[b * dim..][..dim]);
        let product = product + offset(a) + offset(b);
        let [d, e] = [a, b].map(|row| problem.data.view_of(row));
        paid += link.weight * (product - gamma.get(d, e) + log_k);
        weights.push(link.weight);
    }
    if weights.is_empty() {
        return 1.0;
    }
    let middle = weights.len() / 2;
    let median = *weights.select_nth_unstable_by(middle, f64::total_cmp).1;
    let observed: f64 = weights.iter().map(|weight| weight.min(median)).sum();
    let all = trained.sums.first().map_or(f64::NAN, |sum| sum.value);
    (all + paid) / observed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::graph::Graph;
    use crate::params::{EncoderKind, Params};

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
            ridge: Some(0.1),
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
            let score = Score::new(ScoreKind::Probability, 0.5);
            fit_fold(&params, data, (folds, 1), Some(&score), Runtime::default()).unwrap()
        };
        let (model, folded) = (fitted(&data), on_fold(&data));
        assert!(model.report().held_out.is_some());
        // The fold's links, as heavy as may be: no bit of the fits moves, and
        // only what judges them does.
        let judged = heavier(Part::Judged);
        let (other, other_folded) = (fitted(&judged), on_fold(&judged));
        assert_eq!(model.embeddings(), other.embeddings());
        assert_eq!(model.report().held_out, other.report().held_out);
        assert_eq!(folded.y, other_folded.y);
        assert_ne!(folded.criterion, other_folded.criterion);
        // The links that decide when to stop are looked at.
        let stopping = fitted(&heavier(Part::HeldOut));
        assert_ne!(model.report().held_out, stopping.report().held_out);
    }
}

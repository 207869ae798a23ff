//! How far links are to be believed, and averages over those that are.

use linkproof::audit::{
    self, Baseline, CrossFit, Thresholds, Verdict, cross_fit, discover, missing,
};
use linkproof::features::Matrix;
use linkproof::folds::{Folds, Watcher};
use linkproof::graph::Link;
use linkproof::judge::belief::discovery_rates;
use linkproof::judge::evidence::Kind;
use linkproof::judge::{JudgedLink, Judgement, PRIOR};
use linkproof::robust::{Recipe, Trust, judge_links};
use linkproof::smooth::{End, NewLink, Smoother};
use linkproof::{Dataset, Error, Features, Graph};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::data::{Links, Vectors, ViewArgument, features};
use crate::errors::exception;
use crate::model::{Model, rows};
use crate::robust::{Trusting, by_ends, counting};
use crate::work::{Audience, Desk, run};

/// What links are judged with: other links than the fit's, and data vectors.
struct Means {
    links: Option<Graph>,
    views: Vec<(String, usize, Option<Matrix>)>,
}

impl Means {
    fn new(links: Option<&Links>, views: Vec<ViewArgument<'_>>) -> Means {
        let view = |(name, n, vectors): ViewArgument<'_>| {
            (name, n, vectors.map(|vectors| vectors.matrix.clone()))
        };
        Means {
            links: links.map(|links| links.graph.clone()),
            views: views.into_iter().map(view).collect(),
        }
    }

    fn data(self, model: &Model) -> linkproof::Result<Dataset> {
        for (name, _, matrix) in &self.views {
            let view = &model.fitted.views()[model.fitted.view(Some(name))?];
            let inputs = view.network.spec().inputs;
            let found = matrix.as_ref().map_or(inputs, Matrix::n_columns);
            if !view.network.is_table() && found != inputs {
                let found = format!("data vectors of {found} entries");
                let expected = format!("{inputs} entries, as the model was fitted with");
                return Err(Error::features(found, expected));
            }
        }
        let links = self.links.unwrap_or_else(|| model.links.clone());
        audit::judged_data(&model.fitted, links, features(self.views))
    }
}

/// Links and random pairs as fits that did not see them judge, or the model.
fn judged(
    model: &Model,
    data: &Dataset,
    folds: Option<usize>,
    desk: &Desk,
) -> linkproof::Result<CrossFit> {
    let random = audit::pairs_to_compare(&model.fitted, data);
    let Some(folds) = folds else {
        return audit::as_fitted(&model.fitted, data, &random);
    };
    if !audit::can_fit(&model.fitted, data) {
        return Err(Error::data(
            "X",
            "no data vectors",
            "those that the model was fitted with, for fits that do not see the links that they \
             judge (or cross_fit=False)",
        ));
    }
    let params = model.fitted.params().clone().check()?;
    let folds = Folds::new(params.seed, folds)?;
    let watcher = Watcher {
        after_fit: &|done, all| desk.fits(done, all),
        goes_on: &|| desk.goes_on(),
    };
    cross_fit(&params, data, folds, &random, watcher)
}

/// Judges links, least trusted first: arrays by name.
#[pyfunction]
#[pyo3(name = "audit", signature = (model, links, views, *, judge, false_discovery_rate, folds, fdr, min_trust, missing_pairs, threads, show))]
#[expect(
    clippy::too_many_arguments,
    reason = "private; Python's method has defaults"
)]
pub fn audit_links<'py>(
    py: Python<'py>,
    model: &Model,
    links: Option<&Links>,
    views: Vec<ViewArgument<'py>>,
    judge: bool,
    false_discovery_rate: Option<f64>,
    folds: Option<usize>,
    fdr: Option<f64>,
    min_trust: Option<f64>,
    missing_pairs: usize,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let own = Thresholds::new(fdr, min_trust).map_err(exception)?;
    let is_given = fdr.is_some() || min_trust.is_some();
    let own = (is_given || !judge).then_some(own);
    let rate = false_discovery_rate.or((judge && !is_given).then_some(0.1));
    if let Some(given) = rate.filter(|rate| !(0.0..=1.0).contains(rate)) {
        let name = "false-discovery-rate";
        return Err(exception(Error::argument(name, "between 0 and 1", given)));
    }
    let of_fit = links.is_none().then_some(!views.is_empty());
    let means = Means::new(links, views);
    let every_step = None;
    let audience = Audience { show, every_step };
    let found = run(py, threads, &audience, |desk| {
        let data = means.data(model)?;
        let CrossFit { verdicts, random } = judged(model, &data, folds, desk)?;
        let discovery = discover(&verdicts, model.fitted.params().weights, &random);
        let (judgement, told) = match judge {
            true => beliefs(model, &data, of_fit, desk).map(|(found, told)| (Some(found), told))?,
            false => (None, Value::Null),
        };
        let cosines = Baseline::new(&data).map(|baseline| {
            let cosine = |verdict: &Verdict| baseline.cosine(verdict.src, verdict.dst);
            let all = verdicts.iter().map(cosine);
            all.map(|cosine| cosine.unwrap_or(f64::NAN))
                .collect::<Vec<f64>>()
        });
        let absent = missing(&model.fitted, &data.user_graph()?, missing_pairs);
        Ok((verdicts, discovery, judgement, told, cosines, absent))
    })?;
    let (verdicts, discovery, judgement, told, cosines, absent) = found;
    let links = judgement.as_ref().map(|found| in_order(&verdicts, found));
    let speaks = judgement.as_ref().is_some_and(|found| !found.abstained);
    let judged = |place: usize| links.as_ref().and_then(|links| links[place]);
    let suspect = |place: usize| {
        let by_belief = judged(place).filter(|_| speaks).zip(rate);
        by_belief.is_some_and(|(link, rate)| link.false_discovery_rate <= rate)
            || own.is_some_and(|own| own.call(&verdicts[place], discovery.rates[place]))
    };
    // Least believed first, and of those the least trusted; where beliefs say
    // nothing, by trust.
    let mut order: Vec<usize> = (0..verdicts.len()).collect();
    if speaks {
        let belief = |&place: &usize| judged(place).map_or(f64::INFINITY, |link| link.belief);
        order.sort_by(|a, b| belief(a).total_cmp(&belief(b)));
    }
    let table = PyDict::new(py);
    let ends = |end: fn(&Verdict) -> u32| order.iter().map(|&at| end(&verdicts[at])).collect();
    table.set_item("src", PyArray1::from_vec(py, ends(|verdict| verdict.src)))?;
    table.set_item("dst", PyArray1::from_vec(py, ends(|verdict| verdict.dst)))?;
    let column = |name: &str, number: &dyn Fn(usize) -> f64| {
        let numbers = order.iter().map(|&place| number(place)).collect();
        table.set_item(name, PyArray1::from_vec(py, numbers))
    };
    column("weight", &|at| verdicts[at].weight)?;
    column("mu", &|at| verdicts[at].mu)?;
    column("trust", &|at| verdicts[at].trust)?;
    column("influence", &|at| verdicts[at].influence)?;
    column("surprise", &|at| verdicts[at].surprise)?;
    column("fdr", &|at| discovery.rates[at])?;
    let suspects: Vec<bool> = order.iter().map(|&place| suspect(place)).collect();
    table.set_item("suspect", PyArray1::from_vec(py, suspects))?;
    if let Some(cosines) = &cosines {
        column("cosine", &|at| cosines[at])?;
    }
    if links.is_some() {
        let of = |number: fn(&JudgedLink) -> f64| {
            move |at: usize| judged(at).as_ref().map_or(f64::NAN, number)
        };
        column("belief", &of(|link| link.belief))?;
        column(
            "false_discovery_rate",
            &of(|link| link.false_discovery_rate),
        )?;
        column("rank", &of(|link| link.rank))?;
        for (place, kind) in Kind::ALL.iter().enumerate() {
            let name = format!("rank_{}", kind.to_string().replace('-', "_"));
            let rank = |at: usize| judged(at).map_or(f64::NAN, |link| link.by_kind[place]);
            column(&name, &rank)?;
        }
        column("weight_odds", &of(|link| link.weight_odds))?;
    }
    let found = PyDict::new(py);
    found.set_item("table", table)?;
    found.set_item("random_share", discovery.random_share)?;
    let pairs = absent.iter().map(|pair| (pair.src, pair.dst, pair.mu));
    found.set_item("missing", pairs.collect::<Vec<_>>())?;
    found.set_item("judged", told.to_string())?;
    Ok(found)
}

/// How far the links are believed, and what was found about all of them together.
///
/// `of_fit`: they are the model's own, with data vectors or without. A robust fit
/// has judged these; of a loaded one beliefs are known but not what spoke for
/// them, which data vectors tell again. All others are judged now, views whose data
/// vectors are not given by their links alone.
fn beliefs(
    model: &Model,
    data: &Dataset,
    of_fit: Option<bool>,
    desk: &Desk,
) -> linkproof::Result<(Judgement, Value)> {
    let known = model.trust.as_ref();
    let recorded = model.extra.get("robust");
    if let (Some(has_vectors), Some(known), Some(told)) = (of_fit, known, recorded) {
        if let Some((robust, _)) = &known.whole {
            return Ok((robust.judgement.clone(), told.clone()));
        }
        if !has_vectors {
            return Ok((remembered(data, known, told), told.clone()));
        }
    }
    let (data, _) = audit::taking_part(&model.fitted, data.clone())?;
    let mut recipe = Recipe::default();
    if data.graph().n_links() < recipe.folds {
        let found = untold(&data);
        let told = json!(Trust::new(&found));
        return Ok((found, told));
    }
    let ridge = recorded.and_then(|told| told["chosen"]["judge_ridge"].as_f64());
    if let Some(ridge) = ridge {
        recipe.ridges = vec![ridge];
    }
    let mut params = model.fitted.params().clone();
    let by_links_alone = !audit::can_fit(&model.fitted, &data);
    if by_links_alone {
        (params.encoder, params.view_encoders) = (None, Default::default());
    }
    let (found, _) = counting(&recipe, desk, |watcher| {
        judge_links(&params.check()?, &data, &recipe, watcher)
    })?;
    let mut told = json!(Trust::new(&found));
    told["judged_by_links_alone"] = by_links_alone.into();
    Ok((found, told))
}

/// What a folder keeps of a judgement.
fn remembered(data: &Dataset, known: &Trusting, told: &Value) -> Judgement {
    let mut found = untold(data);
    let mut links = by_ends(&found.links);
    let rates = discovery_rates(&known.beliefs);
    for (place, link) in links.iter_mut().enumerate() {
        *link = JudgedLink {
            belief: known.beliefs[place],
            false_discovery_rate: rates[place],
            rank: f64::NAN,
            rank_by_vectors: f64::NAN,
            by_kind: [f64::NAN; Kind::ALL.len()],
            weight_odds: f64::NAN,
            ..*link
        };
    }
    found.links = links;
    found.abstained = told["abstained"].as_bool().unwrap_or(false);
    found
}

/// Too few links to tell anything of.
fn untold(data: &Dataset) -> Judgement {
    let link = |link: Link| {
        let [a, b] = [link.src, link.dst].map(|row| data.user_row(row as usize) as u32);
        JudgedLink {
            src: a.min(b),
            dst: a.max(b),
            weight: link.weight,
            belief: PRIOR,
            false_discovery_rate: PRIOR,
            rank: 0.5,
            rank_by_vectors: 0.5,
            by_kind: [0.5; Kind::ALL.len()],
            weight_odds: 1.0,
        }
    };
    Judgement {
        links: data.graph().links().map(link).collect(),
        share_false: 0.0,
        auc_decoys: 0.5,
        auc_error: 0.5,
        abstained: true,
        unexplained: 0.0,
        checks: Vec::new(),
    }
}

/// What the judge found about each link of an audit, if anything.
fn in_order(verdicts: &[Verdict], judgement: &Judgement) -> Vec<Option<JudgedLink>> {
    let links = by_ends(&judgement.links);
    let find = |verdict: &Verdict| {
        let ends = (verdict.src.min(verdict.dst), verdict.src.max(verdict.dst));
        let place = links.binary_search_by_key(&ends, |link| (link.src, link.dst));
        place.ok().map(|place| links[place])
    };
    verdicts.iter().map(find).collect()
}

/// Embeddings averaged over links, each as far as it is believed: of the
/// model's nodes, or of new ones of a view, given their data vectors and
/// perhaps links (new row, training row, weight).
#[pyfunction]
#[pyo3(signature = (model, links, views, *, folds, times, new, new_links, threads, show))]
#[expect(
    clippy::too_many_arguments,
    reason = "private; Python's method has defaults"
)]
pub fn smooth<'py>(
    py: Python<'py>,
    model: &Model,
    links: Option<&Links>,
    views: Vec<ViewArgument<'py>>,
    folds: Option<usize>,
    times: usize,
    new: Option<(usize, PyRef<'py, Vectors>)>,
    new_links: Option<Vec<(u32, u32, f64)>>,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let means = Means::new(links, views);
    let new = new.map(|(view, vectors)| (view, vectors.matrix.clone()));
    let n = new
        .as_ref()
        .map_or(model.fitted.n_nodes(), |(_, new)| new.n_rows());
    let every_step = None;
    let audience = Audience { show, every_step };
    let found = run(py, threads, &audience, |desk| {
        let (data, _) = audit::taking_part(&model.fitted, means.data(model)?)?;
        let CrossFit { verdicts, random } = judged(model, &data, folds, desk)?;
        let smoother = Smoother::new(&model.fitted, verdicts, random, times);
        match new {
            None => Ok(smoother.embeddings().to_vec()),
            Some((view, matrix)) => unseen(model, &smoother, &data, view, matrix, new_links),
        }
    })?;
    rows(py, found, n, model.fitted.dim())
}
/// Averages of new nodes: over their links where they have some, and otherwise
/// what their data vectors tell of the averages.
fn unseen(
    model: &Model,
    smoother: &Smoother<'_>,
    data: &Dataset,
    view: usize,
    matrix: Matrix,
    links: Option<Vec<(u32, u32, f64)>>,
) -> linkproof::Result<Vec<f32>> {
    let links: Vec<NewLink> = links
        .unwrap_or_default()
        .into_iter()
        .map(|(row, known, weight)| NewLink {
            row,
            end: End::Known(known),
            weight,
        })
        .collect();
    let features = Features::new(matrix);
    let name = model.fitted.views()[view].name.as_str();
    let encoded = model.fitted.embed_view(Some(name), &features, None)?;
    let mut values = smoother.embed(view, &encoded, &links)?;
    let mut linked = vec![false; features.matrix().n_rows()];
    for link in &links {
        linked[link.row as usize] = true;
    }
    if linked.iter().all(|linked| *linked) {
        return Ok(values);
    }
    if !audit::has_vectors(&model.fitted, data, view) {
        return Err(Error::data(
            "X",
            "no data vectors",
            "those that the model was fitted with, from which the averages of unseen nodes without \
             links are learnt (or new_links for each of them)",
        ));
    }
    let told = smoother.unseen(view, data)?.embed(features.matrix())?;
    let dim = model.fitted.dim();
    let rows = values.chunks_exact_mut(dim).zip(told.chunks_exact(dim));
    for ((row, told), _) in rows.zip(linked).filter(|(_, linked)| !linked) {
        row.copy_from_slice(told);
    }
    Ok(values)
}

//! How far links are to be believed, and averages over those that are.

use linkproof::audit::{
    self, Baseline, CrossFit, Thresholds, Verdict, cross_fit, discover, missing,
};
use linkproof::features::Matrix;
use linkproof::folds::{Folds, Watcher};
use linkproof::smooth::{End, NewLink, Smoother};
use linkproof::{Dataset, Error, Features, Graph};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::{Links, Vectors, ViewArgument, features};
use crate::errors::exception;
use crate::model::{Model, rows};
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
                return Err(Error::data("features", found, expected));
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
#[pyo3(name = "audit", signature = (model, links, views, *, folds, fdr, min_trust, missing_pairs, threads, show))]
#[expect(
    clippy::too_many_arguments,
    reason = "private; Python's method has defaults"
)]
pub fn audit_links<'py>(
    py: Python<'py>,
    model: &Model,
    links: Option<&Links>,
    views: Vec<ViewArgument<'py>>,
    folds: Option<usize>,
    fdr: Option<f64>,
    min_trust: Option<f64>,
    missing_pairs: usize,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let thresholds = Thresholds::new(fdr, min_trust).map_err(exception)?;
    let means = Means::new(links, views);
    let every_step = None;
    let audience = Audience { show, every_step };
    let found = run(py, threads, &audience, |desk| {
        let data = means.data(model)?;
        let CrossFit { verdicts, random } = judged(model, &data, folds, desk)?;
        let discovery = discover(&verdicts, model.fitted.params().weights, &random);
        let suspect = |(verdict, &rate)| thresholds.call(verdict, rate);
        let suspects: Vec<bool> = verdicts.iter().zip(&discovery.rates).map(suspect).collect();
        let cosines = Baseline::new(&data).map(|baseline| {
            let cosine = |verdict: &Verdict| baseline.cosine(verdict.src, verdict.dst);
            let all = verdicts.iter().map(cosine);
            all.map(|cosine| cosine.unwrap_or(f64::NAN))
                .collect::<Vec<f64>>()
        });
        let absent = missing(&model.fitted, &data.user_graph()?, missing_pairs);
        Ok((verdicts, discovery, suspects, cosines, absent))
    })?;
    let (verdicts, discovery, suspects, cosines, absent) = found;
    let table = PyDict::new(py);
    let ends = |end: fn(&Verdict) -> u32| verdicts.iter().map(end).collect();
    table.set_item("src", PyArray1::from_vec(py, ends(|verdict| verdict.src)))?;
    table.set_item("dst", PyArray1::from_vec(py, ends(|verdict| verdict.dst)))?;
    type Column = (&'static str, fn(&Verdict) -> f64);
    let columns: [Column; 5] = [
        ("weight", |verdict| verdict.weight),
        ("mu", |verdict| verdict.mu),
        ("trust", |verdict| verdict.trust),
        ("influence", |verdict| verdict.influence),
        ("surprise", |verdict| verdict.surprise),
    ];
    for (name, number) in columns {
        let numbers = verdicts.iter().map(number).collect();
        table.set_item(name, PyArray1::from_vec(py, numbers))?;
    }
    table.set_item("fdr", PyArray1::from_vec(py, discovery.rates))?;
    table.set_item("suspect", PyArray1::from_vec(py, suspects))?;
    if let Some(cosines) = cosines {
        table.set_item("cosine", PyArray1::from_vec(py, cosines))?;
    }
    let found = PyDict::new(py);
    found.set_item("table", table)?;
    found.set_item("random_share", discovery.random_share)?;
    let pairs = absent.iter().map(|pair| (pair.src, pair.dst, pair.mu));
    found.set_item("missing", pairs.collect::<Vec<_>>())?;
    Ok(found)
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

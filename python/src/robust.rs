//! Fits that believe each link as far as it deserves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use linkproof::folds::Watcher;
use linkproof::judge::JudgedLink;
use linkproof::robust::{Recipe, Robust, fit_robust};
use linkproof::smooth::{End, NewLink};
use linkproof::{Dataset, Error, Features};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use serde_json::{Map, json};

use crate::data::{Data, Vectors};
use crate::model::{Model, rows, versions};
use crate::settings::params;
use crate::work::{Audience, Desk, quietly, run};

/// What a robust fit found of its links.
pub struct Trusting {
    /// How far each link is believed, in the order of the model's links.
    pub beliefs: Vec<f64>,
    /// The whole of it, with the data that it is of; a folder keeps neither.
    pub whole: Option<(Box<Robust>, Dataset)>,
}

impl Trusting {
    /// Of a folder.
    pub fn loaded(beliefs: Vec<f64>) -> Trusting {
        Trusting {
            beliefs,
            whole: None,
        }
    }

    /// Of the recipe.
    fn new(robust: Robust, data: Dataset) -> Trusting {
        let links = by_ends(&robust.judgement.links);
        Trusting {
            beliefs: links.iter().map(|link| link.belief).collect(),
            whole: Some((Box::new(robust), data)),
        }
    }
}

/// Says how many of the fits that judge links are done.
pub fn counting<T>(recipe: &Recipe, desk: &Desk, work: impl FnOnce(Watcher<'_>) -> T) -> T {
    let compared = recipe.compared_folds.clamp(1, recipe.folds);
    let most = match recipe.ridges.len() {
        0 | 1 => recipe.folds,
        ridges => ridges * compared + recipe.folds - compared,
    };
    let done = AtomicUsize::new(0);
    work(Watcher {
        after_fit: &|_, _| desk.fits(done.fetch_add(1, Ordering::Relaxed) + 1, most),
        goes_on: &|| desk.goes_on(),
    })
}

/// Fits by the whole recipe.
#[pyfunction]
#[pyo3(name = "fit_robust", signature = (data, settings, *, threads, show))]
pub fn fit_by_recipe(
    py: Python<'_>,
    data: &Data,
    settings: &str,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let params = params(settings)?;
    let every_step = None;
    let data = &data.dataset;
    run(py, threads, &Audience { show, every_step }, |desk| {
        let (clock, recipe) = (Instant::now(), Recipe::default());
        let robust = counting(&recipe, desk, |watcher| {
            fit_robust(&params, data, &recipe, watcher)
        })?;
        let mut extra = Map::new();
        extra.insert("versions".into(), versions()?);
        extra.insert("robust".into(), json!(robust.summary(&recipe)));
        let fitted = robust.to_model(data)?;
        // Of all its fits.
        extra.insert("seconds".into(), clock.elapsed().as_secs_f64().into());
        Ok(Model {
            fitted,
            links: data.user_graph()?,
            trust: Some(Trusting::new(robust, data.clone())),
            extra,
        })
    })
}

/// How far each link of the fit is believed, in the order of the model's links;
/// none without the recipe.
#[pyfunction]
pub fn beliefs<'py>(py: Python<'py>, model: &Model) -> Option<Bound<'py, PyArray1<f64>>> {
    let trust = model.trust.as_ref()?;
    Some(PyArray1::from_slice(py, &trust.beliefs))
}

/// The recommended embeddings of unseen nodes of a view, from data vectors and
/// perhaps links (new row, training row, weight).
#[pyfunction]
pub fn embed_recommended<'py>(
    py: Python<'py>,
    model: &Model,
    view: usize,
    vectors: &Vectors,
    links: Option<Vec<(u32, u32, f64)>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let name = model.view_name(view)?;
    let n = vectors.matrix.n_rows();
    let found = quietly(py, threads, || {
        let features = Features::new(vectors.matrix.clone());
        // Without averages links tell nothing.
        let Some(links) = links.filter(|_| model.fitted.averaged().is_some()) else {
            return model.fitted.embed_recommended(Some(name), &features);
        };
        let whole = model.trust.as_ref().and_then(|trust| trust.whole.as_ref());
        let Some((robust, data)) = whole else {
            return Err(Error::links(
                "a model that was loaded, without the data vectors that links are judged by",
                "a model that was fitted here, or no links",
            ));
        };
        let links: Vec<NewLink> = links
            .into_iter()
            .map(|(row, known, weight)| NewLink {
                row,
                end: End::Known(known),
                weight,
            })
            .collect();
        Ok(robust.newcomers(data, view, &features, &links)?.with_links)
    })?;
    rows(py, found, n, model.fitted.dim())
}

/// Judged links in the order of a graph's.
pub fn by_ends(links: &[JudgedLink]) -> Vec<JudgedLink> {
    let mut links = links.to_vec();
    links.sort_by_key(|link| (link.src, link.dst));
    links
}

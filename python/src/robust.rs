//! Fits that believe each link as far as it deserves.

use std::sync::OnceLock;

use linkproof::folds::Watcher;
use linkproof::judge::checks::Check;
use linkproof::judge::{JudgedLink, Judgement};
use linkproof::robust::{Recipe, Robust, fit_robust};
use linkproof::smooth::{End, NewLink, Regression};
use linkproof::{Dataset, Features};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::data::{Data, Vectors};
use crate::model::{Model, rows};
use crate::settings::params;
use crate::work::{Audience, quietly, run};

/// What the recipe found, and what it was given: new nodes are compared with
/// that.
pub struct Trusting {
    pub robust: Robust,
    data: Dataset,
    /// By view: what data vectors alone tell of averages.
    learnt: Vec<OnceLock<Regression>>,
}

impl Trusting {
    /// What `fit.json` says of the recipe.
    pub fn summary(&self) -> Value {
        let robust = &self.robust;
        let gate = robust.gate.told.map(|told| told.averaged / told.plain);
        let Value::Object(mut summary) = summary(&robust.judgement) else {
            return Value::Null;
        };
        summary.insert("averaged".into(), robust.recommends_averages.into());
        summary.insert("gate".into(), json!(gate));
        let chosen = json!({ "ridge": robust.ridge, "judge_ridge": robust.judge_ridge });
        summary.insert("chosen".into(), chosen);
        summary.insert("ridges".into(), json!(robust.ridges));
        summary.insert("walk_ridges".into(), json!(robust.walk_ridges));
        summary.into()
    }

    /// The recommended embeddings of new nodes of a view.
    fn embed(
        &self,
        view: usize,
        vectors: &Features,
        links: Option<&[NewLink]>,
    ) -> linkproof::Result<Vec<f32>> {
        let (robust, data) = (&self.robust, &self.data);
        if let Some(links) = links {
            let found = robust.newcomers(data, view, vectors, links)?;
            return Ok(found.with_links);
        }
        let has_vectors = data.views()[view].matrix.is_some();
        if !robust.recommends_averages || !has_vectors {
            let name = data.views()[view].name.as_str();
            return robust.model.embed_view(Some(name), vectors, None);
        }
        self.learnt(view)?.embed(vectors.matrix())
    }

    /// What data vectors alone tell of the averages of a view.
    fn learnt(&self, view: usize) -> linkproof::Result<&Regression> {
        if let Some(known) = self.learnt[view].get() {
            return Ok(known);
        }
        let (robust, data) = (&self.robust, &self.data);
        let (dim, params) = (robust.model.dim(), robust.model.params());
        let part = &data.views()[view];
        let Some(matrix) = &part.matrix else {
            return Err(linkproof::Error::data(
                "X",
                format!("view '{}' without data vectors", part.name),
                "a data vector for each of its nodes",
            ));
        };
        let row = |row: usize| &robust.averaged[data.user_row(row) * dim..][..dim];
        let outputs: Vec<f32> = part.rows.clone().flat_map(row).copied().collect();
        let found = Regression::new(matrix, &outputs, dim, params.normalize, params.seed)?;
        Ok(self.learnt[view].get_or_init(|| found))
    }
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
        let watcher = Watcher {
            after_fit: &|done, all| desk.fits(done, all),
            goes_on: &|| desk.goes_on(),
        };
        let robust = fit_robust(&params, data, &Recipe::default(), watcher)?;
        let trusting = Trusting {
            robust,
            data: data.clone(),
            learnt: data.views().iter().map(|_| OnceLock::new()).collect(),
        };
        if trusting.robust.recommends_averages {
            // Now, while the data vectors are as they were fitted.
            for (view, part) in data.views().iter().enumerate() {
                if part.matrix.is_some() {
                    trusting.learnt(view)?;
                }
            }
        }
        Model::robust(trusting, data.user_graph()?)
    })
}

/// How far each link of the fit is believed, in the order of the model's links;
/// none without the recipe.
#[pyfunction]
pub fn beliefs<'py>(py: Python<'py>, model: &Model) -> Option<Bound<'py, PyArray1<f64>>> {
    let trusting = model.trusting()?;
    let links = by_ends(&trusting.robust.judgement.links);
    let beliefs = links.iter().map(|link| link.belief).collect();
    Some(PyArray1::from_vec(py, beliefs))
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
    model.view_name(view)?;
    let n = vectors.matrix.n_rows();
    let found = quietly(py, threads, || {
        let features = Features::new(vectors.matrix.clone());
        let links: Option<Vec<NewLink>> = links.map(|links| {
            let link = |(row, known, weight)| NewLink {
                row,
                end: End::Known(known),
                weight,
            };
            links.into_iter().map(link).collect()
        });
        match model.trusting() {
            Some(trusting) => trusting.embed(view, &features, links.as_deref()),
            None => {
                let name = model.fitted().views()[view].name.as_str();
                model.fitted().embed_view(Some(name), &features, None)
            }
        }
    })?;
    rows(py, found, n, model.fitted().dim())
}

/// Judged links in the order of a graph's.
pub fn by_ends(links: &[JudgedLink]) -> Vec<JudgedLink> {
    let mut links = links.to_vec();
    links.sort_by_key(|link| (link.src, link.dst));
    links
}

/// What was found about all links together.
pub fn summary(judgement: &Judgement) -> Value {
    json!({
        "share_false": judgement.share_false,
        "auc_decoys": judgement.auc_decoys,
        "auc_error": judgement.auc_error,
        "abstained": judgement.abstained,
        "unexplained": judgement.unexplained,
        "implanted": judgement.checks.iter().flat_map(implanted).collect::<Vec<_>>(),
    })
}

/// What became of links of one kind that are known to be false, at each rate.
fn implanted(check: &Check) -> Vec<Value> {
    let rate = |rate: &linkproof::judge::checks::RateCheck| {
        json!({ "kind": check.kind, "asked": rate.asked, "claimed": rate.claimed,
                "realised": rate.realised, "found": rate.found, "suspects": rate.suspects,
                "implants": check.implants })
    };
    check.rates.iter().map(rate).collect()
}

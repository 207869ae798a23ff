//! How far links are to be believed, and averages over those that are.

use linkproof::data::features::Matrix;
use linkproof::trust::audit::{Judges, can_fit, judged_data};
use linkproof::trust::robust::{Audit, AuditSettings, Averaging, Limits, Smoothing, audit, smooth};
use linkproof::trust::smooth::NewNodes;
use linkproof::{Dataset, Error, Features, Graph, Runtime};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::data::{Links, Vectors, ViewArgument, features, new_links};
use crate::errors::exception;
use crate::model::{Model, rows};
use crate::work::{self, Listeners, run};

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
        let links = self.links.unwrap_or_else(|| model.fitted.links().clone());
        let features = features(self.views);
        for (name, features) in &features {
            let view = model.fitted.view(Some(name))?;
            if !model.fitted.views()[view].network.is_table() {
                model.fitted.check_vectors(view, features)?;
            }
        }
        judged_data(&model.fitted, links, features)
    }
}

/// Refuses fits that do not see the links that they judge, where these cannot be.
fn check_judges(model: &Model, data: &Dataset) -> linkproof::Result<()> {
    if can_fit(&model.fitted, data) {
        return Ok(());
    }
    Err(Error::data(
        "X",
        "no data vectors",
        "those that the model was fitted with, for fits that do not see the links that they judge \
         (or cross_fit=False)",
    ))
}

/// Audits links: arrays by name, and what was found about all of them.
#[pyfunction]
#[pyo3(name = "audit", signature = (model, links, views, *, judge, false_discovery_rate, cross_fit, folds, fdr, min_trust, missing_pairs, device, threads, show))]
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
    cross_fit: bool,
    folds: usize,
    fdr: Option<f64>,
    min_trust: Option<f64>,
    missing_pairs: usize,
    device: &str,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let limits = Limits::new(judge, false_discovery_rate, fdr, min_trust);
    let settings = AuditSettings {
        judge,
        cross_fit,
        folds,
        limits: limits.map_err(exception)?,
        missing: missing_pairs,
        own_links: links.is_none(),
    };
    let means = Means::new(links, views);
    let every_step = None;
    let found = run(py, threads, &Listeners { show, every_step }, |monitor| {
        let data = means.data(model)?;
        if cross_fit {
            check_judges(model, &data)?;
        }
        let device = work::device(device, model.fitted.n_nodes())?;
        let runtime = Runtime::watched_by(monitor).on(device.backend());
        audit(&model.fitted, &data, &settings, runtime)
    })?;
    let table = PyDict::new(py);
    let ends = |end: fn(&linkproof::trust::audit::Verdict) -> u32| {
        let ends = found.links.iter().map(|link| end(&link.verdict));
        PyArray1::from_vec(py, ends.collect())
    };
    table.set_item("src", ends(|verdict| verdict.src))?;
    table.set_item("dst", ends(|verdict| verdict.dst))?;
    for (name, numbers) in found.columns() {
        match name.as_str() {
            "suspect" => {
                let suspects = found.links.iter().map(|link| link.suspect).collect();
                table.set_item(name, PyArray1::from_vec(py, suspects))?;
            }
            _ => table.set_item(name, PyArray1::from_vec(py, numbers))?,
        }
    }
    let why = found.links.iter().map(|link| link.why(&settings.limits));
    table.set_item("why", why.collect::<Vec<_>>())?;
    let result = PyDict::new(py);
    result.set_item("table", table)?;
    let pairs = found
        .missing
        .iter()
        .map(|pair| (pair.src, pair.dst, pair.mu));
    result.set_item("missing", pairs.collect::<Vec<_>>())?;
    result.set_item("told", told(model, &found).to_string())?;
    Ok(result)
}

/// What was found about all links together, by the names of the command line's
/// JSON.
fn told(model: &Model, found: &Audit) -> Value {
    let contest = found.contest.map(|contest| {
        json!({ "fit": contest.fit, "cosine": contest.baseline, "links": contest.links,
                "cosine_is_better": contest.baseline_is_better() })
    });
    let mut told = json!({
        "random_share": found.random_share,
        "too_heavy": found.too_heavy,
        "auc_against_random_pairs": contest,
    });
    let Some(beliefs) = &found.beliefs else {
        return told;
    };
    // Of its own links a robust fit has said it before.
    let trust = match &beliefs.trust {
        Some(trust) => json!(trust),
        None => model.record.get("robust").cloned().unwrap_or_default(),
    };
    told["abstained"] = beliefs.abstained.into();
    told["judged_by_links_alone"] = beliefs.by_links_alone.into();
    told["not_judged"] = json!(beliefs.why_not);
    for name in [
        "share_false",
        "auc_decoys",
        "auc_error",
        "unexplained",
        "implanted",
    ] {
        if let Some(value) = trust.get(name).filter(|_| beliefs.why_not.is_none()) {
            told[name] = value.clone();
        }
    }
    let says = trust.get("weights").map(|weights| weights["says"].clone());
    told["weights_say"] = says.unwrap_or_default();
    told["verdict"] = match &beliefs.trust {
        Some(trust) => json!(trust.verdict()),
        None => trust.get("verdict").cloned().unwrap_or_default(),
    };
    told
}

/// The rows, and what [`smooth_embeddings`] says of them.
type SmoothedRows<'py> = (Bound<'py, PyArray2<f32>>, bool, Option<f64>, usize);

/// Embeddings averaged over links, each as far as it is believed: of the
/// model's nodes, or of new ones of a view, given their data vectors and
/// perhaps links (new row, training row, weight). Also whether they were averaged,
/// what the gate found, and how many new ones stay as the model embeds them.
#[pyfunction]
#[pyo3(name = "smooth", signature = (model, links, views, *, folds, times, averaging, new, links_of_new, device, threads, show))]
#[expect(
    clippy::too_many_arguments,
    reason = "private; Python's method has defaults"
)]
pub fn smooth_embeddings<'py>(
    py: Python<'py>,
    model: &Model,
    links: Option<&Links>,
    views: Vec<ViewArgument<'py>>,
    folds: Option<usize>,
    times: usize,
    averaging: &str,
    new: Option<(usize, PyRef<'py, Vectors>)>,
    links_of_new: Option<Vec<(u32, u32, f64)>>,
    device: &str,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
) -> PyResult<SmoothedRows<'py>> {
    let averaging: Averaging = averaging
        .parse()
        .map_err(|accepted: String| exception(Error::argument("averaging", accepted, averaging)))?;
    let means = Means::new(links, views);
    let new = new.map(|(view, vectors)| (view, Features::new(vectors.matrix.clone())));
    let links_of_new = links_of_new.map(new_links);
    let n = new.as_ref().map(|(_, new)| new.matrix().n_rows());
    let n = n.unwrap_or(model.fitted.n_nodes());
    let every_step = None;
    let (found, gate) = run(py, threads, &Listeners { show, every_step }, |monitor| {
        let data = means.data(model)?;
        let judges = match folds {
            Some(folds) => {
                check_judges(model, &data)?;
                Judges::Folds(folds)
            }
            None => Judges::Model,
        };
        let new = new.as_ref().map(|(view, vectors)| NewNodes {
            view: *view,
            vectors,
            links: links_of_new.as_deref(),
        });
        let smoothing = Smoothing {
            judges,
            times,
            averaging,
        };
        let device = work::device(device, model.fitted.n_nodes())?;
        let runtime = Runtime::watched_by(monitor).on(device.backend());
        smooth(&model.fitted, &data, smoothing, new, runtime)
    })?;
    let embeddings = rows(py, found.embeddings, n, model.fitted.dim())?;
    let share = gate.and_then(|gate| gate.share());
    Ok((embeddings, found.averaged, share, found.as_encoded))
}

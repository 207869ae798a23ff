//! Fits that believe each link as far as it deserves.

use std::path::PathBuf;

use linkproof::io::robust_json;
use linkproof::robust::{Recipe, fit_model};
use linkproof::text;
use pyo3::prelude::*;
use serde_json::{Map, json};

use crate::afar::{self, Afar, handed_out};
use crate::data::Data;
use crate::judged::{Evidence, Places, Verified};
use crate::kept::Surroundings;
use crate::model::{Model, name_of, reader, versions};
use crate::settings::params;
use crate::work::{Listeners, run};

/// Fits by the whole recipe, at the ridge of the settings if they have one.
#[pyfunction]
#[pyo3(
    name = "fit_robust",
    signature = (data, settings, *, device, threads, show, checkpoint, resume, evidence=None, checked=Vec::new(), hands=None)
)]
#[allow(clippy::too_many_arguments)] // by name, all of them
pub fn fit_by_recipe(
    py: Python<'_>,
    data: &Data,
    settings: &str,
    device: &str,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
    checkpoint: Option<PathBuf>,
    resume: bool,
    evidence: Option<Evidence>,
    checked: Verified,
    hands: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let params = params(settings)?;
    let every_step = None;
    let attributes = data.attributes.clone();
    let data = &data.dataset;
    let listeners = Listeners { show, every_step };
    let afar = hands.map(Afar::new).transpose()?;
    let afar = afar.as_ref();
    run(py, threads, &listeners, |monitor| {
        let mut recipe = Recipe::default();
        let places = Places::of_data(data);
        recipe.judge.columns = evidence.map_or_else(Vec::new, |it| places.evidence(&it));
        recipe.judge.checks = places.verified(&checked)?;
        let (around, more) = (Surroundings::of(data)?, format!("{recipe:?}"));
        let (kept, what) = ((checkpoint, resume), ("fit --robust", more.as_str()));
        let around = around.kept_in(kept, what, params.given(), data)?;
        let device = afar::device(device, data.n_nodes(), afar)?;
        let runtime = around.runtime(monitor).on(device.backend());
        let runtime = handed_out(runtime, afar);
        let found = fit_model(&params, data, &recipe, runtime)?;
        around.finish();
        let name = |row| name_of(&found.model, row);
        let verdict = text::robust(&found.summary.facts, &reader(&name));
        let record = [
            ("versions".to_owned(), versions()?),
            ("verdict".to_owned(), json!(verdict)),
            ("robust".to_owned(), robust_json(&found.summary)),
        ];
        Ok(Model {
            fitted: found.model.with_attributes(attributes)?,
            record: Map::from_iter(record),
        })
    })
}

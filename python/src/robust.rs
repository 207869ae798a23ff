//! Fits that believe each link as far as it deserves.

use linkproof::io::robust_json;
use linkproof::robust::{Recipe, fit_model};
use linkproof::text;
use pyo3::prelude::*;
use serde_json::{Map, json};

use crate::context::{Context, Work};
use crate::data::Data;
use crate::errors::exception;
use crate::judged::{JudgeRequest, Places};
use crate::model::{Model, name_of, reader, versions};
use crate::settings::params;

/// Fits by the whole recipe, at the ridge of the settings if they have one.
#[pyfunction]
#[pyo3(name = "fit_robust")]
pub fn fit_by_recipe(
    py: Python<'_>,
    data: &Data,
    settings: &str,
    request: JudgeRequest,
    context: &Context,
) -> PyResult<Model> {
    let params = params(settings)?;
    let attributes = data.attributes.clone();
    let data = &data.dataset;
    let mut recipe = Recipe::default();
    let spec = request.spec(&Places::of_data(data)).map_err(exception)?;
    (recipe.judge.columns, recipe.judge.checks) = (spec.columns, spec.checks);
    let more = format!("{recipe:?}");
    let work = Work {
        name: "fit --robust",
        params: params.given(),
        more: &more,
    };
    context.fit(py, data, Some(work), |runtime, _| {
        let found = fit_model(&params, data, &recipe, runtime)?;
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

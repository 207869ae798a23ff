//! The choice of settings without labels.

use linkproof::params::ScoreKind;
use linkproof::select::{SearchOptions, select};
use linkproof::text::{Style, selection_json};
use pyo3::prelude::*;
use serde_json::json;

use crate::context::Context;
use crate::data::Data;
use crate::errors::exception;
use crate::settings::{named, unchecked};

/// Chooses among candidates; everything that was found, as JSON. Settings that are `given`
/// are kept.
#[pyfunction]
#[pyo3(name = "select")]
pub fn select_settings(
    py: Python<'_>,
    data: &Data,
    settings: &str,
    search: &str,
    given: Vec<String>,
    context: &Context,
) -> PyResult<String> {
    let base = unchecked(settings)?;
    base.clone().check().map_err(exception)?;
    let options: SearchOptions = named(search, accepted)?;
    let search = options.search(&base, |name| given.iter().any(|other| other == name));
    context.fit(py, &data.dataset, None, |runtime, _| {
        let found = select(&base, &data.dataset, &search, runtime)?;
        let mut json = selection_json(&found, Style::Python);
        json["chosen_settings"] = json!(found.params(&base));
        Ok(json.to_string())
    })
}

/// What an option of a search accepts.
fn accepted(name: &str, expected: String) -> String {
    match name {
        "scores" => {
            let names: Vec<&str> = ScoreKind::ALL.iter().map(|score| score.name()).collect();
            format!("a list of names among {}", names.join(", "))
        }
        "betas" | "ridges" => "a list of numbers".to_owned(),
        "dims" | "walk_lengths" | "step_limits" => "a list of whole numbers".to_owned(),
        _ => expected,
    }
}

//! The choice of settings without labels.

use linkproof::params::ScoreKind;
use linkproof::select::{SearchOptions, select};
use linkproof::text::{Style, selection_json};
use pyo3::prelude::*;
use serde_json::json;

use crate::afar::{self, Afar, handed_out};
use crate::data::Data;
use crate::errors::exception;
use crate::kept::Surroundings;
use crate::settings::{named, unchecked};
use crate::work::{Listeners, run};

/// Chooses among candidates; everything that was found, as JSON. Settings that are `given`
/// are kept.
#[pyfunction]
#[pyo3(name = "select", signature = (data, settings, search, given, *, device, threads, show, hands=None))]
#[allow(clippy::too_many_arguments)] // by name, all of them
pub fn select_settings(
    py: Python<'_>,
    data: &Data,
    settings: &str,
    search: &str,
    given: Vec<String>,
    device: &str,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
    hands: Option<Py<PyAny>>,
) -> PyResult<String> {
    let base = unchecked(settings)?;
    base.clone().check().map_err(exception)?;
    let options: SearchOptions = named(search, accepted)?;
    let search = options.search(&base, |name| given.iter().any(|other| other == name));
    let every_step = None;
    let listeners = Listeners { show, every_step };
    let afar = hands.map(Afar::new).transpose()?;
    let afar = afar.as_ref();
    run(py, threads, &listeners, |monitor| {
        let around = Surroundings::of(&data.dataset)?;
        let device = afar::device(device, data.dataset.n_nodes(), afar)?;
        let runtime = around.runtime(monitor).on(device.backend());
        let runtime = handed_out(runtime, afar);
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

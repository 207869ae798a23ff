//! The choice of settings without labels.

use linkproof::model::folds::HoldOut;
use linkproof::params::ScoreKind;
use linkproof::select::{Grid, Search, select};
use linkproof::text::{Style, selection_json};
use linkproof::{Error, Params};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::afar::{self, Afar, handed_out};
use crate::data::Data;
use crate::errors::exception;
use crate::kept::Surroundings;
use crate::settings::unchecked;
use crate::work::{Listeners, run};

/// Chooses among candidates; everything that was found, as JSON.
#[pyfunction]
#[pyo3(name = "select", signature = (data, settings, search, *, device, threads, show, hands=None))]
#[allow(clippy::too_many_arguments)] // by name, all of them
pub fn select_settings(
    py: Python<'_>,
    data: &Data,
    settings: &str,
    search: &str,
    device: &str,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
    hands: Option<Py<PyAny>>,
) -> PyResult<String> {
    let base = unchecked(settings)?;
    base.clone().check().map_err(exception)?;
    let wanted: Map<String, Value> = serde_json::from_str(search)
        .map_err(|error| PyValueError::new_err(format!("search: {error}")))?;
    let search = search_for(&base, &wanted).map_err(exception)?;
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

/// The default search with what is wanted otherwise.
fn search_for(base: &Params, wanted: &Map<String, Value>) -> linkproof::Result<Search> {
    let default = Search::around(base);
    let grid = default.grid;
    let reals = |name, default| list(wanted, name, default, "numbers", Value::as_f64);
    let counts = |name, default| {
        let count = |value: &Value| value.as_u64().map(|count| count as usize);
        list(wanted, name, default, "whole numbers", count)
    };
    let score = |value: &Value| value.as_str()?.parse::<ScoreKind>().ok();
    let names: Vec<&str> = ScoreKind::ALL.iter().map(|score| score.name()).collect();
    let scores = format!("names among {}", names.join(", "));
    let criterion = match wanted.get("criterion").and_then(Value::as_str) {
        None => default.criterion,
        Some(text) => text
            .parse()
            .map_err(|error: String| refused("criterion", &error, &json!(text)))?,
    };
    let flag = |name: &str| wanted.get(name).and_then(Value::as_bool).unwrap_or(false);
    Ok(Search {
        grid: Grid {
            scores: list(wanted, "scores", grid.scores, &scores, score)?,
            betas: reals("betas", grid.betas)?,
            ridges: reals("ridges", grid.ridges)?,
            dims: counts("dims", grid.dims)?,
            walks: counts("walk_lengths", grid.walks)?,
            steps: counts("step_limits", grid.steps)?,
        },
        folds: match wanted.get("folds") {
            None => default.folds,
            Some(folds) => folds
                .as_u64()
                .ok_or_else(|| refused("folds", "2 to 100", folds))?
                as usize,
        },
        hold_out: match wanted.get("hold_out").and_then(Value::as_str) {
            None => HoldOut::default(),
            Some(text) => text
                .parse()
                .map_err(|_| refused("hold-out", "pairs or nodes", &json!(text)))?,
        },
        criterion,
        halving: !flag("exhaustive"),
        one_standard_error: flag("one_standard_error"),
        weights: flag("keep_weights").then_some(base.weights),
        try_offsets: !flag("keep_offsets"),
        try_signed: !flag("keep_similarity"),
    })
}

fn list<T>(
    wanted: &Map<String, Value>,
    name: &'static str,
    default: Vec<T>,
    accepted: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> linkproof::Result<Vec<T>> {
    let Some(given) = wanted.get(name) else {
        return Ok(default);
    };
    let values = given.as_array().map(Vec::as_slice).unwrap_or_default();
    let values: Option<Vec<T>> = values.iter().map(read).collect();
    let values = values.filter(|values| !values.is_empty());
    values.ok_or_else(|| refused(name, &format!("a list of {accepted}"), given))
}

fn refused(name: &'static str, accepted: &str, given: &Value) -> Error {
    Error::argument(name, accepted, given)
}

//! Settings of a fit, from the JSON object that Python writes.

use linkproof::{CheckedParams, Params};
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use serde_json::{Map, Value, json};

use crate::errors::exception;

/// Checked settings. A value that is none of its setting's is named.
pub fn params(settings: &str) -> PyResult<CheckedParams> {
    unchecked(settings)?.check().map_err(exception)
}

/// Settings whose names and kinds are right.
pub fn unchecked(settings: &str) -> PyResult<Params> {
    let all: Map<String, Value> = serde_json::from_str(settings)
        .map_err(|error| PyValueError::new_err(format!("settings: {error}")))?;
    for (name, value) in &all {
        let mut one = Map::new();
        one.insert(name.clone(), value.clone());
        if let Err(error) = serde_json::from_value::<Params>(one.into()) {
            let name = name.replace('-', "_");
            let message = format!("{name}: given was {value}; {}", plain(&error.to_string()));
            return Err(PyValueError::new_err(message));
        }
    }
    serde_json::from_value(all.into()).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// What serde says, without its marks.
fn plain(message: &str) -> String {
    let message = message.replace('`', "'");
    match message.split_once(", expected ") {
        Some((_, expected)) => format!("accepted is {expected}"),
        None => message,
    }
}

/// Every setting with its default, as JSON.
pub fn defaults() -> String {
    json!(Params::default()).to_string()
}

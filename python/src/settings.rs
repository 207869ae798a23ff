//! Settings and options, from the JSON objects that Python writes.

use linkproof::error::Style;
use linkproof::{CheckedParams, Params};
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::errors::exception;

/// Checked settings. A value that is none of its setting's is named.
pub fn params(settings: &str) -> PyResult<CheckedParams> {
    unchecked(settings)?.check().map_err(exception)
}

/// Settings whose names and kinds are right.
pub fn unchecked(settings: &str) -> PyResult<Params> {
    let optional = json!(Params::default());
    named(settings, |name, expected| {
        let accepted = Params::accepted(name).unwrap_or(expected);
        let or_none = if optional[name].is_null() {
            ", or None"
        } else {
            ""
        };
        accepted + or_none
    })
}

/// Options by their names. A value that is none of its option's is named, with what
/// `accepted` makes of the name and of what was expected.
pub fn named<T: DeserializeOwned>(
    options: &str,
    accepted: impl Fn(&str, String) -> String,
) -> PyResult<T> {
    let unreadable = |error| PyValueError::new_err(format!("settings: {error}"));
    let mut all: Map<String, Value> = serde_json::from_str(options).map_err(unreadable)?;
    for (name, value) in &mut all {
        let read = |value: &Value| {
            let one = Map::from_iter([(name.clone(), value.clone())]);
            serde_json::from_value::<T>(one.into())
        };
        let Err(error) = read(value) else {
            continue;
        };
        // Python's None is a choice of some settings.
        if value.is_null() && read(&json!("none")).is_ok() {
            *value = json!("none");
            continue;
        }
        let error = error.to_string();
        let expected = error.rsplit_once("expected ").map_or(&*error, |it| it.1);
        let accepted = accepted(name, expected.replace("a boolean", "true or false"));
        let (name, given) = (Style::Python.name(name), shown(value));
        let words = format!("{name} must be {accepted}, but is {given}");
        return Err(PyValueError::new_err(words));
    }
    serde_json::from_value(all.into()).map_err(unreadable)
}

/// A value as Python writes it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => linkproof::error::quote(text),
        other => other.to_string(),
    }
}

/// Every setting with its default, as JSON.
pub fn defaults() -> String {
    json!(Params::default()).to_string()
}

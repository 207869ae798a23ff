//! Settings of a fit, from the JSON object that Python writes.

use linkproof::params::{Kind, Param};
use linkproof::{CheckedParams, Error, Params};
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
    let unreadable = |error| PyValueError::new_err(format!("settings: {error}"));
    let mut all: Map<String, Value> = serde_json::from_str(settings).map_err(unreadable)?;
    for &param in Param::ALL {
        let (name, setting) = (param.name(), param.setting());
        let Some(value) = all.get_mut(name) else {
            continue;
        };
        if value.is_null() && matches!(setting.kind, Kind::Choice(names) if names.contains(&"none"))
        {
            *value = json!("none");
        }
        let one = Map::from_iter([(name.to_owned(), value.clone())]);
        if serde_json::from_value::<Params>(one.into()).is_err() {
            let or_none = if setting.optional { ", or None" } else { "" };
            let accepted = setting.accepted() + or_none;
            return Err(exception(Error::param(param, accepted, shown(value))));
        }
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

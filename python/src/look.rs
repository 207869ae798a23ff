//! A look at data before a fit.

use linkproof::inspect::{advise, inspect};
use pyo3::prelude::*;
use serde_json::json;

use crate::data::Data;
use crate::errors::Keywords;
use crate::settings::params;
use crate::work::{Listeners, run};

/// What there is to know before a fit, as JSON.
#[pyfunction]
#[pyo3(name = "inspect", signature = (data, settings, *, threads))]
pub fn inspect_data(
    py: Python<'_>,
    data: &Data,
    settings: &str,
    threads: Option<usize>,
) -> PyResult<String> {
    let params = params(settings)?;
    let data = &data.dataset;
    let (show, every_step) = (None, None);
    run(py, threads, &Listeners { show, every_step }, |_| {
        let report = inspect(data, &params)?;
        let mut json = json!(report);
        json["advice"] = json!(advise(&report, &Keywords));
        Ok(json.to_string())
    })
}

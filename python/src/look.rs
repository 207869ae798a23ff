//! A look at data before a fit.

use linkproof::inspect::inspect;
use linkproof::text::{Style, inspection_json};
use pyo3::prelude::*;

use crate::context::Context;
use crate::data::Data;
use crate::settings::params;

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
    Context::on(threads).run(py, |_| {
        let report = inspect(data, &params)?;
        Ok(inspection_json(&report, Style::Python).to_string())
    })
}

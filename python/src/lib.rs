//! `linkproof._core`: the library for the Python package, which wraps all of it.

mod afar;
mod arrays;
mod buckets;
mod check;
mod context;
mod data;
mod errors;
mod judge;
mod judged;
mod kept;
mod look;
mod model;
mod numbers;
mod page;
mod robust;
mod search;
mod settings;
mod surety;
mod update;
mod work;
mod worker;

use linkproof::error::Style;
use pyo3::prelude::*;

/// Every setting with its default, as JSON.
#[pyfunction]
fn default_settings() -> String {
    settings::defaults()
}

/// The settings that a robust fit makes itself, and why.
#[pyfunction]
fn robust_settings() -> Vec<(String, &'static str)> {
    let own = linkproof::robust::OWN_SETTINGS.into_iter();
    own.map(|(name, why)| (Style::Python.name(name), why))
        .collect()
}

/// The compiled half of linkproof. Private: use the package.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("FitError", module.py().get_type::<errors::FitError>())?;
    module.add_class::<data::Links>()?;
    module.add_class::<data::Vectors>()?;
    module.add_class::<data::Data>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<worker::PairWorker>()?;
    module.add_class::<check::Check>()?;
    module.add_class::<context::Context>()?;
    module.add_class::<kept::KeptWork>()?;
    module.add_class::<buckets::BucketWorker>()?;
    module.add_function(wrap_pyfunction!(default_settings, module)?)?;
    module.add_function(wrap_pyfunction!(robust_settings, module)?)?;
    module.add_function(wrap_pyfunction!(look::inspect_data, module)?)?;
    module.add_function(wrap_pyfunction!(search::select_settings, module)?)?;
    module.add_function(wrap_pyfunction!(judge::audit_links, module)?)?;
    module.add_function(wrap_pyfunction!(judge::missing_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(robust::fit_by_recipe, module)?)?;
    module.add_function(wrap_pyfunction!(update::update_model, module)?)?;
    module.add_function(wrap_pyfunction!(page::export, module)?)?;
    module.add_function(wrap_pyfunction!(page::write_page, module)?)?;
    module.add_function(wrap_pyfunction!(worker::solve_task, module)?)?;
    module.add_function(wrap_pyfunction!(surety::bootstrap, module)?)?;
    module.add_function(wrap_pyfunction!(surety::spread, module)?)?;
    module.add_function(wrap_pyfunction!(surety::stability, module)?)?;
    module.add_function(wrap_pyfunction!(surety::together, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::objective, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::compare_labels, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::compare_scores, module)?)?;
    module.add_function(wrap_pyfunction!(numbers::kmeans, module)?)?;
    Ok(())
}

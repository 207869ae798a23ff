//! A model as one page, and as a graph that other programs read.

use std::io::Write;
use std::path::PathBuf;

use linkproof::Error;
use linkproof::data::ids::Names;
use linkproof::io::{self, Files, GraphFormat, ModelGraph, fit_json, write_graph};
use linkproof::model::Classes;
use linkproof_pictures::layout::{self, Layout, Method};
use linkproof_pictures::report::Page;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::context::Context;
use crate::errors::{choice, exception};
use crate::model::{Model, text};
use crate::work::WorkMonitor;

/// How nodes are laid out, by its name.
fn method(layout: Option<&str>) -> PyResult<Option<Method>> {
    match layout {
        None | Some("auto") => Ok(None),
        Some("pca") => Ok(Some(Method::Principal)),
        Some("neighbors") => Ok(Some(Method::Neighbors)),
        Some(other) => {
            let accepted = "'auto', 'pca' or 'neighbors'";
            let error = Error::argument("layout", accepted, format!("'{other}'"));
            Err(exception(error))
        }
    }
}

/// Rows of vectors in two dimensions.
fn laid_out(
    y: &[f32],
    dim: usize,
    method: Option<Method>,
    seed: u64,
    monitor: &WorkMonitor,
) -> linkproof::Result<Layout> {
    layout::layout(y, y.len() / dim, dim, method, seed, &mut |done, all| {
        monitor.fits(done, all);
        monitor.goes_on()
    })
}

/// Writes a model as one page. Labels are one for each node, or none.
#[pyfunction]
pub fn write_page(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    title: &str,
    labels: Option<Vec<Option<String>>>,
    layout: Option<&str>,
    context: &Context,
) -> PyResult<()> {
    let method = method(layout)?;
    let classes = labels.map(classes);
    let fitted = &model.fitted;
    context.run(py, |monitor| {
        Files::default().writes([&path]).check()?;
        let (y, dim, seed) = (fitted.recommended(), fitted.dim(), fitted.params().seed);
        let layout = laid_out(y, dim, method, seed, monitor)?;
        let record = match fit_json(fitted, &model.record)? {
            Value::Object(record) => record,
            _ => Map::new(),
        };
        let page = Page {
            title,
            model: fitted,
            links: fitted.links(),
            record: &record,
            command_line: None,
            classes: classes.as_ref(),
            layout: &layout,
            goes_on: &|| monitor.goes_on(),
        };
        let html = page.html()?;
        io::write_file(&path, |file| file.write_all(html.as_bytes()))
    })
}

/// Writes a model as a graph, and says how many characters XML had no place for.
#[pyfunction]
#[pyo3(signature = (model, path, context, *, format, embeddings, layout))]
pub fn export(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    context: &Context,
    format: &str,
    embeddings: bool,
    layout: Option<&str>,
) -> PyResult<usize> {
    let format = choice("format", format, GraphFormat::ALL)?;
    let method = method(layout)?;
    let model = &model.fitted;
    context.run(py, |monitor| {
        Files::default().writes([&path]).check()?;
        let (y, width) = model.by_node(model.recommended(), model.dim());
        let layout = laid_out(&y, width, method, model.params().seed, monitor)?;
        let graph = ModelGraph {
            model,
            points: &layout.points,
            embeddings,
        };
        write_graph(&path, format, &graph)
    })
}

/// Labels as classes, in the order of their first appearance.
fn classes(labels: Vec<Option<String>>) -> Classes {
    let mut names = Names::default();
    let codes = labels
        .iter()
        .map(|label| label.as_ref().map(|label| names.insert(label)));
    let codes = codes.collect();
    Classes {
        names: text(&names),
        titles: Vec::new(),
        codes,
    }
}

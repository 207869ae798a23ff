//! Models brought up to date.

use linkproof::data::ids::{Ids, Names};
use linkproof::text::update_json;
use linkproof::update::{Changes, update};
use linkproof::{Features, Runtime};
use pyo3::prelude::*;

use crate::context::Context;
use crate::data::{Columns, Links, Vectors, attributes};
use crate::errors::exception;
use crate::model::Model;

/// Data vectors: the place of their view, the ids of their nodes, and the vectors.
type Given<'py> = (usize, Vec<String>, PyRef<'py, Vectors>);

/// Brings a model up to date with new links, links withdrawn and data vectors.
#[pyfunction]
#[pyo3(
    name = "update",
    signature = (model, links, withdrawn, vectors, named, context)
)]
pub fn update_model(
    py: Python<'_>,
    model: &Model,
    links: Option<&Links>,
    withdrawn: Option<&Links>,
    vectors: Vec<Given<'_>>,
    named: (Vec<String>, Columns),
    context: &Context,
) -> PyResult<Model> {
    let vectors: Result<Vec<_>, _> = vectors
        .into_iter()
        .map(|(view, ids, vectors)| {
            let mut names = Names::default();
            ids.iter().for_each(|id| {
                names.insert(id);
            });
            let found = Features::with_ids(Ids::from(names), vectors.matrix.clone());
            found.map(|features| (view, features))
        })
        .collect();
    let changes = Changes {
        links: links.map(|links| &links.graph),
        withdrawn: withdrawn.map(|links| &links.graph),
        vectors: vectors.map_err(exception)?,
    };
    let (named, columns) = named;
    let columns = attributes(columns, None).map_err(exception)?;
    let (fitted, record) = (&model.fitted, &model.record);
    context.run(py, |monitor| {
        let found = update(fitted, &changes, Runtime::watched_by(monitor))?;
        let mut record = record.clone();
        record.insert("update".to_owned(), update_json(&found.report));
        let known = found.model.attributes().cloned().unwrap_or_default();
        let mut places = Names::default();
        named.iter().for_each(|id| {
            places.insert(id);
        });
        let ids = found.model.node_ids();
        let place = |row: usize| places.row(&ids.name(row)).map(|row| row as usize);
        let all = known.joined(ids.len(), &columns, place);
        Ok(Model {
            fitted: found.model.with_attributes(Some(all))?,
            record,
        })
    })
}

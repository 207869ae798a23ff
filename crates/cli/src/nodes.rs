//! Nodes of a model as people know them.

use linkproof::{Error, Fitted};

/// The model with nodes named by another column of its table, if one is asked for.
pub fn named_by(model: Fitted, column: Option<&str>) -> Result<Fitted, Error> {
    let Some(column) = column else {
        return Ok(model);
    };
    let known = model.attributes().cloned().unwrap_or_default();
    model.with_attributes(Some(known.shown_by(column)?))
}

/// A node for people: its name and its id, or its id alone.
pub fn called(model: &Fitted, row: usize) -> String {
    let id = model.ids().name(row);
    match model.title(row) {
        Some(name) => format!("{name} ({id})"),
        None => id.into_owned(),
    }
}

//! GraphML: <http://graphml.graphdrawing.org>.

use std::io::{self, Write};

use super::xml::Escaped;
use super::{Column, Content, Kind, Value};
use crate::write::Number;

pub(super) fn write(file: &mut impl Write, content: &Content<'_>) -> io::Result<()> {
    writeln!(file, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        file,
        r#"<graphml xmlns="http://graphml.graphdrawing.org/xmlns">"#
    )?;
    key(file, "label", "node", "label", Kind::Text)?;
    key(file, "weight", "edge", "weight", Kind::Real)?;
    for (of, columns) in [("node", &content.nodes), ("edge", &content.links)] {
        for (place, column) in columns.iter().enumerate() {
            key(file, &format!("{of}{place}"), of, &column.name, column.kind)?;
        }
    }
    let directed = if content.directed {
        "directed"
    } else {
        "undirected"
    };
    writeln!(file, r#"<graph edgedefault="{directed}">"#)?;
    for (row, id) in content.keys.iter().enumerate() {
        write!(file, r#"<node id="{}">"#, Escaped(id))?;
        data(file, "label", &Value::Text((&*content.labels[row]).into()))?;
        all_data(file, "node", &content.nodes, row)?;
        writeln!(file, "</node>")?;
    }
    for (link, ends) in content.ends.iter().enumerate() {
        let [source, target] = ends.map(|row| Escaped(&content.keys[row]));
        write!(file, r#"<edge source="{source}" target="{target}">"#)?;
        data(file, "weight", &Value::Real(content.weights[link]))?;
        all_data(file, "edge", &content.links, link)?;
        writeln!(file, "</edge>")?;
    }
    writeln!(file, "</graph>\n</graphml>")
}

fn key(file: &mut impl Write, id: &str, of: &str, name: &str, kind: Kind) -> io::Result<()> {
    let kind = match kind {
        Kind::Text => "string",
        Kind::Whole => "long",
        Kind::Real => "double",
    };
    let name = Escaped(name);
    writeln!(
        file,
        r#"<key id="{id}" for="{of}" attr.name="{name}" attr.type="{kind}"/>"#
    )
}

fn all_data(file: &mut impl Write, of: &str, columns: &[Column<'_>], row: usize) -> io::Result<()> {
    for (place, column) in columns.iter().enumerate() {
        if let Some(value) = (column.of)(row) {
            data(file, &format!("{of}{place}"), &value)?;
        }
    }
    Ok(())
}

fn data(file: &mut impl Write, key: &str, value: &Value<'_>) -> io::Result<()> {
    write!(file, r#"<data key="{key}">"#)?;
    match value {
        Value::Text(text) => write!(file, "{}", Escaped(text))?,
        Value::Whole(number) => write!(file, "{number}")?,
        Value::Real(number) => write!(file, "{}", Number(*number))?,
    }
    write!(file, "</data>")
}

//! JSON with a list of nodes and one of links, as NetworkX's node-link format has it.

use std::io::{self, Write};

use serde_json::{Map, json};

use super::{Column, Content, Value};

pub(super) fn write(file: &mut impl Write, content: &Content<'_>) -> io::Result<()> {
    let directed = content.directed;
    write!(
        file,
        r#"{{"directed": {directed}, "multigraph": false, "graph": {{}}, "nodes": ["#
    )?;
    for (row, id) in content.keys.iter().enumerate() {
        let mut node = Map::new();
        node.insert("id".to_owned(), json!(id));
        node.insert("label".to_owned(), json!(content.labels[row]));
        fill(&mut node, &content.nodes, row);
        entry(file, row, &node)?;
    }
    write!(file, "\n], \"edges\": [")?;
    for (link, ends) in content.ends.iter().enumerate() {
        let mut edge = Map::new();
        let [source, target] = ends.map(|row| json!(content.keys[row]));
        edge.insert("source".to_owned(), source);
        edge.insert("target".to_owned(), target);
        edge.insert("weight".to_owned(), json!(content.weights[link]));
        fill(&mut edge, &content.links, link);
        entry(file, link, &edge)?;
    }
    writeln!(file, "\n]}}")
}

fn fill(map: &mut Map<String, serde_json::Value>, columns: &[Column<'_>], row: usize) {
    for column in columns {
        let value = match (column.of)(row) {
            Some(Value::Text(text)) => json!(text),
            Some(Value::Whole(number)) => json!(number),
            Some(Value::Real(number)) => json!(number),
            None => continue,
        };
        map.insert(column.name.clone(), value);
    }
}

fn entry(
    file: &mut impl Write,
    place: usize,
    entry: &Map<String, serde_json::Value>,
) -> io::Result<()> {
    file.write_all(if place > 0 { b",\n" } else { b"\n" })?;
    serde_json::to_writer(file, entry).map_err(io::Error::from)
}

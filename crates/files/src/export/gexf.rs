//! GEXF 1.2: <https://gexf.net>.

use std::io::{self, Write};

use super::xml::Escaped;
use super::{Column, Content, Kind, Value};
use crate::write::Number;

pub(super) fn write(file: &mut impl Write, content: &Content<'_>) -> io::Result<()> {
    writeln!(file, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        file,
        r#"<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">"#
    )?;
    let directed = if content.directed {
        "directed"
    } else {
        "undirected"
    };
    writeln!(
        file,
        r#"<graph defaultedgetype="{directed}" mode="static">"#
    )?;
    attributes(file, "node", &content.nodes)?;
    attributes(file, "edge", &content.links)?;
    writeln!(file, "<nodes>")?;
    for (row, id) in content.keys.iter().enumerate() {
        let (id, label) = (Escaped(id), Escaped(&content.labels[row]));
        write!(file, r#"<node id="{id}" label="{label}">"#)?;
        values(file, &content.nodes, row)?;
        let [x, y] = content.points[row].map(Number);
        writeln!(file, r#"<viz:position x="{x}" y="{y}" z="0"/></node>"#)?;
    }
    writeln!(file, "</nodes>\n<edges>")?;
    for (link, ends) in content.ends.iter().enumerate() {
        let [source, target] = ends.map(|row| Escaped(&content.keys[row]));
        let weight = Number(content.weights[link]);
        write!(
            file,
            r#"<edge id="{link}" source="{source}" target="{target}" weight="{weight}">"#
        )?;
        values(file, &content.links, link)?;
        writeln!(file, "</edge>")?;
    }
    writeln!(file, "</edges>\n</graph>\n</gexf>")
}

fn attributes(file: &mut impl Write, class: &str, columns: &[Column<'_>]) -> io::Result<()> {
    writeln!(file, r#"<attributes class="{class}" mode="static">"#)?;
    for (place, column) in columns.iter().enumerate() {
        let kind = match column.kind {
            Kind::Text => "string",
            Kind::Whole => "long",
            Kind::Real => "double",
        };
        let title = Escaped(&column.name);
        writeln!(
            file,
            r#"<attribute id="{place}" title="{title}" type="{kind}"/>"#
        )?;
    }
    writeln!(file, "</attributes>")
}

fn values(file: &mut impl Write, columns: &[Column<'_>], row: usize) -> io::Result<()> {
    write!(file, "<attvalues>")?;
    for (place, column) in columns.iter().enumerate() {
        let Some(value) = (column.of)(row) else {
            continue;
        };
        write!(file, r#"<attvalue for="{place}" value=""#)?;
        match value {
            Value::Text(text) => write!(file, "{}", Escaped(&text))?,
            Value::Whole(number) => write!(file, "{number}")?,
            Value::Real(number) => write!(file, "{}", Number(number))?,
        }
        write!(file, r#""/>"#)?;
    }
    write!(file, "</attvalues>")
}

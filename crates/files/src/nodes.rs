//! Node tables: ids in row order, with the view and the row of their data, and whatever
//! else a table says of nodes.

use std::path::Path;

use super::features::repeated_id;
use super::source::Source;
use super::text::{BLOCK, Blocks};
use linkproof_method::data::attributes::{Attributes, Texts};
use linkproof_method::data::ids::{Ids, Names, row_number};
use linkproof_method::error::{Error, Result, quote};

/// The nodes of a data set, in order.
#[derive(Debug, Clone)]
pub struct NodeTable {
    ids: Ids,
    views: Option<Vec<String>>,
    rows: Option<Vec<u32>>,
    attributes: Attributes,
}

impl NodeTable {
    /// The ids.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The view of each node, if the table has them.
    pub fn views(&self) -> Option<&[String]> {
        self.views.as_deref()
    }

    /// The row of each node in the features of its view, if the table has them.
    pub fn rows(&self) -> Option<&[u32]> {
        self.rows.as_deref()
    }

    /// All other columns.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Takes ids, views and rows apart.
    pub fn into_parts(self) -> (Ids, Option<Vec<String>>, Option<Vec<u32>>) {
        (self.ids, self.views, self.rows)
    }
}

/// The lines of a table, whatever their ids.
pub(super) struct NodeLines {
    /// The lines that the ids stand on.
    lines: Vec<u64>,
    pub(super) ids: Texts,
    pub(super) views: Option<Vec<String>>,
    rows: Option<Vec<u32>>,
    pub(super) attributes: Attributes,
}

/// Reads a node table: CSV with a header whose first column is the id, with
/// optional columns `view` and `row`. All columns but the view are kept as texts.
pub fn read_nodes(path: impl AsRef<Path>) -> Result<NodeTable> {
    read_nodes_of(Source::open(path.as_ref())?)
}

/// The same of a file that has been opened.
pub(super) fn read_nodes_of(source: Source) -> Result<NodeTable> {
    let path = &source.path().to_owned();
    let found = read_lines(source)?;
    Ok(NodeTable {
        ids: Ids::from(found.names(path)?),
        views: found.views,
        rows: found.rows,
        attributes: found.attributes,
    })
}

/// Reads a node table for each of several views, and joins them: the nodes of the first
/// come first.
///
/// # Errors
/// An id that stands in two of the tables, and a column `view` that says otherwise.
pub(super) fn read_nodes_of_views(tables: Vec<(String, Source)>) -> Result<NodeTable> {
    let before: Vec<String> = tables.iter().map(|(view, _)| quote(view)).collect();
    let mut names = Names::default();
    let (mut views, mut rows) = (Vec::new(), Vec::new());
    let mut attributes = Attributes::default();
    let mut has_rows = false;
    for (place, (view, source)) in tables.into_iter().enumerate() {
        let path = &source.path().to_owned();
        let table = read_lines(source)?;
        let own = table.names(path)?;
        let others = table.views.iter().flatten();
        if let Some(other) = others.into_iter().find(|other| **other != view) {
            let found = format!("view {}", quote(other));
            let expected = format!(
                "nodes of the view {} alone, or no column 'view'",
                quote(&view)
            );
            return Err(Error::input(path, None, found, expected));
        }
        let first = names.len();
        for (row, id) in table.ids.iter().enumerate() {
            if names.insert(id) as usize != first + row {
                let found = format!("node {}, which another view has too", quote(id));
                let expected = format!(
                    "ids that the views before it ({}) do not have",
                    before[..place].join(", ")
                );
                return Err(Error::input(path, table.lines[row], found, expected));
            }
        }
        views.resize(names.len(), view);
        has_rows |= table.rows.is_some();
        rows.extend(
            table
                .rows
                .unwrap_or_else(|| (0..own.len() as u32).collect()),
        );
        let here = |row: usize| row.checked_sub(first);
        attributes = attributes.joined(names.len(), &table.attributes, here);
    }
    Ok(NodeTable {
        ids: Ids::from(names),
        views: Some(views),
        rows: has_rows.then_some(rows),
        attributes,
    })
}

impl NodeLines {
    /// The ids, of which each must stand once.
    pub(super) fn names(&self, path: &Path) -> Result<Names> {
        let mut names = Names::default();
        for (row, id) in self.ids.iter().enumerate() {
            if names.insert(id) as usize != row {
                return Err(repeated_id(path, self.lines[row], id));
            }
        }
        Ok(names)
    }
}

/// The lines of a node table. Nodes on two sides of links may share ids.
pub(super) fn read_lines(source: Source) -> Result<NodeLines> {
    let path = &source.path().to_owned();
    let mut blocks = Blocks::open(source, BLOCK)?;
    let nothing = || Error::input(path, None, "no nodes", "a header line, then a node a line");
    let (header_line, header) = blocks.first_record()?.ok_or_else(nothing)?;
    let column = |name: &str| {
        let is_named = |field: &String| field.eq_ignore_ascii_case(name);
        header.iter().skip(1).position(is_named).map(|at| at + 1)
    };
    let (view, row) = (column("view"), column("row"));
    let mut ids = Texts::default();
    let mut lines = Vec::new();
    let mut views = Vec::new();
    let mut rows = Vec::new();
    let others = (1..header.len()).filter(|at| Some(*at) != view);
    let mut kept: Vec<(usize, Texts)> = others.map(|at| (at, Texts::default())).collect();
    blocks.visit(|line, fields| {
        let wrong = |found: String, expected: String| Error::input(path, line, found, expected);
        if fields.len() != header.len() {
            let expected = format!("{}, as in the header", header.len());
            return Err(wrong(super::columns(fields.len()), expected));
        }
        if line == header_line {
            return Ok(true);
        }
        let id = &fields[0];
        if id.is_empty() {
            return Err(wrong("an empty node id".to_owned(), "an id".to_owned()));
        }
        ids.push(id);
        lines.push(line);
        if let Some(column) = view {
            if fields[column].is_empty() {
                return Err(wrong("an empty view".to_owned(), "its name".to_owned()));
            }
            views.push(fields[column].to_string());
        }
        if let Some(column) = row {
            let text = &fields[column];
            let expected = || "a row number, counted from 0".to_owned();
            rows.push(
                row_number(text)
                    .ok_or_else(|| wrong(format!("row {}", quote(text)), expected()))?,
            );
        }
        kept.iter_mut()
            .for_each(|(at, texts)| texts.push(&fields[*at]));
        Ok(true)
    })?;
    if ids.is_empty() {
        return Err(nothing());
    }
    let kept = kept
        .into_iter()
        .map(|(at, texts)| (header[at].clone(), texts));
    Ok(NodeLines {
        lines,
        ids,
        views: view.map(|_| views),
        rows: row.map(|_| rows),
        attributes: Attributes::new(kept.collect())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(text: &str) -> Result<NodeTable> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nodes.csv");
        std::fs::write(&path, text).unwrap();
        read_nodes(&path)
    }

    #[test]
    fn columns_are_found_by_name() {
        let table = nodes("x,Row,other,view\nb,1,?,text\na,0,?,image\n").unwrap();
        assert_eq!(table.ids().row("a"), Some(1));
        assert_eq!(table.rows(), Some([1, 0].as_slice()));
        assert_eq!(table.views().unwrap(), ["text", "image"]);
        let table = nodes("view\na\n").unwrap();
        assert_eq!((table.views(), table.rows()), (None, None));
        assert_eq!(table.into_parts().0.len(), 1);
    }

    #[test]
    fn other_columns_are_kept_as_they_are_written() {
        let table = nodes("id,row,Name,view,born\n007,1,\"Lovelace, A.\",p,1815\n7,0,,p, 1791\n");
        let table = table.unwrap();
        assert_eq!(
            (table.ids().row("007"), table.ids().row("7")),
            (Some(0), Some(1))
        );
        let kept = table.attributes();
        assert_eq!(kept.headers().collect::<Vec<_>>(), ["row", "Name", "born"]);
        assert_eq!((kept.name(0), kept.name(1)), (Some("Lovelace, A."), None));
        assert!(nodes("id\na\n").unwrap().attributes().columns().is_empty());
    }

    fn of_views(tables: &[(&str, &str)]) -> Result<NodeTable> {
        let folder = tempfile::tempdir().unwrap();
        let table = |(view, text): &(&str, &str)| {
            let path = folder.path().join(format!("{view}.csv"));
            std::fs::write(&path, text).unwrap();
            ((*view).to_owned(), Source::open(&path).unwrap())
        };
        read_nodes_of_views(tables.iter().map(table).collect())
    }

    #[test]
    fn a_table_for_each_view_becomes_one() {
        let words = ("word", "id,name,row\nw1,tree,1\nw0,sea,0\n");
        let both = [words, ("doc", "id,view,year\nd0,doc,1999\n")];
        let table = of_views(&both).unwrap();
        assert_eq!(table.views().unwrap(), ["word", "word", "doc"]);
        assert_eq!(table.rows(), Some([1, 0, 0].as_slice()));
        assert_eq!(table.ids().row("d0"), Some(2));
        let kept = table.attributes();
        assert_eq!(kept.headers().collect::<Vec<_>>(), ["name", "year"]);
        assert_eq!((kept.name(0), kept.name(2)), (Some("tree"), None));
        assert_eq!(kept.columns()[1].1.get(2), "1999");
    }

    #[test]
    fn tables_of_views_that_clash_are_refused() {
        for (tables, what) in [
            (
                [("a", "id\n1\n2\n"), ("b", "id\n3\n1\n")],
                "line 3: found node '1'",
            ),
            ([("a", "id\n1\n"), ("b", "id,view\n2,c\n")], "view 'c'"),
            ([("a", "id\n1\n1\n"), ("b", "id\n2\n")], "'1' again"),
        ] {
            let error = of_views(&tables).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn wrong_tables_name_their_line() {
        for (text, line, what) in [
            ("", None, "no nodes"),
            ("node\n", None, "no nodes"),
            ("node,view\na,x\na,y\n", Some(3), "'a' again"),
            ("node\na\nb\na\n", Some(4), "'a' again"),
            ("node,view\na\n", Some(2), "1 column"),
            ("node,view\na,\n", Some(2), "empty view"),
            ("node,view\n,x\n", Some(2), "empty node id"),
            ("node,row\na,0\nb,-1\n", Some(3), "row '-1'"),
            ("node,row\na,1.5\n", Some(2), "row '1.5'"),
        ] {
            let Error::Input {
                line: at, found, ..
            } = nodes(text).unwrap_err()
            else {
                panic!("{text}");
            };
            assert_eq!(at, line, "{text}");
            assert!(found.contains(what), "{found}");
        }
    }
}

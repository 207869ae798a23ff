//! Node tables: ids in row order, with the view and the row of their data.

use std::path::Path;

use super::features::repeated_id;
use super::text::{BLOCK, Blocks};
use linkproof_method::data::ids::{Ids, Names, row_number};
use linkproof_method::error::{Error, Result, quote};

/// The nodes of a data set, in order.
#[derive(Debug, Clone)]
pub struct NodeTable {
    ids: Ids,
    views: Option<Vec<String>>,
    rows: Option<Vec<u32>>,
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

    /// Takes ids, views and rows apart.
    pub fn into_parts(self) -> (Ids, Option<Vec<String>>, Option<Vec<u32>>) {
        (self.ids, self.views, self.rows)
    }
}

/// Reads a node table: CSV with a header whose first column is the id, with
/// optional columns `view` and `row`; other columns are passed over.
pub fn read_nodes(path: impl AsRef<Path>) -> Result<NodeTable> {
    let path = path.as_ref();
    let mut blocks = Blocks::open(path, BLOCK)?;
    let nothing = || Error::input(path, None, "no nodes", "a header line, then a node a line");
    let (header_line, header) = blocks.first_record()?.ok_or_else(nothing)?;
    let column = |name: &str| {
        let is_named = |field: &String| field.eq_ignore_ascii_case(name);
        header.iter().skip(1).position(is_named).map(|at| at + 1)
    };
    let (view, row) = (column("view"), column("row"));
    let mut names = Names::default();
    let mut views = Vec::new();
    let mut rows = Vec::new();
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
        let n_before = names.len();
        names.insert(id);
        if names.len() == n_before {
            return Err(repeated_id(path, line, id));
        }
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
        Ok(true)
    })?;
    if names.is_empty() {
        return Err(nothing());
    }
    Ok(NodeTable {
        ids: Ids::Names(names),
        views: view.map(|_| views),
        rows: row.map(|_| rows),
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

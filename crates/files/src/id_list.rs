//! The first column of delimited text, as it is.

use std::path::Path;

use super::record::Delimiter;
use super::source::Source;
use super::text::{BLOCK, Blocks};
use linkproof_method::error::{Error, Result};

/// An id, and the line that it stands on, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedId {
    /// The id.
    pub id: String,
    /// The line.
    pub line: u64,
}

/// Reads the first column of delimited text, plain, `.gz` or `.zst`: ids, one a line.
/// Whether the first one is a header is for those to say who know the nodes.
pub fn read_id_list(path: impl AsRef<Path>) -> Result<Vec<ListedId>> {
    let path = path.as_ref();
    let mut list = Vec::new();
    let blocks = Blocks::open(Source::open(path)?, BLOCK)?;
    let has_columns = blocks.delimiter() != Delimiter::Whitespace;
    blocks.visit(|line, fields| {
        // Ids may have blanks.
        let id = match has_columns {
            true => fields[0].to_string(),
            false => fields.join(" "),
        };
        if id.is_empty() {
            return Err(Error::input(path, line, "an empty node id", "an id"));
        }
        list.push(ListedId { id, line });
        Ok(true)
    })?;
    match list.is_empty() {
        true => Err(Error::input(path, None, "no ids", "an id a line")),
        false => Ok(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_id_list(&path)
        };
        let list = read("node,x\n\"a, b\",1\n\nc,2\n").unwrap();
        let found: Vec<_> = list.iter().map(|it| (it.id.as_str(), it.line)).collect();
        assert_eq!(found, [("node", 1), ("a, b", 2), ("c", 4)]);
        assert_eq!(read("7\n8 b\n").unwrap()[1].id, "8 b");
        for (text, what) in [("", "no ids"), ("a,1\n,2\n", "line 2: found an empty")] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}

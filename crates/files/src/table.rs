//! Tables of results as CSV files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::output::write_file;
use super::write::{Number, write_field};
use linkproof_method::error::Result;

/// One field of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'t> {
    /// Text, such as an id; quoted where it must be.
    Text(&'t str),
    /// A whole number.
    Whole(u64),
    /// A real number, in as few characters as keep its value.
    Real(f64),
    /// Text, or nothing between the commas.
    Optional(Option<&'t str>),
}

/// Takes the rows of a table.
pub struct TableRows<'f> {
    file: &'f mut dyn Write,
}

impl TableRows<'_> {
    /// Writes one row.
    pub fn row(&mut self, fields: &[Field<'_>]) -> io::Result<()> {
        for (place, field) in fields.iter().enumerate() {
            if place > 0 {
                self.file.write_all(b",")?;
            }
            match *field {
                Field::Text(text) => write_field(self.file, text)?,
                Field::Whole(number) => write!(self.file, "{number}")?,
                Field::Real(number) => write!(self.file, "{}", Number(number))?,
                Field::Optional(None) => {}
                Field::Optional(Some(text)) => write_field(self.file, text)?,
            }
        }
        self.file.write_all(b"\n")
    }
}

/// Writes a CSV table with a header, whole or not at all.
pub fn write_table(
    path: impl AsRef<Path>,
    header: &[&str],
    fill: impl FnOnce(&mut TableRows<'_>) -> io::Result<()>,
) -> Result<()> {
    write_file(path, |file: &mut BufWriter<&File>| {
        let mut rows = TableRows { file };
        let names: Vec<Field<'_>> = header.iter().map(|name| Field::Text(name)).collect();
        rows.row(&names)?;
        fill(&mut rows)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_read_back_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        write_table(&path, &["node", "cluster", "mu"], |rows| {
            rows.row(&[Field::Text("a,\"b"), Field::Whole(3), Field::Real(1e-30)])?;
            rows.row(&[Field::Text("c"), Field::Whole(0), Field::Real(0.25)])
        })
        .unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "node,cluster,mu\n\"a,\"\"b\",3,1e-30\nc,0,0.25\n");
    }
}

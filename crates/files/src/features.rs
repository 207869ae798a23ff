//! Data vectors from files of any format.

use std::path::Path;

use super::record::{Block, Records};
use super::source::Source;
use super::text::{BLOCK, Blocks, number};
use super::{columns, mtx, npy};
use linkproof_method::data::features::{Features, Matrix, Values};
use linkproof_method::data::ids::{Ids, Names};
use linkproof_method::error::{Error, Result, quote};

/// Reads data vectors: `.npy` or `.mtx`, whose rows are the nodes `0..n`, or
/// CSV, TSV or Parquet, whose first column is the node id; any of them may be
/// `.gz` or `.zst`.
pub fn read_features(path: impl AsRef<Path>) -> Result<Features> {
    Ok(read_features_of(Source::open(path.as_ref())?)?.0)
}

/// The same of a file that has been opened; and the names of the columns, if the file gives
/// them names: columns that are merely counted have none.
pub(super) fn read_features_of(source: Source) -> Result<(Features, Option<Vec<String>>)> {
    let path = &source.path().to_owned();
    let (features, columns) = match source.extension() {
        "npy" => (Features::new(npy::read_npy_of(source)?), None),
        "mtx" => (Features::new(mtx::read_matrix(source, BLOCK)?), None),
        "parquet" | "pq" => parquet_features(source)?,
        _ => read_text(source, BLOCK)?,
    };
    if features.ids().is_empty() {
        return Err(no_rows(path));
    }
    let names = columns.map(|names| names.into_iter().skip(1).collect::<Vec<_>>());
    let names = names.filter(|names| names.iter().all(|name| number(name).is_none()));
    Ok((features, names))
}

/// Embeddings as read from a file.
#[derive(Debug, Clone)]
pub struct Embeddings {
    /// The node ids, in row order.
    pub ids: Ids,
    /// The number of nodes.
    pub n: usize,
    /// Numbers a node.
    pub k: usize,
    /// The numbers, row after row.
    pub values: Vec<f32>,
}

/// Reads embeddings: `.npy`, or CSV or Parquet with ids in the first column.
pub fn read_embeddings(path: impl AsRef<Path>) -> Result<Embeddings> {
    let path = path.as_ref();
    let (ids, matrix) = read_features(path)?.into_parts();
    let (n, k) = (matrix.n_rows(), matrix.n_columns());
    let Matrix::Dense(dense) = matrix else {
        return Err(Error::input(
            path,
            None,
            "a sparse matrix",
            "embeddings as .npy, CSV or Parquet",
        ));
    };
    let values = match dense.into_values() {
        Values::F32(values) => values.into_vec(),
        Values::F64(values) => values.iter().map(|&x| x as f32).collect(),
    };
    if let Some(place) = values.iter().position(|x| !x.is_finite()) {
        return Err(Error::input(
            path,
            None,
            format!("a number beyond single precision in row {}", place / k),
            "numbers below 3.4e38",
        ));
    }
    Ok(Embeddings { ids, n, k, values })
}

#[cfg(feature = "parquet")]
use super::parquet::read_features as parquet_features;

#[cfg(not(feature = "parquet"))]
fn parquet_features(source: Source) -> Result<(Features, Option<Vec<String>>)> {
    Err(super::no_parquet(source.path()))
}

fn no_rows(path: &Path) -> Error {
    Error::input(
        path,
        None,
        "no data vectors",
        "at least one row: id,number,...",
    )
}

#[derive(Default)]
struct Rows {
    names: Names,
    values: Vec<f64>,
}

/// The rows of a block; ids in one text, with where they end and their lines.
#[derive(Default)]
struct BlockRows {
    text: String,
    ends: Vec<(usize, u64)>,
    values: Vec<f64>,
}

fn read_text(source: Source, size: usize) -> Result<(Features, Option<Vec<String>>)> {
    let path = &source.path().to_owned();
    let mut blocks = Blocks::open(source, size)?;
    let delimiter = blocks.delimiter();
    let (first_line, first) = blocks.first_record()?.ok_or_else(|| no_rows(path))?;
    let n_columns = first.len();
    if n_columns < 2 {
        let expected = format!("an id and numbers between {}", delimiter.words());
        return Err(Error::input(path, first_line, columns(1), expected));
    }
    let header = is_header(&first).then_some(first_line);
    let parse = |_: &Rows, block: &Block| {
        let mut found = BlockRows::default();
        let mut fields = Vec::with_capacity(n_columns);
        let mut records = Records::new(block, path, delimiter)?;
        while let Some(line) = records.next(&mut fields)? {
            if fields.len() != n_columns {
                return Err(Error::input(
                    path,
                    line,
                    columns(fields.len()),
                    format!("{n_columns}, as on the first line"),
                ));
            }
            if header == Some(line) {
                continue;
            }
            if fields[0].is_empty() {
                return Err(Error::input(path, line, "an empty node id", "an id"));
            }
            found.text.push_str(&fields[0]);
            found.ends.push((found.text.len(), line));
            for (column, field) in fields.iter().enumerate().skip(1) {
                let value = number(field).filter(|x| x.is_finite());
                let value = value.ok_or_else(|| bad_number(path, line, column, field))?;
                found.values.push(value);
            }
        }
        Ok(found)
    };
    let mut rows = Rows::default();
    blocks.fold(&mut rows, parse, |rows, found| {
        let mut start = 0;
        for (end, line) in found.ends {
            let id = &found.text[start..end];
            let n_before = rows.names.len();
            rows.names.insert(id);
            if rows.names.len() == n_before {
                return Err(repeated_id(path, line, id));
            }
            start = end;
        }
        rows.values.extend(found.values);
        Ok(())
    })?;
    if rows.names.is_empty() {
        return Err(no_rows(path));
    }
    let matrix = Matrix::dense(rows.names.len(), n_columns - 1, rows.values);
    let matrix = matrix.map_err(|error| error.in_file(path, None))?;
    let features = Features::with_ids(Ids::from(rows.names), matrix)?;
    Ok((features, header.map(|_| first)))
}

/// A first line is a header when a value on it is not a number, when its first field
/// says that ids follow, or when it counts the columns, as data frames without names of
/// columns are written. Below a name for the ids they count from 0, and there are four or
/// more: a short vector may count, too.
fn is_header(first: &[String]) -> bool {
    let counts = |start: usize| {
        let mut fields = first[1..].iter().zip(start..);
        fields.all(|(field, place)| *field == place.to_string())
    };
    let says_id = matches!(
        first[0].to_ascii_lowercase().as_str(),
        "node" | "id" | "node_id" | "nodeid"
    );
    says_id
        || first.len() > 4 && counts(0)
        || first[0].is_empty() && (counts(0) || counts(1))
        || first[1..]
            .iter()
            .any(|field| !field.is_empty() && number(field).is_none())
}

fn bad_number(path: &Path, line: u64, column: usize, field: &str) -> Error {
    let found = match field {
        "" => format!("nothing in column {}", column + 1),
        _ => format!("{} in column {}", quote(field), column + 1),
    };
    Error::input(path, line, found, "a finite number")
}

/// An id that a file lists twice.
pub(super) fn repeated_id(path: &Path, line: impl Into<Option<u64>>, id: &str) -> Error {
    Error::input(
        path,
        line,
        format!("node {} again", quote(id)),
        "each node once",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(name: &str, text: &str) -> Result<Features> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        match name {
            "x.csv" => Ok(read_text(Source::open(&path)?, 9)?.0),
            _ => read_features(&path),
        }
    }

    #[test]
    fn text_with_and_without_header() {
        for (name, text) in [
            ("x.csv", "b,1,2.5\n\"a,1\",-3e0,4\n"),
            ("x.csv", "name,f1,f2\nb,1,2.5\n\"a,1\",-3,4\n"),
            ("x.csv", "node,0,1\nb,1,2.5\n\n\"a,1\", -3 ,4"),
            ("x.tsv", "b\t1\t2.5\r\na,1\t-3\t4\r\n"),
            ("x.txt", "# vectors\nb 1  2.5\n\"a,1\" -3 4\n"),
        ] {
            let found = features(name, text).unwrap();
            assert_eq!(found.ids().row("a,1"), Some(1), "{text}");
            let expected = Matrix::dense(2, 2, vec![1.0, 2.5, -3.0, 4.0]).unwrap();
            assert_eq!(*found.matrix(), expected, "{text}");
        }
    }

    #[test]
    fn columns_have_names_where_the_file_gives_them() {
        let names = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.csv");
            std::fs::write(&path, text).unwrap();
            read_features_of(Source::open(&path).unwrap()).unwrap().1
        };
        assert_eq!(names("id,price,size\na,1,2\n").unwrap(), ["price", "size"]);
        assert_eq!(names("a,1,2\n"), None);
        assert_eq!(names("node,0,1\na,1,2\n"), None);
    }

    #[test]
    fn headers_of_data_frames_are_no_nodes() {
        for (header, n_rows) in [
            ("user,0,1,2,3", 2),
            (",0,1,2,3", 2),
            (",1,2,3,4", 2),
            // Vectors like any other.
            ("user,1,2,3,4", 3),
            ("user,0,1,2,4", 3),
        ] {
            let found = features("x.csv", &format!("{header}\nb,1,2,3,4\na,0,0,1,1\n")).unwrap();
            assert_eq!(found.matrix().n_rows(), n_rows, "{header}");
            assert_eq!(found.ids().row("user").is_some(), n_rows == 3, "{header}");
        }
        assert!(features("x.csv", ",1,5,2,7\nb,1,2,3,4\n").is_err());
        assert_eq!(
            features("x.csv", ",0,1\nb,2,3\n")
                .unwrap()
                .matrix()
                .n_rows(),
            1
        );
        let short = features("x.csv", "user,0,1,2\nb,1,2,3\n").unwrap();
        assert_eq!(short.ids().row("user"), Some(0));
    }

    #[test]
    fn wrong_vectors_name_their_line() {
        for (text, line, what) in [
            ("", None, "no data vectors"),
            ("id,x\n", None, "no data vectors"),
            ("a\n", Some(1), "1 column"),
            ("a,1\nb,2,3\n", Some(2), "3 columns"),
            ("a,1,2\n\nb,2\n", Some(3), "2 columns"),
            ("a,1\nb,x\n", Some(2), "'x' in column 2"),
            ("a,1\nb,NaN\n", Some(2), "'NaN' in column 2"),
            ("a,inf\n", Some(1), "'inf' in column 2"),
            ("a,1,\n", Some(1), "nothing in column 3"),
            ("a,1\nb,2\nc,1\na,3\n", Some(4), "'a' again"),
            ("a,1\n,2\n", Some(2), "empty node id"),
        ] {
            let Error::Input {
                line: at, found, ..
            } = features("x.csv", text).unwrap_err()
            else {
                panic!("{text}");
            };
            assert_eq!(at, line, "{text}");
            assert!(found.contains(what), "{found}");
        }
        let sparse = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n";
        assert_eq!(features("x.mtx", sparse).unwrap().ids().len(), 2);
        let empty = "%%MatrixMarket matrix coordinate pattern general\n0 2 0\n";
        assert!(features("x.mtx", empty).is_err());
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_keeps_precision_and_refuses_repeats() {
        use crate::{EmbeddingFormat, write_embeddings, write_links};
        use linkproof_method::data::graph::{Graph, LinkRules};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let values = [1.0f32, 2.0, 3.0, 4.0];
        let format = EmbeddingFormat::Parquet;
        write_embeddings(&path, format, &Ids::Rows(2), 2, 2, &values).unwrap();
        let found = read_features(&path).unwrap();
        let expected = Matrix::dense(2, 2, values.to_vec()).unwrap();
        assert_eq!(*found.matrix(), expected);
        assert_eq!(found.ids().row("1"), Some(1));
        let links = [(0, 1), (0, 2)].map(|(src, dst)| linkproof_method::data::graph::Link {
            src,
            dst,
            weight: 1.0,
        });
        let graph = Graph::new(Ids::Rows(3), links.to_vec(), LinkRules::default()).unwrap();
        write_links(&path, &graph).unwrap();
        let found = read_features(&path).unwrap_err().to_string();
        assert!(found.contains("text in column 'dst'"), "{found}");
    }
}

//! Columns of a file of links that are evidence about these links.

use std::path::Path;

use super::link_text::{LinkColumns, Role, RowReader, role};
use super::source::extensions;
use super::text::{BLOCK, Blocks, number};
use linkproof_method::error::{Error, Result, quote};

/// Reads some columns of a file of links, CSV, TSV or Parquet, and hands over each line:
/// source, target, and a number for each column; NaN stands for an empty cell.
///
/// # Errors
/// A file without a header or without one of the columns, and a cell that is no number.
pub fn read_evidence(
    path: impl AsRef<Path>,
    names: &[String],
    visit: impl FnMut(&str, &str, &[f64]),
) -> Result<()> {
    let path = path.as_ref();
    match extensions(path).1.as_str() {
        "mtx" => {
            let expected = "links as CSV, TSV or Parquet, whose columns have names";
            Err(Error::input(path, None, "a MatrixMarket file", expected))
        }
        "parquet" | "pq" => of_parquet(path, names, visit),
        _ => of_text(path, names, visit),
    }
}

/// Whether a column that could be taken for the weight is evidence, by its name.
pub(super) fn is_apart(header: &str, evidence: &[String]) -> bool {
    role(header) != Some(Role::Weight) && evidence.iter().any(|name| is_named(header, name))
}

fn is_named(header: &str, name: &str) -> bool {
    header.eq_ignore_ascii_case(name)
}

/// The places of the columns.
pub(super) fn places(
    path: &Path,
    headers: &[String],
    layout: LinkColumns,
    names: &[String],
) -> Result<Vec<usize>> {
    let place = |name: &String| {
        let found = headers.iter().position(|header| is_named(header, name));
        found
            .filter(|&at| at != layout.src && at != layout.dst)
            .ok_or_else(|| {
                let others = (0..headers.len()).filter(|&at| at != layout.src && at != layout.dst);
                let others: Vec<String> = others.map(|at| quote(&headers[at])).collect();
                let expected = match others.is_empty() {
                    true => "a column beside the ends of links".to_owned(),
                    false => format!("one of {}", others.join(", ")),
                };
                let found = format!("no column {} about links", quote(name));
                Error::input(path, None, found, expected)
            })
    };
    names.iter().map(place).collect()
}

fn of_text(path: &Path, names: &[String], mut visit: impl FnMut(&str, &str, &[f64])) -> Result<()> {
    let mut blocks = Blocks::open(path, BLOCK)?;
    let reader = RowReader::new(&mut blocks, Default::default(), names)?;
    let Some((first_line, headers)) = blocks.first_record()? else {
        return Ok(());
    };
    let layout = reader.layout();
    if !reader.has_header() {
        let found = format!("{}, which is no header", quote(&headers.join(",")));
        let expected = format!("a header with src, dst and {}", names.join(", "));
        return Err(Error::input(path, first_line, found, expected));
    }
    let places = places(path, &headers, layout, names)?;
    let mut values = vec![0.0; places.len()];
    blocks.visit(|line, fields| {
        if line == first_line || fields.len() != headers.len() {
            return Ok(true);
        }
        for (value, &at) in values.iter_mut().zip(&places) {
            *value = match fields[at].trim() {
                "" => f64::NAN,
                text => number(text).filter(|x| x.is_finite()).ok_or_else(|| {
                    let found = format!("{} in column {}", quote(text), quote(&headers[at]));
                    Error::input(path, line, found, "a finite number, or nothing")
                })?,
            };
        }
        visit(&fields[layout.src], &fields[layout.dst], &values);
        Ok(true)
    })
}

#[cfg(feature = "parquet")]
use super::parquet::read_evidence as of_parquet;

#[cfg(not(feature = "parquet"))]
fn of_parquet(path: &Path, _: &[String], _: impl FnMut(&str, &str, &[f64])) -> Result<()> {
    Err(super::no_parquet(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_links_with_evidence;

    type Rows = Vec<(String, String, Vec<f64>)>;

    fn read(name: &str, text: &str, columns: &[&str]) -> Result<(Rows, Vec<f64>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        let mut rows = Vec::new();
        read_evidence(&path, &columns, |src, dst, values| {
            rows.push((src.to_owned(), dst.to_owned(), values.to_vec()));
        })?;
        let graph = read_links_with_evidence(&path, &Default::default(), &columns)?;
        Ok((rows, graph.weights().to_vec()))
    }

    #[test]
    fn columns_are_found_by_name_and_gaps_are_no_numbers() {
        let text = "src,dst,weight,Score,other\na,b,2,0.5,x\nb,c,3,,y\n";
        let (rows, weights) = read("l.csv", text, &["score"]).unwrap();
        assert_eq!(rows[0], ("a".to_owned(), "b".to_owned(), vec![0.5]));
        assert!(rows[1].2[0].is_nan());
        assert_eq!(weights, [2.0, 3.0]);
        // A third column is the weight only if it is not asked for.
        let (rows, weights) = read("l.csv", "a,b,score\nx,y,-1\ny,z,0\n", &["score"]).unwrap();
        assert_eq!(rows[0].2, [-1.0]);
        assert_eq!(weights, [1.0, 1.0]);
        let weighted = "src,dst,weight\nx,y,4\ny,z,2\n";
        let (rows, weights) = read("l.csv", weighted, &["weight"]).unwrap();
        assert_eq!((rows[0].2[0], weights), (4.0, vec![4.0, 2.0]));
    }

    #[test]
    fn wrong_columns_are_refused() {
        for (name, text, columns, what) in [
            (
                "l.csv",
                "src,dst,s\na,b,1\n",
                ["t"],
                "no column 't' about links; expected one of 's'",
            ),
            ("l.csv", "src,dst\na,b\n", ["t"], "a column beside the ends"),
            ("l.csv", "src,dst,s\na,b,1\n", ["src"], "no column 'src'"),
            (
                "l.csv",
                "a,b,1\nb,c,2\n",
                ["s"],
                "line 1: found 'a,b,1', which is no header",
            ),
            (
                "l.csv",
                "src,dst,weight,s\na,b,1,1\nb,c,2,x\n",
                ["s"],
                "line 3: found 'x' in column 's'",
            ),
            (
                "l.csv",
                "src,dst,weight,s\na,b,1,inf\n",
                ["s"],
                "line 2: found 'inf'",
            ),
            ("l.mtx", "", ["s"], "a MatrixMarket file"),
        ] {
            let error = read(name, text, &columns).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}

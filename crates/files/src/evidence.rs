//! Columns of a file of links that are evidence about these links.

use std::path::Path;

use super::link_text::{LinkColumns, Role, role};
use super::text;
use linkproof_method::data::graph::Graph;
use linkproof_method::error::{Error, Result, quote};
use linkproof_method::judge::EvidenceColumn;

/// Columns of numbers about the links of a file, as they are listed.
#[derive(Debug, Clone, Default)]
pub struct LinkEvidence {
    names: Vec<String>,
    /// Of each listing a number for each column; NaN stands for an empty cell.
    values: Vec<f64>,
}

impl LinkEvidence {
    /// A pair that is listed more than once has the mean of its numbers: `repeats` has the
    /// place of each further listing and of the first one.
    pub(super) fn new(
        names: &[String],
        mut values: Vec<f64>,
        mut repeats: Vec<[usize; 2]>,
    ) -> LinkEvidence {
        let width = names.len();
        repeats.sort_unstable_by_key(|&[again, first]| [first, again]);
        for pair in repeats.chunk_by(|a, b| a[1] == b[1]) {
            let first = pair[0][1];
            let places = std::iter::once(first).chain(pair.iter().map(|it| it[0]));
            for column in 0..width {
                let numbers = places.clone().map(|place| values[place * width + column]);
                let known = numbers.filter(|x| !x.is_nan());
                let (sum, count) = known.fold((0.0, 0), |(sum, n), x| (sum + x, n + 1));
                values[first * width + column] = sum / f64::from(count);
            }
        }
        LinkEvidence {
            names: names.to_vec(),
            values,
        }
    }

    /// The columns in the order of a graph's links, which must be those of the file.
    pub fn columns(&self, links: &Graph) -> Vec<EvidenceColumn> {
        let width = self.names.len();
        let value = |place: usize, column: usize| {
            let listed = links.listed(place)?;
            self.values.get(listed * width + column).copied()
        };
        let columns = self.names.iter().enumerate();
        let columns = columns.map(|(column, name)| EvidenceColumn {
            name: name.clone(),
            values: (0..links.n_links())
                .map(|place| value(place, column).unwrap_or(f64::NAN))
                .collect(),
        });
        columns.collect()
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
    let others = || (0..headers.len()).filter(|&at| at != layout.src && at != layout.dst);
    let place = |name: &String| {
        let found = others().find(|&at| is_named(&headers[at], name));
        found.ok_or_else(|| {
            let others: Vec<String> = others().map(|at| quote(&headers[at])).collect();
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

/// The number in a cell; NaN stands for an empty one.
pub(super) fn number(path: &Path, line: u64, header: &str, cell: &str) -> Result<f64> {
    match cell.trim() {
        "" => Ok(f64::NAN),
        text => text::number(text).filter(|x| x.is_finite()).ok_or_else(|| {
            let found = format!("{} in column {}", quote(text), quote(header));
            Error::input(path, line, found, "a finite number, or nothing")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sources;

    fn read(name: &str, text: &str, columns: &[&str]) -> Result<(Vec<Vec<f64>>, Vec<f64>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        let sources = Sources::default();
        let links = sources.read_links(&path, &Default::default(), &columns)?;
        let evidence = links.evidence.columns(&links.graph).into_iter();
        let evidence = evidence.map(|column| column.values);
        Ok((evidence.collect(), links.graph.weights().to_vec()))
    }

    #[test]
    fn columns_are_found_by_name_and_gaps_are_no_numbers() {
        let text = "src,dst,weight,Score,other\na,b,2,0.5,x\nb,c,3,,y\n";
        let (found, weights) = read("l.csv", text, &["score"]).unwrap();
        assert!(found[0][0] == 0.5 && found[0][1].is_nan());
        assert_eq!(weights, [2.0, 3.0]);
        // A third column is the weight only if it is not asked for.
        let (found, weights) = read("l.csv", "a,b,score\nx,y,-1\ny,z,0\n", &["score"]).unwrap();
        assert_eq!(found, [[-1.0, 0.0]]);
        assert_eq!(weights, [1.0, 1.0]);
        let weighted = "src,dst,weight\nx,y,4\ny,z,2\n";
        let (found, weights) = read("l.csv", weighted, &["weight"]).unwrap();
        assert_eq!((found[0][0], weights), (4.0, vec![4.0, 2.0]));
        // A pair that is listed twice has the mean, wherever the other listing stands.
        let twice = "src,dst,weight,s\nz,w,1,9\nx,y,4,1\nx,z,2,\ny,x,4,3\n";
        let (found, _) = read("l.csv", twice, &["s"]).unwrap();
        let mut known: Vec<f64> = found[0].iter().copied().filter(|x| !x.is_nan()).collect();
        known.sort_by(f64::total_cmp);
        assert_eq!((known, found[0].len()), (vec![2.0, 9.0], 3));
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

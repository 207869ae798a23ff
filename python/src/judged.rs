//! What users add about links (evidence, verified links), and judged links as arrays.

use std::collections::HashMap;

use linkproof::data::ids::Ids;
use linkproof::error::quote;
use linkproof::io::JudgedTable;
use linkproof::judge::{Check, EvidenceColumn, JudgeSpec};
use linkproof::{Dataset, Error, Graph, Result};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Evidence as Python has it: the rows of both ends of each listed link, and columns of
/// numbers by name.
pub type Evidence = (Vec<u32>, Vec<u32>, Vec<(String, Vec<f64>)>);

/// Verified links: the rows of both ends, and whether the link is real.
pub type Verified = Vec<(u32, u32, bool)>;

/// What a judge is asked beside its data, as a dict of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct JudgeRequest {
    pub evidence: Option<Evidence>,
    checked: Verified,
    weights: bool,
    pub one_to_one: bool,
    test: bool,
    seed: u64,
}

impl JudgeRequest {
    /// The same for the judge of some links.
    ///
    /// # Errors
    /// A verified pair that is no link, or that is marked both ways.
    pub fn spec(&self, places: &Places<'_>) -> Result<JudgeSpec> {
        let columns = self.evidence.as_ref();
        Ok(JudgeSpec {
            seed: self.seed,
            one_to_one: self.one_to_one,
            weights: self.weights,
            test: self.test,
            columns: columns.map_or_else(Vec::new, |it| places.evidence(it)),
            checks: places.verified(&self.checked)?,
        })
    }
}

/// Finds the places of links in a graph by the rows that Python knows.
pub struct Places<'d> {
    graph: &'d Graph,
    ids: &'d Ids,
    /// The row in the graph of each of the user's rows, if they differ.
    inside: Option<Vec<u32>>,
}

impl<'d> Places<'d> {
    /// In the links of data.
    pub fn of_data(data: &'d Dataset) -> Places<'d> {
        let mut inside = vec![0; data.n_nodes()];
        for row in 0..data.n_nodes() {
            inside[data.user_row(row)] = row as u32;
        }
        Places {
            graph: data.graph(),
            ids: data.ids(),
            inside: Some(inside),
        }
    }

    /// In a graph of the user's rows.
    pub fn of_graph(graph: &'d Graph) -> Places<'d> {
        Places {
            graph,
            ids: graph.ids(),
            inside: None,
        }
    }

    /// The user's row of a target: of directed links, targets follow sources.
    fn target(&self, dst: u32) -> u32 {
        let sides = self.ids.sides().filter(|sides| sides.same);
        dst + sides.map_or(0, |sides| sides.source.len() as u32)
    }

    fn place(&self, src: u32, dst: u32) -> Option<usize> {
        let rows = [src, self.target(dst)].map(|row| match &self.inside {
            Some(inside) => inside.get(row as usize).copied(),
            None => Some(row),
        });
        let [src, dst] = [rows[0]?, rows[1]?];
        self.graph.place(src, dst)
    }

    /// Columns in the order of the links. A pair that is listed more than once has the mean
    /// of its numbers, and NaN is no evidence.
    pub fn evidence(&self, (src, dst, columns): &Evidence) -> Vec<EvidenceColumn> {
        let ends = src.iter().zip(dst);
        let places: Vec<_> = ends.map(|(&src, &dst)| self.place(src, dst)).collect();
        let of_column = |(name, numbers): &(String, Vec<f64>)| {
            let mut sums = vec![(0.0, 0usize); self.graph.n_links()];
            for (place, &number) in places.iter().zip(numbers) {
                if let Some(place) = place.filter(|_| !number.is_nan()) {
                    sums[place].0 += number;
                    sums[place].1 += 1;
                }
            }
            let mean = |(sum, count): (f64, usize)| match count {
                0 => f64::NAN,
                count => sum / count as f64,
            };
            EvidenceColumn {
                name: name.clone(),
                values: sums.into_iter().map(mean).collect(),
            }
        };
        columns.iter().map(of_column).collect()
    }

    /// Verified links, for the judge.
    ///
    /// # Errors
    /// A pair that is no link, or that is marked both ways.
    pub fn verified(&self, given: &Verified) -> Result<Vec<Check>> {
        let mut known = HashMap::new();
        let one = |&(src, dst, real): &(u32, u32, bool)| {
            let check = Check {
                src,
                dst: self.target(dst),
                real,
            };
            let wrong = |what: &str, expected: &str| {
                let ends = [check.src, check.dst].map(|row| quote(&self.ids.name(row as usize)));
                let found = format!("the pair {}, {}{what}", ends[0], ends[1]);
                Err(Error::data("checked", found, expected))
            };
            match self.place(src, dst) {
                None => wrong(", which is no link", "pairs that have a link"),
                Some(place) if *known.entry(place).or_insert(real) != real => {
                    wrong(" both as real and as false", "one answer for each pair")
                }
                Some(_) => Ok(check),
            }
        };
        given.iter().map(one).collect()
    }
}

/// Judged links at some places, as columns: `rank, src, dst` (rows), `weight, belief` (NaN
/// if the judge abstains), `suspect, why`.
pub fn columns<'py>(
    py: Python<'py>,
    table: &JudgedTable<'_>,
    places: &[usize],
) -> PyResult<Bound<'py, PyDict>> {
    let links = &table.judgment.links;
    let of = || places.iter().map(|&place| &links[place]);
    let belief = of().map(|link| table.belief(link).unwrap_or(f64::NAN));
    let why: Vec<String> = places.iter().map(|&place| table.why(place)).collect();
    let found = PyDict::new(py);
    let ranks = of().map(|link| link.rank as i64).collect();
    found.set_item("rank", PyArray1::from_vec(py, ranks))?;
    found.set_item("src", PyArray1::from_iter(py, of().map(|link| link.src)))?;
    found.set_item("dst", PyArray1::from_iter(py, of().map(|link| link.dst)))?;
    let weights = of().map(|link| link.weight);
    found.set_item("weight", PyArray1::from_iter(py, weights))?;
    found.set_item("belief", PyArray1::from_iter(py, belief))?;
    let suspects = of().map(|link| link.suspect);
    found.set_item("suspect", PyArray1::from_iter(py, suspects))?;
    found.set_item("why", why)?;
    Ok(found)
}

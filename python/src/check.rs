//! Links checked without an embedding.

use std::path::PathBuf;
use std::time::Instant;

use linkproof::io::{
    self, Field, FolderKind, JudgedTable, OutputFolder, check_files, check_json, load_check,
    read_checks, write_check, write_table,
};
use linkproof::judge::{JudgeSpec, judge, missing_links};
use linkproof::text::{Reader, Said, Style, Topic, judged, size, topics};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::data::Data;
use crate::errors::exception;
use crate::judged::{JudgeRequest, Places, Verified, columns};
use crate::kept::Surroundings;
use crate::model::{ids_as_text, versions};
use crate::work::quietly;

/// A finished check.
#[pyclass(frozen, module = "linkproof._core")]
pub struct Check {
    check: io::Check,
}

#[pymethods]
impl Check {
    /// Judges links.
    #[staticmethod]
    fn judge(
        py: Python<'_>,
        data: &Data,
        request: JudgeRequest,
        context: &Context,
    ) -> PyResult<Check> {
        let began = Instant::now();
        let attributes = data.attributes.clone().unwrap_or_default();
        let data = &data.dataset;
        context.run(py, |monitor| {
            let around = Surroundings::of(data)?;
            let spec = request.spec(&Places::of_data(data))?;
            let monitor = monitor.shares();
            let judgment = judge(data, &spec, around.runtime(&monitor))?;
            let names: Vec<&String> = spec.columns.iter().map(|column| &column.name).collect();
            let record = [
                ("seed", json!(spec.seed)),
                ("test", json!(spec.test)),
                ("evidence", json!(names)),
                ("read", json!(data.graph().counts())),
                ("seconds", json!(began.elapsed().as_secs_f64())),
                ("versions", versions()?),
            ];
            let record = record.map(|(name, value)| (name.to_owned(), value));
            let record = Map::from_iter(record);
            let check = io::Check::new(data, attributes, judgment, record);
            Ok(Check { check })
        })
    }

    /// Loads a check folder.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Check> {
        quietly(py, None, || {
            Ok(Check {
                check: load_check(&folder)?,
            })
        })
    }

    /// Pairs of the checked data without a link that look most like links: their rows.
    fn missing(
        &self,
        py: Python<'_>,
        data: &Data,
        count: usize,
        context: &Context,
    ) -> PyResult<Vec<(u32, u32, f64)>> {
        let seed = self.check.record.get("seed").and_then(Value::as_u64);
        let spec = JudgeSpec {
            seed: seed.unwrap_or(0),
            one_to_one: self.check.judgment.facts.one_to_one,
            ..JudgeSpec::default()
        };
        let data = &data.dataset;
        context.run(py, |monitor| {
            let around = Surroundings::of(data)?;
            let monitor = monitor.shares();
            let found = missing_links(data, &spec, count, around.runtime(&monitor))?;
            Ok(found
                .iter()
                .map(|it| (it.src, it.dst, it.agreement))
                .collect())
        })
    }

    /// Writes a check folder; `extra` goes into `check.json`. `sample.csv` and `checked.csv`
    /// of the folder stay; verified links are added to the second.
    fn save(&self, py: Python<'_>, folder: PathBuf, overwrite: bool, extra: &str) -> PyResult<()> {
        let extra: Map<String, Value> = crate::worker::read(extra, "extra")?;
        quietly(py, None, || {
            let kept = folder.join(check_files::CHECKED);
            let kept = kept.exists().then(|| read_checks(&kept)).transpose()?;
            let output = OutputFolder::create(&folder, FolderKind::check(), overwrite)?;
            let mut check = self.check.clone();
            check.record.extend(extra);
            let mut lines: Vec<(String, String, bool)> = Vec::new();
            for old in kept.into_iter().flat_map(|kept| kept.checks) {
                let place = check.place(&old.src, &old.dst);
                if place.is_none_or(|at| check.judgment.links[at].verified.is_none()) {
                    lines.push((old.src, old.dst, old.real));
                }
            }
            let name = |row: u32| check.ids.name(row as usize).into_owned();
            for link in &check.judgment.links {
                if let Some(real) = link.verified {
                    lines.push((name(link.src), name(link.dst), real));
                }
            }
            if !lines.is_empty() {
                let path = output.file(check_files::CHECKED);
                write_table(path, &["src", "dst", "real"], |rows| {
                    lines.iter().try_for_each(|(src, dst, real)| {
                        let real = Field::Whole(u64::from(*real));
                        rows.row(&[Field::Text(src), Field::Text(dst), real])
                    })
                })?;
            }
            write_check(&check, &output)?;
            output.commit()
        })
    }

    /// The ids of the nodes in row order, as text; none if they are row numbers.
    #[getter]
    fn ids(&self) -> Option<Vec<String>> {
        ids_as_text(self.check.node_ids())
    }

    /// The number of nodes.
    #[getter]
    fn n_nodes(&self) -> usize {
        self.check.node_ids().len()
    }

    /// The name of each node; none if no table had names.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        let rows = 0..self.n_nodes() as u32;
        let title = |row| self.check.title(row).unwrap_or_default().to_owned();
        let named = self.check.attributes.has_names();
        named.then(|| rows.map(title).collect())
    }

    /// Whether links have directions between nodes of one kind.
    #[getter]
    fn directed(&self) -> bool {
        self.check.ids.sides().is_some_and(|sides| sides.same)
    }

    /// The number of sources, whose rows those of targets follow; none if links are between
    /// nodes of one kind.
    #[getter]
    fn n_sources(&self) -> Option<usize> {
        Some(self.check.ids.sides()?.source.len())
    }

    /// The content of `check.json` but for what only loading needs, as JSON.
    #[getter]
    fn report(&self) -> PyResult<String> {
        let mut report = check_json(&self.check).map_err(exception)?;
        if let Value::Object(fields) = &mut report {
            fields.remove("facts");
        }
        Ok(report.to_string())
    }

    /// All links by rank, or those that are flagged or most suspicious, as columns.
    fn table<'py>(&self, py: Python<'py>, all: bool) -> PyResult<Bound<'py, PyDict>> {
        let table = JudgedTable::of(&self.check);
        let places = match all {
            true => self.check.judgment.by_rank(),
            false => table.suspects(),
        };
        columns(py, &table, &places)
    }

    /// Some links for a person to verify, as columns.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let places = self.check.judgment.sample(count, seed);
        columns(py, &JudgedTable::of(&self.check), &places)
    }

    /// The places, in the order of ranks, of the links that are taken for false at a rate.
    fn at_rate(&self, rate: f64) -> Vec<usize> {
        let judgment = &self.check.judgment;
        let places = judgment.at_rate(rate).into_iter();
        places.map(|place| judgment.links[place].rank - 1).collect()
    }

    /// The check after links were verified.
    fn checked(&self, py: Python<'_>, checks: Verified) -> PyResult<Check> {
        quietly(py, None, || {
            let mut check = self.check.clone();
            let graph = check.graph(0..check.judgment.links.len())?;
            let checks = Places::of_graph(&graph).verified(&checks)?;
            check.judgment.recalibrate(&checks);
            Ok(Check { check })
        })
    }

    /// The lines that end a check, with what can be done next.
    fn lines(&self, next: Vec<String>) -> String {
        let recorded = |name: &str| self.check.record.get(name);
        let (facts, tally) = (&self.check.judgment.facts, self.check.judgment.tally());
        let tested = recorded("test").and_then(Value::as_bool).unwrap_or(true);
        let reader = Reader {
            style: Style::Python,
            name: &|row| self.check.called(row),
            suspects: Some("report.suspects"),
            sample: Some("report.sample(30)"),
        };
        let mut said = judged(facts, &tally, tested, &reader);
        said.extend(next.into_iter().map(|it| Said::new(Topic::Next, it)));
        let seconds = recorded("seconds").and_then(Value::as_f64).unwrap_or(0.0);
        let size = size(self.n_nodes(), tally.links, None, seconds);
        format!("{size}\n\n{}", topics(&said))
    }
}

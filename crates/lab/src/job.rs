//! An experiment as a list of jobs, each done once and kept, and the tables
//! that their readings fill.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::mean::Mean;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_pictures::drawing::{Chart, Series};

/// One measured number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The table it belongs to.
    pub table: String,
    /// The row of the table: a method.
    pub row: String,
    /// The column: a kind of data or a setting.
    pub column: String,
    /// The run: a data set or a split.
    pub run: u64,
    /// The number.
    pub value: f64,
}

/// Where the readings of a job go.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p> {
    /// The table.
    pub table: &'p str,
    /// The column.
    pub column: &'p str,
    /// The run.
    pub run: u64,
}

impl Place<'_> {
    /// The reading of a row.
    pub fn reading(self, row: &str, value: f64) -> Reading {
        Reading {
            table: self.table.to_owned(),
            row: row.to_owned(),
            column: self.column.to_owned(),
            run: self.run,
            value,
        }
    }
}

/// What a job does; the runtime may end it.
pub type Work<'j> = Box<dyn Fn(Runtime<'_>) -> Result<Vec<Reading>> + Send + Sync + 'j>;

/// A piece of an experiment that is done in one go.
pub struct Job<'j> {
    /// Its name, unique in the experiment and fit for a file name.
    pub key: String,
    /// About how long it takes compared with others.
    pub cost: f64,
    /// What is done.
    pub work: Work<'j>,
}

/// Does jobs in their order, as many at once as there are threads here, while `goes_on`
/// says so. Each has its own threads: it is not held up by parts of another. `after`
/// gets what became of a job, and the seconds that it took.
pub fn work_off(
    jobs: &[&Job<'_>],
    runtime: Runtime<'_>,
    goes_on: impl Fn() -> bool + Sync,
    after: impl Fn(&Job<'_>, Result<Vec<Reading>>, f64) + Sync,
) {
    let next = AtomicUsize::new(0);
    let take_turns = || {
        while goes_on() {
            let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            let clock = Instant::now();
            let found = (job.work)(runtime);
            after(job, found, clock.elapsed().as_secs_f64());
        }
    };
    let threads = rayon::current_num_threads();
    let workers = threads.min(jobs.len()).max(1);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads / workers);
            let (pool, take_turns) = (pool.build(), &take_turns);
            scope.spawn(move || match pool {
                Ok(pool) => pool.install(take_turns),
                Err(_) => take_turns(),
            });
        }
    });
}

/// Jobs, and the tables that their readings fill.
#[derive(Default)]
pub struct Experiment<'j> {
    /// In the order in which they are done.
    pub jobs: Vec<Job<'j>>,
    /// In the order in which they are shown.
    pub tables: Vec<Table>,
}

/// A row of a table before it is filled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The method.
    pub name: String,
    /// What the paper has in the first columns.
    pub paper: Vec<f64>,
    /// In each column the row has the values of the row that is best on average, of those
    /// whose names begin so.
    pub best_of: Option<&'static str>,
}

impl Row {
    /// A row that the paper does not have.
    pub fn new(name: impl Into<String>) -> Row {
        Row::paper(name, &[])
    }

    /// A row beside the paper's figures.
    pub fn paper(name: impl Into<String>, paper: &[f64]) -> Row {
        Row {
            name: name.into(),
            paper: paper.to_vec(),
            best_of: None,
        }
    }
}

/// A table before it is filled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The name that readings go by.
    pub name: String,
    /// What it shows, in words.
    pub caption: String,
    /// What is measured, in short; empty for rows of different measures, which make no
    /// picture.
    pub measure: String,
    /// The digits after the decimal point.
    pub digits: usize,
    /// The runs that a full cell has.
    pub runs: u64,
    /// The columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Whether rows of other names that were measured follow, by name.
    pub takes_others: bool,
}

impl Table {
    /// The rows that have readings, each with the values of its cells, by run.
    fn filled<'t>(&'t self, readings: &'t [Reading]) -> Vec<(Row, Vec<Vec<f64>>)> {
        let here = readings.iter().filter(|it| it.table == self.name);
        let here: Vec<&Reading> = here.collect();
        let values = |row: &str, column: &str| {
            let cell = here.iter().filter(|r| r.row == row && r.column == column);
            let mut found: Vec<(u64, f64)> = cell.map(|r| (r.run, r.value)).collect();
            found.sort_by_key(|reading| reading.0);
            found.into_iter().map(|reading| reading.1).collect()
        };
        let best = |of: &str, column: &str| {
            let mut rows: Vec<&str> = Vec::new();
            for row in here.iter().map(|it| it.row.as_str()) {
                if row.starts_with(of) && !rows.contains(&row) {
                    rows.push(row);
                }
            }
            let cells = rows.into_iter().map(|row| values(row, column));
            let cells = cells.filter(|cell: &Vec<f64>| !cell.is_empty());
            let mean = |cell: &Vec<f64>| Mean::of(cell).mean;
            let best = cells.max_by(|a, b| mean(a).total_cmp(&mean(b)));
            best.unwrap_or_default()
        };
        let mut rows = self.rows.clone();
        if self.takes_others {
            let others = here.iter().map(|it| it.row.as_str());
            let known = |name: &str| self.rows.iter().any(|row| row.name == name);
            let others: BTreeSet<&str> = others.filter(|name| !known(name)).collect();
            rows.extend(others.into_iter().map(Row::new));
        }
        let cells = |row: Row| {
            let columns = self.columns.iter().map(|column| match row.best_of {
                Some(of) => best(of, column),
                None => values(&row.name, column),
            });
            let cells: Vec<Vec<f64>> = columns.collect();
            (row, cells)
        };
        rows.into_iter().map(cells).collect()
    }

    /// The table as Markdown: means and standard errors (none of a single run),
    /// the paper's figures in brackets, a dash where a method cannot be applied;
    /// cells that lack runs say so. Rows without any reading are left out.
    pub fn markdown(&self, readings: &[Reading]) -> String {
        let columns = self.columns.join(" | ");
        let rule = "---|".repeat(self.columns.len());
        let mut text = format!("{}\n\n|  | {columns} |\n|---|{rule}\n", self.caption);
        let filled = self.filled(readings).into_iter();
        for (row, cells) in filled.filter(|(_, cells)| !cells.iter().all(Vec::is_empty)) {
            let _ = write!(text, "| {} |", row.name);
            for (place, values) in cells.iter().enumerate() {
                let paper = row.paper.get(place);
                let paper = paper.map_or_else(String::new, |paper| format!(" ({paper})"));
                let _ = write!(text, " {}{paper} |", self.cell(values));
            }
            text.push('\n');
        }
        text
    }

    fn cell(&self, values: &[f64]) -> String {
        let (digits, mean) = (self.digits, Mean::of(values));
        let mut cell = match values.len() {
            0 => return "–".to_owned(),
            1 => format!("{:.digits$}", mean.mean),
            _ => format!("{:.digits$} ± {:.digits$}", mean.mean, mean.standard_error),
        };
        if values.len() as u64 != self.runs {
            let _ = write!(cell, " [{} of {} runs]", values.len(), self.runs);
        }
        cell
    }

    /// The table as a picture: a place for each column, a line for each row.
    pub fn chart(&self, readings: &[Reading]) -> Chart {
        let series = self.filled(readings).into_iter().map(|(row, cells)| {
            let points = cells.iter().map(|values| {
                let mean = Mean::of(values);
                (!values.is_empty()).then_some((mean.mean, mean.standard_error))
            });
            Series::new(row.name, points.collect())
        });
        let has_points = |series: &Series| series.points.iter().any(Option::is_some);
        Chart {
            title: self.caption.clone(),
            y_label: self.measure.clone(),
            columns: self.columns.clone(),
            series: series.filter(has_points).collect(),
        }
    }

    /// The table as JSON, every single value included.
    pub fn json(&self, readings: &[Reading]) -> Value {
        let row = |(row, cells): (Row, Vec<Vec<f64>>)| {
            let mut filled = Map::new();
            let columns = self.columns.iter().zip(cells).enumerate();
            for (place, (column, values)) in columns.filter(|(_, (_, it))| !it.is_empty()) {
                let mean = Mean::of(&values);
                let cell = json!({
                    "mean": mean.mean, "standard_error": mean.standard_error,
                    "values": values, "paper": row.paper.get(place),
                });
                filled.insert(column.clone(), cell);
            }
            json!({ "name": row.name, "cells": filled })
        };
        let rows: Vec<Value> = self.filled(readings).into_iter().map(row).collect();
        json!({
            "name": self.name, "caption": self.caption, "columns": self.columns, "rows": rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(row: &str, column: &str, run: u64, value: f64) -> Reading {
        let table = "t";
        Place { table, column, run }.reading(row, value)
    }

    #[test]
    fn tables_show_means_the_paper_and_dashes() {
        let table = Table {
            name: "t".into(),
            caption: "NMI".into(),
            measure: "NMI".into(),
            digits: 1,
            runs: 2,
            columns: vec!["(A)".into(), "(B)".into()],
            rows: vec![Row::paper("ours", &[36.2]), Row::new("absent")],
            takes_others: false,
        };
        let mut readings = vec![
            reading("ours", "(A)", 1, 41.0),
            reading("ours", "(A)", 0, 39.0),
            reading("other", "(A)", 0, 1.0),
        ];
        let text = table.markdown(&readings);
        assert!(text.contains("| ours | 40.0 ± 1.0 (36.2) | – |"), "{text}");
        assert!(!text.contains("absent"));
        let json = table.json(&readings);
        assert_eq!(
            json["rows"][0]["cells"]["(A)"]["values"],
            json!([39.0, 41.0])
        );
        assert!(json["rows"][0]["cells"]["(B)"].is_null());
        assert_eq!(table.chart(&readings).series.len(), 1);
        readings.push(reading("ours", "(B)", 0, 5.0));
        let text = table.markdown(&readings);
        assert!(text.contains("| 5.0 [1 of 2 runs] |"), "{text}");
    }
}

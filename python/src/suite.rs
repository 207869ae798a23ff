//! Experiments with damaged graphs, as `linkproof reproduce contamination` makes them.

use std::sync::{Mutex, PoisonError};

use linkproof::Error;
use linkproof::error::any_of;
use linkproof_lab::contamination::Column;
use linkproof_lab::job::{Job, Reading, work_off};
use linkproof_lab::labelled::Labelled;
use linkproof_lab::suite::{GENERATED, Label, METHODS, Subject, jobs, tables};
use numpy::PyArray1;
use pyo3::prelude::*;
use serde_json::json;

use crate::arrays;
use crate::data::Data;
use crate::errors::{Keywords, exception};
use crate::kept::Surroundings;
use crate::work::{Listeners, run};

/// A graph that is damaged in known ways, and the jobs of its experiment.
#[pyclass(frozen, module = "linkproof._core")]
pub struct Suite {
    graph: Given,
}

/// A graph of classes, or a generated one.
enum Given {
    Classes(Box<Labelled>),
    Generated(Subject<'static>),
}

/// A job that was done: its key, its readings as JSON or what went wrong, and seconds.
type Done = (String, Option<String>, Option<String>, f64);

/// The experiment: kinds of damage, methods, runs and seed. Empty lists stand for all.
type Experiment = (Vec<String>, Vec<String>, u64, u64);

#[pymethods]
impl Suite {
    /// A graph whose nodes have classes.
    #[staticmethod]
    fn of(data: &Data, labels: &Bound<'_, PyArray1<u32>>, name: String) -> PyResult<Suite> {
        let refused = |found: String, expected: &str| {
            exception(Error::argument("labels", expected.to_owned(), found))
        };
        let labels = arrays::rows(labels, "labels")?.to_vec();
        let data = data.dataset.clone();
        if data.views().len() != 1 || labels.len() != data.n_nodes() {
            let found = format!("{} labels", labels.len());
            return Err(refused(found, "one for each node of a single view"));
        }
        if GENERATED.contains(&name.as_str()) {
            let others = format!("other than {}", any_of(&GENERATED));
            return Err(exception(Error::argument("name", others, name)));
        }
        let graph = Labelled { name, data, labels };
        match graph.unfit() {
            Some((found, expected)) => Err(refused(found, expected)),
            None => Ok(Suite {
                graph: Given::Classes(Box::new(graph)),
            }),
        }
    }

    /// A generated graph, made anew for each run.
    #[staticmethod]
    fn generated(name: &str) -> PyResult<Suite> {
        let found = Subject::generated(name);
        let unknown = || {
            let names = GENERATED.map(|name| format!("'{name}'"));
            exception(Error::argument("generated", any_of(&names), name))
        };
        Ok(Suite {
            graph: Given::Generated(found.ok_or_else(unknown)?),
        })
    }

    /// The jobs of an experiment: keys, and about how long each takes against others.
    fn jobs(&self, experiment: Experiment) -> PyResult<Vec<(String, f64)>> {
        for (name, list, known) in [
            ("damage", &experiment.0, &Column::ALL.map(|c| c.key)[..]),
            ("methods", &experiment.1, &METHODS[..]),
        ] {
            if let Some(other) = list.iter().find(|one| !known.contains(&one.as_str())) {
                let known: Vec<String> = known.iter().map(|name| format!("'{name}'")).collect();
                let accepted = format!("names among {}", known.join(", "));
                return Err(exception(Error::argument(name, accepted, other)));
            }
        }
        let subjects = [self.subject()];
        let jobs = wanted_jobs(&subjects, &experiment);
        Ok(jobs.into_iter().map(|job| (job.key, job.cost)).collect())
    }

    /// Does the jobs of some keys, as many at once as there are threads.
    #[pyo3(signature = (experiment, keys, *, threads, show))]
    fn work(
        &self,
        py: Python<'_>,
        experiment: Experiment,
        keys: Vec<String>,
        threads: Option<usize>,
        show: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Done>> {
        let every_step = None;
        run(py, threads, &Listeners { show, every_step }, |monitor| {
            let around = Surroundings::here()?;
            let subjects = [self.subject()];
            let jobs = wanted_jobs(&subjects, &experiment);
            let mine: Vec<&Job<'_>> = jobs.iter().filter(|job| keys.contains(&job.key)).collect();
            let done: Mutex<Vec<Done>> = Mutex::default();
            let after = |job: &Job<'_>, found: linkproof::Result<Vec<Reading>>, seconds| {
                let (readings, failure) = match found {
                    Ok(mut readings) => {
                        // What no damage touches is told for all kinds at once.
                        readings.retain(|reading| is_asked(&experiment.0, &reading.column));
                        (Some(json!(readings).to_string()), None)
                    }
                    Err(error) => (None, Some(error.told(&Keywords).to_string())),
                };
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                done.push((job.key.clone(), readings, failure, seconds));
                monitor.fits(done.len(), mine.len());
            };
            let quiet = |_: linkproof::Event<'_>| monitor.goes_on();
            work_off(&mine, around.runtime(&quiet), || monitor.goes_on(), after);
            match monitor.goes_on() {
                true => Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner)),
                false => Err(Error::Interrupted { step: 0 }),
            }
        })
    }

    /// The tables of readings, as JSON and as Markdown.
    fn tables(&self, runs: u64, readings: Vec<String>) -> PyResult<(String, String)> {
        let mut all: Vec<Reading> = Vec::new();
        for text in &readings {
            all.extend(crate::worker::read::<Vec<Reading>>(text, "readings")?);
        }
        let tables = tables(&self.subject(), runs, &all);
        let found: Vec<_> = tables.iter().map(|table| table.json(&all)).collect();
        let words: Vec<_> = tables.iter().map(|table| table.markdown(&all)).collect();
        Ok((json!(found).to_string(), words.join("\n")))
    }
}

impl Suite {
    fn subject(&self) -> Subject<'_> {
        match &self.graph {
            Given::Classes(graph) => Subject::Classes(graph),
            Given::Generated(made) => *made,
        }
    }
}

/// Whether a column is of a kind of damage that is asked for, or of none.
fn is_asked(damage: &[String], heading: &str) -> bool {
    let column = Column::ALL.iter().find(|column| column.heading == heading);
    damage.is_empty() || column.is_none_or(|column| damage.iter().any(|key| key == column.key))
}

fn wanted_jobs<'g>(
    subjects: &'g [Subject<'g>],
    (damage, methods, runs, seed): &Experiment,
) -> Vec<Job<'g>> {
    let has = |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
    let wanted = |label: Label<'_>| {
        label.damage.is_none_or(|name| has(damage, name)) && has(methods, label.method)
    };
    jobs(subjects, *runs, *seed, wanted)
}

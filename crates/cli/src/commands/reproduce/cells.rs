//! Finished jobs, kept as files, so that an interrupted run goes on where it
//! was.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use linkproof::Error;
use linkproof::Event;
use linkproof::io::{self, OutputLock};
use linkproof_lab::job::{Job, Reading, work_off};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::exit::Usage;
use crate::progress::Progress;
use crate::session::Session;

/// The file that says what a folder's cells belong to.
const HEADER: &str = "run.json";

/// A finished job.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Cell {
    readings: Vec<Reading>,
    seconds: f64,
}

/// The folder of finished jobs.
pub struct Cells {
    folder: PathBuf,
    /// Keeps other runs out until this one is done.
    _lock: OutputLock,
}

/// A job that failed, and why.
pub type Failure = (String, String);

/// What became of jobs.
#[derive(Debug, Default)]
pub struct Outcome {
    /// All readings, also those of earlier runs.
    pub readings: Vec<Reading>,
    /// The jobs that failed.
    pub failures: Vec<Failure>,
    /// The seconds that all jobs took, also in earlier runs.
    pub seconds: f64,
}

impl Cells {
    /// Opens a folder, or begins it. Cells of another experiment, of other data
    /// or of another version are refused; `force` throws away what an earlier
    /// experiment left, and nothing else.
    pub fn open(out: &Path, header: &Value, force: bool) -> anyhow::Result<Cells> {
        let cells = Cells {
            folder: out.join("cells"),
            _lock: OutputLock::take(out)?,
        };
        let path = out.join(HEADER);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let other: Value = serde_json::from_str(&text).unwrap_or_default();
                if other != *header && !force {
                    return Err(Usage::new(format!(
                        "--out {}: holds cells of another experiment ({HEADER}: {}); name another \
                         folder, or say --force to begin anew",
                        out.display(),
                        differences(&other, header)
                    ))
                    .into());
                }
                if force {
                    for folder in [&cells.folder, &out.join(super::rivals::FOLDER)] {
                        if folder.is_dir() {
                            std::fs::remove_dir_all(folder)
                                .map_err(|source| Error::write(folder, source))?;
                        }
                    }
                }
            }
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::read(&path, source).into());
            }
            Err(_) if out.exists() && !io::holds_nothing(out) => {
                return Err(Usage::new(format!(
                    "--out {}: is not empty and holds no experiment; name a folder that is new, \
                     empty or an experiment's",
                    out.display()
                ))
                .into());
            }
            Err(_) => {}
        }
        create_folder(out)?;
        write_text(&path, &format!("{header:#}\n"))?;
        create_folder(&cells.folder)?;
        Ok(cells)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }

    /// A finished job; one that cannot be read counts as not done.
    fn read(&self, key: &str) -> Option<Cell> {
        let text = std::fs::read_to_string(self.path(key)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Whether a job is done.
    pub fn has(&self, key: &str) -> bool {
        self.read(key).is_some()
    }

    /// Keeps a finished job, whose readings have to be numbers.
    pub fn keep(&self, key: &str, readings: Vec<Reading>, seconds: f64) -> Result<(), Error> {
        if let Some(wrong) = readings.iter().find(|reading| !reading.value.is_finite()) {
            let found = format!("{} for {}", wrong.value, wrong.row);
            return Err(Error::data(key, found, "a finite number"));
        }
        let cell = Cell { readings, seconds };
        let text = serde_json::to_string_pretty(&cell).unwrap_or_default();
        write_text(&self.path(key), &text)
    }

    /// All that is kept of the first runs, and what failed.
    pub fn gather(&self, runs: u64, mut failures: Vec<Failure>) -> Result<Outcome, Error> {
        let entries =
            std::fs::read_dir(&self.folder).map_err(|source| Error::read(&self.folder, source))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        failures.sort();
        let mut outcome = Outcome {
            failures,
            ..Outcome::default()
        };
        for key in names.iter().filter_map(|name| name.strip_suffix(".json")) {
            let run = key
                .rsplit_once("-run")
                .and_then(|(_, run)| run.parse().ok());
            if run.is_some_and(|run: u64| run < runs)
                && let Some(cell) = self.read(key)
            {
                outcome.readings.extend(cell.readings);
                outcome.seconds += cell.seconds;
            }
        }
        Ok(outcome)
    }

    /// Does the jobs that are not done, as many at once as there are threads,
    /// in their order, and says which failed.
    pub fn work(&self, jobs: &[Job<'_>], session: &Session) -> anyhow::Result<Vec<Failure>> {
        let open: Vec<&Job<'_>> = jobs.iter().filter(|job| !self.has(&job.key)).collect();
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let tally = Tally::new(session, jobs.len(), open.iter().map(|job| job.cost));
        let failures: Mutex<Vec<Failure>> = Mutex::default();
        let monitor = |_: Event<'_>| !Session::is_stopped();
        // The graphs of the paper are small.
        let device = session.device(0)?;
        let runtime = session.runtime(&monitor).on(device.backend());
        let after = |job: &Job<'_>, found: linkproof::Result<Vec<Reading>>, seconds: f64| {
            let done = found.and_then(|found| self.keep(&job.key, found, seconds));
            if let Err(error) = done
                && let Ok(mut failures) = failures.lock()
            {
                failures.push((job.key.clone(), error.to_string()));
            }
            tally.after(job.cost);
        };
        work_off(&open, runtime, || !Session::is_stopped(), after);
        tally.end();
        if Session::is_stopped() {
            let left = jobs.iter().filter(|job| !self.has(&job.key)).count();
            anyhow::bail!(
                "stopped by the user; {} of {} cells are kept in {}: the same command goes on there",
                jobs.len() - left,
                jobs.len(),
                self.folder.display()
            );
        }
        Ok(failures.into_inner().unwrap_or_default())
    }
}

/// The fields in which two headers differ, in words.
fn differences(there: &Value, here: &Value) -> String {
    let fields = here.as_object().into_iter().flatten();
    let differing = fields.filter(|(name, value)| there[name.as_str()] != **value);
    let words: Vec<String> = differing
        .map(|(name, value)| match value {
            Value::Array(_) => format!("other {name}"),
            value => format!("{name} {} there, {value} here", there[name.as_str()]),
        })
        .collect();
    words.join("; ")
}

/// Makes a folder where there is none.
pub fn create_folder(folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|source| Error::write(folder, source))
}

/// Writes a small text file.
pub fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    io::write_file(path, |file| {
        std::io::Write::write_all(file, text.as_bytes())
    })
}

/// How far a list of tasks is, and how long the others will take.
pub struct Tally {
    progress: Progress,
    kept: usize,
    all: usize,
    open_cost: f64,
    done: Mutex<(usize, f64)>,
}

impl Tally {
    /// Of so many tasks, of which those at these costs are to be done.
    pub fn new(session: &Session, all: usize, open: impl ExactSizeIterator<Item = f64>) -> Tally {
        let tally = Tally {
            progress: Progress::start(session, "working"),
            kept: all - open.len(),
            all,
            open_cost: open.sum(),
            done: Mutex::default(),
        };
        tally.progress.cells(tally.kept, all, 0.0, tally.open_cost);
        tally
    }

    /// Counts a finished task.
    pub fn after(&self, cost: f64) {
        if let Ok(mut done) = self.done.lock() {
            done.0 += 1;
            done.1 += cost;
            let cells = self.kept + done.0;
            self.progress.cells(cells, self.all, done.1, self.open_cost);
        }
    }

    /// Takes the progress off the screen.
    pub fn end(self) {
        self.progress.end();
    }
}

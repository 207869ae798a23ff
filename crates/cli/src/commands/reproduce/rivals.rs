//! Other methods, run by the programs of a folder such as `bench/rivals`: data
//! goes out as files, embeddings come back, and we judge them as we judge ours.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::Context;
use linkproof::Error;
use linkproof::error::quote;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::cells::{Cells, Failure, Tally, create_folder, write_text};
use super::tasks::Task;
use crate::exit::Usage;
use crate::session::Session;

/// Where the rivals' data and results are, inside the experiment's folder.
pub const FOLDER: &str = "rivals";

/// A method of the folder.
#[derive(Debug, Clone, Deserialize)]
pub struct Rival {
    /// Its name.
    pub name: String,
    /// Its name in tables.
    pub title: String,
    /// The package and version.
    #[serde(default)]
    pub implementation: String,
    /// The settings it can be applied in.
    #[serde(default)]
    pub settings: Vec<String>,
    /// Whether it is for two views.
    #[serde(default)]
    pub views: bool,
    /// Whether it reads the link weights.
    #[serde(default)]
    pub reads_weights: bool,
    /// The rival that it is but for the weights, which are 1.
    #[serde(default)]
    pub variant_of: Option<String>,
    /// The package that is not installed.
    #[serde(default)]
    pub missing: Option<String>,
}

#[derive(Deserialize)]
struct List {
    rivals: Vec<Rival>,
    #[serde(default)]
    versions: Value,
}

#[derive(Deserialize)]
struct Answer {
    id: String,
    ok: bool,
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    error: String,
}

/// The folder of the rivals' programs.
pub struct Rivals {
    program: PathBuf,
    /// The rivals whose packages are there.
    pub list: Vec<Rival>,
    /// The others.
    pub missing: Vec<Rival>,
    /// The versions of packages.
    pub versions: Value,
}

impl Rivals {
    /// Asks a folder what it has.
    pub fn open(folder: &Path) -> anyhow::Result<Rivals> {
        let program = folder.join("run");
        let hint = || {
            format!(
                "--rivals {}: expected a folder with the programs 'setup' and 'run', such as \
                 bench/rivals of the source code, set up by 'bench/rivals/setup'",
                folder.display()
            )
        };
        let found = Command::new(&program)
            .arg("list")
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| Usage::new(format!("{} ({error})", hint())))?;
        if !found.status.success() {
            return Err(Usage::new(format!("{}; 'run list' failed", hint())).into());
        }
        let list: List = serde_json::from_slice(&found.stdout)
            .map_err(|error| Usage::new(format!("{}; 'run list' wrote: {error}", hint())))?;
        let (missing, there) = list.rivals.into_iter().partition(|r| r.missing.is_some());
        Ok(Rivals {
            program,
            list: there,
            missing,
            versions: list.versions,
        })
    }

    /// The rivals, for the record of an experiment.
    pub fn json(&self) -> Value {
        let list = self.list.iter().chain(&self.missing).map(|rival| {
            json!({
                "name": rival.name, "title": rival.title, "reads_weights": rival.reads_weights,
                "implementation": rival.implementation, "missing": rival.missing,
            })
        });
        json!({ "list": list.collect::<Vec<_>>(), "versions": self.versions })
    }

    /// The rivals that could not be run, in words.
    pub fn left_out(&self) -> Option<String> {
        let words = self.missing.iter().map(|rival| {
            let package = rival.missing.as_deref().unwrap_or_default();
            format!("{} (package {package})", rival.title)
        });
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| format!("Not installed, so left out: {}.", words.join(", ")))
    }

    /// Does the tasks that are not done, in one process of the folder's, and says
    /// which failed.
    pub fn work(
        &self,
        tasks: &[Task<'_>],
        cells: &Cells,
        out: &Path,
        processes: usize,
        session: &Session,
    ) -> anyhow::Result<Vec<Failure>> {
        let open: Vec<&Task<'_>> = tasks.iter().filter(|task| !cells.has(&task.key)).collect();
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let work = out.join(FOLDER);
        let file = prepare(&work, &open)?;
        let log = work.join("log.txt");
        let log = File::create(&log).map_err(|source| Error::write(&log, source))?;
        let child = Command::new(&self.program)
            .arg("jobs")
            .arg(absolute(&file)?)
            .args(["--processes", &processes.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{}: cannot be started", self.program.display()))?;
        let mut running = Running(child);
        let answers = running.0.stdout.take().context("the rivals' answers")?;
        let failures = Mutex::default();
        let tally = Tally::new(session, open.len(), open.iter().map(|_| 1.0));
        let judged = |task: &Task<'_>, answer: &Answer| {
            if let Err(error) = judge(task, answer, &work, cells) {
                fail(&failures, &task.key, error.to_string());
            }
            tally.after(1.0);
        };
        // Answers are judged aside, as many at once as there are threads: what a
        // network takes a second for, k-means may take one for as well.
        let (judged, is_alone) = (&judged, rayon::current_num_threads() == 1);
        let done = rayon::in_place_scope(|scope| {
            read(answers, |line| {
                let answer: Option<Answer> = serde_json::from_str(line).ok();
                let answer = answer.and_then(|answer| {
                    let task = open.iter().find(|task| task.key == answer.id)?;
                    Some((*task, answer))
                });
                match answer {
                    Some((task, answer)) if is_alone => judged(task, &answer),
                    Some((task, answer)) => scope.spawn(move |_| judged(task, &answer)),
                    None => fail(
                        &failures,
                        FOLDER,
                        format!("an answer that is none: {}", quote(line)),
                    ),
                }
            })
        });
        tally.end();
        done?;
        let status = running.0.wait().context("the rivals' program")?;
        let mut failures = failures.into_inner().unwrap_or_default();
        for task in open {
            let failed = failures.iter().any(|(other, _)| *other == task.key);
            if !failed && !cells.has(&task.key) {
                let reason = format!(
                    "no answer; the program ended with {status}, and {} has what it said",
                    work.join("log.txt").display()
                );
                failures.push((task.key.clone(), reason));
            }
        }
        Ok(failures)
    }
}

fn fail(failures: &Mutex<Vec<Failure>>, key: &str, reason: String) {
    if let Ok(mut failures) = failures.lock() {
        failures.push((key.to_owned(), reason));
    }
}

/// Reads lines until there are no more, and passes them on.
fn read(answers: ChildStdout, mut pass: impl FnMut(&str)) -> anyhow::Result<()> {
    // Lines come by a thread, so that an interrupt is seen between them.
    let (lines, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(answers).lines() {
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    loop {
        anyhow::ensure!(
            !Session::is_stopped(),
            "stopped by the user; finished cells are kept: the same command goes on"
        );
        match waiting.recv_timeout(Duration::from_millis(300)) {
            Ok(line) => pass(&line.context("the rivals' answers")?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// A process that does not outlive its owner.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; there is nobody left to tell.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn result(work: &Path, task: &Task<'_>) -> PathBuf {
    work.join("embeddings").join(format!("{}.npy", task.key))
}

/// Writes the data of the tasks and the list of jobs.
fn prepare(work: &Path, open: &[&Task<'_>]) -> anyhow::Result<PathBuf> {
    create_folder(&work.join("data"))?;
    create_folder(&work.join("embeddings"))?;
    let folder = |task: &Task<'_>| work.join("data").join(&task.data);
    let mut names = HashSet::new();
    let first = open.iter().filter(|task| names.insert(&task.data));
    let missing: Vec<_> = first.filter(|task| !folder(task).is_dir()).collect();
    missing.par_iter().try_for_each(|task| {
        anyhow::ensure!(!Session::is_stopped(), "stopped by the user");
        // To the side first, so that a folder that is there is whole.
        let side = work.join("data").join(format!(".{}.part", task.data));
        create_folder(&side)?;
        task.export(&side)?;
        let data = folder(task);
        std::fs::rename(&side, &data).map_err(|source| Error::write(&data, source))?;
        Ok(())
    })?;
    let mut lines = String::new();
    for task in open {
        let line = task.line(&absolute(&folder(task))?, &absolute(&result(work, task))?);
        lines.push_str(&format!("{line}\n"));
    }
    let file = work.join("jobs.jsonl");
    write_text(&file, &lines)?;
    Ok(file)
}

/// Judges what a task gave, and keeps the readings.
fn judge(task: &Task<'_>, answer: &Answer, work: &Path, cells: &Cells) -> Result<(), Error> {
    if !answer.ok {
        let reason = answer.error.clone();
        return Err(Error::data(task.key.clone(), reason, "an embedding"));
    }
    let path = result(work, task);
    cells.keep(&task.key, task.judge(&path)?, answer.seconds)?;
    // It has been judged, and thousands of them would fill a disk.
    std::fs::remove_file(&path).map_err(|source| Error::write(&path, source))
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| path.display().to_string())
}

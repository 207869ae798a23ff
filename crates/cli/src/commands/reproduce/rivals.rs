//! Other methods, run by the programs of a folder such as `bench/rivals`: data
//! goes out as files, embeddings come back, and we judge them as we judge ours.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use linkproof::data::features::Values;
use linkproof::error::quote;
use linkproof::io::{self, Field};
use linkproof::{Dataset, Error, Matrix};
use linkproof_lab::job::Reading;
use linkproof_lab::planted::TwoViews;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::cells::{Cells, Failure, Tally, create_folder, write_text};
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

/// Judges the embeddings that a rival wrote: so many rows, one after the other.
type Judge<'t> = Box<dyn Fn(&[f32], usize) -> Result<Vec<Reading>, Error> + Send + Sync + 't>;
/// Writes the data of a task into a folder.
type Export<'t> = Box<dyn Fn(&Path) -> Result<(), Error> + Send + Sync + 't>;

/// One run of a rival.
pub struct Task<'t> {
    /// Its name, unique in the experiment.
    pub key: String,
    /// The rival.
    pub rival: String,
    /// What it may see.
    pub setting: &'static str,
    /// The name of the data, the same for tasks on the same data.
    pub data: String,
    /// The number of classes.
    pub clusters: usize,
    /// The seed.
    pub seed: u64,
    /// Writes the data.
    pub export: Export<'t>,
    /// Judges the result.
    pub judge: Judge<'t>,
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

    /// Does the tasks that are not done, in one process of the folder's, and says
    /// which failed.
    pub fn work(
        &self,
        tasks: &[Task<'_>],
        cells: &Cells,
        (out, processes): (&Path, usize),
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
        // Answers are judged aside, as many at once as there are threads: what a
        // network takes a second for, k-means may take one for as well.
        let done = std::thread::scope(|scope| {
            let (answered, waiting) = mpsc::channel();
            let waiting = Arc::new(Mutex::new(waiting));
            for _ in 0..rayon::current_num_threads() {
                let (waiting, work) = (waiting.clone(), &work);
                let (failures, tally) = (&failures, &tally);
                let judge_all = move || {
                    while let Some((task, answer)) = next(&waiting) {
                        if let Err(error) = judge(task, &answer, work, cells) {
                            fail(failures, &task.key, error.to_string());
                        }
                        tally.after(1.0);
                    }
                };
                // Threads of its own: those of this command may all be waiting here.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                scope.spawn(move || match pool {
                    Ok(pool) => pool.install(judge_all),
                    Err(_) => judge_all(),
                });
            }
            read(answers, &open, &answered, &failures)
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

/// An answer to be judged; none when all are, or on an interrupt.
fn next<T>(waiting: &Mutex<Receiver<T>>) -> Option<T> {
    let next = waiting.lock().ok()?.recv().ok();
    next.filter(|_| !Session::is_stopped())
}

fn fail(failures: &Mutex<Vec<Failure>>, key: &str, reason: String) {
    if let Ok(mut failures) = failures.lock() {
        failures.push((key.to_owned(), reason));
    }
}

/// Reads answers until there are no more, and passes them on.
fn read<'o, 't>(
    answers: ChildStdout,
    open: &[&'o Task<'t>],
    answered: &Sender<(&'o Task<'t>, Answer)>,
    failures: &Mutex<Vec<Failure>>,
) -> anyhow::Result<()> {
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
        let line = match waiting.recv_timeout(Duration::from_millis(300)) {
            Ok(line) => line.context("the rivals' answers")?,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        match task_of(open, &line) {
            Some(answer) => {
                let sent = answered.send(answer);
                sent.map_err(|_| anyhow::anyhow!("the judges of answers ended early"))?;
            }
            None => fail(
                failures,
                FOLDER,
                format!("an answer that is none: {}", quote(&line)),
            ),
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
        (task.export)(&side)?;
        let data = folder(task);
        std::fs::rename(&side, &data).map_err(|source| Error::write(&data, source))?;
        Ok(())
    })?;
    let mut lines = String::new();
    for task in open {
        let job = json!({
            "id": task.key, "rival": task.rival, "data": absolute(&folder(task))?,
            "setting": task.setting, "clusters": task.clusters, "seed": task.seed,
            "out": absolute(&result(work, task))?,
        });
        lines.push_str(&format!("{job}\n"));
    }
    let file = work.join("jobs.jsonl");
    write_text(&file, &lines)?;
    Ok(file)
}

/// The task that a line answers.
fn task_of<'o, 't>(open: &[&'o Task<'t>], line: &str) -> Option<(&'o Task<'t>, Answer)> {
    let answer: Answer = serde_json::from_str(line).ok()?;
    let task = open.iter().find(|task| task.key == answer.id)?;
    Some((task, answer))
}

/// Judges what a task gave, and keeps the readings.
fn judge(task: &Task<'_>, answer: &Answer, work: &Path, cells: &Cells) -> Result<(), Error> {
    if !answer.ok {
        let reason = answer.error.clone();
        return Err(Error::data(task.key.clone(), reason, "an embedding"));
    }
    let path = result(work, task);
    let found = io::read_embeddings(&path)?;
    let readings = (task.judge)(&found.values, found.n)?;
    cells.keep(&task.key, readings, answer.seconds)?;
    // It has been judged, and thousands of them would fill a disk.
    std::fs::remove_file(&path).map_err(|source| Error::write(&path, source))
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    let path = std::path::absolute(path).with_context(|| path.display().to_string())?;
    Ok(path.display().to_string())
}

/// Writes links, data vectors and test rows as rivals read them.
pub fn export(folder: &Path, data: &Dataset, test: &[u32]) -> Result<(), Error> {
    export_links(folder, data, |row| row)?;
    let Some(matrix) = &data.views()[0].matrix else {
        return Err(Error::data("data", "no data vectors", "some"));
    };
    export_matrix(folder, "features", matrix)?;
    io::write_table(folder.join("test.csv"), &["node"], |rows| {
        test.iter()
            .try_for_each(|&row| rows.row(&[Field::Whole(row.into())]))
    })
}

/// Writes two views as rivals read them: all things, of which the last have no
/// links.
pub fn export_views(folder: &Path, views: &TwoViews) -> Result<(), Error> {
    let gap = (views.things() - views.known) as u32;
    export_links(folder, &views.data, |row| match row as usize {
        row if row < views.known => row as u32,
        row => row as u32 + gap,
    })?;
    for (matrix, name) in views.vectors.iter().zip(["features-a", "features-b"]) {
        export_matrix(folder, name, matrix)?;
    }
    Ok(())
}

fn export_links(folder: &Path, data: &Dataset, place: impl Fn(u32) -> u32) -> Result<(), Error> {
    let columns = ["src", "dst", "weight"];
    io::write_table(folder.join("links.csv"), &columns, |rows| {
        data.graph().links().try_for_each(|link| {
            rows.row(&[
                Field::Whole(place(link.src).into()),
                Field::Whole(place(link.dst).into()),
                Field::Real(link.weight),
            ])
        })
    })
}

fn export_matrix(folder: &Path, name: &str, matrix: &Matrix) -> Result<(), Error> {
    match matrix {
        Matrix::Dense(dense) => {
            let path = folder.join(format!("{name}.npy"));
            let (rows, columns) = (dense.n_rows(), dense.n_columns());
            match dense.values() {
                Values::F32(values) => io::write_npy(path, rows, columns, values),
                Values::F64(values) => io::write_npy(path, rows, columns, values),
            }
        }
        Matrix::Sparse(sparse) => {
            let entries = sparse.values().len();
            let (rows, columns) = (sparse.n_rows(), sparse.n_columns());
            io::write_file(folder.join(format!("{name}.mtx")), |file| {
                use std::io::Write;
                writeln!(file, "%%MatrixMarket matrix coordinate real general")?;
                writeln!(file, "{rows} {columns} {entries}")?;
                for row in 0..rows {
                    for (column, value) in matrix.row(row) {
                        writeln!(file, "{} {} {value}", row + 1, column + 1)?;
                    }
                }
                Ok(())
            })
        }
    }
}

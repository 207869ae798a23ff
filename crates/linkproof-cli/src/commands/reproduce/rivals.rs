//! Other methods, run by the programs of a folder such as `bench/rivals`: data
//! goes out as files, embeddings come back, and we judge them as we judge ours.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use linkproof::experiment::job::Reading;
use linkproof::features::Values;
use linkproof::io::{self, Field};
use linkproof::{Dataset, Error, Matrix};
use serde::Deserialize;
use serde_json::json;

use super::cells::{Cells, Outcome, write_text};
use crate::exit::Usage;
use crate::progress::Progress;
use crate::session::Session;

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
    /// The package that is not installed.
    #[serde(default)]
    pub missing: Option<String>,
}

#[derive(Deserialize)]
struct List {
    rivals: Vec<Rival>,
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
type Judge<'t> = Box<dyn Fn(&[f32], usize) -> Result<Vec<Reading>, Error> + 't>;
/// Writes the data of a task into a folder.
type Export<'t> = Box<dyn Fn(&Path) -> Result<(), Error> + 't>;

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
        Ok(Rivals {
            program,
            list: list.rivals,
        })
    }

    /// Does the tasks that are not done, in one process of the folder's.
    pub fn work(
        &self,
        tasks: &[Task<'_>],
        cells: &Cells,
        (out, processes): (&Path, usize),
        session: &Session,
        outcome: &mut Outcome,
    ) -> anyhow::Result<()> {
        let open: Vec<&Task<'_>> = tasks.iter().filter(|task| !cells.has(&task.key)).collect();
        if !open.is_empty() {
            self.run(&open, cells, (out, processes), session, outcome)?;
        }
        cells.gather(tasks.iter().map(|task| task.key.clone()), outcome);
        Ok(())
    }

    fn run(
        &self,
        open: &[&Task<'_>],
        cells: &Cells,
        (out, processes): (&Path, usize),
        session: &Session,
        outcome: &mut Outcome,
    ) -> anyhow::Result<()> {
        let work = out.join("rivals");
        let create = |folder: &Path| {
            std::fs::create_dir_all(folder).map_err(|source| Error::write(folder, source))
        };
        create(&work.join("data"))?;
        create(&work.join("embeddings"))?;
        let result = |task: &Task<'_>| work.join("embeddings").join(format!("{}.npy", task.key));
        let mut lines = String::new();
        for task in open {
            let data = work.join("data").join(&task.data);
            if !data.is_dir() {
                // To the side first, so that a folder that is there is whole.
                let side = work.join("data").join(format!(".{}.part", task.data));
                create(&side)?;
                (task.export)(&side)?;
                std::fs::rename(&side, &data).map_err(|source| Error::write(&data, source))?;
            }
            let job = json!({
                "id": task.key, "rival": task.rival, "data": absolute(&data)?,
                "setting": task.setting, "clusters": task.clusters, "seed": task.seed,
                "out": absolute(&result(task))?,
            });
            lines.push_str(&format!("{job}\n"));
        }
        let file = work.join("jobs.jsonl");
        write_text(&file, &lines)?;
        let log = work.join("log.txt");
        let log = File::create(&log).map_err(|source| Error::write(&log, source))?;
        let mut child = Command::new(&self.program)
            .arg("jobs")
            .arg(absolute(&file)?)
            .args(["--processes", &processes.to_string()])
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{}: cannot be started", self.program.display()))?;
        let progress = Progress::start(session, "rivals");
        let clock = std::time::Instant::now();
        let answers = child.stdout.take().context("the rivals' answers")?;
        for (place, line) in BufReader::new(answers).lines().enumerate() {
            let line = line.context("the rivals' answers")?;
            let Ok(answer) = serde_json::from_str::<Answer>(&line) else {
                anyhow::bail!("the rivals' program wrote '{line}'; expected a JSON object a line");
            };
            let Some(task) = open.iter().find(|task| task.key == answer.id) else {
                continue;
            };
            let judged = match answer.ok {
                true => read(&result(task)).and_then(|(y, rows)| (task.judge)(&y, rows)),
                false => Err(Error::data(task.key.clone(), answer.error, "an embedding")),
            };
            match judged {
                Ok(readings) => cells.keep(&task.key, readings, answer.seconds)?,
                Err(error) => outcome.failures.push((task.key.clone(), error.to_string())),
            }
            let done = place + 1;
            let left = open.len().saturating_sub(done) as f64;
            let left = clock.elapsed().as_secs_f64() / done as f64 * left;
            progress.cells(done, open.len(), left);
        }
        progress.end();
        let status = child.wait().context("the rivals' program")?;
        if Session::is_stopped() {
            anyhow::bail!("stopped by the user; finished cells are kept: the same command goes on");
        }
        anyhow::ensure!(
            status.success(),
            "the rivals' program ended with {status}; {} has what it said. Finished cells are \
             kept: the same command goes on",
            work.join("log.txt").display()
        );
        Ok(())
    }
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    let path = std::path::absolute(path).with_context(|| path.display().to_string())?;
    Ok(path.display().to_string())
}

/// Embeddings and their number of rows.
fn read(path: &Path) -> Result<(Vec<f32>, usize), Error> {
    let matrix = io::read_npy(path)?;
    let rows = matrix.n_rows();
    let Matrix::Dense(dense) = matrix else {
        return Err(Error::input(path, None, "a sparse matrix", "a dense one"));
    };
    let y = match dense.into_values() {
        Values::F32(values) => values,
        Values::F64(values) => values.into_iter().map(|y| y as f32).collect(),
    };
    Ok((y, rows))
}

/// Writes links, data vectors and test rows as rivals read them.
pub fn export(folder: &Path, data: &Dataset, test: &[u32]) -> Result<(), Error> {
    export_links(folder, data)?;
    let Some(matrix) = &data.views()[0].matrix else {
        return Err(Error::data("data", "no data vectors", "some"));
    };
    export_matrix(folder, "features", matrix)?;
    io::write_table(folder.join("test.csv"), &["node"], |rows| {
        test.iter()
            .try_for_each(|&row| rows.row(&[Field::Whole(row.into())]))
    })
}

/// Writes two views as rivals read them.
pub fn export_views(folder: &Path, data: &Dataset) -> Result<(), Error> {
    export_links(folder, data)?;
    for view in data.views() {
        if let Some(matrix) = &view.matrix {
            export_matrix(folder, &format!("features-{}", view.name), matrix)?;
        }
    }
    Ok(())
}

fn export_links(folder: &Path, data: &Dataset) -> Result<(), Error> {
    let columns = ["src", "dst", "weight"];
    io::write_table(folder.join("links.csv"), &columns, |rows| {
        data.graph().links().try_for_each(|link| {
            rows.row(&[
                Field::Whole(link.src.into()),
                Field::Whole(link.dst.into()),
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

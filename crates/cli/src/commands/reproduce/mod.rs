//! `linkproof reproduce`: the experiments, each by one command.

mod cells;
mod rivals;
mod tables;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use linkproof::Error;
use linkproof::io;
use linkproof_lab::job::{Job, Table};
use linkproof_lab::labelled::Labelled;
use linkproof_lab::table1;
use linkproof_pictures::drawing::Drawing;
use serde_json::{Value, json};

use self::cells::{Cells, Outcome, write_text};
use self::rivals::{Rivals, Task};
use crate::args::{quoted, whole};
use crate::exit::Usage;
use crate::picture::write_drawing;
use crate::session::Session;

/// Run the experiments: the paper's tables and figure, and contamination
///
///   table1         clusters of the paper's synthetic graph, under false links
///   figure1        its embeddings by the likelihood and the moment score
///   table2         clusters of Cora's test nodes, known (A) and unseen (B)
///   contamination  false links, corrupted weights and missing links, on Cora
///                  and on two generated graphs (a block model, two views)
///
/// Writes a table as Markdown and JSON, and pictures as SVG and PNG. Finished
/// cells are kept in --out: an interrupted run goes on where it was, and a
/// larger --runs adds to what is there. With --rivals, other methods are run on
/// the same data and judged in the same way.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof reproduce table1 --out table1\n  \
    linkproof datasets fetch cora\n  \
    linkproof reproduce table2 --data cora --out table2\n  \
    bench/rivals/setup && \\\n    \
    linkproof reproduce contamination --data cora --rivals bench/rivals --runs 2 --out contamination")]
pub struct ReproduceArgs {
    /// The experiment
    #[arg(value_enum, value_name = "EXPERIMENT")]
    experiment: Experiment,
    /// Folder of a data set with classes, as 'linkproof datasets fetch cora'
    /// makes it: edges.csv, features.mtx, labels.csv
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Data sets or splits
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole)]
    runs: usize,
    /// Folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Folder of programs that run other methods: bench/rivals of the source
    #[arg(long, value_name = "DIR")]
    rivals: Option<PathBuf>,
    /// Processes of other methods at a time
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole, requires = "rivals")]
    processes: usize,
    /// Work on other methods alone; our cells as far as they are there
    #[arg(long, requires = "rivals")]
    only_rivals: bool,
    /// Small sizes and few steps, to see that everything works
    #[arg(long)]
    quick: bool,
    /// Begin anew in a folder that holds something else
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Experiment {
    Table1,
    Figure1,
    Table2,
    Contamination,
}

impl Experiment {
    /// As it is typed.
    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// What an experiment found.
#[derive(Default)]
struct Found {
    tables: Vec<Table>,
    pictures: Vec<(String, Drawing)>,
    outcome: Outcome,
    more: Option<Value>,
    note: Option<&'static str>,
}

/// What the experiments work with.
struct Run<'r> {
    runs: u64,
    seed: u64,
    quick: bool,
    out: &'r Path,
    cells: Cells,
    rivals: Option<Rivals>,
    processes: usize,
    only_rivals: bool,
    session: &'r Session,
}

impl Run<'_> {
    /// Does our jobs, or gathers what is there of them.
    fn work(&self, jobs: &[Job<'_>]) -> anyhow::Result<Outcome> {
        if !self.only_rivals {
            return self.cells.work(jobs, self.session);
        }
        let mut outcome = Outcome::default();
        let keys = jobs.iter().map(|job| job.key.clone());
        self.cells.gather(keys, &mut outcome);
        Ok(outcome)
    }

    fn work_on_rivals(&self, tasks: &[Task<'_>], outcome: &mut Outcome) -> anyhow::Result<()> {
        let Some(rivals) = &self.rivals else {
            return Ok(());
        };
        let place = (self.out, self.processes);
        rivals.work(tasks, &self.cells, place, self.session, outcome)
    }
}

/// Runs the command.
pub fn run(args: &ReproduceArgs, session: &Session) -> anyhow::Result<()> {
    let clock = Instant::now();
    if args.runs == 0 {
        return Err(Usage::new("--runs 0: expected 1 or more").into());
    }
    let needs_data = args.experiment == Experiment::Table2;
    if needs_data && args.data.is_none() {
        return Err(Usage::new(
            "reproduce table2: needs --data DIR, a folder that 'linkproof datasets fetch cora' makes",
        )
        .into());
    }
    let graph = args.data.as_deref().map(Labelled::read).transpose()?;
    if let (Some(graph), Some(folder)) = (&graph, &args.data) {
        check(graph, folder)?;
    }
    let seed = session.seed().unwrap_or(0);
    let rivals = args.rivals.as_deref().map(Rivals::open).transpose()?;
    let header = header(args, seed)?;
    let run = Run {
        runs: args.runs as u64,
        seed,
        quick: args.quick,
        out: &args.out,
        cells: Cells::open(&args.out, &header, args.force)?,
        rivals,
        processes: args.processes.max(1),
        only_rivals: args.only_rivals,
        session,
    };
    Session::stop_on_interrupt()?;
    let found = match (args.experiment, &graph) {
        (Experiment::Table1, _) => table1(&run)?,
        (Experiment::Figure1, _) => figure1(&run)?,
        (Experiment::Table2, Some(graph)) => tables::table2(&run, graph)?,
        (_, graph) => tables::contamination(&run, graph.as_ref())?,
    };
    write(args, &run, &found, clock)
}

/// Refuses data whose test nodes cannot be clustered.
fn check(graph: &Labelled, folder: &Path) -> Result<(), Error> {
    let (classes, test) = (graph.n_classes(), graph.split(0).test.len());
    if classes < 2 || test < classes {
        return Err(Error::input(
            &folder.join("labels.csv"),
            None,
            format!("{classes} classes and {test} test nodes, a fifth of all"),
            "two classes or more, and at least as many test nodes as classes",
        ));
    }
    Ok(())
}

/// To be raised whenever a cell of the same name comes to mean something else.
const RECIPES: u32 = 1;

/// What the cells of a folder belong to.
fn header(args: &ReproduceArgs, seed: u64) -> Result<Value, Error> {
    let mut digests = Vec::new();
    for folder in args.data.iter() {
        for name in ["edges.csv", "features.mtx", "labels.csv"] {
            digests.push(json!({ "file": name, "sha256": io::digest(folder.join(name))? }));
        }
    }
    Ok(json!({
        "experiment": args.experiment.name(), "seed": seed, "quick": args.quick,
        "linkproof": env!("CARGO_PKG_VERSION"), "recipes": RECIPES, "data": digests,
    }))
}

fn table1(run: &Run<'_>) -> anyhow::Result<Found> {
    let jobs = table1::jobs(run.runs, run.seed);
    let mut outcome = run.work(&jobs)?;
    outcome.readings = table1::with_best(outcome.readings)?;
    Ok(Found {
        tables: vec![table1::table(run.runs)],
        outcome,
        ..Found::default()
    })
}

fn figure1(run: &Run<'_>) -> anyhow::Result<Found> {
    let (drawing, panels) = table1::figure1(run.seed)?;
    let panel = |(beta, purity)| json!({ "beta": beta, "purity": purity });
    let panels: Vec<Value> = panels.into_iter().map(panel).collect();
    Ok(Found {
        pictures: vec![("figure1".into(), drawing)],
        more: Some(json!({ "xi": 0.03, "ridge": 1.0, "panels": panels })),
        ..Found::default()
    })
}

fn write(args: &ReproduceArgs, run: &Run<'_>, found: &Found, clock: Instant) -> anyhow::Result<()> {
    let name = args.experiment.name();
    let readings = &found.outcome.readings;
    let mut files = Vec::new();
    let charts = found.tables.iter().map(|table| {
        let drawing = table.chart(readings).draw();
        (table.name.clone(), drawing)
    });
    let pictures: Vec<_> = found.pictures.iter().cloned().chain(charts).collect();
    for (name, drawing) in &pictures {
        for extension in ["svg", "png"] {
            let path = args.out.join(format!("{name}.{extension}"));
            write_drawing(&path, drawing)?;
            files.push(path.display().to_string());
        }
    }
    let tables: Vec<String> = found.tables.iter().map(|t| t.markdown(readings)).collect();
    let command = command_line(args, run.seed);
    let mut words = format!("`{command}` (linkproof {}).\n", env!("CARGO_PKG_VERSION"));
    let shown = pictures
        .iter()
        .map(|(name, _)| format!("![{name}]({name}.svg)\n"));
    let notes = found
        .note
        .map(str::to_owned)
        .into_iter()
        .chain(missing(run));
    let notes = notes.map(|note| format!("{note}\n"));
    for part in tables.into_iter().chain(shown).chain(notes) {
        words.push_str(&format!("\n{part}"));
    }
    let failures: Vec<Value> = found
        .outcome
        .failures
        .iter()
        .map(|(key, reason)| json!({ "cell": key, "reason": reason }))
        .collect();
    let markdown = args.out.join(format!("{name}.md"));
    write_text(&markdown, &words)?;
    let path = args.out.join(format!("{name}.json"));
    files.extend([&markdown, &path].map(|path| path.display().to_string()));
    let json = json!({
        "experiment": name, "command": command, "linkproof": env!("CARGO_PKG_VERSION"),
        "runs": run.runs, "seed": run.seed, "quick": run.quick,
        "tables": found.tables.iter().map(|t| t.json(readings)).collect::<Vec<_>>(),
        "rivals": rivals_json(run), "failures": failures, "more": found.more.clone().unwrap_or_else(|| json!({})),
        "cell_seconds": found.outcome.seconds, "seconds": clock.elapsed().as_secs_f64(),
        "threads": rayon::current_num_threads(), "files": files,
    });
    write_text(&path, &format!("{json:#}\n"))?;
    let said = format!("{}\nWritten: {}", words.trim_end(), files.join(", "));
    run.session.finish(&json, &said)?;
    if let Some((key, reason)) = found.outcome.failures.first() {
        anyhow::bail!(
            "{} of the cells failed and are missing from the tables; the first is {key}: {reason}. \
             The others are kept: the same command tries the failed ones again",
            found.outcome.failures.len()
        );
    }
    Ok(())
}

fn rivals_json(run: &Run<'_>) -> Value {
    let Some(rivals) = &run.rivals else {
        return Value::Null;
    };
    let all = rivals.list.iter().chain(&rivals.missing);
    let list: Vec<Value> = all
        .map(|rival| {
            json!({
                "name": rival.name, "title": rival.title, "reads_weights": rival.reads_weights,
                "implementation": rival.implementation, "missing": rival.missing,
            })
        })
        .collect();
    json!({ "list": list, "versions": rivals.versions })
}

/// The rivals that could not be run, in words.
fn missing(run: &Run<'_>) -> Option<String> {
    let rivals = run.rivals.as_ref()?;
    let words: Vec<String> = rivals
        .missing
        .iter()
        .map(|rival| {
            let package = rival.missing.as_deref().unwrap_or_default();
            format!("{} (package {package})", rival.title)
        })
        .collect();
    (!words.is_empty()).then(|| format!("Not installed, so left out: {}.", words.join(", ")))
}

fn command_line(args: &ReproduceArgs, seed: u64) -> String {
    let mut words = vec![format!("linkproof reproduce {}", args.experiment.name())];
    let folder = |path: &Path| quoted(&path.display().to_string());
    for (name, path) in [("data", &args.data), ("rivals", &args.rivals)] {
        words.extend(path.iter().map(|path| format!("--{name} {}", folder(path))));
    }
    words.push(format!("--runs {} --seed {seed}", args.runs));
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.push(format!("--out {}", folder(&args.out)));
    words.join(" ")
}

//! `linkproof reproduce`: the experiments, each by one command.

mod cells;
mod rivals;
mod tables;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use linkproof::Error;
use linkproof::io;
use linkproof_lab::contamination::Column;
use linkproof_lab::false_links;
use linkproof_lab::job::{Job, Table};
use linkproof_lab::labelled::{Labelled, features_in};
use linkproof_lab::planted_links;
use linkproof_lab::suite::{GENERATED, METHODS};
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
///   contamination  false links, corrupted weights and missing links, on the
///                  graphs of --data and on generated ones (a block model,
///                  bloggers, two views)
///   false-links    the judge of links on the graphs of --data, with false links
///                  planted between classes
///   planted        the judge of links on planted designs, and after 30 checks
///
/// Writes a table as Markdown and JSON, and pictures as SVG and PNG. Finished
/// cells are kept in --out: an interrupted run goes on where it was, and a
/// larger --runs adds to what is there. With --rivals, other methods are run on
/// the same data and judged in the same way. --graphs, --damage and --methods
/// work on a part; the tables show all that is there.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof reproduce table1 --out table1\n  \
    linkproof datasets fetch cora\n  \
    linkproof reproduce table2 --data cora --out table2\n  \
    bench/rivals/setup && \\\n    \
    linkproof reproduce contamination --data cora --rivals bench/rivals --runs 2 --out contamination\n  \
    linkproof reproduce contamination --data cora --runs 2 --only-tables --out contamination")]
pub struct ReproduceArgs {
    /// The experiment
    #[arg(value_enum, value_name = "EXPERIMENT")]
    experiment: Experiment,
    /// Folder of a data set with classes, as 'linkproof datasets fetch cora'
    /// makes it: edges.csv, features.mtx, labels.csv; contamination takes several
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
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
    /// Write the tables of what is there, and work on nothing
    #[arg(long, conflicts_with = "only_rivals")]
    only_tables: bool,
    #[command(flatten)]
    choice: Choice,
    /// Small sizes and few steps, to see that everything works
    #[arg(long)]
    quick: bool,
    /// Begin anew in a folder that holds something else
    #[arg(long)]
    force: bool,
}

/// What is worked on; a list that is empty stands for all.
#[derive(Debug, Default, Args)]
struct Choice {
    /// Work on some graphs of contamination: names of --data, blocks, bloggers, views
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    graphs: Vec<String>,
    /// Work on some kinds of damage: clean, u30, u90, d30, d90, a30, a90, w10x100,
    /// w50x10, w30x3, r30 (uniform, by degree, alike, share x weight, removed)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    damage: Vec<String>,
    /// Work on some methods: robust, plain, vectors, network, or names of rivals
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
}

impl Choice {
    fn wants(&self, graph: &str, damage: Option<&str>, method: &str) -> bool {
        let has = |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
        has(&self.graphs, graph)
            && damage.is_none_or(|damage| has(&self.damage, damage))
            && has(&self.methods, method)
    }

    /// Refuses names that nothing has.
    fn check(
        &self,
        experiment: Experiment,
        graphs: &[String],
        rivals: &[String],
    ) -> anyhow::Result<()> {
        let damage: Vec<String> = Column::ALL.map(|column| column.key.to_owned()).into();
        let ours = METHODS.into_iter().chain(["network"]).map(str::to_owned);
        let methods: Vec<String> = ours.chain(rivals.iter().cloned()).collect();
        let (none, contaminates) = (Vec::new(), experiment == Experiment::Contamination);
        let tables = contaminates || experiment == Experiment::Table2;
        for (option, list, names, takes) in [
            ("--graphs", &self.graphs, graphs, contaminates),
            ("--damage", &self.damage, &damage[..], contaminates),
            ("--methods", &self.methods, &methods[..], tables),
        ] {
            let names = if takes { names } else { &none };
            if let Some(unknown) = list.iter().find(|name| !names.contains(name)) {
                let accepted = match takes {
                    true => format!("expected one or more of {}", names.join(", ")),
                    false => format!("reproduce {} has no such part", experiment.name()),
                };
                return Err(Usage::new(format!("{option} {unknown}: {accepted}")).into());
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Experiment {
    Table1,
    Figure1,
    Table2,
    Contamination,
    FalseLinks,
    Planted,
}

impl Experiment {
    /// As it is typed.
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
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
    only_tables: bool,
    choice: &'r Choice,
    session: &'r Session,
}

impl Run<'_> {
    /// Does our jobs and the rivals' tasks, as far as it is asked for, and gathers
    /// all that is there.
    fn work(&self, jobs: &[Job<'_>], tasks: &[Task<'_>]) -> anyhow::Result<Outcome> {
        let mut failures = Vec::new();
        if !self.only_tables {
            if !self.only_rivals {
                failures.extend(self.cells.work(jobs, self.session)?);
            }
            if let Some(rivals) = &self.rivals {
                let place = (self.out, self.processes);
                failures.extend(rivals.work(tasks, &self.cells, place, self.session)?);
            }
        }
        Ok(self.cells.gather(self.runs, failures)?)
    }
}

/// Runs the command.
pub fn run(args: &ReproduceArgs, session: &Session) -> anyhow::Result<()> {
    let clock = Instant::now();
    if args.runs == 0 {
        return Err(Usage::new("--runs 0: expected 1 or more").into());
    }
    let needs_data = args.experiment == Experiment::Table2;
    if needs_data && args.data.len() != 1 {
        return Err(Usage::new(
            "reproduce table2: needs one --data DIR, a folder that 'linkproof datasets fetch cora' makes",
        )
        .into());
    }
    if args.experiment == Experiment::FalseLinks && args.data.is_empty() {
        return Err(Usage::new(
            "reproduce false-links: needs --data DIR, a folder that 'linkproof datasets fetch cora' makes",
        )
        .into());
    }
    let mut graphs: Vec<Labelled> = Vec::new();
    for folder in &args.data {
        let graph = Labelled::read(folder)?;
        check(&graph, folder, &graphs)?;
        graphs.push(graph);
    }
    let seed = session.seed().unwrap_or(0);
    let rivals = args.rivals.as_deref().map(Rivals::open).transpose()?;
    let names = graphs.iter().map(|graph| graph.name.clone());
    let names: Vec<String> = names.chain(GENERATED.map(str::to_owned)).collect();
    let methods = rivals
        .iter()
        .flat_map(|rivals| rivals.list.iter().chain(&rivals.missing));
    let methods: Vec<String> = methods.map(|rival| rival.name.clone()).collect();
    args.choice.check(args.experiment, &names, &methods)?;
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
        only_tables: args.only_tables,
        choice: &args.choice,
        session,
    };
    let found = match (args.experiment, &graphs[..]) {
        (Experiment::Table1, _) => table1(&run)?,
        (Experiment::Figure1, _) => figure1(&run)?,
        (Experiment::Table2, [graph]) => tables::table2(&run, graph)?,
        (Experiment::FalseLinks, graphs) => false_links(&run, graphs)?,
        (Experiment::Planted, _) => planted(&run)?,
        (_, graphs) => tables::contamination(&run, graphs)?,
    };
    write(args, &run, &found, clock)
}

/// Refuses data whose test nodes cannot be clustered, and a name that is taken.
fn check(graph: &Labelled, folder: &Path, others: &[Labelled]) -> anyhow::Result<()> {
    let taken = others.iter().map(|other| other.name.as_str());
    if taken.chain(GENERATED).any(|name| name == graph.name) {
        return Err(Usage::new(format!(
            "--data {}: another graph is called {}; rename the folder",
            folder.display(),
            graph.name
        ))
        .into());
    }
    match graph.unfit() {
        Some((found, expected)) => {
            let path = folder.join("labels.csv");
            Err(Error::input(&path, None, found, expected).into())
        }
        None => Ok(()),
    }
}

/// To be raised whenever a cell of the same name comes to mean something else.
const RECIPES: u32 = 2;

/// What the cells of a folder belong to.
fn header(args: &ReproduceArgs, seed: u64) -> Result<Value, Error> {
    let mut digests = Vec::new();
    for folder in &args.data {
        let file = |name: &str| folder.join(name);
        for path in [file("edges.csv"), features_in(folder), file("labels.csv")] {
            let name = path.file_name().map(|name| name.to_string_lossy());
            digests.push(json!({ "file": name, "sha256": io::digest(&path)? }));
        }
    }
    Ok(json!({
        "experiment": args.experiment.name(), "seed": seed, "quick": args.quick,
        "linkproof": env!("CARGO_PKG_VERSION"), "recipes": RECIPES, "data": digests,
    }))
}

fn table1(run: &Run<'_>) -> anyhow::Result<Found> {
    let jobs = table1::jobs(run.runs, run.seed);
    let mut outcome = run.work(&jobs, &[])?;
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

fn false_links(run: &Run<'_>, graphs: &[Labelled]) -> anyhow::Result<Found> {
    let jobs = false_links::jobs(graphs, run.runs, run.seed);
    Ok(Found {
        outcome: run.work(&jobs, &[])?,
        tables: graphs
            .iter()
            .flat_map(|graph| false_links::tables(graph, run.runs))
            .collect(),
        ..Found::default()
    })
}

fn planted(run: &Run<'_>) -> anyhow::Result<Found> {
    let jobs = planted_links::jobs(run.runs, run.seed);
    let mut outcome = run.work(&jobs, &[])?;
    outcome.readings = planted_links::together(outcome.readings, run.runs);
    Ok(Found {
        tables: planted_links::tables(run.runs),
        outcome,
        ..Found::default()
    })
}

fn write(args: &ReproduceArgs, run: &Run<'_>, found: &Found, clock: Instant) -> anyhow::Result<()> {
    let name = args.experiment.name();
    let readings = &found.outcome.readings;
    let mut files = Vec::new();
    // Rows of different measures make no picture.
    let drawn = found
        .tables
        .iter()
        .filter(|table| !table.measure.is_empty());
    let charts = drawn.map(|table| {
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
    words.extend(
        args.data
            .iter()
            .map(|path| format!("--data {}", folder(path))),
    );
    let rivals = args.rivals.iter();
    words.extend(rivals.map(|path| format!("--rivals {}", folder(path))));
    words.push(format!("--runs {} --seed {seed}", args.runs));
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.push(format!("--out {}", folder(&args.out)));
    words.join(" ")
}

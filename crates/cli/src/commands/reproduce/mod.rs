//! `linkproof reproduce`: the experiments, each by one command.

mod cells;
mod rivals;
mod tasks;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use linkproof::Error;
use linkproof::io;
use linkproof_lab::contamination::Column;
use linkproof_lab::false_links;
use linkproof_lab::job::Experiment as Jobs;
use linkproof_lab::labelled::{Labelled, features_in};
use linkproof_lab::planted_links;
use linkproof_lab::suite::{self, GENERATED, METHODS, Subject};
use linkproof_lab::table1;
use linkproof_lab::table2;
use linkproof_pictures::drawing::Drawing;
use serde_json::{Value, json};

use self::cells::{Cells, Outcome, write_text};
use self::rivals::{Rival, Rivals};
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
/// Writes a table as Markdown and JSON, and pictures as SVG. Finished
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
    fn check(&self, of: Experiment, graphs: &[String], rivals: &[String]) -> Result<(), Usage> {
        let damage = Column::ALL.map(|column| column.key.to_owned());
        let ours = METHODS.into_iter().chain(["network"]).map(str::to_owned);
        let methods: Vec<String> = ours.chain(rivals.iter().cloned()).collect();
        let contaminates = of == Experiment::Contamination;
        for (option, list, names, takes) in [
            ("--graphs", &self.graphs, graphs, contaminates),
            ("--damage", &self.damage, &damage, contaminates),
            (
                "--methods",
                &self.methods,
                &methods,
                contaminates || of == Experiment::Table2,
            ),
        ] {
            if let Some(unknown) = list.iter().find(|name| !takes || !names.contains(name)) {
                let accepted = if takes {
                    format!("expected one or more of {}", names.join(", "))
                } else {
                    format!("reproduce {} has no such part", of.name())
                };
                return Err(Usage::new(format!("{option} {unknown}: {accepted}")));
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

/// Runs the command.
pub fn run(args: &ReproduceArgs, session: &Session) -> anyhow::Result<()> {
    let clock = Instant::now();
    let of = args.experiment;
    if args.runs == 0 {
        return Err(Usage::new("--runs 0: expected 1 or more").into());
    }
    let lacks_data = match of {
        Experiment::Table2 => args.data.len() != 1,
        Experiment::FalseLinks => args.data.is_empty(),
        _ => false,
    };
    if lacks_data {
        return Err(Usage::new(format!(
            "reproduce {}: needs --data DIR, a folder that 'linkproof datasets fetch cora' makes",
            of.name()
        ))
        .into());
    }
    let mut graphs: Vec<Labelled> = Vec::new();
    for folder in &args.data {
        let graph = Labelled::read(folder)?;
        check(&graph, folder, &graphs)?;
        graphs.push(graph);
    }
    let (runs, seed) = (args.runs as u64, session.seed().unwrap_or(0));
    let rivals = args.rivals.as_deref().map(Rivals::open).transpose()?;
    let names = graphs.iter().map(|graph| graph.name.clone());
    let names: Vec<String> = names.chain(GENERATED.map(str::to_owned)).collect();
    let others = rivals
        .iter()
        .flat_map(|it| it.list.iter().chain(&it.missing));
    let others: Vec<String> = others.map(|rival| rival.name.clone()).collect();
    let choice = &args.choice;
    choice.check(of, &names, &others)?;
    let cells = Cells::open(&args.out, &header(args, seed)?, args.force)?;
    let mut subjects: Vec<Subject> = graphs.iter().map(Subject::of).collect();
    if of == Experiment::Contamination {
        let generated = GENERATED.into_iter();
        subjects.extend(generated.filter_map(|name| Subject::generated(name, args.quick)));
    }
    let list: &[Rival] = rivals.as_ref().map_or(&[], |rivals| &rivals.list);
    let (jobs, tasks) = match (of, &graphs[..]) {
        (Experiment::Table1, _) => (table1::experiment(runs, seed), Vec::new()),
        (Experiment::Planted, _) => (planted_links::experiment(runs, seed), Vec::new()),
        (Experiment::FalseLinks, _) => {
            let jobs = false_links::experiment(&graphs, runs, seed);
            (jobs, Vec::new())
        }
        (Experiment::Table2, [graph, ..]) => {
            let rows = tasks::rows_of_table2(list);
            let wanted = |method: &str| choice.wants(&graph.name, None, method);
            let jobs = table2::experiment(graph, args.quick, runs, seed, rows, wanted);
            let tasks = tasks::table2(list, &subjects[0], choice, runs, seed);
            (jobs, tasks)
        }
        (Experiment::Contamination, _) => {
            let wanted = |graph: &str, damage: Option<&str>, method: &str| {
                choice.wants(graph, damage, method)
            };
            let jobs = suite::experiment(&subjects, runs, seed, wanted);
            let tasks = tasks::contamination(list, &subjects, choice, runs, seed);
            (jobs, tasks)
        }
        _ => (Jobs::default(), Vec::new()),
    };
    let mut failures = Vec::new();
    if !args.only_tables && !args.only_rivals {
        failures.extend(cells.work(&jobs.jobs, session)?);
    }
    if let (Some(rivals), false) = (&rivals, args.only_tables) {
        let processes = args.processes.max(1);
        failures.extend(rivals.work(&tasks, &cells, &args.out, processes, session)?);
    }
    let outcome = cells.gather(runs, failures)?;
    let (mut pictures, mut more) = (Vec::new(), json!({}));
    if of == Experiment::Figure1 {
        let (drawing, panels) = table1::figure1(seed)?;
        let panel = |(beta, purity)| json!({ "beta": beta, "purity": purity });
        let panels: Vec<Value> = panels.into_iter().map(panel).collect();
        pictures.push(("figure1".to_owned(), drawing));
        more = json!({ "xi": 0.03, "ridge": 1.0, "panels": panels });
    }
    for table in jobs.tables.iter().filter(|table| !table.measure.is_empty()) {
        let drawing = table.chart(&outcome.readings).draw();
        pictures.push((table.name.clone(), drawing));
    }
    let without_data = (of == Experiment::Contamination && graphs.is_empty()).then(|| {
        "Without --data: the generated graphs alone; 'linkproof datasets fetch cora' makes a \
         folder for it."
            .to_owned()
    });
    let left_out = rivals.as_ref().and_then(Rivals::left_out);
    let notes: Vec<String> = without_data.into_iter().chain(left_out).collect();
    let tables = jobs.tables.iter();
    let tables: Vec<Value> = tables.map(|table| table.json(&outcome.readings)).collect();
    let words = markdown(args, seed, &jobs, &outcome, &pictures, &notes);
    let json = json!({
        "experiment": of.name(), "command": command_line(args, seed),
        "linkproof": env!("CARGO_PKG_VERSION"), "runs": runs, "seed": seed, "quick": args.quick,
        "tables": tables, "rivals": rivals.as_ref().map(Rivals::json), "more": more,
        "failures": outcome.failures.iter()
            .map(|(key, reason)| json!({ "cell": key, "reason": reason })).collect::<Vec<_>>(),
        "cell_seconds": outcome.seconds, "seconds": clock.elapsed().as_secs_f64(),
        "threads": rayon::current_num_threads(),
    });
    write(args, session, json, &words, &pictures)?;
    if let Some((key, reason)) = outcome.failures.first() {
        anyhow::bail!(
            "{} of the cells failed and are missing from the tables; the first is {key}: {reason}. \
             The others are kept: the same command tries the failed ones again",
            outcome.failures.len()
        );
    }
    Ok(())
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
const RECIPES: u32 = 3;

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

/// The tables, the pictures and what else a reader should know.
fn markdown(
    args: &ReproduceArgs,
    seed: u64,
    jobs: &Jobs<'_>,
    outcome: &Outcome,
    pictures: &[(String, Drawing)],
    notes: &[String],
) -> String {
    let command = command_line(args, seed);
    let mut words = format!("`{command}` (linkproof {}).\n", env!("CARGO_PKG_VERSION"));
    let tables = jobs.tables.iter();
    let tables = tables.map(|table| table.markdown(&outcome.readings));
    let pictures = pictures.iter();
    let pictures = pictures.map(|(name, _)| format!("![{name}]({name}.svg)\n"));
    let notes = notes.iter().map(|note| format!("{note}\n"));
    for part in tables.chain(pictures).chain(notes) {
        words.push_str(&format!("\n{part}"));
    }
    words
}

/// Writes all of it.
fn write(
    args: &ReproduceArgs,
    session: &Session,
    mut json: Value,
    words: &str,
    pictures: &[(String, Drawing)],
) -> anyhow::Result<()> {
    let mut files = Vec::new();
    for (name, drawing) in pictures {
        let path = args.out.join(format!("{name}.svg"));
        write_drawing(&path, drawing)?;
        files.push(path.display().to_string());
    }
    let name = args.experiment.name();
    let [markdown, path] = ["md", "json"].map(|end| args.out.join(format!("{name}.{end}")));
    write_text(&markdown, words)?;
    files.extend([&markdown, &path].map(|path| path.display().to_string()));
    json["files"] = json!(files);
    write_text(&path, &format!("{json:#}\n"))?;
    let said = format!("{}\nWritten: {}", words.trim_end(), files.join(", "));
    session.finish(&json, &said)
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

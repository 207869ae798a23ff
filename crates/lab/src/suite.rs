//! The contamination suite: what false links, corrupted weights and missing links
//! do to each method, on graphs of classes and on planted ones.

use std::collections::HashSet;

use super::bloggers::Bloggers;
use super::contamination::{Column, Contaminated, Damage};
use super::job::{Job, Place, Reading, Row, Table};
use super::labelled::Labelled;
use super::planted::{BlockModel, TwoViews};
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::{Error, Result};
use linkproof_method::judge::{JudgedLink, Judgment};
use linkproof_method::measure::auc;
use linkproof_method::model::Fit;
use linkproof_method::params::Params;
use linkproof_method::robust::{Recipe, fit_robust};

/// The methods of ours, as they are called.
pub const METHODS: [&str; 3] = ["robust", "plain", "vectors"];
const PLAIN: &str = "Linkproof, fit";
const ROBUST: &str = "Linkproof, fit --robust";
const NOT_SMOOTHED: &str = "the same, not smoothed";
const VECTORS: &str = "data vectors alone";

const AUC: &str = "AUC of belief, false links against the others";
const SHARE: &str = "share of false links, as it is estimated";
const TRUTH: &str = "share of false links, the truth";
const FLAGGED: &str = "links that are flagged";
const FALSE_FLAGGED: &str = "false ones among the flagged";
const SMOOTHED_RUNS: &str = "runs in which embeddings are smoothed";
const SHARE_EXPLAINED: &str = "explained by smoothed embeddings, as a share of that before";

/// A graph of the suite.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'g> {
    /// Classes of nodes, judged by clusters.
    Classes(&'g Labelled),
    /// A block model, made anew for each run.
    Blocks(BlockModel),
    /// A network of bloggers, made anew for each run.
    Bloggers(Bloggers),
    /// Two views of so many things, made anew for each run.
    Views(usize),
}

/// The names of the graphs that are generated.
pub const GENERATED: [&str; 3] = ["blocks", "bloggers", "views"];
/// The things that are seen twice.
const THINGS: usize = 400;

/// What one run works on.
pub enum Made {
    /// Classes of nodes.
    Classes(Labelled),
    /// Two views.
    Views(TwoViews),
}

impl Subject<'_> {
    /// The generated graph of a name.
    pub fn generated(name: &str) -> Option<Self> {
        match name {
            "blocks" => Some(Subject::Blocks(BlockModel::default())),
            "bloggers" => Some(Subject::Bloggers(Bloggers::default())),
            "views" => Some(Subject::Views(THINGS)),
            _ => None,
        }
    }

    /// The name of its table.
    pub fn name(&self) -> &str {
        match self {
            Subject::Classes(graph) => &graph.name,
            Subject::Blocks(_) => "blocks",
            Subject::Bloggers(_) => "bloggers",
            Subject::Views(_) => "views",
        }
    }

    fn caption(&self, runs: u64) -> String {
        let what = match self {
            Subject::Classes(graph) => &format!(
                "{}: NMI (x 100), the mean of five fifths of the nodes",
                graph.name
            ),
            Subject::Blocks(_) => {
                "Block model with counts, uneven degrees and data vectors: NMI (x 100), the mean of five fifths of the nodes"
            }
            Subject::Bloggers(_) => {
                "Planted bloggers, many links of which two in five stay inside a class: NMI (x 100), the mean of five fifths of the nodes"
            }
            Subject::Views(_) => "Two views: partners of unseen things found first (%), by cosine",
        };
        format!("{what} ({runs} runs, mean ± standard error).")
    }

    /// The columns of its tables.
    pub fn columns(&self) -> impl Iterator<Item = Column> {
        let views = matches!(self, Subject::Views(_));
        let fits = move |column: &Column| !(views && column.damage.compares_vectors());
        Column::ALL.into_iter().filter(fits)
    }

    /// The data of a run after some damage, and its false links.
    fn damaged(&self, damage: Damage, seed: u64) -> Result<(Made, HashSet<(u32, u32)>)> {
        let of = |graph: &Labelled| {
            let Contaminated { data, false_links } =
                damage.apply(&graph.data, &graph.labels, seed)?;
            let (name, labels) = (graph.name.clone(), graph.labels.clone());
            Ok((Made::Classes(Labelled { name, data, labels }), false_links))
        };
        match self {
            Subject::Classes(graph) => of(graph),
            Subject::Blocks(model) => of(&model.make(seed)?),
            Subject::Bloggers(model) => of(&model.make(seed)?),
            Subject::Views(things) => {
                let made = TwoViews::make(*things, seed)?;
                let Contaminated { data, false_links } =
                    damage.apply(&made.data, &made.classes, seed)?;
                Ok((Made::Views(TwoViews { data, ..made }), false_links))
            }
        }
    }

    /// The data of a run after some damage.
    pub fn make(&self, damage: Damage, seed: u64) -> Result<Made> {
        Ok(self.damaged(damage, seed)?.0)
    }

    /// The number of classes to be found.
    pub fn n_classes(&self) -> usize {
        match self {
            Subject::Classes(graph) => graph.n_classes(),
            Subject::Blocks(model) => model.classes,
            Subject::Bloggers(model) => model.classes,
            Subject::Views(_) => 2,
        }
    }

    /// Whether every weight is 1 after some damage.
    pub fn is_binary(&self, damage: Damage) -> bool {
        let given = match self {
            Subject::Classes(graph) => graph.data.graph().weights().iter().all(|&w| w == 1.0),
            Subject::Bloggers(_) => true,
            Subject::Blocks(_) | Subject::Views(_) => false,
        };
        given && !damage.changes_weights()
    }

    /// How long a plain fit takes, about, against one of Cora.
    fn cost(&self) -> f64 {
        match self {
            Subject::Classes(graph) => (graph.data.n_nodes() as f64 / 2708.0).powi(2),
            Subject::Bloggers(_) => 0.4,
            _ => 0.1,
        }
    }
}

impl Made {
    /// The figure for embeddings that another method found: of all nodes, or of all
    /// things in both views.
    pub fn judge_rows(&self, y: &[f32], rows: usize, seed: u64) -> Result<f64> {
        match self {
            Made::Classes(graph) => {
                check_rows(rows, graph.labels.len(), "nodes")?;
                graph.mean_nmi(y, seed)
            }
            Made::Views(views) => views.judge_all(y),
        }
    }

    /// The same for embeddings of the test nodes alone.
    pub fn judge_test(&self, y: &[f32], rows: usize, seed: u64) -> Result<f64> {
        let Made::Classes(graph) = self else {
            return self.judge_rows(y, rows, seed);
        };
        let test = graph.split(seed).test;
        check_rows(rows, test.len(), "test nodes")?;
        graph.nmi(y, &test, seed)
    }
}

fn check_rows(found: usize, expected: usize, what: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::data(
        "a rival's embeddings",
        format!("{found} rows"),
        format!("one for each of {expected} {what}"),
    ))
}

/// The table of a graph, and what the robust fit found of its links. Rows that
/// were measured and are not ours come after ours, by name.
pub fn tables(subject: &Subject<'_>, runs: u64, readings: &[Reading]) -> Vec<Table> {
    let ours = [ROBUST, NOT_SMOOTHED, PLAIN, VECTORS];
    let here = readings.iter().filter(|r| r.table == subject.name());
    let others: std::collections::BTreeSet<&str> = here
        .map(|reading| reading.row.as_str())
        .filter(|row| !ours.contains(row))
        .collect();
    let columns: Vec<String> = subject.columns().map(|c| c.heading.to_owned()).collect();
    let views = matches!(subject, Subject::Views(_));
    let main = Table {
        name: subject.name().into(),
        caption: subject.caption(runs),
        measure: match views {
            true => "partners found first, %".into(),
            false => "NMI x 100".into(),
        },
        digits: 1,
        runs,
        columns: columns.clone(),
        rows: ours.into_iter().chain(others).map(Row::new).collect(),
    };
    let rows = [
        AUC,
        SHARE,
        TRUTH,
        FLAGGED,
        FALSE_FLAGGED,
        SHARE_EXPLAINED,
        SMOOTHED_RUNS,
    ];
    let links = Table {
        name: links_table(subject),
        caption: format!(
            "{}: what fit --robust found of the links ({runs} runs, mean ± standard error).",
            subject.name()
        ),
        measure: String::new(),
        digits: 3,
        runs,
        columns,
        rows: rows.map(Row::new).into(),
    };
    vec![main, links]
}

fn links_table(subject: &Subject<'_>) -> String {
    format!("{}-links", subject.name())
}

/// What our cells are called: graph, damage and method.
#[derive(Debug, Clone, Copy)]
pub struct Label<'l> {
    /// The graph.
    pub graph: &'l str,
    /// The damage, or none where it makes no difference.
    pub damage: Option<&'static str>,
    /// The method.
    pub method: &'static str,
}

/// The jobs of all graphs that are wanted, the first columns first.
pub fn jobs<'g>(
    subjects: &'g [Subject<'g>],
    runs: u64,
    seed: u64,
    wanted: impl Fn(Label<'_>) -> bool,
) -> Vec<Job<'g>> {
    let mut jobs = Vec::new();
    let mut add = |subject: &'g Subject<'g>, run: u64, column: Option<Column>| {
        let seed = seed.wrapping_add(run);
        let methods = match column {
            Some(_) => &METHODS[..2],
            None => &METHODS[2..],
        };
        for &method in methods {
            let graph = subject.name();
            let damage = column.map(|column| column.key);
            let label = Label {
                graph,
                damage,
                method,
            };
            if !wanted(label) {
                continue;
            }
            jobs.push(Job {
                key: format!("{graph}-{}-{method}-run{run}", damage.unwrap_or("all")),
                cost: subject.cost() * if method == "robust" { 4.0 } else { 1.0 },
                work: Box::new(move |runtime| match column {
                    Some(column) if method == "robust" => {
                        robust(subject, column, run, seed, runtime)
                    }
                    Some(column) => plain(subject, column, run, seed, runtime),
                    None => vectors(subject, run, seed),
                }),
            });
        }
    };
    for column in Column::ALL {
        for subject in subjects {
            let has = subject.columns().any(|other| other == column);
            for run in 0..if has { runs } else { 0 } {
                add(subject, run, Some(column));
            }
        }
    }
    for subject in subjects {
        if !matches!(subject, Subject::Views(_)) {
            (0..runs).for_each(|run| add(subject, run, None));
        }
    }
    jobs
}

fn plain(
    subject: &Subject<'_>,
    column: Column,
    run: u64,
    seed: u64,
    runtime: Runtime<'_>,
) -> Result<Vec<Reading>> {
    let params = Params {
        seed,
        ..Params::default()
    };
    let place = Place {
        table: subject.name(),
        column: column.heading,
        run,
    };
    let params = params.check()?;
    let fit = Fit::new(&params).runtime(runtime);
    let value = match subject.make(column.damage, seed)? {
        Made::Classes(graph) => graph.mean_nmi(fit.run(&graph.data)?.embeddings(), seed)?,
        Made::Views(views) => views.judge(&fit.run(&views.data)?)?,
    };
    Ok(vec![place.reading(PLAIN, value)])
}

fn robust(
    subject: &Subject<'_>,
    column: Column,
    run: u64,
    seed: u64,
    runtime: Runtime<'_>,
) -> Result<Vec<Reading>> {
    let (made, false_links) = subject.damaged(column.damage, seed)?;
    let params = Params {
        seed,
        ..Params::default()
    };
    let (params, recipe) = (params.check()?, Recipe::default());
    let data = match &made {
        Made::Classes(graph) => &graph.data,
        Made::Views(views) => &views.data,
    };
    let found = fit_robust(&params, data, &recipe, runtime)?;
    let links_table = links_table(subject);
    let (column, table) = (column.heading, subject.name());
    let place = Place { table, column, run };
    let of_links = Place {
        table: &links_table,
        ..place
    };
    let mut readings: Vec<Reading> = of_false_links(&found.judgment, &false_links)
        .into_iter()
        .map(|(row, value)| of_links.reading(row, value))
        .collect();
    let smoothed = f64::from(u8::from(found.smoothed.is_some()));
    readings.push(of_links.reading(SMOOTHED_RUNS, smoothed));
    if let Some(share) = found.check.and_then(|check| check.share()) {
        readings.push(of_links.reading(SHARE_EXPLAINED, share));
    }
    match &made {
        Made::Classes(graph) => {
            let not = graph.mean_nmi(found.model.embeddings(), seed)?;
            let chosen = graph.mean_nmi(found.embeddings(), seed)?;
            let rows = [(ROBUST, chosen), (NOT_SMOOTHED, not)];
            readings.extend(rows.map(|(row, value)| place.reading(row, value)));
        }
        Made::Views(views) => {
            let model = found.into_model(data, &recipe, 0.0)?;
            readings.push(place.reading(ROBUST, views.judge(&model)?));
        }
    }
    Ok(readings)
}

/// How good the judgment is, given the false links.
fn of_false_links(
    judgment: &Judgment,
    false_links: &HashSet<(u32, u32)>,
) -> Vec<(&'static str, f64)> {
    let links = &judgment.links;
    let is_real = |link: &JudgedLink| !false_links.contains(&(link.src, link.dst));
    let real: Vec<bool> = links.iter().map(is_real).collect();
    let beliefs: Vec<f64> = links.iter().map(|link| link.belief).collect();
    let n = links.len().max(1) as f64;
    let mut found = vec![(TRUTH, false_links.len() as f64 / n)];
    if !false_links.is_empty() {
        found.extend(auc(&beliefs, &real).ok().map(|auc| (AUC, auc)));
    }
    let share = judgment.facts.share.and_then(|share| share.estimate);
    found.extend(share.map(|share| (SHARE, share)));
    let flagged = judgment.n_flagged() as f64;
    found.push((FLAGGED, flagged));
    if flagged > 0.0 {
        let both = links
            .iter()
            .zip(&real)
            .filter(|(link, real)| link.suspect && !**real);
        found.push((FALSE_FLAGGED, both.count() as f64 / flagged));
    }
    found
}

/// k-means on the data vectors, the same whatever becomes of the links.
fn vectors(subject: &Subject<'_>, run: u64, seed: u64) -> Result<Vec<Reading>> {
    let Made::Classes(graph) = subject.make(Damage::None, seed)? else {
        return Ok(Vec::new());
    };
    let (value, table) = (graph.vectors_nmi(seed)?, subject.name());
    let reading = |column: Column| {
        let column = column.heading;
        Place { table, column, run }.reading(VECTORS, value)
    };
    Ok(subject.columns().map(reading).collect())
}

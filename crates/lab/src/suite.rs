//! The contamination suite: what false links, corrupted weights and missing links
//! do to each method, on graphs of classes and on planted ones.

use std::collections::HashSet;

use super::bloggers::Bloggers;
use super::contamination::{Column, Damage};
use super::job::{Experiment, Job, Place, Reading, Row, Table};
use super::judged;
use super::labelled::Labelled;
use super::planted::{BlockModel, TwoViews};
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::{Error, Result};
use linkproof_method::model::{Fit, Fitted};
use linkproof_method::params::Params;
use linkproof_method::robust::{Recipe, fit_robust};

/// The methods of ours, as they are called.
pub const METHODS: [&str; 3] = ["robust", "plain", "vectors"];
const PLAIN: &str = "Linkproof, fit";
const ROBUST: &str = "Linkproof, fit --robust";
const NOT_SMOOTHED: &str = "the same, not smoothed";
const VECTORS: &str = "data vectors alone";

const SMOOTHED_RUNS: &str = "runs in which embeddings are smoothed";
const SHARE_EXPLAINED: &str = "explained by smoothed embeddings, as a share of that before";

/// A graph of the suite.
pub struct Subject {
    /// The name of its table.
    pub name: String,
    /// The number of classes to be found.
    pub n_classes: usize,
    what: String,
    /// Whether it has two views, judged by partners; otherwise clusters are.
    pub has_views: bool,
    /// How long a plain fit takes, about, against one of Cora.
    cost: f64,
    make: Make,
}

/// Makes the data of a seed.
type Make = Box<dyn Fn(u64) -> Result<Made> + Send + Sync>;

/// The names of the graphs that are generated, anew for each run.
pub const GENERATED: [&str; 3] = ["blocks", "bloggers", "views"];

/// What one run works on.
pub struct Made {
    /// The graph.
    pub graph: Labelled,
    /// What is known of its two views, if it has them.
    pub views: Option<TwoViews>,
}

impl Subject {
    /// A graph of classes.
    pub fn of(graph: &Labelled) -> Subject {
        let own = graph.clone();
        Subject {
            name: graph.name.clone(),
            n_classes: graph.n_classes(),
            what: format!("{}: ", graph.name),
            has_views: false,
            cost: (graph.data.n_nodes() as f64 / 2708.0).powi(2),
            make: Box::new(move |_| Ok(Made::of(own.clone()))),
        }
    }

    /// The generated graph of a name; `quick`: a small one.
    pub fn generated(name: &str, quick: bool) -> Option<Subject> {
        let place = GENERATED.iter().position(|known| *known == name)?;
        let blocks = if quick {
            BlockModel::QUICK
        } else {
            BlockModel::default()
        };
        let bloggers = if quick {
            Bloggers::QUICK
        } else {
            Bloggers::default()
        };
        let things = if quick { 60 } else { 400 };
        let classes = [blocks.classes, bloggers.classes, 2];
        let what = [
            "Block model with counts, uneven degrees and data vectors: ",
            "Planted bloggers, many links of which two in five stay inside a class: ",
            "Two views: ",
        ];
        let make: [Make; 3] = [
            Box::new(move |seed| Ok(Made::of(blocks.make(seed)?))),
            Box::new(move |seed| Ok(Made::of(bloggers.make(seed)?))),
            Box::new(move |seed| {
                let (graph, views) = TwoViews::make(things, seed)?;
                let views = Some(views);
                Ok(Made { graph, views })
            }),
        ];
        Some(Subject {
            name: name.to_owned(),
            n_classes: classes[place],
            what: what[place].to_owned(),
            has_views: name == "views",
            cost: if name == "bloggers" { 0.4 } else { 0.1 },
            make: make.into_iter().nth(place)?,
        })
    }

    /// Whether damage of a kind is one of its columns.
    pub fn has(&self, column: &Column) -> bool {
        !(self.has_views && column.damage.compares_vectors())
    }

    /// The data of a run after some damage, and its false links.
    pub fn make(&self, damage: Damage, seed: u64) -> Result<(Made, HashSet<(u32, u32)>)> {
        let Made { mut graph, views } = (self.make)(seed)?;
        let found = damage.apply(&graph.data, &graph.labels, seed)?;
        graph.data = found.data;
        Ok((Made { graph, views }, found.false_links))
    }

    /// Its tables: the figures of methods, and what the robust fit found of the links. Rows
    /// that were measured and are not ours come after ours.
    pub fn tables(&self, runs: u64) -> [Table; 2] {
        let columns = Column::ALL.iter().filter(|column| self.has(column));
        let columns: Vec<String> = columns.map(|column| column.heading.to_owned()).collect();
        let (what, measure) = if self.has_views {
            (
                "partners of unseen things found first (%), by cosine",
                "partners found first, %",
            )
        } else {
            (
                "NMI (x 100), the mean of five fifths of the nodes",
                "NMI x 100",
            )
        };
        let methods = Table {
            name: self.name.clone(),
            caption: format!("{}{what} ({runs} runs, mean ± standard error).", self.what),
            measure: measure.into(),
            digits: 1,
            runs,
            columns: columns.clone(),
            rows: [ROBUST, NOT_SMOOTHED, PLAIN, VECTORS].map(Row::new).into(),
            takes_others: true,
        };
        let rows = judged::ROWS.into_iter();
        let links = Table {
            name: self.links_table(),
            caption: format!(
                "{}: what fit --robust found of the links ({runs} runs, mean ± standard error).",
                self.name
            ),
            digits: 3,
            runs,
            columns,
            rows: rows
                .chain([SHARE_EXPLAINED, SMOOTHED_RUNS])
                .map(Row::new)
                .collect(),
            ..Table::default()
        };
        [methods, links]
    }

    fn links_table(&self) -> String {
        format!("{}-links", self.name)
    }
}

impl Made {
    fn of(graph: Labelled) -> Made {
        let views = None;
        Made { graph, views }
    }

    /// The figure for a model.
    fn figure(&self, model: &Fitted, seed: u64) -> Result<f64> {
        match &self.views {
            None => self.graph.mean_nmi(model.recommended(), seed),
            Some(views) => views.judge(model),
        }
    }

    /// The figure for embeddings that another method found: of all nodes, or of all
    /// things in both views. `split`: of the test nodes alone.
    pub fn judge_rows(&self, y: &[f32], rows: usize, split: bool, seed: u64) -> Result<f64> {
        let graph = &self.graph;
        if let Some(views) = &self.views {
            return views.judge_all(y);
        }
        let test = graph.split(seed).test;
        let (expected, what) = if split {
            (test.len(), "test nodes")
        } else {
            (graph.labels.len(), "nodes")
        };
        if rows != expected {
            return Err(Error::data(
                "a rival's embeddings",
                format!("{rows} rows"),
                format!("one for each of {expected} {what}"),
            ));
        }
        if split {
            graph.nmi(y, &test, seed)
        } else {
            graph.mean_nmi(y, seed)
        }
    }
}

/// The jobs of all graphs, those of the first columns first. `wanted` gets graph, damage
/// (none where it makes no difference) and method.
pub fn experiment<'g>(
    subjects: &'g [Subject],
    runs: u64,
    seed: u64,
    wanted: impl Fn(&str, Option<&str>, &str) -> bool,
) -> Experiment<'g> {
    let mut cells: Vec<(&Subject, Option<Column>, &str)> = Vec::new();
    for column in Column::ALL {
        for subject in subjects.iter().filter(|subject| subject.has(&column)) {
            cells.extend([
                (subject, Some(column), "robust"),
                (subject, Some(column), "plain"),
            ]);
        }
    }
    let graphs = subjects.iter().filter(|subject| !subject.has_views);
    cells.extend(graphs.map(|subject| (subject, None, "vectors")));
    let mut jobs = Vec::new();
    for (subject, column, method) in cells {
        let damage = column.map(|column| column.key);
        for run in 0..runs {
            if !wanted(&subject.name, damage, method) {
                continue;
            }
            let cell = Cell {
                subject,
                run,
                seed: seed.wrapping_add(run),
            };
            let damage = damage.unwrap_or("all");
            jobs.push(Job {
                key: format!("{}-{damage}-{method}-run{run}", subject.name),
                cost: subject.cost * if method == "robust" { 4.0 } else { 1.0 },
                work: Box::new(move |runtime| match column {
                    Some(column) if method == "robust" => cell.robust(column, runtime),
                    Some(column) => cell.plain(column, runtime),
                    None => cell.vectors(),
                }),
            });
        }
    }
    let tables = subjects.iter().flat_map(|subject| subject.tables(runs));
    Experiment {
        jobs,
        tables: tables.collect(),
    }
}

/// A run on a graph.
struct Cell<'g> {
    subject: &'g Subject,
    run: u64,
    seed: u64,
}

impl Cell<'_> {
    fn place(&self, column: Column) -> Place<'_> {
        Place {
            table: &self.subject.name,
            column: column.heading,
            run: self.run,
        }
    }

    fn params(&self) -> Params {
        Params {
            seed: self.seed,
            ..Params::default()
        }
    }

    fn plain(&self, column: Column, runtime: Runtime<'_>) -> Result<Vec<Reading>> {
        let made = self.subject.make(column.damage, self.seed)?.0;
        let params = self.params().check()?;
        let model = Fit::new(&params).runtime(runtime).run(&made.graph.data)?;
        let value = made.figure(&model, self.seed)?;
        Ok(vec![self.place(column).reading(PLAIN, value)])
    }

    fn robust(&self, column: Column, runtime: Runtime<'_>) -> Result<Vec<Reading>> {
        let (made, false_links) = self.subject.make(column.damage, self.seed)?;
        let (data, recipe) = (&made.graph.data, Recipe::default());
        let found = fit_robust(&self.params().check()?, data, &recipe, runtime)?;
        let links = found.judgment.links.iter();
        let is_false: Vec<bool> = links
            .map(|link| false_links.contains(&(link.src, link.dst)))
            .collect();
        let mut of_links = judged::measures(&found.judgment, &is_false)?;
        let smoothed = f64::from(u8::from(found.smoothed.is_some()));
        of_links.push((SMOOTHED_RUNS, smoothed));
        let share = found.check.as_ref().and_then(|check| check.share());
        of_links.extend(share.map(|share| (SHARE_EXPLAINED, share)));
        let model = found.into_model(data, &recipe, 0.0)?;
        let mut rows = vec![(ROBUST, made.figure(&model, self.seed)?)];
        if made.views.is_none() {
            let not = made.graph.mean_nmi(model.embeddings(), self.seed)?;
            rows.push((NOT_SMOOTHED, not));
        }
        let (place, table) = (self.place(column), self.subject.links_table());
        let table = &table;
        let of_links = of_links.into_iter();
        let of_links = of_links.map(|(row, value)| Place { table, ..place }.reading(row, value));
        let rows = rows.into_iter();
        let rows = rows.map(|(row, value)| place.reading(row, value));
        Ok(rows.chain(of_links).collect())
    }

    /// k-means on the data vectors, the same whatever becomes of the links.
    fn vectors(&self) -> Result<Vec<Reading>> {
        let made = self.subject.make(Damage::None, self.seed)?.0;
        let value = made.graph.vectors_nmi(self.seed)?;
        let columns = Column::ALL.into_iter();
        let columns = columns.filter(|column| self.subject.has(column));
        Ok(columns
            .map(|column| self.place(column).reading(VECTORS, value))
            .collect())
    }
}

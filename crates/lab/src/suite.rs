//! The contamination suite: what false links, corrupted weights and missing
//! links do to each method, on Cora and on two planted graphs.

use super::contamination::Damage;
use super::job::{Job, Place, Reading, Row, Table};
use super::labelled::Labelled;
use super::method::{choose, smoother};
use super::planted::{BlockModel, TwoViews};
use linkproof_method::data::dataset::Dataset;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::{Error, Result};
use linkproof_method::model::{Fitted, fit};
use linkproof_method::params::{Params, ScoreKind};

const SELECTED: &str = "select";
const SMOOTHED: &str = "select, smooth";

/// Fits of fixed settings.
const PLAIN: [(&str, ScoreKind, f64); 3] = [
    ("likelihood", ScoreKind::Likelihood, 0.0),
    ("moment, beta 0.1", ScoreKind::Moment, 0.1),
    ("probability, beta 0.1", ScoreKind::Probability, 0.1),
];
const SCORES: [ScoreKind; 2] = [ScoreKind::Likelihood, ScoreKind::Probability];

/// A graph of the suite.
pub enum Subject<'g> {
    /// Classes of nodes, judged by clusters.
    Classes(&'g Labelled),
    /// A block model, made anew for each run.
    Blocks(BlockModel),
    /// Two views of so many things, made anew for each run.
    Views(usize),
}

/// What one run works on.
pub enum Made {
    /// Classes of nodes.
    Classes(Labelled),
    /// Two views.
    Views(TwoViews),
}

impl Subject<'_> {
    /// The name of its table.
    pub fn name(&self) -> &'static str {
        match self {
            Subject::Classes(_) => "cora",
            Subject::Blocks(_) => "blocks",
            Subject::Views(_) => "views",
        }
    }

    fn caption(&self, runs: u64) -> String {
        let what = match self {
            Subject::Classes(graph) => &format!(
                "{}, fitted to all nodes: NMI (x 100) on the test nodes",
                graph.name
            ),
            Subject::Blocks(_) => {
                "Block model with counts, uneven degrees and data vectors: NMI (x 100) on the test nodes"
            }
            Subject::Views(_) => "Two views: partners of unseen things found first (%), by cosine",
        };
        format!("{what} ({runs} runs, mean ± standard error).")
    }

    /// The data of a run after some damage.
    pub fn make(&self, damage: Damage, seed: u64) -> Result<Made> {
        match self {
            Subject::Classes(graph) => worse(graph, damage, seed).map(Made::Classes),
            Subject::Blocks(model) => worse(&model.make(seed)?, damage, seed).map(Made::Classes),
            Subject::Views(things) => {
                let made = TwoViews::make(*things, seed)?;
                let data = damage.apply(&made.data, &made.classes, seed)?.data;
                Ok(Made::Views(TwoViews { data, ..made }))
            }
        }
    }

    /// The number of classes to be found.
    pub fn n_classes(&self) -> usize {
        match self {
            Subject::Classes(graph) => graph.n_classes(),
            Subject::Blocks(model) => model.classes,
            Subject::Views(_) => 2,
        }
    }

    /// How long a plain fit takes, about, against one of Cora.
    fn cost(&self) -> f64 {
        match self {
            Subject::Classes(_) => 1.0,
            _ => 0.1,
        }
    }
}

fn worse(graph: &Labelled, damage: Damage, seed: u64) -> Result<Labelled> {
    Ok(Labelled {
        data: damage.apply(&graph.data, &graph.labels, seed)?.data,
        ..graph.clone()
    })
}

impl Made {
    /// The data.
    pub fn data(&self) -> &Dataset {
        match self {
            Made::Classes(graph) => &graph.data,
            Made::Views(views) => &views.data,
        }
    }

    /// The figure for embeddings that another method found: of the test nodes, or
    /// of all things in both views.
    pub fn judge_rows(&self, y: &[f32], rows: usize, seed: u64) -> Result<f64> {
        let graph = match self {
            Made::Classes(graph) => graph,
            Made::Views(views) => return views.judge_all(y),
        };
        let test = graph.split(seed).test;
        if rows != test.len() {
            return Err(Error::data(
                "a rival's embeddings",
                format!("{rows} rows"),
                format!("one for each of {} test nodes", test.len()),
            ));
        }
        graph.nmi(y, &test, seed)
    }

    /// The figure for a model.
    fn judge(&self, model: &Fitted, seed: u64) -> Result<f64> {
        match self {
            Made::Classes(graph) => graph.test_nmi(model.embeddings(), seed),
            Made::Views(views) => views.judge(model),
        }
    }
}

/// The table of a graph, with the rows of rivals after ours.
pub fn table(subject: &Subject<'_>, runs: u64, rivals: Vec<Row>) -> Table {
    let mut rows: Vec<Row> = PLAIN.iter().map(|(name, ..)| Row::new(*name)).collect();
    rows.extend([SELECTED, SMOOTHED].map(Row::new));
    rows.extend(rivals);
    Table {
        name: subject.name().into(),
        caption: subject.caption(runs),
        measure: match subject {
            Subject::Views(_) => "partners found first, %".into(),
            _ => "NMI x 100".into(),
        },
        digits: 1,
        runs,
        columns: Damage::ALL
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect(),
        rows,
    }
}

/// Two jobs for each run and kind of damage: the plain fits, and what rests on
/// a choice of settings.
pub fn jobs<'g>(subject: &'g Subject<'g>, runs: u64, seed: u64) -> Vec<Job<'g>> {
    let table = subject.name();
    let mut jobs = Vec::new();
    for run in 0..runs {
        let seed = seed.wrapping_add(run);
        for (number, (column, damage)) in Damage::ALL.into_iter().enumerate() {
            let place = Place { table, column, run };
            jobs.push(Job {
                key: format!("{table}-{number}-plain-run{run}"),
                cost: 3.0 * subject.cost(),
                work: Box::new(move |_| plain(&subject.make(damage, seed)?, place, seed)),
            });
            jobs.push(Job {
                key: format!("{table}-{number}-chosen-run{run}"),
                cost: 40.0 * subject.cost(),
                work: Box::new(move |runtime| {
                    chosen(&subject.make(damage, seed)?, place, seed, runtime)
                }),
            });
        }
    }
    jobs
}

fn plain(made: &Made, place: Place<'_>, seed: u64) -> Result<Vec<Reading>> {
    let row = |&(name, score, beta): &(&str, ScoreKind, f64)| {
        let params = Params {
            score,
            beta,
            seed,
            ..Params::default()
        };
        let model = fit(&params.check()?, made.data())?;
        Ok(place.reading(name, made.judge(&model, seed)?))
    };
    PLAIN.iter().map(row).collect()
}

fn chosen(made: &Made, place: Place<'_>, seed: u64, runtime: Runtime<'_>) -> Result<Vec<Reading>> {
    let base = Params {
        seed,
        ..Params::default()
    };
    let params = choose(&base, made.data(), &SCORES, runtime)?;
    let model = fit(&params.check()?, made.data())?;
    let mut readings = vec![place.reading(SELECTED, made.judge(&model, seed)?)];
    // Test things of the two views have no links to average over.
    if let Made::Classes(graph) = made {
        let averages = smoother(&model, made.data(), runtime)?;
        let value = graph.test_nmi(averages.embeddings(), seed)?;
        readings.push(place.reading(SMOOTHED, value));
    }
    Ok(readings)
}

//! The paper's Table 2: clusters of Cora's test nodes.
//!
//! (A) fits to all nodes and links. (B) fits to the training nodes and the links
//! among them and embeds the test nodes from their data vectors alone; in the
//! third column they bring their links too. k-means sees the test rows only.

use super::job::{Job, Reading, Row, Table};
use super::labelled::{Labelled, NodeSplit, rows_of};
use super::method::{Unseen, choose, embed_unseen, embed_unseen_smoothly, smoother};
use crate::error::Result;
use crate::model::fit;
use crate::params::{
    Activation, EncoderKind, OptimizerKind, OutputActivation, Params, Sampler, ScoreKind,
    SolverKind,
};

/// The name of the table.
pub const NAME: &str = "table2";
/// The columns: the setting of a rival's run, and its heading.
pub const COLUMNS: [(&str, &str); 3] = [
    ("all", "(A)"),
    ("unseen", "(B)"),
    ("unseen-links", "(B), with links"),
];

/// How large the paper's network is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Its hidden units.
    pub hidden: usize,
    /// The most steps.
    pub steps: usize,
}

impl Sizes {
    /// The paper's.
    pub const PAPER: Sizes = Sizes {
        hidden: 3000,
        steps: 300,
    };
    /// To see that everything works.
    pub const QUICK: Sizes = Sizes {
        hidden: 32,
        steps: 20,
    };
}

/// A fit of given parameters.
struct Plain {
    name: &'static str,
    paper: &'static [f64],
    /// How long it takes, about, in fits of the defaults.
    cost: f64,
    params: Params,
}

/// Scores among which settings are chosen, and averages over believed links.
struct Chosen {
    name: &'static str,
    smoothed: &'static str,
    scores: &'static [ScoreKind],
}

const FAMILIES: [Chosen; 3] = [
    Chosen {
        name: "likelihood, ridge chosen",
        smoothed: "likelihood, ridge chosen, averaged over believed links",
        scores: &[ScoreKind::Likelihood],
    },
    Chosen {
        name: "moment, beta and ridge chosen",
        smoothed: "moment, beta and ridge chosen, averaged over believed links",
        scores: &[ScoreKind::Moment],
    },
    Chosen {
        name: "score, beta and ridge chosen",
        smoothed: "score, beta and ridge chosen, averaged over believed links",
        scores: &[ScoreKind::Likelihood, ScoreKind::Probability],
    },
];

/// The paper's network: 3,000 tanh units, 100 tanh outputs, batch normalisation
/// and dropout of one half. Steps and learning rates are not the paper's, which
/// does not give them.
fn network(sizes: Sizes, score: ScoreKind, beta: f64, sampler: Sampler) -> Params {
    Params {
        dim: 100,
        score,
        beta,
        encoder: Some(EncoderKind::Mlp),
        hidden: vec![sizes.hidden],
        activation: Activation::Tanh,
        output_activation: OutputActivation::Tanh,
        batch_norm: true,
        dropout: 0.5,
        solver: Some(SolverKind::Sgd),
        optimizer: Some(OptimizerKind::Adam),
        sampler,
        ridge: 0.0,
        steps: Some(sizes.steps),
        ..Params::default()
    }
}

fn plain(sizes: Sizes) -> Vec<Plain> {
    let (block, pairs) = (Sampler::Block, Sampler::Pairs);
    let (likelihood, moment) = (ScoreKind::Likelihood, ScoreKind::Moment);
    vec![
        Plain {
            name: "paper's network, likelihood, blocks",
            paper: &[35.9, 30.5],
            cost: 8.0,
            params: network(sizes, likelihood, 0.0, block),
        },
        Plain {
            name: "paper's network, beta 0.1, blocks",
            paper: &[36.2, 30.7],
            cost: 8.0,
            params: network(sizes, moment, 0.1, block),
        },
        Plain {
            name: "paper's network, beta 0.5, blocks",
            paper: &[36.1, 31.0],
            cost: 8.0,
            params: network(sizes, moment, 0.5, block),
        },
        Plain {
            name: "paper's network, beta 0.1, paper's sampler",
            paper: &[36.2, 30.7],
            cost: 8.0,
            params: network(sizes, moment, 0.1, pairs),
        },
        Plain {
            name: "linear, defaults (moment, beta 0.1, ridge 2)",
            paper: &[],
            cost: 1.0,
            params: Params::default(),
        },
        Plain {
            name: "the same, data vectors averaged before the fit (--propagate 2)",
            paper: &[],
            cost: 2.0,
            params: Params {
                propagate: 2,
                ..Params::default()
            },
        },
        Plain {
            name: "linear, --walks 4 --ridge 1 (found while looking at classes)",
            paper: &[],
            cost: 3.0,
            params: Params {
                walks: 4,
                ridge: 1.0,
                ..Params::default()
            },
        },
    ]
}

/// The table, with the rows of rivals after ours.
pub fn table(graph: &Labelled, sizes: Sizes, runs: u64, rivals: Vec<Row>) -> Table {
    let mut rows: Vec<Row> = plain(sizes)
        .iter()
        .map(|row| Row::paper(row.name, row.paper))
        .collect();
    for family in FAMILIES {
        rows.extend([Row::new(family.name), Row::new(family.smoothed)]);
    }
    rows.extend(rivals);
    Table {
        name: NAME.into(),
        caption: format!(
            "{}: NMI (x 100) of {} clusters of the test nodes ({runs} splits, mean ± standard \
             error; in brackets the paper's figures for Cora). No label chose a setting, but for \
             the row that says so.",
            graph.name,
            graph.n_classes()
        ),
        measure: "NMI x 100".into(),
        runs,
        digits: 1,
        columns: COLUMNS.iter().map(|(_, name)| (*name).to_owned()).collect(),
        rows,
    }
}

/// The reading of one cell.
pub fn reading(row: &str, column: &str, run: u64, value: f64) -> Reading {
    Reading {
        table: NAME.into(),
        row: row.to_owned(),
        column: column.to_owned(),
        run,
        value,
    }
}

/// One job for each split, setting and row (or family of rows).
pub fn jobs(graph: &Labelled, sizes: Sizes, runs: u64, seed: u64) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for run in 0..runs {
        let seed = seed.wrapping_add(run);
        for (place, row) in plain(sizes).into_iter().enumerate() {
            let params = Params { seed, ..row.params };
            let name = row.name;
            let with = params.clone();
            jobs.push(Job {
                key: format!("plain{place}-A-run{run}"),
                cost: row.cost,
                work: Box::new(move |_| {
                    let split = graph.split(seed);
                    let model = fit(&with.clone().check()?, &graph.data)?;
                    let value = of_test(graph, &split, model.embeddings(), seed)?;
                    Ok(vec![reading(name, COLUMNS[0].1, run, value)])
                }),
            });
            jobs.push(Job {
                key: format!("plain{place}-B-run{run}"),
                cost: row.cost,
                work: Box::new(move |_| {
                    let split = graph.split(seed);
                    let training = graph.training(&split)?;
                    let model = fit(&params.clone().check()?, &training.data)?;
                    let found = embed_unseen(&model, &training)?;
                    unseen(graph, &split, (name, run, seed), &found)
                }),
            });
        }
        for (place, family) in FAMILIES.into_iter().enumerate() {
            let base = Params {
                seed,
                ..Params::default()
            };
            let (name, smoothed, scores) = (family.name, family.smoothed, family.scores);
            let base_b = base.clone();
            jobs.push(Job {
                key: format!("chosen{place}-A-run{run}"),
                cost: 10.0 + 8.0 * scores.len() as f64,
                work: Box::new(move |runtime| {
                    let split = graph.split(seed);
                    let params = choose(&base, &graph.data, scores, runtime)?;
                    let model = fit(&params.check()?, &graph.data)?;
                    let plain = of_test(graph, &split, model.embeddings(), seed)?;
                    let averages = smoother(&model, &graph.data, runtime)?;
                    let smooth = of_test(graph, &split, averages.embeddings(), seed)?;
                    let column = COLUMNS[0].1;
                    Ok(vec![
                        reading(name, column, run, plain),
                        reading(smoothed, column, run, smooth),
                    ])
                }),
            });
            jobs.push(Job {
                key: format!("chosen{place}-B-run{run}"),
                cost: 8.0 + 6.0 * scores.len() as f64,
                work: Box::new(move |runtime| {
                    let split = graph.split(seed);
                    let training = graph.training(&split)?;
                    let params = choose(&base_b, &training.data, scores, runtime)?;
                    let model = fit(&params.check()?, &training.data)?;
                    let plain = embed_unseen(&model, &training)?;
                    let mut readings = unseen(graph, &split, (name, run, seed), &plain)?;
                    let smooth = embed_unseen_smoothly(&model, &training, runtime)?;
                    readings.extend(unseen(graph, &split, (smoothed, run, seed), &smooth)?);
                    Ok(readings)
                }),
            });
        }
    }
    jobs
}

/// NMI on the test rows of embeddings of all nodes.
fn of_test(graph: &Labelled, split: &NodeSplit, y: &[f32], seed: u64) -> Result<f64> {
    let dim = y.len() / graph.labels.len();
    graph.nmi(&rows_of(y, dim, &split.test), &split.test, seed)
}

fn unseen(
    graph: &Labelled,
    split: &NodeSplit,
    (row, run, seed): (&str, u64, u64),
    found: &Unseen,
) -> Result<Vec<Reading>> {
    let alone = graph.nmi(&found.alone, &split.test, seed)?;
    let mut readings = vec![reading(row, COLUMNS[1].1, run, alone)];
    if let Some(y) = &found.with_links {
        let value = graph.nmi(y, &split.test, seed)?;
        readings.push(reading(row, COLUMNS[2].1, run, value));
    }
    Ok(readings)
}

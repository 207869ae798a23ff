//! False links between classes, planted in real graphs, and how the judge finds them.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::contamination::{CANDIDATES, Contaminated, Ends, Planting, plant};
use super::job::{Experiment, Job, Place, Reading, Row, Table};
use super::judged::{self, DETECTION, FLAGGED, OWN, ROWS};
use super::labelled::Labelled;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::judge::{JudgeSpec, judge};

const FEW_NODES: usize = 10;
/// Judgments of one graph that differ by their seed alone.
const SEEDS: u64 = 5;

/// A column of the table: links that are planted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FalseLinks {
    /// Its name: `u30` plants 30% of the number of links.
    key: &'static str,
    ends: Ends,
    percent: f64,
    weight: f64,
    /// Whether the test of the judge is part of the column.
    test: bool,
}

const fn column(key: &'static str, ends: Ends, percent: f64) -> FalseLinks {
    FalseLinks {
        key,
        ends,
        percent,
        weight: 1.0,
        test: false,
    }
}

impl FalseLinks {
    /// All columns.
    const ALL: [FalseLinks; 11] = [
        column("u0", Ends::Uniform, 0.0).with_test(),
        column("u2", Ends::Uniform, 2.0),
        column("u5", Ends::Uniform, 5.0),
        column("u10", Ends::Uniform, 10.0),
        column("u30", Ends::Uniform, 30.0).with_test(),
        column("u90", Ends::Uniform, 90.0),
        column("d30", Ends::ByDegree, 30.0),
        column("d90", Ends::ByDegree, 90.0),
        column("a30", Ends::Alike, 30.0),
        column("h10", Ends::FewNodes, 10.0),
        FalseLinks {
            weight: 10.0,
            ..column("w50x10", Ends::Uniform, 50.0)
        },
    ];

    const fn with_test(self) -> FalseLinks {
        FalseLinks { test: true, ..self }
    }

    /// Plants links between unlinked nodes of different classes.
    fn plant(self, graph: &Labelled, seed: u64) -> Result<Contaminated> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut nodes: Vec<u32> = (0..graph.labels.len() as u32).collect();
        let few = nodes.partial_shuffle(&mut random, FEW_NODES).0.to_vec();
        let planting = Planting {
            ends: self.ends,
            wanted: (self.percent / 100.0 * graph.data.graph().n_links() as f64) as usize,
            weight: self.weight,
            few: if self.ends == Ends::FewNodes {
                &few
            } else {
                &[]
            },
        };
        plant(&graph.data, &graph.labels, &planting, &mut random)
    }
}

/// The name of the table about seeds.
fn seeds_table(graph: &Labelled) -> String {
    format!("{}-seeds", graph.name)
}

const FEWEST: &str = "flagged links, fewest of five seeds";
const MOST: &str = "flagged links, most of five seeds";

/// A job for each graph, column and run.
pub fn experiment(graphs: &[Labelled], runs: u64, seed: u64) -> Experiment<'_> {
    let mut found = Experiment::default();
    for graph in graphs {
        found.tables.extend(tables(graph, runs));
        for column in FalseLinks::ALL {
            found.jobs.extend((0..runs).map(|run| Job {
                key: format!("{}-{}-run{run}", graph.name, column.key),
                cost: graph.data.graph().n_links() as f64,
                work: Box::new(move |runtime| {
                    readings(graph, column, run, seed.wrapping_add(run), runtime)
                }),
            }));
        }
    }
    found
}

fn readings(
    graph: &Labelled,
    column: FalseLinks,
    run: u64,
    seed: u64,
    runtime: Runtime<'_>,
) -> Result<Vec<Reading>> {
    let Contaminated { data, false_links } = column.plant(graph, seed)?;
    let mut spec = JudgeSpec {
        seed,
        test: column.test,
        ..JudgeSpec::default()
    };
    let judgment = judge(&data, &spec, runtime)?;
    let pairs = data.graph().links().map(|link| (link.src, link.dst));
    let is_false: Vec<bool> = pairs.map(|pair| false_links.contains(&pair)).collect();
    let mut found = judged::measures(&judgment, &is_false)?;
    found.extend(judged::detection(&judgment));
    let place = Place {
        table: &graph.name,
        column: column.key,
        run,
    };
    let mut readings: Vec<Reading> = found
        .into_iter()
        .map(|(row, value)| place.reading(row, value))
        .collect();
    if run == 0 {
        let mut flagged = vec![judgment.n_flagged() as f64];
        spec.test = false;
        for more in 1..SEEDS {
            spec.seed = seed.wrapping_add(more);
            flagged.push(judge(&data, &spec, runtime)?.n_flagged() as f64);
        }
        let table = seeds_table(graph);
        let place = Place {
            table: &table,
            ..place
        };
        let fewest = flagged.iter().copied().fold(f64::INFINITY, f64::min);
        let most = flagged.iter().copied().fold(0.0, f64::max);
        readings.extend([place.reading(FEWEST, fewest), place.reading(MOST, most)]);
    }
    Ok(readings)
}

fn tables(graph: &Labelled, runs: u64) -> [Table; 2] {
    let columns = FalseLinks::ALL.map(|column| column.key.to_owned());
    let detection = DETECTION.iter().flat_map(|(_, rows)| *rows);
    let rows = ROWS.into_iter().chain(detection).chain([OWN]);
    let judged = Table {
        name: graph.name.clone(),
        caption: format!(
            "{}: false links planted between classes, in percent of the links (u uniform, d by \
             degree, a the most similar of {CANDIDATES} pairs, h from {FEW_NODES} nodes, x10 at \
             weight 10); {runs} runs, mean ± standard error.",
            graph.name
        ),
        digits: 3,
        runs,
        columns: columns.into(),
        rows: rows.map(Row::new).collect(),
        ..Table::default()
    };
    let seeds = Table {
        name: seeds_table(graph),
        caption: format!(
            "{}: the number of {FLAGGED} in one graph, by the seed of the judge.",
            graph.name
        ),
        digits: 0,
        runs: 1,
        rows: [FEWEST, MOST].map(Row::new).into(),
        ..judged.clone()
    };
    [judged, seeds]
}

//! False links between classes, planted in real graphs, and how the judge finds them.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::contamination::{product, unit_rows};
use super::job::{Experiment, Job, Place, Reading, Row, Table};
use super::judged::{self, DETECTION, FLAGGED, OWN, ROWS};
use super::labelled::Labelled;
use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::graph::{Graph, Link, LinkRules};
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::{Error, Result};
use linkproof_method::judge::{JudgeSpec, judge};

/// How the ends of planted links are drawn; they always join two classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Any node is as likely as any other.
    Uniform,
    /// Nodes by their number of links.
    ByDegree,
    /// The pair with the most similar features, of several uniform ones.
    Alike,
    /// One end is one of a few nodes.
    FewNodes,
}

/// The pairs of which the most similar is planted.
const CANDIDATES: usize = 40;
const FEW_NODES: usize = 10;
/// Draws for each planted link before the search ends.
const DRAWS: usize = 1000;
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

    /// Plants links between unlinked nodes of different classes. The planted pairs are
    /// internal rows, the smaller first.
    fn plant(self, graph: &Labelled, seed: u64) -> Result<(Dataset, HashSet<(u32, u32)>)> {
        let before = graph.data.graph();
        let links: Vec<Link> = before.links().collect();
        let wanted = (self.percent / 100.0 * links.len() as f64) as usize;
        let rows = match self.ends {
            Ends::Alike => unit_rows(&graph.data)?,
            _ => Vec::new(),
        };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut nodes: Vec<u32> = (0..graph.labels.len() as u32).collect();
        let few = nodes.partial_shuffle(&mut random, FEW_NODES).0.to_vec();
        let n = nodes.len();
        let class = |node: u32| graph.labels[node as usize];
        let mut planted = HashSet::new();
        for _ in 0..DRAWS * wanted {
            if planted.len() == wanted {
                break;
            }
            let mut any = || random.random_range(0..n) as u32;
            let (a, b) = match self.ends {
                Ends::Uniform => (any(), any()),
                Ends::FewNodes => (few[any() as usize % few.len()], any()),
                Ends::ByDegree => {
                    let mut end = || {
                        let link = &links[random.random_range(0..links.len())];
                        [link.src, link.dst][random.random_range(0..2)]
                    };
                    (end(), end())
                }
                Ends::Alike => {
                    let likeness = |&(a, b): &(u32, u32)| {
                        if class(a) == class(b) {
                            -1.0
                        } else {
                            product(&rows[a as usize], &rows[b as usize])
                        }
                    };
                    let pairs: Vec<(u32, u32)> = (0..CANDIDATES).map(|_| (any(), any())).collect();
                    let best =
                        |a: &&(u32, u32), b: &&(u32, u32)| likeness(a).total_cmp(&likeness(b));
                    *pairs.iter().max_by(best).unwrap_or(&(0, 0))
                }
            };
            let pair = (a.min(b), a.max(b));
            if class(a) != class(b) && before.weight(pair.0, pair.1).is_none() {
                planted.insert(pair);
            }
        }
        if planted.len() < wanted {
            let found = format!("{} of {wanted} pairs to plant", planted.len());
            return Err(Error::data(
                "labels",
                found,
                "more unlinked pairs of different classes",
            ));
        }
        let more = planted.iter().map(|&(src, dst)| Link {
            src,
            dst,
            weight: self.weight,
        });
        let all = links.iter().copied().chain(more).collect();
        let after = Graph::new(before.ids().clone(), all, LinkRules::default())?;
        Ok((graph.data.with_graph(after), planted))
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
    let (data, planted) = column.plant(graph, seed)?;
    let mut spec = JudgeSpec {
        seed,
        test: column.test,
        ..JudgeSpec::default()
    };
    let judgment = judge(&data, &spec, runtime)?;
    let pairs = data.graph().links().map(|link| (link.src, link.dst));
    let is_false: Vec<bool> = pairs.map(|pair| planted.contains(&pair)).collect();
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

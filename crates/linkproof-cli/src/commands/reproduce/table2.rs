//! Table 2 and its rivals.

use linkproof::Error;
use linkproof::experiment::job::Row;
use linkproof::experiment::labelled::Labelled;
use linkproof::experiment::table2::{COLUMNS, Sizes, jobs, reading, table};
use serde_json::json;

use super::rivals::{Rival, Task, export};
use super::{Found, Run};

/// What the paper has for other methods: (A), (B).
const PAPER: [(&str, &[f64]); 7] = [
    ("sbm", &[4.37, 2.81]),
    ("isomap", &[13.0, 14.3]),
    ("lle", &[7.40, 9.47]),
    ("spectral", &[1.41]),
    ("mds", &[2.81]),
    ("deepwalk", &[16.7]),
    ("graphsage", &[19.6, 12.4]),
];

pub fn run(run: &Run<'_>, graph: &Labelled) -> anyhow::Result<Found> {
    let sizes = if run.quick {
        Sizes::QUICK
    } else {
        Sizes::PAPER
    };
    let mut outcome = run.work(&jobs(graph, sizes, run.runs, run.seed))?;
    let mut rows = Vec::new();
    if let Some(rivals) = &run.rivals {
        let with_one_view = |rival: &&Rival| !rival.settings.is_empty();
        let list: Vec<&Rival> = rivals.list.iter().filter(with_one_view).collect();
        rows = list.iter().map(|rival| row(rival)).collect();
        let tasks = tasks(graph, &list, run);
        let place = (run.out, run.processes);
        rivals.work(&tasks, &run.cells, place, run.session, &mut outcome)?;
    }
    Ok(Found {
        tables: vec![table(graph, sizes, run.runs, rows)],
        pictures: Vec::new(),
        outcome,
        more: json!({}),
        note: None,
    })
}

fn row(rival: &Rival) -> Row {
    let paper = PAPER.iter().find(|(name, _)| *name == rival.name);
    Row::paper(&rival.title, paper.map_or(&[], |(_, paper)| paper))
}

fn tasks<'t>(graph: &'t Labelled, list: &[&Rival], run: &Run<'_>) -> Vec<Task<'t>> {
    let mut tasks = Vec::new();
    for split in 0..run.runs {
        let seed = run.seed.wrapping_add(split);
        for rival in list {
            for (setting, column) in COLUMNS {
                if !rival.settings.iter().any(|other| other == setting) {
                    continue;
                }
                let title = rival.title.clone();
                tasks.push(Task {
                    key: format!("rival-{}-{setting}-run{split}", rival.name),
                    rival: rival.name.clone(),
                    setting,
                    data: format!("run{split}"),
                    clusters: graph.n_classes(),
                    seed,
                    export: Box::new(move |folder| {
                        export(folder, &graph.data, &graph.split(seed).test)
                    }),
                    judge: Box::new(move |y, rows| {
                        let value = judge_test(graph, y, rows, seed)?;
                        Ok(vec![reading(&title, column, split, value)])
                    }),
                });
            }
        }
    }
    tasks
}

/// NMI of embeddings of the test nodes.
pub fn judge_test(graph: &Labelled, y: &[f32], rows: usize, seed: u64) -> Result<f64, Error> {
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

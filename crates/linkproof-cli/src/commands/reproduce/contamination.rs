//! The contamination suite and its rivals.

use linkproof::Error;
use linkproof::experiment::contamination::Damage;
use linkproof::experiment::labelled::Labelled;
use linkproof::experiment::planted::BlockModel;
use linkproof::experiment::suite::{Made, Subject, jobs, reading, table};
use serde_json::json;

use super::rivals::{Rival, Task, export, export_views};
use super::table2::judge_test;
use super::{Found, Run, rival_rows};

/// The rivals that are run on graphs of classes.
const STRONGEST: [&str; 5] = ["graphsage", "gae", "dgi", "deepwalk", "spectral"];
/// The things that are seen twice.
const THINGS: usize = 400;
const QUICK_THINGS: usize = 60;
const QUICK_BLOCKS: BlockModel = BlockModel {
    classes: 3,
    size: 40,
    features: 10,
};

pub fn run(run: &Run<'_>, graph: Option<&Labelled>) -> anyhow::Result<Found> {
    let (model, things) = match run.quick {
        true => (QUICK_BLOCKS, QUICK_THINGS),
        false => (BlockModel::default(), THINGS),
    };
    let mut subjects: Vec<Subject<'_>> = graph.map(Subject::Classes).into_iter().collect();
    subjects.extend([Subject::Blocks(model), Subject::Views(things)]);
    let mut all = Vec::new();
    // The graphs that are quick first.
    for subject in subjects.iter().rev() {
        all.extend(jobs(subject, run.runs, run.seed));
    }
    let mut outcome = run.work(&all)?;
    let mut tables = Vec::new();
    let mut tasks = Vec::new();
    for subject in &subjects {
        let list = suited(run, subject);
        tables.push(table(subject, run.runs, rival_rows(list.iter().copied())));
        tasks.extend(subject_tasks(subject, &list, run));
    }
    if let Some(rivals) = &run.rivals {
        let place = (run.out, run.processes);
        rivals.work(&tasks, &run.cells, place, run.session, &mut outcome)?;
    }
    Ok(Found {
        tables,
        pictures: Vec::new(),
        outcome,
        more: json!({}),
        note: graph.is_none().then_some(
            "Without --data: the generated graphs alone; 'linkproof datasets fetch cora' makes \
             a folder for it.",
        ),
    })
}

/// The rivals that can be run on a graph.
fn suited<'r>(run: &'r Run<'_>, subject: &Subject<'_>) -> Vec<&'r Rival> {
    let list = run.rivals.iter().flat_map(|rivals| &rivals.list);
    let fits = |rival: &&Rival| match subject {
        Subject::Views(_) => rival.views,
        _ => STRONGEST.contains(&rival.name.as_str()),
    };
    list.filter(fits).collect()
}

fn subject_tasks<'t>(subject: &'t Subject<'t>, list: &[&Rival], run: &Run<'_>) -> Vec<Task<'t>> {
    let mut tasks = Vec::new();
    for number in 0..run.runs {
        let seed = run.seed.wrapping_add(number);
        for (place, (column, damage)) in Damage::ALL.into_iter().enumerate() {
            for rival in list {
                let title = rival.title.clone();
                tasks.push(Task {
                    key: format!(
                        "rival-{}-{}-{place}-run{number}",
                        rival.name,
                        subject.name()
                    ),
                    rival: rival.name.clone(),
                    setting: "all",
                    data: format!("{}-{place}-run{number}", subject.name()),
                    clusters: clusters(subject),
                    seed,
                    export: Box::new(move |folder| match subject.make(damage, seed)? {
                        Made::Classes(graph) => {
                            export(folder, &graph.data, &graph.split(seed).test)
                        }
                        Made::Views(views) => export_views(folder, &views),
                    }),
                    judge: Box::new(move |y, rows| {
                        let value = judge(&subject.make(damage, seed)?, y, rows, seed)?;
                        let place = (subject.name(), column, number);
                        Ok(vec![reading(place, &title, value)])
                    }),
                });
            }
        }
    }
    tasks
}

fn clusters(subject: &Subject<'_>) -> usize {
    match subject {
        Subject::Classes(graph) => graph.n_classes(),
        Subject::Blocks(model) => model.classes,
        Subject::Views(_) => 2,
    }
}

fn judge(made: &Made, y: &[f32], rows: usize, seed: u64) -> Result<f64, Error> {
    match made {
        Made::Classes(graph) => judge_test(graph, y, rows, seed),
        Made::Views(views) => views.judge_all(y),
    }
}

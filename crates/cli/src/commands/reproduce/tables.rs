//! The tables in which rivals take part: Table 2 and contamination.

use linkproof_lab::contamination::Damage;
use linkproof_lab::job::{Place, Row};
use linkproof_lab::labelled::Labelled;
use linkproof_lab::planted::BlockModel;
use linkproof_lab::suite::{self, Made, Subject};
use linkproof_lab::table2::{self, COLUMNS, Sizes};

use super::rivals::{Rival, Task, export, export_views};
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
/// The rivals that are run on graphs of classes under contamination.
const STRONGEST: [&str; 5] = ["graphsage", "gae", "dgi", "deepwalk", "spectral"];
/// The things that are seen twice.
const THINGS: usize = 400;
const QUICK_THINGS: usize = 60;
const QUICK_BLOCKS: BlockModel = BlockModel {
    classes: 3,
    size: 40,
    features: 10,
};

pub fn table2(run: &Run<'_>, graph: &Labelled) -> anyhow::Result<Found> {
    let sizes = match run.quick {
        true => Sizes::QUICK,
        false => Sizes::PAPER,
    };
    let mut outcome = run.work(&table2::jobs(graph, sizes, run.runs, run.seed))?;
    let list = rivals(run, |rival| !rival.settings.is_empty());
    let row = |rival: &&Rival| {
        let paper = PAPER.iter().find(|(name, _)| *name == rival.name);
        Row::paper(&rival.title, paper.map_or(&[], |(_, paper)| paper))
    };
    let rows = list.iter().map(row).collect();
    let subject = Subject::Classes(graph);
    let column = |(setting, heading): (&'static str, &'static str)| Column {
        heading,
        key: setting.to_owned(),
        data: "clean".to_owned(),
        setting,
        damage: Damage::None,
    };
    let columns = COLUMNS.map(column);
    let able = |rival: &Rival, setting: &str| rival.settings.iter().any(|other| other == setting);
    let tasks = tasks(&subject, (table2::NAME, &columns), &list, able, run);
    run.work_on_rivals(&tasks, &mut outcome)?;
    Ok(Found {
        tables: vec![table2::table(graph, sizes, run.runs, rows)],
        outcome,
        ..Found::default()
    })
}

pub fn contamination(run: &Run<'_>, graph: Option<&Labelled>) -> anyhow::Result<Found> {
    let (model, things) = match run.quick {
        true => (QUICK_BLOCKS, QUICK_THINGS),
        false => (BlockModel::default(), THINGS),
    };
    let mut subjects: Vec<Subject<'_>> = graph.map(Subject::Classes).into_iter().collect();
    subjects.extend([Subject::Blocks(model), Subject::Views(things)]);
    // The graphs that are quick first.
    let jobs = subjects.iter().rev();
    let jobs: Vec<_> = jobs
        .flat_map(|subject| suite::jobs(subject, run.runs, run.seed))
        .collect();
    let mut outcome = run.work(&jobs)?;
    let (mut tables, mut all) = (Vec::new(), Vec::new());
    for subject in &subjects {
        let list = rivals(run, |rival| match subject {
            Subject::Views(_) => rival.views,
            _ => STRONGEST.contains(&rival.name.as_str()),
        });
        let rows = list.iter().map(|rival| Row::new(&rival.title)).collect();
        tables.push(suite::table(subject, run.runs, rows));
        let column = |(place, (heading, damage)): (usize, (&'static str, Damage))| Column {
            heading,
            key: format!("{}-{place}", subject.name()),
            data: format!("{}-{place}", subject.name()),
            setting: "all",
            damage,
        };
        let columns: Vec<Column> = Damage::ALL.into_iter().enumerate().map(column).collect();
        let table = (subject.name(), &columns[..]);
        all.extend(tasks(subject, table, &list, |_, _| true, run));
    }
    run.work_on_rivals(&all, &mut outcome)?;
    Ok(Found {
        tables,
        outcome,
        note: graph.is_none().then_some(
            "Without --data: the generated graphs alone; 'linkproof datasets fetch cora' makes \
             a folder for it.",
        ),
        ..Found::default()
    })
}

/// The rivals that can be run.
fn rivals<'r>(run: &'r Run<'_>, suits: impl Fn(&Rival) -> bool) -> Vec<&'r Rival> {
    let list = run.rivals.iter().flat_map(|rivals| &rivals.list);
    list.filter(|rival| suits(rival)).collect()
}

/// A column of a table, as rivals fill it.
struct Column {
    heading: &'static str,
    /// Its part of the names of tasks.
    key: String,
    /// Its part of the name of the data; the same for columns on the same data.
    data: String,
    /// What a rival may see.
    setting: &'static str,
    damage: Damage,
}

/// A task for each run, column and rival that is able to do with a setting.
fn tasks<'t>(
    subject: &'t Subject<'t>,
    (table, columns): (&'t str, &[Column]),
    list: &[&Rival],
    able: impl Fn(&Rival, &str) -> bool,
    run: &Run<'_>,
) -> Vec<Task<'t>> {
    let mut tasks = Vec::new();
    for number in 0..run.runs {
        let seed = run.seed.wrapping_add(number);
        for column in columns {
            let place = Place {
                table,
                column: column.heading,
                run: number,
            };
            let damage = column.damage;
            for rival in list.iter().filter(|rival| able(rival, column.setting)) {
                let title = rival.title.clone();
                tasks.push(Task {
                    key: format!("rival-{}-{}-run{number}", rival.name, column.key),
                    rival: rival.name.clone(),
                    setting: column.setting,
                    data: format!("{}-run{number}", column.data),
                    clusters: subject.n_classes(),
                    seed,
                    export: Box::new(move |folder| match subject.make(damage, seed)? {
                        Made::Classes(graph) => {
                            export(folder, &graph.data, &graph.split(seed).test)
                        }
                        Made::Views(views) => export_views(folder, &views),
                    }),
                    judge: Box::new(move |y, rows| {
                        let made = subject.make(damage, seed)?;
                        Ok(vec![place.reading(&title, made.judge_rows(y, rows, seed)?)])
                    }),
                });
            }
        }
    }
    tasks
}

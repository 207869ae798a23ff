//! The tables in which rivals take part: Table 2 and contamination.

use linkproof_lab::bloggers::Bloggers;
use linkproof_lab::contamination::Damage;
use linkproof_lab::job::{Place, Row};
use linkproof_lab::labelled::Labelled;
use linkproof_lab::planted::BlockModel;
use linkproof_lab::suite::{self, GENERATED, Label, Made, Subject};
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
/// The rivals that are run on graphs of classes under contamination, the slow ones
/// last.
const STRONGEST: [&str; 15] = [
    "dgi",
    "dgi-binary",
    "dgi-jaccard",
    "dgi-guard",
    "stable",
    "ns4gc",
    "magi",
    "gae",
    "gae-binary",
    "dgi-svd",
    "graphsage",
    "spectral",
    "spectral-binary",
    "metagc",
    "deepwalk",
];
const QUICK_THINGS: usize = 60;
const QUICK_BLOCKS: BlockModel = BlockModel {
    classes: 3,
    size: 40,
    features: 10,
};
const QUICK_BLOGGERS: Bloggers = Bloggers {
    classes: 3,
    size: 40,
    degree: 10,
    own_words: 20,
    other_words: 60,
};

pub fn table2(run: &Run<'_>, graph: &Labelled) -> anyhow::Result<Found> {
    let sizes = match run.quick {
        true => Sizes::QUICK,
        false => Sizes::PAPER,
    };
    let method = |key: &str| {
        key.trim_end_matches(|c: char| c.is_ascii_digit())
            .to_owned()
    };
    let wanted = |key: &str| run.choice.wants(&graph.name, None, &method(key));
    let jobs = table2::jobs(graph, sizes, run.runs, run.seed, wanted);
    let list = rivals(run, |rival| {
        !rival.settings.is_empty() && rival.variant_of.is_none()
    });
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
        named: None,
        split: true,
    };
    let columns = COLUMNS.map(column);
    let tasks = tasks(&subject, (table2::NAME, &columns), &list, run);
    let outcome = run.work(&jobs, &tasks)?;
    Ok(Found {
        tables: vec![table2::table(graph, sizes, run.runs, rows)],
        outcome,
        ..Found::default()
    })
}

pub fn contamination(run: &Run<'_>, graphs: &[Labelled]) -> anyhow::Result<Found> {
    let mut subjects: Vec<Subject<'_>> = graphs.iter().map(Subject::Classes).collect();
    match run.quick {
        true => subjects.extend([
            Subject::Blocks(QUICK_BLOCKS),
            Subject::Bloggers(QUICK_BLOGGERS),
            Subject::Views(QUICK_THINGS),
        ]),
        false => GENERATED
            .into_iter()
            .for_each(|name| subjects.extend(Subject::generated(name))),
    }
    let wanted = |label: Label<'_>| run.choice.wants(label.graph, label.damage, label.method);
    let jobs = suite::jobs(&subjects, run.runs, run.seed, wanted);
    let mut all = Vec::new();
    for subject in &subjects {
        let mut list = rivals(run, |rival| match subject {
            Subject::Views(_) => rival.views,
            _ => STRONGEST.contains(&rival.name.as_str()),
        });
        list.sort_by_key(|rival| STRONGEST.iter().position(|name| *name == rival.name));
        let column = |column: linkproof_lab::contamination::Column| Column {
            heading: column.heading,
            key: format!("{}-{}", subject.name(), column.key),
            data: format!("{}-{}", subject.name(), column.key),
            setting: "all",
            damage: column.damage,
            named: Some(column.key),
            split: false,
        };
        let columns: Vec<Column> = subject.columns().map(column).collect();
        all.extend(tasks(subject, (subject.name(), &columns), &list, run));
    }
    let outcome = run.work(&jobs, &all)?;
    let tables = subjects.iter();
    let tables = tables.flat_map(|subject| suite::tables(subject, run.runs, &outcome.readings));
    Ok(Found {
        tables: tables.collect(),
        outcome,
        note: graphs.is_empty().then_some(
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
#[derive(Clone)]
struct Column {
    heading: &'static str,
    /// Its part of the names of tasks.
    key: String,
    /// Its part of the name of the data; the same for columns on the same data.
    data: String,
    /// What a rival may see.
    setting: &'static str,
    damage: Damage,
    /// The name of the damage.
    named: Option<&'static str>,
    /// Whether test nodes alone are embedded and judged; otherwise all are, by fifths.
    split: bool,
}

/// A task for each column, rival that is able to do with its setting, and run.
fn tasks<'t>(
    subject: &'t Subject<'t>,
    (table, columns): (&'t str, &[Column]),
    list: &[&Rival],
    run: &Run<'_>,
) -> Vec<Task<'t>> {
    let mut tasks = Vec::new();
    for column in columns {
        let able = |rival: &Rival| {
            let has = |other: &String| other == column.setting;
            (rival.settings.iter().any(has) || rival.views && !column.split)
                && run.choice.wants(subject.name(), column.named, &rival.name)
        };
        // Where all weights are 1, a rival has its variant's figure.
        let binary = subject.is_binary(column.damage);
        let alone = |rival: &Rival| !(binary && rival.variant_of.is_some());
        for rival in list.iter().filter(|rival| able(rival) && alone(rival)) {
            let variants = list
                .iter()
                .filter(|other| binary && other.variant_of.as_ref() == Some(&rival.name));
            let titles = variants.map(|other| other.title.clone());
            let titles: Vec<String> = std::iter::once(rival.title.clone()).chain(titles).collect();
            for number in 0..run.runs {
                let seed = run.seed.wrapping_add(number);
                let (damage, split) = (column.damage, column.split);
                let (heading, titles) = (column.heading, titles.clone());
                tasks.push(Task {
                    key: format!("rival-{}-{}-run{number}", rival.name, column.key),
                    rival: rival.name.clone(),
                    setting: column.setting,
                    data: format!("{}-run{number}", column.data),
                    clusters: subject.n_classes(),
                    seed,
                    export: Box::new(move |folder| match subject.make(damage, seed)? {
                        Made::Classes(graph) if split => {
                            export(folder, &graph.data, &graph.split(seed).test)
                        }
                        Made::Classes(graph) => {
                            let all: Vec<u32> = (0..graph.data.n_nodes() as u32).collect();
                            export(folder, &graph.data, &all)
                        }
                        Made::Views(views) => export_views(folder, &views),
                    }),
                    judge: Box::new(move |y, rows| {
                        // Classes are the same whatever the damage.
                        let made = subject.make(Damage::None, seed)?;
                        let value = match split {
                            true => made.judge_test(y, rows, seed)?,
                            false => made.judge_rows(y, rows, seed)?,
                        };
                        let (column, run) = (heading, number);
                        let place = Place { table, column, run };
                        let readings = titles.iter().map(|title| place.reading(title, value));
                        Ok(readings.collect())
                    }),
                });
            }
        }
    }
    tasks
}

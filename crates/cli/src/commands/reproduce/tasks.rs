//! What other methods do for Table 2 and contamination: a task for each column, rival
//! and run.

use std::path::Path;

use linkproof::data::features::Values;
use linkproof::io::{self, Field};
use linkproof::{Dataset, Error, Matrix};
use linkproof_lab::contamination::{self, Damage};
use linkproof_lab::job::{Place, Reading, Row};
use linkproof_lab::suite::Subject;
use linkproof_lab::table2::{self, COLUMNS};
use serde_json::{Value, json};

use super::Choice;
use super::rivals::Rival;

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

/// The rivals of Table 2.
pub fn of_table2(rivals: &[Rival]) -> Vec<&Rival> {
    let suits = |it: &&Rival| !it.settings.is_empty() && it.variant_of.is_none();
    rivals.iter().filter(suits).collect()
}

/// The rows of rivals in Table 2.
pub fn rows_of_table2(rivals: &[Rival]) -> Vec<Row> {
    let row = |rival: &Rival| {
        let paper = PAPER.iter().find(|(name, _)| *name == rival.name);
        Row::paper(&rival.title, paper.map_or(&[], |(_, paper)| paper))
    };
    of_table2(rivals).into_iter().map(row).collect()
}

/// The rivals of a graph of the contamination suite.
fn of_suite<'r>(rivals: &'r [Rival], subject: &Subject) -> Vec<&'r Rival> {
    let place = |it: &Rival| STRONGEST.iter().position(|name| *name == it.name);
    let suits = |it: &&Rival| {
        if subject.has_views {
            it.views
        } else {
            place(it).is_some()
        }
    };
    let mut list: Vec<&Rival> = rivals.iter().filter(suits).collect();
    list.sort_by_key(|it| place(it));
    list
}

/// A column of a table, as rivals fill it.
#[derive(Clone)]
struct Column<'t> {
    table: &'t str,
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

/// One run of a rival.
pub struct Task<'t> {
    /// Its name, unique in the experiment.
    pub key: String,
    /// The name of the data, the same for tasks on the same data.
    pub data: String,
    rival: &'t Rival,
    subject: &'t Subject,
    column: Column<'t>,
    run: u64,
    seed: u64,
}

/// The tasks of Table 2.
pub fn table2<'t>(
    rivals: &'t [Rival],
    subject: &'t Subject,
    choice: &Choice,
    runs: u64,
    seed: u64,
) -> Vec<Task<'t>> {
    let column = |(setting, heading): (&'static str, &'static str)| Column {
        table: table2::NAME,
        heading,
        key: setting.to_owned(),
        data: "clean".to_owned(),
        setting,
        damage: Damage::None,
        named: None,
        split: true,
    };
    let columns = COLUMNS.map(column);
    let list = of_table2(rivals);
    let tasks = columns.iter();
    let tasks = tasks.map(|column| tasks_of(&list, subject, column, choice, runs, seed));
    tasks.flatten().collect()
}

/// The tasks of the contamination suite.
pub fn contamination<'t>(
    rivals: &'t [Rival],
    subjects: &'t [Subject],
    choice: &Choice,
    runs: u64,
    seed: u64,
) -> Vec<Task<'t>> {
    let mut tasks = Vec::new();
    for subject in subjects {
        let list = of_suite(rivals, subject);
        let columns = contamination::Column::ALL.into_iter();
        for column in columns.filter(|column| subject.has(column)) {
            let key = format!("{}-{}", subject.name, column.key);
            let column = Column {
                table: &subject.name,
                heading: column.heading,
                data: key.clone(),
                key,
                setting: "all",
                damage: column.damage,
                named: Some(column.key),
                split: false,
            };
            tasks.extend(tasks_of(&list, subject, &column, choice, runs, seed));
        }
    }
    tasks
}

/// The tasks of a column.
fn tasks_of<'t>(
    list: &[&'t Rival],
    subject: &'t Subject,
    column: &Column<'t>,
    choice: &Choice,
    runs: u64,
    seed: u64,
) -> Vec<Task<'t>> {
    let is_able = |rival: &&&Rival| {
        let has = |other: &String| other == column.setting;
        (rival.settings.iter().any(has) || rival.views && !column.split)
            && choice.wants(&subject.name, column.named, &rival.name)
    };
    let mut tasks = Vec::new();
    for &rival in list.iter().filter(is_able) {
        tasks.extend((0..runs).map(|run| Task {
            key: format!("rival-{}-{}-run{run}", rival.name, column.key),
            data: format!("{}-run{run}", column.data),
            rival,
            subject,
            column: column.clone(),
            run,
            seed: seed.wrapping_add(run),
        }));
    }
    tasks
}

impl Task<'_> {
    /// As the rivals' program reads it.
    pub fn line(&self, data: &Path, out: &Path) -> Value {
        json!({
            "id": self.key, "rival": self.rival.name, "data": data,
            "setting": self.column.setting, "clusters": self.subject.n_classes,
            "seed": self.seed, "out": out,
        })
    }

    /// Writes links, data vectors and test rows as rivals read them. Of two views: all things,
    /// of which the last have no links.
    pub fn export(&self, folder: &Path) -> Result<(), Error> {
        let made = self.subject.make(self.column.damage, self.seed)?.0;
        let data = &made.graph.data;
        if let Some(views) = &made.views {
            let gap = (views.things() - views.known) as u32;
            let is_first = |row: u32| (row as usize) < views.known;
            export_links(
                folder,
                data,
                |row| if is_first(row) { row } else { row + gap },
            )?;
            for (matrix, name) in views.vectors.iter().zip(["features-a", "features-b"]) {
                export_matrix(folder, name, matrix)?;
            }
            return Ok(());
        }
        export_links(folder, data, |row| row)?;
        export_matrix(folder, "features", made.graph.matrix()?)?;
        let test: Vec<u32> = if self.column.split {
            made.graph.split(self.seed).test
        } else {
            (0..data.n_nodes() as u32).collect()
        };
        io::write_table(folder.join("test.csv"), &["node"], |rows| {
            test.iter()
                .try_for_each(|&row| rows.row(&[Field::Whole(row.into())]))
        })
    }

    /// Judges the embeddings that the rival wrote.
    pub fn judge(&self, path: &Path) -> Result<Vec<Reading>, Error> {
        let found = io::read_embeddings(path)?;
        // Classes are the same whatever the damage.
        let made = self.subject.make(Damage::None, self.seed)?.0;
        let value = made.judge_rows(&found.values, found.n, self.column.split, self.seed)?;
        let place = Place {
            table: self.column.table,
            column: self.column.heading,
            run: self.run,
        };
        Ok(vec![place.reading(&self.rival.title, value)])
    }
}

fn export_links(folder: &Path, data: &Dataset, place: impl Fn(u32) -> u32) -> Result<(), Error> {
    let columns = ["src", "dst", "weight"];
    io::write_table(folder.join("links.csv"), &columns, |rows| {
        data.graph().links().try_for_each(|link| {
            rows.row(&[
                Field::Whole(place(link.src).into()),
                Field::Whole(place(link.dst).into()),
                Field::Real(link.weight),
            ])
        })
    })
}

fn export_matrix(folder: &Path, name: &str, matrix: &Matrix) -> Result<(), Error> {
    let (rows, columns) = (matrix.n_rows(), matrix.n_columns());
    match matrix {
        Matrix::Dense(dense) => {
            let path = folder.join(format!("{name}.npy"));
            match dense.values() {
                Values::F32(values) => io::write_npy(path, rows, columns, values),
                Values::F64(values) => io::write_npy(path, rows, columns, values),
            }
        }
        Matrix::Sparse(sparse) => {
            let entries = sparse.values().len();
            io::write_file(folder.join(format!("{name}.mtx")), |file| {
                use std::io::Write;
                writeln!(file, "%%MatrixMarket matrix coordinate real general")?;
                writeln!(file, "{rows} {columns} {entries}")?;
                for row in 0..rows {
                    for (column, value) in matrix.row(row) {
                        writeln!(file, "{} {} {value}", row + 1, column + 1)?;
                    }
                }
                Ok(())
            })
        }
    }
}

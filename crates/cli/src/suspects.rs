//! The end of a check or an audit: the most suspicious links, then four lines.

use std::path::Path;

use linkproof::io::{Check, JudgedTable, check_files};
use linkproof::judge::ChecksUsed;
use linkproof::text::{
    Reader, Said, Style, Topic, aligned, counted, figures, judged, size, topics,
};
use serde_json::{Value, json};

use crate::args::quoted;
use crate::judging::SuspectArgs;

/// So many links are worth verifying first.
pub const SAMPLE: usize = 30;
/// The widest name of a node in a printed row.
const WIDEST: usize = 42;

/// Judged links and what a run made of them.
pub struct Suspects<'t> {
    /// The judged links.
    pub check: &'t Check,
    /// What was asked of them.
    pub args: &'t SuspectArgs,
    /// What became of checks, and how many earlier ones were replaced.
    pub checks: (ChecksUsed, usize),
    /// The command that goes on with these links, as typed.
    pub command: String,
    /// The folder of samples and checks.
    pub folder: &'t Path,
    /// Where the list of suspects is.
    pub list: String,
    /// How long it took.
    pub seconds: f64,
    /// A fit of these links that is worth proposing, as typed.
    pub fit: Option<String>,
    /// What to know beside the lines.
    pub notes: Vec<String>,
}

impl Suspects<'_> {
    fn table(&self) -> JudgedTable<'_> {
        JudgedTable::of(self.check)
    }

    /// The places of the links to print.
    fn top(&self) -> Vec<usize> {
        let places = self.check.judgment.by_rank();
        places.into_iter().take(self.args.top).collect()
    }

    /// A file of the folder, as a shell takes it.
    fn file(&self, name: &str) -> String {
        quoted(&self.folder.join(name).display().to_string())
    }

    /// What the run adds to the object of the judgment.
    pub fn fields(&self) -> Vec<(&'static str, Value)> {
        let shown = |path: &Path| path.display().to_string();
        let sample = self.args.checks.sample;
        let sample = sample.map(|_| shown(&self.folder.join(check_files::SAMPLE)));
        let clean = self.args.clean.as_deref();
        let kept = clean.map(|_| self.args.kept_places(self.check).len());
        vec![
            ("top", self.rows_as_json()),
            ("sample", json!(sample)),
            ("clean", json!(clean.map(shown))),
            ("kept", json!(kept)),
            ("checks", json!(self.checks.0)),
            ("checks_replaced", json!(self.checks.1)),
        ]
    }

    fn rows_as_json(&self) -> Value {
        let (check, table) = (self.check, self.table());
        let id = |row: u32| check.ids.name(row as usize).into_owned();
        let row = |place: usize| {
            let link = &check.judgment.links[place];
            json!({
                "rank": link.rank, "src": id(link.src), "dst": id(link.dst),
                "src_name": check.title(link.src), "dst_name": check.title(link.dst),
                "weight": link.weight, "belief": table.belief(link),
                "suspect": u8::from(link.suspect), "why": table.why(place),
            })
        };
        self.top().into_iter().map(row).collect()
    }

    /// The rows of the most suspicious links, then what was found, notes and what to do next.
    pub fn words(&self) -> String {
        let check = self.check;
        let tally = check.judgment.tally();
        let name = |row: u32| check.called(row);
        let sample = format!("{} --sample {SAMPLE}", self.command);
        let reader = Reader {
            style: Style::Cli,
            name: &name,
            suspects: Some(&self.list),
            sample: Some(&sample),
        };
        let tested = check.record.get("test").and_then(Value::as_bool);
        let tested = tested.unwrap_or(true);
        let mut said = judged(&check.judgment.facts, &tally, tested, &reader);
        let notes = self.all_notes().into_iter();
        said.extend(notes.map(|note| Said::new(Topic::Note, note)));
        said.extend(self.next().into_iter().map(|it| Said::new(Topic::Next, it)));
        let size = size(check.node_ids().len(), tally.links, None, self.seconds);
        format!("{}{size}\n\n{}", self.rows(), topics(&said))
    }

    fn rows(&self) -> String {
        let (check, table) = (self.check, self.table());
        let places = self.top();
        if places.is_empty() {
            return String::new();
        }
        let head = ["rank", "src", "dst", "weight", "belief", "why"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for place in places {
            let link = &check.judgment.links[place];
            let belief = table.belief(link);
            let mark = if link.suspect { "*" } else { "" };
            rows.push(vec![
                format!("{}{mark}", link.rank),
                shortened(&check.called(link.src)),
                shortened(&check.called(link.dst)),
                figures(link.weight),
                belief.map_or_else(|| "-".to_owned(), |belief| format!("{belief:.2}")),
                table.why(place),
            ]);
        }
        if rows[1..].iter().all(|row| row[3] == "1") {
            rows.iter_mut().for_each(|row| drop(row.remove(3)));
        }
        let mut text = aligned(&rows, &head).join("\n") + "\n";
        if rows[1..].iter().any(|row| row[0].ends_with('*')) {
            text.push_str("* flagged\n");
        }
        text + "\n"
    }

    fn all_notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        notes.extend(unused_columns(self.check));
        if let Some(path) = &self.args.clean {
            let kept = self.args.kept_places(self.check).len();
            let path = quoted(&path.display().to_string());
            let dropped = self.check.judgment.links.len() - kept;
            notes.push(format!(
                "{} kept in {path}, {dropped} left out.",
                counted(kept, "link")
            ));
        }
        notes.extend(about_checks(self.checks, &self.file(check_files::CHECKED)));
        notes
    }

    /// What can be done next.
    fn next(&self) -> Vec<String> {
        let mut next = Vec::new();
        let command = |options: &str| format!("{} {options}", self.command);
        if self.args.checks.sample.is_some() {
            let sample = self.file(check_files::SAMPLE);
            next.push(fill(&sample));
            next.push(command(&format!("--checked {sample}")));
        } else {
            next.push(command(&format!("--sample {SAMPLE}")));
        }
        if self.args.clean.is_none() && !self.check.judgment.facts.abstained {
            next.push(command("--clean kept.csv"));
        }
        next.extend(self.fit.clone());
        next
    }
}

/// What to do with a sample.
pub fn fill(sample: &str) -> String {
    format!("Fill the column 'real' of {sample} with 1 (real) or 0 (false), then")
}

/// Evidence of the user that was not used.
pub fn unused_columns(check: &Check) -> impl Iterator<Item = String> {
    let given = check.record.get("evidence").and_then(Value::as_array);
    let given = given.into_iter().flatten().filter_map(Value::as_str);
    let unused = &check.judgment.facts.unused;
    let is_unused = |name: &&str| unused.iter().any(|it| it.name == *name);
    given
        .filter(is_unused)
        .map(|name| format!("The column {name} has one value only and is not used."))
}

/// What became of checks beside those that were used.
pub fn about_checks((used, replaced): (ChecksUsed, usize), file: &str) -> Vec<String> {
    let mut notes = Vec::new();
    match replaced {
        0 => {}
        1 => notes.push("1 earlier check is replaced by newer ones.".to_owned()),
        n => notes.push(format!("{n} earlier checks are replaced by newer ones.")),
    }
    let gone = used.not_links;
    if gone > 0 {
        notes.push(format!(
            "{} {} about pairs that are no links any more: kept in {file}, not used.",
            counted(gone, "check"),
            if gone == 1 { "is" } else { "are" },
        ));
    }
    notes
}

/// A name that fits a column.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(WIDEST) {
        None => name.to_owned(),
        Some(_) => name.chars().take(WIDEST - 1).chain(['…']).collect(),
    }
}

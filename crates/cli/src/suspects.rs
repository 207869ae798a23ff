//! The end of a check or an audit: the most suspicious links, then four lines.

use std::fmt::Write;
use std::path::Path;

use linkproof::io::{Check, JudgedTable, check_files};
use linkproof::judge::{CheckContext, ChecksUsed, Line, check_lines};
use serde_json::{Value, json};

use crate::args::quoted;
use crate::judging::SuspectArgs;
use crate::session::{counted, figure, wrapped};
use crate::words::Flags;

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

    /// The rows of the most suspicious links, then the lines.
    pub fn words(&self) -> String {
        let mut text = self.rows();
        let lines = lines(self.check, &self.list, &self.command, self.seconds);
        for Line { topic, says } in lines {
            match topic {
                "" => {
                    let _ = write!(text, "{}\n\n", says.join(" "));
                }
                _ => push_line(&mut text, topic, says),
            }
        }
        push_notes(&mut text, self.all_notes());
        push_commands(&mut text, &self.next());
        text
    }

    fn rows(&self) -> String {
        let (check, table) = (self.check, self.table());
        let places = self.top();
        if places.is_empty() {
            return String::new();
        }
        let mut rows = vec![["rank", "src", "dst", "weight", "belief", "why"].map(str::to_owned)];
        for place in places {
            let link = &check.judgment.links[place];
            let belief = table.belief(link);
            let mark = if link.suspect { "*" } else { "" };
            rows.push([
                format!("{}{mark}", link.rank),
                shortened(&check.called(link.src)),
                shortened(&check.called(link.dst)),
                figure(link.weight),
                belief.map_or_else(|| "-".to_owned(), |belief| format!("{belief:.2}")),
                table.why(place),
            ]);
        }
        let is_weighted = rows[1..].iter().any(|row| row[3] != "1");
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..5).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &rows {
            for (column, width) in widths.iter().enumerate() {
                if column != 3 || is_weighted {
                    let _ = write!(text, "{:<width$}  ", row[column]);
                }
            }
            let _ = writeln!(text, "{}", row[5]);
        }
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

/// The first line, Links and Test. `command` goes on with the links, which are listed in
/// `list`.
pub fn lines(check: &Check, list: &str, command: &str, seconds: f64) -> Vec<Line> {
    let tested = check.record.get("test").and_then(Value::as_bool);
    let context = CheckContext {
        nodes: check.node_ids().len(),
        seconds,
        suspects: list,
        sample: &format!("{command} --sample {SAMPLE}"),
        next: &[],
        tested: tested.unwrap_or(true),
        name: &|row| check.called(row),
        dialect: &Flags,
    };
    let mut lines = check_lines(&check.judgment, &context);
    lines.retain(|line| line.topic != "Next");
    lines
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

/// Adds the sentences of a topic.
pub fn push_line(text: &mut String, topic: &str, says: impl IntoIterator<Item = impl AsRef<str>>) {
    for (place, says) in says.into_iter().enumerate() {
        let topic = if place == 0 { topic } else { "" };
        let _ = writeln!(text, "{}", wrapped(&format!("{topic:<11}"), says.as_ref()));
    }
}

/// Adds notes, each under its own topic.
pub fn push_notes(text: &mut String, notes: impl IntoIterator<Item = String>) {
    for note in notes {
        push_line(text, "Note", [note]);
    }
}

/// Adds what can be typed next.
pub fn push_commands(text: &mut String, commands: &[String]) {
    text.push('\n');
    for (place, command) in commands.iter().enumerate() {
        let topic = if place == 0 { "Next" } else { "" };
        let _ = writeln!(text, "{topic:<11} {command}");
    }
}

/// A name that fits a column.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(WIDEST) {
        None => name.to_owned(),
        Some(_) => name.chars().take(WIDEST - 1).chain(['…']).collect(),
    }
}

//! What a check tells: the first rows, four lines, and the same as JSON.

use std::fmt::Write;

use linkproof::Error;
use linkproof::io::{JudgedTable, check_files, check_json};
use linkproof::judge::{CheckContext, MissingLink, check_lines};
use serde_json::{Value, json};

use super::{CheckArgs, Outcome, kept_places};
use crate::args::quoted;
use crate::session::{counted, counted_kinds, figure, wrapped};
use crate::words::Flags;

/// So many links are worth verifying first.
const SAMPLE: usize = 30;
/// The widest name of a node in a printed row.
const WIDEST: usize = 42;

/// A check to be told.
pub struct Told<'t> {
    args: &'t CheckArgs,
    outcome: &'t Outcome,
    table: JudgedTable<'t>,
}

impl<'t> Told<'t> {
    pub fn new(args: &'t CheckArgs, outcome: &'t Outcome) -> Told<'t> {
        Told {
            args,
            outcome,
            table: JudgedTable::of(&outcome.check),
        }
    }

    /// The places of the links to print.
    fn top(&self) -> Vec<usize> {
        let places = self.outcome.check.judgment.by_rank();
        places.into_iter().take(self.args.top).collect()
    }

    /// A file of the folder, as a shell takes it.
    fn file(&self, name: &str) -> String {
        quoted(&self.args.out.join(name).display().to_string())
    }

    /// This command on the finished check.
    fn command(&self, options: &str) -> String {
        let out = quoted(&self.args.out.display().to_string());
        format!("linkproof check --out {out} {options}")
    }

    /// One object: `check.json` without what only loading needs, and what was printed.
    pub fn json(&self) -> Result<Value, Error> {
        let check = &self.outcome.check;
        let mut json = check_json(check)?;
        let shown = |name: &str| self.args.out.join(name).display().to_string();
        let sample = self.args.sample.map(|_| shown(check_files::SAMPLE));
        let clean = self.args.clean.as_ref();
        if let Value::Object(fields) = &mut json {
            fields.remove("facts");
            for (name, value) in [
                ("out", json!(self.args.out.display().to_string())),
                ("suspects", json!(check.judgment.n_flagged())),
                ("suspects_file", json!(shown(check_files::SUSPECTS))),
                ("top", self.rows_as_json()),
                ("missing", self.missing_as_json()),
                ("sample", json!(sample)),
                ("clean", json!(clean.map(|path| path.display().to_string()))),
                (
                    "kept",
                    json!(clean.map(|_| kept_places(self.args, check).len())),
                ),
                ("checks", json!(self.outcome.checks)),
                ("checks_replaced", json!(self.outcome.replaced)),
            ] {
                fields.insert(name.to_owned(), value);
            }
        }
        Ok(json)
    }

    fn rows_as_json(&self) -> Value {
        let check = &self.outcome.check;
        let id = |row: u32| check.ids.name(row as usize).into_owned();
        let row = |place: usize| {
            let link = &check.judgment.links[place];
            json!({
                "rank": link.rank, "src": id(link.src), "dst": id(link.dst),
                "src_name": check.title(link.src), "dst_name": check.title(link.dst),
                "weight": link.weight, "belief": self.table.belief(link),
                "suspect": u8::from(link.suspect), "why": self.table.why(place),
            })
        };
        self.top().into_iter().map(row).collect()
    }

    fn missing_as_json(&self) -> Value {
        let check = &self.outcome.check;
        let id = |row: u32| check.ids.name(row as usize).into_owned();
        let pair = |it: &MissingLink| json!({ "src": id(it.src), "dst": id(it.dst), "agreement": it.agreement });
        self.outcome.missing.iter().map(pair).collect()
    }

    /// The rows of the most suspicious links, then the lines.
    pub fn words(&self) -> String {
        let mut text = self.rows();
        let check = &self.outcome.check;
        let suspects = self.file(check_files::SUSPECTS);
        let sample = self.command(&format!("--sample {SAMPLE}"));
        let recorded = |name: &str| check.record.get(name);
        let context = CheckContext {
            nodes: check.node_ids().len(),
            seconds: recorded("seconds").and_then(Value::as_f64).unwrap_or(0.0),
            suspects: &suspects,
            sample: &sample,
            next: &self.next(),
            tested: recorded("test").and_then(Value::as_bool).unwrap_or(true),
            name: &|row| check.called(row),
            dialect: &Flags,
        };
        for line in check_lines(&check.judgment, &context) {
            match line.topic {
                "" => {
                    let _ = write!(text, "{}\n\n", line.says.join(" "));
                }
                "Next" => {
                    for note in self.notes() {
                        let _ = writeln!(text, "{}", wrapped(&topic("Note"), &note));
                    }
                    text.push('\n');
                    for (place, command) in line.says.iter().enumerate() {
                        let topic = topic(if place == 0 { line.topic } else { "" });
                        let _ = writeln!(text, "{topic} {command}");
                    }
                }
                name => {
                    for (place, says) in line.says.iter().enumerate() {
                        let topic = topic(if place == 0 { name } else { "" });
                        let _ = writeln!(text, "{}", wrapped(&topic, says));
                    }
                }
            }
        }
        text
    }

    fn rows(&self) -> String {
        let check = &self.outcome.check;
        let places = self.top();
        if places.is_empty() {
            return String::new();
        }
        let mut rows = vec![["rank", "src", "dst", "weight", "belief", "why"].map(str::to_owned)];
        for place in places {
            let link = &check.judgment.links[place];
            let belief = self.table.belief(link);
            let mark = if link.suspect { "*" } else { "" };
            rows.push([
                format!("{}{mark}", link.rank),
                shortened(&check.called(link.src)),
                shortened(&check.called(link.dst)),
                figure(link.weight),
                belief.map_or_else(|| "-".to_owned(), |belief| format!("{belief:.2}")),
                self.table.why(place),
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

    /// What to know beside the lines.
    fn notes(&self) -> Vec<String> {
        let outcome = self.outcome;
        let facts = &outcome.check.judgment.facts;
        let mut notes = Vec::new();
        let left_out = counted_kinds(&outcome.left_out);
        if !left_out.is_empty() {
            notes.push(format!("Left out: {left_out}."));
        }
        let given = outcome.check.record.get("evidence");
        let given = given.and_then(Value::as_array).into_iter().flatten();
        for name in given.filter_map(Value::as_str) {
            if facts.unused.iter().any(|it| it.name == name) {
                notes.push(format!(
                    "The column {name} has one value only and is not used."
                ));
            }
        }
        if self.args.missing > 0 {
            notes.push(format!(
                "{} without a link that look most like links: {}.",
                counted(self.outcome.missing.len(), "pair"),
                self.file(check_files::MISSING)
            ));
        }
        if let Some(path) = &self.args.clean {
            let kept = kept_places(self.args, &outcome.check).len();
            let path = quoted(&path.display().to_string());
            let dropped = outcome.check.judgment.links.len() - kept;
            notes.push(format!(
                "{} kept in {path}, {dropped} left out.",
                counted(kept, "link")
            ));
        }
        if outcome.replaced > 0 {
            let checks = counted(outcome.replaced, "earlier check");
            notes.push(format!(
                "{} replaced by newer ones.",
                plural(&checks, outcome.replaced)
            ));
        }
        let gone = outcome.checks.not_links;
        if gone > 0 {
            notes.push(format!(
                "{} about pairs that are no links any more: kept in {}, not used.",
                plural(&counted(gone, "check"), gone),
                self.file(check_files::CHECKED)
            ));
        }
        for path in &outcome.changed {
            notes.push(format!(
                "{} was changed while it was read: check again.",
                path.display()
            ));
        }
        notes
    }

    /// What can be done next.
    fn next(&self) -> Vec<String> {
        let mut next = Vec::new();
        if self.args.sample.is_some() {
            let sample = self.file(check_files::SAMPLE);
            next.push(format!(
                "Fill the column 'real' of {sample} with 1 (real) or 0 (false), then"
            ));
            next.push(self.command(&format!("--checked {sample}")));
        } else {
            next.push(self.command(&format!("--sample {SAMPLE}")));
        }
        if self.args.clean.is_none() && !self.outcome.check.judgment.facts.abstained {
            next.push(self.command("--clean kept.csv"));
        }
        let typed = self.outcome.check.record.get("links_typed");
        if let Some(typed) = typed.and_then(Value::as_str) {
            next.push(format!("linkproof fit {typed} --robust --out model"));
        }
        next
    }
}

/// `1 check is`, `2 checks are`.
fn plural(counted: &str, n: usize) -> String {
    format!("{counted} {}", if n == 1 { "is" } else { "are" })
}

fn topic(name: &str) -> String {
    format!("{name:<11}")
}

/// A name that fits a column.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(WIDEST) {
        None => name.to_owned(),
        Some(_) => name.chars().take(WIDEST - 1).chain(['…']).collect(),
    }
}

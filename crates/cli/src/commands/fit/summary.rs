//! What a fit found: its summary and its JSON.

use std::fmt::Write;

use linkproof::error::in_bytes;
use linkproof::io::{Check, check_files, fit_json, model_files};
use linkproof::judge::ChecksUsed;
use linkproof::text;
use linkproof::text::{
    Reader, Said, Style, Topic, counted, figures, left_out, note, size, topics, warning,
};
use linkproof::{Error, Fitted};
use serde_json::{Map, Value, json};

use super::next::next;
use super::{Findings, FitArgs};
use crate::args::quoted;
use crate::search;
use crate::suspects::{SAMPLE, about_checks, unused_columns};

impl Findings {
    /// What was found, in sentences.
    pub(super) fn verdict(&self, reader: &Reader<'_>) -> Vec<Said> {
        match (&self.robust, &self.look) {
            (Some(found), _) => text::robust(&found.facts, reader),
            (None, Some(found)) => text::plain(found, reader),
            (None, None) => Vec::new(),
        }
    }

    /// The same for files, wherever these will be.
    pub(super) fn recorded_verdict(&self, model: &Fitted) -> Value {
        json!(self.verdict(&Reader {
            style: Style::Cli,
            name: &|row| model.ids().name(row as usize).into_owned(),
            suspects: None,
            sample: None,
        }))
    }
}

/// The content of `fit.json`, and what readers look for first.
pub(super) fn as_json(
    args: &FitArgs,
    fitted: &Fitted,
    record: &Map<String, Value>,
    peak: Option<u64>,
) -> Result<Value, Error> {
    let params = fitted.params();
    let mut json = fit_json(fitted, record)?;
    for (name, value) in [
        ("score", json!(params.score)),
        ("beta", json!(params.beta)),
        ("ridge", json!(params.ridge())),
        ("out", json!(args.out.display().to_string())),
        ("nodes", json!(fitted.node_ids().len())),
        ("links", json!(fitted.links().n_links())),
        ("dim", json!(fitted.dim())),
        ("peak_memory_bytes", json!(peak)),
    ] {
        json[name] = value;
    }
    Ok(json)
}

/// The links as a robust fit judged them.
pub(super) fn judged(model: &Fitted, record: &Map<String, Value>) -> Option<Check> {
    let judgment = model.believed()?.judgment(model.links())?;
    Some(Check::of_model(model, judgment, record.clone()))
}

/// The size, the verdict, notes, details and what to do next. `check` holds the links as a
/// robust fit judged them.
pub(super) fn summary(
    args: &FitArgs,
    fitted: &Fitted,
    check: Option<&Check>,
    n_unknown: usize,
    findings: &Findings,
    peak: Option<u64>,
) -> String {
    let file = |name: &str| quoted(&args.out.join(name).display().to_string());
    let (suspects, out) = (file(model_files::SUSPECTS), args.out.display().to_string());
    let sample = format!("linkproof audit --model {} --sample {SAMPLE}", quoted(&out));
    let name = |row: u32| match check {
        Some(check) => check.called(row),
        None => fitted.ids().name(row as usize).into_owned(),
    };
    let mut said = findings.verdict(&Reader {
        style: Style::Cli,
        name: &name,
        suspects: check.map(|_| &*suspects),
        sample: check.map(|_| &*sample),
    });
    said.retain(|it| args.verbose || it.about != Topic::Smoothing);
    let notes = notes(args, fitted, check, n_unknown, findings).into_iter();
    said.extend(notes.map(|note| Said::new(Topic::Note, note)));
    let seconds = findings.began.elapsed().as_secs_f64();
    let (nodes, links) = (fitted.node_ids().len(), fitted.links().n_links());
    let size = size(nodes, links, Some(fitted.dim()), seconds);
    let mut text = format!("{size}\n\n{}", topics(&said));
    if args.verbose || check.is_none() {
        text += &details(fitted, findings, peak);
    }
    let next = next(args, fitted, findings.advice()).into_iter();
    let next: Vec<Said> = next.map(|it| Said::new(Topic::Next, it)).collect();
    text + &topics(&next)
}

/// What to know of the fit, its inputs and the search before it.
fn notes(
    args: &FitArgs,
    fitted: &Fitted,
    check: Option<&Check>,
    n_unknown: usize,
    findings: &Findings,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(selection) = &findings.selection {
        notes.push(format!(
            "Selected: {} of {}, by {}.",
            search::in_words(selection),
            counted(selection.candidates.len(), "candidate"),
            text::compared(selection.criterion)
        ));
        notes.extend(search::notes(selection));
        notes.extend(selection.warnings.iter().map(|it| warning(it, Style::Cli)));
    }
    notes.extend(fitted.report().notes.iter().map(|it| note(it, Style::Cli)));
    if let Some(check) = check {
        notes.extend(unused_columns(check));
        let used = ChecksUsed {
            not_links: findings.checks.not_links,
            ..ChecksUsed::default()
        };
        let file = args.out.join(check_files::CHECKED).display().to_string();
        notes.extend(about_checks((used, findings.checks.replaced), &file));
    }
    let counts = fitted.report().counts;
    let mut read = counts.read;
    read.columns = read.columns.saturating_sub(args.evidence.evidence.len());
    let more = [
        (
            counts.ignored_links,
            "link",
            " between views that take no part",
        ),
        (n_unknown, "label", " of nodes that are not in the graph"),
    ];
    let header = findings.header.as_deref().unwrap_or_default();
    let kinds = left_out(read, header, &more);
    notes.extend((!kinds.is_empty()).then(|| format!("Left out: {kinds}.")));
    notes
}

/// The settings, value and steps of the fit, memory, and how sure the model is.
fn details(fitted: &Fitted, findings: &Findings, peak: Option<u64>) -> String {
    let (report, params) = (fitted.report(), fitted.params());
    let about = |is_estimated| if is_estimated { "about " } else { "" };
    let mut text = format!("\n  score     {}", params.score);
    for (name, value) in params.score_settings() {
        let _ = write!(text, ", {name} {value}");
    }
    let _ = write!(text, "; ridge {}", params.ridge());
    if let Some(chosen) = findings.robust.as_ref().map(|found| found.chosen) {
        let rounds = counted(chosen.rounds, "round");
        let _ = write!(
            text,
            ", walks of length {}, {rounds} of smoothing",
            chosen.walks
        );
    }
    let _ = write!(
        text,
        "\n  value     {}{:.6} over the training pairs\n  stopped   {} after {} in {:.1} s",
        about(report.value_is_estimated),
        report.value,
        json!(report.stop_reason).as_str().unwrap_or_default(),
        counted(report.steps, "step"),
        report.seconds,
    );
    if let Some(peak) = peak {
        let _ = write!(text, ", {} of memory at most", in_bytes(peak));
    }
    if let Some((start, best)) = report.held_out {
        let _ = write!(
            text,
            "\n  held out  {}{best:.6} per pair (from {start:.6}), best at step {}",
            about(report.held_out_is_estimated),
            report.best_step
        );
    }
    if report.k != 1.0 {
        let _ = write!(
            text,
            "\n  lambda    fits the weights up to the factor k = {:.6}, which score multiplies in",
            report.k
        );
    }
    if let Some((count, middle)) = surety(fitted) {
        let _ = write!(
            text,
            "\n  sure      The logarithms of expected weights of links have a standard error of \
             {} (the middle one; {count} fits to parts of the nodes)",
            figures(middle)
        );
    }
    text + "\n"
}

/// How sure the model is of its links: the number of replicates, and the middle standard
/// error of the logarithms of expected weights.
fn surety(model: &Fitted) -> Option<(usize, f64)> {
    let count = model.replicates()?.parts.len();
    let links = model.links().links();
    let errors = links.filter_map(|link| model.spread(link.src as usize, link.dst as usize));
    let mut errors: Vec<f64> = errors.map(|spread| spread.error).collect();
    errors.sort_by(f64::total_cmp);
    Some((count, *errors.get(errors.len() / 2)?))
}

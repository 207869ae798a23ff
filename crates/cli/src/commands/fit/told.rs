//! What a fit tells: its words and its JSON.

use std::fmt::Write;

use linkproof::Fitted;
use linkproof::io::{self, Check, check_files, gamma_json};
use linkproof::judge::ChecksUsed;
use linkproof::robust::RobustSummary;
use serde_json::{Map, Value, json};

use super::next::next;
use super::{Findings, FitArgs};
use crate::robust::{self, Ended};
use crate::search;
use crate::session::{counted, counted_kinds, left_out};
use crate::suspects::{about_checks, unused_columns};
use crate::words::Flags;

/// How sure the model is of its links, the middle one of them.
fn surety(model: &Fitted) -> Option<String> {
    let count = model.replicates()?.parts.len();
    let links = model.links().links();
    let errors = links.filter_map(|link| model.spread(link.src as usize, link.dst as usize));
    let mut errors: Vec<f64> = errors.map(|spread| spread.error).collect();
    errors.sort_by(f64::total_cmp);
    let middle = errors.get(errors.len() / 2)?;
    Some(format!(
        "\n  sure      The logarithms of expected weights of links have a standard error of {middle:.2} \
         (the middle one; {count} fits to parts of the nodes)"
    ))
}

pub(super) fn as_json(
    args: &FitArgs,
    fitted: &Fitted,
    findings: &Findings,
    peak: Option<u64>,
) -> Value {
    let report = fitted.report();
    let params = fitted.params();
    json!({
        "score": params.score,
        "beta": params.beta,
        "ridge": params.ridge,
        "selection": findings.selection.as_ref().map(search::as_json),
        "robust": findings.robust,
        "look": findings.look,
        "verdict": findings.verdict(),
        "out": args.out.display().to_string(),
        "nodes": fitted.node_ids().len(),
        "links": fitted.links().n_links(),
        "dim": fitted.dim(),
        "effective_rank": fitted.effective_rank(),
        "gamma": gamma_json(fitted),
        "value": report.value,
        "value_is_estimated": report.value_is_estimated,
        "k": report.k,
        "notes": report.notes,
        "stop_reason": report.stop_reason,
        "steps": report.steps,
        "best_step": report.best_step,
        "held_out": report.held_out,
        "held_out_is_estimated": report.held_out_is_estimated,
        "seconds": report.seconds,
        "peak_memory_bytes": peak,
    })
}

/// The links as a robust fit judged them.
pub(super) fn judged(model: &Fitted, record: &Map<String, Value>) -> Option<Check> {
    Some(Check {
        judgment: model.believed()?.judgment(model.links())?,
        ids: model.ids().clone(),
        views: None,
        attributes: model.attributes().cloned().unwrap_or_default(),
        record: record.clone(),
    })
}

/// The end of a robust fit.
pub(super) fn end<'e>(
    args: &'e FitArgs,
    fitted: &Fitted,
    check: &'e Check,
    found: &'e RobustSummary,
    n_unknown: usize,
    findings: &Findings,
    peak: Option<u64>,
) -> Ended<'e> {
    let mut notes: Vec<String> = fitted
        .report()
        .notes
        .iter()
        .map(|note| note.told(&Flags))
        .collect();
    notes.extend(unused_columns(check));
    let used = ChecksUsed {
        not_links: findings.checks.not_links,
        ..ChecksUsed::default()
    };
    let file = args.out.join(check_files::CHECKED).display().to_string();
    notes.extend(about_checks((used, findings.checks.replaced), &file));
    let kinds = kinds_left_out(args, findings, fitted, n_unknown);
    if !kinds.is_empty() {
        notes.push(format!("Left out: {kinds}."));
    }
    Ended {
        found,
        check,
        dim: fitted.dim(),
        out: &args.out,
        seconds: findings.began.elapsed().as_secs_f64(),
        notes,
        details: args.verbose.then(|| details(fitted, peak)),
        next: next(args, fitted, findings.advice()),
    }
}

fn kinds_left_out(
    args: &FitArgs,
    findings: &Findings,
    fitted: &Fitted,
    n_unknown: usize,
) -> String {
    let header = findings.header.as_deref().unwrap_or_default();
    let counts = fitted.report().counts;
    let mut read = counts.read;
    read.columns = read.columns.saturating_sub(args.evidence.evidence.len());
    let mut kinds = left_out(read, header);
    let others = [
        (counts.ignored_links, "link between views that take no part"),
        (n_unknown, "label of nodes that are not in the graph"),
    ];
    kinds.extend(others.map(|(count, what)| (count, what.to_owned())));
    counted_kinds(&kinds)
}

pub(super) fn summary(
    args: &FitArgs,
    fitted: &Fitted,
    n_unknown: usize,
    findings: &Findings,
    peak: Option<u64>,
) -> String {
    let (report, params) = (fitted.report(), fitted.params());
    let mut text = format!(
        "{} and {} in {}, {} score",
        counted(fitted.node_ids().len(), "node"),
        counted(fitted.links().n_links(), "link"),
        counted(fitted.dim(), "dimension"),
        params.score,
    );
    for (param, value) in params.of_score() {
        let _ = write!(text, " with {param} {value}");
    }
    text.push_str(&robust::verdict_in_words(findings.verdict()));
    text.push_str(&details(fitted, peak));
    if let Some(selection) = &findings.selection {
        let _ = write!(
            text,
            "\n  selected  {} of {} candidates, by {} ({} fits, {:.1} s)",
            search::in_words(selection),
            selection.candidates.len(),
            selection.compared,
            selection.fits,
            selection.seconds
        );
        for note in search::notes(selection) {
            let _ = write!(text, "\n  note      {note}");
        }
        for warning in &selection.warnings {
            let _ = write!(text, "\n  warning   {}", warning.told(&Flags));
        }
    }
    for note in &report.notes {
        let _ = write!(text, "\n  note      {}", note.told(&Flags));
    }
    if report.k != 1.0 {
        let _ = write!(
            text,
            "\n  lambda    fits the weights up to the factor k = {:.6}, which score multiplies in",
            report.k
        );
    }
    let kinds = kinds_left_out(args, findings, fitted, n_unknown);
    if !kinds.is_empty() {
        let _ = write!(text, "\n  left out  {kinds}");
    }
    let _ = write!(text, "\nWritten to {}. Next:", args.out.display());
    for line in next(args, fitted, findings.advice()) {
        let _ = write!(text, "\n  {line}");
    }
    text
}

/// Value and steps of the fit, memory, and how sure the model is.
fn details(fitted: &Fitted, peak: Option<u64>) -> String {
    let mut text = String::new();
    let report = fitted.report();
    let about = |is_estimated| if is_estimated { "about " } else { "" };
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
        let _ = write!(text, ", {} of memory at most", io::memory::in_words(peak));
    }
    if let Some((start, best)) = report.held_out {
        let _ = write!(
            text,
            "\n  held out  {}{best:.6} per pair (from {start:.6}), best at step {}",
            about(report.held_out_is_estimated),
            report.best_step
        );
    }
    text.push_str(&surety(fitted).unwrap_or_default());
    text
}

//! What a search leaves behind, in words and as JSON.

use std::fmt::Write;

use linkproof::params::WeightTransform;
use linkproof::select::{Change, Comparison, Criterion, Selection, Tried};
use linkproof::text::{self, Style, aligned, compared, counted, in_seconds, selection_json};
use serde_json::{Value, json};

/// A search as JSON: the choice first, then everything else.
pub fn as_json(selection: &Selection) -> Value {
    let mut json = json!(selection.chosen);
    let rest = selection_json(selection, Style::Cli);
    if let (Value::Object(fields), Value::Object(rest)) = (&mut json, rest) {
        fields.extend(rest);
    }
    json
}

/// A table for a person, and what was chosen.
pub fn words(selection: &Selection) -> String {
    let chosen = &selection.chosen;
    let several = |pick: fn(&Comparison) -> usize| {
        let all = &selection.candidates;
        all.iter().any(|one| pick(one) != pick(&all[0]))
    };
    let by_ranks = selection.criterion == Criterion::Rank;
    let columns = [
        ("", true),
        ("score", true),
        ("beta", true),
        ("ridge", true),
        ("dim", several(|one| one.candidate.dim)),
        ("walks", several(|one| one.candidate.walks)),
        ("folds", true),
        ("told apart", by_ranks),
        ("behind the best", by_ranks),
        ("behind the best, a link", !by_ranks),
    ];
    let shown = |cells: Vec<String>| -> Vec<String> {
        let cells = cells
            .into_iter()
            .zip(columns)
            .filter(|(_, (_, shown))| *shown);
        cells.map(|(cell, _)| cell).collect()
    };
    let mut rows = vec![shown(columns.map(|(name, _)| name.to_owned()).to_vec())];
    rows.extend(selection.ranked().into_iter().map(|one| {
        let candidate = &one.candidate;
        let behind = match (&one.failure, one.behind, one.standard_error) {
            (Some(failure), ..) => failure.clone(),
            (_, Some(behind), Some(error)) => format!("{behind:.5} +- {error:.5}"),
            (_, Some(behind), None) => format!("{behind:.5}"),
            _ => String::new(),
        };
        let apart = one.mean.map(|mean| format!("{:.1}%", 100.0 * (1.0 - mean)));
        shown(vec![
            if candidate == chosen { "*" } else { "" }.to_owned(),
            candidate.score.to_string(),
            candidate.beta.to_string(),
            candidate.ridge.to_string(),
            candidate.dim.to_string(),
            candidate.walks.to_string(),
            one.folds.len().to_string(),
            apart.unwrap_or_default(),
            behind.clone(),
            behind,
        ])
    }));
    let left = ["score", "behind the best", "behind the best, a link"];
    let mut text = format!(
        "{}, compared by {} ({}, {}, {})\n\n{}",
        counted(selection.candidates.len(), "candidate"),
        compared(selection.criterion),
        counted(selection.folds, "fold"),
        counted(selection.fits, "fit"),
        in_seconds(selection.seconds),
        aligned(&rows, &left).join("\n"),
    );
    let _ = write!(text, "\n\nChosen: {}", in_words(selection));
    for tried in &selection.tried {
        let _ = write!(text, "\n  {}", tried_in_words(tried));
    }
    for note in notes(selection) {
        let _ = write!(text, "\n  note      {note}");
    }
    for warning in &selection.warnings {
        let _ = write!(text, "\n  warning   {}", text::warning(warning, Style::Cli));
    }
    text
}

/// What a change of the model does for held-out pairs.
fn tried_in_words(tried: &Tried) -> String {
    let option = option_of(tried.change);
    let found = match tried.wanted {
        true => "held-out pairs are told better, so it is chosen",
        false => "left off",
    };
    format!(
        "{option:<36}{found} (gain {:.4} +- {:.4} a link)",
        tried.gain, tried.standard_error
    )
}

/// The option that makes a change.
fn option_of(change: Change) -> String {
    match change {
        Change::Offsets => "--offsets".to_owned(),
        Change::Signed { negative_share } => {
            format!("--similarity signed --negative-share {negative_share}")
        }
    }
}

/// The options of all changes that a graph wants, each after a space.
pub fn wanted_options(selection: &Selection) -> String {
    let wanted = selection.tried.iter().filter(|tried| tried.wanted);
    wanted
        .map(|tried| format!(" {}", option_of(tried.change)))
        .collect()
}

/// The choice in a few words.
pub fn in_words(selection: &Selection) -> String {
    let chosen = &selection.chosen;
    let beta = match chosen.score.reads_beta() {
        false => String::new(),
        true => format!(" with beta {}", chosen.beta),
    };
    format!("{} score{beta}, ridge {}", chosen.score, chosen.ridge)
}

/// What to know of a choice beside its warnings.
pub fn notes(selection: &Selection) -> Vec<String> {
    let mut notes = Vec::new();
    if selection.tied > 1 {
        notes.push(format!(
            "{} ridges are as good as each other (they differ by less than a standard error, or \
             0.005 of a rank): the largest is chosen",
            selection.tied
        ));
    }
    let by_ranks = selection.criterion == Criterion::Rank;
    if by_ranks && selection.chosen.weights == WeightTransform::Binary {
        notes.push(
            "every link counts 1, whatever its weight (--weights binary), so that the unit of \
             the weights does not matter; --weights asis keeps them"
                .to_owned(),
        );
    }
    notes
}

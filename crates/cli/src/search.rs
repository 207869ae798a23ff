//! The options of a search, as typed, and what a search leaves behind.

use std::fmt::Write;

use clap::Args;
use linkproof::Params;
use linkproof::model::folds::HoldOut;
use linkproof::params::{Param, ScoreKind, WeightTransform};
use linkproof::select::{Change, Comparison, Criterion, Grid, Search, Selection, Tried};
use linkproof::text::{self, Style, aligned, compared, counted, in_seconds, selection_json};
use serde_json::{Value, json};

use crate::args::{choice, real, whole};
use crate::settings::SettingArgs;

/// What is tried, and how it is compared.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// Scores to try [default: likelihood,probability, or that of --score]
    #[arg(long, value_name = "S[,S..]", value_delimiter = ',', num_args = 0..=1, value_parser = choice!(ScoreKind))]
    scores: Option<Vec<ScoreKind>>,
    /// Exponents to try [default: 0.1,0.5, or that of --beta]
    #[arg(long, value_name = "B[,B..]", value_delimiter = ',', num_args = 0..=1, value_parser = real)]
    betas: Option<Vec<f64>>,
    /// Ridges to try [default: 0.1,0.3,1,3,10,30,100,300, or that of --ridge]
    #[arg(long, value_name = "R[,R..]", value_delimiter = ',', num_args = 0..=1, value_parser = real)]
    ridges: Option<Vec<f64>>,
    /// Dimensions to try [default: that of --dim alone]
    #[arg(long, value_name = "K[,K..]", value_delimiter = ',', num_args = 0..=1, value_parser = whole)]
    dims: Option<Vec<usize>>,
    /// Lengths of walks to try [default: that of --walks alone]
    #[arg(long, value_name = "H[,H..]", value_delimiter = ',', num_args = 0..=1, value_parser = whole)]
    walk_lengths: Option<Vec<usize>>,
    /// Largest numbers of steps to try [default: that of --steps alone]
    #[arg(long, value_name = "N[,N..]", value_delimiter = ',', num_args = 0..=1, value_parser = whole)]
    step_limits: Option<Vec<usize>>,
    /// Folds of the pairs, 2 to 100 [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    folds: Option<usize>,
    /// What a fold holds out: single pairs, or nodes with all their pairs, for
    /// models that will embed unseen nodes [default: pairs]
    #[arg(long, value_name = "WHAT", value_parser = choice!(HoldOut))]
    hold_out: Option<HoldOut>,
    /// What candidates are compared by: rank, how well embeddings tell held-out
    /// links from pairs without a link, whatever the weights; or a score of the
    /// weights of held-out pairs, SCORE[:BETA], such as probability:0.5 (the moment
    /// score rejects the right model where weights are corrupted) [default: rank]
    #[arg(long, value_name = "WHAT")]
    criterion: Option<Criterion>,
    /// Fit every candidate on every fold; otherwise most are dropped after one or
    /// two folds
    #[arg(long)]
    exhaustive: bool,
    /// With a score as --criterion: choose the simplest of the candidates within one
    /// standard error of the best, the largest ridge, then the smallest exponent
    #[arg(long)]
    one_standard_error: bool,
}

impl SearchArgs {
    /// Whether anything was given that only a search reads.
    pub fn is_given(&self) -> bool {
        let lists = [
            self.scores.is_some(),
            self.betas.is_some(),
            self.ridges.is_some(),
            self.dims.is_some(),
            self.walk_lengths.is_some(),
            self.step_limits.is_some(),
        ];
        lists.contains(&true)
            || self.hold_out.is_some()
            || self.criterion.is_some()
            || self.exhaustive
            || self.one_standard_error
    }

    /// The search; what was typed for a single fit is not searched over.
    pub fn search(&self, base: &Params, settings: &SettingArgs) -> Search {
        let around = Grid::around(base);
        let list = |given: &Option<Vec<f64>>, param, one: f64, default: Vec<f64>| {
            let one = settings.is_typed(param).then(|| vec![one]);
            given.clone().or(one).unwrap_or(default)
        };
        let score = settings.is_typed(Param::Score).then(|| vec![base.score]);
        Search {
            grid: Grid {
                scores: self.scores.clone().or(score).unwrap_or(around.scores),
                betas: list(&self.betas, Param::Beta, base.beta, around.betas),
                ridges: list(&self.ridges, Param::Ridge, base.ridge, around.ridges),
                dims: self.dims.clone().unwrap_or(around.dims),
                walks: self.walk_lengths.clone().unwrap_or(around.walks),
                steps: self.step_limits.clone().unwrap_or(around.steps),
            },
            folds: self.folds.unwrap_or(5),
            hold_out: self.hold_out.unwrap_or_default(),
            criterion: self.criterion.unwrap_or_default(),
            halving: !self.exhaustive,
            one_standard_error: self.one_standard_error,
            weights: settings.is_typed(Param::Weights).then_some(base.weights),
            try_offsets: !settings.is_typed(Param::Offsets),
            try_signed: !settings.is_typed(Param::Similarity),
        }
    }
}

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

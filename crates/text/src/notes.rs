//! What a user should know of a fit, a choice of settings or an update.

use linkproof_method::data::graph::LinkCounts;
use linkproof_method::error::{Style, quote};
use linkproof_method::params::{Note, Similarity, Unused};
use linkproof_method::select::{Criterion, Selection, Warning};
use linkproof_method::update::{Due, UpdateReport};
use serde_json::{Value, json};

use crate::figures::{counted, figures, percent};
use crate::verdict::dimensions;

/// A note on a fit.
pub fn note(note: &Note, style: Style) -> String {
    match note {
        Note::Unused { name, why } => {
            let why = style.spell(&why_unused(*why));
            format!("{} has no effect: {why}", style.name(name))
        }
        Note::RandomStart => style.spell(
            "no step lowered the held-out score, so the model is its random start: try a smaller \
             {beta} or {ridge}, or let {selection} choose",
        ),
        Note::TooHeavyForProbability { weight, linked } => style.spell(&format!(
            "the probability score cannot follow weights above 1 on a sparse graph (half of the \
             weights are {} or more, and {} of the pairs are linked): to it such links look like \
             errors, and the fit may give them all up. Set {{weights=binary}}, or take \
             {{score=moment}}",
            figures(*weight),
            percent(*linked)
        )),
        Note::ExpectsTooLittle(share) => style.spell(&format!(
            "the fit expects only {} of the total weight: the probability score took most links for \
             errors. Set {{weights=binary}} or a smaller {{beta}}, or take {{score=moment}}",
            percent(*share)
        )),
        Note::Collapsed { used, dim } => style.spell(&format!(
            "{} Try a smaller {{ridge}}, or let {{selection}} choose",
            dimensions(*used, *dim)
        )),
        Note::Stored(text) => text.clone(),
    }
}

/// Why a setting has no effect.
fn why_unused(why: Unused) -> String {
    let why = match why {
        Unused::Score(score) => return format!("the {score} score does not read it"),
        Unused::Encoders => "only the mlp encoder reads it",
        Unused::NotSigned => return format!("{{similarity}} is not {}", Similarity::Signed),
        Unused::NoVectors => "no encoder reads data vectors",
        Unused::NoWalks => "{walks} is 0",
        Unused::NoHeldOut => "no pairs are held out",
        Unused::Exact => "the exact solver draws no samples",
        Unused::Blocks => "the block sampler draws no single pairs",
        Unused::Pairs => "the pairs sampler draws no blocks",
        Unused::Lbfgs => "lbfgs finds the length of its steps itself",
        Unused::NotSgd => "only the sgd optimizer has a momentum",
        Unused::Constant => "{schedule-alpha} is 0",
    };
    why.to_owned()
}

/// A warning about a choice of settings.
pub fn warning(warning: &Warning, style: Style) -> String {
    match warning {
        Warning::Edge {
            param,
            value,
            largest,
        } => {
            let (side, more) = match largest {
                true => ("largest", "larger"),
                false => ("smallest", "smaller"),
            };
            style.spell(&format!(
                "the chosen {param}, {value}, is the {side} that was tried: try {more} ones too \
                 ({{{param}s}})"
            ))
        }
        Warning::Collapsed => style.spell(
            "the chosen fit tells no pair from another (its embeddings, or the weights that it \
             expects, are as good as zero), and so do all candidates. Try {weights=log1p|binary}, \
             another {criterion}, or data vectors",
        ),
        Warning::Failed { failed, all } => {
            format!("{failed} of {all} candidates could not be fitted and were left out")
        }
    }
}

/// What candidates were compared by.
pub fn compared(criterion: Criterion) -> String {
    match criterion {
        Criterion::Rank => {
            "how well embeddings separate held-out links from non-links of the same \
                            degrees"
                .to_owned()
        }
        Criterion::Score { score, .. } if !score.reads_beta() => {
            format!("the {score} of the weights of held-out pairs")
        }
        Criterion::Score { score, beta } => {
            format!("the {score} score (beta {beta}) of the weights of held-out pairs")
        }
    }
}

/// A choice of settings as JSON, with its sentences.
pub fn selection_json(selection: &Selection, style: Style) -> Value {
    let mut json = json!(selection);
    let warnings = selection.warnings.iter().map(|it| warning(it, style));
    json["warnings"] = warnings.collect();
    json["compared"] = compared(selection.criterion).into();
    json
}

/// Why a full fit is due.
pub fn full_fit_due(due: Due) -> String {
    let (share, most) = (percent(due.share), percent(due.most));
    match due.of_nodes {
        true => format!(
            "{share} of the nodes are newer than the last full fit; beyond {most}, fit again"
        ),
        false => format!(
            "{share} of the links have changed since the last full fit; beyond {most}, fit again"
        ),
    }
}

/// What an update did as JSON, with its sentence.
pub fn update_json(report: &UpdateReport) -> Value {
    let mut json = json!(report);
    json["full_fit_due"] = report.full_fit_due.map(full_fit_due).into();
    json
}

/// What was read of links and not used: of each kind how many, then `more` kinds, each a noun
/// and what follows its plural. `header` is the line that was taken for one.
pub fn left_out(read: LinkCounts, header: &str, more: &[(usize, &str, &str)]) -> String {
    let header = format!(
        ", {}, taken for a header as no line below names its nodes (if it is a link, put src,dst \
         above it)",
        quote(header)
    );
    let kinds = [
        (read.headers, "first line", header.as_str()),
        (read.columns, "column", " beside src, dst and weight"),
        (read.zero, "link", " of weight zero"),
        (read.self_links, "self-link", ""),
        (read.merged, "merged repeat", ""),
    ];
    let kinds = kinds.iter().chain(more).filter(|(count, ..)| *count > 0);
    let kinds: Vec<String> = kinds
        .map(|(count, what, rest)| counted(*count, what) + rest)
        .collect();
    kinds.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkproof_method::params::ScoreKind;

    #[test]
    fn notes_name_settings_as_their_readers_type_them() {
        let unused = |name: &str, why| {
            let name = name.to_owned();
            note(&Note::Unused { name, why }, Style::Rust)
        };
        assert_eq!(
            unused("hidden", Unused::Encoders),
            "hidden has no effect: only the mlp encoder reads it"
        );
        assert_eq!(
            unused("beta", Unused::Score(ScoreKind::Likelihood)),
            "beta has no effect: the likelihood score does not read it"
        );
        assert_eq!(
            unused("walks-weighted", Unused::NoWalks),
            "walks_weighted has no effect: walks is 0"
        );
        let heavy = Note::TooHeavyForProbability {
            weight: 10.0,
            linked: 0.01,
        };
        let heavy = note(&heavy, Style::Cli);
        assert!(
            heavy.contains("10 or more, and 1% of the pairs are linked"),
            "{heavy}"
        );
        assert!(
            heavy.ends_with("Set --weights binary, or take --score moment"),
            "{heavy}"
        );
        let start = note(&Note::RandomStart, Style::Python);
        assert!(start.ends_with("a smaller beta or ridge, or let linkproof.select choose"));
        let collapsed = Note::Collapsed { used: 1.2, dim: 64 };
        assert_eq!(
            note(&collapsed, Style::Cli),
            "1.2 of 64 carry information. Try a smaller --ridge, or let 'linkproof select' choose"
        );
        let share = note(&Note::ExpectsTooLittle(0.05), Style::Toml);
        assert!(share.contains("only 5% of the total weight"), "{share}");
        assert!(
            share.contains("Set weights = \"binary\" or a smaller beta"),
            "{share}"
        );
    }

    #[test]
    fn what_is_left_out_is_counted_by_kind() {
        let read = LinkCounts {
            zero: 2,
            self_links: 1,
            headers: 1,
            ..LinkCounts::default()
        };
        let more = [(3, "label", " of nodes that are not in the graph")];
        let text = left_out(read, "a,b", &more);
        assert!(
            text.starts_with("1 first line, 'a,b', taken for a header"),
            "{text}"
        );
        let end =
            ", 2 links of weight zero, 1 self-link, 3 labels of nodes that are not in the graph";
        assert!(text.ends_with(end), "{text}");
        assert_eq!(left_out(LinkCounts::default(), "", &[]), "");
    }

    #[test]
    fn choices_and_updates_have_their_sentences() {
        let edge = Warning::Edge {
            param: "ridge",
            value: 300.0,
            largest: true,
        };
        assert_eq!(
            warning(&edge, Style::Cli),
            "the chosen ridge, 300, is the largest that was tried: try larger ones too (--ridges)"
        );
        let failed = Warning::Failed { failed: 1, all: 8 };
        assert!(warning(&failed, Style::Cli).starts_with("1 of 8 candidates"));
        let score = Criterion::PROBABILITY;
        assert!(compared(score).starts_with("the probability score (beta 0.5) of the weights"));
        let due = Due {
            of_nodes: false,
            share: 0.11,
            most: 0.1,
        };
        assert_eq!(
            full_fit_due(due),
            "11% of the links have changed since the last full fit; beyond 10%, fit again"
        );
    }
}

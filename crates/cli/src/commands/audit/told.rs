//! What an audit tells: its tables, its JSON and its words.

use std::path::Path;

use linkproof::inspect::in_percent;
use linkproof::io::{self, Field};
use linkproof::trust::audit::Missing;
use linkproof::trust::robust::{Audit, AuditedLink, Beliefs, Limits, Trust};
use linkproof::{Error, Fitted};
use serde_json::{Value, json};

use super::{AuditArgs, missing_path};
use crate::nodes::called as in_words;
use crate::robust::verdict_in_words;
use crate::session::{counted, figure, wrapped};

/// Links that are sound as often as that are not called false.
const MOST_CALLED: f64 = 0.5;

pub(super) fn write_links(
    path: &Path,
    model: &Fitted,
    found: &Audit,
    limits: &Limits,
) -> Result<(), Error> {
    let columns = found.columns();
    let names = columns.iter().map(|(name, _)| name.as_str());
    let named = name_columns(model);
    let named = named.map(|name| -> &str { name });
    let names: Vec<&str> = ["src", "dst"]
        .into_iter()
        .chain(names)
        .chain(["why"])
        .chain(named)
        .collect();
    io::write_table(path, &names, |rows| {
        for (place, link) in found.links.iter().enumerate() {
            let rows_of_ends = [link.verdict.src, link.verdict.dst];
            let [src, dst] = rows_of_ends.map(|row| model.ids().name(row as usize));
            let numbers = columns.iter().map(|(_, numbers)| match numbers[place] {
                none if none.is_nan() => Field::Text(""),
                number => Field::Real(number),
            });
            let ends = [Field::Text(&src), Field::Text(&dst)];
            let names = names_of(model, rows_of_ends);
            let fields = ends.into_iter().chain(numbers);
            let fields = fields.chain([Field::Text(link.why(limits))]).chain(names);
            rows.row(&fields.collect::<Vec<_>>())?;
        }
        Ok(())
    })
}

pub(super) fn write_missing(path: &Path, model: &Fitted, missing: &[Missing]) -> Result<(), Error> {
    let columns = ["src", "dst", "mu"].into_iter().chain(name_columns(model));
    io::write_table(path, &columns.collect::<Vec<_>>(), |rows| {
        for pair in missing {
            let ends = [pair.src, pair.dst];
            let [src, dst] = ends.map(|row| model.ids().name(row as usize));
            let mut fields = vec![Field::Text(&src), Field::Text(&dst), Field::Real(pair.mu)];
            fields.extend(names_of(model, ends));
            rows.row(&fields)?;
        }
        Ok(())
    })
}

/// The columns with the names of both ends, in a model that has names.
fn name_columns(model: &Fitted) -> impl Iterator<Item = &'static str> + use<> {
    let columns = model.has_names().then_some(["src_name", "dst_name"]);
    columns.into_iter().flatten()
}

/// Their fields.
fn names_of(model: &Fitted, ends: [u32; 2]) -> impl Iterator<Item = Field<'_>> {
    let ends = model.has_names().then_some(ends).into_iter().flatten();
    ends.map(|row| Field::Text(model.title(row as usize).unwrap_or("")))
}

pub(super) fn as_json(args: &AuditArgs, model: &Fitted, found: &Audit, limits: &Limits) -> Value {
    let name = |row: u32| model.ids().name(row as usize).into_owned();
    let missing: Vec<Value> = found
        .missing
        .iter()
        .map(|pair| json!({ "src": name(pair.src), "dst": name(pair.dst), "mu": pair.mu }))
        .collect();
    let contest = found.contest.map(|contest| {
        json!({ "fit": contest.fit, "cosine": contest.baseline, "links": contest.links,
                "cosine_is_better": contest.baseline_is_better() })
    });
    let beliefs = found.beliefs.as_ref();
    let (links, weight) = found.suspect_shares();
    let mut json = json!({
        "out": args.out.display().to_string(),
        "clean": args.clean.as_ref().map(|path| path.display().to_string()),
        "links": found.links.len(),
        "suspects": found.n_suspects(),
        "suspect_share": links, "suspect_weight_share": weight,
        "false_discovery_rate": limits.beliefs,
        "fdr": limits.own.as_ref().and_then(|own| own.fdr), "min_trust": args.min_trust,
        "cross_fit": args.cross_fit,
        "random_share": found.random_share,
        "too_heavy": found.too_heavy,
        "auc_against_random_pairs": contest,
        "missing": missing,
        "ordered_by": if found.is_by_belief() { "belief" } else { "trust" },
        "judged_by_links_alone": beliefs.map(|beliefs| beliefs.by_links_alone),
        "not_judged": beliefs.and_then(|beliefs| beliefs.why_not.as_ref()),
        "abstained": beliefs.map(|beliefs| beliefs.abstained),
        "share_false": null, "auc_decoys": null, "implanted": null,
        "verdict": beliefs.and_then(|it| it.trust.as_ref()).map(Trust::verdict),
    });
    let trust = json!(beliefs.and_then(|beliefs| beliefs.trust.as_ref()));
    if let (Value::Object(all), Value::Object(trust)) = (&mut json, trust) {
        all.extend(trust);
    }
    json
}

pub(super) fn words(args: &AuditArgs, model: &Fitted, found: &Audit, limits: &Limits) -> String {
    use std::fmt::Write;
    const SHOWN: usize = 5;
    let (n, called) = (found.links.len(), found.n_suspects());
    let mut text = format!(
        "{called} of {} are suspects ({})",
        counted(n, "link"),
        limits_in_words(limits)
    );
    if let Some(says) = none_called_false(found, limits) {
        let _ = write!(text, "\n{}", wrapped("  suspects ", &says));
    }
    if let Some(beliefs) = &found.beliefs {
        text.push_str(&beliefs_in_words(beliefs));
    }
    // Where links were judged, that says more.
    if !found.is_by_belief() {
        let share = 100.0 * found.random_share;
        let _ = write!(
            text,
            "\n  existence about {share:.0}% of the links look no better than random pairs"
        );
    }
    let _ = write!(
        text,
        "\n  sizes     {} too large for a link (at an error rate of 5%)",
        counted(found.too_heavy, "weight"),
    );
    if found.too_heavy * 10 > n {
        text.push_str(
            "\n            That many are more likely signal than noise: try a fit with --weights log1p.",
        );
    }
    if let Some(contest) = &found.contest {
        let _ = write!(
            text,
            "\n  baseline  links that no fit saw against random pairs, AUC: model {:.3}, cosine of the \
             data vectors {:.3}",
            contest.fit, contest.baseline
        );
        if contest.baseline_is_better() {
            text.push_str(
                "\n            The data vectors alone do better here: rank by the column cosine instead.",
            );
        }
    }
    text.push_str(match found.is_by_belief() {
        true => "\n  least believed first",
        false => "\n  least trusted first",
    });
    for link in found.links.iter().take(SHOWN) {
        text.push_str(&in_a_line(model, found, link));
    }
    let mut heavy: Vec<&AuditedLink> = found.links.iter().collect();
    heavy.retain(|link| link.why(limits).contains("weight"));
    if !heavy.is_empty() {
        heavy.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
        text.push_str("\n  weights too large, the most surprising first");
        for link in heavy.into_iter().take(SHOWN) {
            text.push_str(&in_a_line(model, found, link));
        }
    }
    if !found.missing.is_empty() {
        text.push_str("\n  strongest pairs without a link");
        for pair in found.missing.iter().take(SHOWN) {
            let [src, dst] = [pair.src, pair.dst].map(|row| in_words(model, row as usize));
            let _ = write!(text, "\n    {src} - {dst}  expected {}", figure(pair.mu));
        }
    }
    text.push_str(&counted_by_why(found, limits));
    let _ = write!(text, "\nWritten to {}", args.out.display());
    if let Some(clean) = &args.clean {
        let (links, weight) = found.suspect_shares();
        let _ = write!(
            text,
            ", {} kept in {} (without {} of the links and {} of the weight)",
            counted(n - called, "link"),
            clean.display(),
            in_percent(links),
            in_percent(weight)
        );
    }
    if args.missing > 0 {
        let _ = write!(text, ", missing pairs in {}", missing_path(args).display());
    }
    text.push('.');
    text
}

/// A link and what is known of it.
fn in_a_line(model: &Fitted, found: &Audit, link: &AuditedLink) -> String {
    let verdict = &link.verdict;
    let [src, dst] = [verdict.src, verdict.dst].map(|row| in_words(model, row as usize));
    let judged = link.judged.filter(|_| found.is_by_belief());
    let belief = judged.map(|judged| format!(", belief {}", figure(judged.belief)));
    format!(
        "\n    {src} - {dst}  weight {}, expected {}, trust {}{}",
        figure(verdict.weight),
        figure(verdict.mu),
        figure(verdict.trust),
        belief.unwrap_or_default()
    )
}

/// How many suspects there are for each reason, where there are several reasons.
fn counted_by_why(found: &Audit, limits: &Limits) -> String {
    let reasons = [
        ("belief", "not believed"),
        ("weight", "too heavy"),
        ("belief and weight", "both"),
        ("model", "not expected by the model"),
    ];
    let counts = reasons.map(|(key, words)| {
        let of = |link: &&AuditedLink| link.why(limits) == key;
        (found.links.iter().filter(of).count(), words)
    });
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    match counts.len() {
        0 | 1 => String::new(),
        _ => format!("\n  suspects  {} (column why)", counts.join(", ")),
    }
}

/// Where no link can be called false at the rate that was asked for: at what rate some can.
fn none_called_false(found: &Audit, limits: &Limits) -> Option<String> {
    let asked = limits.beliefs.filter(|_| found.is_by_belief())?;
    let judged = found.links.iter().filter_map(|link| link.judged);
    let rates: Vec<f64> = judged.map(|link| link.false_discovery_rate).collect();
    let least = rates.iter().copied().min_by(f64::total_cmp)?;
    if least <= asked {
        return None;
    }
    let none = format!("No link can be called false at {}%.", figure(100.0 * asked));
    // Rounded up, so that it takes them.
    let rate = (100.0 * least).ceil() / 100.0;
    if rate > MOST_CALLED {
        return Some(format!(
            "{none} Even the least believed links are more likely sound than not."
        ));
    }
    let n = rates.iter().filter(|&&it| it <= rate).count();
    let percent = 100.0 * rate;
    let them = match n {
        1 => format!("The least believed one is sound with a chance of {percent:.0}% at most"),
        n => format!("Of the {n} least believed at most {percent:.0}% are sound"),
    };
    Some(format!(
        "{none} {them}: --false-discovery-rate {rate} takes them."
    ))
}

fn limits_in_words(limits: &Limits) -> String {
    let beliefs = limits.beliefs.map(|rate| {
        let percent = 100.0 * rate;
        format!("the least believed, at most {percent}% of them sound")
    });
    let own = limits.own;
    let fdr = own.and_then(|own| own.fdr);
    let fdr = fdr.map(|fdr| format!("sound with a chance of {fdr} or less"));
    let trust = own.and_then(|own| own.trust);
    let trust = trust.map(|trust| format!("of a trust below {trust}"));
    let all: Vec<String> = beliefs.into_iter().chain(fdr).chain(trust).collect();
    all.join(", or ")
}

fn beliefs_in_words(beliefs: &Beliefs) -> String {
    let trust = beliefs.trust.as_ref();
    let mut text = trust.map_or_else(String::new, |trust| verdict_in_words(&trust.verdict()));
    if let Some(why_not) = &beliefs.why_not {
        text.push_str(&format!("\n  judged    no: {why_not}"));
    } else if beliefs.by_links_alone {
        text.push_str(
            "\n  note      judged by links alone: give the model's data vectors, --features FILE, \
             for more",
        );
    }
    text
}

//! What an audit tells: its tables, its JSON and its words.

use std::path::Path;

use linkproof::audit::{Baseline, Missing};
use linkproof::io::{self, Field};
use linkproof::{Error, Fitted};
use serde_json::{Value, json};

use super::{AuditArgs, Findings, Limits, missing_path};
use crate::beliefs::{Beliefs, JUDGED_COLUMNS, judged_columns};
use crate::session::counted;

pub(super) fn write_verdicts(
    path: &Path,
    model: &Fitted,
    found: &Findings,
    suspects: &[bool],
    baseline: Option<&Baseline<'_>>,
) -> Result<(), Error> {
    let mut columns = vec![
        "src",
        "dst",
        "weight",
        "mu",
        "trust",
        "influence",
        "surprise",
        "fdr",
        "suspect",
    ];
    columns.extend(baseline.map(|_| "cosine"));
    let judged = found.beliefs.as_ref().filter(|it| it.judgement.is_some());
    columns.extend(judged.iter().flat_map(|_| JUDGED_COLUMNS));
    io::write_table(path, &columns, |rows| {
        for (place, verdict) in found.verdicts.iter().enumerate() {
            let [src, dst] = [verdict.src, verdict.dst].map(|row| model.ids().name(row as usize));
            let mut fields = vec![
                Field::Text(&src),
                Field::Text(&dst),
                Field::Real(verdict.weight),
                Field::Real(verdict.mu),
                Field::Real(verdict.trust),
                Field::Real(verdict.influence),
                Field::Real(verdict.surprise),
                Field::Real(found.discovery.rates[place]),
                Field::Whole(u64::from(suspects[place])),
            ];
            if let Some(baseline) = baseline {
                let cosine = baseline.cosine(verdict.src, verdict.dst);
                fields.push(cosine.map_or(Field::Text(""), Field::Real));
            }
            if let Some(judged) = judged {
                match &judged.links[place] {
                    Some(link) => fields.extend(judged_columns(link).map(Field::Real)),
                    None => fields.extend(JUDGED_COLUMNS.map(|_| Field::Text(""))),
                }
            }
            rows.row(&fields)?;
        }
        Ok(())
    })
}

pub(super) fn write_missing(path: &Path, model: &Fitted, missing: &[Missing]) -> Result<(), Error> {
    io::write_table(path, &["src", "dst", "mu"], |rows| {
        for pair in missing {
            let [src, dst] = [pair.src, pair.dst].map(|row| model.ids().name(row as usize));
            rows.row(&[Field::Text(&src), Field::Text(&dst), Field::Real(pair.mu)])?;
        }
        Ok(())
    })
}

pub(super) fn as_json(
    args: &AuditArgs,
    model: &Fitted,
    found: &Findings,
    suspects: &[bool],
    limits: &Limits,
) -> Value {
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
    let trust = found.beliefs.as_ref().and_then(Beliefs::trust);
    let mut json = json!({
        "out": args.out.display().to_string(),
        "clean": args.clean.as_ref().map(|path| path.display().to_string()),
        "links": found.verdicts.len(),
        "suspects": suspects.iter().filter(|suspect| **suspect).count(),
        "false_discovery_rate": limits.beliefs,
        "fdr": limits.own.as_ref().and_then(|own| own.fdr), "min_trust": args.min_trust,
        "cross_fit": args.cross_fit,
        "random_share": found.discovery.random_share,
        "too_heavy": found.discovery.too_heavy,
        "auc_against_random_pairs": contest,
        "missing": missing,
        "ordered_by": found.order(),
        "judged_by_links_alone": found.beliefs.as_ref().map(|beliefs| beliefs.by_links_alone),
        "not_judged": found.beliefs.as_ref().and_then(|beliefs| beliefs.why_not.as_ref()),
        "share_false": null, "auc_decoys": null, "abstained": null, "implanted": null,
    });
    if let (Value::Object(all), Value::Object(trust)) = (&mut json, json!(trust)) {
        all.extend(trust);
    }
    json
}

pub(super) fn words(
    args: &AuditArgs,
    model: &Fitted,
    found: &Findings,
    suspects: &[bool],
    limits: &Limits,
) -> String {
    use std::fmt::Write;
    const SHOWN: usize = 5;
    let n = found.verdicts.len();
    let called = suspects.iter().filter(|suspect| **suspect).count();
    let share = 100.0 * found.discovery.random_share;
    let mut text = format!(
        "{called} of {} are suspects ({})",
        counted(n, "link"),
        limits.in_words()
    );
    text.push_str(
        &found
            .beliefs
            .as_ref()
            .map_or_else(String::new, Beliefs::words),
    );
    let _ = write!(
        text,
        "\n  existence about {share:.0}% of the links look no better than random pairs\n  \
         weights   {} too large for the pair (at an error rate of 5%)",
        found.discovery.too_heavy,
    );
    if found.discovery.too_heavy * 10 > n {
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
    let name = |row: u32| model.ids().name(row as usize);
    text.push_str(match found.order() {
        "belief" => "\n  least believed first",
        _ => "\n  least trusted first",
    });
    for (place, verdict) in found.verdicts.iter().take(SHOWN).enumerate() {
        let _ = write!(
            text,
            "\n    {} - {}  weight {}, expected {:.3e}, trust {:.2e}",
            name(verdict.src),
            name(verdict.dst),
            verdict.weight,
            verdict.mu,
            verdict.trust
        );
        let beliefs = found.beliefs.as_ref().filter(|beliefs| beliefs.speak());
        if let Some(link) = beliefs.and_then(|beliefs| beliefs.links[place]) {
            let _ = write!(text, ", belief {:.3}", link.belief);
        }
    }
    if !found.missing.is_empty() {
        text.push_str("\n  strongest pairs without a link");
        for pair in found.missing.iter().take(SHOWN) {
            let (src, dst) = (name(pair.src), name(pair.dst));
            let _ = write!(text, "\n    {src} - {dst}  expected {:.3}", pair.mu);
        }
    }
    let _ = write!(text, "\nWritten to {}", args.out.display());
    if let Some(clean) = &args.clean {
        let _ = write!(
            text,
            ", {} kept in {}",
            counted(n - called, "link"),
            clean.display()
        );
    }
    if args.missing > 0 {
        let _ = write!(text, ", missing pairs in {}", missing_path(args).display());
    }
    text.push('.');
    text
}

//! Writing a check folder.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Map, Value, json};

use super::check_files::{BELIEFS, CHECK, KEPT, LINKS, NODES, NUMBERS, SUSPECTS};
use super::{Check, JudgedTable};
use crate::model::{Tensor, write_safetensors};
use crate::parts::{PARTS, Parts};
use crate::{OutputFolder, VERSION, write_file, write_links, write_nodes};
use linkproof_method::data::attributes::Attributes;
use linkproof_method::data::graph::Ends;
use linkproof_method::error::{Error, Result};
use linkproof_method::judge::Facts;
use linkproof_method::robust::RobustSummary;

/// The links' file, by what this build can write.
const LINKS_HERE: &str = LINKS[if cfg!(feature = "parquet") { 0 } else { 1 }];

/// Writes the files of a check folder, beside the user's files of the folder that it
/// replaces.
pub fn write_check(check: &Check, folder: &OutputFolder) -> Result<()> {
    let table = JudgedTable::of(check);
    table.write_suspects(folder.file(SUSPECTS))?;
    table.write_beliefs(folder.file(BELIEFS))?;
    let views = match check.ends() {
        Ends::Bipartite => Some(sides_of_nodes(check)),
        _ => check.views.clone(),
    };
    let attributes = Some(&check.attributes);
    let (ids, nodes) = (check.node_ids(), folder.file(NODES));
    write_nodes(nodes, ids, views.as_deref(), attributes)?;
    write_links(folder.file(LINKS_HERE), &check.all_links()?)?;
    let columns = check.judgment.columns();
    let tensors: Vec<(String, Tensor<'_>)> = columns
        .iter()
        .map(|(name, numbers)| (name.clone(), Tensor::f64s(numbers)))
        .collect();
    let metadata = BTreeMap::from([
        ("format", "linkproof check".to_owned()),
        ("version", VERSION.to_owned()),
    ]);
    write_safetensors(&folder.file(NUMBERS), &metadata, &tensors)?;
    let mut content = check_json(check)?;
    content[PARTS] = json!(Parts::of(folder, &[NUMBERS, LINKS_HERE], &check.ids)?);
    write_file(folder.file(CHECK), |file| {
        serde_json::to_writer_pretty(&mut *file, &content)?;
        file.write_all(b"\n")
    })?;
    folder.keep(&KEPT)
}

/// The side of each node of a bipartite graph.
fn sides_of_nodes(check: &Check) -> Vec<String> {
    let sides = check.ids.sides();
    let side = |row: usize| sides.map(|sides| sides.place(row).0.name());
    let rows = 0..check.ids.len();
    rows.map(|row| side(row).unwrap_or_default().to_owned())
        .collect()
}

/// The content of `check.json`: what was found, the facts that loading needs, and the
/// record.
pub fn check_json(check: &Check) -> Result<Value> {
    let facts = &check.judgment.facts;
    let mut content = check.record.clone();
    for (name, value) in found(check, facts) {
        content.insert(name.to_owned(), value);
    }
    let plain = |error: serde_json::Error| Error::data("check", error.to_string(), "plain values");
    let facts = serde_json::to_value(facts).map_err(plain)?;
    content.insert("facts".to_owned(), facts);
    let ends = check.ends().name();
    content.insert("ends".to_owned(), ends.into());
    content.insert("format_version".to_owned(), VERSION.into());
    let named_by = check.attributes.name_header();
    content.insert("name_column".to_owned(), json!(named_by));
    Ok(content.into())
}

/// The fields of the contract.
fn found(check: &Check, facts: &Facts) -> Map<String, Value> {
    let name = |row: u32| check.ids.name(row as usize).into_owned();
    let contradictions = facts.contradictions.iter().map(|it| {
        json!({ "src": name(it.src), "dst": name(it.dst), "nodes": it.nodes,
                "core": it.core, "usual": it.usual })
    });
    let groups = facts.duplicates.iter();
    let groups = groups.map(|group| group.iter().map(|&row| name(row)).collect::<Vec<_>>());
    let links = &check.judgment.links;
    let verified = |real: bool| links.iter().filter(move |it| it.verified == Some(real));
    let fields = json!({
        "nodes": check.node_ids().len(),
        "links": links.len(),
        "flagged": check.judgment.n_flagged(),
        "one_to_one": facts.one_to_one,
        "weight_agreement": facts.weight_agreement,
        "contradictions": contradictions.collect::<Vec<_>>(),
        "duplicates": groups.collect::<Vec<_>>(),
        "unused": facts.unused,
        "verified": { "real": verified(true).count(), "false": verified(false).count() },
    });
    let mut found = facts_json(facts);
    if let Value::Object(fields) = fields {
        found.extend(fields);
    }
    found
}

/// What the judge found about all links together, by the names of all outputs.
pub fn facts_json(facts: &Facts) -> Map<String, Value> {
    let share = facts.share.filter(|_| !facts.abstained);
    let detection = (!facts.detection.is_empty()).then_some(&facts.detection);
    let fields = [
        ("share_false", json!(share.and_then(|share| share.estimate))),
        ("share_low", json!(share.map(|share| share.low))),
        ("share_high", json!(share.map(|share| share.high))),
        (
            "share_high_unchecked",
            json!(share.and_then(|share| share.high_unchecked)),
        ),
        ("auc", json!(facts.auc)),
        ("auc_error", json!(facts.auc_error)),
        ("abstained", json!(facts.abstained)),
        ("candidates", json!(facts.candidates)),
        ("detection", json!(detection)),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    fields.into_iter().collect()
}

/// What became of planted links, under the names of earlier versions.
pub fn implanted_json(facts: &Facts) -> Value {
    let kinds = facts.detection.iter().map(|it| {
        json!({ "kind": it.kind, "implants": it.planted, "found": it.flagged,
                "claimed": it.claimed, "realised": it.realised })
    });
    kinds.collect()
}

/// What `fit.json` says of a robust fit, under `robust`.
pub fn robust_json(summary: &RobustSummary) -> Value {
    let facts = &summary.facts;
    let mut json = Value::Object(facts_json(&facts.judged));
    let gate = facts.explained.and_then(|explained| explained.share());
    for (name, value) in [
        ("auc_decoys", json!(facts.judged.auc)),
        ("flagged", json!(facts.tally.flagged)),
        ("contradictions", json!(facts.judged.contradictions)),
        ("implanted", implanted_json(&facts.judged)),
        ("chosen", json!(summary.chosen)),
        ("averaged", json!(facts.averaged)),
        ("gate", json!(gate)),
        ("gate_opens_at", json!(summary.gate_opens_at)),
        ("vectors_alone", json!(facts.features_alone())),
        ("explained", json!(facts.explained)),
        ("effective_rank", json!(facts.effective_dimension)),
        ("ridges", json!(summary.ridges)),
        ("advice", json!(summary.advice)),
    ] {
        json[name] = value;
    }
    json
}

/// The names that are not the writer's record.
pub(super) fn own_names(check: &Check) -> Vec<String> {
    let found = found(check, &check.judgment.facts);
    let others = ["facts", "ends", "format_version", "name_column", PARTS];
    let others = others.map(str::to_owned);
    found
        .into_iter()
        .map(|(name, _)| name)
        .chain(others)
        .collect()
}

/// Whether a table of nodes says anything.
pub(super) fn named(attributes: Attributes, header: Option<&str>) -> Attributes {
    match header {
        // A table that was edited since may lack the column.
        Some(header) => attributes.clone().shown_by(header).unwrap_or(attributes),
        None => attributes,
    }
}

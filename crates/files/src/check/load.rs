//! Loading a check folder. Nothing in it is believed before it is checked: a damaged
//! folder gives an error.

use std::path::Path;
use std::sync::Arc;

use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Check;
use super::check_files::{CHECK, NODES, NUMBERS};
use super::save::{named, own_names};
use crate::model::links_between;
use crate::nodes::{NodeLines, read_lines};
use crate::parts::Parts;
use crate::source::{Source, Sources};
use crate::steady::steady;
use crate::{VERSION, read_text};
use linkproof_method::data::attributes::Attributes;
use linkproof_method::data::graph::Ends;
use linkproof_method::data::ids::{Ids, Names, Side, Sides, row_number};
use linkproof_method::error::{Error, Result, quote};
use linkproof_method::judge::{Columns, Facts, Judgment};

/// What loading needs of `check.json`.
#[derive(Deserialize)]
struct Described {
    format_version: String,
    ends: Ends,
    name_column: Option<String>,
    facts: Facts,
    /// None in checks of earlier versions.
    parts: Option<Parts>,
}

/// Loads a check folder. One that is replaced meanwhile is read again.
///
/// # Errors
/// Names the file that is missing or damaged.
pub fn load_check(folder: impl AsRef<Path>) -> Result<Check> {
    let folder = folder.as_ref();
    steady(folder, || load_files(folder))
}

fn load_files(folder: &Path) -> Result<Check> {
    let path = folder.join(CHECK);
    if folder.is_dir() && !path.exists() {
        let expected = format!("a folder that linkproof check wrote, with {CHECK}");
        return Err(Error::input(folder, None, format!("no {CHECK}"), expected));
    }
    let text = read_text(&path)?;
    let (described, record) = described(&path, &text)?;
    let nodes = folder.join(NODES);
    let (ids, views, attributes) = nodes_of(&nodes, described.ends)?;
    let attributes = named(attributes, described.name_column.as_deref());
    let sources = Sources::default();
    let graph = links_between(folder, &sources, &ids)?;
    check_rows(&path, &described.facts, ids.len())?;
    let numbers = folder.join(NUMBERS);
    let columns = columns_of(sources.open(&numbers)?, graph.n_links())?;
    if let Some(parts) = &described.parts {
        parts.check(folder, &sources, &ids)?;
    }
    let in_range = |row: &f64| (0.0..ids.len() as f64).contains(row);
    if !columns
        .get("end")
        .is_some_and(|rows| rows.iter().all(in_range))
    {
        return Err(damaged(&numbers, &"it names nodes that are not there"));
    }
    let judgment = Judgment::from_columns(graph.links(), &columns, described.facts);
    let mut check = Check {
        ids,
        views,
        attributes,
        judgment: judgment.map_err(|error| damaged(&numbers, &error))?,
        record: Map::new(),
    };
    let own = own_names(&check);
    check.record = record;
    check.record.retain(|name, _| !own.contains(name));
    Ok(check)
}

fn described(path: &Path, text: &str) -> Result<(Described, Map<String, Value>)> {
    let wrong = |error: serde_json::Error| {
        let line = error.line() as u64;
        Error::input(path, line, error.to_string(), "what a check found")
    };
    let all: Map<String, Value> = serde_json::from_str(text).map_err(wrong)?;
    let described: Described = serde_json::from_str(text).map_err(wrong)?;
    if described.format_version != VERSION {
        let found = format!("format version {}", quote(&described.format_version));
        let expected =
            format!("version {VERSION}: check again, or use the linkproof that wrote it");
        return Err(Error::input(path, None, found, expected));
    }
    let facts = &described.facts;
    if facts.kinds.len() != facts.loadings.len() {
        let found = format!("{} weights of evidence", facts.loadings.len());
        let expected = format!("one for each of {} kinds", facts.kinds.len());
        return Err(Error::input(path, None, found, expected));
    }
    Ok((described, all))
}

/// Refuses facts about nodes that are not there.
fn check_rows(path: &Path, facts: &Facts, n: usize) -> Result<()> {
    let of_groups = facts.duplicates.iter().flatten().copied();
    let of_links = facts.contradictions.iter().flat_map(|it| [it.src, it.dst]);
    match of_groups.chain(of_links).find(|&row| row as usize >= n) {
        None => Ok(()),
        Some(row) => {
            let expected = format!("rows of the {n} nodes of {NODES} beside it");
            Err(Error::input(path, None, format!("row {row}"), expected))
        }
    }
}

type Nodes = (Ids, Option<Vec<String>>, Attributes);

fn nodes_of(path: &Path, ends: Ends) -> Result<Nodes> {
    let table = read_lines(Source::open(path)?)?;
    if ends == Ends::Bipartite {
        return on_sides(path, table);
    }
    let names = table.names(path)?;
    let numbered = (0..names.len()).all(|row| row_number(names.name(row)) == Some(row as u32));
    let ids = match numbered {
        true => Ids::Rows(names.len()),
        false => Ids::from(names),
    };
    let ids = match ends {
        Ends::Directed => Ids::Sides(Arc::new(Sides {
            source: ids.clone(),
            target: ids,
            same: true,
        })),
        _ => ids,
    };
    Ok((ids, table.views, table.attributes))
}

/// The nodes of a bipartite graph: sources, then targets.
fn on_sides(path: &Path, table: NodeLines) -> Result<Nodes> {
    let wrong = |found: String| {
        let expected = "the nodes of both sides, with their view: sources, then targets";
        Err(Error::input(path, None, found, expected))
    };
    let Some(views) = table.views else {
        return wrong("no column 'view'".to_owned());
    };
    let n = views.iter().take_while(|view| *view == Side::Source.name());
    let n = n.count();
    if let Some(other) = views[n..].iter().find(|view| *view != Side::Target.name()) {
        return wrong(format!("view {}", quote(other)));
    }
    let side = |rows: std::ops::Range<usize>| {
        let mut names = Names::default();
        let distinct = rows.clone().all(|row| {
            let before = names.len();
            names.insert(table.ids.get(row)) as usize == before
        });
        distinct.then_some(Ids::from(names))
    };
    match (side(0..n), side(n..views.len())) {
        (Some(source), Some(target)) => {
            let sides = Sides {
                source,
                target,
                same: false,
            };
            Ok((Ids::Sides(Arc::new(sides)), None, table.attributes))
        }
        _ => wrong("a node twice on one side".to_owned()),
    }
}

/// The numbers about links.
fn columns_of(mut source: Source, n_links: usize) -> Result<Columns> {
    let mut bytes = Vec::new();
    source.fill(&mut bytes, usize::MAX)?;
    let path = source.path();
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(path, &error))?;
    let mut columns = Columns::new();
    for (name, tensor) in tensors.iter() {
        if tensor.dtype() != Dtype::F64 || tensor.shape() != [n_links] {
            let why = format!("column {} is not of {n_links} numbers", quote(name));
            return Err(damaged(path, &why));
        }
        let numbers = tensor.data().as_chunks::<8>().0.iter();
        let numbers = numbers.map(|bytes| f64::from_le_bytes(*bytes)).collect();
        columns.insert(name.to_owned(), numbers);
    }
    Ok(columns)
}

fn damaged(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::input(
        path,
        None,
        format!("numbers that cannot be used: {why}"),
        format!("the numbers of a check that linkproof wrote (format version {VERSION})"),
    )
}

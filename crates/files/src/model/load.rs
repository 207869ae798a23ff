//! Loading a model folder. Nothing in it is believed before it is checked: a
//! damaged or hostile folder gives an error.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::files::{EMBEDDINGS, EMBEDDINGS_PLAIN, FIT, LABELS, LINKS, MODEL, NODES, damaged};
use super::reader::{Reader, Rest};
use super::save::fit_json;
use crate::nodes::read_lines;
use crate::npy::read_npy_of;
use crate::parts::{PARTS, Parts};
use crate::source::Source;
use crate::steady::steady;
use crate::{Labels, Sources, read_labels, read_nodes, read_text};
use linkproof_method::data::attributes::Attributes;
use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::features::{Matrix, Values};
use linkproof_method::data::graph::{Ends, Graph, Link, LinkRules};
use linkproof_method::data::ids::{Ids, Sides};
use linkproof_method::error::{Error, Result, quote};
use linkproof_method::model::{Classes, FitReport, Fitted, FittedView};

/// A model as it was stored, and what `fit.json` says beside it.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The model.
    pub model: Fitted,
    /// Versions, inputs, what was chosen, and whatever else the writer noted.
    pub record: Map<String, Value>,
}

/// Loads a model folder. One that is replaced meanwhile is read again.
pub fn load(folder: impl AsRef<Path>) -> Result<Stored> {
    let folder = folder.as_ref();
    steady(folder, || load_files(folder))
}

fn load_files(folder: &Path) -> Result<Stored> {
    let sources = Sources::default();
    let path = folder.join(MODEL);
    let mut bytes = Vec::new();
    sources.open(&path)?.fill(&mut bytes, usize::MAX)?;
    let reader = Reader::new(&path, &bytes)?;
    let described = reader.described()?;
    let views = reader.views(&described)?;
    let nodes = folder.join(NODES);
    let (ids, node_views, attributes) = match reader.nodes()? {
        Some(Ids::Sides(sides)) => on_sides(&nodes, sides)?,
        _ => load_nodes(&nodes, &views)?,
    };
    let (n, dim) = (&ids, described.params.dim);
    let embeddings = |name| load_embeddings(sources.open(&folder.join(name))?, n, dim);
    let recommended = embeddings(EMBEDDINGS)?;
    // Expected weights belong to the embeddings of the encoder.
    let (embeddings, averages) = match folder.join(EMBEDDINGS_PLAIN).exists() {
        false => (recommended, None),
        true => (embeddings(EMBEDDINGS_PLAIN)?, Some(recommended)),
    };
    let links = links_between(folder, &sources, &ids)?;
    let (report, mut fit) = load_report(&folder.join(FIT), &read_text(folder.join(FIT))?)?;
    // None in models of earlier versions.
    if let Some(parts) = fit.remove(PARTS) {
        let parts: Parts =
            serde_json::from_value(parts).map_err(|error| damaged(&folder.join(FIT), &error))?;
        parts.check(folder, &sources, &ids)?;
    }
    let labels = folder.join(LABELS);
    let labels = labels.exists().then(|| read_labels(&labels)).transpose()?;
    let classes = labels.map(|labels| classes(&labels, &ids));
    let rest = Rest {
        views,
        ids,
        node_views,
        embeddings,
        averages,
        links,
        classes,
        attributes,
        report,
    };
    stored(reader.model(described, rest)?, fit)
}

/// A model and its record from one piece, as [`super::to_bytes`] makes it.
pub fn from_bytes(bytes: &[u8]) -> Result<Stored> {
    let path = Path::new("a stored model");
    let reader = Reader::new(path, bytes)?;
    let described = reader.described()?;
    let views = reader.views(&described)?;
    let missing = || damaged(path, &"its nodes are missing");
    let ids = reader.nodes()?.ok_or_else(missing)?;
    let shape = [ids.len(), described.params.dim];
    let ends = reader.find("links.ends")?;
    let ends = reader.u32s("links.ends", &ends)?;
    let weights = reader.f64s("links.weights", &[ends.len() / 2])?;
    let links = ends.as_chunks::<2>().0.iter().zip(weights);
    let links = links.map(|(&[src, dst], weight)| Link { src, dst, weight });
    let links = Graph::new(ids.clone(), links.collect(), LinkRules::default());
    let averages = match reader.has("averages") {
        true => Some(reader.f32s("averages", &shape)?),
        false => None,
    };
    let classes: Option<StoredClasses> = reader.json("classes")?;
    let columns: Vec<(String, Vec<String>)> = reader.optional("attributes")?;
    let columns = columns.into_iter();
    let columns = columns.map(|(header, texts)| (header, texts.into_iter().collect()));
    let attributes = Attributes::new(columns.collect());
    let text: Value = reader.json("fit")?;
    let (report, fit) = load_report(path, &text.to_string())?;
    let node_views = reader.find("node_views")?;
    let rest = Rest {
        views,
        node_views: reader.u32s("node_views", &node_views)?,
        embeddings: reader.f32s("embeddings", &shape)?,
        averages,
        links: links.map_err(|error| damaged(path, &error))?,
        classes: classes.map(StoredClasses::classes),
        attributes: attributes.map_err(|error| damaged(path, &error))?,
        report,
        ids,
    };
    stored(reader.model(described, rest)?, fit)
}

/// Classes in one piece: those of an earlier version have no titles.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredClasses {
    Titled(Vec<String>, Vec<Option<u32>>, Vec<String>),
    Plain(Vec<String>, Vec<Option<u32>>),
}

impl StoredClasses {
    fn classes(self) -> Classes {
        let (names, codes, titles) = match self {
            StoredClasses::Titled(names, codes, titles) => (names, codes, titles),
            StoredClasses::Plain(names, codes) => (names, codes, Vec::new()),
        };
        Classes {
            names,
            titles,
            codes,
        }
    }
}

/// With what is not the model's own in the content of `fit.json`.
fn stored(model: Fitted, mut fit: Map<String, Value>) -> Result<Stored> {
    if let Value::Object(known) = fit_json(&model, &Map::new())? {
        fit.retain(|name, _| !known.contains_key(name));
    }
    Ok(Stored { model, record: fit })
}

/// The classes of nodes by labels: numbers in their order, other names by letter.
pub fn classes(labels: &Labels, ids: &Ids) -> Classes {
    let names = labels.classes();
    let name = |place: &u32| names.name(*place as usize);
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by(|a, b| {
        let number = |place: &u32| name(place).parse::<f64>().unwrap_or(f64::INFINITY);
        let numbers = number(a).total_cmp(&number(b));
        numbers.then_with(|| name(a).cmp(name(b)))
    });
    let mut rank = vec![0; order.len()];
    for (place, &class) in order.iter().enumerate() {
        rank[class as usize] = place as u32;
    }
    let codes = labels.of(ids).into_iter();
    let codes = codes.map(|code| code.map(|code| rank[code as usize]));
    let titles = labels.titles().unwrap_or_default();
    let titles = order.iter().filter_map(|&place| titles.get(place as usize));
    Classes {
        names: order.iter().map(|place| name(place).to_owned()).collect(),
        titles: titles.cloned().collect(),
        codes: codes.collect(),
    }
}

/// The links of a folder, between the rows of its nodes.
pub(crate) fn links_between(folder: &Path, sources: &Sources, ids: &Ids) -> Result<Graph> {
    let path = folder.join(LINKS);
    // A build without Parquet writes links.csv.
    let other = folder.join("links.csv");
    let path = if other.exists() && !path.exists() {
        other
    } else {
        path
    };
    let rules = LinkRules {
        ends: match ids.sides() {
            Some(sides) if sides.same => Ends::Directed,
            Some(_) => Ends::Bipartite,
            None => Ends::Alike,
        },
        ..LinkRules::default()
    };
    let links = sources.read_links(&path, &rules, &[])?.graph;
    let data = Dataset::with_nodes(links, ids.clone());
    let data = data.map_err(|error| match error {
        Error::UnknownNode { id, .. } => {
            let expected = format!("links between the nodes of {NODES} beside it");
            Error::input(&path, None, format!("node {}", quote(&id)), expected)
        }
        other => damaged(&path, &other),
    })?;
    data.user_graph()
}

/// What `fit.json` holds: the report, and all of it.
fn load_report(path: &Path, text: &str) -> Result<(FitReport, Map<String, Value>)> {
    let wrong = |error: serde_json::Error| {
        let line = error.line() as u64;
        Error::input(path, line, error.to_string(), "the report of a fit")
    };
    let report = serde_json::from_str(text).map_err(wrong)?;
    Ok((report, serde_json::from_str(text).map_err(wrong)?))
}

/// Nodes on two sides, the view of each, and what the table says of them.
fn on_sides(path: &Path, sides: Arc<Sides>) -> Result<(Ids, Vec<u32>, Attributes)> {
    let views = [&sides.source, &sides.target].map(Ids::len);
    let views = (0..)
        .zip(views)
        .flat_map(|(view, n)| std::iter::repeat_n(view, n));
    let views = views.collect();
    let table = read_lines(Source::open(path)?)?;
    let ids = Ids::Sides(sides.clone());
    let listed = if sides.same { &sides.source } else { &ids };
    let same = |row: usize| table.ids.get(row) == listed.name(row);
    if table.ids.len() != listed.len() || !(0..listed.len()).all(same) {
        let expected = format!("the {} nodes of {MODEL} beside it, in order", listed.len());
        return Err(Error::input(path, None, "other nodes", expected));
    }
    Ok((ids, views, table.attributes))
}

fn load_nodes(path: &Path, views: &[FittedView]) -> Result<(Ids, Vec<u32>, Attributes)> {
    let table = read_nodes(path)?;
    let attributes = table.attributes().clone();
    let (ids, names, _) = table.into_parts();
    let node_views = match names {
        None if views.len() == 1 => vec![0; ids.len()],
        None => {
            return Err(Error::input(
                path,
                None,
                "no column 'view'",
                "a view for each node",
            ));
        }
        Some(names) => names
            .iter()
            .map(|name| {
                let place = views.iter().position(|view| view.name == *name);
                place.map(|place| place as u32).ok_or_else(|| {
                    Error::input(
                        path,
                        None,
                        format!("view {}", quote(name)),
                        "a view of the model",
                    )
                })
            })
            .collect::<Result<_>>()?,
    };
    for (place, view) in views.iter().enumerate() {
        let members = node_views
            .iter()
            .filter(|&&view| view as usize == place)
            .count();
        if view.network.is_table() && view.network.spec().inputs != members {
            return Err(Error::input(
                path,
                None,
                format!("{members} nodes"),
                format!(
                    "{} nodes, as the model's table has",
                    view.network.spec().inputs
                ),
            ));
        }
    }
    let rows = (0..ids.len())
        .all(|row| linkproof_method::data::ids::row_number(&ids.name(row)) == Some(row as u32));
    let ids = if rows { Ids::Rows(ids.len()) } else { ids };
    Ok((ids, node_views, attributes))
}

/// The embeddings of all rows. In a directed model those of targets stand beside those of
/// sources.
fn load_embeddings(source: Source, ids: &Ids, dim: usize) -> Result<Vec<f32>> {
    let Some(sides) = ids.sides().filter(|sides| sides.same) else {
        return load_rows(source, ids.len(), dim);
    };
    let both = load_rows(source, sides.source.len(), 2 * dim)?;
    let side = |first: usize| {
        let rows = both.chunks_exact(2 * dim);
        rows.flat_map(move |row| &row[first..first + dim]).copied()
    };
    Ok(side(0).chain(side(dim)).collect())
}

fn load_rows(source: Source, n: usize, dim: usize) -> Result<Vec<f32>> {
    let path = &source.path().to_owned();
    let matrix = read_npy_of(source)?;
    if (matrix.n_rows(), matrix.n_columns()) != (n, dim) {
        return Err(Error::input(
            path,
            None,
            format!("{} x {} numbers", matrix.n_rows(), matrix.n_columns()),
            format!("{n} x {dim}: a row for each line of {NODES}"),
        ));
    }
    match matrix {
        Matrix::Dense(dense) => match dense.into_values() {
            Values::F32(values) => Ok(values.into_vec()),
            Values::F64(_) => Err(Error::input(
                path,
                None,
                "double precision",
                "single precision",
            )),
        },
        Matrix::Sparse(_) => Err(Error::input(path, None, "a sparse matrix", "a dense one")),
    }
}

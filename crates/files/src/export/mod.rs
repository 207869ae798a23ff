//! A model as a graph that other programs read: nodes with what is known of them, links
//! with belief and expected weight.
//!
//! The formats are written from one list of columns, so that they hold the same.

mod graphml;
mod node_link;
mod xml;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use crate::output::write_file;
use linkproof_method::Fitted;
use linkproof_method::choice::choice;
use linkproof_method::data::attributes::{Attributes, Texts};
use linkproof_method::error::{Error, Result, quote};

choice!(
    /// How a model is written as a graph.
    GraphFormat {
        /// GraphML.
        Graphml = "graphml",
        /// JSON, nodes and links as NetworkX's node-link format has them.
        Json = "json",
    }
);

/// A model and where its nodes are drawn.
#[derive(Debug, Clone, Copy)]
pub struct ModelGraph<'a> {
    /// The model.
    pub model: &'a Fitted,
    /// Two coordinates of each node, in the order of [`Fitted::node_ids`].
    pub points: &'a [[f32; 2]],
    /// Whether nodes get their embeddings too.
    pub embeddings: bool,
}

/// Writes a model as a graph. Says how many characters of names and other texts had to
/// be replaced, since XML has no place for them.
///
/// # Errors
/// An id with such a character, in a format of XML.
pub fn write_graph(
    path: impl AsRef<Path>,
    format: GraphFormat,
    graph: &ModelGraph<'_>,
) -> Result<usize> {
    let content = Content::new(graph)?;
    let mut replaced = 0;
    if format == GraphFormat::Graphml {
        replaced = content.check_xml()?;
    }
    write_file(path, |file| match format {
        GraphFormat::Graphml => graphml::write(file, &content),
        GraphFormat::Json => node_link::write(file, &content),
    })?;
    Ok(replaced)
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Whole,
    Real,
}

/// A value of a node or a link.
#[derive(Debug, Clone, PartialEq)]
enum Value<'v> {
    Text(Cow<'v, str>),
    Whole(i64),
    Real(f64),
}

/// A column of the table of nodes or of links.
struct Column<'a> {
    name: String,
    kind: Kind,
    /// The value of a node or link, where it has one.
    of: Box<dyn Fn(usize) -> Option<Value<'a>> + 'a>,
}

/// All that is written.
struct Content<'a> {
    directed: bool,
    /// What nodes are known by, each another.
    keys: Vec<Cow<'a, str>>,
    /// What is shown of each: its name, or else its id.
    labels: Vec<Cow<'a, str>>,
    nodes: Vec<Column<'a>>,
    /// The ends of links, as places among the nodes.
    ends: Vec<[usize; 2]>,
    weights: &'a [f64],
    /// Beside the weight.
    links: Vec<Column<'a>>,
}

impl<'a> Content<'a> {
    fn new(graph: &ModelGraph<'a>) -> Result<Content<'a>> {
        let model = graph.model;
        let n = model.node_ids().len();
        if graph.points.len() != n {
            let found = format!("{} points", graph.points.len());
            return Err(Error::data(
                "layout",
                found,
                format!("one for each of {n} nodes"),
            ));
        }
        let ends = model.links().links();
        let ends = ends.map(|link| [link.src, link.dst].map(|row| row as usize % n));
        let id = |row: usize| model.node_ids().name(row);
        Ok(Content {
            directed: model.ids().sides().is_some(),
            keys: keys(model),
            labels: (0..n)
                .map(|row| model.title(row).map_or_else(|| id(row), Cow::Borrowed))
                .collect(),
            nodes: node_columns(graph),
            ends: ends.collect(),
            weights: model.links().weights(),
            links: link_columns(model),
        })
    }

    /// How many characters XML cannot hold; none of them may be in an id.
    fn check_xml(&self) -> Result<usize> {
        if let Some(key) = self.keys.iter().find(|key| xml::foreign(key) > 0) {
            let found = format!("the id {}, with a control character", quote(key));
            let expected = "ids that XML can hold";
            return Err(Error::data(GraphFormat::Graphml.name(), found, expected)
                .or("or set another {format}"));
        }
        let texts = self.nodes.iter().flat_map(|column| {
            let is_text = column.kind == Kind::Text;
            let rows = 0..if is_text { self.keys.len() } else { 0 };
            rows.filter_map(|row| match (column.of)(row)? {
                Value::Text(text) => Some(xml::foreign(&text)),
                _ => None,
            })
        });
        let headers = self.nodes.iter().map(|column| xml::foreign(&column.name));
        Ok(texts.chain(headers).sum())
    }
}

/// The ids. Nodes of two kinds may share some: then all have their view before.
fn keys(model: &Fitted) -> Vec<Cow<'_, str>> {
    let ids = model.node_ids();
    let all = (0..ids.len()).map(|row| ids.name(row));
    let Some(sides) = ids.sides() else {
        return all.collect();
    };
    let shared = (0..sides.source.len()).any(|row| {
        let id = sides.source.name(row);
        sides.target.row(&id).is_some()
    });
    let with_view = |(row, id): (usize, Cow<'_, str>)| {
        let side = sides.place(row).0.name();
        Cow::Owned(format!("{side}:{id}"))
    };
    match shared {
        true => all.enumerate().map(with_view).collect(),
        false => all.collect(),
    }
}

fn node_columns<'a>(graph: &ModelGraph<'a>) -> Vec<Column<'a>> {
    let (model, points) = (graph.model, graph.points);
    let mut columns: Vec<Column<'a>> = Vec::new();
    if model.node_ids().sides().is_some() {
        let id = move |row: usize| Some(Value::Text(model.node_ids().name(row)));
        columns.push(column("node", Kind::Text, id));
    }
    if model.views().iter().any(|view| !view.name.is_empty()) && !model.is_directed() {
        let view = move |row: usize| {
            let view = &model.views()[model.node_views()[row] as usize];
            Some(Value::Text(view.name.as_str().into()))
        };
        columns.push(column("view", Kind::Text, view));
    }
    if let Some(classes) = model.classes() {
        let class = |names: &'a [String]| {
            move |row: usize| {
                let name = names.get(classes.codes[row]? as usize)?;
                Some(Value::Text(name.as_str().into()))
            }
        };
        columns.push(column("class", Kind::Text, class(&classes.names)));
        if !classes.titles.is_empty() {
            columns.push(column("class_name", Kind::Text, class(&classes.titles)));
        }
    }
    for (axis, name) in ["x", "y"].into_iter().enumerate() {
        let place = move |row: usize| Some(Value::Real(points[row][axis].into()));
        columns.push(column(name, Kind::Real, place));
    }
    if graph.embeddings {
        let (y, width) = model.by_node(model.recommended(), model.dim());
        for k in 0..width {
            let (y, name) = (y.clone(), format!("y{k}"));
            let number = move |row: usize| Some(Value::Real(y[row * width + k].into()));
            columns.push(column(&name, Kind::Real, number));
        }
    }
    let known = model.attributes().map_or(&[][..], Attributes::columns);
    for (header, texts) in known {
        let mut name = header.clone();
        // `id` and `label` are what the formats themselves have.
        let is_taken = |name: &String| {
            ["id", "label"].contains(&name.as_str()) || columns.iter().any(|it| it.name == *name)
        };
        while is_taken(&name) {
            name.push('_');
        }
        let kind = kind_of(texts);
        columns.push(column(&name, kind, move |row| value(texts.get(row), kind)));
    }
    columns
}

fn link_columns(model: &Fitted) -> Vec<Column<'_>> {
    let links = model.links().links();
    let rows: Vec<[usize; 2]> = links
        .map(|link| [link.src, link.dst].map(|row| row as usize))
        .collect();
    let mu = move |link: usize| {
        let [a, b] = rows[link];
        let views = [a, b].map(|row| model.node_views()[row] as usize);
        model
            .takes_part(views[0], views[1])
            .then(|| Value::Real(model.mu(a, b)))
    };
    let mut columns = vec![column("mu", Kind::Real, mu)];
    if let Some(believed) = model.believed() {
        let belief = move |link: usize| Some(Value::Real(believed.beliefs()[link]));
        columns.push(column("belief", Kind::Real, belief));
    }
    columns
}

fn column<'a>(name: &str, kind: Kind, of: impl Fn(usize) -> Option<Value<'a>> + 'a) -> Column<'a> {
    Column {
        name: name.to_owned(),
        kind,
        of: Box::new(of),
    }
}

/// What the texts of a column are, if all of them are: ids such as `007` stay texts.
fn kind_of(texts: &Texts) -> Kind {
    let mut known = texts.iter().filter(|text| !text.is_empty()).peekable();
    if known.peek().is_none() {
        return Kind::Text;
    }
    let mut kind = Kind::Whole;
    for text in known {
        kind = match (kind, value(text, Kind::Whole), value(text, Kind::Real)) {
            (Kind::Whole, Some(_), _) => Kind::Whole,
            (_, _, Some(_)) => Kind::Real,
            _ => return Kind::Text,
        };
    }
    kind
}

/// The value that a text stands for, if it is of a kind; none for an empty one.
fn value(text: &str, kind: Kind) -> Option<Value<'_>> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let leading_zero = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit()) && !leading_zero;
    match kind {
        _ if text.is_empty() => None,
        Kind::Text => Some(Value::Text(text.into())),
        _ if !is_number => None,
        Kind::Whole => text.parse().ok().map(Value::Whole),
        // Without a point, as in 1e5, it may as well be a name.
        Kind::Real if digits.contains(['e', 'E']) && !digits.contains('.') => None,
        Kind::Real => {
            let number: f64 = text.parse().ok()?;
            number.is_finite().then_some(Value::Real(number))
        }
    }
}

//! The files of a data set: which of them is about which nodes, and how they become one.
//! Each is read once.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::features::read_features_of;
use super::nodes::{NodeTable, read_nodes_of, read_nodes_of_views};
use super::source::Sources;
use linkproof_method::data::attributes::Attributes;
use linkproof_method::data::dataset::{Dataset, NodeViews};
use linkproof_method::data::features::Features;
use linkproof_method::data::graph::{Ends, Graph, LinkRules};
use linkproof_method::data::ids::{Ids, Names, Side, Sides};
use linkproof_method::error::{Error, Result, Subject, quote};
use linkproof_method::judge::EvidenceColumn;

/// A file of data vectors or nodes, perhaps with the name of their view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewFile {
    /// The view; unset where there is only one.
    pub view: Option<String>,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for ViewFile {
    type Err = String;

    /// `FILE` or `NAME=FILE`. A file whose whole name has a `=` in it is taken
    /// for that file where it exists.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (view, path) = match text.split_once('=') {
            Some((_, "")) => return Err("expected FILE or NAME=FILE".to_owned()),
            Some((name, path)) if !name.is_empty() && !Path::new(text).exists() => {
                (Some(name.to_owned()), path)
            }
            _ => (None, text),
        };
        Ok(ViewFile {
            view,
            path: path.into(),
        })
    }
}

/// The files of a data set.
#[derive(Debug, Clone, Default)]
pub struct InputFiles<'f> {
    /// The links.
    pub links: PathBuf,
    /// How listed links become a graph.
    pub rules: LinkRules,
    /// The columns of the links that are evidence about them.
    pub evidence: &'f [String],
    /// Data vectors: one file, or one for each view.
    pub features: &'f [ViewFile],
    /// Tables of nodes: one, or one for each view.
    pub nodes: &'f [ViewFile],
}

/// A data set as read.
#[derive(Debug, Clone)]
pub struct Input {
    /// Nodes, data vectors and links.
    pub data: Dataset,
    /// What the tables of nodes say beside ids.
    pub attributes: Option<Attributes>,
    /// The columns of the links that are evidence about them.
    pub evidence: Vec<EvidenceColumn>,
    /// The first line of the links, if it was taken for a header although its names are no
    /// known ones.
    pub header: Option<String>,
}

/// Reads the files of a data set, each once, and says what was read.
///
/// # Errors
/// Names the file and line of whatever is wrong, or does not go together.
pub fn read(files: &InputFiles<'_>) -> Result<(Input, Sources)> {
    let mut reader = InputReader::new(files.features);
    let links = &reader.sources;
    let links = links.read_links(&files.links, &files.rules, files.evidence)?;
    let is_bipartite = files.rules.ends == Ends::Bipartite;
    reader.read_tables(files.nodes, !is_bipartite)?;
    let data = match is_bipartite {
        true => reader.two_kinds(links.graph, files.features)?,
        false => reader.one_kind(links.graph, files.features)?,
    };
    let attributes = match (reader.tables.as_slice(), data.ids().sides()) {
        ([], _) => None,
        (_, Some(sides)) if is_bipartite => Some(reader.attributes_on(sides)),
        ([only, ..], _) => Some(only.table.attributes().clone()),
    };
    let data = reader.with_spaces(data, files.features)?;
    let input = Input {
        evidence: links.evidence.columns(data.graph()),
        data,
        attributes,
        header: links.header,
    };
    Ok((input, reader.sources))
}

/// Reads files that belong together: tables of nodes, and data vectors for those nodes.
#[derive(Debug, Default)]
pub struct InputReader {
    /// What has been read.
    pub sources: Sources,
    tables: Vec<Listed>,
    read: Vec<Read>,
}

/// A table of nodes.
#[derive(Debug)]
struct Listed {
    view: Option<String>,
    path: PathBuf,
    table: NodeTable,
}

/// A file of data vectors.
#[derive(Debug)]
struct Read {
    path: PathBuf,
    /// How often it is wanted still.
    wanted: usize,
    /// Kept while it is.
    features: Option<Features>,
    columns: Option<Vec<String>>,
}

impl InputReader {
    /// A reader of these data vectors. A file that is given for several views is read once.
    pub fn new(features: &[ViewFile]) -> InputReader {
        let mut read: Vec<Read> = Vec::new();
        for file in features {
            match read.iter_mut().find(|known| known.path == file.path) {
                Some(known) => known.wanted += 1,
                None => read.push(Read {
                    path: file.path.clone(),
                    wanted: 1,
                    features: None,
                    columns: None,
                }),
            }
        }
        InputReader {
            read,
            ..InputReader::default()
        }
    }

    /// Reads tables of nodes. Those of several views become one where that is asked for.
    pub fn read_tables(&mut self, files: &[ViewFile], joined: bool) -> Result<()> {
        let first = files.first().filter(|file| joined && file.view.is_some());
        if let Some(first) = first {
            let sources = files.iter().map(|file| {
                let view = file.view.clone().unwrap_or_default();
                Ok((view, self.sources.open(&file.path)?))
            });
            self.tables = vec![Listed {
                view: None,
                path: first.path.clone(),
                table: read_nodes_of_views(sources.collect::<Result<_>>()?)?,
            }];
            return Ok(());
        }
        for file in files {
            self.tables.push(Listed {
                view: file.view.clone(),
                path: file.path.clone(),
                table: read_nodes_of(self.sources.open(&file.path)?)?,
            });
        }
        Ok(())
    }

    /// The data vectors of a file for the nodes of a view: those of its table, in their
    /// order, or else those of the file.
    pub fn features(&mut self, path: &Path, view: Option<&str>) -> Result<Features> {
        let features = self.all_features(path)?;
        if self.tables.is_empty() {
            return Ok(features);
        }
        let found = self.table(view).or(match (view, self.tables.as_slice()) {
            (None, [only]) => Some(only),
            _ => None,
        });
        let found = found.ok_or_else(|| {
            let name = quote(view.unwrap_or_default());
            let expected = format!("given for the view {name} too (NAME=FILE)");
            Error::argument("nodes", expected, "not")
        });
        found?.features(path, features, view)
    }

    /// The table of a view, or that of all nodes.
    fn table(&self, view: Option<&str>) -> Option<&Listed> {
        let mut tables = self.tables.iter();
        tables.find(|listed| listed.view.is_none() || listed.view.as_deref() == view)
    }

    /// The table that a side of links has for itself.
    fn table_of(&self, side: Side) -> Option<&Listed> {
        let mut tables = self.tables.iter();
        tables.find(|listed| listed.view.as_deref() == Some(side.name()))
    }

    /// The data vectors of a file as they are.
    fn all_features(&mut self, path: &Path) -> Result<Features> {
        let place = self.read.iter().position(|known| known.path == path);
        let known = place.and_then(|place| self.read[place].features.clone());
        let features = match known {
            Some(features) => features,
            None => {
                let (features, columns) = read_features_of(self.sources.open(path)?)?;
                if let Some(place) = place {
                    self.read[place].columns = columns;
                }
                features
            }
        };
        if let Some(place) = place {
            let known = &mut self.read[place];
            known.wanted = known.wanted.saturating_sub(1);
            known.features = (known.wanted > 0).then(|| features.clone());
        }
        Ok(features)
    }

    /// Links between nodes of one kind, which may have several views.
    fn one_kind(&mut self, graph: Graph, files: &[ViewFile]) -> Result<Dataset> {
        let Some(nodes) = self.node_views(files)? else {
            return match (files.first(), self.tables.first()) {
                (Some(file), _) => Dataset::new(graph, self.features(&file.path, None)?),
                (None, Some(listed)) => Dataset::with_nodes(graph, listed.table.ids().clone()),
                (None, None) => Dataset::from_links(graph),
            };
        };
        let mut features = Vec::new();
        for file in files {
            let several = || nodes.views.iter().any(|view| *view != nodes.views[0]);
            let name = match &file.view {
                Some(name) => name.clone(),
                None if !several() => nodes.views[0].clone(),
                None => {
                    let expected = "NAME=FILE, since the nodes have several views";
                    let given = file.path.display().to_string();
                    return Err(Error::argument("features", expected, given));
                }
            };
            features.push((name, self.all_features(&file.path)?));
        }
        Dataset::with_views(graph, nodes, features).map_err(|error| match error {
            // The method knows views, and we know their files.
            Error::Data {
                subject: Subject::Features { view },
                found,
                expected,
                ..
            } => {
                let file = files.iter().find(|file| file.view == view);
                let table = self.tables.first().map(|listed| listed.path.as_path());
                let path = file.map(|file| file.path.as_path()).or(table);
                let nodes = table.map(|path| format!(" (nodes: {})", path.display()));
                let expected = expected + nodes.as_deref().unwrap_or_default();
                Error::input(path.unwrap_or(Path::new("")), None, found, expected)
            }
            other => other,
        })
    }

    /// The views of nodes by their tables or by the files of data vectors; none if nothing
    /// tells views apart.
    fn node_views(&mut self, files: &[ViewFile]) -> Result<Option<NodeViews>> {
        if let Some(listed) = self.tables.first() {
            let (ids, views, rows) = listed.table.clone().into_parts();
            if let Some(views) = views {
                return Ok(Some(NodeViews { ids, views, rows }));
            }
        }
        if files.iter().all(|file| file.view.is_none()) {
            return Ok(None);
        }
        if let Some(listed) = self.tables.first() {
            let found = "no column 'view'";
            let expected = "the view of each node, since features are given by views";
            let error = Error::input(&listed.path, 1, found, expected);
            return Err(error.or("Or give {nodes=NAME=FILE} for each view"));
        }
        let (mut names, mut views) = (Names::default(), Vec::new());
        // Each is wanted once more, with its numbers.
        for file in files {
            let known = self.read.iter_mut().find(|known| known.path == file.path);
            known.into_iter().for_each(|known| known.wanted += 1);
        }
        for file in files {
            let features = self.all_features(&file.path)?;
            let view = || file.view.clone().unwrap_or_default();
            let sides = "Or, if all links lead from one view to the other, give {bipartite=true} \
                         with {features=source=FILE} and {features=target=FILE}";
            let ids = match features.ids() {
                Ids::Names(ids) => ids,
                ids if files.len() == 1 => {
                    return Ok(Some(NodeViews {
                        ids: ids.clone(),
                        views: vec![view(); ids.len()],
                        rows: None,
                    }));
                }
                _ => {
                    let found = "data vectors without ids";
                    let expected = "a first column of ids, as CSV and Parquet have it: links name \
                                    nodes by ids";
                    return Err(Error::input(&file.path, None, found, expected).or(
                        "Or give {nodes=NAME=FILE} for each view. If all links lead from one \
                             view to the other, give {bipartite=true} with {features=source=FILE} \
                             and {features=target=FILE}",
                    ));
                }
            };
            for id in (0..ids.len()).map(|row| ids.name(row)) {
                if names.insert(id) as usize != views.len() {
                    let found = format!("node {}, which another view has too", quote(id));
                    let expected = "ids that differ from view to view";
                    return Err(Error::input(&file.path, None, found, expected).or(sides));
                }
                views.push(view());
            }
        }
        Ok(Some(NodeViews {
            ids: Ids::from(names),
            views,
            rows: None,
        }))
    }

    /// Links between nodes of two kinds: those of tables, of data vectors or of the links.
    fn two_kinds(&mut self, graph: Graph, files: &[ViewFile]) -> Result<Dataset> {
        let linked = graph.ids().sides().cloned();
        let one = match files {
            [file @ ViewFile { view: None, .. }] => Some(file),
            _ => None,
        };
        let mut features = [None, None];
        for side in [Side::Source, Side::Target] {
            let is_of_side = |file: &&ViewFile| file.view.as_deref() == Some(side.name());
            if let Some(file) = files.iter().find(is_of_side) {
                features[side as usize] = Some(match self.table_of(side) {
                    Some(_) => self.features(&file.path, Some(side.name()))?,
                    None => self.all_features(&file.path)?,
                });
            }
        }
        let ids = |side: Side| {
            let table = self.table_of(side).map(|listed| listed.table.ids());
            let own = features[side as usize].as_ref().map(Features::ids);
            let linked = linked.as_ref().map(|sides| sides.of(side));
            table.or(own).or(linked).cloned()
        };
        let nodes = ids(Side::Source).zip(ids(Side::Target));
        let nodes = nodes.map(|(source, target)| Sides {
            source,
            target,
            same: false,
        });
        let Some(file) = one else {
            return Dataset::on_sides(graph, nodes.as_ref(), features);
        };
        let features = self.all_features(&file.path)?;
        let of_all = self.tables.iter().find(|listed| listed.view.is_none());
        let features = match (features.ids(), of_all) {
            // Only the table tells whose the rows are.
            (Ids::Rows(_), Some(listed)) => listed.features(&file.path, features, None)?,
            _ => features,
        };
        let data = Dataset::on_sides_alike(graph, nodes.as_ref(), &features);
        data.map_err(|error| match error {
            Error::Data {
                subject: Subject::Features { .. },
                found,
                expected,
                ..
            } => Error::input(&file.path, None, found, expected)
                .or("Or give {features=source=FILE} and {features=target=FILE}"),
            other => other,
        })
    }

    /// Views whose data vectors are of one file, or have the same named columns, have them
    /// in one space.
    fn with_spaces(&self, data: Dataset, files: &[ViewFile]) -> Result<Dataset> {
        if files.len() < 2 {
            return Ok(data);
        }
        let read = |name: &str| {
            let file = files
                .iter()
                .find(|file| file.view.as_deref() == Some(name))?;
            self.read.iter().find(|known| known.path == file.path)
        };
        let views: Vec<_> = data.views().iter().map(|view| read(&view.name)).collect();
        let is_one =
            |a: &Read, b: &Read| a.path == b.path || a.columns.is_some() && a.columns == b.columns;
        let space = |place: usize| {
            let earlier = (0..place).find(|&other| {
                let both = views[place].zip(views[other]);
                both.is_some_and(|(a, b)| is_one(a, b))
            });
            earlier.unwrap_or(place)
        };
        let spaces: Vec<usize> = (0..views.len()).map(space).collect();
        data.with_spaces(&spaces)
    }

    /// What the tables say of nodes on two sides, those of sources first.
    fn attributes_on(&self, nodes: &Sides) -> Attributes {
        let n = nodes.source.len() + nodes.target.len();
        let of_side = |known: Attributes, listed: &Listed| {
            let row = |at: usize| {
                let (side, row) = nodes.place(at);
                let view = listed.view.as_deref();
                let is_here = view.is_none_or(|view| view == side.name());
                let ids = Some(listed.table.ids()).filter(|_| is_here)?;
                ids.row(&nodes.of(side).name(row)).map(|row| row as usize)
            };
            known.joined(n, listed.table.attributes(), row)
        };
        self.tables.iter().fold(Attributes::default(), of_side)
    }

    /// What the tables say of nodes, in the order of some ids, beside what is known.
    pub fn attributes_of(&self, ids: &Ids, known: &Attributes) -> Attributes {
        self.tables.iter().fold(known.clone(), |known, listed| {
            let row = |row: usize| listed.table.ids().row(&ids.name(row));
            let row = |at: usize| row(at).map(|row| row as usize);
            known.joined(ids.len(), listed.table.attributes(), row)
        })
    }
}

impl Listed {
    /// The data vectors of a file for the nodes of the table that belong to `view` (all of
    /// them where nothing tells views apart), in its order.
    fn features(&self, path: &Path, features: Features, view: Option<&str>) -> Result<Features> {
        let (ids, matrix) = features.into_parts();
        let members = self.members(view)?;
        let here = self.path.display();
        let wrong = |found: String, expected: String| Error::input(path, None, found, expected);
        let names = self.table.ids().select(&members);
        let rows: Vec<u32> = match (&ids, self.table.rows()) {
            (Ids::Names(_) | Ids::Sides(_), _) => (0..names.len())
                .map(|row| {
                    ids.row(names.name(row)).ok_or_else(|| {
                        let found = format!("no row for node {}", quote(names.name(row)));
                        wrong(found, format!("a data vector for each node of {here}"))
                    })
                })
                .collect::<Result<_>>()?,
            (Ids::Rows(_), Some(rows)) => members.iter().map(|&node| rows[node as usize]).collect(),
            (Ids::Rows(n), None) => {
                if *n != members.len() {
                    let expected = format!("as many as {here} has nodes, {}", members.len());
                    return Err(wrong(format!("{n} rows"), expected));
                }
                (0..members.len() as u32).collect()
            }
        };
        if let Some(row) = rows.iter().find(|&&row| row as usize >= matrix.n_rows()) {
            let expected = format!("also a row {row} (counted from 0), which {here} names");
            return Err(wrong(format!("{} rows", matrix.n_rows()), expected));
        }
        let in_place = rows.len() == matrix.n_rows() && (0..).zip(&rows).all(|(a, &b)| a == b);
        let matrix = match in_place {
            true => matrix,
            false => matrix.select(&rows),
        };
        Features::with_ids(Ids::from(names), matrix)
    }

    fn members(&self, view: Option<&str>) -> Result<Vec<u32>> {
        let all = 0..self.table.ids().len() as u32;
        let (Some(view), Some(views)) = (view, self.table.views()) else {
            return Ok(all.collect());
        };
        let members: Vec<u32> = all.filter(|&node| views[node as usize] == view).collect();
        if members.is_empty() {
            let found = format!("no node of view {}", quote(view));
            return Err(Error::input(&self.path, None, found, "at least one"));
        }
        Ok(members)
    }
}

//! The data of a fit: which files were named, and how they become a `Dataset`.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::data::attributes::Attributes;
use linkproof::data::dataset::NodeViews;
use linkproof::data::graph::{Ends, LinkCounts, LinkRules};
use linkproof::data::ids::{Ids, Names, Side, Sides};
use linkproof::error::{Subject, quote};
use linkproof::io::{self, NodeTable};
use linkproof::{Dataset, Error, Features, Graph};

use crate::args::{FeatureFile, LinkRuleArgs, quoted};
use crate::exit::Usage;
use crate::nodes::{Nodes, check_views};

/// The files of a fit.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Inputs")]
pub struct DataArgs {
    /// Links: CSV or TSV src,dst[,weight], Parquet or .mtx; also .gz, .zst
    #[arg(long, value_name = "FILE")]
    links: PathBuf,
    /// Data vectors: .npy, .mtx, or CSV or Parquet with the id first; for several
    /// views NAME=FILE, once each, with --nodes unless the files have ids
    #[arg(long, value_name = "[NAME=]FILE")]
    features: Vec<FeatureFile>,
    /// Node ids in row order: CSV with a header, the id first, optional columns view and
    /// row; or NAME=FILE once for each view. All columns are kept in the model
    #[arg(long, value_name = "[NAME=]FILE")]
    nodes: Vec<FeatureFile>,
    /// Links lead from src to dst: every node is embedded as a source and as a target, and
    /// embeddings.npy has the dimensions of the source before those of the target
    #[arg(long, conflicts_with = "bipartite")]
    directed: bool,
    /// Links lead from src to dst, which are nodes of two kinds, even where they have the
    /// same ids. Their views are 'source' and 'target': --features source=FILE, or one FILE
    /// for all nodes
    #[arg(long)]
    bipartite: bool,
    #[command(flatten)]
    rules: LinkRuleArgs,
}

impl DataArgs {
    /// Refuses files that do not go together, before any is read.
    pub fn check(&self) -> Result<(), Usage> {
        let sides = [Side::Source, Side::Target].map(Side::name);
        let of_sides = |file: &&FeatureFile| {
            let view = file.view.as_deref();
            view.is_some_and(|view| sides.contains(&view))
        };
        let is_one = |files: &[FeatureFile]| matches!(files, [FeatureFile { view: None, .. }]);
        let on_sides = |files: &[FeatureFile]| files.iter().all(|file| of_sides(&file));
        let one_for_all = is_one(&self.features);
        if self.bipartite && !one_for_all && !on_sides(&self.features) {
            return Err(Usage::new(
                "--features: with --bipartite expected source=FILE (the nodes that links lead from), \
                 target=FILE (those that they lead to) or both, or one FILE for all nodes",
            ));
        }
        let named = one_for_all && is_one(&self.nodes);
        if self.bipartite && !named && !on_sides(&self.nodes) {
            return Err(Usage::new(
                "--nodes: with --bipartite expected source=FILE, target=FILE or both; or one FILE for \
                 all nodes, as --features is",
            ));
        }
        if let [a, b, ..] = self.features.as_slice()
            && (a.view.is_none() || b.view.is_none())
        {
            let [a, b] = [a, b].map(|file| quoted(&file.path.display().to_string()));
            return Err(Usage::new(format!(
                "--features: several files need the names of their views, NAME=FILE, such as \
                 --features a={a} --features b={b}; or, where all links lead from nodes of one to nodes of the other, \
                 --bipartite --features source={a} --features target={b}"
            )));
        }
        check_views("--features", &self.features)?;
        check_views("--nodes", &self.nodes)?;
        let is_named = |file: &FeatureFile| file.view.is_some();
        for (flag, files) in [("--features", &self.features), ("--nodes", &self.nodes)] {
            if self.directed && files.iter().any(is_named) {
                return Err(Usage::new(format!(
                    "{flag}: with --directed expected one FILE, of sources and targets alike"
                )));
            }
        }
        Ok(())
    }

    /// The file of the links.
    pub fn links(&self) -> &Path {
        &self.links
    }

    /// The files that are read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let features = self.features.iter().map(|file| file.path.as_path());
        let links = [self.links.as_path()].into_iter();
        let nodes = self.nodes.iter().map(|file| file.path.as_path());
        links.chain(features).chain(nodes)
    }

    /// Reads the files.
    pub fn read(&self) -> anyhow::Result<Dataset> {
        Ok(self.read_all()?.0)
    }

    /// Reads the files, and what the tables of nodes say beside ids.
    pub fn read_all(&self) -> anyhow::Result<(Dataset, Option<Attributes>)> {
        self.read_with_evidence(&[])
    }

    /// The same where columns of the links are evidence.
    pub fn read_with_evidence(
        &self,
        evidence: &[String],
    ) -> anyhow::Result<(Dataset, Option<Attributes>)> {
        let rules = LinkRules {
            ends: match (self.directed, self.bipartite) {
                (true, _) => Ends::Directed,
                (_, true) => Ends::Bipartite,
                _ => Ends::Alike,
            },
            ..self.rules.rules()
        };
        let graph = io::read_links_with_evidence(&self.links, &rules, evidence)?;
        if self.bipartite {
            let (data, attributes) = match self.features.as_slice() {
                [FeatureFile { view: None, path }] => self.on_sides_alike(graph, path)?,
                _ => self.on_sides(graph)?,
            };
            return Ok((self.with_spaces(data)?, attributes));
        }
        let table = match self.nodes.as_slice() {
            [] => None,
            [FeatureFile { view: None, path }] => Some(io::read_nodes(path)?),
            files => {
                let view = |file: &FeatureFile| file.view.clone().unwrap_or_default();
                let files: Vec<_> = files.iter().map(|file| (view(file), &file.path)).collect();
                Some(io::read_nodes_of_views(&files)?)
            }
        };
        let attributes = table.as_ref().map(|table| table.attributes().clone());
        let data = match table {
            Some(table) if table.views().is_some() => self.with_views(graph, table)?,
            table => self.with_one_view(graph, table)?,
        };
        Ok((self.with_spaces(data)?, attributes))
    }

    /// Views whose data vectors are of one file, or have the same named columns, have them
    /// in one space.
    fn with_spaces(&self, data: Dataset) -> anyhow::Result<Dataset> {
        if self.features.len() < 2 {
            return Ok(data);
        }
        let columns = |file: &FeatureFile| match file.path.is_file() {
            true => io::read_feature_names(&file.path),
            // What is no plain file cannot be read twice.
            false => Ok(None),
        };
        let columns: Vec<_> = self
            .features
            .iter()
            .map(columns)
            .collect::<Result<_, _>>()?;
        let file = |name: &str| {
            let mut files = self.features.iter();
            files.position(|file| file.view.as_deref() == Some(name))
        };
        let files: Vec<_> = data.views().iter().map(|view| file(&view.name)).collect();
        let is_one = |a: usize, b: usize| {
            let same = self.features[a].path == self.features[b].path;
            same || columns[a].is_some() && columns[a] == columns[b]
        };
        let space = |place: usize| {
            let earlier = (0..place).find(|&other| {
                let both = files[place].zip(files[other]);
                both.is_some_and(|(a, b)| is_one(a, b))
            });
            earlier.unwrap_or(place)
        };
        let spaces: Vec<usize> = (0..files.len()).map(space).collect();
        Ok(data.with_spaces(&spaces)?)
    }

    /// Nodes of two kinds, and one file of data vectors for all of them.
    fn on_sides_alike(
        &self,
        graph: Graph,
        path: &Path,
    ) -> anyhow::Result<(Dataset, Option<Attributes>)> {
        let tables = Nodes::read(&self.nodes)?;
        let of_all = tables.as_ref().filter(|tables| tables.is_of_all());
        let features = match (io::read_features(path)?, of_all) {
            // Only the table tells whose the rows are.
            (features, Some(tables)) if matches!(features.ids(), Ids::Rows(_)) => {
                tables.features(path, None)?
            }
            (features, _) => features,
        };
        let of_links = graph.ids().sides().cloned();
        let side = |side: Side| -> anyhow::Result<Option<Ids>> {
            let tables = tables.as_ref().filter(|all| all.names_view(side.name()));
            let own = tables.map(|all| all.ids(Some(side.name()))).transpose()?;
            let linked = || Some(of_links.as_ref()?.of(side).clone());
            Ok(own.cloned().or_else(linked))
        };
        let nodes = side(Side::Source)?.zip(side(Side::Target)?);
        let nodes = nodes.map(|(source, target)| Sides {
            source,
            target,
            same: false,
        });
        let data = Dataset::on_sides_alike(graph, nodes.as_ref(), &features);
        let data = data.map_err(|error| match error {
            Error::Data {
                subject: Subject::Features { .. },
                found,
                expected,
                ..
            } => {
                let expected = format!("{expected}; or --features source=FILE and target=FILE");
                Error::input(path, None, found, expected)
            }
            other => in_links(&self.links, other),
        })?;
        let sides = data.ids().sides().zip(tables.as_ref());
        let attributes = sides.map(|(sides, tables)| tables.attributes_on(sides));
        Ok((data, attributes))
    }

    /// Nodes of two kinds: those of tables, of data vectors or of the links.
    fn on_sides(&self, graph: Graph) -> anyhow::Result<(Dataset, Option<Attributes>)> {
        let tables = Nodes::read(&self.nodes)?;
        let table = |side: Side| tables.as_ref().filter(|all| all.names_view(side.name()));
        let features = |side: Side| -> anyhow::Result<Option<Features>> {
            let mut files = self.features.iter();
            let Some(file) = files.find(|file| file.view.as_deref() == Some(side.name())) else {
                return Ok(None);
            };
            Ok(Some(match table(side) {
                Some(nodes) => nodes.features(&file.path, Some(side.name()))?,
                None => io::read_features(&file.path)?,
            }))
        };
        let features = [features(Side::Source)?, features(Side::Target)?];
        let of_links = graph.ids().sides().cloned();
        let ids = |side: Side| -> anyhow::Result<Option<Ids>> {
            let own = table(side).map(|nodes| nodes.ids(Some(side.name())));
            let own = own.transpose()?.cloned();
            let theirs = || Some(features[side as usize].as_ref()?.ids().clone());
            let linked = || Some(of_links.as_ref()?.of(side).clone());
            Ok(own.or_else(theirs).or_else(linked))
        };
        let nodes = match (ids(Side::Source)?, ids(Side::Target)?) {
            (Some(source), Some(target)) => Some(Sides {
                source,
                target,
                same: false,
            }),
            _ => None,
        };
        let attributes = nodes.as_ref().zip(tables.as_ref());
        let attributes = attributes.map(|(nodes, tables)| tables.attributes_on(nodes));
        let data = Dataset::on_sides(graph, nodes.as_ref(), features);
        let data = data.map_err(|error| in_links(&self.links, error))?;
        Ok((data, attributes))
    }

    fn with_one_view(&self, graph: Graph, nodes: Option<NodeTable>) -> anyhow::Result<Dataset> {
        let data = match (self.features.as_slice(), nodes) {
            ([], None) => Dataset::from_links(graph),
            ([], Some(nodes)) => Dataset::with_nodes(graph, nodes.into_parts().0),
            ([FeatureFile { view: None, path }], None) => {
                Dataset::new(graph, io::read_features(path)?)
            }
            ([FeatureFile { view: None, path }], Some(table)) => {
                let nodes = Nodes::one(self.nodes_path(None), table);
                Dataset::new(graph, nodes.features(path, None)?)
            }
            ([file], None) => {
                let features = io::read_features(&file.path)?;
                let nodes = NodeViews {
                    ids: features.ids().clone(),
                    views: vec![file.view.clone().unwrap_or_default(); features.ids().len()],
                    rows: None,
                };
                Dataset::with_views(graph, nodes, vec![(nodes_view(file), features)])
            }
            (_, Some(_)) => {
                let found = "no column 'view'";
                let expected = "the view of each node, as --features NAME=FILE needs; or give \
                                --nodes NAME=FILE for each view";
                Err(Error::input(self.nodes_path(None), 1, found, expected))
            }
            (files, None) => return self.with_views_of_files(graph, files),
        };
        Ok(data.map_err(|error| in_links(&self.links, error))?)
    }

    /// Views whose files tell their nodes.
    fn with_views_of_files(&self, graph: Graph, files: &[FeatureFile]) -> anyhow::Result<Dataset> {
        let mut names = Names::default();
        let (mut views, mut vectors) = (Vec::new(), Vec::new());
        for file in files {
            let features = io::read_features(&file.path)?;
            let Ids::Names(ids) = features.ids() else {
                let found = "data vectors without ids";
                let expected = "a first column of ids, as CSV and Parquet have it, so that links can \
                                be told which view their nodes are of; or --nodes NAME=FILE for each \
                                view; or, where all links lead from nodes of one view to nodes of the \
                                other, --bipartite with --features source=FILE and target=FILE";
                return Err(Error::input(&file.path, None, found, expected).into());
            };
            for id in (0..ids.len()).map(|row| ids.name(row)) {
                if names.insert(id) as usize != views.len() {
                    let found = format!("node {}, which another view has too", quote(id));
                    let expected = "ids that differ from view to view; or, where all links lead from \
                                    nodes of one view to nodes of the other, --bipartite with \
                                    --features source=FILE and target=FILE";
                    return Err(Error::input(&file.path, None, found, expected).into());
                }
                views.push(nodes_view(file));
            }
            vectors.push((nodes_view(file), features));
        }
        let nodes = NodeViews {
            ids: Ids::from(names),
            views,
            rows: None,
        };
        let data = Dataset::with_views(graph, nodes, vectors);
        Ok(data.map_err(|error| in_links(&self.links, error))?)
    }

    /// The table of a view's nodes, or else the first.
    fn nodes_path(&self, view: Option<&str>) -> &Path {
        let own = |file: &&FeatureFile| file.view.as_deref() == view;
        let own = self.nodes.iter().find(own).or(self.nodes.first());
        own.map_or(&self.links, |file| &file.path)
    }

    fn with_views(&self, graph: Graph, nodes: NodeTable) -> anyhow::Result<Dataset> {
        let (ids, views, rows) = nodes.into_parts();
        let views = views.unwrap_or_default();
        let mut features = Vec::new();
        for file in &self.features {
            let name = match &file.view {
                Some(name) => name.clone(),
                None if views.iter().all(|view| *view == views[0]) => views[0].clone(),
                None => {
                    let message = format!(
                        "--features {}: {} has several views; expected --features NAME=FILE",
                        file.path.display(),
                        self.nodes_path(None).display()
                    );
                    return Err(Usage::new(message).into());
                }
            };
            features.push((name, io::read_features(&file.path)?));
        }
        let data = Dataset::with_views(graph, NodeViews { ids, views, rows }, features);
        Ok(data.map_err(|error| match error {
            // The library knows views, and we know their files.
            Error::Data {
                subject,
                found,
                expected,
                ..
            } => {
                let of_view = |file: &&FeatureFile| {
                    let view = file.view.clone();
                    subject == Subject::Features { view }
                };
                let file = self.features.iter().find(of_view);
                let nodes = self.nodes_path(file.and_then(|file| file.view.as_deref()));
                let expected = format!("{expected} (nodes: {})", nodes.display());
                Error::input(file.map_or(nodes, |file| &file.path), None, found, expected)
            }
            other => in_links(&self.links, other),
        })?)
    }

    /// The first line of the links, where it was taken for a header.
    pub fn header(&self, read: LinkCounts) -> String {
        // It has been read before; without it the message stands.
        let first = Some(&self.links).filter(|_| read.headers > 0);
        let first = first.map(|path| io::read_first_line(path).unwrap_or_default());
        first.unwrap_or_default()
    }

    /// Says where in the links a weight stands that a fit found too large.
    pub fn in_links(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast() {
            Ok(error) => in_links(&self.links, error).into(),
            Err(other) => other,
        }
    }

    /// The same files as options, for another fit.
    pub fn typed(&self) -> String {
        let mut text = self.typed_with(&self.nodes);
        for (given, flag) in [
            (self.directed, " --directed"),
            (self.bipartite, " --bipartite"),
        ] {
            text.push_str(if given { flag } else { "" });
        }
        text
    }

    /// The same for a command that reads the model, which knows what the ends of links
    /// are, and reads tables of nodes for data vectors alone.
    pub fn typed_for_model(&self) -> String {
        match self.features.is_empty() {
            true => self.typed_with(&[]),
            false => self.typed_with(&self.nodes),
        }
    }

    /// The links as options, without data vectors.
    pub fn typed_links(&self) -> String {
        let alone = DataArgs {
            features: Vec::new(),
            ..self.clone()
        };
        alone.typed()
    }

    /// The files of data vectors, as they are typed.
    pub fn feature_files(&self) -> impl Iterator<Item = String> {
        let files = self.features.iter();
        files.map(|file| quoted(&file.path.display().to_string()))
    }

    fn typed_with(&self, nodes: &[FeatureFile]) -> String {
        let path = |path: &Path| quoted(&path.display().to_string());
        let mut text = format!("--links {}", path(&self.links));
        for (flag, files) in [("--features", self.features.as_slice()), ("--nodes", nodes)] {
            for file in files {
                let view = file.view.iter().map(|view| format!("{}=", quoted(view)));
                let view: String = view.collect();
                text.push_str(&format!(" {flag} {view}{}", path(&file.path)));
            }
        }
        text + &self.rules.typed()
    }
}

fn nodes_view(file: &FeatureFile) -> String {
    file.view.clone().unwrap_or_default()
}

/// Says where in a links file a node stands that nobody knows, or a weight that is
/// too large or negative.
pub fn in_links(path: &Path, error: Error) -> Error {
    // The file has been read once; without a line the message stands.
    let line = match &error {
        Error::UnknownNode { id, .. } => io::locate_id(path, id),
        Error::TooHeavy { src, dst, .. } | Error::Negative { src, dst, .. } => {
            io::locate_link(path, [src, dst])
        }
        _ => return error,
    };
    error.in_file(path, line.unwrap_or_default())
}

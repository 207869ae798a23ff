//! The data of a fit: which files were named, and how they become a `Dataset`.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::data::dataset::NodeViews;
use linkproof::data::graph::{Ends, LinkRules};
use linkproof::data::ids::{Ids, Side};
use linkproof::error::{Subject, quote};
use linkproof::io::{self, NodeTable};
use linkproof::{Dataset, Error, Features, Graph};

use crate::args::{FeatureFile, LinkRuleArgs, quoted};
use crate::exit::Usage;

/// The files of a fit.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Inputs")]
pub struct DataArgs {
    /// Links: CSV or TSV src,dst[,weight], Parquet or .mtx; also .gz, .zst
    #[arg(long, value_name = "FILE")]
    links: PathBuf,
    /// Data vectors: .npy, .mtx, or CSV or Parquet with the id first; for
    /// several views NAME=FILE, once each, with --nodes
    #[arg(long, value_name = "[NAME=]FILE")]
    features: Vec<FeatureFile>,
    /// Node ids in row order: CSV with a header, the id first, optional
    /// columns view and row
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// Links lead from src to dst: every node is embedded as a source and as a target, and
    /// embeddings.npy has the dimensions of the source before those of the target
    #[arg(long, conflicts_with = "bipartite")]
    directed: bool,
    /// Links lead from src to dst, which are nodes of two kinds, even where they have the
    /// same ids. Their views are 'source' and 'target': --features source=FILE
    #[arg(long)]
    bipartite: bool,
    #[command(flatten)]
    rules: LinkRuleArgs,
}

/// A node table and the file it is from.
#[derive(Debug)]
pub struct Nodes {
    path: PathBuf,
    table: NodeTable,
}

impl Nodes {
    /// Reads the table, if there is one.
    pub fn read(path: Option<&Path>) -> Result<Option<Nodes>, Error> {
        path.map(|path| {
            let table = io::read_nodes(path)?;
            let path = path.to_owned();
            Ok(Nodes { path, table })
        })
        .transpose()
    }

    /// The data vectors of a file, for the nodes of the table that belong to
    /// `view` (all of them where nothing tells views apart), in its order.
    pub fn features(&self, path: &Path, view: Option<&str>) -> Result<Features, Error> {
        let (ids, matrix) = io::read_features(path)?.into_parts();
        let members = self.members(view)?;
        let here = self.path.display();
        let names = self.table.ids().select(&members);
        let rows: Vec<u32> = match (&ids, self.table.rows()) {
            (Ids::Names(_) | Ids::Sides(_), _) => members
                .iter()
                .map(|&node| {
                    let id = self.table.ids().name(node as usize);
                    ids.row(&id).ok_or_else(|| {
                        let expected = format!("a data vector for each node of {here}");
                        Error::input(
                            path,
                            None,
                            format!("no row for node {}", quote(&id)),
                            expected,
                        )
                    })
                })
                .collect::<Result<_, _>>()?,
            (Ids::Rows(_), Some(rows)) => members.iter().map(|&node| rows[node as usize]).collect(),
            (Ids::Rows(n), None) => {
                if *n != members.len() {
                    let expected = format!("as many as {here} has nodes, {}", members.len());
                    return Err(Error::input(path, None, format!("{n} rows"), expected));
                }
                (0..members.len() as u32).collect()
            }
        };
        if let Some(row) = rows.iter().find(|&&row| row as usize >= matrix.n_rows()) {
            let found = format!("{} rows", matrix.n_rows());
            let expected = format!("also a row {row} (counted from 0), which {here} names");
            return Err(Error::input(path, None, found, expected));
        }
        let in_place = rows.len() == matrix.n_rows() && (0..).zip(&rows).all(|(a, &b)| a == b);
        let matrix = if in_place {
            matrix
        } else {
            matrix.select(&rows)
        };
        Features::with_ids(Ids::Names(names), matrix)
    }

    fn members(&self, view: Option<&str>) -> Result<Vec<u32>, Error> {
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

impl DataArgs {
    /// Refuses files that do not go together, before any is read.
    pub fn check(&self) -> Result<(), Usage> {
        let (named, plain): (Vec<_>, Vec<_>) =
            self.features.iter().partition(|file| file.view.is_some());
        if plain.len() > 1 || (!plain.is_empty() && !named.is_empty()) {
            return Err(Usage::new(
                "--features: several files need the names of their views: --features NAME=FILE",
            ));
        }
        for (place, file) in named.iter().enumerate() {
            if named[..place].iter().any(|other| other.view == file.view) {
                let name = file.view.as_deref().unwrap_or_default();
                let message = format!("--features: view '{name}' is given more than once");
                return Err(Usage::new(message));
            }
        }
        let sides = [Side::Source, Side::Target].map(Side::name);
        let of_sides = |file: &&FeatureFile| {
            let view = file.view.as_deref();
            view.is_some_and(|view| sides.contains(&view))
        };
        if self.bipartite && !self.features.iter().all(|file| of_sides(&file)) {
            return Err(Usage::new(
                "--features: with --bipartite expected source=FILE, target=FILE or both",
            ));
        }
        if self.bipartite && self.nodes.is_some() {
            return Err(Usage::new(
                "--nodes: nobody reads it with --bipartite, whose nodes are those of the links and \
                 of --features",
            ));
        }
        if self.directed && !named.is_empty() {
            return Err(Usage::new(
                "--features: with --directed expected one FILE, of sources and targets alike",
            ));
        }
        if named.len() > 1 && self.nodes.is_none() && !self.bipartite {
            return Err(Usage::new(
                "--features: several views need --nodes FILE, whose column 'view' tells which node \
                 belongs to which",
            ));
        }
        Ok(())
    }

    /// The files that are read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let features = self.features.iter().map(|file| file.path.as_path());
        let links = [self.links.as_path()].into_iter();
        links.chain(features).chain(self.nodes.as_deref())
    }

    /// Reads the files.
    pub fn read(&self) -> anyhow::Result<Dataset> {
        let rules = LinkRules {
            ends: match (self.directed, self.bipartite) {
                (true, _) => Ends::Directed,
                (_, true) => Ends::Bipartite,
                _ => Ends::Alike,
            },
            ..self.rules.rules()
        };
        let graph = io::read_links(&self.links, &rules)?;
        if self.bipartite {
            let of_side = |side: Side| {
                let file = self.features.iter();
                let mut file = file.filter(|file| file.view.as_deref() == Some(side.name()));
                let read = |file: &FeatureFile| io::read_features(&file.path);
                file.next().map(read).transpose()
            };
            let features = [of_side(Side::Source)?, of_side(Side::Target)?];
            let data = Dataset::on_sides(graph, None, features);
            return Ok(data.map_err(|error| in_links(&self.links, error))?);
        }
        let nodes = Nodes::read(self.nodes.as_deref())?;
        let data = match nodes {
            Some(nodes) if nodes.table.views().is_some() => self.with_views(graph, nodes)?,
            nodes => self.with_one_view(graph, nodes)?,
        };
        Ok(data)
    }

    fn with_one_view(&self, graph: Graph, nodes: Option<Nodes>) -> anyhow::Result<Dataset> {
        let data = match (self.features.as_slice(), nodes) {
            ([], None) => Dataset::from_links(graph),
            ([], Some(nodes)) => Dataset::with_nodes(graph, nodes.table.into_parts().0),
            ([FeatureFile { view: None, path }], None) => {
                Dataset::new(graph, io::read_features(path)?)
            }
            ([FeatureFile { view: None, path }], Some(nodes)) => {
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
            (_, Some(nodes)) => {
                let found = "no column 'view'";
                let expected = "the view of each node, as --features NAME=FILE needs";
                Err(Error::input(&nodes.path, 1, found, expected))
            }
            // `check` has refused several files without --nodes.
            (_, None) => return Err(Usage::new("--features: expected one file").into()),
        };
        Ok(data.map_err(|error| in_links(&self.links, error))?)
    }

    fn with_views(&self, graph: Graph, nodes: Nodes) -> anyhow::Result<Dataset> {
        let (ids, views, rows) = nodes.table.into_parts();
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
                        nodes.path.display()
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
                let path = file.map_or(&nodes.path, |file| &file.path);
                let expected = format!("{expected} (nodes: {})", nodes.path.display());
                Error::input(path, None, found, expected)
            }
            other => in_links(&self.links, other),
        })?)
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
        let mut text = self.typed_for_model();
        for (given, flag) in [
            (self.directed, " --directed"),
            (self.bipartite, " --bipartite"),
        ] {
            text.push_str(if given { flag } else { "" });
        }
        text
    }

    /// The same for a command that reads the model, which knows what the ends of links
    /// are.
    pub fn typed_for_model(&self) -> String {
        let path = |path: &Path| quoted(&path.display().to_string());
        let mut text = format!("--links {}", path(&self.links));
        for file in &self.features {
            let view = file.view.iter().map(|view| format!("{}=", quoted(view)));
            let view: String = view.collect();
            text.push_str(&format!(" --features {view}{}", path(&file.path)));
        }
        if let Some(nodes) = &self.nodes {
            text.push_str(&format!(" --nodes {}", path(nodes)));
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
        Error::UnknownNode { id } => io::locate_id(path, id),
        Error::TooHeavy { src, dst, .. } | Error::Negative { src, dst, .. } => {
            io::locate_link(path, [src, dst])
        }
        _ => return error,
    };
    error.in_file(path, line.unwrap_or_default())
}

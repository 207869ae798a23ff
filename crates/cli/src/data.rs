//! The files of a fit, as options.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::Error;
use linkproof::data::graph::{Ends, LinkRules};
use linkproof::data::ids::Side;
use linkproof::io::{self, Input, InputFiles, Sources, ViewFile};

use crate::args::{LinkRuleArgs, check_views, quoted};
use crate::exit::Usage;

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
    features: Vec<ViewFile>,
    /// Node ids in row order: CSV with a header, the id first, optional columns view and
    /// row; or NAME=FILE once for each view. All columns are kept in the model
    #[arg(long, value_name = "[NAME=]FILE")]
    nodes: Vec<ViewFile>,
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
        let of_sides = |file: &&ViewFile| {
            let view = file.view.as_deref();
            view.is_some_and(|view| sides.contains(&view))
        };
        let is_one = |files: &[ViewFile]| matches!(files, [ViewFile { view: None, .. }]);
        let on_sides = |files: &[ViewFile]| files.iter().all(|file| of_sides(&file));
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
        let is_named = |file: &ViewFile| file.view.is_some();
        for (flag, files) in [("--features", &self.features), ("--nodes", &self.nodes)] {
            if self.directed && files.iter().any(is_named) {
                return Err(Usage::new(format!(
                    "{flag}: with --directed expected one FILE, of sources and targets alike"
                )));
            }
        }
        Ok(())
    }

    /// The files that are read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let features = self.features.iter().map(|file| file.path.as_path());
        let links = [self.links.as_path()].into_iter();
        let nodes = self.nodes.iter().map(|file| file.path.as_path());
        links.chain(features).chain(nodes)
    }

    /// Reads the files, of whose links some columns are evidence.
    pub fn read(&self, evidence: &[String]) -> Result<(Input, Sources), Error> {
        let ends = match (self.directed, self.bipartite) {
            (true, _) => Ends::Directed,
            (_, true) => Ends::Bipartite,
            _ => Ends::Alike,
        };
        io::read(&InputFiles {
            links: self.links.clone(),
            rules: LinkRules {
                ends,
                ..self.rules.rules()
            },
            evidence,
            features: &self.features,
            nodes: &self.nodes,
        })
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

    fn typed_with(&self, nodes: &[ViewFile]) -> String {
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

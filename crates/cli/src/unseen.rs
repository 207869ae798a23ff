//! Nodes that a model has not seen: their data vectors, and their links where
//! they bring some.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::data::graph::LinkRules;
use linkproof::data::ids::{Ids, Side};
use linkproof::error::Subject;
use linkproof::io::{self, Files};
use linkproof::model::{Encoded, NewLinks};
use linkproof::robust::{Newcomers, embed_new};
use linkproof::{Error, Features, Fitted, Graph};

use crate::args::{FeatureFile, LinkRuleArgs};
use crate::exit::Usage;
use crate::nodes::Nodes;

/// What may be known of unseen nodes beside their data vectors.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Unseen nodes")]
pub struct UnseenArgs {
    /// View of the unseen nodes, where the model has several
    #[arg(long, value_name = "V")]
    view: Option<String>,
    /// Ids of the rows of --features: CSV with a header, the id first,
    /// optional columns view and row; NAME=FILE for a view
    #[arg(long, value_name = "[NAME=]FILE")]
    nodes: Vec<FeatureFile>,
    /// Links of unseen nodes to training nodes, for a model that was fitted
    /// with --propagate; 'embed' takes them for a robust model too
    #[arg(long, value_name = "FILE")]
    links: Option<PathBuf>,
    #[command(flatten)]
    rules: LinkRuleArgs,
}

/// Unseen nodes of one view, as read.
#[derive(Debug)]
pub struct Unseen {
    /// The place of their view in the model.
    pub view: usize,
    /// Their ids and data vectors.
    pub features: Features,
    /// Their links, where a file has them.
    pub links: Option<NewLinks>,
}

/// Unseen nodes of one view, embedded.
#[derive(Debug)]
pub struct Embedded {
    /// Their ids.
    pub ids: Ids,
    /// As the model's encoder sees them.
    pub encoded: Encoded,
    /// Their recommended embeddings, where these are others.
    recommended: Option<Vec<f32>>,
}

/// The files of unseen nodes, but for their data vectors.
struct Sources<'a> {
    view: Option<&'a str>,
    nodes: Option<Nodes>,
    links: Option<(&'a Path, Graph)>,
}

impl<'a> Sources<'a> {
    fn read(
        view: Option<&'a str>,
        nodes: &[FeatureFile],
        links: Option<&'a Path>,
        rules: &LinkRules,
    ) -> anyhow::Result<Sources<'a>> {
        let links = links.map(|path| io::read_links(path, rules).map(|links| (path, links)));
        Ok(Sources {
            view,
            nodes: Nodes::read(nodes)?,
            links: links.transpose()?,
        })
    }

    /// The nodes of a file, whose view is said here where the file does not.
    fn unseen(
        &self,
        model: &Fitted,
        file: &FeatureFile,
        side: Option<Side>,
    ) -> anyhow::Result<Unseen> {
        let side = side.map(Side::name);
        let view = model.view(file.view.as_deref().or(self.view).or(side))?;
        let name = model.views()[view].name.as_str();
        let name = Some(name).filter(|name| !name.is_empty());
        let features = match &self.nodes {
            Some(nodes) => nodes.features(&file.path, name)?,
            None => io::read_features(&file.path)?,
        };
        let fits = model.check_vectors(view, &features);
        fits.map_err(|error| match &error {
            Error::Data {
                subject: Subject::Features { .. },
                ..
            } => error.in_file(&file.path, None),
            _ => error,
        })?;
        if let (Some((path, _)), Some(_)) = (&self.links, model.ids().sides()) {
            let found = "links for a model whose links have a source and a target";
            let expected = "none: its unseen nodes are embedded from their data vectors alone";
            return Err(Error::input(path, None, found, expected).into());
        }
        let links = self.links.as_ref().map(|(path, links)| {
            let found = model.links_of_new(view, features.ids(), links);
            found.map_err(|bad| {
                // The file has been read once; without a line the message stands.
                let line = io::locate_link(path, [&bad.ends[0], &bad.ends[1]]);
                bad.in_file(path, line.unwrap_or_default())
            })
        });
        let links = links.transpose()?;
        Ok(Unseen {
            view,
            features,
            links,
        })
    }
}

/// Data vectors of new nodes by the places of their views, as read.
pub fn new_vectors(
    model: &Fitted,
    files: &[FeatureFile],
    nodes: &[FeatureFile],
) -> anyhow::Result<Vec<(usize, Features)>> {
    let sources = Sources::read(None, nodes, None, &LinkRules::default())?;
    let read = |file| (sources.unseen(model, file, None)).map(|it| (it.view, it.features));
    files.iter().map(read).collect()
}

impl UnseenArgs {
    /// Refuses what is said of unseen nodes where there are none, and of links where there
    /// are none: nobody would read it.
    pub fn check(&self, features: &[FeatureFile]) -> Result<(), Usage> {
        let given = [
            (self.view.is_some(), "--view"),
            (!self.nodes.is_empty(), "--nodes"),
            (self.links.is_some(), "--links"),
        ];
        if features.is_empty()
            && let Some((_, flag)) = given.iter().find(|(given, _)| *given)
        {
            let message = "nobody reads it without unseen nodes; expected --features FILE too";
            return Err(Usage::new(format!("{flag}: {message}")));
        }
        if self.links.is_none()
            && let Some(flag) = self.rules.typed().split_whitespace().next()
        {
            let message =
                "nobody reads it without links of unseen nodes; expected --links FILE too";
            return Err(Usage::new(format!("{flag}: {message}")));
        }
        Ok(())
    }

    /// The files that are read: a model, these data vectors, and what is known of
    /// them.
    pub fn files(&self, model: &Path, features: &[FeatureFile]) -> Files {
        Files::default()
            .reads_model(model)
            .reads(features.iter().map(|file| &file.path))
            .reads(self.nodes.iter().map(|file| &file.path))
            .reads(&self.links)
    }

    fn read(&self, model: &Fitted, files: &[FeatureFile]) -> anyhow::Result<Vec<Unseen>> {
        let (nodes, links) = (self.nodes.as_slice(), self.links.as_deref());
        let rules = self.rules.rules_of(model);
        let sources = Sources::read(self.view.as_deref(), nodes, links, &rules)?;
        let mut all = Vec::new();
        for file in files {
            // A node of a directed graph is a source and a target, unless a view is named.
            let both = model.is_directed() && file.view.is_none() && self.view.is_none();
            let sides: &[Option<Side>] = match both {
                true => &[Some(Side::Source), Some(Side::Target)],
                false => &[None],
            };
            for &side in sides {
                all.push(sources.unseen(model, file, side)?);
            }
        }
        Ok(all)
    }

    /// Reads and embeds the unseen nodes of each file, by the model's encoder: for
    /// expected weights.
    pub fn embed(&self, model: &Fitted, files: &[FeatureFile]) -> anyhow::Result<Vec<Embedded>> {
        let unseen = self.read(model, files)?.into_iter();
        let embedded = unseen.map(|unseen| {
            let links = unseen.links.as_ref().map(|found| found.links.as_slice());
            let recommended = model.averaged().map(|_| {
                let found = embed_new(model, unseen.view, &unseen.features, links)?;
                Result::<_, Error>::Ok(found.embeddings)
            });
            Ok(Embedded {
                encoded: model.encode_view(unseen.view, &unseen.features, links)?,
                recommended: recommended.transpose()?,
                ids: unseen.features.into_parts().0,
            })
        });
        embedded.collect()
    }

    /// The unseen nodes of a file with the model's recommended embeddings.
    pub fn recommend(
        &self,
        model: &Fitted,
        file: &FeatureFile,
    ) -> anyhow::Result<Vec<(Unseen, Newcomers)>> {
        let unseen = self.read(model, std::slice::from_ref(file))?.into_iter();
        let embedded = unseen.map(|unseen| {
            let links = unseen.links.as_ref().map(|found| found.links.as_slice());
            let found = embed_new(model, unseen.view, &unseen.features, links)?;
            Ok((unseen, found))
        });
        embedded.collect()
    }
}

impl Embedded {
    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The recommended embedding of one of them.
    pub fn recommended(&self, row: usize) -> &[f32] {
        let dim = self.encoded.dim;
        let all = self.recommended.as_ref().unwrap_or(&self.encoded.y);
        &all[row * dim..(row + 1) * dim]
    }
}

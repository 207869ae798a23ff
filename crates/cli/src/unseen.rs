//! Nodes that a model has not seen: their data vectors, and their links where
//! they bring some.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::data::ids::{Ids, Side};
use linkproof::error::Subject;
use linkproof::io::{self, Files, InputReader, ViewFile};
use linkproof::model::{Encoded, NewLinks};
use linkproof::robust::{Newcomers, embed_new};
use linkproof::{Error, Features, Fitted, Graph};

use crate::args::{LinkRuleArgs, check_views};
use crate::exit::Usage;

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
    nodes: Vec<ViewFile>,
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

/// What is read of unseen nodes beside their data vectors.
struct Known<'a> {
    view: Option<&'a str>,
    links: Option<Graph>,
}

impl Known<'_> {
    /// The nodes of a file, whose view is said here where the file does not.
    fn unseen(
        &self,
        model: &Fitted,
        reader: &mut InputReader,
        file: &ViewFile,
        side: Option<Side>,
    ) -> anyhow::Result<Unseen> {
        let side = side.map(Side::name);
        let view = model.view(file.view.as_deref().or(self.view).or(side))?;
        let name = model.views()[view].name.as_str();
        let features = reader.features(&file.path, Some(name).filter(|name| !name.is_empty()))?;
        let fits = model.check_vectors(view, &features);
        fits.map_err(|error| match &error {
            Error::Data {
                subject: Subject::Features { .. },
                ..
            } => error.in_file(&file.path, None),
            _ => error,
        })?;
        if let (Some(links), Some(_)) = (&self.links, model.ids().sides()) {
            let found = "links for a model whose links have a source and a target";
            let expected = "none: its unseen nodes are embedded from their data vectors alone";
            return Err(links
                .located(Error::links(found, expected), |_| false)
                .into());
        }
        let links = self.links.as_ref();
        let links = links.map(|links| model.links_of_new(view, features.ids(), links));
        Ok(Unseen {
            view,
            links: links.transpose()?,
            features,
        })
    }
}

/// Data vectors of new nodes by the places of their views, as read.
pub fn new_vectors(
    model: &Fitted,
    reader: &mut InputReader,
    files: &[ViewFile],
) -> anyhow::Result<Vec<(usize, Features)>> {
    let known = Known {
        view: None,
        links: None,
    };
    let read = |file| {
        known
            .unseen(model, reader, file, None)
            .map(|it| (it.view, it.features))
    };
    files.iter().map(read).collect()
}

impl UnseenArgs {
    /// Refuses what is said of unseen nodes where there are none, and of links where there
    /// are none: nobody would read it.
    pub fn check(&self, features: &[ViewFile]) -> Result<(), Usage> {
        check_views("--nodes", &self.nodes)?;
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
    pub fn files(&self, model: &Path, features: &[ViewFile]) -> Files {
        Files::default()
            .reads_model(model)
            .reads(features.iter().map(|file| &file.path))
            .reads(self.nodes.iter().map(|file| &file.path))
            .reads(&self.links)
    }

    fn read(&self, model: &Fitted, files: &[ViewFile]) -> anyhow::Result<Vec<Unseen>> {
        // A node of a directed graph is a source and a target, unless a view is named.
        let sides = |file: &ViewFile| match (model.is_directed(), &file.view, &self.view) {
            (true, None, None) => vec![Some(Side::Source), Some(Side::Target)],
            _ => vec![None],
        };
        let wanted = files
            .iter()
            .flat_map(|file| sides(file).into_iter().map(move |side| (file, side)));
        let wanted: Vec<_> = wanted.collect();
        let of_sides: Vec<ViewFile> = wanted.iter().map(|(file, _)| (*file).clone()).collect();
        let mut reader = InputReader::new(&of_sides);
        reader.read_tables(&self.nodes, false)?;
        let rules = self.rules.rules_of(model);
        let links = self.links.as_ref();
        let links = links.map(|path| io::read_links(path, &rules));
        let known = Known {
            view: self.view.as_deref(),
            links: links.transpose()?,
        };
        let all = wanted.into_iter();
        all.map(|(file, side)| known.unseen(model, &mut reader, file, side))
            .collect()
    }

    /// Reads and embeds the unseen nodes of each file, by the model's encoder: for
    /// expected weights.
    pub fn embed(&self, model: &Fitted, files: &[ViewFile]) -> anyhow::Result<Vec<Embedded>> {
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
        file: &ViewFile,
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

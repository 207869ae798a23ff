//! Nodes that a model has not seen, with their data vectors.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::error::{Subject, quote};
use linkproof::ids::Ids;
use linkproof::io::{self, Files};
use linkproof::{Error, Features, Fitted, Graph};

use crate::args::{FeatureFile, LinkRuleArgs};
use crate::data::Nodes;

/// What may be known of unseen nodes beside their data vectors.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Unseen nodes")]
pub struct UnseenArgs {
    /// View of the unseen nodes, where the model has several
    #[arg(long, value_name = "V")]
    view: Option<String>,
    /// Ids of the rows of --features: CSV with a header, the id first,
    /// optional columns view and row
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// Links of unseen nodes to training nodes, for a model that was fitted
    /// with --propagate
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
    path: PathBuf,
}

/// Unseen nodes of one view, embedded.
#[derive(Debug)]
pub struct Embedded {
    /// Their ids.
    pub ids: Ids,
    /// The place of their view in the model.
    pub view: usize,
    /// Their embeddings, row after row.
    pub values: Vec<f32>,
}

impl UnseenArgs {
    /// The files that are read: a model, these data vectors, and what is known of
    /// them.
    pub fn files(&self, model: &Path, features: &[FeatureFile]) -> Files {
        Files::default()
            .reads_model(model)
            .reads(features.iter().map(|file| &file.path))
            .reads([&self.nodes, &self.links].into_iter().flatten())
    }

    /// Reads and embeds the unseen nodes of each file, by the model's encoder: for
    /// expected weights.
    pub fn embed(&self, model: &Fitted, files: &[FeatureFile]) -> Result<Vec<Embedded>, Error> {
        self.embed_all(model, files, false)
    }

    /// The same as the model's recommended embeddings.
    pub fn recommend(&self, model: &Fitted, files: &[FeatureFile]) -> Result<Vec<Embedded>, Error> {
        self.embed_all(model, files, true)
    }

    fn embed_all(
        &self,
        model: &Fitted,
        files: &[FeatureFile],
        recommended: bool,
    ) -> Result<Vec<Embedded>, Error> {
        let nodes = Nodes::read(self.nodes.as_deref())?;
        let links = self.links.as_ref();
        let links = links.map(|path| io::read_links(path, &self.rules.options()));
        let links = links.transpose()?;
        files
            .iter()
            .map(|file| self.embed_file(model, file, nodes.as_ref(), links.as_ref(), recommended))
            .collect()
    }

    fn embed_file(
        &self,
        model: &Fitted,
        file: &FeatureFile,
        nodes: Option<&Nodes>,
        links: Option<&Graph>,
        recommended: bool,
    ) -> Result<Embedded, Error> {
        let unseen = Unseen::read(model, file, self.view.as_deref(), nodes)?;
        // Links of unseen nodes are for models that average data vectors, which
        // recommend no others; the encoder says so.
        let values = match recommended && links.is_none() {
            true => unseen.recommend(model),
            false => unseen.embed(model, links),
        };
        Ok(Embedded {
            values: values.map_err(|error| self.in_links(error))?,
            ids: unseen.features.into_parts().0,
            view: unseen.view,
        })
    }

    fn in_links(&self, error: Error) -> Error {
        match (error, &self.links) {
            (Error::UnknownNode { id }, Some(path)) => {
                // The file has been read once; without a line the message stands.
                let line = io::locate_id(path, &id).unwrap_or_default();
                let found = format!("node {}", quote(&id));
                let expected = "links between an unseen node and a training node";
                Error::input(path, line, found, expected)
            }
            (other, _) => other,
        }
    }
}

impl Unseen {
    /// Reads a file; `view` says of which view it is where the file does not.
    pub fn read(
        model: &Fitted,
        file: &FeatureFile,
        view: Option<&str>,
        nodes: Option<&Nodes>,
    ) -> Result<Unseen, Error> {
        let place = model.view(file.view.as_deref().or(view))?;
        let name = model.views()[place].name.as_str();
        let features = match nodes {
            Some(nodes) => {
                nodes.features(&file.path, Some(name).filter(|name| !name.is_empty()))?
            }
            None => io::read_features(&file.path)?,
        };
        Ok(Unseen {
            view: place,
            features,
            path: file.path.clone(),
        })
    }

    /// Their embeddings.
    pub fn embed(&self, model: &Fitted, links: Option<&Graph>) -> Result<Vec<f32>, Error> {
        let view = model.views()[self.view].name.as_str();
        let values = model.embed_view(Some(view), &self.features, links);
        values.map_err(|error| self.in_file(error))
    }

    /// The same as the model's recommended embeddings.
    pub fn recommend(&self, model: &Fitted) -> Result<Vec<f32>, Error> {
        let view = model.views()[self.view].name.as_str();
        let values = model.embed_recommended(Some(view), &self.features);
        values.map_err(|error| self.in_file(error))
    }

    fn in_file(&self, error: Error) -> Error {
        match &error {
            Error::Data {
                subject: Subject::Features { .. },
                ..
            } => error.in_file(&self.path, None),
            _ => error,
        }
    }
}

impl Embedded {
    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The embedding of a row.
    pub fn row(&self, row: usize, dim: usize) -> &[f32] {
        &self.values[row * dim..(row + 1) * dim]
    }
}

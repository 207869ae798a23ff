//! A model with the links that are to be judged, and the data vectors of its
//! nodes where there are any.

use std::path::PathBuf;

use clap::Args;
use linkproof::error::{Subject, quote};
use linkproof::io::load;
use linkproof::io::{self, Files};
use linkproof::trust::audit::judged_data;
use linkproof::{Dataset, Error, Features, Fitted};

use crate::args::{FeatureFile, LinkRuleArgs};
use crate::data::in_links;
use crate::exit::Usage;
use crate::nodes::Nodes;

/// The files of a judgement.
#[derive(Debug, Clone, Args)]
pub struct JudgedArgs {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Links to judge, between nodes of the model
    #[arg(long, value_name = "FILE")]
    links: PathBuf,
    /// Data vectors of the model's nodes, as it was fitted with; NAME=FILE for a
    /// view
    #[arg(long, value_name = "[NAME=]FILE")]
    features: Vec<FeatureFile>,
    /// Node ids in the row order of the data vectors; NAME=FILE for a view
    #[arg(long, value_name = "[NAME=]FILE")]
    nodes: Vec<FeatureFile>,
    #[command(flatten)]
    pub rules: LinkRuleArgs,
}

/// Folds of links, each judged by a fit to the others.
pub const FOLDS: usize = 5;

impl JudgedArgs {
    /// Refuses ids of data vectors where there are none: nobody would read them.
    pub fn check(&self) -> Result<(), Usage> {
        match self.nodes.is_empty() || !self.features.is_empty() {
            true => Ok(()),
            false => Err(Usage::new(
                "--nodes: nobody reads it without data vectors; expected --features FILE too (ids and \
                 names are those of the model)",
            )),
        }
    }

    /// The files that are read.
    pub fn files(&self) -> Files {
        Files::default()
            .reads_model(&self.model)
            .reads([&self.links])
            .reads(self.features.iter().map(|file| &file.path))
            .reads(self.nodes.iter().map(|file| &file.path))
    }

    /// Reads the files: the model, and the links to judge with what is known of
    /// its nodes.
    pub fn read(&self) -> anyhow::Result<(Fitted, Dataset)> {
        let model = load(&self.model)?.model;
        let graph = io::read_links(&self.links, &self.rules.rules_of(&model))?;
        let features = self.features(&model)?;
        let data = judged_data(&model, graph, features);
        let data = data.map_err(|error| self.in_files(&model, error))?;
        Ok((model, data))
    }

    /// The data vectors of each view that has some.
    fn features(&self, model: &Fitted) -> anyhow::Result<Vec<(String, Features)>> {
        let nodes = Nodes::read(&self.nodes)?;
        let mut features: Vec<(String, Features)> = Vec::new();
        for FeatureFile { view, path } in &self.features {
            if view.is_none() && model.is_directed() {
                // Of sources and targets alike.
                let read = match &nodes {
                    Some(nodes) => nodes.features(path, None)?,
                    None => io::read_features(path)?,
                };
                let both = model.views().iter().map(|view| view.name.clone());
                features.extend(both.map(|name| (name, read.clone())));
                continue;
            }
            let here = &model.views()[model.view(view.as_deref())?];
            if features.iter().any(|(name, _)| *name == here.name) {
                return Err(Usage::new(format!(
                    "--features {}: another file has the data vectors of the same view; \
                     expected one for each view",
                    path.display()
                ))
                .into());
            }
            let read = match &nodes {
                Some(nodes) => nodes.features(path, view.as_deref())?,
                None => io::read_features(path)?,
            };
            let (found, inputs) = (read.matrix().n_columns(), here.network.spec().inputs);
            if !here.network.is_table() && found != inputs {
                let found = format!("data vectors of {found} entries");
                let expected = format!("{inputs} entries, as the model was fitted with");
                return Err(Error::input(path, None, found, expected).into());
            }
            features.push((here.name.clone(), read));
        }
        Ok(features)
    }

    /// Says which file links are from, and where a weight stands in it that a fit
    /// found too large.
    pub fn in_links(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast() {
            Ok(
                error @ Error::Data {
                    subject: Subject::Links,
                    ..
                },
            ) => error.in_file(&self.links, None).into(),
            Ok(error) => in_links(&self.links, error).into(),
            Err(other) => other,
        }
    }

    /// The library knows views and ids, and we know their files.
    fn in_files(&self, model: &Fitted, error: Error) -> Error {
        match &error {
            Error::UnknownNode { id, .. } => {
                let line = io::locate_id(&self.links, id).unwrap_or_default();
                let found = format!("node {}, which the model does not know", quote(id));
                let nodes = self.model.join("nodes.csv");
                let expected = format!("ids of {}", nodes.display());
                Error::input(&self.links, line, found, expected)
            }
            Error::Data {
                subject: Subject::Features { view: Some(name) },
                ..
            } => {
                let of_view = |file: &&FeatureFile| {
                    let view = model.view(file.view.as_deref()).unwrap_or_default();
                    *name == model.views()[view].name
                };
                match self.features.iter().find(of_view) {
                    Some(file) => error.in_file(&file.path, None),
                    None => error,
                }
            }
            _ => in_links(&self.links, error),
        }
    }
}

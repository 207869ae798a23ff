//! A model with the links that are to be judged, and the data vectors of its
//! nodes where there are any.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::audit::judged_data;
use linkproof::error::{Subject, quote};
use linkproof::io::{Files, InputReader, LinkEvidence, Stored, ViewFile, load};
use linkproof::judge::EvidenceColumn;
use linkproof::{Dataset, Error, Features, Fitted};

use crate::args::{LinkRuleArgs, check_views, quoted};
use crate::exit::Usage;

/// The files of a judgement.
#[derive(Debug, Clone, Args)]
pub struct JudgedArgs {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Links to judge, between nodes of the model [default: those of the model]
    #[arg(long, value_name = "FILE")]
    links: Option<PathBuf>,
    /// Data vectors of the model's nodes, as it was fitted with; NAME=FILE for a
    /// view
    #[arg(long, value_name = "[NAME=]FILE")]
    features: Vec<ViewFile>,
    /// Node ids in the row order of the data vectors; NAME=FILE for a view
    #[arg(long, value_name = "[NAME=]FILE")]
    nodes: Vec<ViewFile>,
    #[command(flatten)]
    pub rules: LinkRuleArgs,
}

impl JudgedArgs {
    /// Refuses ids of data vectors where there are none: nobody would read them.
    pub fn check(&self) -> Result<(), Usage> {
        check_views("--nodes", &self.nodes)?;
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
            .reads(&self.links)
            .reads(self.features.iter().map(|file| &file.path))
            .reads(self.nodes.iter().map(|file| &file.path))
    }

    /// The model's folder.
    pub fn folder(&self) -> &Path {
        &self.model
    }

    /// The file of the links, if they are not the model's.
    pub fn links(&self) -> Option<&Path> {
        self.links.as_deref()
    }

    /// The model, and the links if they are not its own, as options.
    pub fn typed(&self, is_own: bool) -> String {
        let shown = |path: &Path| quoted(&path.display().to_string());
        let model = format!("--model {}", shown(&self.model));
        match self.links.as_deref().filter(|_| !is_own) {
            Some(links) => format!("{model} --links {}", shown(links)),
            None => model,
        }
    }

    /// Reads the model.
    pub fn model(&self) -> Result<Stored, Error> {
        load(&self.model)
    }

    /// Reads the links to judge with what is known of the model's nodes; none if no file is
    /// given. Columns that are `evidence` are no weights.
    pub fn data(
        &self,
        model: &Fitted,
        evidence: &[String],
    ) -> anyhow::Result<(Option<Dataset>, Vec<EvidenceColumn>)> {
        if self.links.is_none() && self.features.is_empty() {
            return Ok((None, Vec::new()));
        }
        let mut reader = InputReader::new(&self.features);
        let mut known = LinkEvidence::default();
        let graph = match &self.links {
            Some(path) => {
                let rules = self.rules.rules_of(model);
                let links = reader.sources.read_links(path, &rules, evidence)?;
                known = links.evidence;
                links.graph
            }
            None => model.links().clone(),
        };
        reader.read_tables(&self.nodes, false)?;
        let data = judged_data(model, graph, self.features(model, &mut reader)?);
        let data = data.map_err(|error| self.in_files(model, error))?;
        let columns = known.columns(data.graph());
        Ok((Some(data), columns))
    }

    /// The data vectors of each view that has some.
    fn features(
        &self,
        model: &Fitted,
        reader: &mut InputReader,
    ) -> anyhow::Result<Vec<(String, Features)>> {
        let mut features: Vec<(String, Features)> = Vec::new();
        for ViewFile { view, path } in &self.features {
            let read = reader.features(path, view.as_deref())?;
            if view.is_none() && model.is_directed() {
                // Of sources and targets alike.
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

    /// Says which file links are from.
    pub fn in_links(&self, error: anyhow::Error) -> anyhow::Error {
        match (&self.links, error.downcast()) {
            (
                Some(links),
                Ok(
                    error @ Error::Data {
                        subject: Subject::Links,
                        ..
                    },
                ),
            ) => error.in_file(links, None).into(),
            (_, Ok(error)) => error.into(),
            (_, Err(other)) => other,
        }
    }

    /// The library knows views and ids, and we know their files.
    fn in_files(&self, model: &Fitted, error: Error) -> Error {
        match &error {
            Error::UnknownNode {
                id,
                file: Some((links, line)),
                ..
            } => {
                let found = format!("node {}, which the model does not know", quote(id));
                let nodes = self.model.join("nodes.csv");
                Error::input(links, *line, found, format!("ids of {}", nodes.display()))
            }
            Error::Data {
                subject: Subject::Features { view: Some(name) },
                ..
            } => {
                let of_view = |file: &&ViewFile| {
                    let view = model.view(file.view.as_deref()).unwrap_or_default();
                    *name == model.views()[view].name
                };
                match self.features.iter().find(of_view) {
                    Some(file) => error.in_file(&file.path, None),
                    None => error,
                }
            }
            _ => error,
        }
    }
}

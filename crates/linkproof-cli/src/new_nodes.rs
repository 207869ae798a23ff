//! Unseen nodes that are to be averaged: their data vectors, and their links
//! where they bring some.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::error::quote;
use linkproof::graph::Link;
use linkproof::io::{self, LinkOptions};
use linkproof::smooth::{End, NewLink, Smoother};
use linkproof::{Error, Fitted};

use crate::args::FeatureFile;
use crate::data::Nodes;
use crate::exit::Usage;
use crate::judged::Judged;
use crate::unseen::Unseen;

/// The files of unseen nodes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Unseen nodes")]
pub struct NewArgs {
    /// Data vectors of unseen nodes: writes their embeddings instead
    #[arg(long, value_name = "[NAME=]FILE")]
    new_features: Option<FeatureFile>,
    /// Ids of the rows of --new-features: CSV with a header, the id first,
    /// optional columns view and row
    #[arg(long, value_name = "FILE", requires = "new_features")]
    new_nodes: Option<PathBuf>,
    /// Links of unseen nodes, to training nodes or to each other
    #[arg(long, value_name = "FILE", requires = "new_features")]
    new_links: Option<PathBuf>,
    /// View of the unseen nodes, where the model has several
    #[arg(long, value_name = "V", requires = "new_features")]
    view: Option<String>,
}

/// Unseen nodes, as read.
#[derive(Debug)]
pub struct NewNodes {
    /// Their ids and data vectors.
    pub unseen: Unseen,
    /// Their links, where a file has them.
    pub links: Option<Vec<NewLink>>,
    /// What the model's encoder makes of their data vectors.
    encoded: Vec<f32>,
    /// Whether the averages can be learnt from data vectors of training nodes.
    can_learn: bool,
}

/// The embeddings of unseen nodes.
#[derive(Debug)]
pub struct Smoothed {
    /// Row after row.
    pub values: Vec<f32>,
    /// The ridge of the regression, where one was needed.
    pub ridge: Option<f64>,
}

impl NewArgs {
    /// The files that are read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let features = self.new_features.iter().map(|file| file.path.as_path());
        let others = [&self.new_nodes, &self.new_links].into_iter().flatten();
        features.chain(others.map(PathBuf::as_path))
    }

    /// Reads the files, where there are any.
    pub fn read(&self, judged: &Judged, rules: &LinkOptions) -> anyhow::Result<Option<NewNodes>> {
        let Some(file) = &self.new_features else {
            return Ok(None);
        };
        let model = &judged.model;
        let nodes = Nodes::read(self.new_nodes.as_deref())?;
        let unseen = Unseen::read(model, file, self.view.as_deref(), nodes.as_ref())?;
        // Without their links also where the model averages data vectors: links
        // are judged by embeddings that have not seen them.
        let encoded = unseen.embed(model, None)?;
        let can_learn = judged.has_vectors(unseen.view);
        let links = match &self.new_links {
            Some(path) => Some(read_links(path, rules, model, &unseen)?),
            None if can_learn => None,
            None => {
                return Err(Usage::new(
                    "--new-features: without links of the unseen nodes, their averages are learnt \
                     from the data vectors that the model was fitted with; expected --features FILE \
                     with these, or --new-links FILE",
                )
                .into());
            }
        };
        Ok(Some(NewNodes {
            unseen,
            links,
            encoded,
            can_learn,
        }))
    }
}

impl NewNodes {
    /// Averages over links where a node has some, and otherwise what its data
    /// vector tells of the averages, or of the embedding where that is unknown.
    pub fn embed(&self, smoother: &Smoother<'_>, judged: &Judged) -> Result<Smoothed, Error> {
        let (view, vectors) = (self.unseen.view, self.unseen.features.matrix());
        let links = self.links.as_deref().unwrap_or_default();
        let mut values = smoother.embed(view, &self.encoded, links)?;
        let linked = self.linked(links);
        if !self.can_learn || linked.iter().all(|linked| *linked) {
            return Ok(Smoothed {
                values,
                ridge: None,
            });
        }
        let learnt = smoother.unseen(view, &judged.data)?;
        let told = learnt.embed(vectors)?;
        let dim = judged.model.dim();
        let rows = values.chunks_exact_mut(dim).zip(told.chunks_exact(dim));
        for ((row, told), _) in rows.zip(linked).filter(|(_, linked)| !linked) {
            row.copy_from_slice(told);
        }
        Ok(Smoothed {
            values,
            ridge: Some(learnt.ridge),
        })
    }

    /// Which nodes have links.
    fn linked(&self, links: &[NewLink]) -> Vec<bool> {
        let mut linked = vec![false; self.unseen.features.ids().len()];
        for link in links {
            linked[link.row as usize] = true;
            if let End::New(row) = link.end {
                linked[row as usize] = true;
            }
        }
        linked
    }
}

fn read_links(
    path: &Path,
    rules: &LinkOptions,
    model: &Fitted,
    unseen: &Unseen,
) -> Result<Vec<NewLink>, Error> {
    let graph = io::read_links(path, rules)?;
    let read = |link: Link| {
        let ids = [link.src, link.dst].map(|row| graph.ids().name(row as usize));
        let ends = [
            end_of(path, &ids[0], model, unseen)?,
            end_of(path, &ids[1], model, unseen)?,
        ];
        let [a, b] = [quote(&ids[0]), quote(&ids[1])];
        let wrong = |found: String, expected: &str| {
            // The file has been read once; without a line the message stands.
            let line = io::locate_link(path, [&ids[0], &ids[1]]).unwrap_or_default();
            Err(Error::input(path, line, found, expected))
        };
        let (row, end) = match ends {
            [End::New(row), end] | [end, End::New(row)] => (row, end),
            [End::Known(_), End::Known(_)] => {
                let found = format!("{a} and {b}, both training nodes");
                return wrong(found, "links that have an unseen node at one end at least");
            }
        };
        let other = match end {
            End::Known(row) => model.node_views()[row as usize] as usize,
            End::New(_) => unseen.view,
        };
        let (d, e) = (unseen.view.min(other), unseen.view.max(other));
        if !model.view_pairs().contains(&(d, e)) {
            let [d, e] = [d, e].map(|view| model.views()[view].name.as_str());
            let found = format!("{a} and {b}, of the views {} and {}", quote(d), quote(e));
            return wrong(found, "a pair of views that took part in the fit");
        }
        let weight = link.weight;
        Ok(NewLink { row, end, weight })
    };
    graph.links().map(read).collect()
}

/// The node of an id.
fn end_of(path: &Path, id: &str, model: &Fitted, unseen: &Unseen) -> Result<End, Error> {
    let (found, expected) = match (unseen.features.ids().row(id), model.ids().row(id)) {
        (Some(row), None) => return Ok(End::New(row)),
        (None, Some(row)) => return Ok(End::Known(row)),
        (None, None) => (
            format!("node {}", quote(id)),
            "ids of --new-features or of the model",
        ),
        (Some(_), Some(_)) => (
            format!(
                "node {}, which is an unseen node and a training node",
                quote(id)
            ),
            "ids that tell them apart: --new-nodes FILE gives the unseen nodes others",
        ),
    };
    let line = io::locate_id(path, id).unwrap_or_default();
    Err(Error::input(path, line, found, expected))
}

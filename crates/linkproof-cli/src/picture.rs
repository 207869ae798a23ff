//! A model as a picture: where its nodes are drawn, the page and the plot.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use linkproof::drawing::{Panel, picture};
use linkproof::io::{self, Labels};
use linkproof::layout::{Layout, Method, layout};
use linkproof::report::{Classes, Report};
use linkproof::{Error, Fitted, Graph};
use serde_json::{Map, Value};

use crate::args::quoted;
use crate::progress::Progress;
use crate::session::Session;

/// What `--layout` takes.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum OnLayout {
    /// Neighbours in small graphs, principal components in large ones
    #[default]
    Auto,
    /// Principal components
    Pca,
    /// Neighbours, in the manner of UMAP
    Neighbors,
}

/// Links that a plot draws at most: every so many of more.
const MOST_DRAWN: usize = 20_000;

/// A model with its links and what else a picture shows.
pub struct Pictured<'a> {
    pub model: &'a Fitted,
    pub links: &'a Graph,
    pub classes: Option<Classes>,
}

/// Classes of nodes from labels.
pub fn classes(labels: &Labels, model: &Fitted) -> Classes {
    let names = labels.classes();
    Classes {
        names: (0..names.len())
            .map(|place| names.name(place).to_owned())
            .collect(),
        codes: labels.of(model.ids()),
    }
}

/// Classes of nodes from a file, which must know some of them.
pub fn read_classes(path: &Path, model: &Fitted) -> Result<Classes, Error> {
    let labels = io::read_labels(path)?;
    let found = classes(&labels, model);
    if found.codes.iter().all(Option::is_none) {
        let found = format!("labels of nodes such as '{}' only", labels.nodes().name(0));
        return Err(Error::input(path, None, found, "ids of nodes of the model"));
    }
    Ok(found)
}

impl Pictured<'_> {
    /// Finds where the nodes are drawn.
    pub fn layout(&self, asked: OnLayout, progress: &mut Progress) -> Result<Layout, Error> {
        let method = match asked {
            OnLayout::Auto => None,
            OnLayout::Pca => Some(Method::Principal),
            OnLayout::Neighbors => Some(Method::Neighbors),
        };
        progress.say("laying the nodes out");
        let model = self.model;
        let (y, n, dim) = (model.embeddings(), model.n_nodes(), model.dim());
        layout(y, n, dim, method, model.params().seed, &mut |done, all| {
            progress.count(done as u64, all as u64, "rounds of the layout");
            !Session::is_stopped()
        })
    }

    /// Writes the page.
    pub fn write_page(
        &self,
        path: &Path,
        title: &str,
        record: &Map<String, Value>,
        layout: &Layout,
    ) -> Result<(), Error> {
        let report = Report {
            title,
            model: self.model,
            links: self.links,
            record,
            command_line: command_line(record),
            classes: self.classes.as_ref(),
            layout,
        };
        let page = report.page()?;
        io::write_file(path, |file| file.write_all(page.as_bytes()))
    }

    /// Writes the nodes as a picture, .svg or .png.
    pub fn write_plot(&self, path: &Path, layout: &Layout) -> Result<(), Error> {
        let n = self.model.n_nodes();
        let colours: Vec<u32> = match &self.classes {
            Some(classes) => classes
                .codes
                .iter()
                .map(|code| code.map_or(0, |code| code + 1))
                .collect(),
            None => self.model.node_views().to_vec(),
        };
        let step = self.links.n_links().div_ceil(MOST_DRAWN).max(1);
        let links = self.links.links().step_by(step);
        let panel = Panel {
            title: format!("{n} nodes, {}", layout.method),
            points: layout.points.as_flattened(),
            clusters: &colours,
            links: links.map(|link| (link.src, link.dst, false)).collect(),
        };
        io::write_drawing(path, &picture("Embeddings", &panel))
    }
}

/// The command that made a model, as a shell takes it.
fn command_line(record: &Map<String, Value>) -> Option<String> {
    let words = record.get("command")?.as_array()?;
    let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(quoted)).collect();
    Some(words?.join(" "))
}

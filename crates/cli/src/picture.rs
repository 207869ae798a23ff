//! A model as a picture: where its nodes are drawn, the page and the plot.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use linkproof::io;
use linkproof::model::Classes;
use linkproof::{Error, Fitted};
use linkproof_pictures::drawing::{Drawing, NO_CLUSTER, Panel, picture};
use linkproof_pictures::layout::{Layout, Method, layout};
use linkproof_pictures::report::Page;
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

/// The most links that a plot draws; of more, an even sample.
const MOST_DRAWN: usize = 20_000;

/// The most nodes whose names a plot tries to write: those with the most links.
const MOST_NAMED: usize = 40;

/// A model and what else a picture shows.
pub struct Pictured<'a> {
    pub model: &'a Fitted,
    pub classes: Option<&'a Classes>,
    /// The seed of the layout.
    pub seed: u64,
}

/// A file for a picture, as typed.
pub fn picture_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_svg = path
        .extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("svg"));
    if is_svg {
        return Ok(path);
    }
    Err("expected a name that ends in .svg (browsers and editors turn it into a .png)".to_owned())
}

impl Pictured<'_> {
    /// Finds where the nodes are drawn.
    pub fn layout(&self, asked: OnLayout, progress: &mut Progress) -> Result<Layout, Error> {
        let model = self.model;
        let rows = (model.recommended(), model.n_nodes(), model.dim());
        self.layout_of(rows, asked, progress)
    }

    /// The same of each node once: of a directed model by both of its embeddings.
    pub fn layout_of_nodes(
        &self,
        asked: OnLayout,
        progress: &mut Progress,
    ) -> Result<Layout, Error> {
        let model = self.model;
        let (y, width) = model.by_node(model.recommended(), model.dim());
        self.layout_of((&y, model.node_ids().len(), width), asked, progress)
    }

    fn layout_of(
        &self,
        (y, n, dim): (&[f32], usize, usize),
        asked: OnLayout,
        progress: &mut Progress,
    ) -> Result<Layout, Error> {
        let method = match asked {
            OnLayout::Auto => None,
            OnLayout::Pca => Some(Method::Principal),
            OnLayout::Neighbors => Some(Method::Neighbors),
        };
        progress.say("laying the nodes out");
        let found = layout(y, n, dim, method, self.seed, &mut |done, all| {
            progress.count(done as u64, all as u64, "rounds of the layout");
            !Session::is_stopped()
        })?;
        match Session::is_stopped() {
            true => Err(Error::Interrupted { step: 0 }),
            false => Ok(found),
        }
    }

    /// Writes the page.
    pub fn write_page(
        &self,
        path: &Path,
        title: &str,
        record: &Map<String, Value>,
        layout: &Layout,
    ) -> Result<(), Error> {
        let page = Page {
            title,
            model: self.model,
            links: self.model.links(),
            record,
            command_line: command_line(record),
            classes: self.classes,
            layout,
            goes_on: &|| !Session::is_stopped(),
        };
        let html = page.html()?;
        io::write_file(path, |file| file.write_all(html.as_bytes()))
    }

    /// Writes the nodes as a picture.
    pub fn write_plot(&self, path: &Path, layout: &Layout) -> Result<(), Error> {
        let n = self.model.n_nodes();
        // Nodes without a class are grey.
        let colours: Vec<u32> = match self.classes {
            Some(classes) => {
                let colour = |code: &Option<u32>| code.unwrap_or(NO_CLUSTER);
                classes.codes.iter().map(colour).collect()
            }
            None => self.model.node_views().to_vec(),
        };
        let mut nodes: Vec<u32> = (0..n as u32).collect();
        let degrees: Vec<u32> = self.model.links().degrees();
        nodes.sort_by_key(|&node| std::cmp::Reverse(degrees[node as usize]));
        let title = |node: u32| Some((node, self.model.title(node as usize)?));
        let names = nodes.into_iter().filter_map(title).take(MOST_NAMED);
        let links = self.model.links();
        let step = links.n_links().div_ceil(MOST_DRAWN).max(1);
        let links = links.links().step_by(step);
        let panel = Panel {
            title: format!("{n} nodes, {}", layout.method),
            points: layout.points.as_flattened(),
            clusters: &colours,
            links: links.map(|link| (link.src, link.dst, false)).collect(),
            names: names.collect(),
        };
        write_drawing(path, &picture("Embeddings", &panel))
    }
}

/// The command that made a model, as a shell takes it.
fn command_line(record: &Map<String, Value>) -> Option<String> {
    let words = record.get("command")?.as_array()?;
    let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(quoted)).collect();
    Some(words?.join(" "))
}

/// Writes a picture.
pub fn write_drawing(path: impl AsRef<Path>, drawing: &Drawing) -> Result<(), Error> {
    io::write_file(path, |file| file.write_all(drawing.to_svg().as_bytes()))
}

//! A model as a picture: where its nodes are drawn, the page and the plot.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use linkproof::drawing::{NO_CLUSTER, Panel, picture};
use linkproof::error::quote;
use linkproof::io::{self, Labels};
use linkproof::layout::{Layout, Method, layout};
use linkproof::report::{Classes, Page};
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
    /// The seed of the layout.
    pub seed: u64,
}

/// Classes of nodes from labels: numbers in their order, other names by letter.
pub fn classes(labels: &Labels, model: &Fitted) -> Classes {
    let names = labels.classes();
    let name = |place: &u32| names.name(*place as usize);
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by(|a, b| {
        let number = |place: &u32| name(place).parse::<f64>().unwrap_or(f64::INFINITY);
        let numbers = number(a).total_cmp(&number(b));
        numbers.then_with(|| name(a).cmp(name(b)))
    });
    let mut rank = vec![0; order.len()];
    for (place, &class) in order.iter().enumerate() {
        rank[class as usize] = place as u32;
    }
    let codes = labels.of(model.ids());
    Classes {
        names: order.iter().map(|place| name(place).to_owned()).collect(),
        codes: codes
            .into_iter()
            .map(|code| code.map(|code| rank[code as usize]))
            .collect(),
    }
}

/// A file for a picture, as typed.
pub fn picture_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let ending = path.extension().unwrap_or_default();
    match ending.eq_ignore_ascii_case("svg") || ending.eq_ignore_ascii_case("png") {
        true => Ok(path),
        false => Err("expected a name that ends in .svg or .png".to_owned()),
    }
}

/// Classes of nodes from a file, which must know some of them.
pub fn read_classes(path: &Path, model: &Fitted) -> Result<Classes, Error> {
    let labels = io::read_labels(path)?;
    let found = classes(&labels, model);
    if found.codes.iter().all(Option::is_none) {
        let found = format!(
            "labels of nodes such as {} only",
            quote(labels.nodes().name(0))
        );
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
        let (y, n, dim) = (model.recommended(), model.n_nodes(), model.dim());
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
            links: self.links,
            record,
            command_line: command_line(record),
            classes: self.classes.as_ref(),
            layout,
            goes_on: &|| !Session::is_stopped(),
        };
        let html = page.html()?;
        io::write_file(path, |file| file.write_all(html.as_bytes()))
    }

    /// Writes the nodes as a picture, .svg or .png.
    pub fn write_plot(&self, path: &Path, layout: &Layout) -> Result<(), Error> {
        let n = self.model.n_nodes();
        // Nodes without a class are grey.
        let colours: Vec<u32> = match &self.classes {
            Some(classes) => {
                let colour = |code: &Option<u32>| code.unwrap_or(NO_CLUSTER);
                classes.codes.iter().map(colour).collect()
            }
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

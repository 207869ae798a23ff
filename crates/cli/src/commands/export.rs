//! `linkproof export`: a model as a graph for other programs.

use std::path::PathBuf;

use clap::Args;
use linkproof::io::{Files, GraphFormat, ModelGraph, Stored, load, write_graph};
use linkproof::text::counted;
use serde_json::json;

use crate::exit::Usage;
use crate::nodes::named_by;
use crate::picture::{OnLayout, Pictured};
use crate::progress::Progress;
use crate::session::Session;

/// Write a model as a graph that other programs read
///
/// GraphML is for Gephi, Cytoscape, igraph and others; JSON is NetworkX's node-link
/// format. Nodes have their id and label (the name, or else the id), two
/// coordinates x and y, view, class and class_name (the label that the fit was given, and
/// what it is called), and every column of the table of nodes; a column whose texts are all
/// numbers is one of numbers. Links have weight, mu (the expected weight) and, of a robust
/// fit, belief.
///
/// Ids are texts. Where nodes of two kinds share ids, these have their view before, and a
/// column node has them alone. XML has no place for control characters: an id with one is
/// refused, in other texts they are replaced.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof export --model model --out graph.graphml\n  \
    linkproof export --model model --format json --embeddings --out graph.json")]
pub struct ExportArgs {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Format of the file: graphml or json [default: what its name ends in]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Give nodes their embeddings too, y0, y1, ...
    #[arg(long)]
    embeddings: bool,
    /// How more than two dimensions become two
    #[arg(long, value_name = "HOW", value_enum, default_value = "auto")]
    layout: OnLayout,
    /// Column of the model's nodes.csv to label nodes by [default: name, if there is one]
    #[arg(long, value_name = "COLUMN")]
    name: Option<String>,
    /// File to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &ExportArgs, session: &Session) -> anyhow::Result<()> {
    let format = format_of(args)?;
    let files = Files::default().reads_model(&args.model);
    files.writes([&args.out]).check()?;
    let mut progress = Progress::start(session, "reading");
    let Stored { model, .. } = load(&args.model)?;
    let model = named_by(model, args.name.as_deref())?;
    let pictured = Pictured {
        model: &model,
        classes: model.classes(),
        seed: session.seed().unwrap_or(model.params().seed),
    };
    let layout = pictured.layout_of_nodes(args.layout, &mut progress)?;
    progress.say("writing");
    let graph = ModelGraph {
        model: &model,
        points: &layout.points,
        embeddings: args.embeddings,
    };
    let replaced = write_graph(&args.out, format, &graph)?;
    progress.end();
    let (nodes, links) = (model.node_ids().len(), model.links().n_links());
    let out = args.out.display().to_string();
    let mut words = format!(
        "{} and {}, written to {out} as {format}",
        counted(nodes, "node"),
        counted(links, "link")
    );
    if replaced > 0 {
        words.push_str(&format!(
            "\n  note      {} in names or columns, which XML has no place for, replaced",
            counted(replaced, "control character")
        ));
    }
    let json = json!({ "out": out, "format": format, "nodes": nodes, "links": links,
        "layout": layout.method.to_string(), "replaced_characters": replaced });
    session.finish(&json, &words)
}

fn format_of(args: &ExportArgs) -> Result<GraphFormat, Usage> {
    let ending = args.out.extension().unwrap_or_default().to_string_lossy();
    let name = args.format.as_deref().unwrap_or(&ending);
    name.to_ascii_lowercase().parse().map_err(|_| {
        let place = match &args.format {
            Some(name) => format!("--format {name}"),
            None => format!("--out {}: the ending", args.out.display()),
        };
        Usage::new(format!(
            "{place}: expected .graphml or .json (GEXF is gone: Gephi reads GraphML)"
        ))
    })
}

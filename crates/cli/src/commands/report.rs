//! `linkproof report`: a model folder as one page.

use std::path::PathBuf;

use clap::Args;
use linkproof::Error;
use linkproof::io::Files;
use linkproof::io::{Sources, Stored, fit_json, load};
use linkproof::text::counted;
use serde_json::{Value, json};

use crate::exit::Usage;
use crate::labels::KnownLabels;
use crate::nodes::named_by;
use crate::picture::{OnLayout, Pictured, picture_file};
use crate::progress::Progress;
use crate::session::Session;

/// Show a model as one page that works without a network
///
/// Writes one HTML file with everything in it: the verdict of a robust fit, the nodes
/// as points to zoom into, to search and to colour, links and suspects, the training
/// curve, the choice of settings, degrees and weights beside those that the fit
/// expects, the least believed links with what spoke for and against them, and how
/// to make the model again. Open it by a double-click.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof report model\n  \
    linkproof report model --labels labels.csv --layout pca --out model.html\n  \
    linkproof report model --plot embedding.svg")]
pub struct ReportArgs {
    /// Model folder
    #[arg(value_name = "DIR", required_unless_present = "model")]
    folder: Option<PathBuf>,
    /// Model folder, as other commands have it
    #[arg(long, value_name = "DIR", conflicts_with = "folder")]
    model: Option<PathBuf>,
    /// Labels node,label to colour by [default: those that fit was given]
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Column of the model's nodes.csv to show beside ids [default: name, if there is one]
    #[arg(long, value_name = "COLUMN")]
    name: Option<String>,
    /// How more than two dimensions become two
    #[arg(long, value_name = "HOW", value_enum, default_value = "auto")]
    layout: OnLayout,
    /// File to write [default: report.html in the model folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Picture of the nodes to write too, .svg
    #[arg(long, value_name = "FILE", value_parser = picture_file)]
    plot: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &ReportArgs, session: &Session) -> anyhow::Result<()> {
    let out = args.out.clone();
    let folder = args.folder.as_ref().or(args.model.as_ref());
    let folder = folder.ok_or_else(|| Usage::new("give the folder of a model"))?;
    let out = out.unwrap_or_else(|| folder.join("report.html"));
    let files = Files::default().reads_model(folder).reads(&args.labels);
    files.writes([&out]).writes(&args.plot).check()?;
    let mut progress = Progress::start(session, "reading");
    let Stored { model, record } = load(folder)?;
    let model = named_by(model, args.name.as_deref())?;
    let given = args.labels.as_deref();
    let given =
        given.map(|path| KnownLabels::read(&Sources::default(), path, model.ids(), "model"));
    let given = given.transpose()?.map(|known| known.classes);
    let Value::Object(record) = fit_json(&model, &record)? else {
        return Err(Error::data("fit.json", "no object", "a report").into());
    };
    let pictured = Pictured {
        model: &model,
        classes: given.as_ref().or(model.classes()),
        seed: session.seed().unwrap_or(model.params().seed),
    };
    let layout = pictured.layout(args.layout, &mut progress)?;
    progress.say("writing");
    // The smaller one first: where it cannot be written, neither is.
    if let Some(path) = &args.plot {
        pictured.write_plot(path, &layout)?;
    }
    pictured.write_page(&out, &title(folder), &record, &layout)?;
    progress.end();
    let plot = args.plot.as_ref().map(|path| path.display().to_string());
    let bytes = std::fs::metadata(&out)
        .map(|found| found.len())
        .unwrap_or_default();
    let json = json!({ "out": out.display().to_string(), "plot": plot, "bytes": bytes,
        "nodes": model.n_nodes(), "links": model.links().n_links(), "layout": layout.method.to_string() });
    let more = plot.map_or_else(String::new, |plot| format!(", the picture to {plot}"));
    let words = format!(
        "{} and {}, drawn by {}\nWritten to {} ({:.1} MB){more}. Open it in a browser.",
        counted(model.n_nodes(), "node"),
        counted(model.links().n_links(), "link"),
        layout.method,
        out.display(),
        bytes as f64 / 1e6,
    );
    session.finish(&json, &words)
}

/// A model is called what its folder is.
pub fn title(folder: &std::path::Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name = absolute
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "model".to_owned())
}

//! `linkproof embed`: unseen nodes from their data vectors.

use std::path::PathBuf;

use clap::Args;
use linkproof::Fitted;
use linkproof::io::{ViewFile, load};
use linkproof::robust::Newcomers;
use linkproof::text::counted;
use serde_json::json;

use crate::session::Session;
use crate::unseen::{Unseen, UnseenArgs};
use crate::vectors;

/// Embed unseen nodes from their data vectors, and from links
///
/// The vectors belong beside those of embeddings.npy in the model folder. Where a
/// robust fit averaged these over links, the new ones are what data vectors tell
/// of the averages. Nodes that bring links (--links) are averaged over these, each
/// as far as it is believed; they are judged by data vectors and embeddings. Nodes
/// whose links are hardly believed are embedded from their data vectors alone.
///
/// Of a model of directed links each row has the dimensions of the node as a source and
/// then those as a target; --view source or --view target chooses one.
///
/// The ending of --out chooses the format: .npy, .csv, .parquet, or .txt for
/// the text format of word2vec. A .npy file has no room for ids: unless they
/// are the row numbers, they go into a file beside it, NAME.nodes.csv for
/// NAME.npy.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof embed --model model --features new.npy --out new_embeddings.npy\n  \
    linkproof embed --model model --features new.csv --links ties.csv --out new_embeddings.npy\n  \
    linkproof embed --model model --features new.csv --view text --out new_embeddings.csv")]
pub struct EmbedArgs {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Data vectors of the unseen nodes: .npy, .mtx, or CSV or Parquet with
    /// the id first
    #[arg(long, value_name = "FILE")]
    features: ViewFile,
    /// File to write: .npy, .csv, .parquet or .txt
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    unseen: UnseenArgs,
}

/// Runs the command.
pub fn run(args: &EmbedArgs, session: &Session) -> anyhow::Result<()> {
    let format = vectors::format_of(&args.out)?;
    let files = (args.unseen).files(&args.model, std::slice::from_ref(&args.features));
    files.writes(vectors::outputs(&args.out, format)).check()?;
    let model = load(&args.model)?.model;
    let mut found = args.unseen.recommend(&model, &args.features)?.into_iter();
    if let Some((unseen, found)) = found
        .next()
        .map(|first| beside(&model, first, found.next()))
    {
        let ids = unseen.features.ids();
        let dim = found.embeddings.len() / ids.len().max(1);
        vectors::write(&args.out, format, ids, dim, &found.embeddings)?;
        let out = args.out.display().to_string();
        let averaged = model.averaged().is_some();
        let links = unseen.links.as_ref().map(|found| found.links.len());
        let believed: Option<f64> = found.beliefs.as_ref().map(|all| all.iter().sum());
        let mut words = format!(
            "{} embedded in {}{}, written to {out}",
            counted(ids.len(), "node"),
            counted(dim, "dimension"),
            match averaged {
                true => ", as embeddings.npy is: averaged over believed links",
                false => "",
            }
        );
        if let Some(links) = links {
            words.push_str(&links_in_words(&model, links, believed, found.by_links));
        }
        let json = json!({ "out": out, "nodes": ids.len(), "dim": dim, "averaged": averaged,
                           "links": links, "believed": believed, "by_links": found.by_links });
        session.finish(&json, &words)?;
    }
    Ok(())
}

/// Unseen nodes with their embeddings as sources, and beside these as targets, where
/// there are both.
fn beside(
    model: &Fitted,
    (unseen, mut source): (Unseen, Newcomers),
    target: Option<(Unseen, Newcomers)>,
) -> (Unseen, Newcomers) {
    if let Some((_, target)) = target {
        let dim = model.dim();
        let both = source.embeddings.chunks_exact(dim);
        let both = both.zip(target.embeddings.chunks_exact(dim));
        let both = both.flat_map(|(source, target)| source.iter().chain(target));
        source.embeddings = both.copied().collect();
    }
    (unseen, source)
}

/// What became of links of unseen nodes.
fn links_in_words(model: &Fitted, links: usize, believed: Option<f64>, by_links: usize) -> String {
    let links = counted(links, "link");
    match (believed, model.believed()) {
        (Some(believed), _) => format!(
            "\n  links     {links}, of which about {believed:.0} are believed; {} embedded by them, \
             the others by data vectors alone",
            counted(by_links, "node"),
        ),
        (None, Some(_)) => {
            format!("\n  links     {links}, not used: this fit does not average over links")
        }
        (None, None) => format!("\n  links     {links} of {}", counted(by_links, "node")),
    }
}

//! `linkproof embed`: unseen nodes from their data vectors.

use std::path::PathBuf;

use clap::Args;
use linkproof::Fitted;
use serde_json::json;

use crate::args::FeatureFile;
use crate::session::{Session, counted};
use crate::unseen::UnseenArgs;
use crate::vectors;

/// Embed unseen nodes from their data vectors alone
///
/// The vectors belong beside those of embeddings.npy in the model folder. Where a
/// robust fit averaged these over links, the new ones are what data vectors tell
/// of the averages.
///
/// The ending of --out chooses the format: .npy, .csv, .parquet, or .txt for
/// the text format of word2vec. A .npy file has no room for ids: unless they
/// are the row numbers, they go into a file beside it, NAME.nodes.csv for
/// NAME.npy.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof embed --model model --features new.npy --out new_embeddings.npy\n  \
    linkproof embed --model model --features new.csv --view text --out new_embeddings.csv")]
pub struct EmbedArgs {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Data vectors of the unseen nodes: .npy, .mtx, or CSV or Parquet with
    /// the id first
    #[arg(long, value_name = "FILE")]
    features: FeatureFile,
    /// File to write: .npy, .csv, .parquet or .txt
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    unseen: UnseenArgs,
}

/// Runs the command.
pub fn run(args: &EmbedArgs, session: &Session) -> anyhow::Result<()> {
    let format = vectors::format_of(&args.out)?;
    let features = std::slice::from_ref(&args.features);
    let files = args.unseen.files(&args.model, features);
    files.writes(vectors::outputs(&args.out, format)).check()?;
    let model = Fitted::load(&args.model)?;
    for found in args.unseen.recommend(&model, features)? {
        let (n, dim) = (found.ids.len(), model.dim());
        vectors::write(&args.out, format, &found.ids, dim, &found.values)?;
        let out = args.out.display().to_string();
        let averaged = model.averaged().is_some();
        let words = format!(
            "{} embedded in {}{}, written to {out}",
            counted(n, "node"),
            counted(dim, "dimension"),
            match averaged {
                true => ", as embeddings.npy is: averaged over believed links",
                false => "",
            }
        );
        let json = json!({ "out": out, "nodes": n, "dim": dim, "averaged": averaged });
        session.finish(&json, &words)?;
    }
    Ok(())
}

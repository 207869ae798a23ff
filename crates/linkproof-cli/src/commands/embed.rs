//! `linkproof embed`: unseen nodes from their data vectors.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::Fitted;
use linkproof::ids::Ids;
use linkproof::io::{self, EmbeddingFormat};
use serde_json::json;

use crate::args::FeatureFile;
use crate::exit::Usage;
use crate::session::{Session, counted};
use crate::unseen::UnseenArgs;

/// Embed unseen nodes from their data vectors alone
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
    let format = format_of(&args.out)?;
    let model = Fitted::load(&args.model)?;
    let files = std::slice::from_ref(&args.features);
    for found in args.unseen.embed(&model, files)? {
        let (n, dim) = (found.ids.len(), model.dim());
        if format == EmbeddingFormat::Npy {
            write_ids(&args.out, &found.ids)?;
        }
        io::write_embeddings(&args.out, format, &found.ids, n, dim, &found.values)?;
        let out = args.out.display().to_string();
        let words = format!(
            "{} embedded in {}, written to {out}",
            counted(n, "node"),
            counted(dim, "dimension")
        );
        session.finish(&json!({ "out": out, "nodes": n, "dim": dim }), &words)?;
    }
    Ok(())
}

fn format_of(path: &Path) -> Result<EmbeddingFormat, Usage> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    match extension.to_ascii_lowercase().as_str() {
        "npy" => Ok(EmbeddingFormat::Npy),
        "csv" => Ok(EmbeddingFormat::Csv),
        "parquet" => Ok(EmbeddingFormat::Parquet),
        "txt" => Ok(EmbeddingFormat::Word2vec),
        _ => Err(Usage::new(format!(
            "--out {}: the ending chooses the format; expected .npy, .csv, .parquet or .txt",
            path.display()
        ))),
    }
}

/// Writes ids beside an `.npy` file, unless the row numbers say it all and no
/// ids of an earlier run stand there.
fn write_ids(out: &Path, ids: &Ids) -> linkproof::Result<()> {
    let path = out.with_extension("nodes.csv");
    match ids {
        Ids::Rows(_) if !path.exists() => Ok(()),
        ids => io::write_nodes(path, ids, None),
    }
}

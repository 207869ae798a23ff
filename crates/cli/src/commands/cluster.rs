//! `linkproof cluster`: k-means on embeddings.

use std::path::PathBuf;

use clap::Args;
use linkproof::io::{self, Field, Files};
use linkproof::measure::KMeans;
use serde_json::json;

use crate::args::whole;
use crate::session::{Session, counted};
use crate::vectors;

/// Cluster embeddings by k-means
///
/// Writes CSV node,cluster. Ids are those of the embeddings file; for .npy,
/// those of nodes.csv beside it, or else the row numbers.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof cluster --embeddings model/embeddings.npy --clusters 7 --out clusters.csv")]
pub struct ClusterArgs {
    /// Embeddings: .npy, or CSV or Parquet with the id first
    #[arg(long, value_name = "FILE")]
    embeddings: PathBuf,
    /// Number of clusters
    #[arg(long, value_name = "K", value_parser = whole)]
    clusters: usize,
    /// Random starts to try; the best one is kept
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole)]
    restarts: usize,
    /// CSV file to write: node,cluster
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &ClusterArgs, session: &Session) -> anyhow::Result<()> {
    let files = Files::default().reads(vectors::inputs(&args.embeddings));
    files.writes([&args.out]).check()?;
    let vectors = vectors::read(&args.embeddings)?;
    let kmeans = KMeans {
        restarts: args.restarts,
        ..KMeans::new(args.clusters, session.seed().unwrap_or(0))
    };
    let found = kmeans.fit(&vectors.values, vectors.n, vectors.k)?;
    io::write_table(&args.out, &["node", "cluster"], |rows| {
        for (row, &cluster) in found.labels.iter().enumerate() {
            let id = vectors.ids.name(row);
            rows.row(&[Field::Text(&id), Field::Whole(u64::from(cluster))])?;
        }
        Ok(())
    })?;
    let out = args.out.display().to_string();
    let words = format!(
        "{} in {} (inertia {:.6}), written to {out}",
        counted(vectors.n, "node"),
        counted(args.clusters, "cluster"),
        found.inertia
    );
    let json = json!({
        "out": out,
        "nodes": vectors.n,
        "clusters": args.clusters,
        "inertia": found.inertia,
        "iterations": found.iterations,
    });
    session.finish(&json, &words)
}

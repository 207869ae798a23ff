//! `linkproof cluster`: k-means on embeddings.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::io::{self, Field, Files};
use linkproof::measure::KMeans;
use linkproof::trust::robust::together;
use serde_json::json;

use crate::args::whole;
use crate::exit::Usage;
use crate::session::{Session, counted};
use crate::vectors;

/// Cluster embeddings by k-means
///
/// Writes CSV node,cluster. Ids are those of the embeddings file; for .npy,
/// those of nodes.csv beside it, or else the row numbers.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof cluster --embeddings model/embeddings.npy --clusters 7 --out clusters.csv\n  \
    linkproof cluster --embeddings model/embeddings.npy --model model --clusters 7 \\\n      \
    --out clusters.csv")]
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
    /// Model folder of these embeddings, fitted with --bootstrap: adds a column
    /// stability, the share of a node's cluster that stays with it in replicates
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// CSV file to write: node,cluster
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &ClusterArgs, session: &Session) -> anyhow::Result<()> {
    let files = Files::default().reads(vectors::inputs(&args.embeddings));
    let files = match &args.model {
        Some(model) => files.reads_model(model),
        None => files,
    };
    files.writes([&args.out]).check()?;
    let vectors = vectors::read(&args.embeddings)?;
    let kmeans = KMeans {
        restarts: args.restarts,
        ..KMeans::new(args.clusters, session.seed().unwrap_or(0))
    };
    let found = kmeans.fit(&vectors.values, vectors.n, vectors.k)?;
    let stable = match &args.model {
        Some(folder) => Some(stability(folder, &found.labels, kmeans.seed)?),
        None => None,
    };
    let mut columns = vec!["node", "cluster"];
    columns.extend(stable.as_ref().map(|_| "stability"));
    io::write_table(&args.out, &columns, |rows| {
        for (row, &cluster) in found.labels.iter().enumerate() {
            let id = vectors.ids.name(row);
            let mut fields = vec![Field::Text(&id), Field::Whole(u64::from(cluster))];
            fields.extend(stable.as_ref().map(|shares| Field::Real(shares[row])));
            rows.row(&fields)?;
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

/// How far each node's cluster stays with it in the replicates of a model.
fn stability(folder: &Path, clusters: &[u32], seed: u64) -> anyhow::Result<Vec<f64>> {
    let model = io::load(folder)?.model;
    let found = together(&model, clusters, seed)?;
    Ok(found.ok_or_else(|| {
        Usage::new(format!(
            "--model {}: found no replicates; expected a model that was fitted with --bootstrap",
            folder.display()
        ))
    })?)
}

//! `linkproof evaluate`: clusters against known labels.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::Error;
use linkproof::data::ids::Ids;
use linkproof::error::quote;
use linkproof::io::{self, Labels};
use linkproof::measure::{Contingency, KMeans};
use serde_json::json;

use crate::args::whole;
use crate::session::Session;
use crate::vectors;

/// Compare clusters of embeddings with known labels
///
/// Clusters the labelled rows by k-means and measures how well clusters and
/// labels agree: normalised mutual information, purity, adjusted Rand index,
/// and accuracy under the best matching. Rows without a label are left out
/// before the clustering.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof evaluate --embeddings model/embeddings.npy --labels labels.csv --json\n  \
    linkproof evaluate --predicted clusters.csv --labels labels.csv")]
pub struct EvaluateArgs {
    /// Embeddings: .npy (ids from nodes.csv beside it, else row numbers), or
    /// CSV or Parquet with the id first
    #[arg(long, value_name = "FILE", required_unless_present = "predicted")]
    embeddings: Option<PathBuf>,
    /// Labels: CSV node,label; negative or empty means none
    #[arg(long, value_name = "FILE")]
    labels: PathBuf,
    /// Number of clusters [default: as many as labels]
    #[arg(long, value_name = "K", conflicts_with = "predicted", value_parser = whole)]
    clusters: Option<usize>,
    /// Random starts of k-means to try; the best one is kept
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole)]
    restarts: usize,
    /// Clusters to measure instead of those of k-means: CSV node,cluster
    #[arg(long, value_name = "FILE")]
    predicted: Option<PathBuf>,
}

/// The classes and clusters of the labelled nodes.
struct Compared {
    classes: Vec<u32>,
    clusters: Vec<u32>,
}

/// Runs the command.
pub fn run(args: &EvaluateArgs, session: &Session) -> anyhow::Result<()> {
    let labels = io::read_labels(&args.labels)?;
    let compared = match (&args.predicted, &args.embeddings) {
        (Some(predicted), embeddings) => with_predicted(&labels, predicted, embeddings.as_deref())?,
        (None, Some(embeddings)) => with_kmeans(args, &labels, embeddings, session)?,
        (None, None) => Compared {
            classes: Vec::new(),
            clusters: Vec::new(),
        },
    };
    if compared.classes.is_empty() {
        let found = "no label of any of the nodes";
        let expected = "labels by the ids of the nodes (of nodes.csv beside .npy embeddings, \
                        else row numbers)";
        return Err(Error::input(&args.labels, None, found, expected).into());
    }
    let table = Contingency::new(&compared.classes, &compared.clusters)?;
    let (nmi, purity) = (table.nmi(), table.purity());
    let (ari, accuracy) = (table.ari(), table.accuracy());
    let (n, classes) = (compared.classes.len(), distinct(&compared.classes));
    let clusters = distinct(&compared.clusters);
    let words = format!(
        "{n} labelled nodes, {classes} labels, {clusters} clusters\n  \
         nmi       {nmi:.4}\n  purity    {purity:.4}\n  ari       {ari:.4}\n  accuracy  {accuracy:.4}"
    );
    let json = json!({
        "nmi": nmi,
        "purity": purity,
        "ari": ari,
        "accuracy": accuracy,
        "n": n,
        "classes": classes,
        "clusters": clusters,
    });
    session.finish(&json, &words)
}

fn with_kmeans(
    args: &EvaluateArgs,
    labels: &Labels,
    embeddings: &Path,
    session: &Session,
) -> Result<Compared, Error> {
    let vectors = vectors::read(embeddings)?;
    let mut classes = Vec::new();
    let mut points = Vec::new();
    let rows = vectors.values.chunks_exact(vectors.k);
    for (code, row) in labels.of(&vectors.ids).into_iter().zip(rows) {
        if let Some(code) = code {
            classes.push(code);
            points.extend_from_slice(row);
        }
    }
    let mut compared = Compared {
        classes,
        clusters: Vec::new(),
    };
    if !compared.classes.is_empty() {
        let clusters = args.clusters.unwrap_or_else(|| distinct(&compared.classes));
        let kmeans = KMeans {
            restarts: args.restarts,
            ..KMeans::new(clusters, session.seed().unwrap_or(0))
        };
        compared.clusters = kmeans
            .fit(&points, compared.classes.len(), vectors.k)?
            .labels;
    }
    Ok(compared)
}

fn with_predicted(
    labels: &Labels,
    path: &Path,
    embeddings: Option<&Path>,
) -> Result<Compared, Error> {
    let predicted = io::read_labels(path)?;
    let ids = match embeddings {
        Some(embeddings) => vectors::read(embeddings)?.ids,
        None => Ids::Names(predicted.nodes().clone()),
    };
    let mut compared = Compared {
        classes: Vec::new(),
        clusters: Vec::new(),
    };
    let clusters = predicted.of(&ids);
    for (row, (class, cluster)) in labels.of(&ids).into_iter().zip(clusters).enumerate() {
        let Some(class) = class else {
            continue;
        };
        let cluster = cluster.ok_or_else(|| {
            let found = format!("no cluster for node {}", quote(&ids.name(row)));
            Error::input(
                path,
                None,
                found,
                "a cluster of 0 or more for each labelled node",
            )
        })?;
        compared.classes.push(class);
        compared.clusters.push(cluster);
    }
    Ok(compared)
}

fn distinct(codes: &[u32]) -> usize {
    let mut codes = codes.to_vec();
    codes.sort_unstable();
    codes.dedup();
    codes.len()
}

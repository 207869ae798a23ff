//! `linkproof evaluate`: clusters against known labels.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::Error;
use linkproof::data::ids::Ids;
use linkproof::error::quote;
use linkproof::io::{self, InputReader, Labels, ViewFile};
use linkproof::measure::{Contingency, KMeans};
use serde_json::{Value, json};

use crate::args::whole;
use crate::session::Session;
use crate::vectors;

/// Compare clusters of embeddings with known labels
///
/// Clusters the labelled rows by k-means and measures how well clusters and
/// labels agree: normalised mutual information, purity, adjusted Rand index,
/// and accuracy under the best matching. Rows without a label are left out
/// before the clustering.
///
/// Give the data vectors, too (--features): the same is done with them, so that you
/// see what the embeddings are worth. Data vectors without a negative entry, such as
/// counts of words, are scaled to unit length first.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof evaluate --embeddings model/embeddings.npy --labels labels.csv --json\n  \
    linkproof evaluate --embeddings model/embeddings.npy --labels labels.csv \\\n      \
    --features x.mtx\n  \
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
    /// Data vectors of the nodes, to compare: .npy, .mtx, CSV or Parquet
    #[arg(
        long,
        value_name = "FILE",
        requires = "embeddings",
        conflicts_with = "predicted"
    )]
    features: Option<PathBuf>,
    /// Node ids in the row order of the data vectors
    #[arg(long, value_name = "FILE", requires = "features")]
    nodes: Option<PathBuf>,
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
    let found = Figures::new(&compared)?;
    let vectors = match &args.features {
        Some(path) => Some(Figures::new(&of_vectors(args, &labels, path, session)?)?),
        None => None,
    };
    let mut json = found.json();
    if let (Value::Object(fields), Some(vectors)) = (&mut json, &vectors) {
        fields.insert("features".to_owned(), vectors.json());
    }
    session.finish(&json, &words(&found, vectors.as_ref()))
}

/// How well clusters and labels agree.
struct Figures {
    n: usize,
    classes: usize,
    clusters: usize,
    measures: [(&'static str, f64); 4],
}

impl Figures {
    fn new(compared: &Compared) -> Result<Figures, Error> {
        let table = Contingency::new(&compared.classes, &compared.clusters)?;
        Ok(Figures {
            n: compared.classes.len(),
            classes: distinct(&compared.classes),
            clusters: distinct(&compared.clusters),
            measures: [
                ("nmi", table.nmi()),
                ("purity", table.purity()),
                ("ari", table.ari()),
                ("accuracy", table.accuracy()),
            ],
        })
    }

    fn json(&self) -> Value {
        let mut json = json!({ "n": self.n, "classes": self.classes, "clusters": self.clusters });
        for (name, value) in self.measures {
            json[name] = value.into();
        }
        json
    }
}

fn words(found: &Figures, vectors: Option<&Figures>) -> String {
    let mut text = format!(
        "{} labelled nodes, {} labels, {} clusters",
        found.n, found.classes, found.clusters
    );
    if vectors.is_some() {
        text.push_str("\n            embeddings  data vectors alone");
    }
    for (place, (name, value)) in found.measures.into_iter().enumerate() {
        text.push_str(&format!("\n  {name:<9} {value:.4}"));
        if let Some(vectors) = vectors {
            text.push_str(&format!("      {:.4}", vectors.measures[place].1));
        }
    }
    let Some(vectors) = vectors else {
        return text;
    };
    if vectors.n < found.n {
        let without = found.n - vectors.n;
        text.push_str(&format!("\n  {without} labelled nodes have no data vector"));
    }
    if vectors.measures[0].1 > found.measures[0].1 {
        text.push_str("\nThe data vectors alone do better here.");
    }
    text
}

/// Clusters of the data vectors of the labelled nodes.
fn of_vectors(
    args: &EvaluateArgs,
    labels: &Labels,
    path: &Path,
    session: &Session,
) -> anyhow::Result<Compared> {
    let known = match &args.embeddings {
        Some(embeddings) => vectors::read(embeddings)?.ids,
        None => Ids::Rows(0),
    };
    let mut reader = InputReader::default();
    let nodes = args.nodes.iter().map(|path| ViewFile {
        view: None,
        path: path.clone(),
    });
    reader.read_tables(&nodes.collect::<Vec<_>>(), false)?;
    let features = reader.features(path, None)?;
    let (ids, matrix) = features.into_parts();
    let labelled = labels.of(&known).into_iter().enumerate();
    let (rows, classes): (Vec<u32>, Vec<u32>) = labelled
        .filter_map(|(row, class)| Some((ids.row(&known.name(row))?, class?)))
        .unzip();
    if rows.is_empty() {
        let found = "no data vector of any labelled node";
        let expected = "data vectors by the ids of the embeddings (--nodes FILE names the rows)";
        return Err(Error::input(path, None, found, expected).into());
    }
    let (points, dim) = (vectors::points(path, &matrix, &rows)?, matrix.n_columns());
    Ok(Compared {
        clusters: clusters(args, &points, &classes, dim, session)?,
        classes,
    })
}

/// The clusters of points, as many as classes unless a number was asked for.
fn clusters(
    args: &EvaluateArgs,
    points: &[f32],
    classes: &[u32],
    dim: usize,
    session: &Session,
) -> Result<Vec<u32>, Error> {
    let kmeans = KMeans {
        restarts: args.restarts,
        ..KMeans::new(
            args.clusters.unwrap_or_else(|| distinct(classes)),
            session.seed().unwrap_or(0),
        )
    };
    Ok(kmeans.fit(points, classes.len(), dim)?.labels)
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
        compared.clusters = clusters(args, &points, &compared.classes, vectors.k, session)?;
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
        None => Ids::from(predicted.nodes().clone()),
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

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

/// Runs the command.
pub fn run(args: &EvaluateArgs, session: &Session) -> anyhow::Result<()> {
    let labels = io::read_labels(&args.labels)?;
    let vectors = args.embeddings.as_deref().map(vectors::read).transpose()?;
    let predicted = args.predicted.as_deref().map(io::read_labels).transpose()?;
    let ids = match (&vectors, &predicted) {
        (Some(vectors), _) => vectors.ids.clone(),
        (None, Some(predicted)) => Ids::from(predicted.nodes().clone()),
        (None, None) => Ids::Rows(0),
    };
    let codes = labels.of(&ids);
    let rows: Vec<usize> = (0..codes.len())
        .filter(|&row| codes[row].is_some())
        .collect();
    let classes: Vec<u32> = codes.into_iter().flatten().collect();
    if rows.is_empty() {
        let found = "no label of any of the nodes";
        let expected = "labels by the ids of the nodes (of nodes.csv beside .npy embeddings, \
                        else row numbers)";
        return Err(Error::input(&args.labels, None, found, expected).into());
    }
    let kmeans = |points: &[f32], classes: &[u32]| {
        let k = args.clusters.unwrap_or_else(|| distinct(classes));
        let kmeans = KMeans {
            restarts: args.restarts,
            ..KMeans::new(k, session.seed().unwrap_or(0))
        };
        let n = classes.len();
        let found = kmeans.fit(points, n, points.len() / n)?;
        Figures::new(classes, &found.labels)
    };
    let found = match (predicted.zip(args.predicted.as_ref()), &vectors) {
        (Some((predicted, path)), _) => {
            let clusters = clusters_of(&predicted, path, &ids, &rows)?;
            Figures::new(&classes, &clusters)?
        }
        (None, vectors) => {
            let points = vectors.iter().flat_map(|it| {
                let row = move |row: &usize| &it.values[row * it.k..][..it.k];
                rows.iter().flat_map(row)
            });
            kmeans(&points.copied().collect::<Vec<f32>>(), &classes)?
        }
    };
    let mut of_features = None;
    if let Some(path) = &args.features {
        let mut reader = InputReader::default();
        let nodes = args.nodes.iter().map(|path| ViewFile {
            view: None,
            path: path.clone(),
        });
        reader.read_tables(&nodes.collect::<Vec<_>>(), false)?;
        let (known, matrix) = reader.features(path, None)?.into_parts();
        let place = |(&row, &class): (&usize, &u32)| Some((known.row(&ids.name(row))?, class));
        let both = rows.iter().zip(&classes).filter_map(place);
        let (rows, classes): (Vec<u32>, Vec<u32>) = both.unzip();
        if rows.is_empty() {
            let found = "no data vector of any labelled node";
            let expected =
                "data vectors by the ids of the embeddings (--nodes FILE names the rows)";
            return Err(Error::input(path, None, found, expected).into());
        }
        of_features = Some(kmeans(&vectors::points(path, &matrix, &rows)?, &classes)?);
    }
    let mut json = found.json();
    if let Some(figures) = &of_features {
        json["features"] = figures.json();
    }
    session.finish(&json, &words(&found, of_features.as_ref()))
}

/// How well clusters and labels agree.
struct Figures {
    n: usize,
    classes: usize,
    clusters: usize,
    measures: [(&'static str, f64); 4],
}

impl Figures {
    fn new(classes: &[u32], clusters: &[u32]) -> Result<Figures, Error> {
        let table = Contingency::new(classes, clusters)?;
        Ok(Figures {
            n: classes.len(),
            classes: distinct(classes),
            clusters: distinct(clusters),
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

/// The clusters that a file gives some nodes.
fn clusters_of(
    predicted: &Labels,
    path: &Path,
    ids: &Ids,
    rows: &[usize],
) -> Result<Vec<u32>, Error> {
    let clusters = predicted.of(ids);
    let cluster = |&row: &usize| {
        clusters[row].ok_or_else(|| {
            let found = format!("no cluster for node {}", quote(&ids.name(row)));
            let expected = "a cluster of 0 or more for each labelled node";
            Error::input(path, None, found, expected)
        })
    };
    rows.iter().map(cluster).collect()
}

fn distinct(codes: &[u32]) -> usize {
    let mut codes = codes.to_vec();
    codes.sort_unstable();
    codes.dedup();
    codes.len()
}

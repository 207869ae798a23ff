//! `linkproof cluster`: k-means on embeddings, or on data vectors.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use linkproof::Fitted;
use linkproof::data::attributes::Attributes;
use linkproof::error::shown;
use linkproof::io::{self, Embeddings, Field, Files};
use linkproof::measure::{Clustering, KMeans};
use linkproof::robust::together;
use linkproof::text::{counted, wrapped};
use serde_json::json;

use crate::args::whole;
use crate::exit::Usage;
use crate::session::Session;
use crate::vectors;

/// Cluster nodes by k-means
///
/// Clusters the embeddings of a model, those of a file, or data vectors, and prints how
/// large each cluster is and which nodes are nearest to its middle. Writes CSV
/// node,cluster. Ids are those of the file; for .npy, those of nodes.csv beside it, or
/// else the row numbers. What follows is stability for a model that was fitted with
/// --bootstrap (the share of a node's cluster that stays with it in replicates), and
/// name, what the node is called, where that is known.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("what").required(true).multiple(true).args(["embeddings", "features", "model"]),
    after_help = "EXAMPLE\n  \
    linkproof cluster --model model --clusters 7 --out clusters.csv\n  \
    linkproof cluster --embeddings model/embeddings.npy --clusters 7 --out clusters.csv\n  \
    linkproof cluster --features x.mtx --clusters 7 --out clusters.csv"
)]
pub struct ClusterArgs {
    /// Embeddings: .npy, or CSV or Parquet with the id first [default: those of --model]
    #[arg(long, value_name = "FILE")]
    embeddings: Option<PathBuf>,
    /// Data vectors instead: .npy, .mtx, or CSV or Parquet with the id first. They are
    /// clustered at unit length, unless some entries are negative
    #[arg(long, value_name = "FILE", conflicts_with_all = ["embeddings", "model"])]
    features: Option<PathBuf>,
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
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

/// Of more clusters these are printed, and so many nodes of each.
const MOST_PRINTED: usize = 30;
const NEAREST: usize = 4;

/// What is clustered.
struct Points {
    vectors: Embeddings,
    names: Option<Attributes>,
    model: Option<Fitted>,
}

/// Runs the command.
pub fn run(args: &ClusterArgs, session: &Session) -> anyhow::Result<()> {
    args.files().writes([&args.out]).check()?;
    let points = args.read()?;
    let vectors = &points.vectors;
    let kmeans = KMeans {
        restarts: args.restarts,
        ..KMeans::new(args.clusters, session.seed().unwrap_or(0))
    };
    let found = kmeans.fit(&vectors.values, vectors.n, vectors.k)?;
    let stable = args.stability(&points, &found.labels, kmeans.seed)?;
    let named = points.names.as_ref().filter(|names| names.has_names());
    let mut columns = vec!["node", "cluster"];
    columns.extend(stable.as_ref().map(|_| "stability"));
    columns.extend(named.map(|_| "name"));
    io::write_table(&args.out, &columns, |rows| {
        for (row, &cluster) in found.labels.iter().enumerate() {
            let id = vectors.ids.name(row);
            let mut fields = vec![Field::Text(&id), Field::Whole(u64::from(cluster))];
            fields.extend(stable.as_ref().map(|shares| Field::Real(shares[row])));
            fields.extend(named.map(|names| Field::Text(names.name(row).unwrap_or(""))));
            rows.row(&fields)?;
        }
        Ok(())
    })?;
    let groups = groups(&points, &found);
    let out = args.out.display().to_string();
    let mut words = format!(
        "{} in {}",
        counted(vectors.n, "node"),
        counted(args.clusters, "cluster"),
    );
    for (cluster, (size, nearest)) in groups.iter().enumerate().take(MOST_PRINTED) {
        let nearest = nearest.iter().map(|name| shown(name)).collect::<Vec<_>>();
        let text = match nearest.is_empty() {
            true => "no node".to_owned(),
            false => format!("{}: {}", counted(*size, "node"), nearest.join(", ")),
        };
        words.push_str(&format!(
            "\n{}",
            wrapped(&format!("  {cluster:>3} "), &text)
        ));
    }
    if groups.len() > MOST_PRINTED {
        words.push_str(&format!("\n  and {} more", groups.len() - MOST_PRINTED));
    }
    words.push_str(&format!("\nWritten to {out}."));
    let json = json!({
        "out": out,
        "nodes": vectors.n,
        "clusters": args.clusters,
        "inertia": found.inertia,
        "iterations": found.iterations,
        "groups": groups.iter().map(|(size, nearest)| json!({ "nodes": size, "nearest": nearest }))
            .collect::<Vec<_>>(),
    });
    session.finish(&json, &words)
}

impl ClusterArgs {
    fn files(&self) -> Files {
        let files = Files::default().reads(&self.features);
        let files = files.reads(self.embeddings.iter().flat_map(|it| vectors::inputs(it)));
        match &self.model {
            Some(model) => files.reads_model(model),
            None => files,
        }
    }

    fn read(&self) -> anyhow::Result<Points> {
        let model = self.model.as_deref().map(io::load).transpose()?;
        let model = model.map(|stored| stored.model);
        let names = model.as_ref().and_then(|model| model.attributes().cloned());
        let (vectors, beside) = match (&self.embeddings, &self.features, &model) {
            (Some(path), ..) => (read_file(path)?, vectors::names(path)?),
            (None, Some(path), _) => (vectors::read_features(path)?, None),
            (None, None, Some(model)) => (of_model(model), None),
            (None, None, None) => {
                return Err(
                    Usage::new("give --model DIR, --embeddings FILE or --features FILE").into(),
                );
            }
        };
        let names = names.or(beside).filter(|names| names.len() == vectors.n);
        Ok(Points {
            vectors,
            names,
            model,
        })
    }

    /// How far each node's cluster stays with it in the replicates of a model.
    fn stability(
        &self,
        points: &Points,
        clusters: &[u32],
        seed: u64,
    ) -> anyhow::Result<Option<Vec<f64>>> {
        let Some((model, folder)) = points.model.as_ref().zip(self.model.as_deref()) else {
            return Ok(None);
        };
        let found = match model.replicates() {
            Some(_) => together(model, clusters, seed)?,
            None => None,
        };
        // Both were given for the replicates' sake.
        if found.is_none() && self.embeddings.is_some() {
            return Err(Usage::new(format!(
                "--model {}: found no replicates; expected a model that was fitted with --bootstrap, or \
                 one of --model and --embeddings alone",
                folder.display()
            ))
            .into());
        }
        Ok(found)
    }
}

/// Embeddings of a file, which is easily taken for its folder.
fn read_file(path: &Path) -> anyhow::Result<Embeddings> {
    if path.is_dir() {
        return Err(Usage::new(format!(
            "--embeddings {}: found a folder; expected a file, or of a model --model {0}",
            path.display()
        ))
        .into());
    }
    Ok(vectors::read(path)?)
}

fn of_model(model: &Fitted) -> Embeddings {
    let (values, k) = model.by_node(model.recommended(), model.dim());
    let ids = model.node_ids().clone();
    Embeddings {
        n: ids.len(),
        ids,
        k,
        values: values.into_owned(),
    }
}

/// The size of each cluster, and the nodes that are nearest to its middle.
fn groups(points: &Points, found: &Clustering) -> Vec<(usize, Vec<String>)> {
    let (vectors, k) = (&points.vectors, points.vectors.k);
    let mut members = vec![Vec::new(); found.centers.len() / k];
    for (row, &cluster) in found.labels.iter().enumerate() {
        let centre = &found.centers[cluster as usize * k..][..k];
        let point = &vectors.values[row * k..][..k];
        let squares = point.iter().zip(centre);
        let distance: f64 = squares.map(|(&x, c)| (f64::from(x) - c).powi(2)).sum();
        members[cluster as usize].push((distance, row));
    }
    let name = |row: usize| {
        let title = points.names.as_ref().and_then(|names| names.name(row));
        title.map_or_else(|| vectors.ids.name(row).into_owned(), str::to_owned)
    };
    let group = |mut members: Vec<(f64, usize)>| {
        members.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let nearest = members.iter().take(NEAREST).map(|&(_, row)| name(row));
        (members.len(), nearest.collect())
    };
    members.into_iter().map(group).collect()
}

//! Graphs whose nodes have known classes, which judge embeddings and choose
//! nothing.

use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use linkproof_files::{read_features, read_labels, read_links};
use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::features::{Features, Matrix};
use linkproof_method::data::graph::{Graph, Link, LinkRules};
use linkproof_method::data::ids::Ids;
use linkproof_method::data::transform::normalize;
use linkproof_method::error::{Error, Result};
use linkproof_method::measure::{KMeans, nmi};
use linkproof_method::model::{End, NewLink};
use linkproof_method::params::Normalize;

/// One view of nodes with data vectors, links and classes.
#[derive(Debug, Clone)]
pub struct Labelled {
    /// What it is called.
    pub name: String,
    /// Links and data vectors.
    pub data: Dataset,
    /// The class of each node.
    pub labels: Vec<u32>,
}

/// A fifth of the nodes to test on, and the others.
#[derive(Debug, Clone)]
pub struct NodeSplit {
    /// The rows of the test nodes.
    pub test: Vec<u32>,
    /// The rows of the others.
    pub training: Vec<u32>,
}

/// What a fit may see that does not know the test nodes, and what it gets to
/// embed them.
#[derive(Debug, Clone)]
pub struct Training {
    /// The training nodes and the links among them.
    pub data: Dataset,
    /// The data vectors of the test nodes.
    pub unseen: Features,
    /// The links of the test nodes.
    pub links: Vec<NewLink>,
}

impl Labelled {
    /// Reads a folder of `edges.csv`, `features.mtx` (or `features.mtx.gz`) and
    /// `labels.csv`, as `linkproof datasets fetch` makes it.
    pub fn read(folder: &Path) -> Result<Labelled> {
        let links = read_links(folder.join("edges.csv"), &Default::default())?;
        let features = read_features(features_in(folder))?;
        let path = folder.join("labels.csv");
        let labels = read_labels(&path)?;
        let data = Dataset::new(links, features)?;
        let of_nodes = labels.of(data.ids());
        if let Some(row) = of_nodes.iter().position(Option::is_none) {
            return Err(Error::input(
                &path,
                None,
                format!("no label for node '{}'", data.ids().name(row)),
                "a label for every node: classes judge the embeddings",
            ));
        }
        let name = folder.file_name().unwrap_or(folder.as_os_str());
        Ok(Labelled {
            name: name.to_string_lossy().into_owned(),
            data,
            labels: of_nodes.into_iter().flatten().collect(),
        })
    }

    /// Why its test nodes cannot be clustered, if so: what was found, and what is
    /// expected.
    pub fn unfit(&self) -> Option<(String, &'static str)> {
        let (classes, test) = (self.n_classes(), self.split(0).test.len());
        (classes < 2 || test < classes).then(|| {
            (
                format!("{classes} classes and {test} test nodes, a fifth of all"),
                "two classes or more, and at least as many test nodes as classes",
            )
        })
    }

    /// The number of classes.
    pub fn n_classes(&self) -> usize {
        self.labels
            .iter()
            .max()
            .map_or(0, |&most| most as usize + 1)
    }

    /// The data vectors.
    pub fn matrix(&self) -> Result<&Matrix> {
        let matrix = self.data.views()[0].matrix.as_ref();
        matrix.ok_or_else(|| Error::data("data", "no data vectors", "one for each node"))
    }

    /// A random fifth of the nodes, and the others.
    pub fn split(&self, seed: u64) -> NodeSplit {
        let mut rows: Vec<u32> = (0..self.labels.len() as u32).collect();
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let training = rows.split_off(rows.len().div_ceil(5));
        NodeSplit {
            test: rows,
            training,
        }
    }

    /// NMI (x 100) between the classes of some nodes and the clusters that
    /// k-means finds in their embeddings.
    pub fn nmi(&self, y: &[f32], rows: &[u32], seed: u64) -> Result<f64> {
        let dim = y.len() / rows.len().max(1);
        let found = KMeans::new(self.n_classes(), seed).fit(y, rows.len(), dim)?;
        let truth: Vec<u32> = rows.iter().map(|&row| self.labels[row as usize]).collect();
        Ok(100.0 * nmi(&truth, &found.labels)?)
    }

    /// The same for the test nodes, of embeddings of all nodes.
    pub fn test_nmi(&self, y: &[f32], seed: u64) -> Result<f64> {
        let test = self.split(seed).test;
        let dim = y.len() / self.labels.len();
        self.nmi(&rows_of(y, dim, &test), &test, seed)
    }

    /// The mean of the same over the five fifths of the nodes, the test nodes and
    /// four of the others: one fifth differs from the next by several points.
    pub fn mean_nmi(&self, y: &[f32], seed: u64) -> Result<f64> {
        let NodeSplit { test, training } = self.split(seed);
        let dim = y.len() / self.labels.len();
        let of = |rows: &[u32]| self.nmi(&rows_of(y, dim, rows), rows, seed);
        let mut sum = of(&test)?;
        for rows in training.chunks(training.len().div_ceil(4)) {
            sum += of(rows)?;
        }
        Ok(sum / 5.0)
    }

    /// The mean over fifths for the data vectors themselves, of unit length.
    pub fn vectors_nmi(&self, seed: u64) -> Result<f64> {
        let matrix = normalize(self.matrix()?.clone(), Normalize::L2)?;
        let columns = matrix.n_columns();
        let mut y = vec![0.0f32; matrix.n_rows() * columns];
        for (row, y) in y.chunks_exact_mut(columns.max(1)).enumerate() {
            for (column, value) in matrix.row(row) {
                y[column as usize] = value as f32;
            }
        }
        self.mean_nmi(&y, seed)
    }

    /// The graph without its test nodes.
    pub fn training(&self, split: &NodeSplit) -> Result<Training> {
        let matrix = self.matrix()?;
        let mut place = vec![End::Known(0); self.labels.len()];
        for (new, &row) in split.training.iter().enumerate() {
            place[row as usize] = End::Known(new as u32);
        }
        for (new, &row) in split.test.iter().enumerate() {
            place[row as usize] = End::New(new as u32);
        }
        let (mut inside, mut links) = (Vec::new(), Vec::new());
        for link in self.data.graph().links() {
            let weight = link.weight;
            let (row, end) = match (place[link.src as usize], place[link.dst as usize]) {
                (End::Known(src), End::Known(dst)) => {
                    inside.push(Link { src, dst, weight });
                    continue;
                }
                (End::New(row), end) | (end, End::New(row)) => (row, end),
            };
            links.push(NewLink { row, end, weight });
        }
        let ids = self.data.ids();
        let named = |rows: &[u32]| Ids::from(ids.select(rows));
        let graph = Graph::new(named(&split.training), inside, LinkRules::default())?;
        let known = Features::with_ids(named(&split.training), matrix.select(&split.training))?;
        Ok(Training {
            data: Dataset::new(graph, known)?,
            unseen: Features::with_ids(named(&split.test), matrix.select(&split.test))?,
            links,
        })
    }
}

/// The file of data vectors in a folder, which may be packed.
pub fn features_in(folder: &Path) -> PathBuf {
    let packed = folder.join("features.mtx.gz");
    match packed.is_file() {
        true => packed,
        false => folder.join("features.mtx"),
    }
}

/// Some rows of embeddings.
pub fn rows_of(y: &[f32], dim: usize, rows: &[u32]) -> Vec<f32> {
    rows.iter()
        .flat_map(|&row| &y[row as usize * dim..][..dim])
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, synthetic};

    #[test]
    fn splits_share_out_nodes_and_links() {
        let made = synthetic(0, Noise::false_links(0.02)).unwrap();
        let graph = Labelled {
            name: "synthetic".into(),
            data: made.data,
            labels: made.labels,
        };
        assert_eq!(graph.n_classes(), 4);
        let split = graph.split(3);
        assert_eq!((split.test.len(), split.training.len()), (40, 160));
        let mut all = [split.test.clone(), split.training.clone()].concat();
        all.sort_unstable();
        assert!(
            all.iter()
                .enumerate()
                .all(|(row, &other)| row as u32 == other)
        );
        assert_ne!(graph.split(4).test, split.test);

        // Classes as embeddings: every fifth is perfect, or with one node astray not.
        let mut y: Vec<f32> = graph.labels.iter().map(|&label| label as f32).collect();
        assert!(graph.mean_nmi(&y, 3).unwrap() > 99.999);
        let last = split.training[split.training.len() - 1] as usize;
        y[last] = (y[last] + 1.0) % 4.0;
        assert!((90.0..99.0).contains(&graph.mean_nmi(&y, 3).unwrap()));

        let training = graph.training(&split).unwrap();
        assert_eq!(training.data.n_nodes(), 160);
        let n_links = training.data.graph().n_links() + training.links.len();
        assert_eq!(n_links, graph.data.graph().n_links());
        for link in training.data.graph().links() {
            let [a, b] = [link.src, link.dst].map(|row| split.training[row as usize]);
            assert_eq!(graph.data.graph().weight(a, b), Some(link.weight));
        }
        for link in &training.links {
            let end = match link.end {
                End::Known(row) => split.training[row as usize],
                End::New(row) => split.test[row as usize],
            };
            let a = split.test[link.row as usize];
            assert_eq!(graph.data.graph().weight(a, end), Some(link.weight));
        }
    }

    #[test]
    fn a_folder_is_read_and_a_missing_label_is_named() {
        let folder =
            std::env::temp_dir().join(format!("linkproof-labelled-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("edges.csv", "src,dst,weight\n0,1,1\n1,2,1\n");
        write(
            "features.mtx",
            "%%MatrixMarket matrix coordinate integer general\n3 2 3\n1 1 1\n2 2 1\n3 1 1\n",
        );
        write("labels.csv", "node,label\n0,4\n1,7\n2,4\n");
        let graph = Labelled::read(&folder).unwrap();
        assert_eq!(
            (graph.labels.clone(), graph.n_classes()),
            (vec![0, 1, 0], 2)
        );
        write("labels.csv", "node,label\n0,4\n1,7\n");
        let error = Labelled::read(&folder).unwrap_err().to_string();
        assert!(
            error.contains("labels.csv") && error.contains("'2'"),
            "{error}"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}

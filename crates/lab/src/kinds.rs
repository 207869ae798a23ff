//! Graphs of kinds that a plain inner product cannot fit, each with a planted answer:
//! hubs, links between unlike nodes, links with directions, nodes of two kinds.
//!
//! `cargo run --release -p linkproof-lab --example kinds` prints what the plain model
//! makes of them beside the model for their kind.

use super::planted::Random;
use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::features::{Features, Matrix};
use linkproof_method::data::graph::{Duplicates, Ends, Graph, Link, LinkRules};
use linkproof_method::data::ids::Ids;
use linkproof_method::error::Result;
use linkproof_method::measure::{KMeans, auc, nmi};
use linkproof_method::model::folds::Folds;
use linkproof_method::{Fit, Fitted, Params};
use linkproof_numeric::math;

/// A graph and what was planted in it.
#[derive(Debug, Clone)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The graph as the model for its kind reads it.
    pub data: Dataset,
    /// The same as a plain model does.
    pub plain: Dataset,
    /// The classes of the nodes of each view of `data`.
    pub classes: Vec<Vec<u32>>,
    /// The logarithm of how popular each node is.
    pub popularity: Vec<f64>,
}

/// Nodes, and classes of equal size.
const NODES: usize = 400;
const CLASSES: usize = 4;

fn class_of(node: usize) -> usize {
    node % CLASSES
}

/// The class of a node by the links that it receives, whatever it sends.
fn receiving_class(node: usize) -> usize {
    node / CLASSES % CLASSES
}

/// Whether a node sends links to those of another's class.
fn is_sent(src: usize, dst: usize) -> bool {
    src != dst && class_of(src) == receiving_class(dst)
}

/// Links drawn by their expected weights.
fn draw(random: &mut Random, mean: impl Fn(usize, usize) -> f64) -> Vec<(u32, u32, f64)> {
    let mut links = Vec::new();
    for i in 0..NODES {
        for j in i + 1..NODES {
            if random.count(mean(i, j)) > 0.0 {
                links.push((i as u32, j as u32, 1.0));
            }
        }
    }
    links
}

impl Kind {
    fn of_one_view(name: &'static str, data: Dataset, popularity: Vec<f64>) -> Kind {
        Kind {
            name,
            plain: data.clone(),
            data,
            classes: vec![(0..NODES).map(|node| class_of(node) as u32).collect()],
            popularity,
        }
    }

    /// Classes of nodes of which some are linked a hundred times as often as others;
    /// `vectors`: nodes have data vectors, which tell of both.
    pub fn hubs(spread: f64, vectors: bool, seed: u64) -> Result<Kind> {
        let mut random = Random::new(seed);
        let popularity: Vec<f64> = random.normals(NODES).iter().map(|z| spread * z).collect();
        let t: Vec<f64> = popularity
            .iter()
            .map(|b| math::exp(b - spread * spread / 2.0))
            .collect();
        let links = draw(&mut random, |i, j| {
            let same = class_of(i) == class_of(j);
            t[i] * t[j] * if same { 0.08 } else { 0.008 }
        });
        let graph = Graph::from_rows(NODES, &links)?;
        let data = if vectors {
            const WIDTH: usize = 12;
            let mut x = random.normals(NODES * WIDTH);
            for (node, x) in x.chunks_exact_mut(WIDTH).enumerate() {
                x.iter_mut().for_each(|x| *x *= 0.5);
                x[class_of(node)] += 2.0;
                x[WIDTH - 1] += 2.0 * popularity[node];
            }
            Dataset::new(graph, Features::new(Matrix::dense(NODES, WIDTH, x)?))?
        } else {
            Dataset::with_nodes(graph, Ids::Rows(NODES))?
        };
        Ok(Kind::of_one_view("hubs", data, popularity))
    }

    /// Classes in pairs, whose nodes are linked with those of the other class of the
    /// pair and hardly with those of their own.
    pub fn unlike(seed: u64) -> Result<Kind> {
        let mut random = Random::new(seed);
        let links = draw(&mut random, |i, j| match class_of(i) ^ class_of(j) {
            1 => 0.12,
            _ => 0.006,
        });
        let data = Dataset::with_nodes(Graph::from_rows(NODES, &links)?, Ids::Rows(NODES))?;
        Ok(Kind::of_one_view("unlike", data, vec![0.0; NODES]))
    }

    /// Nodes that are of a class by the links that they send, and of another by those
    /// that they receive.
    pub fn directed(seed: u64) -> Result<Kind> {
        let mut random = Random::new(seed);
        let mut links = Vec::new();
        for src in 0..NODES {
            for dst in 0..NODES {
                let mean = if is_sent(src, dst) { 0.12 } else { 0.006 };
                if src != dst && random.count(mean) > 0.0 {
                    let (src, dst, weight) = (src as u32, dst as u32, 1.0);
                    links.push(Link { src, dst, weight });
                }
            }
        }
        let graph = |ends| {
            let rules = LinkRules {
                ends,
                duplicates: Duplicates::First,
                ..LinkRules::default()
            };
            Dataset::from_links(Graph::new(Ids::Rows(NODES), links.clone(), rules)?)
        };
        let classes = |class: fn(usize) -> usize| (0..NODES).map(|it| class(it) as u32).collect();
        Ok(Kind {
            name: "directed",
            data: graph(Ends::Directed)?,
            plain: graph(Ends::Alike)?,
            classes: vec![classes(class_of), classes(receiving_class)],
            popularity: vec![0.0; NODES],
        })
    }

    /// Nodes of two kinds, in classes, and links between the kinds alone.
    pub fn bipartite(seed: u64) -> Result<Kind> {
        let mut random = Random::new(seed);
        let half = NODES / 2;
        let links = draw(&mut random, |i, j| {
            match (i < half && j >= half, class_of(i) == class_of(j)) {
                (false, _) => 0.0,
                (true, true) => 0.16,
                (true, false) => 0.008,
            }
        });
        let listed = links.iter();
        let listed = listed.map(|&(src, dst, weight)| Link { src, dst, weight });
        let rules = LinkRules {
            ends: Ends::Bipartite,
            ..LinkRules::default()
        };
        let data = Dataset::from_links(Graph::new(Ids::Rows(NODES), listed.collect(), rules)?)?;
        let class = |row: usize| {
            let node: usize = data.name(row).parse().unwrap_or(0);
            class_of(node) as u32
        };
        let views = data.views().iter();
        let classes = views.map(|view| view.rows.clone().map(class).collect());
        Ok(Kind {
            name: "bipartite",
            classes: classes.collect(),
            plain: Dataset::with_nodes(Graph::from_rows(NODES, &links)?, Ids::Rows(NODES))?,
            popularity: vec![0.0; NODES],
            data,
        })
    }

    /// The share of the planted classes that k-means finds in the embeddings of each view,
    /// on average; of a plain model of a directed graph, in those of all nodes.
    pub fn clusters(&self, model: &Fitted) -> Result<f64> {
        let dim = model.dim();
        let has_all_rows = model.n_nodes() == self.data.n_nodes();
        let (mut sum, mut start) = (0.0, 0);
        for classes in &self.classes {
            let y = &model.embeddings()[start * dim..(start + classes.len()) * dim];
            let found = KMeans::new(CLASSES, 0).fit(y, classes.len(), dim)?;
            sum += nmi(classes, &found.labels)?;
            start += if has_all_rows { classes.len() } else { 0 };
        }
        Ok(sum / self.classes.len() as f64)
    }

    /// Whether two rows of a graph of two kinds of nodes can be linked at all.
    fn can_be_linked(&self, i: usize, j: usize) -> bool {
        let half = NODES / 2;
        self.name != "bipartite" || (i < half) != (j < half)
    }

    /// Of what a model of [`Kind::bipartite`] expects of all pairs, the share between nodes
    /// of one kind, where no link can be.
    pub fn impossible_share(&self, model: &Fitted) -> f64 {
        let (mut inside, mut all) = (0.0, 0.0);
        let view = |row: usize| model.node_views()[row] as usize;
        for i in 0..model.n_nodes() {
            for j in (0..i).filter(|&j| model.takes_part(view(i), view(j))) {
                let mu = model.mu(i, j);
                all += mu;
                let apart = model.views().len() > 1 || self.can_be_linked(i, j);
                inside += if apart { 0.0 } else { mu };
            }
        }
        inside / all
    }

    /// How well a fit that did not see a fifth of the pairs tells links among them; pairs
    /// that cannot be linked are not asked for.
    pub fn held_out_auc(&self, params: &Params, data: &Dataset) -> Result<f64> {
        let params = params.clone().check()?;
        let fold = Folds::new(0, 5)?.split(0);
        let model = Fit::new(&params).not_seeing(fold).run(data)?;
        let n = data.n_nodes();
        let view = |row: usize| model.node_views()[row] as usize;
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let pairs: Vec<(usize, usize)> = pairs
            .filter(|&(i, j)| fold.holds_out(i as u32, j as u32))
            .filter(|&(i, j)| model.takes_part(view(i), view(j)))
            .filter(|&(i, j)| !data.ids().is_same_node(i as u32, j as u32))
            .filter(|&(i, j)| model.views().len() > 1 || self.can_be_linked(i, j))
            .collect();
        let scores: Vec<f64> = pairs.iter().map(|&(i, j)| model.mu(i, j)).collect();
        let linked = |&(i, j): &(usize, usize)| data.graph().weight(i as u32, j as u32);
        let linked: Vec<bool> = pairs.iter().map(|pair| linked(pair).is_some()).collect();
        auc(&scores, &linked)
    }

    /// Of the pairs that links lead through one way, the share whose direction a model of
    /// [`Kind::directed`] tells; ties count half.
    pub fn direction_told(&self, model: &Fitted) -> f64 {
        let mu = |src: usize, dst: usize| match model.is_directed() {
            true => model.mu(src, NODES + dst),
            false => model.mu(src.min(dst), src.max(dst)),
        };
        let (mut told, mut all) = (0.0, 0.0);
        for i in 0..NODES {
            for j in (0..NODES).filter(|&j| is_sent(i, j) && !is_sent(j, i)) {
                let (there, back) = (mu(i, j), mu(j, i));
                told += 0.5 * f64::from(u8::from(there >= back) + u8::from(there > back));
                all += 1.0;
            }
        }
        told / all
    }

    /// The correlation of a model's offsets with the planted popularity; of a model
    /// without offsets that of the lengths of its embeddings.
    pub fn popularity_told(&self, model: &Fitted) -> f64 {
        let of_row = |row: usize| match model.offsets() {
            Some(offsets) => f64::from(offsets[row]),
            None => {
                let squares = model.row(row).iter().map(|&x| f64::from(x) * f64::from(x));
                squares.sum::<f64>().sqrt()
            }
        };
        let found: Vec<f64> = (0..NODES).map(of_row).collect();
        correlation(&found, &self.popularity)
    }
}

/// The correlation of two lists.
pub fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    let lengths = product(a, mean_a, a, mean_a) * product(b, mean_b, b, mean_b);
    product(a, mean_a, b, mean_b) / lengths.sqrt()
}

#[cfg(test)]
#[path = "kinds_tests.rs"]
mod tests;

//! Graphs with planted structure: a degree-corrected block model with data
//! vectors and counts, and two views of the same things.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson, StandardNormal};

use super::labelled::Labelled;
use linkproof_method::data::dataset::{Dataset, NodeViews};
use linkproof_method::data::features::{Features, Matrix};
use linkproof_method::data::graph::Graph;
use linkproof_method::data::ids::Ids;
use linkproof_method::error::{Error, Result};
use linkproof_method::model::Fitted;
use linkproof_method::robust::embed_new;
use linkproof_numeric::math;

/// A stream of random numbers.
pub(crate) struct Random(pub(crate) ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(crate) fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count)
            .map(|_| StandardNormal.sample(&mut self.0))
            .collect()
    }

    pub(crate) fn count(&mut self, mean: f64) -> f64 {
        // Means here are positive and small; any other counts as none.
        Poisson::new(mean).map_or(0.0, |poisson| poisson.sample(&mut self.0))
    }
}

/// The sizes of a block model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockModel {
    /// The number of classes.
    pub classes: usize,
    /// The nodes of each.
    pub size: usize,
    /// The length of the data vectors.
    pub features: usize,
}

impl Default for BlockModel {
    fn default() -> Self {
        BlockModel {
            classes: 6,
            size: 120,
            features: 40,
        }
    }
}

impl BlockModel {
    /// A small one.
    pub const QUICK: BlockModel = BlockModel {
        classes: 3,
        size: 40,
        features: 10,
    };
}

/// The expected weight that an average node has inside its class, and outside.
const INSIDE: f64 = 6.0;
const OUTSIDE: f64 = 1.5;
/// How far apart the classes' data vectors are, against noise of 1.
const SPREAD: f64 = 0.45;

impl BlockModel {
    /// `w_ij ~ Poisson(t_i t_j b)` with log-normal propensities `t` of mean 1,
    /// `b` larger inside classes; `x ~ N(SPREAD c_k, I)`, `c_k ~ N(0, I)`.
    pub fn make(self, seed: u64) -> Result<Labelled> {
        let mut random = Random::new(seed);
        let (n, p) = (self.classes * self.size, self.features);
        let centres = random.normals(self.classes * p);
        let mut x = random.normals(n * p);
        for (node, x) in x.chunks_exact_mut(p).enumerate() {
            let centre = &centres[node / self.size * p..][..p];
            x.iter_mut().zip(centre).for_each(|(x, c)| *x += SPREAD * c);
        }
        let t: Vec<f64> = random
            .normals(n)
            .iter()
            .map(|z| math::exp(0.8 * z - 0.32))
            .collect();
        let inside = INSIDE / self.size as f64;
        let outside = OUTSIDE / (n - self.size).max(1) as f64;
        let mut links = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                let same = i / self.size == j / self.size;
                let weight = random.count(t[i] * t[j] * if same { inside } else { outside });
                if weight > 0.0 {
                    links.push((i as u32, j as u32, weight));
                }
            }
        }
        let features = Features::new(Matrix::dense(n, p, x)?);
        Ok(Labelled {
            name: "block model".into(),
            data: Dataset::new(Graph::from_rows(n, &links)?, features)?,
            labels: (0..n).map(|node| (node / self.size) as u32).collect(),
        })
    }
}

/// Things that are seen twice, by data vectors of different kinds.
#[derive(Debug, Clone)]
pub struct TwoViews {
    /// The data vectors of all things, view by view.
    pub vectors: [Matrix; 2],
    /// The number of known things; the others are to test on.
    pub known: usize,
}

/// The lengths of the data vectors.
const VIEW_FEATURES: [usize; 2] = [200, 30];
const VIEW_NAMES: [&str; 2] = ["a", "b"];
const LATENT: usize = 6;
const CLASSES: usize = 6;
/// The noise of the data vectors, against maps of unit columns.
const NOISE: [f64; 2] = [0.5, 0.15];

impl TwoViews {
    /// Things have places `z` in R^6, in classes; each view sees a linear map
    /// of the place, plus noise; `w_ij ~ Poisson(3 exp(-|z_i - z_j|^2 / 2))`
    /// between views. The graph is that of the known things, the first four fifths: their
    /// data vectors and links between the views, the first view's rows first.
    pub fn make(things: usize, seed: u64) -> Result<(Labelled, TwoViews)> {
        let mut random = Random::new(seed);
        let centres = random.normals(CLASSES * LATENT);
        let mut z = random.normals(things * LATENT);
        for (thing, z) in z.chunks_exact_mut(LATENT).enumerate() {
            let centre = &centres[thing % CLASSES * LATENT..][..LATENT];
            z.iter_mut().zip(centre).for_each(|(z, c)| *z += c);
        }
        let mut see = |noise: f64, p: usize| {
            let map = random.normals(p * LATENT);
            let mut x = random.normals(things * p);
            for (x, z) in x.chunks_exact_mut(p).zip(z.chunks_exact(LATENT)) {
                for (x, map) in x.iter_mut().zip(map.chunks_exact(LATENT)) {
                    let seen: f64 = map.iter().zip(z).map(|(m, z)| m * z).sum();
                    *x = seen / (p as f64).sqrt() + noise * *x;
                }
            }
            Matrix::dense(things, p, x)
        };
        let vectors = [
            see(NOISE[0], VIEW_FEATURES[0])?,
            see(NOISE[1], VIEW_FEATURES[1])?,
        ];
        let known = things - things / 5;
        let place = |thing: usize| &z[thing * LATENT..][..LATENT];
        let mut links = Vec::new();
        for i in 0..known {
            for j in 0..known {
                let pairs = place(i).iter().zip(place(j));
                let distance: f64 = pairs.map(|(a, b)| (a - b).powi(2)).sum();
                let weight = random.count(3.0 * math::exp(-0.5 * distance));
                if weight > 0.0 {
                    links.push((i as u32, (known + j) as u32, weight));
                }
            }
        }
        let all = NodeViews {
            ids: Ids::Rows(2 * known),
            views: (0..2 * known)
                .map(|row| VIEW_NAMES[row / known].to_owned())
                .collect(),
            rows: None,
        };
        let rows: Vec<u32> = (0..known as u32).collect();
        let mut views = Vec::new();
        for (matrix, name, first) in [
            (&vectors[0], VIEW_NAMES[0], 0),
            (&vectors[1], VIEW_NAMES[1], known),
        ] {
            let own: Vec<u32> = (first as u32..).take(known).collect();
            let ids = Ids::from(Ids::Rows(2 * known).select(&own));
            let features = Features::with_ids(ids, matrix.select(&rows))?;
            views.push((name.to_owned(), features));
        }
        let classes = (0..2 * known).map(|row| (row % known % CLASSES) as u32);
        let graph = Labelled {
            name: "views".into(),
            data: Dataset::with_views(Graph::from_rows(2 * known, &links)?, all, views)?,
            labels: classes.collect(),
        };
        Ok((graph, TwoViews { vectors, known }))
    }

    /// The number of things, known or not.
    pub fn things(&self) -> usize {
        self.vectors[0].n_rows()
    }

    /// Retrieval of the test things as a model recommends to embed them, from their
    /// data vectors alone.
    pub fn judge(&self, model: &Fitted) -> Result<f64> {
        let rows: Vec<u32> = (self.known as u32..self.things() as u32).collect();
        let see = |view: usize| {
            let features = Features::new(self.vectors[view].select(&rows));
            let view = model.view(Some(VIEW_NAMES[view]))?;
            Ok::<_, Error>(embed_new(model, view, &features, None)?.embeddings)
        };
        retrieval(&see(0)?, &see(1)?, rows.len())
    }

    /// Retrieval of the test things in embeddings of all things, the first
    /// view's first.
    pub fn judge_all(&self, y: &[f32]) -> Result<f64> {
        let things = self.things();
        let dim = y.len() / (2 * things);
        if dim == 0 || y.len() != 2 * things * dim {
            return Err(Error::data(
                "embeddings",
                format!("{} numbers", y.len()),
                format!("as many for each of {} rows", 2 * things),
            ));
        }
        let (a, b) = y.split_at(things * dim);
        let test = self.known * dim;
        retrieval(&a[test..], &b[test..], things - self.known)
    }
}

/// The share (x 100) of things whose two views are nearest to each other by the
/// cosine of their embeddings, among so many; both directions count.
fn retrieval(a: &[f32], b: &[f32], things: usize) -> Result<f64> {
    let dim = a.len() / things.max(1);
    let unit = |y: &[f32]| -> Vec<f64> {
        let y: Vec<f64> = y.iter().map(|&y| f64::from(y)).collect();
        let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        let length = length.max(f64::MIN_POSITIVE);
        y.into_iter().map(|y| y / length).collect()
    };
    let [a, b] = [a, b].map(|y| y.chunks_exact(dim.max(1)).map(unit).collect::<Vec<_>>());
    let cosine = |i: usize, j: usize| -> f64 { a[i].iter().zip(&b[j]).map(|(a, b)| a * b).sum() };
    let mut found = 0;
    for thing in 0..things {
        let own = cosine(thing, thing);
        // An embedding in which all are alike finds nothing.
        let others = || (0..things).filter(|&other| other != thing);
        found += usize::from(others().all(|other| cosine(thing, other) < own));
        found += usize::from(others().all(|other| cosine(other, thing) < own));
    }
    Ok(100.0 * found as f64 / (2 * things.max(1)) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contamination::{Damage, Ends};
    use linkproof_method::measure::{KMeans, nmi};

    #[test]
    fn block_models_have_classes_counts_and_uneven_degrees() {
        let made = BlockModel::default().make(0).unwrap();
        let graph = made.data.graph();
        let (mut inside, mut all) = (0.0, 0.0);
        for link in graph.links() {
            let same = made.labels[link.src as usize] == made.labels[link.dst as usize];
            inside += if same { link.weight } else { 0.0 };
            all += link.weight;
        }
        assert!((0.7..0.9).contains(&(inside / all)), "{}", inside / all);
        assert!(graph.weights().iter().any(|&w| w >= 3.0));
        let degrees = graph.degrees();
        let most = f64::from(*degrees.iter().max().unwrap());
        assert!(most > 3.0 * 2.0 * graph.n_links() as f64 / 720.0, "{most}");
        // The data vectors tell something of the classes, and not all.
        let x: Vec<f32> = (0..720)
            .flat_map(|row| made.matrix().unwrap().row(row))
            .map(|(_, x)| x as f32)
            .collect();
        let found = KMeans::new(6, 0).fit(&x, 720, 40).unwrap();
        let told = nmi(&made.labels, &found.labels).unwrap();
        assert!((0.3..0.9).contains(&told), "{told}");
    }

    #[test]
    fn views_are_linked_across_and_partners_can_be_found() {
        let (graph, made) = TwoViews::make(100, 1).unwrap();
        assert_eq!(
            (graph.data.n_nodes(), made.known, made.things()),
            (160, 80, 100)
        );
        for link in graph.data.graph().links() {
            assert!(link.src < 80 && (80..160).contains(&link.dst));
        }
        let mut y = vec![0.0f32; 200 * 100];
        for row in 0..200 {
            y[row * 100 + row % 100] = 1.0 + row as f32;
        }
        assert_eq!(made.judge_all(&y).unwrap(), 100.0);
        assert_eq!(made.judge_all(&vec![1.0; 400]).unwrap(), 0.0);
        assert!(made.judge_all(&y[1..]).is_err());
        // Things 80 and 81 of the first view take each other's place: both are
        // lost, in both directions.
        for column in 0..100 {
            y.swap(80 * 100 + column, 81 * 100 + column);
        }
        assert_eq!(made.judge_all(&y).unwrap(), 90.0);
        let params = linkproof_method::params::Params {
            ridge: Some(0.1),
            dim: 6,
            ..Default::default()
        };
        let model = linkproof_method::model::fit(&params.check().unwrap(), &graph.data).unwrap();
        assert!(made.judge(&model).unwrap() > 15.0, "by chance 5");
    }

    #[test]
    fn ends_of_false_links_are_drawn_as_asked() {
        let made = BlockModel::default().make(3).unwrap();
        let before = made.data.graph();
        let degrees = before.degrees();
        let rows: Vec<Vec<f64>> = (0..720)
            .map(|row| {
                let x = made.matrix().unwrap().row(row);
                let length = x.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
                x.iter().map(|(_, x)| x / length).collect()
            })
            .collect();
        let mean = |ends: Ends, of: &dyn Fn(usize, usize) -> f64| {
            let damage = Damage::Added(ends, 0.3, 1.0);
            let found = damage.apply(&made.data, &made.labels, 5).unwrap();
            let wanted = (0.3 * before.n_links() as f64).round();
            assert_eq!(found.false_links.len() as f64, wanted);
            for &(a, b) in &found.false_links {
                assert_ne!(made.labels[a as usize], made.labels[b as usize]);
                assert_eq!(before.weight(a, b), None);
            }
            let pairs = found.false_links.iter();
            let sum: f64 = pairs.map(|&(a, b)| of(a as usize, b as usize)).sum();
            sum / wanted
        };
        let degree = |a: usize, b: usize| f64::from(degrees[a] + degrees[b]);
        assert!(mean(Ends::ByDegree, &degree) > 1.5 * mean(Ends::Uniform, &degree));
        let cosine = |a: usize, b: usize| rows[a].iter().zip(&rows[b]).map(|(a, b)| a * b).sum();
        assert!(mean(Ends::Alike, &cosine) > mean(Ends::Uniform, &cosine) + 0.2);
    }
}

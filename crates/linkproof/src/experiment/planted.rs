//! Graphs with planted structure: a degree-corrected block model with data
//! vectors and counts, and two views of the same things.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson, StandardNormal};

use super::labelled::Labelled;
use crate::dataset::{Dataset, NodeViews};
use crate::error::{Error, Result};
use crate::features::{Features, Matrix};
use crate::graph::Graph;
use crate::ids::Ids;

/// A stream of random numbers.
struct Random(ChaCha8Rng);

impl Random {
    fn new(seed: u64) -> Random {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count)
            .map(|_| StandardNormal.sample(&mut self.0))
            .collect()
    }

    fn count(&mut self, mean: f64) -> f64 {
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
            .map(|z| (0.8 * z - 0.32).exp())
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
            data: Dataset::new(Graph::from_rows(n, &links)?, features)?,
            labels: (0..n).map(|node| (node / self.size) as u32).collect(),
        })
    }
}

/// Things that are seen twice, by data vectors of different kinds. Rows
/// `0..things` are the first view's, the next as many the second's.
#[derive(Debug, Clone)]
pub struct TwoViews {
    /// Links between the views, and data vectors.
    pub data: Dataset,
    /// The class of each row.
    pub classes: Vec<u32>,
    /// The number of things.
    pub things: usize,
    /// The first of the things that have no links, to test on.
    pub first_test: usize,
}

/// The lengths of the data vectors.
pub const VIEW_FEATURES: [usize; 2] = [200, 30];
const VIEW_NAMES: [&str; 2] = ["a", "b"];
const LATENT: usize = 6;
const CLASSES: usize = 6;
/// The noise of the data vectors, against maps of unit columns.
const NOISE: [f64; 2] = [0.5, 0.15];

impl TwoViews {
    /// Things have places `z` in R^6, in classes; each view sees a linear map
    /// of the place, plus noise; `w_ij ~ Poisson(3 exp(-|z_i - z_j|^2 / 2))`
    /// between views. A fifth of the things has no links.
    pub fn make(things: usize, seed: u64) -> Result<TwoViews> {
        let mut random = Random::new(seed);
        let centres = random.normals(CLASSES * LATENT);
        let mut z = random.normals(things * LATENT);
        for (thing, z) in z.chunks_exact_mut(LATENT).enumerate() {
            let centre = &centres[thing % CLASSES * LATENT..][..LATENT];
            z.iter_mut().zip(centre).for_each(|(z, c)| *z += c);
        }
        let mut views = Vec::new();
        for (place, p) in VIEW_FEATURES.into_iter().enumerate() {
            let map = random.normals(p * LATENT);
            let mut x = random.normals(things * p);
            for (x, z) in x.chunks_exact_mut(p).zip(z.chunks_exact(LATENT)) {
                for (x, map) in x.iter_mut().zip(map.chunks_exact(LATENT)) {
                    let seen: f64 = map.iter().zip(z).map(|(m, z)| m * z).sum();
                    *x = (seen + NOISE[place] * (p as f64).sqrt() * *x) / (p as f64).sqrt();
                }
            }
            let features = Features::with_ids(names(place, things), Matrix::dense(things, p, x)?)?;
            views.push((VIEW_NAMES[place].to_owned(), features));
        }
        let first_test = things - things / 5;
        let place = |thing: usize| &z[thing * LATENT..][..LATENT];
        let mut links = Vec::new();
        for i in 0..first_test {
            for j in 0..first_test {
                let distance: f64 = place(i)
                    .iter()
                    .zip(place(j))
                    .map(|(a, b)| (a - b).powi(2))
                    .sum();
                let weight = random.count(3.0 * (-0.5 * distance).exp());
                if weight > 0.0 {
                    links.push((i as u32, (things + j) as u32, weight));
                }
            }
        }
        let ids = Ids::Rows(2 * things);
        let all = NodeViews {
            ids,
            views: (0..2 * things)
                .map(|row| VIEW_NAMES[row / things].to_owned())
                .collect(),
            rows: None,
        };
        Ok(TwoViews {
            data: Dataset::with_views(Graph::from_rows(2 * things, &links)?, all, views)?,
            classes: (0..2 * things)
                .map(|row| (row % things % CLASSES) as u32)
                .collect(),
            things,
            first_test,
        })
    }

    /// The share (x 100) of test things whose two views are each other's
    /// nearest by the cosine of their embeddings, among the test things; both
    /// directions count.
    pub fn retrieval(&self, y: &[f32]) -> Result<f64> {
        let dim = y.len() / (2 * self.things);
        if dim == 0 || y.len() != 2 * self.things * dim {
            return Err(Error::data(
                "embeddings",
                format!("{} numbers", y.len()),
                format!("as many for each of {} rows", 2 * self.things),
            ));
        }
        let row = |row: usize| {
            let y = &y[row * dim..][..dim];
            let length = y.iter().map(|y| f64::from(*y).powi(2)).sum::<f64>().sqrt();
            (y, length.max(f64::MIN_POSITIVE))
        };
        let cosine = |a: usize, b: usize| {
            let ((a, length), (b, other)) = (row(a), row(b));
            let product: f64 = a
                .iter()
                .zip(b)
                .map(|(a, b)| f64::from(*a) * f64::from(*b))
                .sum();
            product / (length * other)
        };
        let test = self.first_test..self.things;
        let mut found = 0;
        for thing in test.clone() {
            for turned in [false, true] {
                let to = |other: usize| match turned {
                    false => cosine(thing, self.things + other),
                    true => cosine(other, self.things + thing),
                };
                let own = to(thing);
                // A collapsed embedding, in which all are alike, finds nothing.
                found += usize::from(test.clone().all(|other| other == thing || to(other) < own));
            }
        }
        Ok(100.0 * found as f64 / (2 * test.len()) as f64)
    }
}

/// The ids of a view: its rows among all.
fn names(view: usize, things: usize) -> Ids {
    let rows: Vec<u32> = (view * things..(view + 1) * things)
        .map(|row| row as u32)
        .collect();
    Ids::Names(Ids::Rows(2 * things).select(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{KMeans, nmi};

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
        let made = TwoViews::make(100, 1).unwrap();
        assert_eq!(made.data.n_nodes(), 200);
        assert_eq!(made.first_test, 80);
        for link in made.data.graph().links() {
            assert!(link.src < 80 && (100..180).contains(&link.dst));
        }
        let mut y = vec![0.0f32; 200 * 100];
        for row in 0..200 {
            y[row * 100 + row % 100] = 1.0 + row as f32;
        }
        assert_eq!(made.retrieval(&y).unwrap(), 100.0);
        assert_eq!(made.retrieval(&vec![1.0; 400]).unwrap(), 0.0);
        assert!(made.retrieval(&y[1..]).is_err());
    }
}

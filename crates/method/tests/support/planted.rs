//! Planted graphs: groups, features and links, and which links are false is known.

use std::collections::HashSet;

use linkproof_method::{Dataset, Features, Graph, Matrix};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Classes, links between and inside them, and features.
#[derive(Debug, Clone, Copy)]
pub struct Planted {
    pub nodes: usize,
    pub classes: usize,
    pub degree: usize,
    /// The share of links inside a class.
    pub inside: f64,
    /// How uneven degrees are.
    pub tail: f64,
    /// How far the classes' features are apart, against noise of 1.
    pub spread: f64,
    pub columns: usize,
}

impl Default for Planted {
    fn default() -> Self {
        Planted {
            nodes: 600,
            classes: 6,
            degree: 8,
            inside: 0.85,
            tail: 0.5,
            spread: 0.9,
            columns: 24,
        }
    }
}

pub type Rows = Vec<(u32, u32, f64)>;

impl Planted {
    pub fn class(&self, node: u32) -> u32 {
        node % self.classes as u32
    }

    fn normals(random: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
        (0..count).map(|_| StandardNormal.sample(random)).collect()
    }

    pub fn vectors(&self, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        let centres = Self::normals(&mut random, self.classes * self.columns);
        let mut x = Self::normals(&mut random, self.nodes * self.columns);
        for (node, x) in x.chunks_exact_mut(self.columns).enumerate() {
            let class = self.class(node as u32) as usize;
            let centre = &centres[class * self.columns..][..self.columns];
            x.iter_mut()
                .zip(centre)
                .for_each(|(x, c)| *x += self.spread * c);
        }
        x
    }

    /// Ends are drawn by uneven propensities.
    pub fn links(&self, seed: u64) -> Rows {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let t: Vec<f64> = Self::normals(&mut random, self.nodes)
            .iter()
            .map(|z| (self.tail * z).exp())
            .collect();
        let mut sums = vec![0.0];
        t.iter().for_each(|t| sums.push(sums[sums.len() - 1] + t));
        let mut draw = || {
            let place = random.random_range(0.0..sums[self.nodes]);
            (sums.partition_point(|&sum| sum <= place) - 1) as u32
        };
        let wanted = self.nodes * self.degree / 2;
        let mut seen = HashSet::new();
        let mut coin = ChaCha8Rng::seed_from_u64(seed ^ 0x5a5a);
        while seen.len() < wanted {
            let inside = coin.random_range(0.0..1.0) < self.inside;
            let (a, mut b) = (draw(), draw());
            while (self.class(a) == self.class(b)) != inside {
                b = draw();
            }
            if a != b {
                seen.insert((a.min(b), a.max(b)));
            }
        }
        let mut rows: Rows = seen.into_iter().map(|(a, b)| (a, b, 1.0)).collect();
        rows.sort_by_key(|row| (row.0, row.1));
        rows
    }

    pub fn data(&self, links: &Rows, x: Vec<f64>) -> Dataset {
        let features = Features::new(Matrix::dense(self.nodes, self.columns, x).unwrap());
        Dataset::new(Graph::from_rows(self.nodes, links).unwrap(), features).unwrap()
    }

    /// Adds links between classes, with ends drawn by degree or uniformly.
    pub fn add_false(
        &self,
        links: &mut Rows,
        share: f64,
        by_degree: bool,
        seed: u64,
    ) -> HashSet<(u32, u32)> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let known: HashSet<(u32, u32)> = links.iter().map(|row| (row.0, row.1)).collect();
        let (n, m) = (self.nodes as u32, links.len());
        let mut wrong = HashSet::new();
        while (wrong.len() as f64) < share * m as f64 {
            let mut end = || match by_degree {
                true => {
                    let row = links[random.random_range(0..m)];
                    [row.0, row.1][random.random_range(0..2)]
                }
                false => random.random_range(0..n),
            };
            let (a, b) = (end(), end());
            let pair = (a.min(b), a.max(b));
            if self.class(a) != self.class(b) && !known.contains(&pair) && wrong.insert(pair) {
                links.push((pair.0, pair.1, 1.0));
            }
        }
        wrong
    }
}

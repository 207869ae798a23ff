//! The paper's synthetic graph: four clusters of data vectors, links inside
//! clusters with probability 0.05, across with probability `xi`.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::features::{Features, Matrix};
use linkproof_method::data::graph::Graph;
use linkproof_method::error::Result;

/// How the links go wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// The probability of a link across clusters.
    pub xi: f64,
    /// The share of the pairs across clusters that get a corrupted weight.
    pub corrupted: f64,
    /// That weight.
    pub weight: f64,
}

impl Noise {
    /// False links only.
    pub fn false_links(xi: f64) -> Noise {
        Noise {
            xi,
            corrupted: 0.0,
            weight: 0.0,
        }
    }

    /// Corrupted weights on top of a few false links.
    pub fn corrupted_weights(xi: f64, share: f64, weight: f64) -> Noise {
        Noise {
            xi,
            corrupted: share,
            weight,
        }
    }
}

/// A generated data set.
#[derive(Debug, Clone)]
pub struct Synthetic {
    /// Links and data vectors.
    pub data: Dataset,
    /// The cluster of each node.
    pub labels: Vec<u32>,
}

/// The number of clusters.
pub const CLUSTERS: usize = 4;
const SIZE: usize = 50;
const INNER: usize = 5;
/// The dimension of the data vectors.
const FEATURES: usize = 20;

/// Makes the paper's data set: `n = 200`, `p = 20`; centres in R^5 and a
/// 20 x 5 map, all N(0, 1); `x ~ N(A c, I)`, rescaled to a mean length of 4.
pub fn synthetic(seed: u64, noise: Noise) -> Result<Synthetic> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = |count: usize| -> Vec<f64> {
        (0..count)
            .map(|_| StandardNormal.sample(&mut random))
            .collect()
    };
    let n = CLUSTERS * SIZE;
    let centres = normal(CLUSTERS * INNER);
    let map = normal(FEATURES * INNER);
    let mut x = normal(n * FEATURES);
    for (node, x) in x.chunks_exact_mut(FEATURES).enumerate() {
        let centre = &centres[node / SIZE * INNER..][..INNER];
        for (x, map) in x.iter_mut().zip(map.chunks_exact(INNER)) {
            *x += map.iter().zip(centre).map(|(a, c)| a * c).sum::<f64>();
        }
    }
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mean = x.chunks_exact(FEATURES).map(length).sum::<f64>() / n as f64;
    x.iter_mut().for_each(|x| *x *= 4.0 / mean);

    let mut links = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let inside = i / SIZE == j / SIZE;
            let chance = if inside { 0.05 } else { noise.xi };
            let linked = random.random_bool(chance);
            let corrupted = !inside && noise.corrupted > 0.0 && random.random_bool(noise.corrupted);
            if corrupted {
                links.push((i as u32, j as u32, noise.weight));
            } else if linked {
                links.push((i as u32, j as u32, 1.0));
            }
        }
    }
    let features = Features::new(Matrix::dense(n, FEATURES, x)?);
    Ok(Synthetic {
        data: Dataset::new(Graph::from_rows(n, &links)?, features)?,
        labels: (0..n).map(|node| (node / SIZE) as u32).collect(),
    })
}

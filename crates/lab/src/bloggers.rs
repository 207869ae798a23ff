//! A planted graph like a network of bloggers: many links, of very uneven degrees,
//! fewer than half of them inside a class; and words, of which some tell the class.

use rand::RngExt;

use super::labelled::Labelled;
use super::planted::Random;
use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::features::{Features, Matrix};
use linkproof_method::data::graph::Graph;
use linkproof_method::error::Result;
use linkproof_numeric::math;

/// The sizes of a network of bloggers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bloggers {
    /// The number of classes.
    pub classes: usize,
    /// The nodes of each.
    pub size: usize,
    /// The mean number of links of a node.
    pub degree: usize,
    /// The words that belong to a class, for each.
    pub own_words: usize,
    /// The words that belong to none.
    pub other_words: usize,
}

impl Default for Bloggers {
    fn default() -> Self {
        Bloggers {
            classes: 6,
            size: 250,
            degree: 60,
            own_words: 100,
            other_words: 600,
        }
    }
}

impl Bloggers {
    /// A small network.
    pub const QUICK: Bloggers = Bloggers {
        classes: 3,
        size: 40,
        degree: 10,
        own_words: 20,
        other_words: 60,
    };
}

/// The share of links that stay inside a class.
const INSIDE: f64 = 0.4;
/// The deviation of the logarithms of degrees, and of how popular words are.
const TAIL: f64 = 1.2;
const POPULARITY: f64 = 1.0;
/// The words that a node uses, and the share that it takes from its class's.
const WORDS: usize = 25;
const OWN: f64 = 0.35;

impl Bloggers {
    /// Ends of links are drawn by log-normal propensities: two in five from the
    /// class of the other end, the rest from other classes. Words are drawn by
    /// popularity, from the class's own or from all; they are there or not.
    pub fn make(self, seed: u64) -> Result<Labelled> {
        let mut random = Random::new(seed);
        let n = self.classes * self.size;
        let class = |node: usize| node / self.size;
        let propensities = random.normals(n);
        let urn = Urn::new(propensities.iter().map(|z| math::exp(TAIL * z)));
        let n_links = (n * self.degree / 2).min(n * (self.size - 1) / 4);
        let n_inside = (INSIDE * n_links as f64).round() as usize;
        let mut links = std::collections::BTreeSet::new();
        while links.len() < n_links {
            let a = urn.draw(&mut random, 0..n);
            let b = if links.len() < n_inside {
                let first = class(a) * self.size;
                urn.draw(&mut random, first..first + self.size)
            } else {
                urn.draw(&mut random, 0..n)
            };
            if a != b && (class(a) == class(b)) == (links.len() < n_inside) {
                links.insert((a.min(b) as u32, a.max(b) as u32));
            }
        }
        let n_words = self.classes * self.own_words + self.other_words;
        let popularity = random.normals(n_words);
        let words = Urn::new(popularity.iter().map(|z| math::exp(POPULARITY * z)));
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for node in 0..n {
            let own = class(node) * self.own_words;
            let mut used = std::collections::BTreeSet::new();
            while used.len() < WORDS.min(n_words / 2) {
                let from = match random.0.random::<f64>() < OWN {
                    true => own..own + self.own_words,
                    false => 0..n_words,
                };
                used.insert(words.draw(&mut random, from) as u32);
            }
            columns.extend(used);
            offsets.push(columns.len());
        }
        let values = vec![1.0f32; columns.len()];
        let matrix = Matrix::sparse(n_words, offsets, columns, values)?;
        let links: Vec<(u32, u32, f64)> = links.into_iter().map(|(a, b)| (a, b, 1.0)).collect();
        Ok(Labelled {
            name: "bloggers".into(),
            data: Dataset::new(Graph::from_rows(n, &links)?, Features::new(matrix))?,
            labels: (0..n).map(|node| class(node) as u32).collect(),
        })
    }
}

/// Things that are drawn in proportion to a number.
struct Urn {
    /// The sums up to each, from 0 on.
    sums: Vec<f64>,
}

impl Urn {
    fn new(weights: impl Iterator<Item = f64>) -> Urn {
        let mut sums = vec![0.0];
        let mut sum = 0.0;
        for weight in weights {
            sum += weight;
            sums.push(sum);
        }
        Urn { sums }
    }

    /// One of a range of them.
    fn draw(&self, random: &mut Random, from: std::ops::Range<usize>) -> usize {
        let (low, high) = (self.sums[from.start], self.sums[from.end]);
        let at = low + random.0.random::<f64>() * (high - low);
        let place = self.sums.partition_point(|&sum| sum <= at);
        place.saturating_sub(1).clamp(from.start, from.end - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bloggers_are_as_said() {
        let made = Bloggers::default().make(0).unwrap();
        let graph = made.data.graph();
        let n = made.labels.len() as f64;
        assert_eq!(2.0 * graph.n_links() as f64 / n, 60.0);
        let same = |link: &linkproof_method::data::graph::Link| {
            made.labels[link.src as usize] == made.labels[link.dst as usize]
        };
        let inside = graph.links().filter(same).count() as f64;
        assert!((inside / graph.n_links() as f64 - 0.4).abs() < 1e-3);
        let most = *graph.degrees().iter().max().unwrap();
        assert!(most > 5 * 60, "{most}");
        // The words tell something of the classes, and not all.
        let told = made.vectors_nmi(0).unwrap();
        assert!((20.0..90.0).contains(&told), "{told}");
        let again = Bloggers::default().make(0).unwrap();
        assert!(again.data.graph().links().eq(graph.links()));
    }
}

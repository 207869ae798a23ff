//! The kinds of evidence about a pair, each without the pair's own link.

use linkproof_numeric::linear::{
    TallProduct, cross, gram, inverse, leading_eigen, leading_singular, symmetric_eigen, times,
};
use linkproof_numeric::real::dot;
use rayon::prelude::*;

use super::Progress;
use super::assess::Input;
use super::features::FeatureSpaces;
use super::net::{Net, ScaledNet};
use super::outcome::Kind;
use super::pairs::{FOLDS, Pairs, random_numbers};
use super::paths::Paths;
use super::rows::to_unit_rows;
use crate::error::Result;

/// Eigenpairs that are kept, and columns of the iteration beyond them.
const SPECTRAL_DIM: usize = 48;
const EXTRA: usize = 16;
const ROUNDS: usize = 8;
/// Of the regression of links on features.
const RIDGE: f64 = 3.0;
/// A neighborhood counts so many times the node itself.
const AROUND: f64 = 2.0;
/// Neighborhoods need so many non-links with the degrees that links have without their
/// own link.
const LEAST_LIKE_LINKS: usize = 20;
const SPECTRAL_STREAM: u64 = 0x7370_6563;

/// A kind, and a number for each pair.
pub(super) type Evidence = (Kind, Vec<f64>);

/// What all kinds are made of.
pub(super) struct Known<'k> {
    pub input: &'k Input<'k>,
    pub net: &'k Net,
    pub pairs: &'k Pairs,
}

/// Rows of numbers about nodes, as sources and as targets.
pub(super) struct NodeRows {
    pub left: Vec<f64>,
    /// None if they are the same.
    pub right: Option<Vec<f64>>,
    pub width: usize,
}

impl NodeRows {
    /// Rows that are the same for sources and targets.
    pub fn alike(left: Vec<f64>, width: usize) -> NodeRows {
        let right = None;
        NodeRows { left, right, width }
    }

    fn right(&self) -> &[f64] {
        self.right.as_ref().unwrap_or(&self.left)
    }

    /// The row of a pair's source and that of its target.
    fn of(&self, [i, j]: [u32; 2]) -> (&[f64], &[f64]) {
        let row = |node: u32| node as usize * self.width..(node as usize + 1) * self.width;
        (&self.left[row(i)], &self.right()[row(j)])
    }

    /// For each source the sum of the rows of its targets, and the other way round.
    fn sums_of_neighbors(&self, net: &Net) -> NodeRows {
        let into = || net.incoming().sums(&self.left, self.width);
        NodeRows {
            left: net.outgoing().sums(self.right(), self.width),
            right: net.directed.then(into),
            width: self.width,
        }
    }
}

impl Known<'_> {
    /// A number for each of some pairs, by its ends, and by 1 for a link, 0 for other pairs.
    fn of_pairs(&self, places: &[u32], number: impl Fn([u32; 2], f64) -> f64 + Sync) -> Vec<f64> {
        let pairs = self.pairs;
        let number = |&place: &u32| number(pairs.ends[place as usize], pairs.own(place as usize));
        let chunks = places.par_chunks(4096);
        let parts: Vec<Vec<f64>> = chunks
            .map(|chunk| chunk.iter().map(number).collect())
            .collect();
        parts.concat()
    }

    /// Kinds that leave the own link out by subtraction: similarity of features, common
    /// neighbors, paths of three links.
    pub fn exact(&self) -> Vec<Evidence> {
        let all: Vec<u32> = (0..self.pairs.len() as u32).collect();
        let nearness = |features: &FeatureSpaces| {
            let near = self.of_pairs(&all, |[i, j], _| features.nearness(i, j));
            (Kind::Features, near)
        };
        let mut found: Vec<Evidence> = self.input.features.map(nearness).into_iter().collect();
        let [common, paths] =
            Paths::new(self.input.links, self.net, self.input.seed).of(self.pairs);
        found.push((Kind::CommonNeighbors, common));
        found.push((Kind::Paths, paths));
        found
    }

    /// Kinds that need a decomposition, which is computed for each fold without its links.
    pub fn held_out(&self, progress: &mut Progress<'_>) -> Result<Vec<Evidence>> {
        let inverse = self.input.features.and_then(|features| {
            let mut z = gram(&features.z, features.width);
            (0..features.width).for_each(|at| z[at * features.width + at] += RIDGE);
            inverse(&z, features.width)
        });
        let n = self.pairs.len();
        let mut found: Vec<Evidence> = Vec::new();
        for fold in 0..FOLDS {
            let is_inside = |place: &u32| usize::from(self.pairs.fold[*place as usize]) == fold;
            let places: Vec<u32> = (0..n as u32).filter(is_inside).collect();
            let of_fold = self.fold(fold, &places, inverse.as_deref());
            for (at, (kind, values)) in of_fold.into_iter().enumerate() {
                if fold == 0 {
                    found.push((kind, vec![0.0; n]));
                }
                for (&place, value) in places.iter().zip(values) {
                    found[at].1[place as usize] = value;
                }
            }
            progress.step(1.0)?;
        }
        Ok(found)
    }

    /// The numbers of the pairs of a fold.
    fn fold(&self, fold: usize, places: &[u32], inverse: Option<&[f64]>) -> Vec<Evidence> {
        let rest = self.input.links.ends.iter().copied().zip(&self.pairs.fold);
        let rest = rest.filter(|(_, other)| usize::from(**other) != fold);
        let rest = rest.map(|(ends, _)| ends);
        let rest = Net::new(self.input.links.n, self.input.links.directed, rest);
        let (spectral, signs) = self.spectral(&rest, fold);
        let positions = self.of_pairs(places, |ends, _| {
            let (a, b) = spectral.of(ends);
            let terms = a.iter().zip(b).zip(&signs);
            terms.map(|((x, y), sign)| x * y * sign).sum()
        });
        let (Some(features), Some(inverse)) = (self.input.features, inverse) else {
            let around = self.neighborhoods(places, &spectral);
            return vec![(Kind::Neighborhoods, around), (Kind::Positions, positions)];
        };
        drop(spectral);
        let width = features.width;
        let z = &features.z;
        let moved = {
            let mut moved = vec![0.0; z.len()];
            ScaledNet::new(&rest, false).apply(z, width, &mut moved);
            cross(z, width, &moved, width)
        };
        drop(rest);
        let mut m = vec![0.0; width * width];
        times(inverse, width, &moved, width, &mut m);
        let left = m.clone();
        times(&left, width, inverse, width, &mut m);
        let mut zm = vec![0.0; z.len()];
        times(z, width, &m, width, &mut zm);
        let row = |node: u32| node as usize * width..(node as usize + 1) * width;
        let trait_pairs = self.of_pairs(places, |[i, j], _| dot(&zm[row(i)], &z[row(j)]));
        drop(zm);
        let shared = positive_part(features, &m);
        let traits = self.of_pairs(places, |ends, _| {
            let (a, b) = shared.of(ends);
            dot(a, b)
        });
        let around = self.neighborhoods(places, &shared);
        vec![
            (Kind::Neighborhoods, around),
            (Kind::Positions, positions),
            (Kind::SharedTraits, traits),
            (Kind::TraitPairs, trait_pairs),
        ]
    }

    /// Positions in the graph of links of other folds, and the signs of their products.
    fn spectral(&self, rest: &Net, fold: usize) -> (NodeRows, Vec<f64>) {
        let n = self.input.links.n;
        let k = SPECTRAL_DIM.min(n.saturating_sub(2)).max(1);
        let wide = (k + EXTRA).min(n);
        let stream = SPECTRAL_STREAM + fold as u64;
        let start = random_numbers(n * wide, self.input.seed, stream);
        let calm = ScaledNet::new(rest, true);
        let scaled = |mut rows: Vec<f64>, values: &[f64]| {
            for row in rows.chunks_exact_mut(values.len().max(1)) {
                let both = row.iter_mut().zip(values);
                both.for_each(|(x, value)| *x *= value.abs());
            }
            to_unit_rows(&mut rows, values.len());
            rows
        };
        let (left, right, values) = if rest.directed {
            let found = leading_singular(&calm, start, wide, k, ROUNDS);
            (found.left, Some(found.right), found.values)
        } else {
            let found = leading_eigen(&calm, start, wide, k, ROUNDS);
            (found.vectors, None, found.values)
        };
        let rows = NodeRows {
            left: scaled(left, &values),
            right: right.map(|rows| scaled(rows, &values)),
            width: values.len(),
        };
        (rows, values.iter().map(|value| value.signum()).collect())
    }

    /// Cosine of what the ends and their other neighbors are.
    pub fn neighborhoods(&self, places: &[u32], of: &NodeRows) -> Vec<f64> {
        let sums = of.sums_of_neighbors(self.net);
        self.of_pairs(places, |ends, own| {
            let ((a, b), (sum_i, sum_j)) = (of.of(ends), sums.of(ends));
            let degrees = self.net.degrees(ends);
            let [at_i, at_j] = degrees.map(|degree| AROUND / (degree - own).max(1.0));
            let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
            for k in 0..of.width {
                let x = a[k] + at_i * (sum_i[k] - own * b[k]);
                let y = b[k] + at_j * (sum_j[k] - own * a[k]);
                xy += x * y;
                xx += x * x;
                yy += y * y;
            }
            if xx * yy > 0.0 {
                xy / (xx * yy).sqrt()
            } else {
                0.0
            }
        })
    }

    /// Is each end like the other neighbors of the other end?
    pub fn neighbor_features(&self) -> Option<Evidence> {
        let unit = self.input.features?.unit_rows();
        let sums = unit.sums_of_neighbors(self.net);
        let side = |sum: &[f64], own: f64, other: &[f64]| {
            let (mut along, mut square) = (0.0, 0.0);
            for (x, y) in sum.iter().zip(other) {
                let x = x - own * y;
                along += x * y;
                square += x * x;
            }
            // The sum of unit rows: its mean has the same direction.
            if square > 1e-18 {
                along / square.sqrt()
            } else {
                0.0
            }
        };
        let all: Vec<u32> = (0..self.pairs.len() as u32).collect();
        let value = self.of_pairs(&all, |ends, own| {
            let ((a, b), (sum_i, sum_j)) = (unit.of(ends), sums.of(ends));
            side(sum_i, own, b) + side(sum_j, own, a)
        });
        Some((Kind::NeighborFeatures, value))
    }

    /// Whether enough non-links have degrees that links have without their own link: in a
    /// regular graph the neighborhoods would give links away.
    pub fn neighborhoods_are_fair(&self) -> bool {
        let pairs = self.pairs;
        let degrees = |place: usize| {
            let mut degrees = self.net.degrees(pairs.ends[place]);
            if !self.net.directed {
                degrees.sort_unstable_by(f64::total_cmp);
            }
            degrees.map(|degree| (degree - pairs.own(place)) as u32)
        };
        let of_links: hashbrown::HashSet<[u32; 2]> = (0..pairs.n_links).map(degrees).collect();
        let others = pairs.n_links..pairs.n_links + pairs.n_non_links;
        let like = others.filter(|&place| of_links.contains(&degrees(place)));
        like.take(LEAST_LIKE_LINKS).count() == LEAST_LIKE_LINKS
    }

    /// For each pair 1 if there is a link the other way; none if there is no such link.
    pub fn reverse(&self) -> Option<Vec<f32>> {
        if !self.net.directed {
            return None;
        }
        let back = |&[i, j]: &[u32; 2]| f32::from(u8::from(self.net.has(j, i)));
        let value: Vec<f32> = self.pairs.ends.iter().map(back).collect();
        value.contains(&1.0).then_some(value)
    }
}

/// Vectors whose inner products are the positive part of `Z (M + M') / 2 Z'`, at unit
/// length.
fn positive_part(features: &FeatureSpaces, m: &[f64]) -> NodeRows {
    let width = features.width;
    let mean: Vec<f64> = (0..width * width)
        .map(|at| (m[at] + m[at % width * width + at / width]) / 2.0)
        .collect();
    let (values, vectors) = symmetric_eigen(&mean, width);
    let kept: Vec<usize> = (0..width).filter(|&at| values[at] > 0.0).collect();
    let mut map = Vec::with_capacity(width * kept.len());
    for row in vectors.chunks_exact(width.max(1)) {
        map.extend(kept.iter().map(|&at| row[at] * values[at].sqrt()));
    }
    let n = features.z.len() / width.max(1);
    let mut left = vec![0.0; n * kept.len()];
    times(&features.z, width, &map, kept.len(), &mut left);
    to_unit_rows(&mut left, kept.len());
    NodeRows::alike(left, kept.len())
}

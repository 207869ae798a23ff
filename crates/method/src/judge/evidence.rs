//! The kinds of evidence about a pair, each without the pair's own link.

use linkproof_numeric::linear::{
    TallProduct, cross, gram, inverse, leading_eigen, leading_singular, symmetric_eigen, times,
};
use linkproof_numeric::math;
use linkproof_numeric::real::dot;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Progress;
use super::features::FeatureSpaces;
use super::net::{Net, ScaledNet, sums_of_neighbors};
use super::outcome::Kind;
use super::pairs::{FOLDS, Links, Pairs};
use super::paths::{Middle, Walk};
use super::rows::to_unit_rows;
use crate::error::Result;

/// Eigenpairs that are kept, and columns of the iteration beyond them.
const SPECTRAL_DIM: usize = 48;
const EXTRA: usize = 16;
const ROUNDS: usize = 8;
/// Of the regression of links on features.
const RIDGE: f64 = 3.0;
/// What rounding leaves of a subtraction.
const ROUNDING: f64 = 1e-9;
/// A neighborhood counts so many times the node itself.
const AROUND: f64 = 2.0;
/// Neighborhoods need so many non-links with the degrees that links have without their
/// own link.
const LEAST_LIKE_LINKS: usize = 20;
const SPECTRAL_STREAM: u64 = 0x7370_6563;

/// A number for each pair.
pub(super) struct Evidence {
    /// The kind.
    pub kind: Kind,
    /// The numbers, in the order of the pairs.
    pub value: Vec<f64>,
}

/// What all kinds are made of.
pub(super) struct Known<'k> {
    pub links: &'k Links,
    pub net: &'k Net,
    pub features: Option<&'k FeatureSpaces>,
    pub pairs: &'k Pairs,
    pub seed: u64,
}

/// A number for each of some pairs, in parallel.
fn for_pairs(places: &[u32], number: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let number = &number;
    let chunks = places.par_chunks(4096);
    let parts: Vec<Vec<f64>> = chunks
        .map(|chunk| chunk.iter().map(|&place| number(place as usize)).collect())
        .collect();
    parts.concat()
}

fn row(rows: &[f64], width: usize, node: u32) -> &[f64] {
    &rows[node as usize * width..(node as usize + 1) * width]
}

impl Known<'_> {
    /// Similarity of features.
    pub fn nearness(&self) -> Option<Evidence> {
        let features = self.features?;
        let all: Vec<u32> = (0..self.pairs.len() as u32).collect();
        let value = for_pairs(&all, |place| {
            let [i, j] = self.pairs.ends[place];
            features.nearness(i, j)
        });
        Some(Evidence {
            kind: Kind::Features,
            value,
        })
    }

    /// Common neighbors and paths of three links, by degrees; what the own link adds is
    /// subtracted.
    pub fn neighbors(&self) -> [Evidence; 2] {
        let (net, pairs) = (self.net, self.pairs);
        let inv: Vec<f64> = (0..net.n())
            .map(|node| 1.0 / net.degree(node).max(1.0).sqrt())
            .collect();
        let middle = Middle::new(self.links, net, self.seed);
        let (to_end, from_start) = middle.round_trips(net, &inv);
        // Each pair is looked up at the end with fewer neighbors.
        let mut starts: [Vec<(u32, u32, u32)>; 2] = [Vec::new(), Vec::new()];
        for (place, &[i, j]) in pairs.ends.iter().enumerate() {
            let from_i = net.d_out[i as usize] >= net.d_in[j as usize];
            let (backward, start, end) = match (from_i, net.directed) {
                (true, _) => (0, i, j),
                (false, false) => (0, j, i),
                (false, true) => (1, j, i),
            };
            starts[backward].push((start, end, place as u32));
        }
        let n = pairs.len();
        let (mut common, mut paths) = (vec![0.0; n], vec![0.0; n]);
        for (backward, mut found) in starts.into_iter().enumerate() {
            found.sort_unstable();
            let walk = Walk {
                near: [net.outgoing(), net.incoming()][backward],
                far: [net.incoming(), net.outgoing()][backward],
                middle: [&middle.out, middle.incoming()][backward],
                weight: &middle.weight,
                inv: &inv,
            };
            for (place, cn, p3) in walk.all(&found) {
                common[place as usize] = cn;
                paths[place as usize] = p3;
            }
        }
        for place in 0..n {
            let [i, j] = pairs.ends[place];
            let (a, b, own) = (i as usize, j as usize, pairs.own(place));
            let room = ((net.d_out[a] - own + 1.0) * (net.d_in[b] - own + 1.0)).sqrt();
            let mut p3 = paths[place];
            if own > 0.0 {
                let both = middle.weight_of(j, i) * inv[a] * inv[b];
                p3 -= inv[b] * to_end[b] + inv[a] * from_start[a] - both;
            }
            let p3 = if p3 > ROUNDING { p3 } else { 0.0 };
            common[place] = math::ln_1p(100.0 * common[place] / room);
            paths[place] = math::ln_1p(10.0 * p3 / room);
        }
        let evidence = |kind, value| Evidence { kind, value };
        [
            evidence(Kind::CommonNeighbors, common),
            evidence(Kind::Paths, paths),
        ]
    }

    /// Kinds that need a decomposition, which is computed for each fold without its links.
    pub fn held_out(&self, progress: &mut Progress<'_>) -> Result<Vec<Evidence>> {
        let mut kinds = vec![Kind::Neighborhoods, Kind::Positions];
        if self.features.is_some() {
            kinds.extend([Kind::SharedTraits, Kind::TraitPairs]);
        }
        let inverse = self.features.and_then(|features| {
            let mut z = gram(&features.z, features.width);
            (0..features.width).for_each(|at| z[at * features.width + at] += RIDGE);
            inverse(&z, features.width)
        });
        let n = self.pairs.len();
        let mut found: Vec<Evidence> = kinds
            .into_iter()
            .map(|kind| Evidence {
                kind,
                value: vec![0.0; n],
            })
            .collect();
        for fold in 0..FOLDS {
            let places: Vec<u32> = (0..n as u32)
                .filter(|&place| usize::from(self.pairs.fold[place as usize]) == fold)
                .collect();
            for (evidence, values) in found.iter_mut().zip(self.fold(fold, &places, &inverse)) {
                for (&place, value) in places.iter().zip(values) {
                    evidence.value[place as usize] = value;
                }
            }
            progress.step(1.0)?;
        }
        Ok(found)
    }

    /// The numbers of the pairs of a fold: neighborhoods, positions, and with features
    /// shared traits and pairs of traits.
    fn fold(&self, fold: usize, places: &[u32], inverse: &Option<Vec<f64>>) -> Vec<Vec<f64>> {
        let pairs = self.pairs;
        let rest = self.links.ends.iter().copied().zip(&pairs.fold);
        let rest = rest.filter(|(_, other)| usize::from(**other) != fold);
        let rest = Net::new(
            self.links.n,
            self.links.directed,
            rest.map(|(ends, _)| ends),
        );
        let spectral = self.spectral(&rest, fold);
        let positions = for_pairs(places, |place| {
            let [i, j] = pairs.ends[place];
            let (a, b) = (spectral.left(i), spectral.right(j));
            let signs = spectral.signs.iter();
            a.iter()
                .zip(b)
                .zip(signs)
                .map(|((x, y), sign)| x * y * sign)
                .sum()
        });
        let (Some(features), Some(inverse)) = (self.features, inverse) else {
            let around = self.neighborhoods(places, &spectral);
            return vec![around, positions];
        };
        drop(spectral);
        let width = features.width;
        let z = &features.z;
        let mut moved = vec![0.0; z.len()];
        ScaledNet::new(&rest, false).apply(z, width, &mut moved);
        drop(rest);
        let moved = cross(z, width, &moved, width);
        let mut m = vec![0.0; width * width];
        times(inverse, width, &moved, width, &mut m);
        let left = m.clone();
        times(&left, width, inverse, width, &mut m);
        let mut zm = vec![0.0; z.len()];
        times(z, width, &m, width, &mut zm);
        let trait_pairs = for_pairs(places, |place| {
            let [i, j] = pairs.ends[place];
            dot(row(&zm, width, i), row(z, width, j))
        });
        drop(zm);
        let shared = Spectral::positive_part(features, &m);
        let traits = for_pairs(places, |place| {
            let [i, j] = pairs.ends[place];
            dot(shared.left(i), shared.right(j))
        });
        let around = self.neighborhoods(places, &shared);
        vec![around, positions, traits, trait_pairs]
    }

    /// Positions in the graph of links of other folds.
    fn spectral(&self, rest: &Net, fold: usize) -> Spectral {
        let n = self.links.n;
        let k = SPECTRAL_DIM.min(n.saturating_sub(2)).max(1);
        let wide = (k + EXTRA).min(n);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(SPECTRAL_STREAM + fold as u64);
        let start = (0..n * wide)
            .map(|_| random.random_range(-1.0..1.0))
            .collect();
        let calm = ScaledNet::new(rest, true);
        let scaled = |mut rows: Vec<f64>, values: &[f64]| {
            for row in rows.chunks_exact_mut(values.len().max(1)) {
                row.iter_mut()
                    .zip(values)
                    .for_each(|(x, value)| *x *= value.abs());
            }
            to_unit_rows(&mut rows, values.len());
            rows
        };
        if !rest.directed {
            let found = leading_eigen(&calm, start, wide, k, ROUNDS);
            return Spectral {
                width: found.values.len(),
                left: scaled(found.vectors, &found.values),
                right: None,
                signs: found.values.iter().map(|value| value.signum()).collect(),
            };
        }
        let found = leading_singular(&calm, start, wide, k, ROUNDS);
        Spectral {
            width: found.values.len(),
            left: scaled(found.left, &found.values),
            right: Some(scaled(found.right, &found.values)),
            signs: vec![1.0; found.values.len()],
        }
    }

    /// Cosine of what the ends and their other neighbors are.
    pub fn neighborhoods(&self, places: &[u32], of: &Spectral) -> Vec<f64> {
        let (net, pairs, width) = (self.net, self.pairs, of.width);
        let out = sums_of_neighbors(net.outgoing(), of.right.as_ref().unwrap_or(&of.left), width);
        let into = net
            .directed
            .then(|| sums_of_neighbors(net.incoming(), &of.left, width));
        let into = into.as_ref().unwrap_or(&out);
        for_pairs(places, |place| {
            let [i, j] = pairs.ends[place];
            let own = pairs.own(place);
            let (a, b) = (of.left(i), of.right(j));
            let weight = |degree: f64| AROUND / (degree - own).max(1.0);
            let at_i = weight(net.d_out[i as usize]);
            let at_j = weight(net.d_in[j as usize]);
            let (sum_i, sum_j) = (row(&out, width, i), row(into, width, j));
            let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
            for k in 0..width {
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
        let (unit, width) = self.features?.unit_rows();
        let (net, pairs) = (self.net, self.pairs);
        let out = sums_of_neighbors(net.outgoing(), &unit, width);
        let into = net
            .directed
            .then(|| sums_of_neighbors(net.incoming(), &unit, width));
        let into = into.as_ref().unwrap_or(&out);
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
        let all: Vec<u32> = (0..pairs.len() as u32).collect();
        let value = for_pairs(&all, |place| {
            let [i, j] = pairs.ends[place];
            let own = pairs.own(place);
            side(row(&out, width, i), own, row(&unit, width, j))
                + side(row(into, width, j), own, row(&unit, width, i))
        });
        Some(Evidence {
            kind: Kind::NeighborFeatures,
            value,
        })
    }

    /// Whether enough non-links have degrees that links have without their own link: in a
    /// regular graph the neighborhoods would give links away.
    pub fn neighborhoods_are_fair(&self) -> bool {
        let (net, pairs) = (self.net, self.pairs);
        let degrees = |place: usize| {
            let [i, j] = pairs.ends[place];
            let own = pairs.own(place) as u32;
            let (a, b) = (
                net.d_out[i as usize] as u32 - own,
                net.d_in[j as usize] as u32 - own,
            );
            if net.directed {
                (a, b)
            } else {
                (a.min(b), a.max(b))
            }
        };
        let of_links: hashbrown::HashSet<(u32, u32)> = (0..pairs.n_links).map(degrees).collect();
        let others = pairs.n_links..pairs.n_links + pairs.n_non_links;
        let like = others.filter(|&place| of_links.contains(&degrees(place)));
        like.take(LEAST_LIKE_LINKS).count() == LEAST_LIKE_LINKS
    }

    /// For each pair 1 if there is a link the other way; none if there is no such link.
    pub fn reverse(&self) -> Option<Vec<f64>> {
        if !self.net.directed {
            return None;
        }
        let back = |&[i, j]: &[u32; 2]| f64::from(u8::from(self.net.has(j, i)));
        let value: Vec<f64> = self.pairs.ends.iter().map(back).collect();
        value.iter().any(|&x| x > 0.0).then_some(value)
    }
}

/// Rows of unit length for sources and for targets.
pub(super) struct Spectral {
    pub left: Vec<f64>,
    pub right: Option<Vec<f64>>,
    pub signs: Vec<f64>,
    pub width: usize,
}

impl Spectral {
    fn left(&self, node: u32) -> &[f64] {
        row(&self.left, self.width, node)
    }

    fn right(&self, node: u32) -> &[f64] {
        row(self.right.as_ref().unwrap_or(&self.left), self.width, node)
    }

    /// Vectors whose inner products are the positive part of `Z (M + M') / 2 Z'`, at unit
    /// length.
    fn positive_part(features: &FeatureSpaces, m: &[f64]) -> Spectral {
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
        Spectral {
            left,
            right: None,
            signs: vec![1.0; kept.len()],
            width: kept.len(),
        }
    }
}

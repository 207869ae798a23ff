//! Features as the judge compares them: prepared rows, and few numbers that stand for them.

use linkproof_numeric::linear::{TallProduct, cross, leading_singular, times};
use linkproof_numeric::real::{add_scaled, dot};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::dataset::{DataView, Dataset};
use crate::data::features::Matrix;

/// Numbers that stand for the features of a node: so many leading singular triples.
const FEATURE_DIM: usize = 64;
/// With many feature spaces, so many at least for each.
const LEAST_DIM: usize = 16;
/// Columns of the subspace iteration beyond those that are wanted, and its rounds.
const EXTRA: usize = 10;
const ROUNDS: usize = 4;
/// Features with negative entries count as sparse, too, if at most this share of the entries
/// is not 0: centered columns would fill rows that say little (on protein interactions with
/// 1% of the entries the AUC falls by .02).
const VERY_SPARSE: f64 = 0.1;
/// Sparse matrices with negative entries are centered up to so many entries in all.
const MOST_DENSE: usize = 1 << 27;
/// Rows of a product that one task computes.
const ROWS: usize = 256;
/// The stream of random numbers that the subspace iteration starts from.
const START_STREAM: u64 = 0x6665_6174;

/// A node without features.
const NO_ROW: u32 = u32::MAX;

/// Rows ready to be compared.
enum Rows {
    /// Most entries 0, and nothing negative or nearly all entries 0: rows of unit length.
    Sparse {
        width: usize,
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
        /// The same by columns.
        turned: (Vec<usize>, Vec<u32>, Vec<f64>),
    },
    /// Columns centered and scaled.
    Dense { width: usize, values: Vec<f64> },
}

/// Nodes whose features have the same columns.
struct Space {
    rows: Rows,
    /// For each row how similar it is to everything on average (dense: its squared length).
    usual: Vec<f64>,
}

/// The features of all nodes.
pub(super) struct FeatureSpaces {
    spaces: Vec<Space>,
    /// For each node its space and its row there.
    places: Vec<(u32, u32)>,
    /// Whether a node has no features, or only zeros.
    pub silent: Vec<bool>,
    /// For each node the constant and the leading singular vectors of its space.
    pub z: Vec<f64>,
    /// The numbers of a row of `z`.
    pub width: usize,
    /// The columns of `z` that are constant within a space.
    constants: Vec<usize>,
}

impl FeatureSpaces {
    /// The features of `data`, whose internal row `r` is the node `node_of[r]`; a node
    /// takes the features of the first of its rows. None if no view has features.
    pub fn new(data: &Dataset, node_of: &[u32], n: usize, seed: u64) -> Option<FeatureSpaces> {
        let views: Vec<&DataView> = data.views().iter().collect();
        if views.iter().all(|view| view.matrix.is_none()) {
            return None;
        }
        let mut places = vec![(0, NO_ROW); n];
        let mut known = vec![false; n];
        let mut spaces = Vec::new();
        let mut silent = vec![true; n];
        let mut labels: Vec<usize> = views.iter().map(|view| view.space).collect();
        labels.sort_unstable();
        labels.dedup();
        for (place, &label) in labels.iter().enumerate() {
            let members = views.iter().filter(|view| view.space == label);
            let mut parts: Vec<(&Matrix, Vec<u32>)> = Vec::new();
            let mut count = 0u32;
            for view in members {
                let mut rows = Vec::new();
                for (row, inside) in view.rows.clone().enumerate() {
                    let node = node_of[inside] as usize;
                    if known[node] {
                        continue;
                    }
                    known[node] = true;
                    places[node] = (place as u32, NO_ROW);
                    if let Some(matrix) = &view.matrix {
                        places[node].1 = count;
                        silent[node] = matrix.row(row).iter().all(|&(_, x)| x == 0.0);
                        rows.push(row as u32);
                        count += 1;
                    }
                }
                if let Some(matrix) = &view.matrix {
                    parts.push((matrix, rows));
                }
            }
            let rows = Rows::new(&parts);
            let usual = rows.usual(count as usize);
            spaces.push(Space { rows, usual });
        }
        let mut features = FeatureSpaces {
            spaces,
            places,
            silent,
            z: Vec::new(),
            width: 0,
            constants: Vec::new(),
        };
        features.reduce(n, seed);
        Some(features)
    }

    /// Fills `z`.
    fn reduce(&mut self, n: usize, seed: u64) {
        let most = (2 * FEATURE_DIM / self.spaces.len()).clamp(LEAST_DIM, FEATURE_DIM);
        let reduced: Vec<(Vec<f64>, usize)> = self
            .spaces
            .iter()
            .map(|space| space.rows.reduced(space.usual.len(), most, seed))
            .collect();
        self.width = reduced.iter().map(|(_, width)| width + 1).sum();
        let mut firsts = Vec::new();
        let mut first = 0;
        for (_, width) in &reduced {
            firsts.push(first);
            first += width + 1;
        }
        self.z = vec![0.0; n * self.width];
        for (row, &(space, place)) in self.z.chunks_exact_mut(self.width).zip(&self.places) {
            let (numbers, width) = &reduced[space as usize];
            let first = firsts[space as usize];
            row[first] = 0.1;
            if place != NO_ROW {
                let from = place as usize * width;
                row[first + 1..first + 1 + width].copy_from_slice(&numbers[from..from + width]);
            }
        }
        self.constants = firsts;
    }

    /// `z` without its constants, in rows of unit length; and the width of these.
    pub fn unit_rows(&self) -> (Vec<f64>, usize) {
        let kept: Vec<usize> = (0..self.width)
            .filter(|column| !self.constants.contains(column))
            .collect();
        let mut rows: Vec<f64> = self
            .z
            .chunks_exact(self.width)
            .flat_map(|row| kept.iter().map(|&column| row[column]))
            .collect();
        to_unit_rows(&mut rows, kept.len());
        (rows, kept.len())
    }

    /// Whether both nodes have features in one space.
    pub fn comparable(&self, i: u32, j: u32) -> bool {
        let (a, b) = (self.places[i as usize], self.places[j as usize]);
        a.0 == b.0 && a.1 != NO_ROW && b.1 != NO_ROW
    }

    /// How similar two nodes are beyond what each is with everything; 0 if they have no
    /// features in common.
    pub fn nearness(&self, i: u32, j: u32) -> f64 {
        if !self.comparable(i, j) {
            return 0.0;
        }
        let (space, a) = self.places[i as usize];
        let b = self.places[j as usize].1 as usize;
        let (space, a) = (&self.spaces[space as usize], a as usize);
        space.rows.product(a, b) - (space.usual[a] + space.usual[b]) / 2.0
    }

    /// Nodes whose feature rows are equal, in groups of at most `most`; nodes without
    /// features are in none.
    pub fn equal_rows(&self, most: usize) -> Vec<Vec<u32>> {
        let mut groups: std::collections::BTreeMap<(u32, u64), Vec<u32>> =
            std::collections::BTreeMap::new();
        for (node, &(space, row)) in self.places.iter().enumerate() {
            if row != NO_ROW && !self.silent[node] {
                let digest = self.spaces[space as usize].rows.digest(row as usize);
                groups.entry((space, digest)).or_default().push(node as u32);
            }
        }
        let mut found = Vec::new();
        for ((space, _), nodes) in groups {
            let rows = &self.spaces[space as usize].rows;
            let row = |node: u32| self.places[node as usize].1 as usize;
            let equal = nodes
                .iter()
                .all(|&node| rows.same(row(nodes[0]), row(node)));
            if (2..=most).contains(&nodes.len()) && equal {
                found.push(nodes);
            }
        }
        found
    }
}

/// Divides each row by its length; rows shorter than `1e-9` become 0.
pub(super) fn to_unit_rows(rows: &mut [f64], width: usize) {
    if width == 0 {
        return;
    }
    rows.par_chunks_mut(width * ROWS).for_each(|rows| {
        for row in rows.chunks_exact_mut(width) {
            let length = dot(row, row).sqrt();
            let factor = if length > 1e-9 { 1.0 / length } else { 0.0 };
            row.iter_mut().for_each(|x| *x *= factor);
        }
    });
}

/// Entries of a row that are not 0.
fn entries(matrix: &Matrix, row: u32) -> impl Iterator<Item = (u32, f64)> {
    let entries = matrix.row(row as usize).into_iter();
    entries.filter(|&(_, x)| x != 0.0)
}

impl Rows {
    /// Some rows of some matrices with the same columns.
    fn new(parts: &[(&Matrix, Vec<u32>)]) -> Rows {
        let width = parts.first().map_or(0, |(matrix, _)| matrix.n_columns());
        let count: usize = parts.iter().map(|(_, rows)| rows.len()).sum();
        let all = || {
            let rows = |(matrix, rows): &(&'_ Matrix, Vec<u32>)| {
                let matrix: &Matrix = matrix;
                rows.iter()
                    .map(|&row| entries(matrix, row).collect::<Vec<_>>())
                    .collect::<Vec<_>>()
            };
            parts.iter().flat_map(rows)
        };
        let (mut stored, mut negative) = (0, false);
        for row in all() {
            stored += row.len();
            negative |= row.iter().any(|&(_, x)| x < 0.0);
        }
        let mostly_zero = 2 * stored < count * width;
        let very_sparse = stored as f64 <= VERY_SPARSE * (count * width) as f64;
        let too_large = count * width > MOST_DENSE;
        if !mostly_zero || (negative && !very_sparse && !too_large) {
            let mut values = vec![0.0; count * width];
            for (out, row) in values.chunks_exact_mut(width.max(1)).zip(all()) {
                row.into_iter()
                    .for_each(|(column, x)| out[column as usize] = x);
            }
            standardize_columns(&mut values, width);
            return Rows::Dense { width, values };
        }
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::with_capacity(stored), Vec::with_capacity(stored));
        for row in all() {
            let length = row.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
            for (column, x) in row {
                columns.push(column);
                values.push(x / length);
            }
            offsets.push(columns.len());
        }
        let turned = turn(width, &offsets, &columns, &values);
        Rows::Sparse {
            width,
            offsets,
            columns,
            values,
            turned,
        }
    }

    fn width(&self) -> usize {
        match self {
            Rows::Sparse { width, .. } | Rows::Dense { width, .. } => *width,
        }
    }

    /// For each row its mean product with all rows; of dense rows the squared length.
    fn usual(&self, count: usize) -> Vec<f64> {
        match self {
            Rows::Dense { width, values } => {
                let rows = values.chunks_exact((*width).max(1));
                rows.map(|row| dot(row, row)).collect()
            }
            Rows::Sparse {
                width,
                offsets,
                columns,
                values,
                ..
            } => {
                let mut mean = vec![0.0; *width];
                for (&column, x) in columns.iter().zip(values) {
                    mean[column as usize] += x / count as f64;
                }
                let row = |range: &[usize]| {
                    let range = range[0]..range[1];
                    let entries = columns[range.clone()].iter().zip(&values[range]);
                    entries.map(|(&column, x)| x * mean[column as usize]).sum()
                };
                offsets.windows(2).map(row).collect()
            }
        }
    }

    /// The inner product of two rows.
    fn product(&self, a: usize, b: usize) -> f64 {
        match self {
            Rows::Dense { width, values } => {
                let row = |row: usize| &values[row * width..(row + 1) * width];
                dot(row(a), row(b))
            }
            Rows::Sparse {
                offsets,
                columns,
                values,
                ..
            } => {
                let (mut p, mut q) = (offsets[a], offsets[b]);
                let mut sum = 0.0;
                while p < offsets[a + 1] && q < offsets[b + 1] {
                    match columns[p].cmp(&columns[q]) {
                        std::cmp::Ordering::Less => p += 1,
                        std::cmp::Ordering::Greater => q += 1,
                        std::cmp::Ordering::Equal => {
                            sum += values[p] * values[q];
                            p += 1;
                            q += 1;
                        }
                    }
                }
                sum
            }
        }
    }

    fn digest(&self, row: usize) -> u64 {
        let mix = |hash: u64, x: u64| super::pairs::mixed(hash ^ x);
        match self {
            Rows::Dense { width, values } => {
                let row = &values[row * width..(row + 1) * width];
                row.iter().fold(0, |hash, x| mix(hash, x.to_bits()))
            }
            Rows::Sparse {
                offsets,
                columns,
                values,
                ..
            } => (offsets[row]..offsets[row + 1]).fold(0, |hash, place| {
                mix(
                    mix(hash, u64::from(columns[place])),
                    values[place].to_bits(),
                )
            }),
        }
    }

    fn same(&self, a: usize, b: usize) -> bool {
        match self {
            Rows::Dense { width, values } => {
                let row = |row: usize| &values[row * width..(row + 1) * width];
                row(a) == row(b)
            }
            Rows::Sparse {
                offsets,
                columns,
                values,
                ..
            } => {
                let range = |row: usize| offsets[row]..offsets[row + 1];
                columns[range(a)] == columns[range(b)] && values[range(a)] == values[range(b)]
            }
        }
    }

    /// Leading singular vectors at the root of their singular values, for each row, and
    /// how many.
    fn reduced(&self, count: usize, most: usize, seed: u64) -> (Vec<f64>, usize) {
        let width = self.width();
        let k = match count.min(width) {
            few if few <= most => few,
            _ => most,
        };
        if k == 0 {
            return (Vec::new(), 0);
        }
        let wide = (k + EXTRA).min(width);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(START_STREAM);
        let start = (0..width * wide)
            .map(|_| random.random_range(-1.0..1.0))
            .collect();
        let product = RowProduct { rows: self, count };
        let found = leading_singular(&product, start, wide, k, ROUNDS);
        let k = found.values.len();
        let largest = found.values.first().copied().unwrap_or(0.0);
        let scale: Vec<f64> = found
            .values
            .iter()
            .map(|&s| match largest > 0.0 {
                true => (s / largest).max(0.0).sqrt() * (count as f64).sqrt() / 10.0,
                false => 0.0,
            })
            .collect();
        let mut left = found.left;
        for row in left.chunks_exact_mut(k.max(1)) {
            row.iter_mut()
                .zip(&scale)
                .for_each(|(x, scale)| *x *= scale);
        }
        (left, k)
    }
}

/// Centers the columns and divides them by their standard deviations.
fn standardize_columns(values: &mut [f64], width: usize) {
    let count = (values.len() / width.max(1)).max(1) as f64;
    let mut means = vec![0.0; width];
    for row in values.chunks_exact(width.max(1)) {
        add_scaled(&mut means, 1.0 / count, row);
    }
    let mut squares = vec![0.0; width];
    for row in values.chunks_exact_mut(width.max(1)) {
        for ((x, mean), square) in row.iter_mut().zip(&means).zip(&mut squares) {
            *x -= mean;
            *square += *x * *x / count;
        }
    }
    for row in values.chunks_exact_mut(width.max(1)) {
        for (x, square) in row.iter_mut().zip(&squares) {
            *x /= square.sqrt().max(1e-12);
        }
    }
}

/// Compressed rows as compressed columns.
fn turn(
    width: usize,
    offsets: &[usize],
    columns: &[u32],
    values: &[f64],
) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let mut starts = vec![0usize; width + 1];
    for &column in columns {
        starts[column as usize + 1] += 1;
    }
    for column in 0..width {
        starts[column + 1] += starts[column];
    }
    let mut next = starts.clone();
    let mut rows = vec![0u32; columns.len()];
    let mut turned = vec![0.0; columns.len()];
    for (row, range) in offsets.windows(2).enumerate() {
        for place in range[0]..range[1] {
            let to = &mut next[columns[place] as usize];
            rows[*to] = row as u32;
            turned[*to] = values[place];
            *to += 1;
        }
    }
    (starts, rows, turned)
}

/// The rows as a matrix.
struct RowProduct<'r> {
    rows: &'r Rows,
    count: usize,
}

fn sparse_product(
    (offsets, columns, values): (&[usize], &[u32], &[f64]),
    q: &[f64],
    width: usize,
    out: &mut [f64],
) {
    out.par_chunks_mut(width * ROWS)
        .enumerate()
        .for_each(|(block, out)| {
            for (place, sum) in out.chunks_exact_mut(width).enumerate() {
                let row = block * ROWS + place;
                sum.fill(0.0);
                for entry in offsets[row]..offsets[row + 1] {
                    let from = columns[entry] as usize * width;
                    add_scaled(sum, values[entry], &q[from..from + width]);
                }
            }
        });
}

impl TallProduct for RowProduct<'_> {
    fn n_out(&self) -> usize {
        self.count
    }

    fn n_in(&self) -> usize {
        self.rows.width()
    }

    fn apply(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        match self.rows {
            Rows::Dense { width, values } => times(values, *width, q, columns, out),
            Rows::Sparse {
                offsets,
                columns: at,
                values,
                ..
            } => sparse_product((offsets, at, values), q, columns, out),
        }
    }

    fn apply_transposed(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        match self.rows {
            Rows::Dense { width, values } => {
                out.copy_from_slice(&cross(values, *width, q, columns));
            }
            Rows::Sparse { turned, .. } => {
                sparse_product((&turned.0, &turned.1, &turned.2), q, columns, out);
            }
        }
    }
}

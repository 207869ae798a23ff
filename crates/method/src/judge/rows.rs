//! Rows of features, ready to be compared, and few numbers that stand for each.

use linkproof_numeric::linear::{TallProduct, cross, leading_singular, times};
use linkproof_numeric::real::{add_scaled, dot};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::features::Matrix;

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

/// Rows ready to be compared.
pub(super) enum Rows {
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
    pub fn new<'p>(parts: &'p [(&'p Matrix, Vec<u32>)]) -> Rows {
        let width = parts.first().map_or(0, |(matrix, _)| matrix.n_columns());
        let count: usize = parts.iter().map(|(_, rows)| rows.len()).sum();
        let all = || {
            let rows = |(matrix, rows): &'p (&'p Matrix, Vec<u32>)| {
                let matrix: &Matrix = matrix;
                let rows = rows.iter();
                rows.map(move |&row| entries(matrix, row).collect::<Vec<_>>())
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
    pub fn usual(&self, count: usize) -> Vec<f64> {
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
    pub fn product(&self, a: usize, b: usize) -> f64 {
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

    pub fn digest(&self, row: usize) -> u64 {
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

    pub fn same(&self, a: usize, b: usize) -> bool {
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
    pub fn reduced(&self, count: usize, most: usize, seed: u64) -> (Vec<f64>, usize) {
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
            .map(|&s| {
                if largest > 0.0 {
                    (s / largest).max(0.0).sqrt() * (count as f64).sqrt() / 10.0
                } else {
                    0.0
                }
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
    if width == 0 {
        return;
    }
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

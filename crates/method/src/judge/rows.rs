//! Rows of features, ready to be compared, and few numbers that stand for each.

use std::cmp::Ordering;

use linkproof_numeric::linear::{TallProduct, cross, leading_singular, times};
use linkproof_numeric::real::{add_scaled, dot};
use rayon::prelude::*;

use super::net::sum_rows;
use super::pairs::random_numbers;
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
/// The stream of random numbers that the subspace iteration starts from.
const START_STREAM: u64 = 0x6665_6174;

/// Rows ready to be compared. If most entries are 0, and nothing is negative or nearly all
/// entries are 0: rows of unit length. Else all entries, columns centered and scaled.
pub(super) struct Rows {
    count: usize,
    width: usize,
    entries: Entries,
    /// The same by columns; none if all entries are stored.
    by_columns: Option<Entries>,
    /// For each row its mean product with all rows; if all entries are stored, its squared
    /// length.
    usual: Vec<f64>,
}

/// Numbers under their rows.
struct Entries {
    offsets: Vec<usize>,
    /// Empty if all entries are stored.
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Entries {
    fn of(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        let columns = self.columns.get(range.clone()).unwrap_or(&[]);
        (columns, &self.values[range])
    }

    /// Columns as rows.
    fn turned(&self, width: usize) -> Entries {
        let mut offsets = vec![0usize; width + 1];
        for &column in &self.columns {
            offsets[column as usize + 1] += 1;
        }
        for column in 0..width {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0u32; self.columns.len()];
        let mut values = vec![0.0; self.columns.len()];
        for row in 0..self.offsets.len() - 1 {
            let (of_row, numbers) = self.of(row);
            for (&column, &x) in of_row.iter().zip(numbers) {
                let to = &mut next[column as usize];
                columns[*to] = row as u32;
                values[*to] = x;
                *to += 1;
            }
        }
        Entries {
            offsets,
            columns,
            values,
        }
    }

    fn times(&self, q: &[f64], width: usize, out: &mut [f64]) {
        sum_rows(q, width, out, |row| {
            let (columns, values) = self.of(row);
            (1.0, columns.iter().copied().zip(values.iter().copied()))
        });
    }
}

/// Divides each row by its length; rows shorter than `1e-9` become 0.
pub(super) fn to_unit_rows(rows: &mut [f64], width: usize) {
    rows.par_chunks_mut(width.max(1)).for_each(|row| {
        let length = dot(row, row).sqrt();
        let factor = if length > 1e-9 { 1.0 / length } else { 0.0 };
        row.iter_mut().for_each(|x| *x *= factor);
    });
}

impl Rows {
    /// Some rows of some matrices with the same columns.
    pub fn new<'p>(parts: &'p [(&'p Matrix, Vec<u32>)]) -> Rows {
        let width = parts.first().map_or(0, |(matrix, _)| matrix.n_columns());
        let count: usize = parts.iter().map(|(_, rows)| rows.len()).sum();
        let all = || {
            let rows = parts
                .iter()
                .flat_map(|(matrix, rows)| rows.iter().map(|&row| matrix.row(row as usize)));
            rows.map(|row| row.into_iter().filter(|&(_, x)| x != 0.0))
        };
        let (mut stored, mut negative) = (0, false);
        for (_, x) in all().flatten() {
            stored += 1;
            negative |= x < 0.0;
        }
        let mostly_zero = 2 * stored < count * width;
        let very_sparse = stored as f64 <= VERY_SPARSE * (count * width) as f64;
        let too_large = count * width > MOST_DENSE;
        let mut entries = Entries {
            offsets: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
        };
        if !mostly_zero || (negative && !very_sparse && !too_large) {
            entries.offsets = (0..=count).map(|row| row * width).collect();
            entries.values = vec![0.0; count * width];
            for (out, row) in entries.values.chunks_exact_mut(width.max(1)).zip(all()) {
                row.for_each(|(column, x)| out[column as usize] = x);
            }
            standardize_columns(&mut entries.values, width);
            let usual = |row: usize| dot(entries.of(row).1, entries.of(row).1);
            return Rows {
                usual: (0..count).map(usual).collect(),
                count,
                width,
                entries,
                by_columns: None,
            };
        }
        entries.columns.reserve_exact(stored);
        entries.values.reserve_exact(stored);
        for row in all() {
            let start = entries.values.len();
            for (column, x) in row {
                entries.columns.push(column);
                entries.values.push(x);
            }
            let row = &mut entries.values[start..];
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            row.iter_mut().for_each(|x| *x /= length);
            entries.offsets.push(entries.values.len());
        }
        let mut mean = vec![0.0; width];
        for (&column, x) in entries.columns.iter().zip(&entries.values) {
            mean[column as usize] += x / count as f64;
        }
        let usual = |row: usize| {
            let (columns, values) = entries.of(row);
            let terms = columns.iter().zip(values);
            terms.map(|(&column, x)| x * mean[column as usize]).sum()
        };
        Rows {
            usual: (0..count).map(usual).collect(),
            count,
            width,
            by_columns: Some(entries.turned(width)),
            entries,
        }
    }

    /// How similar two rows are beyond what each is with everything.
    pub fn nearness(&self, a: usize, b: usize) -> f64 {
        self.product(a, b) - (self.usual[a] + self.usual[b]) / 2.0
    }

    fn product(&self, a: usize, b: usize) -> f64 {
        let ((columns, x), (others, y)) = (self.entries.of(a), self.entries.of(b));
        if self.by_columns.is_none() {
            return dot(x, y);
        }
        let (mut p, mut q) = (0, 0);
        let mut sum = 0.0;
        while p < columns.len() && q < others.len() {
            let order = columns[p].cmp(&others[q]);
            if order.is_eq() {
                sum += x[p] * y[q];
            }
            p += usize::from(order.is_le());
            q += usize::from(order.is_ge());
        }
        sum
    }

    /// An order of rows in which equal ones are neighbors.
    pub fn order(&self, a: usize, b: usize) -> Ordering {
        let ((columns, x), (others, y)) = (self.entries.of(a), self.entries.of(b));
        let bits = x.iter().map(|x| x.to_bits());
        let by_columns = columns.cmp(others);
        by_columns.then_with(|| bits.cmp(y.iter().map(|y| y.to_bits())))
    }

    /// Leading singular vectors at the root of their singular values, for each row, and
    /// how many.
    pub fn reduced(&self, most: usize, seed: u64) -> (Vec<f64>, usize) {
        let k = self.count.min(self.width).min(most);
        if k == 0 {
            return (Vec::new(), 0);
        }
        let wide = (k + EXTRA).min(self.width);
        let start = random_numbers(self.width * wide, seed, START_STREAM);
        let found = leading_singular(self, start, wide, k, ROUNDS);
        let largest = found.values.first().copied().unwrap_or(0.0);
        let scale = |&s: &f64| {
            let share = if largest > 0.0 { s / largest } else { 0.0 };
            share.max(0.0).sqrt() * (self.count as f64).sqrt() / 10.0
        };
        let scale: Vec<f64> = found.values.iter().map(scale).collect();
        let mut left = found.left;
        for row in left.chunks_exact_mut(scale.len().max(1)) {
            row.iter_mut().zip(&scale).for_each(|(x, s)| *x *= s);
        }
        (left, scale.len())
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

impl TallProduct for Rows {
    fn n_out(&self) -> usize {
        self.count
    }

    fn n_in(&self) -> usize {
        self.width
    }

    fn apply(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        match self.by_columns {
            None => times(&self.entries.values, self.width, q, columns, out),
            Some(_) => self.entries.times(q, columns, out),
        }
    }

    fn apply_transposed(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        match &self.by_columns {
            None => out.copy_from_slice(&cross(&self.entries.values, self.width, q, columns)),
            Some(turned) => turned.times(q, columns, out),
        }
    }
}

//! Data vectors as encoders read them, and their two products: with the first
//! layer's weights (forward) and with its gradient (backward). Sparse vectors
//! stay sparse in both.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::factor::Factor;
use super::sparse::{Compressed, weighted_rows};
use crate::data::features::Matrix;
use linkproof_numeric::real::{Real, View, add_scaled};

/// Rows of a product that one task computes, where it is split by rows.
pub(super) const PRODUCT_ROWS: usize = 96;

/// The data vectors of a view, in the precision of a fit.
#[derive(Debug, Clone)]
pub enum Input<'a, T: Real> {
    /// One free vector a node: no data vectors.
    Nodes(usize),
    /// All entries.
    Dense {
        /// The width of a row.
        n_columns: usize,
        /// The entries, row after row.
        values: Cow<'a, [T]>,
    },
    /// Stored entries.
    Sparse(Rows<'a, T>),
}

impl<T: Real> Default for Input<'_, T> {
    fn default() -> Self {
        Input::Nodes(0)
    }
}

/// Compressed rows.
#[derive(Debug, Clone)]
pub struct Rows<'a, T: Real> {
    n_columns: usize,
    offsets: Cow<'a, [usize]>,
    columns: Cow<'a, [u32]>,
    values: Cow<'a, [T]>,
    by_column: Cow<'a, Columns<T>>,
}

/// The stored entries of compressed rows, sorted by column.
#[derive(Debug, Clone, Default)]
struct Columns<T> {
    offsets: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Columns<T> {
    fn new(n_columns: usize, entries: Compressed<'_, T>) -> Columns<T> {
        let mut columns = Columns::default();
        columns.fill(n_columns, entries);
        columns
    }

    /// Sorts the entries of compressed rows into the same memory.
    fn fill(&mut self, n_columns: usize, entries: Compressed<'_, T>) {
        // Starts stand one place late while entries move them to their ends.
        self.offsets.clear();
        self.offsets.resize(n_columns + 2, 0);
        for &column in entries.places {
            self.offsets[column as usize + 2] += 1;
        }
        for column in 0..n_columns {
            self.offsets[column + 2] += self.offsets[column + 1];
        }
        self.rows.resize(entries.places.len(), 0);
        self.values.resize(entries.places.len(), T::ZERO);
        for (row, ends) in entries.offsets.windows(2).enumerate() {
            for place in ends[0]..ends[1] {
                let slot = &mut self.offsets[entries.places[place] as usize + 1];
                self.rows[*slot] = row as u32;
                self.values[*slot] = entries.values[place];
                *slot += 1;
            }
        }
        self.offsets.truncate(n_columns + 1);
    }
}

impl<'a, T: Real> Input<'a, T> {
    /// The rows of a matrix; borrowed where the precision is the same.
    pub fn new(matrix: &'a Matrix) -> Input<'a, T> {
        match matrix {
            Matrix::Dense(dense) => Input::Dense {
                n_columns: dense.n_columns(),
                values: dense.values().cast(),
            },
            Matrix::Sparse(sparse) => {
                let (offsets, values) = (sparse.offsets(), sparse.values().cast());
                let entries = Compressed {
                    offsets: &offsets,
                    places: sparse.columns(),
                    values: &values,
                };
                Input::Sparse(Rows {
                    n_columns: sparse.n_columns(),
                    by_column: Cow::Owned(Columns::new(sparse.n_columns(), entries)),
                    offsets,
                    columns: Cow::Borrowed(sparse.columns()),
                    values,
                })
            }
        }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Input::Nodes(n) => *n,
            Input::Dense { n_columns, values } => values.len() / n_columns,
            Input::Sparse(rows) => rows.offsets.len() - 1,
        }
    }

    /// All rows, as they are.
    pub fn all(&self) -> Batch<'_, T> {
        let entries = match self {
            Input::Nodes(n) => Input::Nodes(*n),
            Input::Dense { n_columns, values } => Input::Dense {
                n_columns: *n_columns,
                values: Cow::Borrowed(values),
            },
            Input::Sparse(rows) => Input::Sparse(Rows {
                n_columns: rows.n_columns,
                offsets: Cow::Borrowed(&rows.offsets),
                columns: Cow::Borrowed(&rows.columns),
                values: Cow::Borrowed(&rows.values),
                by_column: Cow::Borrowed(&rows.by_column),
            }),
        };
        let rows = None;
        Batch { rows, entries }
    }

    /// Rows that follow each other, where they are if all of their entries are stored;
    /// `memory` serves again otherwise.
    pub(super) fn stretch<'b>(
        &'b self,
        rows: Range<usize>,
        memory: &'b mut Batch<'static, T>,
    ) -> Cow<'b, Batch<'b, T>> {
        let places = || rows.clone().map(|row| row as u32).collect::<Vec<u32>>();
        match self {
            Input::Dense { n_columns, values } => Cow::Owned(Batch {
                rows: Some(places()),
                entries: Input::Dense {
                    n_columns: *n_columns,
                    values: Cow::Borrowed(&values[rows.start * n_columns..rows.end * n_columns]),
                },
            }),
            _ => {
                self.select_into(&places(), memory);
                Cow::Borrowed(memory)
            }
        }
    }

    /// Some rows, in the given order.
    pub fn select(&self, rows: &[u32]) -> Batch<'static, T> {
        let mut batch = Batch::default();
        self.select_into(rows, &mut batch);
        batch
    }

    /// Some rows, in the given order, into a batch whose memory serves again.
    pub fn select_into(&self, rows: &[u32], batch: &mut Batch<'static, T>) {
        let nodes = batch.rows.get_or_insert_default();
        nodes.clear();
        nodes.extend_from_slice(rows);
        match (self, &mut batch.entries) {
            (Input::Nodes(_), entries) => *entries = Input::Nodes(rows.len()),
            (Input::Sparse(all), Input::Sparse(some)) => all.select_into(rows, some),
            (Input::Sparse(all), entries) => {
                let mut some = Rows::empty();
                all.select_into(rows, &mut some);
                *entries = Input::Sparse(some);
            }
            (Input::Dense { n_columns, values }, entries) => {
                let mut some = match std::mem::take(entries) {
                    Input::Dense { values, .. } => values.into_owned(),
                    _ => Vec::new(),
                };
                some.clear();
                some.reserve_exact(rows.len() * n_columns);
                for &row in rows {
                    let start = row as usize * n_columns;
                    some.extend_from_slice(&values[start..start + n_columns]);
                }
                *entries = Input::Dense {
                    n_columns: *n_columns,
                    values: Cow::Owned(some),
                };
            }
        }
    }
}

impl<T: Real> Rows<'_, T> {
    fn empty() -> Rows<'static, T> {
        Rows {
            n_columns: 0,
            offsets: Cow::Owned(Vec::new()),
            columns: Cow::Owned(Vec::new()),
            values: Cow::Owned(Vec::new()),
            by_column: Cow::Owned(Columns::default()),
        }
    }

    fn select_into(&self, rows: &[u32], some: &mut Rows<'static, T>) {
        some.n_columns = self.n_columns;
        let (offsets, columns) = (some.offsets.to_mut(), some.columns.to_mut());
        let values = some.values.to_mut();
        offsets.clear();
        columns.clear();
        values.clear();
        offsets.push(0);
        for &row in rows {
            let range = self.offsets[row as usize]..self.offsets[row as usize + 1];
            columns.extend_from_slice(&self.columns[range.clone()]);
            values.extend_from_slice(&self.values[range]);
            offsets.push(columns.len());
        }
        some.sort_by_column();
    }

    fn sort_by_column(&mut self) {
        let entries = Compressed {
            offsets: &self.offsets,
            places: &self.columns,
            values: &self.values,
        };
        self.by_column.to_mut().fill(self.n_columns, entries);
    }
}

/// The data vectors that one pass encodes.
#[derive(Debug, Clone, Default)]
pub struct Batch<'a, T: Real> {
    /// The rows of the view, `None` for all.
    rows: Option<Vec<u32>>,
    entries: Input<'a, T>,
}

impl<'a, T: Real> Batch<'a, T> {
    /// The rows of the batch on their own.
    pub fn into_input(self) -> Input<'a, T> {
        self.entries
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.entries.n_rows()
    }

    /// The dimension of a data vector; 0 for a table.
    pub(super) fn n_columns(&self) -> usize {
        match &self.entries {
            Input::Nodes(_) => 0,
            Input::Dense { n_columns, .. } => *n_columns,
            Input::Sparse(rows) => rows.n_columns,
        }
    }

    /// The view's row of each row of the batch.
    pub fn node(&self, row: usize) -> usize {
        match &self.rows {
            Some(rows) => rows[row] as usize,
            None => row,
        }
    }

    /// Multiplies every entry by `factor(row of the view, column)`.
    pub fn scale_entries(&mut self, factor: impl Fn(usize, usize) -> T + Sync) {
        let rows = self.rows.as_deref();
        let node = |row: usize| rows.map_or(row, |rows| rows[row] as usize);
        match &mut self.entries {
            Input::Nodes(_) => {}
            Input::Dense { n_columns, values } => {
                let n_columns = *n_columns;
                let rows = values.to_mut().par_chunks_mut(n_columns);
                rows.enumerate().for_each(|(row, entries)| {
                    for (column, entry) in entries.iter_mut().enumerate() {
                        *entry *= factor(node(row), column);
                    }
                });
            }
            Input::Sparse(rows) => {
                let values = rows.values.to_mut();
                for (row, ends) in rows.offsets.windows(2).enumerate() {
                    let columns = &rows.columns[ends[0]..ends[1]];
                    for (value, &column) in values[ends[0]..ends[1]].iter_mut().zip(columns) {
                        *value *= factor(node(row), column as usize);
                    }
                }
                rows.sort_by_column();
            }
        }
    }

    /// The memory that [`Batch::factor`] needs for a matrix of some rows.
    pub(super) fn factor_size(&self, rows: usize, width: usize) -> usize {
        match self.entries {
            Input::Dense { .. } => Factor::<T>::size(rows, width),
            Input::Nodes(_) | Input::Sparse(_) => 0,
        }
    }

    /// A matrix as a factor of the data vectors.
    pub(super) fn factor<'f>(
        &self,
        memory: &'f mut [T],
        (entries, width): (&'f [T], usize),
        parallel: bool,
    ) -> Factor<'f, T> {
        match self.entries {
            Input::Dense { .. } => Factor::packed(memory, entries, width, parallel),
            Input::Nodes(_) | Input::Sparse(_) => Factor::Plain(entries, width),
        }
    }

    /// Some rows of `X W` (for a table: of the rows of `W`), with `W` the
    /// weights of a strip.
    pub(super) fn times(&self, rows: Range<usize>, weights: &Factor<'_, T>, out: &mut [T]) {
        match (&self.entries, weights) {
            (Input::Dense { n_columns, values }, Factor::Packed(weights)) => {
                let values = View::new(values, self.n_rows(), *n_columns).rows(rows);
                weights.multiply(out, values, 0..*n_columns, false);
            }
            (Input::Sparse(stored), &Factor::Plain(weights, width)) => {
                let entries = Compressed {
                    offsets: &stored.offsets[rows.start..=rows.end],
                    places: &stored.columns,
                    values: &stored.values,
                };
                weighted_rows(out, width, entries, weights, None);
            }
            (_, &Factor::Plain(weights, width)) => {
                for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
                    let start = self.node(row) * width;
                    out.copy_from_slice(&weights[start..start + width]);
                }
            }
            (_, Factor::Packed(_)) => {}
        }
    }

    /// `gradient = X^T D + ridge W` on all threads, with `D` the derivative in
    /// `X W`.
    pub(super) fn transposed_times_parallel(
        &self,
        derivative: &Factor<'_, T>,
        width: usize,
        (ridge, weights): (T, &[T]),
        gradient: &mut [T],
    ) {
        if let Input::Nodes(_) = self.entries {
            return self.transposed_times(0, derivative, (ridge, weights), gradient);
        }
        let chunk = PRODUCT_ROWS * width;
        let chunks = gradient
            .par_chunks_mut(chunk)
            .zip(weights.par_chunks(chunk));
        chunks.enumerate().for_each(|(place, (gradient, weights))| {
            let first = place * PRODUCT_ROWS;
            self.transposed_times(first, derivative, (ridge, weights), gradient);
        });
    }

    /// The rows of `X^T D + ridge W` from `first` on, as many as `gradient`
    /// holds; `weights` are the same rows of `W`.
    pub(super) fn transposed_times(
        &self,
        first: usize,
        derivative: &Factor<'_, T>,
        (ridge, weights): (T, &[T]),
        gradient: &mut [T],
    ) {
        match (&self.entries, derivative) {
            (Input::Dense { n_columns, values }, Factor::Packed(derivative)) => {
                set_scaled(gradient, ridge, weights);
                let columns = first..first + gradient.len() / derivative.columns();
                let values = View::new(values, self.n_rows(), *n_columns);
                let values = values.t().rows(columns);
                derivative.multiply(gradient, values, 0..self.n_rows(), true);
            }
            (Input::Sparse(stored), &Factor::Plain(derivative, width)) => {
                let end = first + gradient.len() / width;
                let entries = Compressed {
                    offsets: &stored.by_column.offsets[first..=end],
                    places: &stored.by_column.rows,
                    values: &stored.by_column.values,
                };
                weighted_rows(gradient, width, entries, derivative, Some((ridge, weights)));
            }
            (_, &Factor::Plain(derivative, width)) => {
                set_scaled(gradient, ridge, weights);
                for (row, derivative) in derivative.chunks_exact(width).enumerate() {
                    let start = self.node(row) * width;
                    add_scaled(&mut gradient[start..start + width], T::ONE, derivative);
                }
            }
            (_, Factor::Packed(_)) => {}
        }
    }
}

/// `out = factor * x`.
pub(super) fn set_scaled<T: Real>(out: &mut [T], factor: T, x: &[T]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = factor * *x;
    }
}

//! Data vectors as encoders read them, and their two products: with the first
//! layer's weights (forward) and with its gradient (backward). Sparse vectors
//! stay sparse in both.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::features::{Matrix, Values};
use crate::real::{Real, View, add_scaled, multiply_parallel, weighted_rows};

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

/// Compressed rows.
#[derive(Debug, Clone)]
pub struct Rows<'a, T: Real> {
    n_columns: usize,
    offsets: Cow<'a, [usize]>,
    columns: Cow<'a, [u32]>,
    values: Cow<'a, [T]>,
    by_column: Cow<'a, Columns>,
}

/// The stored entries of compressed rows, sorted by column.
#[derive(Debug, Clone, Default)]
struct Columns {
    offsets: Vec<usize>,
    rows: Vec<u32>,
    /// Where each entry stands in the compressed rows.
    places: Vec<u32>,
}

impl Columns {
    fn new(n_columns: usize, offsets: &[usize], columns: &[u32]) -> Columns {
        let mut starts = vec![0usize; n_columns + 1];
        for &column in columns {
            starts[column as usize + 1] += 1;
        }
        for column in 0..n_columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; columns.len()];
        let mut places = vec![0; columns.len()];
        for row in 0..offsets.len() - 1 {
            for place in offsets[row]..offsets[row + 1] {
                let slot = &mut next[columns[place] as usize];
                rows[*slot] = row as u32;
                places[*slot] = place as u32;
                *slot += 1;
            }
        }
        Columns {
            offsets: starts,
            rows,
            places,
        }
    }
}

fn cast<T: Real>(values: &Values) -> Cow<'_, [T]> {
    match values {
        Values::F32(values) => match T::from_f32(values) {
            Some(values) => Cow::Borrowed(values),
            None => values.iter().map(|&x| T::of(f64::from(x))).collect(),
        },
        Values::F64(values) => match T::from_f64(values) {
            Some(values) => Cow::Borrowed(values),
            None => values.iter().map(|&x| T::of(x)).collect(),
        },
    }
}

impl<'a, T: Real> Input<'a, T> {
    /// The rows of a matrix; borrowed where the precision is the same.
    pub fn new(matrix: &'a Matrix) -> Input<'a, T> {
        match matrix {
            Matrix::Dense(dense) => Input::Dense {
                n_columns: dense.n_columns(),
                values: cast(dense.values()),
            },
            Matrix::Sparse(sparse) => Input::Sparse(Rows {
                n_columns: sparse.n_columns(),
                offsets: Cow::Borrowed(sparse.offsets()),
                columns: Cow::Borrowed(sparse.columns()),
                values: cast(sparse.values()),
                by_column: Cow::Owned(Columns::new(
                    sparse.n_columns(),
                    sparse.offsets(),
                    sparse.columns(),
                )),
            }),
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
        Batch {
            rows: None,
            entries: match self {
                Input::Nodes(_) => Entries::Nodes,
                Input::Dense { n_columns, values } => Entries::Dense {
                    n_columns: *n_columns,
                    values: Cow::Borrowed(values),
                },
                Input::Sparse(rows) => Entries::Sparse(Rows {
                    n_columns: rows.n_columns,
                    offsets: Cow::Borrowed(&rows.offsets),
                    columns: Cow::Borrowed(&rows.columns),
                    values: Cow::Borrowed(&rows.values),
                    by_column: Cow::Borrowed(&rows.by_column),
                }),
            },
            n_rows: self.n_rows(),
        }
    }

    /// Some rows, in the given order.
    pub fn select(&self, rows: &[u32]) -> Batch<'static, T> {
        let entries = match self {
            Input::Nodes(_) => Entries::Nodes,
            Input::Dense { n_columns, values } => Entries::Dense {
                n_columns: *n_columns,
                values: rows
                    .iter()
                    .flat_map(|&row| {
                        let start = row as usize * n_columns;
                        values[start..start + n_columns].iter().copied()
                    })
                    .collect(),
            },
            Input::Sparse(all) => Entries::Sparse(all.select(rows)),
        };
        Batch {
            rows: Some(rows.to_vec()),
            entries,
            n_rows: rows.len(),
        }
    }
}

impl<T: Real> Rows<'_, T> {
    fn select(&self, rows: &[u32]) -> Rows<'static, T> {
        let range = |row: u32| self.offsets[row as usize]..self.offsets[row as usize + 1];
        let mut offsets = Vec::with_capacity(rows.len() + 1);
        offsets.push(0);
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for &row in rows {
            columns.extend_from_slice(&self.columns[range(row)]);
            values.extend_from_slice(&self.values[range(row)]);
            offsets.push(columns.len());
        }
        let by_column = Columns::new(self.n_columns, &offsets, &columns);
        Rows {
            n_columns: self.n_columns,
            offsets: offsets.into(),
            columns: columns.into(),
            values: values.into(),
            by_column: Cow::Owned(by_column),
        }
    }
}

/// The data vectors that one pass encodes.
#[derive(Debug, Clone)]
pub struct Batch<'a, T: Real> {
    /// The rows of the view, `None` for all.
    rows: Option<Vec<u32>>,
    entries: Entries<'a, T>,
    n_rows: usize,
}

#[derive(Debug, Clone)]
enum Entries<'a, T: Real> {
    Nodes,
    Dense {
        n_columns: usize,
        values: Cow<'a, [T]>,
    },
    Sparse(Rows<'a, T>),
}

impl<T: Real> Batch<'static, T> {
    /// The rows of the batch on their own.
    pub fn into_input(self) -> Input<'static, T> {
        match self.entries {
            Entries::Nodes => Input::Nodes(self.n_rows),
            Entries::Dense { n_columns, values } => Input::Dense { n_columns, values },
            Entries::Sparse(rows) => Input::Sparse(rows),
        }
    }
}

impl<T: Real> Batch<'_, T> {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
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
            Entries::Nodes => {}
            Entries::Dense { n_columns, values } => {
                let n_columns = *n_columns;
                let rows = values.to_mut().par_chunks_mut(n_columns);
                rows.enumerate().for_each(|(row, entries)| {
                    for (column, entry) in entries.iter_mut().enumerate() {
                        *entry *= factor(node(row), column);
                    }
                });
            }
            Entries::Sparse(rows) => {
                let values = rows.values.to_mut();
                for (row, ends) in rows.offsets.windows(2).enumerate() {
                    let columns = &rows.columns[ends[0]..ends[1]];
                    for (value, &column) in values[ends[0]..ends[1]].iter_mut().zip(columns) {
                        *value *= factor(node(row), column as usize);
                    }
                }
            }
        }
    }

    /// `out = X W` (for a table: the rows of `W`), with `W` of `width` columns.
    pub fn times(&self, weights: &[T], width: usize, out: &mut [T]) {
        match &self.entries {
            Entries::Nodes => {
                for (row, out) in out.chunks_exact_mut(width).enumerate() {
                    let start = self.node(row) * width;
                    out.copy_from_slice(&weights[start..start + width]);
                }
            }
            Entries::Dense { n_columns, values } => multiply_parallel(
                out,
                T::ONE,
                View::new(values, self.n_rows, *n_columns),
                View::new(weights, *n_columns, width),
                false,
            ),
            Entries::Sparse(rows) => {
                out.par_chunks_mut(width)
                    .with_min_len(8)
                    .enumerate()
                    .for_each(|(row, out)| {
                        let range = rows.offsets[row]..rows.offsets[row + 1];
                        let columns = &rows.columns[range.clone()];
                        weighted_rows(out, columns, &rows.values[range], weights, false);
                    });
            }
        }
    }

    /// `gradient += X^T D`, with `D` the derivative in `X W`.
    pub fn transposed_times(&self, derivative: &[T], width: usize, gradient: &mut [T]) {
        match &self.entries {
            Entries::Nodes => {
                for (row, derivative) in derivative.chunks_exact(width).enumerate() {
                    let start = self.node(row) * width;
                    add_scaled(&mut gradient[start..start + width], T::ONE, derivative);
                }
            }
            Entries::Dense { n_columns, values } => multiply_parallel(
                gradient,
                T::ONE,
                View::new(values, self.n_rows, *n_columns).t(),
                View::new(derivative, self.n_rows, width),
                true,
            ),
            Entries::Sparse(rows) => {
                let by_column = &rows.by_column;
                let place = |place: &u32| rows.values[*place as usize];
                let values: Vec<T> = by_column.places.iter().map(place).collect();
                gradient
                    .par_chunks_mut(width)
                    .with_min_len(8)
                    .enumerate()
                    .for_each(|(column, gradient)| {
                        let range = by_column.offsets[column]..by_column.offsets[column + 1];
                        let entries = &by_column.rows[range.clone()];
                        weighted_rows(gradient, entries, &values[range], derivative, true);
                    });
            }
        }
    }
}

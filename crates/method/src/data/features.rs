//! Data vectors: one row a node, dense or sparse, finite throughout.

mod values;

use std::borrow::Cow;
use std::ops::Range;

pub use values::{Offsets, Values};

use crate::data::buffer::Buffer;
use crate::data::ids::Ids;
use crate::error::{Error, Result};

/// A matrix with all its entries, row after row ([example](Matrix)).
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    n_columns: usize,
    n_rows: usize,
    values: Values,
}

impl Dense {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The entries, row after row.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The entries themselves.
    pub fn into_values(self) -> Values {
        self.values
    }
}

/// A matrix that stores only some entries, rows compressed (CSR); the columns
/// of a row ascend and do not repeat ([example](Matrix)).
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    n_columns: usize,
    offsets: Offsets,
    columns: Buffer<u32>,
    values: Values,
}

impl Sparse {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Where each row starts in [`Sparse::columns`], and where the last one ends.
    pub fn offsets(&self) -> Cow<'_, [usize]> {
        self.offsets.wide()
    }

    /// Where in memory the offsets are.
    pub fn offsets_address(&self) -> usize {
        match &self.offsets {
            Offsets::Wide(offsets) => offsets.as_ptr().addr(),
            Offsets::Narrow(offsets) => offsets.as_ptr().addr(),
        }
    }

    /// The columns of the stored entries.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The same places with other values.
    pub fn with_values(&self, values: impl Into<Values>) -> Result<Matrix> {
        let (offsets, columns) = (self.offsets.clone(), self.columns.clone());
        Matrix::sparse(self.n_columns, offsets, columns, values)
    }

    /// The places of a row's stored entries.
    fn range(&self, row: usize) -> Range<usize> {
        self.offsets.get(row)..self.offsets.get(row + 1)
    }

    /// The stored entries.
    pub fn values(&self) -> &Values {
        &self.values
    }
}

/// Dense or sparse.
///
/// ```
/// use linkproof::Matrix;
///
/// let dense = Matrix::dense(2, 3, vec![1.0, 0.0, 0.0, 0.0, 0.5, 0.0])?;
/// // The same by rows of (column, value): where each row starts, columns, values.
/// let sparse = Matrix::sparse(3, vec![0, 1, 2], vec![0, 1], vec![1.0, 0.5])?;
/// assert_eq!(dense.n_columns(), sparse.n_columns());
/// # Ok::<(), linkproof::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// All entries.
    Dense(Dense),
    /// Stored entries only.
    Sparse(Sparse),
}

impl Matrix {
    /// A dense matrix from its entries, row after row.
    pub fn dense(n_rows: usize, n_columns: usize, values: impl Into<Values>) -> Result<Matrix> {
        let values = values.into();
        if n_rows.checked_mul(n_columns) != Some(values.len()) {
            return Err(Error::features(
                format!("{} numbers", values.len()),
                format!("{n_rows} rows x {n_columns} columns of them"),
            ));
        }
        check_columns(n_columns)?;
        if let Some(place) = values.first_not_finite() {
            return Err(not_finite(
                place / n_columns,
                place % n_columns,
                values.get(place),
            ));
        }
        Ok(Matrix::Dense(Dense {
            n_columns,
            n_rows,
            values,
        }))
    }

    /// The bytes that its numbers and their places take.
    pub fn bytes(&self) -> u64 {
        let (values, places) = match self {
            Matrix::Dense(dense) => (dense.values(), 0),
            Matrix::Sparse(sparse) => (
                sparse.values(),
                4 * sparse.columns().len() + 8 * (sparse.n_rows() + 1),
            ),
        };
        let each = match values {
            Values::F32(_) => 4,
            Values::F64(_) => 8,
        };
        (each * values.len() + places) as u64
    }

    /// A sparse matrix from compressed rows. Columns need not be sorted; a
    /// column that repeats within a row is an error.
    pub fn sparse(
        n_columns: usize,
        offsets: impl Into<Offsets>,
        columns: impl Into<Buffer<u32>>,
        values: impl Into<Values>,
    ) -> Result<Matrix> {
        let (offsets, columns, values) = (offsets.into(), columns.into(), values.into());
        check_columns(n_columns)?;
        if !offsets.span(columns.len()) || columns.len() != values.len() {
            return Err(Error::features(
                "row offsets, columns and values that do not fit together",
                "compressed rows: ascending offsets from 0 to the number of stored entries",
            ));
        }
        let mut sparse = Sparse {
            n_columns,
            offsets,
            columns,
            values,
        };
        sparse.check_rows()?;
        Ok(Matrix::Sparse(sparse))
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Matrix::Dense(dense) => dense.n_rows(),
            Matrix::Sparse(sparse) => sparse.n_rows(),
        }
    }

    /// The number of columns `p`.
    pub fn n_columns(&self) -> usize {
        match self {
            Matrix::Dense(dense) => dense.n_columns(),
            Matrix::Sparse(sparse) => sparse.n_columns(),
        }
    }

    /// Refuses data vectors of another number of entries than a model reads.
    pub fn check_width(&self, inputs: usize) -> Result<()> {
        if self.n_columns() == inputs {
            return Ok(());
        }
        Err(Error::features(
            format!("data vectors of {} entries", self.n_columns()),
            format!("{inputs} entries, as the model was fitted with"),
        ))
    }

    /// The entries of a row that are stored, as column and value.
    pub fn row(&self, row: usize) -> Vec<(u32, f64)> {
        match self {
            Matrix::Dense(dense) => {
                let start = row * dense.n_columns;
                (0..dense.n_columns)
                    .map(|column| (column as u32, dense.values.get(start + column)))
                    .collect()
            }
            Matrix::Sparse(sparse) => sparse
                .range(row)
                .map(|place| (sparse.columns[place], sparse.values.get(place)))
                .collect(),
        }
    }

    /// Some rows, in the given order; all of them as they stand share their memory.
    pub fn select(&self, rows: &[u32]) -> Matrix {
        if rows.iter().copied().eq(0..self.n_rows() as u32) {
            return self.clone();
        }
        match self {
            Matrix::Dense(dense) => {
                let p = dense.n_columns;
                let range = |row: &u32| *row as usize * p..(*row as usize + 1) * p;
                let values = match &dense.values {
                    Values::F32(values) => pick(values, rows.iter().map(range)).into(),
                    Values::F64(values) => pick(values, rows.iter().map(range)).into(),
                };
                Matrix::Dense(Dense {
                    n_columns: p,
                    n_rows: rows.len(),
                    values,
                })
            }
            Matrix::Sparse(sparse) => {
                let range = |row: &u32| sparse.range(*row as usize);
                let mut offsets = vec![0];
                for row in rows {
                    offsets.push(offsets[offsets.len() - 1] + range(row).len());
                }
                let values = match &sparse.values {
                    Values::F32(values) => pick(values, rows.iter().map(range)).into(),
                    Values::F64(values) => pick(values, rows.iter().map(range)).into(),
                };
                Matrix::Sparse(Sparse {
                    n_columns: sparse.n_columns,
                    offsets: offsets.into(),
                    columns: pick(&sparse.columns, rows.iter().map(range)).into(),
                    values,
                })
            }
        }
    }
}

impl Matrix {
    /// These rows and others below them.
    ///
    /// # Errors
    /// Rows of another width.
    pub fn stacked(&self, below: &Matrix) -> Result<Matrix> {
        below.check_width(self.n_columns())?;
        let n_rows = self.n_rows() + below.n_rows();
        if let (Matrix::Dense(a), Matrix::Dense(b)) = (self, below) {
            let values = match (&a.values, &b.values) {
                (Values::F32(a), Values::F32(b)) => Values::from([&a[..], &b[..]].concat()),
                (a, b) => Values::from([&*a.cast::<f64>(), &*b.cast::<f64>()].concat()),
            };
            return Matrix::dense(n_rows, self.n_columns(), values);
        }
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for matrix in [self, below] {
            for row in 0..matrix.n_rows() {
                for (column, value) in matrix.row(row).into_iter().filter(|entry| entry.1 != 0.0) {
                    columns.push(column);
                    values.push(value);
                }
                offsets.push(columns.len());
            }
        }
        Matrix::sparse(self.n_columns(), offsets, columns, values)
    }
}

fn pick<V: Copy>(
    values: &[V],
    ranges: impl Iterator<Item = std::ops::Range<usize>> + Clone,
) -> Vec<V> {
    let mut picked = Vec::with_capacity(ranges.clone().map(|range| range.len()).sum());
    ranges.for_each(|range| picked.extend_from_slice(&values[range]));
    picked
}

impl Sparse {
    fn check_rows(&mut self) -> Result<()> {
        if !(0..self.n_rows()).all(|row| self.columns[self.range(row)].is_sorted()) {
            self.sort_rows();
        }
        for row in 0..self.n_rows() {
            let range = self.range(row);
            let columns = &self.columns[range.clone()];
            if let Some(pair) = columns.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Error::features(
                    format!("row {row} column {} stored twice", pair[0]),
                    "each entry once",
                ));
            }
            if let Some(&column) = columns.last()
                && column as usize >= self.n_columns
            {
                return Err(Error::features(
                    format!("column {column} in row {row}"),
                    format!("columns below {}", self.n_columns),
                ));
            }
        }
        let Some(place) = self.values.first_not_finite() else {
            return Ok(());
        };
        let starts = self.offsets.wide();
        let row = starts.partition_point(|&start| start <= place) - 1;
        let column = self.columns[place] as usize;
        Err(not_finite(row, column, self.values.get(place)))
    }

    /// Sorts the entries of each row, in memory of its own.
    fn sort_rows(&mut self) {
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        for row in 0..self.n_rows() {
            order[self.range(row)].sort_by_key(|&place| self.columns[place]);
        }
        self.columns = reordered(&self.columns, &order);
        self.values = match &self.values {
            Values::F32(values) => Values::F32(reordered(values, &order)),
            Values::F64(values) => Values::F64(reordered(values, &order)),
        };
    }
}

fn reordered<V: Copy>(values: &[V], order: &[usize]) -> Buffer<V> {
    let sorted: Vec<V> = order.iter().map(|&place| values[place]).collect();
    sorted.into()
}

fn check_columns(n_columns: usize) -> Result<()> {
    if (1..=u32::MAX as usize).contains(&n_columns) {
        return Ok(());
    }
    Err(Error::features(
        format!("{n_columns} columns"),
        "at least one column (and fewer than 2^32)",
    ))
}

fn not_finite(row: usize, column: usize, value: f64) -> Error {
    Error::features(
        format!("{value} in row {row}, column {column} (counted from 0)"),
        "finite numbers",
    )
}

/// Data vectors together with the ids of their nodes.
///
/// ```
/// use linkproof::{Features, Matrix};
///
/// let features = Features::new(Matrix::dense(2, 2, vec![1.0, 0.0, 0.0, 1.0])?);
/// assert_eq!(features.ids().name(1), "1");
/// # Ok::<(), linkproof::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Features {
    ids: Ids,
    matrix: Matrix,
}

impl Features {
    /// Data vectors of the nodes `0..n`.
    pub fn new(matrix: Matrix) -> Features {
        Features {
            ids: Ids::Rows(matrix.n_rows()),
            matrix,
        }
    }

    /// Data vectors of named nodes, one row each.
    pub fn with_ids(ids: Ids, matrix: Matrix) -> Result<Features> {
        if ids.len() != matrix.n_rows() {
            return Err(Error::features(
                format!("{} rows", matrix.n_rows()),
                format!("as many as there are node ids, {}", ids.len()),
            ));
        }
        Ok(Features { ids, matrix })
    }

    /// The ids, in row order.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The data vectors.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// Takes the two apart.
    pub fn into_parts(self) -> (Ids, Matrix) {
        (self.ids, self.matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_rows_are_sorted_and_checked() {
        let m = Matrix::sparse(3, vec![0, 2, 2], vec![2, 0], vec![5.0f32, 1.0]).unwrap();
        assert_eq!(m.row(0), [(0, 1.0), (2, 5.0)]);
        assert_eq!(m.row(1), []);
        assert_eq!(m.select(&[1, 0]).row(1), [(0, 1.0), (2, 5.0)]);
        assert!(Matrix::sparse(3, vec![0, 1], vec![3], vec![1.0f32]).is_err());
        assert!(Matrix::sparse(3, vec![0, 2], vec![1, 1], vec![1.0f32, 2.0]).is_err());
        assert!(Matrix::sparse(3, vec![0, 1], vec![1], vec![f32::NAN]).is_err());
        assert!(Matrix::sparse(3, vec![0, 2], vec![1], vec![1.0f32]).is_err());
        assert!(Matrix::sparse(3, vec![], vec![], Vec::<f32>::new()).is_err());
    }

    #[test]
    fn dense_rows_are_checked() {
        let m = Matrix::dense(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(m.select(&[1]).row(0), [(0, 3.0), (1, 4.0)]);
        assert!(Matrix::dense(2, 2, vec![1.0; 3]).is_err());
        assert!(Matrix::dense(2, 0, Vec::<f64>::new()).is_err());
        assert!(Matrix::dense(1, 2, vec![1.0, f64::INFINITY]).is_err());
        assert!(Matrix::dense(usize::MAX, 2, vec![1.0]).is_err());
    }
}

//! Data vectors: one row a node, dense or sparse, finite throughout.

use crate::error::{Error, Result};
use crate::ids::Ids;

/// Numbers in the precision in which they came.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

impl Values {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One number, in double precision.
    pub fn get(&self, place: usize) -> f64 {
        match self {
            Values::F32(values) => f64::from(values[place]),
            Values::F64(values) => values[place],
        }
    }

    fn first_not_finite(&self) -> Option<usize> {
        match self {
            Values::F32(values) => values.iter().position(|x| !x.is_finite()),
            Values::F64(values) => values.iter().position(|x| !x.is_finite()),
        }
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Values::F32(values)
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Values::F64(values)
    }
}

/// A matrix with all its entries, row after row.
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
/// of a row ascend and do not repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    n_columns: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
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
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The columns of the stored entries.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The stored entries.
    pub fn values(&self) -> &Values {
        &self.values
    }
}

/// Dense or sparse.
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
            return Err(Error::data(
                "features",
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

    /// A sparse matrix from compressed rows. Columns need not be sorted; a
    /// column that repeats within a row is an error.
    pub fn sparse(
        n_columns: usize,
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: impl Into<Values>,
    ) -> Result<Matrix> {
        let values = values.into();
        check_columns(n_columns)?;
        let ascending = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let whole = offsets.first() == Some(&0)
            && offsets.last() == Some(&columns.len())
            && columns.len() == values.len();
        if !ascending || !whole {
            return Err(Error::data(
                "features",
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

    /// The entries of a row that are stored, as column and value.
    pub fn row(&self, row: usize) -> Vec<(u32, f64)> {
        match self {
            Matrix::Dense(dense) => {
                let start = row * dense.n_columns;
                (0..dense.n_columns)
                    .map(|column| (column as u32, dense.values.get(start + column)))
                    .collect()
            }
            Matrix::Sparse(sparse) => (sparse.offsets[row]..sparse.offsets[row + 1])
                .map(|place| (sparse.columns[place], sparse.values.get(place)))
                .collect(),
        }
    }

    /// Some rows, in the given order.
    pub fn select(&self, rows: &[u32]) -> Matrix {
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
                let range =
                    |row: &u32| sparse.offsets[*row as usize]..sparse.offsets[*row as usize + 1];
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
                    offsets,
                    columns: pick(&sparse.columns, rows.iter().map(range)),
                    values,
                })
            }
        }
    }
}

fn pick<V: Copy>(values: &[V], ranges: impl Iterator<Item = std::ops::Range<usize>>) -> Vec<V> {
    ranges
        .flat_map(|range| values[range].iter().copied())
        .collect()
}

impl Sparse {
    fn check_rows(&mut self) -> Result<()> {
        for row in 0..self.n_rows() {
            let range = self.offsets[row]..self.offsets[row + 1];
            if !self.columns[range.clone()].is_sorted() {
                self.sort_row(range.clone());
            }
            let columns = &self.columns[range.clone()];
            if let Some(pair) = columns.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Error::data(
                    "features",
                    format!("row {row} column {} stored twice", pair[0]),
                    "each entry once",
                ));
            }
            if let Some(&column) = columns.last()
                && column as usize >= self.n_columns
            {
                return Err(Error::data(
                    "features",
                    format!("column {column} in row {row}"),
                    format!("columns below {}", self.n_columns),
                ));
            }
            for place in range {
                let value = self.values.get(place);
                if !value.is_finite() {
                    return Err(not_finite(row, self.columns[place] as usize, value));
                }
            }
        }
        Ok(())
    }

    fn sort_row(&mut self, range: std::ops::Range<usize>) {
        let mut order: Vec<usize> = range.clone().collect();
        order.sort_by_key(|&place| self.columns[place]);
        let columns: Vec<u32> = order.iter().map(|&place| self.columns[place]).collect();
        match &mut self.values {
            Values::F32(values) => reorder(values, &order, range.start),
            Values::F64(values) => reorder(values, &order, range.start),
        }
        self.columns[range].copy_from_slice(&columns);
    }
}

fn reorder<V: Copy>(values: &mut [V], order: &[usize], start: usize) {
    let sorted: Vec<V> = order.iter().map(|&place| values[place]).collect();
    values[start..start + sorted.len()].copy_from_slice(&sorted);
}

fn check_columns(n_columns: usize) -> Result<()> {
    if (1..=u32::MAX as usize).contains(&n_columns) {
        return Ok(());
    }
    Err(Error::data(
        "features",
        format!("{n_columns} columns"),
        "at least one column (and fewer than 2^32)",
    ))
}

fn not_finite(row: usize, column: usize, value: f64) -> Error {
    Error::data(
        "features",
        format!("{value} in row {row}, column {column} (counted from 0)"),
        "finite numbers",
    )
}

/// Data vectors together with the ids of their nodes.
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
            return Err(Error::data(
                "features",
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

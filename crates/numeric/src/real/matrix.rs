//! Matrices inside slices.

use std::ops::Range;

/// A matrix inside a slice.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T> {
    pub(super) data: &'a [T],
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_stride: usize,
    pub(super) column_stride: usize,
}

impl<'a, T> View<'a, T> {
    /// A matrix stored row after row.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "matrix size");
        View {
            data,
            rows,
            columns,
            row_stride: columns,
            column_stride: 1,
        }
    }

    /// Some columns of a matrix stored row after row: `data` from the first of
    /// them on, rows `stride` apart.
    pub fn strided(data: &'a [T], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(columns <= stride, "row length");
        assert!(
            rows == 0 || data.len() >= (rows - 1) * stride + columns,
            "matrix size"
        );
        View {
            data,
            rows,
            columns,
            row_stride: stride,
            column_stride: 1,
        }
    }

    /// The same entries, mirrored.
    pub fn t(self) -> Self {
        View {
            data: self.data,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }

    /// Some of the rows.
    pub fn rows(self, rows: Range<usize>) -> Self {
        assert!(rows.end <= self.rows, "rows out of range");
        let start = (rows.start * self.row_stride).min(self.data.len());
        View {
            data: &self.data[start..],
            rows: rows.len(),
            ..self
        }
    }
}

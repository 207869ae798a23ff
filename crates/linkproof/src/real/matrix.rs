//! Matrices inside slices, and their products.

use std::ops::Range;

use super::Real;

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

    fn strides(&self) -> (isize, isize) {
        (self.row_stride as isize, self.column_stride as isize)
    }
}

/// `out = scale * a b`, or `out += scale * a b`; `out` is stored row after row.
pub fn multiply<T: Real>(out: &mut [T], scale: T, a: View<'_, T>, b: View<'_, T>, add: bool) {
    assert_eq!(a.columns, b.rows, "inner dimensions");
    assert_eq!(out.len(), a.rows * b.columns, "output size");
    let out_strides = (b.columns as isize, 1);
    // SAFETY: `View::new` tied each length to its shape and `View::rows` stays
    // inside it, `out` was checked above, and a mutable slice cannot overlap
    // shared ones.
    unsafe {
        T::gemm(
            (a.rows, a.columns, b.columns),
            scale,
            a.data.as_ptr(),
            a.strides(),
            b.data.as_ptr(),
            b.strides(),
            out.as_mut_ptr(),
            out_strides,
            add,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_plain_loops() {
        let a: Vec<f64> = (0..12).map(f64::from).collect();
        let b: Vec<f64> = (0..8).map(|x| f64::from(x) - 3.0).collect();
        let mut out = vec![1.0; 6];
        multiply(
            &mut out,
            2.0,
            View::new(&a, 3, 4),
            View::new(&b, 4, 2),
            true,
        );
        for row in 0..3 {
            for column in 0..2 {
                let sum: f64 = (0..4).map(|k| a[row * 4 + k] * b[k * 2 + column]).sum();
                assert_eq!(out[row * 2 + column], 1.0 + 2.0 * sum);
            }
        }
        let mut square = vec![0.0; 16];
        multiply(
            &mut square,
            1.0,
            View::new(&a, 3, 4).t(),
            View::new(&a, 3, 4),
            false,
        );
        assert_eq!(square[1], 0.0 * 1.0 + 4.0 * 5.0 + 8.0 * 9.0);
    }
}

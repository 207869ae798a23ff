//! Matrix products whose right factor is packed once and used many times.
//!
//! A panel is a strip of columns of a matrix, its rows one after another, as
//! wide as two registers of the machine, or as one; missing columns are 0. The
//! product of some rows with a panel is accumulated in registers alone, so its
//! speed is that of the machine's fused multiply-add, and the left factor needs
//! no packing. [`Packed`](super::Packed) is a whole matrix in panels.

use super::register::{self, Register, Task};
use super::{Real, View};

/// The columns of a panel on this machine.
pub fn panel_width<T: Real>() -> usize {
    register::lanes::<T>() * 2
}

/// The columns of a narrow panel, for a few last columns.
pub(super) fn narrow_width<T: Real>() -> usize {
    register::lanes::<T>()
}

/// Writes the columns of `matrix` from `first` on into a panel.
pub fn pack_panel<T: Real>(panel: &mut [T], matrix: View<'_, T>, first: usize) {
    pack_columns(panel, panel_width::<T>(), matrix, first);
}

/// Writes the columns of `matrix` from `first` on into a panel of some width.
pub(super) fn pack_columns<T: Real>(
    panel: &mut [T],
    width: usize,
    matrix: View<'_, T>,
    first: usize,
) {
    let columns = matrix.columns.min(first + width) - first;
    for (row, out) in panel.chunks_exact_mut(width).enumerate() {
        let start = row * matrix.row_stride + first * matrix.column_stride;
        let (filled, missing) = out.split_at_mut(columns);
        if matrix.column_stride == 1 {
            filled.copy_from_slice(&matrix.data[start..start + columns]);
        } else {
            let entries = matrix.data[start..].iter().step_by(matrix.column_stride);
            for (out, entry) in filled.iter_mut().zip(entries) {
                *out = *entry;
            }
        }
        missing.fill(T::ZERO);
    }
}

/// Where a product goes: some columns of a matrix stored row after row.
pub struct Target<'a, T> {
    /// The matrix from the first of these columns on.
    pub data: &'a mut [T],
    /// The distance between its rows.
    pub stride: usize,
    /// How many columns there are.
    pub columns: usize,
}

/// `target += scale * a panel`, or without `add` `target = scale * a panel`.
/// The panel's size tells whether it is a narrow one.
pub fn multiply_panel<T: Real>(
    target: Target<'_, T>,
    scale: T,
    a: View<'_, T>,
    panel: &[T],
    add: bool,
) {
    let pieces = Pieces {
        first: a,
        number: 1,
        distance: 0,
    };
    multiply_pieces(target, scale, pieces, panel, add);
}

/// A left factor in pieces: views of equal shape side by side, `distance`
/// numbers from the start of each to that of the next.
#[derive(Debug, Clone, Copy)]
pub struct Pieces<'a, T> {
    /// The first one.
    pub first: View<'a, T>,
    /// How many there are.
    pub number: usize,
    /// How far apart they start.
    pub distance: usize,
}

/// As [`multiply_panel`], with a left factor in pieces.
pub(super) fn multiply_pieces<T: Real>(
    target: Target<'_, T>,
    scale: T,
    pieces: Pieces<'_, T>,
    panel: &[T],
    add: bool,
) {
    let a = pieces.first;
    let inner = pieces.number * a.columns;
    let Target {
        data,
        stride,
        columns,
    } = target;
    let narrow = panel.len() < inner * panel_width::<T>();
    let width = match narrow {
        true => narrow_width::<T>(),
        false => panel_width::<T>(),
    };
    assert!(columns <= width && columns <= stride, "panel width");
    assert_eq!(panel.len(), inner * width, "panel size");
    if a.rows == 0 || columns == 0 {
        return;
    }
    assert!(data.len() >= (a.rows - 1) * stride + columns, "output size");
    if inner > 0 {
        let last = (pieces.number - 1) * pieces.distance;
        let last = last + (a.rows - 1) * a.row_stride + (a.columns - 1) * a.column_stride;
        assert!(last < a.data.len(), "left factor");
    }
    let job = Job {
        scale,
        inner: a.columns,
        pieces: (pieces.number, pieces.distance),
        rows: a.rows,
        columns,
        out: data.as_mut_ptr(),
        out_stride: stride,
        a: a.data.as_ptr(),
        a_strides: (a.row_stride, a.column_stride),
        panel: panel.as_ptr(),
        add,
    };
    // The assertions above keep every access of the job inside its slices.
    match narrow {
        true => T::with_registers(Sums::<T, 1>(job)),
        false => T::with_registers(Sums::<T, 2>(job)),
    }
}

/// A product of rows with a panel, its sizes checked.
struct Job<T> {
    scale: T,
    inner: usize,
    pieces: (usize, usize),
    rows: usize,
    columns: usize,
    a: *const T,
    a_strides: (usize, usize),
    panel: *const T,
    out: *mut T,
    out_stride: usize,
    add: bool,
}

/// A product with a panel of so many registers a row.
struct Sums<T, const VECTORS: usize>(Job<T>);

impl<T: Real, const VECTORS: usize> Task<T> for Sums<T, VECTORS> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Register<T>, const ROWS: usize>(self) {
        let job = &self.0;
        let mut row = 0;
        // SAFETY: rows stay below `job.rows`, for which the sizes were checked.
        unsafe {
            // One sum a row leaves room for more rows, and needs them: fewer
            // sums than the multiply-add takes cycles would wait for it.
            while VECTORS == 1 && row + 12 <= job.rows {
                rows::<T, V, 12, VECTORS>(job, row);
                row += 12;
            }
            while VECTORS == 1 && row + 8 <= job.rows {
                rows::<T, V, 8, VECTORS>(job, row);
                row += 8;
            }
            // Twice four rows are faster than six and two.
            while row + ROWS <= job.rows && row + 8 != job.rows {
                rows::<T, V, ROWS, VECTORS>(job, row);
                row += ROWS;
            }
            while row + 4 <= job.rows {
                rows::<T, V, 4, VECTORS>(job, row);
                row += 4;
            }
            while row < job.rows {
                rows::<T, V, 1, VECTORS>(job, row);
                row += 1;
            }
        }
    }
}

/// `R` rows from `row` on.
///
/// # Safety
/// The job's sizes must be true of its pointers, `row + R <= job.rows`, and the
/// machine must have the registers.
#[inline(always)]
unsafe fn rows<T: Real, V: Register<T>, const R: usize, const VECTORS: usize>(
    job: &Job<T>,
    row: usize,
) {
    // SAFETY: all offsets are inside the matrices by the job's sizes.
    unsafe {
        let mut sums = [[V::splat(T::ZERO); VECTORS]; R];
        let mut b = job.panel;
        for piece in 0..job.pieces.0 {
            let mut a = job.a.add(piece * job.pieces.1 + row * job.a_strides.0);
            for _ in 0..job.inner {
                let mut line = [V::splat(T::ZERO); VECTORS];
                for (vector, line) in line.iter_mut().enumerate() {
                    *line = V::load(b.add(vector * V::LANES));
                }
                for (r, sums) in sums.iter_mut().enumerate() {
                    let factor = V::splat(*a.wrapping_add(r * job.a_strides.0));
                    for vector in 0..VECTORS {
                        sums[vector] = factor.mul_add(line[vector], sums[vector]);
                    }
                }
                a = a.wrapping_add(job.a_strides.1);
                b = b.add(VECTORS * V::LANES);
            }
        }
        let scale = V::splat(job.scale);
        for (r, sums) in sums.iter().enumerate() {
            let out = job.out.add((row + r) * job.out_stride);
            if job.columns == VECTORS * V::LANES {
                for (vector, &sum) in sums.iter().enumerate() {
                    let out = out.add(vector * V::LANES);
                    let old = if job.add {
                        V::load(out)
                    } else {
                        V::splat(T::ZERO)
                    };
                    sum.mul_add(scale, old).store(out);
                }
            } else {
                // By registers too, so that these columns round as others do.
                let mut line = [T::ZERO; MAX_WIDTH];
                if job.add {
                    out.copy_to_nonoverlapping(line.as_mut_ptr(), job.columns);
                }
                for (vector, &sum) in sums.iter().enumerate() {
                    let line = line.as_mut_ptr().add(vector * V::LANES);
                    sum.mul_add(scale, V::load(line)).store(line);
                }
                out.copy_from_nonoverlapping(line.as_ptr(), job.columns);
            }
        }
    }
}

/// The widest panel of any machine.
const MAX_WIDTH: usize = 32;

#[cfg(test)]
mod tests {
    use super::super::Packed;
    use super::*;
    use crate::processor::tests::on_every_path;

    /// `out += scale a b` in plain loops and double precision.
    fn plain(out: &mut [f64], scale: f64, a: &[f64], b: &[f64], shape: (usize, usize, usize)) {
        let (m, k, n) = shape;
        for i in 0..m {
            for j in 0..n {
                let sum: f64 = (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
                out[i * n + j] += scale * sum;
            }
        }
    }

    fn numbers(n: usize, step: f64) -> Vec<f64> {
        (0..n).map(|i| (i as f64 * step).sin()).collect()
    }

    fn agrees<T: Real>(shape: (usize, usize, usize), transposed: bool, tolerance: f64) {
        let (m, k, n) = shape;
        let (a, b) = (numbers(m * k, 0.7), numbers(k * n, 1.3));
        let mut expected = numbers(m * n, 0.2);
        let mut out: Vec<T> = expected.iter().map(|&x| T::of(x)).collect();
        plain(&mut expected, 0.5, &a, &b, shape);

        let b: Vec<T> = b.iter().map(|&x| T::of(x)).collect();
        let mut stored = vec![T::ZERO; m * k];
        for i in 0..m {
            for l in 0..k {
                let place = if transposed { l * m + i } else { i * k + l };
                stored[place] = T::of(a[i * k + l]);
            }
        }
        let a = if transposed {
            View::new(&stored, k, m).t()
        } else {
            View::new(&stored, m, k)
        };
        let width = panel_width::<T>();
        for first in (0..n).step_by(width) {
            let mut panel = vec![T::ONE; k * width];
            pack_panel(&mut panel, View::new(&b, k, n), first);
            let target = Target {
                data: &mut out[first..],
                stride: n,
                columns: width.min(n - first),
            };
            multiply_panel(target, T::of(0.5), a, &panel, true);
        }
        for (found, expected) in out.iter().zip(&expected) {
            assert!(
                (found.to_f64() - expected).abs() < tolerance,
                "{shape:?} {transposed} {found} {expected}"
            );
        }
    }

    #[test]
    fn panels_agree_with_plain_loops_at_odd_sizes() {
        for m in [1, 2, 3, 5, 6, 7, 11, 12, 13, 17, 25] {
            for k in [1, 2, 9, 40] {
                for n in [1, 7, 16, 33, 70] {
                    for transposed in [false, true] {
                        agrees::<f32>((m, k, n), transposed, 2e-5);
                        agrees::<f64>((m, k, n), transposed, 1e-13);
                    }
                }
            }
        }
    }

    #[test]
    fn without_add_the_old_content_does_not_matter() {
        let width = panel_width::<f32>();
        let panel = vec![2.0; width];
        let mut out = vec![f32::NAN; width];
        let target = Target {
            data: &mut out,
            stride: width,
            columns: width,
        };
        multiply_panel(target, 1.0, View::new(&[3.0], 1, 1), &panel, false);
        assert!(out.iter().all(|&x| x == 6.0));
    }

    #[test]
    fn products_have_the_same_bits_on_every_path() {
        for (m, k, n) in [
            (1, 1, 1),
            (7, 40, 33),
            (12, 300, 16),
            (25, 9, 70),
            (96, 64, 384),
        ] {
            for add in [false, true] {
                on_every_path(|| bits::<f32>((m, k, n), add));
                on_every_path(|| bits::<f64>((m, k, n), add));
            }
        }
    }

    /// A product by panels.
    fn bits<T: Real>((m, k, n): (usize, usize, usize), add: bool) -> Vec<T> {
        let reals =
            |count, step| -> Vec<T> { numbers(count, step).into_iter().map(T::of).collect() };
        let (a, b, mut out) = (reals(m * k, 0.7), reals(k * n, 1.3), reals(m * n, 0.2));
        let mut memory = vec![T::ZERO; Packed::<T>::size(k, n)];
        let packed = Packed::new(&mut memory, View::new(&b, k, n));
        packed.multiply(&mut out, View::new(&a, m, k), 0..k, add);
        let width = panel_width::<T>();
        for first in (0..n).step_by(width) {
            let mut panel = vec![T::ONE; k * width];
            pack_panel(&mut panel, View::new(&b, k, n), first);
            let target = Target {
                data: &mut out[first..],
                stride: n,
                columns: width.min(n - first),
            };
            multiply_panel(target, T::of(0.3), View::new(&a, m, k), &panel, add);
        }
        out
    }
}

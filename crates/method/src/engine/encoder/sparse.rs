//! The product of a sparse matrix and a dense one: the same kernel serves
//! data vectors times weights and, by columns, the way back.

use linkproof_numeric::processor::vectorised;
use linkproof_numeric::real::Real;

/// The stored entries of some rows (or columns) of a sparse matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compressed<'a, T> {
    /// Where each row's entries start and end.
    pub(super) offsets: &'a [usize],
    /// The column of each entry.
    pub(super) places: &'a [u32],
    /// The entries.
    pub(super) values: &'a [T],
}

vectorised!(
    /// `out_i = sum over k of value_ik * table[place_ik]`, with `width` numbers
    /// a row; with a base, on top of its factor times `base_i`.
    pub(super) fn weighted_rows<T>(
        out: &mut [T],
        width: usize,
        entries: Compressed<'_, T>,
        table: &[T],
        base: Option<(T, &[T])>
    ) -> () = weighted_rows_body
);

#[inline(always)]
fn weighted_rows_body<T: Real, const FMA: bool>(
    out: &mut [T],
    width: usize,
    entries: Compressed<'_, T>,
    table: &[T],
    base: Option<(T, &[T])>,
) {
    let ends = entries.offsets.windows(2);
    for ((row, out), ends) in out.chunks_exact_mut(width).enumerate().zip(ends) {
        let places = &entries.places[ends[0]..ends[1]];
        let values = &entries.values[ends[0]..ends[1]];
        let base = base.map(|(factor, base)| (factor, &base[row * width..(row + 1) * width]));
        let mut unit = 0;
        while unit + 32 <= width {
            sum_lanes::<T, FMA, 32>(out, unit, (places, values), table, base);
            unit += 32;
        }
        while unit + 8 <= width {
            sum_lanes::<T, FMA, 8>(out, unit, (places, values), table, base);
            unit += 8;
        }
        while unit < width {
            sum_lanes::<T, FMA, 1>(out, unit, (places, values), table, base);
            unit += 1;
        }
    }
}

/// Some units of a row, whose sums stay in registers.
#[inline(always)]
fn sum_lanes<T: Real, const FMA: bool, const LANES: usize>(
    out: &mut [T],
    unit: usize,
    (places, values): (&[u32], &[T]),
    table: &[T],
    base: Option<(T, &[T])>,
) {
    let width = out.len();
    let mut sums = [T::ZERO; LANES];
    if let Some((factor, base)) = base {
        for (sum, base) in sums.iter_mut().zip(&base[unit..unit + LANES]) {
            *sum = factor * *base;
        }
    }
    for (&place, &value) in places.iter().zip(values) {
        let start = place as usize * width + unit;
        let row = &table[start..start + LANES];
        for lane in 0..LANES {
            sums[lane] = value.fma::<FMA>(row[lane], sums[lane]);
        }
    }
    out[unit..unit + LANES].copy_from_slice(&sums);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_with_plain_loops_at_any_width() {
        for width in [1, 5, 8, 31, 32, 47, 77] {
            let table: Vec<f64> = (0..4 * width).map(|x| (x as f64 * 0.7).sin()).collect();
            let base: Vec<f64> = (0..3 * width).map(|x| x as f64).collect();
            let (offsets, places) = ([0, 2, 2, 5], [3u32, 0, 1, 2, 3]);
            let values = [0.5, -1.0, 2.0, 0.25, 3.0];
            let entries = Compressed {
                offsets: &offsets,
                places: &places,
                values: &values,
            };
            for factor in [None, Some(0.5)] {
                let mut out = vec![f64::NAN; 3 * width];
                let base = factor.map(|factor| (factor, base.as_slice()));
                weighted_rows(&mut out, width, entries, &table, base);
                for row in 0..3 {
                    for unit in 0..width {
                        let entries = offsets[row]..offsets[row + 1];
                        let sum: f64 = entries
                            .map(|k| values[k] * table[places[k] as usize * width + unit])
                            .sum();
                        let base = base.map_or(0.0, |(f, base)| f * base[row * width + unit]);
                        assert!((out[row * width + unit] - base - sum).abs() < 1e-12);
                    }
                }
            }
        }
    }
}

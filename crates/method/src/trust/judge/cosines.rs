//! Cosines of data vectors, in memory of about their own size.

use std::cmp::Ordering;
use std::ops::Range;

use crate::data::features::{Dense, Matrix, Sparse};
use crate::data::transform::normalize;
use crate::error::Result;
use crate::params::Normalize;

/// Data vectors of unit length, in single precision. Dense ones are centred: a cosine of
/// vectors with a common mean tells little.
#[derive(Debug, Clone)]
pub enum UnitRows {
    /// All entries, row after row.
    Dense {
        /// The width of a row.
        n_columns: usize,
        /// The entries.
        values: Vec<f32>,
    },
    /// Stored entries.
    Sparse {
        /// Where rows start, and where the last one ends.
        offsets: Vec<usize>,
        /// The entries.
        entries: Sparse,
    },
}

impl UnitRows {
    /// The data vectors of a view.
    pub fn new(matrix: &Matrix) -> Result<UnitRows> {
        match matrix {
            Matrix::Dense(dense) => Ok(UnitRows::centred(dense)?),
            Matrix::Sparse(_) => match normalize(matrix.clone(), Normalize::L2)? {
                Matrix::Dense(dense) => Ok(UnitRows::centred(&dense)?),
                Matrix::Sparse(entries) => Ok(UnitRows::Sparse {
                    offsets: entries.offsets().into_owned(),
                    entries,
                }),
            },
        }
    }

    /// The cosine of two rows.
    pub fn cosine(&self, a: usize, b: usize) -> f64 {
        match self {
            UnitRows::Dense { n_columns, values } => {
                let row = |row: usize| values[row * n_columns..][..*n_columns].iter();
                let products = row(a).zip(row(b));
                // In the order of the columns, as sparse rows are added up.
                products.fold(0.0, |sum, (a, b)| sum + f64::from(*a) * f64::from(*b))
            }
            UnitRows::Sparse { offsets, entries } => {
                let places = |row: usize| offsets[row]..offsets[row + 1];
                product(entries, places(a), places(b))
            }
        }
    }

    /// Rows less their mean, of unit length.
    fn centred(dense: &Dense) -> Result<UnitRows> {
        let (n, p) = (dense.n_rows(), dense.n_columns());
        let mut means = vec![0.0; p];
        for place in 0..n * p {
            means[place % p] += dense.values().get(place) / n as f64;
        }
        let mut values = Vec::with_capacity(n * p);
        for row in 0..n {
            let entries = (row * p..(row + 1) * p).zip(&means);
            let entries = entries.map(|(place, mean)| (dense.values().get(place) - mean) as f32);
            let alone = Matrix::dense(1, p, entries.collect::<Vec<f32>>())?;
            if let Matrix::Dense(alone) = normalize(alone, Normalize::L2)? {
                values.extend_from_slice(&alone.values().cast::<f32>());
            }
        }
        Ok(UnitRows::Dense {
            n_columns: p,
            values,
        })
    }
}

/// The sum over the columns that two rows have.
fn product(entries: &Sparse, a: Range<usize>, b: Range<usize>) -> f64 {
    let (columns, values) = (entries.columns(), entries.values());
    // Single precision, as dense ones have it.
    let value = |place: usize| f64::from(values.get(place) as f32);
    let (mut i, mut j, mut sum) = (a.start, b.start, 0.0);
    while i < a.end && j < b.end {
        match columns[i].cmp(&columns[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                sum += value(i) * value(j);
                i += 1;
                j += 1;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &[f64], b: &[f64]) -> f64 {
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        product(a, b) / (product(a, a) * product(b, b)).sqrt()
    }

    #[test]
    fn cosines_are_those_of_the_formula() {
        let rows = [
            [1.0, 0.0, 3.0, 0.0],
            [0.0, 2.0, 1.0, 0.0],
            [4.0, 0.0, 0.5, 7.0],
        ];
        let stored = |row: &[f64; 4]| -> Vec<(u32, f64)> {
            let entries = (0..).zip(*row);
            entries.filter(|(_, x)| *x != 0.0).collect()
        };
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (column, value) in rows.iter().flat_map(stored) {
            columns.push(column);
            values.push(value);
        }
        rows.iter()
            .for_each(|row| offsets.push(offsets[offsets.len() - 1] + stored(row).len()));
        let sparse = Matrix::sparse(4, offsets, columns, values).unwrap();
        let sparse = UnitRows::new(&sparse).unwrap();
        let dense = UnitRows::new(&Matrix::dense(3, 4, rows.concat()).unwrap()).unwrap();
        let mean = |column: usize| rows.iter().map(|row| row[column]).sum::<f64>() / 3.0;
        let centred: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| (0..4).map(|column| row[column] - mean(column)).collect())
            .collect();
        for a in 0..3 {
            for b in 0..3 {
                assert!((sparse.cosine(a, b) - cosine(&rows[a], &rows[b])).abs() < 1e-6);
                assert!((dense.cosine(a, b) - cosine(&centred[a], &centred[b])).abs() < 1e-6);
            }
        }
    }
}

//! A linear map `x -> Wx` from features to smoothed embeddings, by ridge regression on the
//! training nodes:
//!
//! ```text
//! min_W  sum_i ||W x_i - y_i||^2 + ridge ||W||^2.
//! ```
//!
//! It embeds unseen nodes that bring no links. The ridge is the one that predicts held-out
//! nodes best.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::features::Matrix;
use crate::data::transform::normalize;
use crate::error::{Error, Result};
use crate::params::Normalize;

/// The ridges that are compared, times the mean squared length of the data
/// vectors, so that their unit does not matter.
const RIDGES: [f64; 7] = [30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03];
/// They are compared by so many of the outputs.
const COMPARED_OUTPUTS: usize = 8;
/// One node in so many is held out to compare them.
const HELD_OUT: usize = 5;
/// Conjugate gradients end when the residual has shrunk by this, and to compare
/// ridges by that.
const TOLERANCE: f64 = 1e-6;
const COARSE_TOLERANCE: f64 = 1e-3;
const MOST_STEPS: usize = 300;

/// A linear map from features to averaged embeddings.
#[derive(Debug, Clone)]
pub(super) struct Regression {
    /// The ridge that was chosen.
    #[cfg(test)]
    ridge: f64,
    /// What features go through first.
    #[cfg(test)]
    normalize: Normalize,
    n_columns: usize,
    /// The columns of the outputs, each with a weight for every entry of `x`.
    weights: Vec<Vec<f64>>,
}

impl Regression {
    /// Learns `dim` outputs a node from the features of the same nodes,
    /// normalised.
    pub fn new(
        vectors: &Matrix,
        outputs: &[f32],
        dim: usize,
        kind: Normalize,
        seed: u64,
    ) -> Result<Regression> {
        let rows = Rows::of(vectors, outputs, dim, kind)?;
        let ridge = rows.choose_ridge(outputs, dim, seed);
        let start = vec![vec![0.0; rows.n_columns]; dim];
        let all: Vec<usize> = (0..rows.rows.len()).collect();
        Ok(Regression {
            #[cfg(test)]
            ridge,
            #[cfg(test)]
            normalize: kind,
            n_columns: rows.n_columns,
            weights: rows.solve(&all, outputs, (ridge, TOLERANCE), start),
        })
    }

    /// Predicts each node's outputs by a map that the node had no part in: nodes are held
    /// out in five turns.
    pub fn predict_held_out(
        vectors: &Matrix,
        outputs: &[f32],
        dim: usize,
        kind: Normalize,
        seed: u64,
    ) -> Result<Vec<f32>> {
        let rows = Rows::of(vectors, outputs, dim, kind)?;
        let ridge = rows.choose_ridge(outputs, dim, seed);
        let mut order: Vec<usize> = (0..rows.rows.len()).collect();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(0x666f_7265);
        order.shuffle(&mut random);
        let mut predicted = vec![0.0; outputs.len()];
        for fold in 0..HELD_OUT {
            let part = |is_out: bool| -> Vec<usize> {
                let places = order.iter().enumerate();
                let places = places.filter(|(place, _)| (place % HELD_OUT == fold) == is_out);
                places.map(|(_, &row)| row).collect()
            };
            let start = vec![vec![0.0; rows.n_columns]; dim];
            let with = (ridge, COARSE_TOLERANCE);
            let weights = rows.solve(&part(false), outputs, with, start);
            for row in part(true) {
                for (out, w) in predicted[row * dim..][..dim].iter_mut().zip(&weights) {
                    *out = product(&rows.rows[row], w) as f32;
                }
            }
        }
        Ok(predicted)
    }

    /// The map as a matrix: a row of outputs for each entry of a normalised data
    /// vector, row after row.
    pub fn rows(&self) -> Vec<f32> {
        (0..self.n_columns)
            .flat_map(|column| self.weights.iter().map(move |w| w[column] as f32))
            .collect()
    }

    /// The outputs of nodes from their features.
    #[cfg(test)]
    fn embed(&self, vectors: &Matrix) -> Result<Vec<f32>> {
        vectors.check_width(self.n_columns)?;
        let vectors = normalize(vectors.clone(), self.normalize)?;
        let rows: Vec<Vec<f32>> = (0..vectors.n_rows())
            .into_par_iter()
            .map(|row| {
                let row = vectors.row(row);
                self.weights
                    .iter()
                    .map(|w| product(&row, w) as f32)
                    .collect()
            })
            .collect();
        Ok(rows.concat())
    }
}

fn product(row: &[(u32, f64)], weights: &[f64]) -> f64 {
    row.iter()
        .map(|&(column, x)| x * weights[column as usize])
        .sum()
}

/// Data vectors by their entries.
struct Rows {
    rows: Vec<Vec<(u32, f64)>>,
    n_columns: usize,
}

impl Rows {
    fn new(vectors: &Matrix) -> Rows {
        Rows {
            rows: (0..vectors.n_rows()).map(|row| vectors.row(row)).collect(),
            n_columns: vectors.n_columns(),
        }
    }

    /// Normalised features that have as many rows as the outputs.
    fn of(vectors: &Matrix, outputs: &[f32], dim: usize, kind: Normalize) -> Result<Rows> {
        if vectors.n_rows() * dim != outputs.len() || dim == 0 {
            return Err(Error::data(
                "averages",
                format!("{} numbers", outputs.len()),
                format!("{dim} for each of {} nodes", vectors.n_rows()),
            ));
        }
        Ok(Rows::new(&normalize(vectors.clone(), kind)?))
    }

    /// The ridge that predicts held-out nodes best, by some of the outputs.
    fn choose_ridge(&self, outputs: &[f32], dim: usize, seed: u64) -> f64 {
        let compared = COMPARED_OUTPUTS.min(dim);
        let some = outputs
            .chunks_exact(dim)
            .flat_map(|row| (0..compared).map(|at| row[at * dim / compared]));
        let some: Vec<f32> = some.collect();
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let (held_out, seen) = order.split_at(order.len() / HELD_OUT);
        let mut start = vec![vec![0.0; self.n_columns]; compared];
        let unit = self.mean_square().max(f64::MIN_POSITIVE);
        // With too few nodes to hold some out, the middle one.
        let mut best = (f64::INFINITY, unit * RIDGES[RIDGES.len() / 2]);
        for ridge in RIDGES.map(|ridge| unit * ridge) {
            if held_out.is_empty() {
                break;
            }
            // The solution at one ridge is close to that at the next.
            start = self.solve(seen, &some, (ridge, COARSE_TOLERANCE), start);
            let error = self.error(held_out, &some, &start);
            if error < best.0 {
                best = (error, ridge);
            }
        }
        best.1
    }

    /// The mean squared length of a row.
    fn mean_square(&self) -> f64 {
        let squares = self.rows.iter().flatten().map(|(_, x)| x * x);
        squares.sum::<f64>() / self.rows.len().max(1) as f64
    }

    /// `(X^T X + ridge) W = X^T Y` over some rows, one output at a time.
    fn solve(
        &self,
        seen: &[usize],
        outputs: &[f32],
        (ridge, tolerance): (f64, f64),
        start: Vec<Vec<f64>>,
    ) -> Vec<Vec<f64>> {
        let dim = start.len();
        start
            .into_par_iter()
            .enumerate()
            .map(|(output, weights)| {
                let mut target = vec![0.0; self.n_columns];
                for &row in seen {
                    let y = f64::from(outputs[row * dim + output]);
                    for &(column, x) in &self.rows[row] {
                        target[column as usize] += x * y;
                    }
                }
                self.conjugate_gradients(seen, &target, (ridge, tolerance), weights)
            })
            .collect()
    }

    /// `(X^T X + ridge) w`.
    fn normal(&self, seen: &[usize], ridge: f64, w: &[f64]) -> Vec<f64> {
        let mut sum: Vec<f64> = w.iter().map(|w| ridge * w).collect();
        for &row in seen {
            let along = product(&self.rows[row], w);
            for &(column, x) in &self.rows[row] {
                sum[column as usize] += x * along;
            }
        }
        sum
    }

    fn conjugate_gradients(
        &self,
        seen: &[usize],
        target: &[f64],
        (ridge, tolerance): (f64, f64),
        mut w: Vec<f64>,
    ) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let product = self.normal(seen, ridge, &w);
        let mut rest: Vec<f64> = target.iter().zip(&product).map(|(t, p)| t - p).collect();
        let mut along = rest.clone();
        let mut length = dot(&rest, &rest);
        let enough = tolerance * tolerance * dot(target, target);
        for _ in 0..MOST_STEPS {
            if length <= enough {
                break;
            }
            let product = self.normal(seen, ridge, &along);
            let step = length / dot(&along, &product);
            for place in 0..w.len() {
                w[place] += step * along[place];
                rest[place] -= step * product[place];
            }
            let next = dot(&rest, &rest);
            for (along, rest) in along.iter_mut().zip(&rest) {
                *along = rest + next / length * *along;
            }
            length = next;
        }
        w
    }

    /// The squared error on some rows.
    fn error(&self, held_out: &[usize], outputs: &[f32], weights: &[Vec<f64>]) -> f64 {
        let dim = weights.len();
        let of_row = |&row: &usize| -> f64 {
            let outputs = outputs[row * dim..][..dim].iter();
            let errors = outputs
                .zip(weights)
                .map(|(&y, w)| (product(&self.rows[row], w) - f64::from(y)).powi(2));
            errors.sum()
        };
        let errors: Vec<f64> = held_out.par_iter().map(of_row).collect();
        errors.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Outputs that are linear in the vectors, plus noise.
    fn linear(n: usize, noise: f64) -> (Matrix, Vec<f32>) {
        let x: Vec<f64> = (0..n * 4)
            .map(|i| ((i * i * 7 + i) % 23) as f64 / 23.0 - 0.5)
            .collect();
        let y = x
            .chunks(4)
            .enumerate()
            .flat_map(|(i, x)| {
                let wrong = noise * ((i * 13 % 7) as f64 - 3.0);
                [x[0] + 2.0 * x[1] + wrong, x[2] - x[3] - wrong]
            })
            .map(|y| y as f32)
            .collect();
        (Matrix::dense(n, 4, x).unwrap(), y)
    }

    #[test]
    fn linear_outputs_are_found_with_little_ridge() {
        let (x, y) = linear(300, 0.0);
        let found = Regression::new(&x, &y, 2, Normalize::None, 0).unwrap();
        let (last, unit) = (RIDGES[RIDGES.len() - 1], Rows::new(&x).mean_square());
        assert_eq!(found.ridge, unit * last);
        let again = found.embed(&x).unwrap();
        for (a, b) in again.iter().zip(&y) {
            assert!((a - b).abs() < 0.02, "{a} {b}");
        }
    }

    #[test]
    fn the_solution_satisfies_the_normal_equations() {
        let (x, y) = linear(50, 0.3);
        let found = Regression::new(&x, &y, 2, Normalize::None, 0).unwrap();
        let predicted = found.embed(&x).unwrap();
        for output in 0..2 {
            for column in 0..4 {
                let mut gradient = found.ridge * found.weights[output][column];
                for row in 0..50 {
                    let x = x.row(row)[column].1;
                    let place = row * 2 + output;
                    gradient += x * f64::from(predicted[place] - y[place]);
                }
                assert!(gradient.abs() < 1e-4, "{output} {column}: {gradient}");
            }
        }
    }

    #[test]
    fn nodes_are_predicted_by_others() {
        let (x, mut y) = linear(300, 0.0);
        let predict_held_out =
            |y: &[f32]| Regression::predict_held_out(&x, y, 2, Normalize::None, 1).unwrap();
        let predicted = predict_held_out(&y);
        let worst = |a: &[f32], b: &[f32]| {
            let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            apart.fold(0.0, f32::max)
        };
        assert!(worst(&predicted, &y) < 0.02);
        // A node whose output is absurd does not predict_held_out itself.
        y[0] = 1000.0;
        let absurd = predict_held_out(&y);
        y[0] = 2000.0;
        let twice = predict_held_out(&y);
        assert_eq!(absurd[0], twice[0]);
        assert!(absurd[0].abs() < 10.0, "{}", absurd[0]);
        assert!(worst(&absurd, &twice) > 1.0, "the others hear of it");
    }

    #[test]
    fn shapes_are_checked() {
        let (x, y) = linear(10, 0.0);
        assert!(Regression::new(&x, &y[1..], 2, Normalize::None, 0).is_err());
        let found = Regression::new(&x, &y, 2, Normalize::None, 0).unwrap();
        let narrow = Matrix::dense(1, 3, vec![0.0; 3]).unwrap();
        assert!(found.embed(&narrow).is_err());
    }
}

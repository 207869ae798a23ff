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
    dim: usize,
    /// For each group of outputs the weights of every entry of `x`.
    weights: Vec<Vec<Lanes>>,
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
        let all: Vec<usize> = (0..rows.rows.len()).collect();
        Ok(Regression {
            #[cfg(test)]
            ridge,
            #[cfg(test)]
            normalize: kind,
            n_columns: rows.n_columns,
            dim,
            weights: rows.solve(&all, outputs, dim, (ridge, TOLERANCE), None),
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
            let with = (ridge, COARSE_TOLERANCE);
            let weights = rows.solve(&part(false), outputs, dim, with, None);
            for row in part(true) {
                rows.predict(row, &weights, &mut predicted[row * dim..][..dim]);
            }
        }
        Ok(predicted)
    }

    /// The map as a matrix: a row of outputs for each entry of a normalised data
    /// vector, row after row.
    pub fn rows(&self) -> Vec<f32> {
        let row = |column: usize| {
            let groups = self.weights.iter().flat_map(move |group| group[column]);
            groups.take(self.dim).map(|x| x as f32)
        };
        (0..self.n_columns).flat_map(row).collect()
    }

    /// The outputs of nodes from their features.
    #[cfg(test)]
    fn embed(&self, vectors: &Matrix) -> Result<Vec<f32>> {
        vectors.check_width(self.n_columns)?;
        let rows = Rows::new(&normalize(vectors.clone(), self.normalize)?);
        let mut outputs = vec![0.0; rows.rows.len() * self.dim];
        for (row, out) in outputs.chunks_exact_mut(self.dim).enumerate() {
            rows.predict(row, &self.weights, out);
        }
        Ok(outputs)
    }
}

/// Outputs that are computed together.
const LANES: usize = 8;
type Lanes = [f64; LANES];

fn lanes(of: impl Fn(usize) -> f64) -> Lanes {
    std::array::from_fn(of)
}

/// The product of a row with each of some outputs.
fn product(row: &[(u32, f32)], weights: &[Lanes]) -> Lanes {
    let mut sum = [0.0; LANES];
    for &(column, x) in row {
        let (x, weights) = (f64::from(x), &weights[column as usize]);
        for (sum, weight) in sum.iter_mut().zip(weights) {
            *sum += x * weight;
        }
    }
    sum
}

/// For each of some outputs the product of two lists of numbers.
fn dots(a: &[Lanes], b: &[Lanes]) -> Lanes {
    let mut sum = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in sum.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sum
}

/// Data vectors by their entries.
struct Rows {
    rows: Vec<Vec<(u32, f32)>>,
    n_columns: usize,
}

impl Rows {
    fn new(vectors: &Matrix) -> Rows {
        Rows {
            rows: (0..vectors.n_rows())
                .map(|row| {
                    let entries = vectors.row(row).into_iter();
                    entries.map(|(column, x)| (column, x as f32)).collect()
                })
                .collect(),
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
        let mut start = None;
        let unit = self.mean_square().max(f64::MIN_POSITIVE);
        // With too few nodes to hold some out, the middle one.
        let mut best = (f64::INFINITY, unit * RIDGES[RIDGES.len() / 2]);
        for ridge in RIDGES.map(|ridge| unit * ridge) {
            if held_out.is_empty() {
                break;
            }
            // The solution at one ridge is close to that at the next.
            let found = self.solve(seen, &some, compared, (ridge, COARSE_TOLERANCE), start);
            let error = self.error(held_out, &some, compared, &found);
            start = Some(found);
            if error < best.0 {
                best = (error, ridge);
            }
        }
        best.1
    }

    /// The mean squared length of a row.
    fn mean_square(&self) -> f64 {
        let squares = self.rows.iter().flatten();
        let squares = squares.map(|&(_, x)| f64::from(x) * f64::from(x));
        squares.sum::<f64>() / self.rows.len().max(1) as f64
    }

    /// `(X^T X + ridge) W = X^T Y` over some rows, by groups of outputs.
    fn solve(
        &self,
        seen: &[usize],
        outputs: &[f32],
        dim: usize,
        (ridge, tolerance): (f64, f64),
        start: Option<Vec<Vec<Lanes>>>,
    ) -> Vec<Vec<Lanes>> {
        let groups = dim.div_ceil(LANES);
        let start = start.unwrap_or_else(|| vec![vec![[0.0; LANES]; self.n_columns]; groups]);
        start
            .into_par_iter()
            .enumerate()
            .map(|(group, weights)| {
                let mut target = vec![[0.0; LANES]; self.n_columns];
                for &row in seen {
                    let outputs = &outputs[row * dim..(row + 1) * dim];
                    let y = lanes(|lane| {
                        let output = outputs.get(group * LANES + lane);
                        output.map_or(0.0, |&y| f64::from(y))
                    });
                    self.add(row, &y, &mut target);
                }
                self.conjugate_gradients(seen, &target, (ridge, tolerance), weights)
            })
            .collect()
    }

    /// Adds a row times a number for each output.
    fn add(&self, row: usize, factors: &Lanes, sums: &mut [Lanes]) {
        for &(column, x) in &self.rows[row] {
            let (x, sums) = (f64::from(x), &mut sums[column as usize]);
            for (sum, factor) in sums.iter_mut().zip(factors) {
                *sum += x * factor;
            }
        }
    }

    /// `(X^T X + ridge) w`.
    fn normal(&self, seen: &[usize], ridge: f64, w: &[Lanes]) -> Vec<Lanes> {
        let scaled = w.iter().map(|w| w.map(|w| ridge * w));
        let mut sum: Vec<Lanes> = scaled.collect();
        for &row in seen {
            let along = product(&self.rows[row], w);
            self.add(row, &along, &mut sum);
        }
        sum
    }

    /// Each output takes its own steps, until all have converged.
    fn conjugate_gradients(
        &self,
        seen: &[usize],
        target: &[Lanes],
        (ridge, tolerance): (f64, f64),
        mut w: Vec<Lanes>,
    ) -> Vec<Lanes> {
        let product = self.normal(seen, ridge, &w);
        let both = target.iter().zip(&product);
        let mut rest: Vec<Lanes> = both.map(|(t, p)| lanes(|lane| t[lane] - p[lane])).collect();
        let mut along = rest.clone();
        let mut length = dots(&rest, &rest);
        let enough = dots(target, target).map(|square| tolerance * tolerance * square);
        for _ in 0..MOST_STEPS {
            let goes_on: [bool; LANES] = std::array::from_fn(|lane| length[lane] > enough[lane]);
            if !goes_on.contains(&true) {
                break;
            }
            let product = self.normal(seen, ridge, &along);
            let curvature = dots(&along, &product);
            let step = lanes(|lane| match goes_on[lane] {
                true => length[lane] / curvature[lane],
                false => 0.0,
            });
            for (place, product) in product.iter().enumerate() {
                for lane in 0..LANES {
                    w[place][lane] += step[lane] * along[place][lane];
                    rest[place][lane] -= step[lane] * product[lane];
                }
            }
            let next = dots(&rest, &rest);
            let ratio = lanes(|lane| match goes_on[lane] {
                true => next[lane] / length[lane],
                false => 0.0,
            });
            for (along, rest) in along.iter_mut().zip(&rest) {
                for lane in 0..LANES {
                    along[lane] = rest[lane] + ratio[lane] * along[lane];
                }
            }
            length = next;
        }
        w
    }

    /// The outputs of a row.
    fn predict(&self, row: usize, weights: &[Vec<Lanes>], out: &mut [f32]) {
        for (out, weights) in out.chunks_mut(LANES).zip(weights) {
            let found = product(&self.rows[row], weights);
            out.iter_mut().zip(found).for_each(|(y, x)| *y = x as f32);
        }
    }

    /// The squared error on some rows.
    fn error(
        &self,
        held_out: &[usize],
        outputs: &[f32],
        dim: usize,
        weights: &[Vec<Lanes>],
    ) -> f64 {
        let mut found = vec![0.0; dim];
        let mut sum = 0.0;
        for &row in held_out {
            self.predict(row, weights, &mut found);
            let outputs = &outputs[row * dim..(row + 1) * dim];
            let errors = outputs.iter().zip(&found);
            let errors = errors.map(|(&y, &x)| (f64::from(x) - f64::from(y)).powi(2));
            sum += errors.sum::<f64>();
        }
        sum
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
                let mut gradient = found.ridge * found.weights[0][column][output];
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

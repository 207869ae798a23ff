//! What becomes of links and data vectors before a fit: weight transforms,
//! walks, normalisation and propagation.

use rayon::prelude::*;

use crate::data::dataset::Dataset;
use crate::data::features::{Matrix, Values};
use crate::data::graph::{Adjacency, Graph, Link, LinkRules};
use crate::error::{Error, Result};
use crate::params::{Normalize, WeightTransform};
use linkproof_numeric::math;

/// The largest number of links that walks may give a node.
pub const WALK_LINKS: usize = 256;

/// Refuses negative weights where a fit would see them: expected weights are positive,
/// and only the pattern of links has no sign.
///
/// # Errors
/// [`Error::Negative`] names the first link of negative weight.
pub fn check_signs(data: &Dataset, transform: WeightTransform) -> Result<()> {
    match data.graph().negative() {
        Some(link) if transform != WeightTransform::Binary => {
            let [src, dst] = [link.src, link.dst].map(|row| data.name(row as usize).into_owned());
            let weight = link.weight;
            let error = Error::Negative { src, dst, weight };
            Err(data.graph().located(error, |other| *other == link))
        }
        _ => Ok(()),
    }
}

/// Applies a transform to every link weight.
pub fn transform_weights(graph: &Graph, transform: WeightTransform) -> Result<Graph> {
    match transform {
        WeightTransform::AsIs => Ok(graph.clone()),
        _ => graph.map_weights(|link| transform_weight(link.weight, transform)),
    }
}

/// Transforms a weight, which is positive unless only its existence counts.
pub fn transform_weight(weight: f64, transform: WeightTransform) -> f64 {
    match transform {
        WeightTransform::AsIs => weight,
        WeightTransform::Binary => 1.0,
        WeightTransform::Log1p => math::ln_1p(weight),
    }
}

/// Link weights averaged over walks of length `1..=length`: with `P = D^-1 A`
/// and `M` the mean of `P^1 .. P^length`, the links are `(M + M^T)/2` without
/// the diagonal, scaled to the same total weight. `A` is the pattern of the
/// links unless `weighted`, so that a corrupted weight cannot spread. A node
/// keeps its [`WALK_LINKS`] largest entries at each length. Walks reach pairs
/// that the links do not; of them only those that `takes_part` says (told with
/// the smaller row first) become links.
pub fn average_over_walks(
    graph: &Graph,
    length: usize,
    weighted: bool,
    takes_part: impl Fn(u32, u32) -> bool,
) -> Result<Graph> {
    average_over_kept_walks(graph, length, weighted, WALK_LINKS, takes_part)
}

/// As [`average_over_walks`], with `most` entries for each node.
pub fn average_over_kept_walks(
    graph: &Graph,
    length: usize,
    weighted: bool,
    most: usize,
    takes_part: impl Fn(u32, u32) -> bool,
) -> Result<Graph> {
    let n = graph.n_nodes();
    let adjacency = graph.adjacency();
    let step = |row: usize| -> Vec<(u32, f64)> {
        let (targets, weights) = adjacency.row(row);
        let total: f64 = if weighted {
            weights.iter().sum()
        } else {
            targets.len() as f64
        };
        let share = |weight: &f64| {
            if weighted {
                weight / total
            } else {
                1.0 / total
            }
        };
        targets
            .iter()
            .copied()
            .zip(weights.iter().map(share))
            .collect()
    };
    let rows: Vec<Vec<(u32, f64)>> = (0..n)
        .into_par_iter()
        .map_init(
            || Scatter::new(n),
            |scatter, row| {
                let mut current = vec![(row as u32, 1.0)];
                let mut sum: Vec<(u32, f64)> = Vec::new();
                for _ in 0..length {
                    for &(node, share) in &current {
                        for (next, probability) in step(node as usize) {
                            scatter.add(next, share * probability);
                        }
                    }
                    current = keep_largest(scatter.drain(), most);
                    sum.extend(current.iter().map(|&(node, p)| (node, p / length as f64)));
                }
                for &(node, p) in &sum {
                    scatter.add(node, p);
                }
                keep_largest(scatter.drain(), most)
            },
        )
        .collect();
    let mut links: Vec<Link> = Vec::new();
    for (row, entries) in rows.iter().enumerate() {
        for &(target, weight) in entries {
            let src = row as u32;
            if target != src && takes_part(src.min(target), src.max(target)) {
                links.push(Link {
                    src,
                    dst: target,
                    weight: weight / 2.0,
                });
            }
        }
    }
    let total: f64 = graph.weights().iter().sum();
    let walked: f64 = links.iter().map(|link| link.weight).sum();
    for link in &mut links {
        link.weight *= total / walked;
    }
    symmetric_sum(graph, links)
}

/// Both directions of a pair count, also when they happen to be equal.
fn symmetric_sum(graph: &Graph, mut links: Vec<Link>) -> Result<Graph> {
    for link in &mut links {
        (link.src, link.dst) = (link.src.min(link.dst), link.src.max(link.dst));
    }
    links.sort_by_key(|link| (link.src, link.dst));
    links.dedup_by(|next, kept| {
        let same = (next.src, next.dst) == (kept.src, kept.dst);
        if same {
            kept.weight += next.weight;
        }
        same
    });
    Graph::new(graph.ids().clone(), links, LinkRules::default())
}

/// A sparse vector under construction.
struct Scatter {
    values: Vec<f64>,
    touched: Vec<u32>,
}

impl Scatter {
    fn new(n: usize) -> Scatter {
        Scatter {
            values: vec![0.0; n],
            touched: Vec::new(),
        }
    }

    fn add(&mut self, place: u32, value: f64) {
        let entry = &mut self.values[place as usize];
        if *entry == 0.0 {
            self.touched.push(place);
        }
        *entry += value;
    }

    /// The entries in ascending order; the vector is empty again.
    fn drain(&mut self) -> Vec<(u32, f64)> {
        self.touched.sort_unstable();
        let entries = self
            .touched
            .iter()
            .map(|&place| (place, std::mem::take(&mut self.values[place as usize])))
            .collect();
        self.touched.clear();
        entries
    }
}

/// The `most` largest entries (the first ones among equals), in their order.
fn keep_largest(mut entries: Vec<(u32, f64)>, most: usize) -> Vec<(u32, f64)> {
    if entries.len() > most {
        entries.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        entries.truncate(most);
        entries.sort_by_key(|entry| entry.0);
    }
    entries
}

/// Normalises every data vector, in its own memory where nobody else has it.
pub fn normalize(matrix: Matrix, normalize: Normalize) -> Result<Matrix> {
    if normalize == Normalize::None {
        return Ok(matrix);
    }
    match matrix {
        Matrix::Dense(dense) => {
            let (n, p) = (dense.n_rows(), dense.n_columns());
            let rows = (0..n).map(|row| row * p..(row + 1) * p);
            Matrix::dense(n, p, unit_rows(dense.into_values(), rows))
        }
        Matrix::Sparse(sparse) => {
            let offsets = sparse.offsets();
            let rows = offsets.windows(2).map(|pair| pair[0]..pair[1]);
            sparse.with_values(unit_rows(sparse.values().clone(), rows))
        }
    }
}

fn unit_rows(values: Values, rows: impl Iterator<Item = std::ops::Range<usize>>) -> Values {
    match values {
        Values::F32(values) => {
            let mut values = values.into_vec();
            for row in rows {
                let row = &mut values[row];
                let (unit, factor) = measure(row.iter().map(|&x| f64::from(x)));
                row.iter_mut()
                    .for_each(|x| *x = (f64::from(*x) / unit * factor) as f32);
            }
            values.into()
        }
        Values::F64(values) => {
            let mut values = values.into_vec();
            for row in rows {
                let row = &mut values[row];
                let (unit, factor) = measure(row.iter().copied());
                row.iter_mut().for_each(|x| *x = *x / unit * factor);
            }
            values.into()
        }
    }
}

/// A unit and a factor: a row divided by the one and multiplied by the other has unit
/// length. Entries are measured in a unit of their own size where their squares would
/// leave the range of numbers.
fn measure(row: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let norm = |unit: f64| {
        let squares = row.clone().map(|x| (x / unit).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let plain = norm(1.0);
    if (1e-150..1e150).contains(&plain) {
        return (1.0, 1.0 / plain);
    }
    let largest = row.clone().map(f64::abs).fold(0.0, f64::max);
    if largest == 0.0 {
        return (1.0, 1.0);
    }
    (largest, 1.0 / norm(largest))
}

/// Data vectors averaged over the normalised links: each time multiplied by
/// `D^-1/2 (A + I) D^-1/2` with `A` the pattern of the links. Returns the
/// vectors after `0, 1, .. times` rounds.
pub fn propagate(matrix: Matrix, adjacency: &Adjacency, times: usize) -> Result<Vec<Matrix>> {
    let mut levels = vec![matrix];
    for _ in 0..times {
        let next = propagate_once(&levels[levels.len() - 1], adjacency)?;
        levels.push(next);
    }
    Ok(levels)
}

fn propagate_once(matrix: &Matrix, adjacency: &Adjacency) -> Result<Matrix> {
    let roots: Vec<f64> = (0..adjacency.n_rows())
        .map(|row| (1.0 + adjacency.row(row).0.len() as f64).sqrt())
        .collect();
    average_rows(matrix.n_columns(), adjacency.n_rows(), |row| {
        let own = (matrix, row as u32, 1.0 / (roots[row] * roots[row]));
        let others = adjacency
            .row(row)
            .0
            .iter()
            .map(|&target| (matrix, target, 1.0 / (roots[row] * roots[target as usize])));
        std::iter::once(own).chain(others).collect()
    })
}

/// New nodes' data vectors averaged as in [`propagate`], over their links to
/// training nodes, whose own averages (`levels`) and degrees stay as they were.
pub fn propagate_new(
    fresh: Matrix,
    links: &[Vec<u32>],
    levels: &[Matrix],
    adjacency: &Adjacency,
    times: usize,
) -> Result<Matrix> {
    let mut current = fresh;
    for level in levels.iter().take(times) {
        let own = current;
        current = average_rows(own.n_columns(), own.n_rows(), |row| {
            let root = (1.0 + links[row].len() as f64).sqrt();
            let mut sources = vec![(&own, row as u32, 1.0 / (root * root))];
            for &target in &links[row] {
                let degree = adjacency.row(target as usize).0.len() as f64;
                sources.push((level, target, 1.0 / (root * (1.0 + degree).sqrt())));
            }
            sources
        })?;
    }
    Ok(current)
}

/// Rows that are weighted sums of other rows: sparse while less than a quarter
/// of the entries are stored, dense from then on.
fn average_rows<'m>(
    n_columns: usize,
    n_rows: usize,
    sources: impl Fn(usize) -> Vec<(&'m Matrix, u32, f64)> + Sync,
) -> Result<Matrix> {
    let rows: Vec<Vec<(u32, f64)>> = (0..n_rows)
        .into_par_iter()
        .map_init(
            || Scatter::new(n_columns),
            |scatter, row| {
                for (matrix, source, factor) in sources(row) {
                    for (column, value) in matrix.row(source as usize) {
                        if value != 0.0 {
                            scatter.add(column, factor * value);
                        }
                    }
                }
                scatter.drain()
            },
        )
        .collect();
    let stored: usize = rows.iter().map(Vec::len).sum();
    if stored * 4 > n_rows * n_columns {
        let mut values = vec![0.0f32; n_rows * n_columns];
        for (row, entries) in rows.iter().enumerate() {
            for &(column, value) in entries {
                values[row * n_columns + column as usize] = value as f32;
            }
        }
        return Matrix::dense(n_rows, n_columns, values);
    }
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::with_capacity(stored), Vec::with_capacity(stored));
    for entries in rows {
        for (column, value) in entries {
            columns.push(column);
            values.push(value as f32);
        }
        offsets.push(columns.len());
    }
    Matrix::sparse(n_columns, offsets, columns, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Graph {
        Graph::from_rows(4, &[(0, 1, 5.0), (1, 2, 1.0)]).unwrap()
    }

    #[test]
    fn walks_average_transition_probabilities() {
        // P on the path 0 - 1 - 2; node 3 is isolated.
        let walked = average_over_walks(&path(), 2, false, |_, _| true).unwrap();
        // M01 = (1 + 0)/2, M10 = (1/2 + 0)/2, M02 = (0 + 1/2)/2 = M20, M12 = 1/4, M21 = 1/2
        let raw = [(0, 1, 0.375), (0, 2, 0.25), (1, 2, 0.375)];
        for (i, j, expected) in raw {
            let weight = walked.weight(i, j).unwrap();
            assert!((weight - expected * 6.0).abs() < 1e-12, "{i} {j} {weight}");
        }
        let total: f64 = walked.weights().iter().sum();
        assert!((total - 6.0).abs() < 1e-12);
    }

    #[test]
    fn weights_are_transformed() {
        let binary = transform_weights(&path(), WeightTransform::Binary).unwrap();
        assert_eq!(binary.weights(), [1.0, 1.0]);
        let log = transform_weights(&path(), WeightTransform::Log1p).unwrap();
        assert_eq!(log.weights(), [6f64.ln(), 2f64.ln()]);
    }

    #[test]
    fn rows_become_unit_vectors_and_zero_rows_stay() {
        for matrix in [
            Matrix::dense(2, 2, vec![3.0, 4.0, 0.0, 0.0]).unwrap(),
            Matrix::sparse(2, vec![0, 2, 2], vec![0, 1], vec![3.0, 4.0]).unwrap(),
        ] {
            let unit = normalize(matrix.clone(), Normalize::L2).unwrap();
            assert_eq!(unit.row(0), [(0, 0.6000000000000001), (1, 0.8)]);
            assert!(unit.row(1).iter().all(|entry| entry.1 == 0.0));
        }
    }

    #[test]
    fn vectors_whose_squares_leave_the_range_of_numbers_become_unit_vectors() {
        for size in [1e200, 1e-200, 1e308, 5e-324] {
            let matrix = Matrix::dense(1, 2, vec![size, -size]).unwrap();
            let unit = normalize(matrix.clone(), Normalize::L2).unwrap();
            let half = 0.5f64.sqrt();
            for ((_, found), expected) in unit.row(0).into_iter().zip([half, -half]) {
                assert!((found - expected).abs() < 1e-15, "{size}: {found}");
            }
        }
    }

    #[test]
    fn propagation_averages_neighbours_and_keeps_isolated_nodes() {
        let matrix = Matrix::sparse(
            8,
            vec![0, 1, 2, 2, 3],
            vec![0, 1, 2],
            vec![1.0f32, 1.0, 1.0],
        )
        .unwrap();
        let adjacency = path().adjacency();
        let levels = propagate(matrix.clone(), &adjacency, 2).unwrap();
        let row = levels[1].row(0);
        assert!((row[0].1 - 0.5).abs() < 1e-7);
        assert!((row[1].1 - 1.0 / 6f64.sqrt()).abs() < 1e-7);
        assert_eq!(levels[2].row(3), [(2, 1.0)]);
        // A new node with the data and the links of node 0 gets its vector,
        // but for the degree that its own link would add to node 1.
        let fresh = matrix.select(&[0]);
        let new = propagate_new(fresh, &[vec![1]], &levels, &adjacency, 1).unwrap();
        assert_eq!(new.row(0), levels[1].row(0));
    }
}

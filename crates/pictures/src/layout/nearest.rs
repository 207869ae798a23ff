//! The nearest neighbours of every point, by looking at all pairs.

use rayon::prelude::*;

use linkproof_method::error::Result;
use linkproof_numeric::real::{Packed, View, dot_f64};

use super::rows::Rows;

/// How many neighbours of each point a layout keeps near.
pub(super) const NEIGHBORS: usize = 15;

/// Columns of a tile, and rows that one task multiplies with it.
const COLUMNS: usize = 2048;
const ROWS: usize = 64;

/// Columns that are compared with the farthest neighbour at once.
const GLANCE: usize = 16;

/// The neighbours of all points.
pub(super) struct Neighbors {
    /// How many each point has.
    pub(super) each: usize,
    /// Row and distance of each neighbour, `each` a point, nearest first and
    /// of equal distances the smaller row first.
    pub(super) list: Vec<(u32, f64)>,
}

/// The `count` nearest other points of each point (all others, where there are
/// fewer). `check` is called from tile to tile and may end the search.
pub(super) fn neighbors(
    points: &Rows,
    count: usize,
    check: &mut dyn FnMut() -> Result<()>,
) -> Result<Neighbors> {
    let (n, dim) = (points.len(), points.dim());
    let each = count.min(n.saturating_sub(1));
    let mut list = vec![(u32::MAX, f64::INFINITY); n * each];
    let mut memory = Vec::new();
    for first in (0..n).step_by(COLUMNS).take_while(|_| each > 0) {
        check()?;
        let columns = first..n.min(first + COLUMNS);
        let tile = points.centred(columns.clone());
        let squares: Vec<f64> = tile.chunks_exact(dim).map(|y| dot_f64(y, y)).collect();
        memory.resize(Packed::<f64>::size(dim, columns.len()), 0.0);
        let tile = View::new(&tile, columns.len(), dim);
        let packed = Packed::new_parallel(&mut memory, tile.t());
        let blocks = list.par_chunks_mut(ROWS * each).enumerate();
        blocks.for_each(|(block, nearest)| {
            let rows = block * ROWS..n.min((block + 1) * ROWS);
            let left = points.centred(rows.clone());
            let left = View::new(&left, rows.len(), dim);
            let mut products = vec![0.0; rows.len() * columns.len()];
            packed.multiply(&mut products, left, 0..dim, false);
            let products = products.chunks_exact(columns.len());
            for ((i, nearest), products) in rows.zip(nearest.chunks_exact_mut(each)).zip(products) {
                keep_nearest(nearest, i, first, products, &squares);
            }
        });
    }
    list.par_chunks_mut(each.max(1))
        .enumerate()
        .for_each(|(i, nearest)| {
            for (j, distance) in nearest.iter_mut() {
                *distance = points.distance(i, *j as usize);
            }
            nearest.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        });
    Ok(Neighbors { each, list })
}

/// Puts columns of a tile among the nearest so far of row `i`, by the squared
/// distance less the row's own square, `||y_j||^2 - 2 <y_i, y_j>`.
fn keep_nearest(
    nearest: &mut [(u32, f64)],
    i: usize,
    first: usize,
    products: &[f64],
    squares: &[f64],
) {
    let last = nearest.len() - 1;
    let chunks = products.chunks(GLANCE).zip(squares.chunks(GLANCE));
    for (start, (products, squares)) in (first..).step_by(GLANCE).zip(chunks) {
        let farthest = nearest[last].1;
        let terms = products.iter().zip(squares);
        // All of them without a branch, so that the loop vectorises.
        let near = terms.fold(false, |near, (p, s)| near | (s - 2.0 * p < farthest));
        if !near {
            continue;
        }
        for (j, (p, s)) in (start..).zip(products.iter().zip(squares)) {
            let distance = s - 2.0 * p;
            if distance < nearest[last].1 && j != i {
                let place = nearest.partition_point(|other| other.1 <= distance);
                nearest[place..].rotate_right(1);
                nearest[place] = (j as u32, distance);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brute(points: &Rows, i: usize, count: usize) -> Vec<f64> {
        let others = (0..points.len()).filter(|&j| j != i);
        let mut distances: Vec<f64> = others.map(|j| points.distance(i, j)).collect();
        distances.sort_unstable_by(f64::total_cmp);
        distances.truncate(count);
        distances
    }

    #[test]
    fn neighbours_are_those_of_plain_loops_at_odd_sizes() {
        for (n, dim, count) in [
            (1, 3, 15),
            (2, 1, 15),
            (17, 5, 15),
            (131, 7, 4),
            (2100, 19, 15),
        ] {
            // Far from the origin, so that inner products alone would not do.
            let number = |place: usize| 1000.0 + ((place * place) as f32 * 0.37).sin();
            let mut y: Vec<f32> = (0..n * dim).map(number).collect();
            if n > 20 {
                y.copy_within(0..5 * dim, 10 * dim);
            }
            let points = Rows::new(&y, n, dim).unwrap();
            let found = neighbors(&points, count, &mut || Ok(())).unwrap();
            assert_eq!(found.each, count.min(n - 1));
            for i in (0..n).step_by(1 + n / 200) {
                let list = &found.list[i * found.each..(i + 1) * found.each];
                let distances: Vec<f64> = list.iter().map(|x| x.1).collect();
                assert_eq!(distances, brute(&points, i, count), "{n} {dim} {i}");
                assert!(list.iter().all(|x| x.0 as usize != i));
                let exact = |x: &(u32, f64)| points.distance(i, x.0 as usize) == x.1;
                assert!(list.iter().all(exact));
                let mut rows: Vec<u32> = list.iter().map(|x| x.0).collect();
                rows.sort_unstable();
                rows.dedup();
                assert_eq!(rows.len(), found.each);
            }
        }
    }
}

//! Averages over the nodes that are nearest, for want of links.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use linkproof_numeric::real::dot;

/// So many nodes are averaged, of few nodes one in so many.
const NEAREST: usize = 20;
const ONE_IN: usize = 20;
/// Of more nodes a sample is looked at.
const MOST_KNOWN: usize = 20_000;

/// Known nodes, by their embeddings.
pub(crate) struct Nearest<'y> {
    y: &'y [f32],
    dim: usize,
    /// The rows that are looked at, and their embeddings at unit length.
    rows: Vec<usize>,
    units: Vec<f32>,
}

impl<'y> Nearest<'y> {
    /// Looks at some rows of embeddings.
    pub fn new(y: &'y [f32], dim: usize, mut rows: Vec<usize>, seed: u64) -> Nearest<'y> {
        if rows.len() > MOST_KNOWN {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(0x6e65_6172);
            rows.shuffle(&mut random);
            rows.truncate(MOST_KNOWN);
            rows.sort_unstable();
        }
        let of_row = |&row: &usize| unit(&y[row * dim..][..dim]);
        let units = rows.iter().flat_map(of_row).collect();
        Nearest {
            y,
            dim,
            rows,
            units,
        }
    }

    /// Each guess averaged with the known nodes nearest to it by cosine. `own` is for
    /// each guess the row that is no neighbour of it: its own.
    pub fn average(&self, guesses: &[f32], own: Option<&[usize]>) -> Vec<f32> {
        let guesses = guesses.par_chunks_exact(self.dim).enumerate();
        let rows = guesses.map(|(place, guess)| self.of(guess, own.map(|own| own[place])));
        rows.collect::<Vec<_>>().concat()
    }

    fn of(&self, guess: &[f32], own: Option<usize>) -> Vec<f32> {
        let direction = unit(guess);
        let cosines = self.units.chunks_exact(self.dim);
        let cosines = cosines.map(|other| dot(&direction, other));
        let all = cosines.zip(self.rows.iter().copied());
        let mut near: Vec<(f32, usize)> = all.filter(|&(_, row)| Some(row) != own).collect();
        let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let count = NEAREST.min(near.len() / ONE_IN);
        if count < near.len() {
            near.select_nth_unstable_by(count, order);
            near.truncate(count);
        }
        near.sort_by(order);
        let mut sums: Vec<f64> = guess.iter().map(|&x| f64::from(x)).collect();
        for &(_, row) in &near {
            let both = sums.iter_mut().zip(&self.y[row * self.dim..]);
            both.for_each(|(sum, &x)| *sum += f64::from(x));
        }
        let n = (count + 1) as f64;
        sums.into_iter().map(|sum| (sum / n) as f32).collect()
    }
}

/// At unit length; 0 stays 0.
fn unit(row: &[f32]) -> Vec<f32> {
    let length = dot(row, row).sqrt();
    let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
    row.iter().map(|&x| factor * x).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bundles of directions, 40 nodes each.
    fn bundles() -> Vec<f32> {
        let of = |row: usize| match row % 2 {
            0 => [1.0 + row as f32, 0.01 * row as f32],
            _ => [0.01 * row as f32, 1.0 + row as f32],
        };
        (0..80).flat_map(of).collect()
    }

    #[test]
    fn a_guess_is_averaged_with_the_nodes_of_its_direction() {
        let y = bundles();
        let near = Nearest::new(&y, 2, (0..80).collect(), 0);
        // One in twenty: the four of the first bundle that are closest to its axis.
        let found = near.average(&[5.0, 0.0], None);
        let expected = [0, 2, 4, 6].map(|row: usize| &y[2 * row..][..2]);
        for k in 0..2 {
            let sum: f32 = expected.iter().map(|y| y[k]).sum();
            let guess = if k == 0 { 5.0 } else { 0.0 };
            assert!((found[k] - (sum + guess) / 5.0).abs() < 1e-5, "{found:?}");
        }
        let without = near.average(&[5.0, 0.0], Some(&[0]));
        assert_ne!(without, found, "its own row is left out");
    }

    #[test]
    fn a_handful_of_nodes_is_no_neighbourhood() {
        let near = Nearest::new(&[1.0, 0.0, 0.0, 1.0], 2, vec![0, 1], 0);
        assert_eq!(near.average(&[3.0, 4.0], None), [3.0, 4.0]);
        assert_eq!(near.average(&[0.0, 0.0], None), [0.0, 0.0]);
    }
}

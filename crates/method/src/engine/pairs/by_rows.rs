//! Shares of a pass by machines that have the whole gradient of a row: graphics cards.
//!
//! Such a machine has tiles of rows, and each row of a tile meets all others. What it finds
//! for a tile does not depend on the other tiles that it has, so that any cut of the tiles
//! into shares makes the same whole.

use std::ops::Range;

use super::{EmbeddedRows, FlatLists, FlatPartial, Sums};
use linkproof_numeric::real::Real;

impl<T: Real> FlatPartial<T> {
    /// A share without any tile.
    pub fn of_no_rows() -> FlatPartial<T> {
        FlatPartial {
            sums: Vec::new(),
            places: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Adds a tile: its rows, sums that stand for it in their order, and of each row the
    /// slopes in its numbers and in its offset, where the gradient was asked for.
    pub fn push_rows(
        &mut self,
        rows: Range<usize>,
        sums: impl ExactSizeIterator<Item = Sums>,
        slopes: impl Iterator<Item = T>,
    ) {
        let place = [rows.start, rows.end, sums.len()];
        self.places.extend(place.map(|number| number as u32));
        sums.for_each(|sums| sums.put_flat(&mut self.sums));
        self.numbers.extend(slopes);
    }
}

/// Rows, and the lists of their sums and slopes.
type Tile<'s, T> = (Range<usize>, &'s [f64], &'s [T]);

/// The whole of a pass from the lists of all shares, whatever their order; the derivative
/// is added to `gradient`. None where they make no whole.
pub fn join_rows<T: Real>(
    shares: &[FlatLists<'_, T>],
    embedded: &EmbeddedRows<'_, T>,
    gradient: Option<&mut [T]>,
) -> Option<Sums> {
    let (n, dim, n_views) = (embedded.n_rows(), embedded.dim, embedded.gamma.n_views());
    let width = match gradient {
        Some(_) => dim + usize::from(!embedded.offsets.is_empty()),
        None => 0,
    };
    let mut tiles: Vec<Tile<'_, T>> = Vec::new();
    for &(mut sums, places, mut numbers) in shares {
        let places = places.chunks_exact(3);
        if !places.remainder().is_empty() {
            return None;
        }
        for place in places {
            let rows = place[0] as usize..place[1] as usize;
            let of_sums = place[2] as usize * Sums::flat_len(n_views);
            let (here, slopes);
            (here, sums) = sums.split_at_checked(of_sums)?;
            (slopes, numbers) = numbers.split_at_checked(rows.len() * width)?;
            tiles.push((rows, here, slopes));
        }
        if !(sums.is_empty() && numbers.is_empty()) {
            return None;
        }
    }
    tiles.sort_by_key(|(rows, ..)| rows.start);
    let ends = std::iter::once(0).chain(tiles.iter().map(|(rows, ..)| rows.end));
    let starts = tiles.iter().map(|(rows, ..)| rows.start).chain([n]);
    if !ends.eq(starts) {
        return None;
    }
    let mut total = Sums::zero(n_views);
    for (_, sums, _) in &tiles {
        for sums in sums.chunks_exact(Sums::flat_len(n_views)) {
            total.add(&Sums::of_flat(sums, n_views));
        }
    }
    if let Some(gradient) = gradient {
        let (of_rows, of_offsets) = gradient.split_at_mut_checked(n * dim)?;
        let slopes = tiles
            .iter()
            .flat_map(|(.., slopes)| slopes.chunks_exact(width));
        for (row, (out, slopes)) in of_rows.chunks_exact_mut(dim).zip(slopes).enumerate() {
            for (out, slope) in out.iter_mut().zip(slopes) {
                *out += *slope;
            }
            if let (Some(out), Some(slope)) = (of_offsets.get_mut(row), slopes.get(dim)) {
                *out += *slope;
            }
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::pairs::ViewMatrix;

    /// Tiles of two rows; the last has one.
    fn shares(of: usize, with_gradient: bool) -> Vec<FlatPartial<f32>> {
        let mut shares = vec![FlatPartial::of_no_rows(); of];
        for tile in 0..3 {
            let rows = 2 * tile..(2 * tile + 2).min(5);
            let sums = (0..tile).map(|at| Sums {
                value: 0.1 + at as f64 + tile as f64,
                pairs: 1.0,
                watched: (0.5, 2.0),
                ..Sums::zero(1)
            });
            let numbers = if with_gradient { rows.len() * 3 } else { 0 };
            let slopes = (0..numbers).map(|at| (10 * tile + at) as f32);
            shares[tile % of].push_rows(rows, sums, slopes);
        }
        shares
    }

    #[test]
    fn shares_of_any_number_make_the_same_whole_and_others_make_none() {
        let (y, offsets) = ([0f32; 10], [0f32; 5]);
        let (views, gamma) = (vec![0..5; 1], ViewMatrix::filled(1, 0.0));
        let embedded = EmbeddedRows {
            y: &y,
            mirror: &y,
            offsets: &offsets,
            dim: 2,
            views: &views,
            gamma: &gamma,
        };
        let join = |shares: &[FlatPartial<f32>]| {
            let mut gradient = vec![1f32; 15];
            let lists: Vec<_> = shares.iter().map(FlatPartial::lists).collect();
            join_rows(&lists, &embedded, Some(&mut gradient)).map(|sums| (sums, gradient))
        };
        let value = |shares: &[FlatPartial<f32>]| {
            let lists: Vec<_> = shares.iter().map(FlatPartial::lists).collect();
            join_rows(&lists, &embedded, None)
        };
        let (sums, gradient) = join(&shares(1, true)).unwrap();
        assert_eq!((sums.value, sums.pairs), (1.1 + 2.1 + 3.1, 3.0));
        assert_eq!(sums.watched, (1.5, 6.0));
        let of_rows = [1.0, 2.0, 4.0, 5.0, 11.0, 12.0, 14.0, 15.0, 21.0, 22.0];
        assert_eq!(gradient[..10], of_rows);
        assert_eq!(gradient[10..], [3.0, 6.0, 13.0, 16.0, 23.0]);
        for of in [2, 3, 7] {
            let mut some = shares(of, true);
            assert_eq!(join(&some).unwrap(), (sums.clone(), gradient.clone()));
            some.reverse();
            assert_eq!(join(&some).unwrap(), (sums.clone(), gradient.clone()));
            assert_eq!(value(&shares(of, false)).unwrap(), sums);
            // Without one of them, or with one twice, there is no whole.
            let mut fewer = shares(of, true);
            fewer.remove(0);
            assert!(join(&fewer).is_none());
            assert!(join(&[&some[..], &shares(of, true)[..1]].concat()).is_none());
            assert!(join(&shares(of, false)).is_none());
            assert!(value(&shares(of, true)).is_none());
        }
        let damages: [fn(&mut FlatPartial<f32>); 6] = [
            |part| part.sums.truncate(1),
            |part| part.sums.push(0.0),
            |part| part.places.truncate(4),
            |part| part.places[1] = u32::MAX,
            |part| part.places[2] = u32::MAX,
            |part| part.numbers.push(0.0),
        ];
        for damage in damages {
            let mut damaged = shares(1, true);
            damage(&mut damaged[0]);
            assert!(join(&damaged).is_none());
        }
        assert!(join(&[]).is_none());
    }
}

//! Sums over vectors as long as the parameters of a fit, in pieces that threads share.
//!
//! Pieces have the same length whatever the number of threads, and their sums are added
//! in order.

use linkproof_numeric::real::{self, Real};
use rayon::prelude::*;

/// The numbers of a piece.
const PIECE: usize = 1 << 15;

/// The inner product in double precision.
pub fn dot<T: Real>(a: &[T], b: &[T]) -> f64 {
    if a.len() <= PIECE {
        return real::dot_f64(a, b);
    }
    let pieces = a.par_chunks(PIECE).zip(b.par_chunks(PIECE));
    let sums: Vec<f64> = pieces.map(|(a, b)| real::dot_f64(a, b)).collect();
    sums.into_iter().sum()
}

/// `out += factor * x`.
pub fn add_scaled<T: Real>(out: &mut [T], factor: T, x: &[T]) {
    if out.len() <= PIECE {
        return real::add_scaled(out, factor, x);
    }
    let pieces = out.par_chunks_mut(PIECE).zip(x.par_chunks(PIECE));
    pieces.for_each(|(out, x)| real::add_scaled(out, factor, x));
}

/// `a - b`.
pub fn minus<T: Real>(a: &[T], b: &[T]) -> Vec<T> {
    let both = a.par_iter().with_min_len(PIECE).zip(b);
    both.map(|(a, b)| *a - *b).collect()
}

/// `factor * x`.
pub fn scaled<T: Real>(x: &[T], factor: T) -> Vec<T> {
    let all = x.par_iter().with_min_len(PIECE);
    all.map(|x| factor * *x).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_whole() {
        for n in [0, 1, PIECE, PIECE + 1, 3 * PIECE - 7] {
            let a: Vec<f64> = (0..n).map(|i| (i % 17) as f64).collect();
            let b: Vec<f64> = (0..n).map(|i| (i % 5) as f64 - 2.0).collect();
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), expected);
            assert_eq!(minus(&a, &a), scaled(&a, 0.0));
            let mut sum = b.clone();
            add_scaled(&mut sum, 2.0, &a);
            add_scaled(&mut sum, -2.0, &a);
            assert_eq!(sum, b);
        }
    }
}

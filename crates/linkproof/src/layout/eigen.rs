//! The largest eigenvalues of a symmetric matrix and their vectors: reflected to
//! tridiagonal form, values by bisection, vectors by inverse iteration. Only a
//! few are wanted, so this takes `4/3 n^3` operations, where a solver for all of
//! them (Jacobi's, QL) takes ten times as many.

use crate::real::{add_scaled, dot_f64};

/// The `count` largest eigenvalues (all, where there are fewer) of a symmetric
/// `n x n` matrix, largest first, each with a unit vector orthogonal to those
/// before it.
pub(super) fn largest(mut matrix: Vec<f64>, n: usize, count: usize) -> Vec<(f64, Vec<f64>)> {
    let scale = matrix.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if scale > 0.0 {
        matrix.iter_mut().for_each(|x| *x /= scale);
    }
    let reduced = Tridiagonal::new(matrix, n);
    let mut found: Vec<(f64, Vec<f64>)> = Vec::new();
    for rank in 0..count.min(n) {
        let value = reduced.value(rank);
        let others: Vec<&[f64]> = found.iter().map(|(_, v)| v.as_slice()).collect();
        let vector = reduced.vector(value, &others);
        found.push((value, vector));
    }
    let back = |(value, vector): (f64, Vec<f64>)| (value * scale, reduced.back(vector));
    found.into_iter().map(back).collect()
}

/// `T = Q^T A Q`, with `Q` the product of Householder reflections.
struct Tridiagonal {
    /// The diagonal of `T`.
    diagonal: Vec<f64>,
    /// Beside the diagonal; one entry fewer.
    beside: Vec<f64>,
    /// In row `k`, right of the diagonal: `v` of the reflection
    /// `1 - factor_k v v^T` of the entries after `k`.
    reflections: Vec<f64>,
    /// The factors; 0 where nothing had to be reflected.
    factors: Vec<f64>,
}

impl Tridiagonal {
    fn new(mut a: Vec<f64>, n: usize) -> Tridiagonal {
        let mut beside = vec![0.0; n.saturating_sub(1)];
        let mut factors = vec![0.0; n.saturating_sub(1)];
        for k in 0..n.saturating_sub(1) {
            let (above, below) = a.split_at_mut((k + 1) * n);
            let v = &mut above[k * n + k + 1..];
            let rest: f64 = v[1..].iter().map(|x| x * x).sum();
            if !(rest > 0.0) {
                beside[k] = v[0];
                continue;
            }
            let norm = (v[0] * v[0] + rest).sqrt();
            beside[k] = if v[0] > 0.0 { -norm } else { norm };
            v[0] -= beside[k];
            factors[k] = 2.0 / (v[0] * v[0] + rest);
            reflect(below, n, k + 1, v, factors[k]);
        }
        Tridiagonal {
            diagonal: a.iter().step_by(n + 1).copied().collect(),
            beside,
            reflections: a,
            factors,
        }
    }

    /// The eigenvalue that `rank` others exceed.
    fn value(&self, rank: usize) -> f64 {
        let n = self.diagonal.len();
        let radius = |i: usize| {
            let before = i.checked_sub(1).map_or(0.0, |i| self.beside[i].abs());
            before + self.beside.get(i).map_or(0.0, |x| x.abs())
        };
        let ends = (0..n).map(|i| (self.diagonal[i] - radius(i), self.diagonal[i] + radius(i)));
        let (mut low, mut high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |all, end| {
            (all.0.min(end.0), all.1.max(end.1))
        });
        loop {
            let middle = low + (high - low) / 2.0;
            if !(low < middle && middle < high) {
                return middle;
            }
            match n - self.count_below(middle) > rank {
                true => low = middle,
                false => high = middle,
            }
        }
    }

    /// How many eigenvalues are below `x`: the negative ones of the quotients of
    /// successive leading minors of `T - x` (Sturm).
    fn count_below(&self, x: f64) -> usize {
        let (mut count, mut quotient) = (0, 1.0);
        for (i, diagonal) in self.diagonal.iter().enumerate() {
            let before = i.checked_sub(1).map_or(0.0, |i| self.beside[i].powi(2));
            quotient = diagonal - x - before / quotient;
            if quotient == 0.0 {
                quotient = f64::EPSILON * f64::EPSILON;
            }
            count += usize::from(quotient < 0.0);
        }
        count
    }

    /// A unit eigenvector of `T`, orthogonal to some others. Each solution of
    /// `(T - value) x' = x` magnifies the vector's part by the inverse of the
    /// value's error; a second one removes what the start left.
    fn vector(&self, value: f64, others: &[&[f64]]) -> Vec<f64> {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let n = self.diagonal.len();
        let mut x: Vec<f64> = (0..n).map(|i| 0.5 + (i as f64 * GOLDEN).fract()).collect();
        make_unit(&mut x, others);
        for _ in 0..4 {
            let mut next = x.clone();
            self.solve(value, &mut next);
            if make_unit(&mut next, others) {
                x = next;
            }
        }
        x
    }

    /// Solves `(T - value) x = b` in place, by elimination with row exchanges.
    /// A pivot of 0, as an exact eigenvalue has it, becomes a tiny one.
    fn solve(&self, value: f64, b: &mut [f64]) {
        let n = b.len();
        let entry = |i: usize| self.beside.get(i).copied().unwrap_or(0.0);
        let tiny = |x: f64| if x == 0.0 { f64::EPSILON } else { x };
        // The rows after elimination: three entries from the diagonal on.
        let mut rows = vec![[0.0; 3]; n];
        let mut now = [self.diagonal[0] - value, entry(0), 0.0];
        for i in 0..n - 1 {
            let mut below = [entry(i), self.diagonal[i + 1] - value, entry(i + 1)];
            if below[0].abs() > now[0].abs() {
                (now, below) = (below, now);
                b.swap(i, i + 1);
            }
            now[0] = tiny(now[0]);
            let factor = below[0] / now[0];
            b[i + 1] -= factor * b[i];
            rows[i] = now;
            now = [below[1] - factor * now[1], below[2] - factor * now[2], 0.0];
        }
        now[0] = tiny(now[0]);
        rows[n - 1] = now;
        for i in (0..n).rev() {
            let next = |j: usize| b.get(i + j).copied().unwrap_or(0.0);
            b[i] = (b[i] - rows[i][1] * next(1) - rows[i][2] * next(2)) / rows[i][0];
        }
    }

    /// `Q x`.
    fn back(&self, mut x: Vec<f64>) -> Vec<f64> {
        let n = x.len();
        for k in (0..self.factors.len()).rev() {
            let v = &self.reflections[k * n + k + 1..(k + 1) * n];
            let factor = -self.factors[k] * dot_f64(v, &x[k + 1..]);
            add_scaled(&mut x[k + 1..], factor, v);
        }
        x
    }
}

/// `A -= v w^T + w v^T` with `w = p - factor/2 <v, p> v`, `p = factor A v`,
/// which is `(1 - factor v v^T) A (1 - factor v v^T)`. `A` is the part from
/// column `first` on of rows of length `n`.
fn reflect(rows: &mut [f64], n: usize, first: usize, v: &[f64], factor: f64) {
    let product = |row: &[f64]| factor * dot_f64(&row[first..], v);
    let mut w: Vec<f64> = rows.chunks_exact(n).map(product).collect();
    let shift = -factor / 2.0 * dot_f64(v, &w);
    add_scaled(&mut w, shift, v);
    for ((row, vi), wi) in rows.chunks_exact_mut(n).zip(v).zip(&w) {
        for ((x, vj), wj) in row[first..].iter_mut().zip(v).zip(&w) {
            *x -= vi * wj + wi * vj;
        }
    }
}

/// Makes a vector orthogonal to others, twice against rounding, and of norm 1;
/// whether it could.
fn make_unit(x: &mut [f64], others: &[&[f64]]) -> bool {
    for _ in 0..2 {
        let norm = dot_f64(x, x).sqrt();
        if !(norm > 0.0 && norm.is_finite()) {
            return false;
        }
        x.iter_mut().for_each(|x| *x /= norm);
        for other in others {
            let factor = -dot_f64(x, other);
            add_scaled(x, factor, other);
        }
    }
    let norm = dot_f64(x, x).sqrt();
    x.iter_mut().for_each(|x| *x /= norm);
    norm > 0.5
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn eigenvectors_are_exact_and_orthogonal_at_odd_sizes() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for n in [1, 2, 3, 5, 17, 64, 101] {
            for kind in 0..4 {
                // Random, of low rank, diagonal with ties, with a block of zeros.
                let rank = if kind == 1 { 2 } else { n + 3 };
                let x: Vec<f64> = (0..n * rank)
                    .map(|_| random.random::<f64>() - 0.5)
                    .collect();
                let mut a = vec![0.0; n * n];
                for (place, a) in a.iter_mut().enumerate() {
                    let (i, j) = (place / n, place % n);
                    *a = match kind {
                        2 => f64::from(u8::from(i == j)) * (1 + i % 3) as f64,
                        3 if i.min(j) < n / 2 => 0.0,
                        _ => (0..rank).map(|r| x[i * rank + r] * x[j * rank + r]).sum(),
                    } * 1e30;
                }
                let found = largest(a.clone(), n, 2);
                assert_eq!(found.len(), n.min(2));
                let scale = found[0].0;
                for (value, v) in &found {
                    for (i, row) in a.chunks_exact(n).enumerate() {
                        let product: f64 = row.iter().zip(v).map(|(a, v)| a * v).sum();
                        assert!(
                            (product - value * v[i]).abs() <= 1e-12 * scale,
                            "{n} {kind}"
                        );
                    }
                    let norm: f64 = v.iter().map(|x| x * x).sum();
                    assert!((norm - 1.0).abs() < 1e-12);
                }
                if let [(first, u), (second, v)] = &found[..] {
                    assert!(first >= second);
                    let product: f64 = u.iter().zip(v).map(|(u, v)| u * v).sum();
                    assert!(product.abs() < 1e-12, "{n} {kind} {product}");
                    let trace: f64 = a.iter().step_by(n + 1).sum();
                    let rest = trace - first - second;
                    assert!(rest >= -1e-12 * trace);
                    assert!(rank > 2 || kind != 1 || rest.abs() < 1e-12 * trace);
                    assert!(kind != 2 || n < 6 || (second / 1e30 - 3.0).abs() < 1e-12);
                }
            }
        }
    }
}

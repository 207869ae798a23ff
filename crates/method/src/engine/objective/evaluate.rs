//! The plain objective of given embeddings: no encoder, no ridge, no cap.

use crate::data::graph::Graph;
use crate::engine::pairs::{
    AllPairs, EmbeddedRows, PairPass, PairTerm, Tiled, ViewMatrix, listed_pairs,
};
use crate::error::{Error, Result, quote};
use crate::score::{Kernel, Score};
use linkproof_numeric::real::Real;

/// The objective of given embeddings. Beyond the range of numbers its value
/// and gradients are infinite or NaN; see [`Evaluation::is_finite`].
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation<T> {
    /// The sum of the score over all pairs `i < j`.
    pub value: f64,
    /// Its derivative in `gamma`.
    pub gamma_gradient: f64,
    /// The number of pairs, `n (n - 1) / 2`.
    pub pairs: u64,
    /// Its derivative in the embeddings, row after row, where it was asked for.
    pub gradient: Option<Vec<T>>,
}

impl<T: Real> Evaluation<T> {
    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let gradient = self.gradient.as_deref().unwrap_or_default();
        self.value.is_finite()
            && self.gamma_gradient.is_finite()
            && gradient.iter().all(|x| x.is_finite())
    }
}

/// Evaluates `sum over i < j of l(<y_i, y_j> - gamma; w_ij)` for embeddings
/// `y` of dimension `dim`, row after row, and links between the same rows.
/// Takes `O(n K)` memory.
///
/// ```
/// use linkproof::Graph;
/// use linkproof::engine::objective::evaluate;
/// use linkproof::params::ScoreKind;
/// use linkproof::score::Score;
///
/// let graph = Graph::from_rows(3, &[(0, 1, 2.0)])?;
/// let likelihood = Score::new(ScoreKind::Likelihood, 0.0);
/// let found = evaluate(&[0.0f64; 3], 1, &graph, 0.5, &likelihood, false)?;
/// // s = -0.5 for each of the three pairs: 3 e^s - 2 s
/// assert!((found.value - (3.0 * (-0.5f64).exp() + 1.0)).abs() < 1e-12);
/// # Ok::<(), linkproof::Error>(())
/// ```
///
/// # Errors
/// [`Error::Data`] when the sizes do not fit each other, a number is not finite or
/// a weight is negative.
pub fn evaluate<T: Real>(
    y: &[T],
    dim: usize,
    graph: &Graph,
    gamma: f64,
    score: &Score,
    with_gradient: bool,
) -> Result<Evaluation<T>> {
    let n = graph.n_nodes();
    if dim == 0 || n.checked_mul(dim) != Some(y.len()) {
        return Err(Error::data(
            "embeddings",
            format!("{} numbers", y.len()),
            format!("{n} nodes of dimension {dim}, 1 or more"),
        ));
    }
    if n < 2 {
        let found = format!("{n} node");
        return Err(Error::data("embeddings", found, "at least two nodes"));
    }
    if !gamma.is_finite() || y.iter().any(|x| !x.is_finite()) {
        let what = "embeddings and gamma";
        return Err(Error::data(what, "NaN or infinity", "finite numbers"));
    }
    if let Some(link) = graph.negative() {
        let [a, b] = [link.src, link.dst].map(|row| graph.ids().name(row as usize));
        let found = format!(
            "weight {} between {} and {}",
            link.weight,
            quote(&a),
            quote(&b)
        );
        return Err(Error::links(found, "weights of zero or more"));
    }
    let rows = vec![0..n; 1];
    let gammas = ViewMatrix::filled(1, gamma);
    let embedded = EmbeddedRows {
        y,
        mirror: y,
        offsets: &[],
        dim,
        views: &rows,
        gamma: &gammas,
    };
    let unit = ViewMatrix::filled(1, 1.0);
    let nodes: Vec<u32> = (0..n as u32).collect();
    let pairs = AllPairs {
        rows: &rows,
        scale: &unit,
        nodes: &nodes,
        split: None,
        watched: false,
    };
    let mut gradient = with_gradient.then(|| vec![T::ZERO; y.len()]);
    let kernel = Kernel::new(score);
    let mut sums =
        Tiled::default().all_pairs(&embedded, &pairs, &kernel, gradient.as_deref_mut())?;
    let corrections = listed_pairs(
        &embedded,
        &graph.adjacency(),
        PairTerm::Correction,
        &unit,
        score,
        gradient.as_deref_mut(),
    );
    sums.add_corrections(&corrections);
    let n_pairs = n as u64 * (n as u64 - 1) / 2;
    Ok(Evaluation {
        value: sums.value + score.constant() * n_pairs as f64,
        gamma_gradient: sums.gamma.get(0, 0),
        pairs: n_pairs,
        gradient,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::ScoreKind;

    #[test]
    fn agrees_with_a_plain_double_loop() {
        let (n, dim, gamma) = (7, 3, 0.4);
        let y: Vec<f64> = (0..n * dim).map(|x| (x as f64).sin()).collect();
        let graph = Graph::from_rows(n, &[(0, 1, 1.0), (4, 2, 0.3), (5, 4, 50.0)]).unwrap();
        for kind in ScoreKind::ALL {
            let score = Score::new(*kind, 0.5);
            let (mut value, mut slope) = (0.0, 0.0);
            for i in 0..n {
                for j in i + 1..n {
                    let s: f64 = (0..dim).map(|k| y[i * dim + k] * y[j * dim + k]).sum();
                    let weight = graph.weight(i as u32, j as u32).unwrap_or(0.0);
                    let term = score.pair(s - gamma, weight);
                    value += term.value;
                    slope -= term.slope;
                }
            }
            let found = evaluate(&y, dim, &graph, gamma, &score, true).unwrap();
            assert!((found.value / value - 1.0).abs() < 1e-12, "{kind}");
            assert!((found.gamma_gradient / slope - 1.0).abs() < 1e-12, "{kind}");
            assert!(found.is_finite());
            assert_eq!(found.pairs, 21);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_overflow_shows() {
        let graph = Graph::from_rows(2, &[(0, 1, 1.0)]).unwrap();
        let score = Score::new(ScoreKind::Likelihood, 0.0);
        let refused = |y: &[f64], dim, gamma| {
            matches!(
                evaluate(y, dim, &graph, gamma, &score, false),
                Err(Error::Data { .. })
            )
        };
        assert!(refused(&[0.0; 3], 1, 0.0));
        assert!(refused(&[], 0, 0.0));
        assert!(refused(&[0.0, f64::NAN], 1, 0.0));
        assert!(refused(&[0.0; 2], 1, f64::NAN));
        let found = evaluate(&[40.0, 40.0], 1, &graph, 0.0, &score, true).unwrap();
        assert!(!found.is_finite());
    }
}

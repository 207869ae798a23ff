//! What speaks against a fit: before it, by settings and data, and after it, by what
//! came out.

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Fitted;
use crate::data::dataset::Dataset;
use crate::data::transform::transform_weight;
use crate::params::{Note, Params, ScoreKind};

/// Rows that tell the effective rank.
const MOST_ROWS: usize = 20_000;
/// Embeddings whose variance is a smaller share of their mean square are the same.
const SAME: f64 = 1e-6;
/// An embedding of more dimensions that really uses fewer than this has collapsed.
const COLLAPSED: f64 = 1.5;
const MANY_DIMENSIONS: usize = 4;
/// On graphs of which a smaller share of the pairs is linked than this, the probability
/// score takes honest weights above 1 for errors where they are larger than the other,
/// divided by its exponent. A planted graph of 600 nodes (1.3% of the pairs linked), all
/// weights equal to 1, 2, 3, 5 and 10: the fit expected 18% of the weight at 5, none at
/// 10 and nearly all below with beta 0.1; 11% at 2, 1% at 3 and none above with beta
/// 0.5, NMI falling from .94 to .03.
const SPARSE: f64 = 0.05;
const TOO_HEAVY: f64 = 0.4;
/// Nodes that tell how much weight a model expects.
const ASKED_NODES: usize = 256;
/// A model that expects a smaller share of the weight has given most links up.
const GIVEN_UP: f64 = 0.3;

/// How many dimensions embeddings really use: `(tr C)^2 / tr C^2` of their covariance
/// `C`, 1 where they lie on a line and `K` where no direction counts more than
/// another; 0 where all are the same.
pub fn effective_rank(y: &[f32], dim: usize) -> f64 {
    let n = y.len() / dim.max(1);
    if n == 0 {
        return 0.0;
    }
    let step = n.div_ceil(MOST_ROWS);
    let rows = || y.chunks_exact(dim).step_by(step);
    let count = n.div_ceil(step) as f64;
    let mut means = vec![0.0; dim];
    let mut square = 0.0;
    for row in rows() {
        for (mean, &x) in means.iter_mut().zip(row) {
            *mean += f64::from(x) / count;
            square += f64::from(x) * f64::from(x);
        }
    }
    let centre = |row: &[f32]| -> Vec<f64> {
        let entries = row.iter().zip(&means);
        entries.map(|(&x, mean)| f64::from(x) - mean).collect()
    };
    let centred: Vec<f64> = rows().flat_map(centre).collect();
    // Up to the diagonal; each row's sums have one owner.
    let covariance: Vec<Vec<f64>> = (0..dim)
        .into_par_iter()
        .map(|k| {
            let mut sums = vec![0.0; k + 1];
            for row in centred.chunks_exact(dim) {
                let entries = sums.iter_mut().zip(row);
                entries.for_each(|(sum, x)| *sum += row[k] * x);
            }
            sums
        })
        .collect();
    let trace: f64 = (0..dim).map(|k| covariance[k][k]).sum();
    // Not a number counts as nothing, too.
    if !(trace > SAME * square) {
        return 0.0;
    }
    let squares = covariance.iter().enumerate().map(|(k, sums)| {
        let square = |c: &f64| (c / trace).powi(2);
        2.0 * sums[..k].iter().map(square).sum::<f64>() + square(&sums[k])
    });
    1.0 / squares.sum::<f64>()
}

/// Whether so many of the dimensions are too few.
pub fn has_collapsed(effective_rank: f64, dim: usize) -> bool {
    dim >= MANY_DIMENSIONS && effective_rank < COLLAPSED
}

/// Whether the probability score takes links of such a weight for errors.
pub fn too_heavy_for_probability(weight: f64, beta: f64, linked_share: f64) -> bool {
    linked_share < SPARSE && weight > 1.0 && beta * weight > TOO_HEAVY
}

/// What can be known before a fit.
pub fn foreseen(params: &Params, data: &Dataset) -> Vec<Note> {
    let n = data.n_nodes() as f64;
    let linked = data.graph().n_links() as f64 / (0.5 * n * (n - 1.0)).max(1.0);
    let mut weights: Vec<f64> = data.graph().weights().to_vec();
    let middle = weights.len() / 2;
    if params.score != ScoreKind::Probability || weights.is_empty() {
        return Vec::new();
    }
    let (_, median, _) = weights.select_nth_unstable_by(middle, f64::total_cmp);
    let weight = transform_weight(*median, params.weights);
    match too_heavy_for_probability(weight, params.beta, linked) {
        true => vec![Note::TooHeavyForProbability { weight, linked }],
        false => Vec::new(),
    }
}

impl Fitted {
    /// How many dimensions the recommended embeddings really use.
    pub fn effective_rank(&self) -> f64 {
        effective_rank(self.recommended(), self.dim())
    }

    /// What speaks against the model itself.
    pub(super) fn doubts(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let used = self.effective_rank();
        if has_collapsed(used, self.dim()) {
            let dim = self.dim();
            notes.push(Note::Collapsed { used, dim });
        }
        if self.params().score == ScoreKind::Probability {
            let share = self.expected_share();
            notes.extend((share < GIVEN_UP).then_some(Note::ExpectsTooLittle(share)));
        }
        notes
    }

    /// The expected weight of all pairs of some nodes, against the weight of their
    /// links.
    fn expected_share(&self) -> f64 {
        let n = self.n_nodes();
        let mut random = ChaCha8Rng::seed_from_u64(self.params().seed);
        random.set_stream(0x6578_7065);
        let mut asked = sample(&mut random, n, ASKED_NODES.min(n)).into_vec();
        asked.sort_unstable();
        let view = |row: usize| self.node_views()[row] as usize;
        let takes_part = |i: usize, j: usize| self.takes_part(view(i), view(j));
        let expected = |i: usize| -> f64 {
            let others = (0..n).filter(|&j| j != i && takes_part(i, j));
            others.map(|j| self.mu(i, j)).sum()
        };
        let expected: Vec<f64> = asked.par_iter().map(|&i| expected(i)).collect();
        let mut observed = 0.0;
        for link in self.links().links() {
            let ends = [link.src as usize, link.dst as usize];
            if takes_part(ends[0], ends[1]) {
                let times = ends.iter().filter(|end| asked.binary_search(end).is_ok());
                observed +=
                    times.count() as f64 * transform_weight(link.weight, self.params().weights);
            }
        }
        match observed > 0.0 {
            true => expected.iter().sum::<f64>() / observed,
            false => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::graph::Graph;
    use crate::params::WeightTransform;

    #[test]
    fn dimensions_that_are_used_are_counted() {
        // A line in three dimensions, whatever its place and length.
        let line: Vec<f32> = (0..50)
            .flat_map(|i| [5.0 + i as f32, 2.0 * i as f32, 1.0])
            .collect();
        assert!((effective_rank(&line, 3) - 1.0).abs() < 1e-9);
        let cross: Vec<f32> = (0..40)
            .flat_map(|i| {
                let mut row = [7.0f32; 4];
                row[i % 4] += if i % 8 < 4 { 1.0 } else { -1.0 };
                row
            })
            .collect();
        assert!((effective_rank(&cross, 4) - 4.0).abs() < 1e-9);
        let scaled: Vec<f32> = cross.iter().map(|x| 1024.0 * x).collect();
        assert_eq!(effective_rank(&cross, 4), effective_rank(&scaled, 4));
        assert_eq!(effective_rank(&[0.25; 30], 3), 0.0);
        assert_eq!(effective_rank(&[], 3), 0.0);
        assert!(has_collapsed(1.2, 64) && has_collapsed(0.0, 4));
        assert!(!has_collapsed(1.0, 2) && !has_collapsed(6.3, 64));
    }

    /// 400 nodes in a ring, each linked to the next four.
    fn ring(weight: f64) -> Dataset {
        let pairs = (0..400u32).flat_map(|i| (1..5).map(move |step| (i, (i + step) % 400)));
        let links: Vec<_> = pairs.map(|(i, j)| (i, j, weight)).collect();
        Dataset::from_links(Graph::from_rows(400, &links).unwrap()).unwrap()
    }

    #[test]
    fn what_the_probability_score_cannot_do_is_said_before_and_after() {
        let with = |score, weights| Params {
            dim: 8,
            score,
            beta: 0.5,
            weights,
            ..Params::default()
        };
        let probability = with(ScoreKind::Probability, WeightTransform::AsIs);
        let said = |params: &Params, weight: f64| foreseen(params, &ring(weight)).len();
        assert_eq!(
            [1.0, 2.0, 10.0].map(|weight| said(&probability, weight)),
            [0, 1, 1]
        );
        let mild = Params {
            beta: 0.1,
            ..probability.clone()
        };
        assert_eq!([3.0, 5.0].map(|weight| said(&mild, weight)), [0, 1]);
        let binary = with(ScoreKind::Probability, WeightTransform::Binary);
        let moment = with(ScoreKind::Moment, WeightTransform::AsIs);
        assert_eq!([said(&binary, 10.0), said(&moment, 10.0)], [0, 0]);
        let notes = |params: &Params, weight: f64| {
            let fitted = crate::fit(&params.clone().check().unwrap(), &ring(weight)).unwrap();
            let notes = fitted.report().notes.iter();
            let too_heavy = |note: &&Note| matches!(note, Note::TooHeavyForProbability { .. });
            let too_little = |note: &&Note| matches!(note, Note::ExpectsTooLittle(_));
            (
                notes.clone().filter(too_heavy).count(),
                notes.filter(too_little).count(),
            )
        };
        assert_eq!(notes(&probability, 10.0), (1, 1));
        assert_eq!(notes(&binary, 10.0).1 + notes(&moment, 10.0).1, 0);
    }
}

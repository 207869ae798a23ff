use super::*;
use crate::data::graph::Link;
use crate::params::ScoreKind;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Case {
    sizes: Vec<usize>,
    dim: usize,
    split: Option<(Split, Part)>,
    /// Rows at the end of each view that only listed pairs use.
    spare: usize,
    spread: f64,
    /// Whether rows have offsets, and how many dimensions count as negative.
    offsets: bool,
    negative: usize,
}

struct Outcome {
    sums: Sums,
    gradient: Vec<f64>,
}

/// A way to sum over all pairs.
type AllPairsSum<T> = fn(&EmbeddedRows<'_, T>, &AllPairs<'_>, &Score, Option<&mut [T]>) -> Sums;

fn tiled<T: Real>(
    embedded: &EmbeddedRows<'_, T>,
    pairs: &AllPairs<'_>,
    score: &Score,
    gradient: Option<&mut [T]>,
) -> Sums {
    let kernel = Kernel::new(score);
    let sums = Tiled::default().all_pairs(embedded, pairs, &kernel, gradient);
    sums.unwrap()
}

/// Plain loops over all pairs, one after another.
fn plain(
    embedded: &EmbeddedRows<'_, f64>,
    pairs: &AllPairs<'_>,
    score: &Score,
    mut gradient: Option<&mut [f64]>,
) -> Sums {
    let mut sums = Sums::zero(pairs.scale.n_views());
    let rows: Vec<usize> = pairs.rows.iter().cloned().flatten().collect();
    let dim = embedded.dim;
    for (place, &i) in rows.iter().enumerate() {
        for &j in &rows[place + 1..] {
            let (d, e) = (embedded.view_of(i), embedded.view_of(j));
            let scale = pairs.scale.get(d, e);
            let nodes = (pairs.nodes[i], pairs.nodes[j]);
            let part = pairs
                .split
                .map(|(split, part)| (split.part_of(nodes.0, nodes.1), part));
            let kept = part.is_none_or(|(here, wanted)| here == wanted);
            let watched = pairs.watched && part.is_some_and(|(here, _)| here == Part::HeldOut);
            if scale == 0.0 {
                continue;
            }
            let term = score.unlinked(embedded.similarity(i, j));
            if watched {
                sums.watched.0 += scale * term.value;
                sums.watched.1 += scale;
            }
            if kept {
                sums.add_term((d, e), scale, term);
            }
            if let Some(gradient) = gradient.as_deref_mut().filter(|_| kept) {
                for k in 0..dim {
                    gradient[i * dim + k] += scale * term.slope * embedded.mirror(j)[k];
                    gradient[j * dim + k] += scale * term.slope * embedded.mirror(i)[k];
                }
                if !embedded.offsets.is_empty() {
                    for row in [i, j] {
                        gradient[embedded.y.len() + row] += scale * term.slope;
                    }
                }
            }
        }
    }
    sums
}

fn run<T: Real>(case: &Case, sum: AllPairsSum<T>, score: &Score) -> Outcome {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let n: usize = case.sizes.iter().sum();
    let scale = case.spread / (case.dim as f64).sqrt();
    let y: Vec<T> = (0..n * case.dim)
        .map(|_| T::of(random.random_range(-1.0..1.0) * scale))
        .collect();
    let (mut views, mut rows, mut start) = (vec![], vec![], 0);
    for &size in &case.sizes {
        views.push(start..start + size);
        rows.push(start..start + size - case.spare);
        start += size;
    }
    let n_views = case.sizes.len();
    let mut gamma = ViewMatrix::filled(n_views, 0.0);
    let mut scale = ViewMatrix::filled(n_views, 1.0);
    for d in 0..n_views {
        for e in d..n_views {
            gamma.set(d, e, 0.3 + 0.2 * (d * e) as f64);
            scale.set(
                d,
                e,
                if n_views > 2 && d == e {
                    0.0
                } else {
                    1.5 - 0.1 * d as f64
                },
            );
        }
    }
    let nodes: Vec<u32> = (0..n as u32).map(|i| 3 * i + 1).collect();
    let mirror = mirrored(&y, case.dim, case.negative);
    let offsets: Vec<T> = (0..if case.offsets { n } else { 0 })
        .map(|_| T::of(random.random_range(-1.0..1.0)))
        .collect();
    let embedded = EmbeddedRows {
        y: &y,
        mirror: &mirror,
        offsets: &offsets,
        dim: case.dim,
        views: &views,
        gamma: &gamma,
    };
    let pairs = AllPairs {
        rows: &rows,
        scale: &scale,
        nodes: &nodes,
        split: case.split,
        watched: case.split.is_some(),
    };
    let mut gradient = vec![T::ZERO; embedded.n_slopes()];
    let sums = sum(&embedded, &pairs, score, Some(&mut gradient));
    let value_only = sum(&embedded, &pairs, score, None);
    assert_eq!(value_only, sums);
    Outcome {
        sums,
        gradient: gradient.iter().map(|g| g.to_f64()).collect(),
    }
}

fn relative(a: &[f64], b: &[f64]) -> f64 {
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    let difference = norm(&mut a.iter().zip(b).map(|(a, b)| a - b));
    difference / norm(&mut b.iter().copied()).max(1e-300)
}

fn cases() -> Vec<Case> {
    let split = Split::share(3, 0.2);
    let folded = Split::fold(5, 1, 4).stopping_by(Some(split));
    let mut cases = vec![];
    for (sizes, dim) in [
        (vec![2], 1),
        (vec![37], 5),
        (vec![384], 8),
        (vec![385], 3),
        (vec![801], 17),
        (vec![97], 33),
        (vec![200], 129),
        (vec![300, 41], 6),
        (vec![5, 290, 1, 40], 7),
    ] {
        for split in [
            None,
            Some((split, Part::Training)),
            Some((split, Part::HeldOut)),
            Some((folded, Part::Training)),
            Some((folded, Part::Judged)),
        ] {
            cases.push(Case {
                sizes: sizes.clone(),
                dim,
                split,
                spare: 0,
                spread: 1.5,
                offsets: cases.len() % 2 == 1,
                negative: cases.len() % 3 * dim / 4,
            });
        }
    }
    cases.push(Case {
        sizes: vec![300, 41],
        dim: 6,
        split: None,
        spare: 7,
        spread: 1.5,
        offsets: true,
        negative: 2,
    });
    cases.push(Case {
        sizes: vec![70],
        dim: 6,
        split: None,
        spare: 0,
        spread: 6.0,
        offsets: false,
        negative: 0,
    });
    cases
}

#[test]
fn tiles_agree_with_plain_loops() {
    for (kind, beta) in [
        (ScoreKind::Likelihood, 0.0),
        (ScoreKind::Moment, 0.5),
        (ScoreKind::Probability, 0.5),
    ] {
        let score = Score::new(kind, beta);
        for (index, case) in cases().iter().enumerate() {
            let exact = run::<f64>(case, plain, &score);
            let double = run::<f64>(case, tiled, &score);
            let single = run::<f32>(case, tiled, &score);
            for (outcome, tolerance) in [(&double, 1e-10), (&single, 5e-6 * case.spread)] {
                let (found, expected) = (outcome.sums.watched, exact.sums.watched);
                let counted = (found.1 - expected.1).abs() <= 1e-12 * expected.1;
                assert!(counted, "watched pairs of case {index}");
                let error = (found.0 - expected.0).abs();
                let bound = tolerance * expected.0.abs();
                assert!(error <= bound, "{kind:?} {index}: {found:?} {expected:?}");
                let scale = exact.sums.value.abs().max(1e-300);
                assert!(
                    (outcome.sums.value - exact.sums.value).abs() <= tolerance * scale,
                    "{kind} {index}"
                );
                assert!(
                    relative(&outcome.gradient, &exact.gradient) <= tolerance,
                    "{kind} {index}"
                );
                assert!(
                    relative(&outcome.sums.gamma.entries, &exact.sums.gamma.entries) <= tolerance
                );
                assert!(
                    (outcome.sums.pairs - exact.sums.pairs).abs()
                        < 1e-6 * exact.sums.pairs.max(1.0)
                );
            }
        }
    }
}

#[test]
fn same_bits_at_any_thread_count() {
    let score = Score::new(ScoreKind::Moment, 0.3);
    let case = Case {
        sizes: vec![900, 300],
        dim: 9,
        split: Some((Split::share(1, 0.1), Part::Training)),
        spare: 0,
        spread: 1.5,
        offsets: true,
        negative: 3,
    };
    let runs: Vec<_> = [1, 2, 3, 7]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| run::<f32>(&case, tiled, &score))
        })
        .into();
    for run in &runs[1..] {
        assert_eq!(run.sums, runs[0].sums);
        assert_eq!(run.gradient, runs[0].gradient);
    }
}

#[test]
fn listed_pairs_agree_with_the_formula() {
    let y: Vec<f64> = (0..15).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let gamma = ViewMatrix::filled(1, 0.4);
    let scale = ViewMatrix::filled(1, 2.0);
    let mirror = mirrored(&y, 3, 1);
    let offsets = [0.3, -0.2, 0.5, 0.0, 1.0];
    let embedded = EmbeddedRows {
        y: &y,
        mirror: &mirror,
        offsets: &offsets,
        dim: 3,
        views: std::slice::from_ref(&(0..5)),
        gamma: &gamma,
    };
    let links = [(0, 1, 2.0), (3, 1, 0.5), (2, 4, 7.0)];
    let links = links
        .iter()
        .map(|&(src, dst, weight)| Link { src, dst, weight });
    let listed = Adjacency::new(5, links.clone());
    let score = Score::new(ScoreKind::Probability, 0.5);
    let mut gradient = vec![0.0; 20];
    let sums = listed_pairs(
        &embedded,
        &listed,
        PairTerm::Correction,
        &scale,
        &score,
        Some(&mut gradient),
    );
    let mut value = 0.0;
    let mut expected = vec![0.0; 20];
    for link in links {
        let (i, j) = (link.src as usize, link.dst as usize);
        let term = score.correction(embedded.similarity(i, j), link.weight);
        value += 2.0 * term.value;
        for k in 0..3 {
            expected[i * 3 + k] += 2.0 * term.slope * mirror[j * 3 + k];
            expected[j * 3 + k] += 2.0 * term.slope * mirror[i * 3 + k];
        }
        expected[15 + i] += 2.0 * term.slope;
        expected[15 + j] += 2.0 * term.slope;
    }
    assert!((sums.value - value).abs() < 1e-12);
    assert!(relative(&gradient, &expected) < 1e-12);
    assert_eq!(sums.pairs, 6.0);
}

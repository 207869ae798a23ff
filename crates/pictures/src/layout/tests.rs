//! Layouts of planted structure, of degenerate and of refused input.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::principal::Principal;
use super::*;

fn quiet(_: usize, _: usize) -> bool {
    true
}

fn laid_out(y: &[f32], n: usize, method: Option<Method>) -> Layout {
    let layout = layout(y, n, y.len() / n, method, 1, &mut quiet).unwrap();
    assert_eq!(layout.points.len(), n);
    assert!(layout.points.iter().flatten().all(|x| x.is_finite()));
    for axis in 0..2 {
        let mean: f32 = layout.points.iter().map(|p| p[axis]).sum::<f32>() / n as f32;
        assert!(mean.abs() < 1e-4, "{mean}");
    }
    layout
}

/// Roughly normal numbers.
fn noise(random: &mut ChaCha8Rng) -> f32 {
    (0..6).map(|_| random.random::<f32>() - 0.5).sum::<f32>() * 1.414
}

/// `n` points around `k` random centres, one after another.
fn clusters(n: usize, k: usize, dim: usize, spread: f32, seed: u64) -> Vec<f32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let centres: Vec<f32> = (0..k * dim).map(|_| noise(&mut random)).collect();
    (0..n * dim)
        .map(|place| centres[place / dim % k * dim + place % dim] + spread * noise(&mut random))
        .collect()
}

fn flat(points: &[[f32; 2]]) -> Vec<f32> {
    points.iter().flatten().copied().collect()
}

/// Each point's others, nearest first.
fn ranked(y: &[f32], dim: usize) -> Vec<Vec<u32>> {
    let n = y.len() / dim;
    let points = Rows::new(y, n, dim).unwrap();
    let found = nearest::neighbors(&points, n - 1, &mut || Ok(())).unwrap();
    let lists = found.list.chunks_exact(n - 1);
    lists.map(|x| x.iter().map(|x| x.0).collect()).collect()
}

/// The share of points whose nearest neighbour has their label.
fn agreement(points: &[[f32; 2]], k: u32) -> f64 {
    let ranked = ranked(&flat(points), 2);
    let same = (0u32..).zip(&ranked).filter(|(i, x)| i % k == x[0] % k);
    same.count() as f64 / points.len() as f64
}

/// Venna and Kaski's trustworthiness: 1 where the `k` neighbours in the picture
/// are neighbours in the data, less for how far down their rank there is.
fn trustworthiness(y: &[f32], dim: usize, points: &[[f32; 2]], k: usize) -> f64 {
    let n = points.len();
    let (truth, seen) = (ranked(y, dim), ranked(&flat(points), 2));
    let mut lost = 0;
    for (truth, seen) in truth.iter().zip(&seen) {
        for j in &seen[..k] {
            let rank = 1 + truth.iter().position(|x| x == j).unwrap();
            lost += rank.saturating_sub(k);
        }
    }
    1.0 - 2.0 * lost as f64 / (n * k * (2 * n - 3 * k - 1)) as f64
}

#[test]
fn principal_components_of_a_plane_are_its_axes() {
    // Twice as far along (3, 4, 0)/5 as along (4, -3, 0)/5, none along z.
    let along = [[3.0f32, 4.0, 0.0], [4.0, -3.0, 0.0]];
    let mut y = Vec::new();
    for (a, b) in [(2.0, 1.0), (2.0, -1.0), (-2.0, 1.0), (-2.0, -1.0)] {
        y.extend((0..3).map(|d| a * along[0][d] + b * along[1][d] + 7.0));
    }
    let points = Rows::new(&y, 4, 3).unwrap();
    let principal = Principal::new(&points);
    for (found, expected) in principal
        .directions
        .iter()
        .zip([[0.6, 0.8, 0.0], [0.8, -0.6, 0.0]])
    {
        for (x, expected) in found.iter().zip(expected) {
            assert!((x - expected).abs() < 1e-12, "{found:?}");
        }
    }
    let layout = laid_out(&y, 4, Some(Method::Principal));
    assert!((layout.explained.unwrap() - 1.0).abs() < 1e-12);
    let expected = [[1.0, 0.5], [1.0, -0.5], [-1.0, 0.5], [-1.0, -0.5]];
    for (found, expected) in layout.points.iter().zip(expected) {
        assert!((found[0] - expected[0]).abs() < 1e-6 && (found[1] - expected[1]).abs() < 1e-6);
    }
}

#[test]
fn explained_variance_is_that_of_the_coordinates() {
    let y = clusters(1003, 7, 20, 0.7, 5);
    let layout = laid_out(&y, 1003, Some(Method::Principal));
    let points = Rows::new(&y, 1003, 20).unwrap();
    let principal = Principal::new(&points);
    let total: f64 = points.centred(0..1003).iter().map(|x| x * x).sum();
    let held: f64 = principal.coordinates.iter().flatten().map(|x| x * x).sum();
    assert!((layout.explained.unwrap() - held / total).abs() < 1e-12);
    let mixed: f64 = principal.coordinates.iter().map(|p| p[0] * p[1]).sum();
    assert!(mixed.abs() < 1e-9 * held);
    let mut sizes: Vec<f32> = layout.points.iter().flatten().map(|x| x.abs()).collect();
    sizes.sort_unstable_by(f32::total_cmp);
    assert_eq!(sizes[(0.99f64 * 2006.0).ceil() as usize - 1], 1.0);
}

#[test]
fn planted_clusters_are_apart_and_neighbours_are_to_be_trusted() {
    for (k, spread, seed) in [(6, 1.0, 2), (12, 0.8, 3)] {
        let y = clusters(600, k, 64, spread, seed);
        let neighbors = laid_out(&y, 600, None);
        assert_eq!(neighbors.method, Method::Neighbors);
        let principal = laid_out(&y, 600, Some(Method::Principal));
        let of = |layout: &Layout| {
            let trust = trustworthiness(&y, 64, &layout.points, 15);
            (agreement(&layout.points, k as u32), trust)
        };
        let (by_neighbors, by_principal) = (of(&neighbors), of(&principal));
        assert!(by_neighbors.0 > 0.95, "{by_neighbors:?}");
        assert!(by_neighbors.0 > by_principal.0, "{by_principal:?}");
        assert!(by_neighbors.1 > by_principal.1 + 0.05, "{by_principal:?}");
    }
}

/// A curve that winds through space is still a curve.
#[test]
fn a_ring_stays_a_ring() {
    let n = 400;
    let mut y = Vec::new();
    for i in 0..n {
        let angle = std::f32::consts::TAU * i as f32 / n as f32;
        y.extend((1..=3).flat_map(|m| [(angle * m as f32).sin(), (angle * m as f32).cos()]));
    }
    let points = laid_out(&y, n, None).points;
    let near = ranked(&flat(&points), 2);
    let around = |i: usize| {
        near[i][..2]
            .iter()
            .all(|&j| (i.abs_diff(j as usize) + 8) % n <= 16)
    };
    let kept = (0..n).filter(|&i| around(i)).count();
    assert!(kept > n * 95 / 100, "{kept}");
    assert!(trustworthiness(&y, 6, &points, 15) > 0.97);
}

#[test]
fn bits_do_not_depend_on_threads() {
    let y = clusters(700, 5, 11, 1.0, 4);
    for method in [Method::Principal, Method::Neighbors] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build()
                .unwrap()
                .install(|| laid_out(&y, 700, Some(method)))
        };
        assert_eq!(with(1), with(2));
    }
    let other = layout(&y, 700, 11, None, 2, &mut quiet).unwrap();
    assert_ne!(other.points, laid_out(&y, 700, None).points);
}

#[test]
fn equal_and_repeated_points_are_laid_out() {
    for n in [1, 2, 3, 40] {
        for dim in [1, 2, 3, 9] {
            for method in [None, Some(Method::Principal), Some(Method::Neighbors)] {
                let layout = laid_out(&vec![0.1; n * dim], n, method);
                assert!(layout.points.iter().all(|p| *p == [0.0; 2]));
                assert_eq!(layout.explained, None);
            }
        }
    }
    // Two places of 150 equal points each, one of them the origin, and one more.
    let mut y = [[0.0; 4]; 301];
    y[150..].fill([1.0, 2.0, 0.0, -1.0]);
    y[300] = [0.0, 0.0, 3.0, 0.0];
    let points = laid_out(y.as_flattened(), 301, Some(Method::Neighbors)).points;
    let gap = |i: usize, j: usize| (points[i][0] - points[j][0]).hypot(points[i][1] - points[j][1]);
    let within: f32 = (0..149).map(|i| gap(i, i + 1)).sum::<f32>() / 149.0;
    let between: f32 = (0..150).map(|i| gap(i, i + 150)).sum::<f32>() / 150.0;
    assert!(between > 3.0 * within, "{between} {within}");
}

#[test]
fn few_points_few_dimensions_and_extreme_numbers_are_laid_out() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    for n in [1, 2, 3, 5] {
        for dim in [1, 2, 3, 40] {
            for scale in [1e-44, 1.0, 1e38] {
                let y: Vec<f32> = (0..n * dim)
                    .map(|_| scale * random.random::<f32>())
                    .collect();
                for method in [None, Some(Method::Principal), Some(Method::Neighbors)] {
                    laid_out(&y, n, method);
                }
            }
        }
    }
    let outlier = [
        [0.0f32, 0.0, 0.0],
        [1e38, 0.0, 0.0],
        [-1e38, 0.0, 0.0],
        [0.0, 1e-40, 0.0],
    ];
    laid_out(
        &outlier.repeat(30).into_flattened(),
        120,
        Some(Method::Neighbors),
    );
    let mut far = vec![0.0f32; 600];
    far[0] = 1e38;
    far[2] = -1e38;
    far[7] = 1e-45;
    laid_out(&far, 300, None);
    assert!(
        layout(&[], 0, 5, None, 1, &mut quiet)
            .unwrap()
            .points
            .is_empty()
    );
}

#[test]
fn up_to_two_dimensions_are_drawn_as_they_are() {
    let layout = laid_out(&[1.0, 2.0, 6.0], 3, None);
    assert_eq!(layout.method, Method::Dimensions);
    assert_eq!(
        layout.points,
        [[-2.0 / 3.0, 0.0], [-1.0 / 3.0, 0.0], [1.0, 0.0]]
    );
    let layout = laid_out(&[0.0, 0.0, 4.0, 2.0, 8.0, 4.0], 3, None);
    assert_eq!(layout.method, Method::Dimensions);
    assert_eq!(layout.points, [[-1.0, -0.5], [0.0, 0.0], [1.0, 0.5]]);
    assert!(layout.method.to_string().contains("as they are"));
}

#[test]
fn an_observer_sees_epochs_and_may_end_them() {
    let y = clusters(50, 3, 6, 1.0, 1);
    let mut seen = Vec::new();
    layout(&y, 50, 6, None, 1, &mut |done, all| {
        seen.push((done, all));
        true
    })
    .unwrap();
    let expected: Vec<(usize, usize)> = (0..=500).map(|done| (done, 500)).collect();
    assert_eq!(seen, expected);
    for last in [0, 1, 7] {
        let found = layout(&y, 50, 6, None, 1, &mut |done, _| done < last);
        assert!(matches!(found, Err(Error::Interrupted { step }) if step == last));
    }
}

#[test]
fn wrong_embeddings_are_refused() {
    let refused = |y: &[f32], n: usize, dim: usize, method: Option<Method>| {
        let found = layout(y, n, dim, method, 1, &mut quiet);
        let message = found.unwrap_err().to_string();
        assert!(message.starts_with("embeddings: found"), "{message}");
        message
    };
    refused(&[1.0; 5], 2, 3, None);
    refused(&[], 2, 0, None);
    refused(&[1.0; 6], usize::MAX, 6, None);
    let message = refused(&[1.0, 2.0, 3.0, 4.0, f32::NAN, 6.0], 2, 3, None);
    assert!(message.contains("row 1, column 1"), "{message}");
    refused(&[1.0, f32::INFINITY], 1, 2, None);
    refused(&[1.0; 6], 2, 3, Some(Method::Dimensions));
}

//! The measures against scikit-learn 1.9.1, and what must hold for any input.
//!
//! Inputs come from a small generator, so that only the expected figures are
//! written down.

// The helpers of a test may fail the test.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod support;

use linkproof_method::error::Error;
use linkproof_method::measure::{
    Clustering, KMeans, accuracy, ari, auc, average_precision, nmi, purity,
};
use proptest::prelude::*;

/// Knuth's 64-bit linear congruential generator, upper 31 bits.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// Points, classes, clusters, percentage that agrees by design, seed.
type LabelCase = (usize, u64, u64, u64, u64);

fn labels((n, classes, clusters, agree, seed): LabelCase) -> (Vec<u32>, Vec<u32>) {
    let mut lcg = Lcg(seed);
    (0..n)
        .map(|_| {
            let class = lcg.below(classes);
            let agrees = lcg.below(100) < agree;
            let other = lcg.below(clusters);
            let cluster = if agrees { class % clusters } else { other };
            (class as u32, cluster as u32)
        })
        .unzip()
}

/// Purity, `normalized_mutual_info_score`, `adjusted_rand_score`, and accuracy
/// under scipy's `linear_sum_assignment`.
#[rustfmt::skip]
const LABELS: [(LabelCase, [f64; 4]); 32] = [
    ((1, 1, 1, 0, 1), [1.0, 1.0, 1.0, 1.0]),
    ((10, 1, 1, 0, 2), [1.0, 1.0, 1.0, 1.0]),
    ((10, 1, 4, 0, 3), [1.0, 0.0, 0.0, 0.4]),
    ((10, 4, 1, 0, 4), [0.3, 0.0, 0.0, 0.3]),
    ((12, 2147483648, 3, 0, 5), [0.25, 0.6131471927654583, 0.0, 0.25]),
    ((12, 3, 2147483648, 0, 6), [1.0, 0.60495018983644, 0.0, 0.25]),
    ((15, 2147483648, 2147483648, 100, 7), [1.0, 1.0, 1.0, 1.0]),
    ((15, 2147483648, 2147483648, 0, 8), [1.0, 1.0, 1.0, 1.0]),
    ((2, 2, 2, 0, 9), [1.0, 1.0, 1.0, 1.0]),
    ((3, 2, 2, 0, 10), [0.6666666666666666, 0.2740175421212811, -0.5, 0.6666666666666666]),
    ((5, 3, 2, 50, 11), [0.6, 0.6434709124204981, 0.2857142857142857, 0.6]),
    ((8, 2, 2, 0, 12), [0.75, 0.34371101848545055, 0.16, 0.75]),
    ((20, 2, 2, 80, 13), [0.95, 0.7582368462388499, 0.7999113180356945, 0.95]),
    ((30, 3, 3, 100, 14), [1.0, 1.0, 1.0, 1.0]),
    ((30, 3, 3, 0, 15), [0.5333333333333333, 0.04448856228506053, -0.010875627440044618, 0.4666666666666667]),
    ((50, 4, 4, 90, 16), [0.94, 0.8349963267879811, 0.841602000782374, 0.94]),
    ((50, 5, 2, 60, 17), [0.28, 0.0639238851018715, 0.015445822607067634, 0.28]),
    ((50, 2, 5, 60, 18), [0.92, 0.563570761859132, 0.6358811040339702, 0.84]),
    ((100, 10, 10, 30, 19), [0.41, 0.33204883818686315, 0.09482846415501707, 0.4]),
    ((100, 3, 7, 50, 20), [0.78, 0.38241676037740513, 0.4004230227132662, 0.65]),
    ((100, 7, 3, 50, 21), [0.47, 0.2686786586608445, 0.23134698277893062, 0.47]),
    ((200, 4, 4, 70, 22), [0.755, 0.4310799253580576, 0.4534525571946213, 0.755]),
    ((200, 20, 4, 40, 23), [0.16, 0.1833512272123992, 0.046242211296935884, 0.16]),
    ((300, 4, 20, 40, 24), [0.64, 0.25902379516858254, 0.22712559936842835, 0.44666666666666666]),
    ((500, 7, 7, 65, 25), [0.702, 0.42373310674450804, 0.41992225429874863, 0.702]),
    ((500, 2, 100, 10, 26), [0.69, 0.055740501994086374, 0.007168463315086915, 0.096]),
    ((700, 100, 2, 10, 27), [0.025714285714285714, 0.034862271455124216, 0.00029433600778994547, 0.025714285714285714]),
    ((1000, 7, 7, 0, 28), [0.179, 0.008100443477448286, -0.0009591689602562376, 0.174]),
    ((1000, 30, 30, 75, 29), [0.756, 0.7016138730190268, 0.5580647693465086, 0.756]),
    ((2000, 50, 40, 20, 30), [0.1895, 0.22716136171030088, 0.038230019482201914, 0.1895]),
    ((2708, 7, 7, 55, 31), [0.6251846381093058, 0.3170195523056187, 0.3161351148762014, 0.6251846381093058]),
    ((5000, 3, 3, 1, 32), [0.344, 0.0003756317652479276, 6.6434485071709114e-06, 0.3426]),
];

#[test]
fn clustering_measures_agree_with_scikit_learn() {
    for (case, expected) in LABELS {
        let (truth, found) = labels(case);
        for (measure, expected) in [purity, nmi, ari, accuracy].iter().zip(expected) {
            let value = measure(&truth, &found).unwrap();
            assert!(
                (value - expected).abs() < 1e-9,
                "{case:?}: {value}, {expected}"
            );
        }
    }
}

/// Pairs, distinct scores, percentage of positives, shift of their scores, seed.
type LinkCase = (usize, u64, u64, u64, u64);

fn scores((n, levels, share, shift, seed): LinkCase) -> (Vec<f64>, Vec<bool>) {
    let mut lcg = Lcg(seed);
    (0..n)
        .map(|_| {
            let positive = lcg.below(100) < share;
            let score = lcg.below(levels) + if positive { shift } else { 0 };
            (score as f64 / 16.0, positive)
        })
        .unzip()
}

/// `roc_auc_score` and `average_precision_score`.
#[rustfmt::skip]
const LINKS: [(LinkCase, [f64; 2]); 15] = [
    ((4, 3, 50, 0, 1), [1.0, 1.0]),
    ((10, 1, 50, 0, 2), [0.5, 0.5]),
    ((10, 1000, 50, 0, 3), [0.3333333333333333, 0.2944444444444444]),
    ((20, 2, 50, 1, 4), [0.8799999999999999, 0.8285714285714285]),
    ((30, 5, 20, 2, 5), [0.9519230769230769, 0.8214285714285714]),
    ((50, 10, 50, 20, 6), [1.0, 0.9999999999999999]),
    ((60, 1000000, 50, 0, 7), [0.44333333333333336, 0.45226146355528635]),
    ((100, 4, 10, 1, 8), [0.8054136874361594, 0.4914898369443824]),
    ((100, 1000, 90, 300, 9), [0.6727716727716728, 0.9589642526368926]),
    ((200, 3, 30, 0, 10), [0.5337345581248021, 0.4189705376590622]),
    ((300, 100, 5, 40, 11), [0.7738776408450704, 0.38763810926849573]),
    ((500, 20, 50, 5, 12), [0.6925589139344263, 0.7200055855607732]),
    ((1000, 1000000, 10, 200000, 13), [0.6747907661179067, 0.28094198077727267]),
    ((2000, 50, 2, 25, 14), [0.9074987192622952, 0.6681652570990377]),
    ((5000, 7, 40, 1, 15), [0.6221184997266469, 0.5567801517252693]),
];

#[test]
fn link_measures_agree_with_scikit_learn() {
    for (case, expected) in LINKS {
        let (scores, positive) = scores(case);
        for (measure, expected) in [auc, average_precision].iter().zip(expected) {
            let value = measure(&scores, &positive).unwrap();
            assert!(
                (value - expected).abs() < 1e-9,
                "{case:?}: {value}, {expected}"
            );
        }
    }
}

/// Points, dimension, blobs, width of a blob (their centers lie within 1,024
/// of each other), seed.
type BlobCase = (usize, usize, usize, u64, u64);

fn blobs((n, dim, k, width, seed): BlobCase) -> (Vec<f32>, Vec<u32>) {
    let mut lcg = Lcg(seed);
    let centers: Vec<u64> = (0..k * dim).map(|_| lcg.below(1024)).collect();
    let mut data = Vec::new();
    let mut truth = Vec::new();
    for _ in 0..n {
        let blob = lcg.below(k as u64) as usize;
        truth.push(blob as u32);
        for center in &centers[blob * dim..(blob + 1) * dim] {
            let place = center + lcg.below(width) + lcg.below(width);
            data.push(place as f32 / 1024.0);
        }
    }
    (data, truth)
}

fn fit(case: BlobCase, k: usize, restarts: usize) -> (Clustering, Vec<f32>) {
    let (data, _) = blobs(case);
    let kmeans = KMeans {
        restarts,
        ..KMeans::new(k, 1)
    };
    (kmeans.fit(&data, case.0, case.1).unwrap(), data)
}

/// `KMeans(k, n_init=100, tol=0).inertia_`.
const INERTIA: [(BlobCase, usize, f64); 5] = [
    ((600, 20, 8, 1024, 1), 8, 1973.361663),
    ((400, 2, 12, 600, 2), 12, 10.826754),
    ((1000, 50, 7, 3000, 3), 7, 69463.412519),
    ((300, 3, 1, 1024, 4), 5, 61.640553),
    ((2708, 100, 7, 2048, 5), 7, 179254.724180),
];

#[test]
fn inertia_is_as_low_as_scikit_learns() {
    for (case, k, expected) in INERTIA {
        let (clustering, data) = fit(case, k, 40);
        let ratio = clustering.inertia / expected;
        assert!((0.99..1.01).contains(&ratio), "{case:?}: {ratio}");
        let direct = inertia_by_hand(&clustering, &data, case.1);
        assert!((clustering.inertia / direct - 1.0).abs() < 1e-6, "{case:?}");
    }
}

fn inertia_by_hand(clustering: &Clustering, data: &[f32], dim: usize) -> f64 {
    data.chunks_exact(dim)
        .zip(&clustering.labels)
        .map(|(row, &label)| squared_distance(row, center(clustering, label as usize, dim)))
        .sum()
}

fn center(clustering: &Clustering, cluster: usize, dim: usize) -> &[f64] {
    &clustering.centers[cluster * dim..(cluster + 1) * dim]
}

fn squared_distance(row: &[f32], center: &[f64]) -> f64 {
    let coordinates = row.iter().zip(center);
    coordinates.map(|(&x, c)| (f64::from(x) - c).powi(2)).sum()
}

#[test]
fn clusters_are_a_fixed_point_of_lloyd() {
    let (clustering, data) = fit((600, 20, 8, 1024, 1), 8, 3);
    for (row, &label) in data.chunks_exact(20).zip(&clustering.labels) {
        let own = squared_distance(row, center(&clustering, label as usize, 20));
        for other in 0..8 {
            let distance = squared_distance(row, center(&clustering, other, 20));
            assert!(own <= distance * (1.0 + 1e-5));
        }
    }
}

#[test]
fn separate_blobs_are_found() {
    for case in [
        (300, 5, 4, 60, 1),
        (1000, 2, 3, 40, 2),
        (2000, 30, 20, 300, 3),
    ] {
        let (data, truth) = blobs(case);
        let (n, dim, k, ..) = case;
        let found = KMeans::new(k, 3).fit(&data, n, dim).unwrap().labels;
        assert_eq!(ari(&truth, &found).unwrap(), 1.0, "{case:?}");
    }
}

#[test]
fn unit_and_origin_of_the_data_do_not_matter() {
    let (data, _) = blobs((300, 5, 4, 60, 1));
    let reference = KMeans::new(4, 3).fit(&data, 300, 5).unwrap();
    for (scale, shift) in [(1e-30, 0.0), (1e37, 0.0), (1.0, 1000.0)] {
        let moved: Vec<f32> = data.iter().map(|x| x * scale + shift).collect();
        let clustering = KMeans::new(4, 3).fit(&moved, 300, 5).unwrap();
        assert_eq!(ari(&reference.labels, &clustering.labels).unwrap(), 1.0);
        let inertia = reference.inertia * f64::from(scale).powi(2);
        assert!((clustering.inertia / inertia - 1.0).abs() < 0.01);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    for (case, k) in [((2000, 17, 9, 2048, 6), 9), ((90, 3, 2, 900, 7), 30)] {
        let (data, _) = blobs(case);
        let results: Vec<Clustering> = [1, 2, 3]
            .iter()
            .map(|&n_threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
                let fit = || KMeans::new(k, 5).fit(&data, case.0, case.1).unwrap();
                pool.build().unwrap().install(fit)
            })
            .collect();
        for result in &results[1..] {
            assert_eq!(result.labels, results[0].labels);
            assert_eq!(result.iterations, results[0].iterations);
            assert_eq!(result.inertia.to_bits(), results[0].inertia.to_bits());
            let bits =
                |c: &Clustering| -> Vec<u64> { c.centers.iter().map(|x| x.to_bits()).collect() };
            assert_eq!(bits(result), bits(&results[0]));
        }
    }
}

#[test]
fn repeated_points_and_extreme_numbers_of_clusters() {
    let same = KMeans::new(3, 1).fit(&[2.5; 40], 20, 2).unwrap();
    assert_eq!((same.inertia, same.iterations), (0.0, 2));
    assert!(same.centers.iter().all(|&x| x == 2.5));

    let two = [1.0, 9.0, 1.0, 9.0, 1.0, 9.0];
    let clustering = KMeans::new(4, 1).fit(&two, 6, 1).unwrap();
    assert_eq!(clustering.inertia, 0.0);
    assert!(clustering.iterations < 10);

    let (data, _) = blobs((50, 3, 1, 1024, 8));
    let each = KMeans::new(50, 1).fit(&data, 50, 3).unwrap();
    let mut labels = each.labels.clone();
    labels.sort_unstable();
    assert_eq!(labels, (0..50).collect::<Vec<u32>>());
    let one = KMeans::new(1, 1).fit(&data, 50, 3).unwrap();
    assert!(one.labels.iter().all(|&label| label == 0));
}

#[test]
fn unusable_parameters_and_points_are_refused() {
    let data = [0.0, 1.0, 2.0, 3.0];
    let cases = [(0, 1, 1), (5, 1, 1), (2, 0, 1), (2, 1, 0)];
    for (clusters, restarts, max_iterations) in cases {
        let kmeans = KMeans {
            clusters,
            restarts,
            max_iterations,
            seed: 0,
        };
        let result = kmeans.fit(&data, 4, 1);
        assert!(matches!(result, Err(Error::Param { .. })), "{kmeans:?}");
    }
    let refused = |data: &[f32], n, dim| {
        matches!(KMeans::new(1, 0).fit(data, n, dim), Err(Error::Data { .. }))
    };
    assert!(refused(&[0.0, f32::NAN], 2, 1));
    assert!(refused(&[0.0, f32::INFINITY], 1, 2));
    assert!(refused(&data, 3, 1));
    assert!(refused(&[], 2, 0));
    assert!(refused(&data, usize::MAX, 2));
}

proptest! {
    #![proptest_config(support::cases(256))]
    #[test]
    fn renaming_labels_changes_nothing_and_bounds_hold(
        pairs in prop::collection::vec((0u32..6, 0u32..6), 1..60),
        factor in prop::sample::select(vec![1u32, 7, 2_654_435_761]),
        shift: u32,
    ) {
        let (truth, found): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        // An odd factor permutes the 32-bit numbers.
        let renamed: Vec<u32> = found
            .iter()
            .map(|label| label.wrapping_mul(factor).wrapping_add(shift))
            .collect();
        for (measure, least) in [(purity as fn(&_, &_) -> _, 0.0), (nmi, 0.0), (ari, -1.0), (accuracy, 0.0)] {
            let value = measure(&truth, &found).unwrap();
            prop_assert!((least..=1.0).contains(&value), "{}", value);
            let again = measure(&truth, &renamed).unwrap();
            prop_assert!((value - again).abs() < 1e-12);
            prop_assert!((measure(&truth, &truth).unwrap() - 1.0).abs() < 1e-12);
        }
        for symmetric in [nmi, ari, accuracy] {
            let swapped = symmetric(&found, &truth).unwrap();
            prop_assert!((symmetric(&truth, &found).unwrap() - swapped).abs() < 1e-12);
        }
        prop_assert!(accuracy(&truth, &found).unwrap() <= purity(&truth, &found).unwrap());
    }

    #[test]
    fn only_the_order_of_scores_counts(
        pairs in prop::collection::vec((-20i32..20, any::<bool>()), 2..60),
    ) {
        let (scores, mut positive): (Vec<f64>, Vec<bool>) =
            pairs.into_iter().map(|(score, label)| (f64::from(score), label)).unzip();
        (positive[0], positive[1]) = (true, false);
        let warped: Vec<f64> = scores.iter().map(|score| (score / 5.0).exp()).collect();
        let reversed: Vec<f64> = scores.iter().map(|score| -score).collect();
        let area = auc(&scores, &positive).unwrap();
        prop_assert_eq!(area, auc(&warped, &positive).unwrap());
        prop_assert!((area + auc(&reversed, &positive).unwrap() - 1.0).abs() < 1e-12);
        let precision = average_precision(&scores, &positive).unwrap();
        prop_assert_eq!(precision, average_precision(&warped, &positive).unwrap());
        prop_assert!(precision > 0.0 && precision <= 1.0 + 1e-12);
    }
}

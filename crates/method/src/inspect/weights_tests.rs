use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal, Poisson};

use super::*;

const NODES: u32 = 400;

/// A graph of 4,000 links whose weights `draw` gives.
fn graph(mut draw: impl FnMut(&mut ChaCha8Rng, u32, u32) -> f64) -> Dataset {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut links = Vec::new();
    for i in 0..NODES {
        for step in 1..=10 {
            let j = (i + step * step) % NODES;
            links.push((i, j, draw(&mut random, i, j)));
        }
    }
    Dataset::from_links(Graph::from_rows(NODES as usize, &links).unwrap()).unwrap()
}

/// Poisson weights of links: zeros are drawn again.
fn poisson(mu: f64) -> impl Fn(&mut ChaCha8Rng) -> f64 {
    let law = Poisson::new(mu).unwrap();
    move |random| {
        let mut weights = law.sample_iter(random);
        weights.find(|weight| *weight > 0.0).unwrap()
    }
}

/// Poisson weights of which a share is replaced: what is found, and how many
/// there are.
fn corrupted(mu: f64, share: f64, heavy: impl Fn(&mut ChaCha8Rng) -> f64) -> (Impossible, usize) {
    let good = poisson(mu);
    let mut n_heavy = 0;
    let data = graph(|random, _, _| {
        if random.random_bool(share) {
            n_heavy += 1;
            heavy(random)
        } else {
            good(random)
        }
    });
    (weights(&data).0.impossible, n_heavy)
}

#[test]
fn poisson_weights_are_possible_whatever_their_mean() {
    for mu in [0.05, 0.5, 1.0, 1.25, 4.0, 30.0, 1e3, 1e6, 1e12] {
        let (found, _) = corrupted(mu, 0.0, |_| 0.0);
        assert_eq!((found.count, found.tail), (0, Tail::None), "{mu}");
        assert!(found.heaviest.is_empty());
    }
}

#[test]
fn heavy_errors_are_found_and_stand_alone() {
    for (mu, heavy) in [
        (0.3, 10.0),
        (1.0, 20.0),
        (1.0, 100.0),
        (20.0, 200.0),
        (1e6, 1e8),
        (1e6, 1.1e6),
    ] {
        for share in [0.001, 0.01, 0.1, 0.3] {
            let (found, n_heavy) = corrupted(mu, share, |_| heavy);
            assert_eq!(found.tail, Tail::Isolated, "{mu} {heavy} {share}");
            // A node most of whose other links are wrong hides some.
            let least = if share > 0.2 {
                n_heavy / 2
            } else {
                n_heavy * 9 / 10
            };
            let what = format!("{} of {n_heavy}: {mu} {heavy} {share}", found.count);
            assert!((least..=n_heavy).contains(&found.count), "{what}");
            assert_eq!(found.heaviest[0].weight, heavy);
            assert!(found.heaviest[0].log10_chance < -6.0);
        }
    }
    // Errors of all sizes.
    let (found, _) = corrupted(1.0, 0.05, |random| {
        random.random_range(5.0..50.0f64).round()
    });
    assert_eq!(found.tail, Tail::Isolated);
}

#[test]
fn weights_of_two_signs_are_told_and_no_count_is_expected_of_them() {
    let data = graph(|random, _, _| random.random_range(-3.0..9.0f64).round() + 0.5);
    let found = weights(&data).0;
    assert!((found.negative - 0.25).abs() < 0.05, "{}", found.negative);
    assert!(found.min < 0.0 && found.median > 0.0 && found.mean > 2.0);
    assert!(found.q90 <= found.max && found.heaviest_tenth < 1.0);
    assert_eq!(
        (found.impossible.count, found.impossible.tail),
        (0, Tail::None)
    );
    let all = weights(&graph(|_, _, _| -2.0)).0;
    assert!(all.all_equal && all.max == -2.0 && all.negative == 1.0 && all.median == 2.0);
}

#[test]
fn heavy_tails_of_counts_are_smooth() {
    for (median, sigma) in [
        (1.5, 1.0),
        (2.0, 1.5),
        (20.0, 1.0),
        (100.0, 1.0),
        (1e6, 0.3),
    ] {
        let law = LogNormal::new(f64::ln(median), sigma).unwrap();
        let data = graph(|random, _, _| law.sample(random).ceil());
        let found = weights(&data).0.impossible;
        assert!(found.share > 0.01, "{median} {sigma} {}", found.share);
        assert_eq!(found.tail, Tail::Smooth, "{median} {sigma} {found:?}");
    }
    // Zipf's law: P(w >= x) = 1/x.
    let data = graph(|random, _, _| (1.0 / random.random::<f64>()).floor());
    assert_eq!(weights(&data).0.impossible.tail, Tail::Smooth);
}

#[test]
fn nodes_with_heavy_links_throughout_are_not_suspected() {
    let (light, heavy) = (poisson(1.0), poisson(40.0));
    let is_busy = |node: u32| node.is_multiple_of(8);
    let data = graph(|random, i, j| {
        if is_busy(i) || is_busy(j) {
            heavy(random)
        } else {
            light(random)
        }
    });
    let found = weights(&data).0;
    assert!(found.q90 > 20.0);
    assert_eq!(found.impossible.count, 0, "{:?}", found.impossible);
}

#[test]
fn a_weight_does_not_speak_for_itself() {
    // Node 0 has six ones and one weight of 50, which is not its median.
    let sorted = [1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 50.0];
    assert_eq!(median_of_others(&sorted, 50.0), 1.0);
    assert_eq!(median_of_others(&sorted, 1.0), 2.0);
    assert_eq!(median_of_others(&[], 1.0), 0.0);
    assert_eq!(median_of_others(&[5.0], 5.0), 0.0);
}

#[test]
fn the_weight_of_a_chance_is_the_first_beyond_it() {
    for (mu, chance) in [(1.0, 1e-6), (1.0, 0.01), (7.5, 1e-6), (1e4, 1e-9)] {
        let weight = weight_of_chance(mu, chance);
        assert_eq!(weight.fract(), 0.0);
        assert!(log_tail(weight, mu).exp() < chance);
        assert!(log_tail(weight - 1.0, mu).exp() >= chance, "{mu}");
    }
    assert_eq!(weight_of_chance(1.0, 1e-6), 10.0);
    let fraction = weight_of_chance(0.01, 1e-6);
    assert!((log_tail(fraction, 0.01).exp() / 1e-6 - 1.0).abs() < 1e-6);
    for mu in [1e100, 1e308] {
        assert!(weight_of_chance(mu, 1e-6) >= mu);
    }
}

#[test]
fn weights_are_described() {
    let links: Vec<_> = (0..100).map(|i| (i, i + 1, f64::from(i + 1))).collect();
    let data = Dataset::from_links(Graph::from_rows(101, &links).unwrap()).unwrap();
    let found = weights(&data).0;
    assert!(found.whole && !found.all_equal);
    assert_eq!((found.min, found.max, found.mean), (1.0, 100.0, 50.5));
    assert_eq!((found.median, found.q90, found.q99), (50.0, 90.0, 99.0));
    assert_eq!((found.q999, found.at_median), (100.0, 0.01));
    assert!((found.heaviest_tenth - 955.0 / 5050.0).abs() < 1e-12);
    let one = Graph::from_rows(2, &[(0, 1, 0.25)]).unwrap();
    let found = weights(&Dataset::from_links(one).unwrap()).0;
    assert!(found.all_equal && !found.whole && found.at_median == 1.0);
    let huge = Graph::from_rows(3, &[(0, 1, f64::MAX), (1, 2, f64::MAX)]).unwrap();
    let found = weights(&Dataset::from_links(huge).unwrap()).0;
    assert_eq!((found.mean, found.heaviest_tenth), (f64::MAX, 0.5));
}

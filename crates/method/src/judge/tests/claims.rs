//! Shares, densities, combinations, matchings and checks.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::super::candidates::{least_false, partner_shares};
use super::super::claims::{RisingDensity, interval, looks_random};
use super::super::combine::{Apart, agreement, learned};
use super::super::pairs::Links;
use super::super::{Check, JudgeSpec, Kind, Status, judge};
use super::{pairs_of, planted};
use crate::engine::runtime::Runtime;

#[test]
fn the_interval_has_its_known_limits() {
    // No link looks random: Clopper and Pearson's limit for none of 1,000, over one half.
    let share = interval(&vec![1.0; 1000]);
    let expected = -(0.01f64.ln() / 1000.0).exp_m1() / 0.5;
    assert!((share.high - expected).abs() < 1e-9);
    assert_eq!((share.low, share.estimate), (0.0, Some(share.high / 2.0)));
    // All look random: at most 15% of them are assumed to be real.
    let even: Vec<f64> = (0..10_000).map(|at| (f64::from(at) + 0.5) / 1e4).collect();
    let share = interval(&even);
    assert!(share.high > 0.99 && share.low > 0.98);
    // A third is random: High is a little above that.
    let third: Vec<f64> = (0..30_000)
        .map(|at| {
            if at % 3 == 0 {
                f64::from(at) / 3e4
            } else {
                0.9
            }
        })
        .collect();
    let share = interval(&third);
    assert!((0.333..0.36).contains(&share.high), "{share:?}");
    assert!(looks_random((0.54, 0.0)) && looks_random((0.6, 0.06)));
    assert!(!looks_random((0.6, 0.01)) && looks_random((f64::NAN, 0.0)));
}

#[test]
fn densities_rise_and_pool() {
    let even: Vec<f64> = (0..5000).map(|at| (f64::from(at) + 0.5) / 5e3).collect();
    let density = RisingDensity::new(&even);
    assert!((0..=20).all(|at| density.log_at(f64::from(at) / 20.0).abs() < 0.02));
    // A heap at the low end may not stand above the middle.
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut heap: Vec<f64> = (0..3000).map(|_| random.random::<f64>().sqrt()).collect();
    heap.extend(vec![0.001; 100]);
    let density = RisingDensity::new(&heap);
    let logs: Vec<f64> = (0..=100)
        .map(|at| density.log_at(f64::from(at) / 100.0))
        .collect();
    assert!(logs.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12));
    assert!(logs[100] > 0.5 && logs[0] < -0.3);
}

#[test]
fn the_factor_is_found_among_links_alone() {
    const N: usize = 20_000;
    // With larger loadings the weights v / (1 - v^2) would be mostly sampling error.
    let loadings = [0.7, 0.6, 0.5, 0.4];
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let mut columns = vec![Vec::new(); 4];
    for _ in 0..N {
        let factor = normal();
        for (column, loading) in columns.iter_mut().zip(loadings) {
            let own = (1.0f64 - loading * loading).sqrt();
            column.push((loading * factor + own * normal()) as f32);
        }
    }
    let columns: Vec<&[f32]> = columns.iter().map(Vec::as_slice).collect();
    let kinds = [
        Kind::Features,
        Kind::CommonNeighbors,
        Kind::Paths,
        Kind::Positions,
    ];
    let apart = kinds.map(|kind| Apart { kind, auc: 0.8 });
    let (_, found) = agreement(&columns, &apart, N);
    for (found, v) in found.iter().zip(loadings) {
        let expected = v / (1.0 - v * v);
        assert!(
            (found - expected).abs() < 0.08 * expected + 0.03,
            "{found} {expected}"
        );
    }
    // A kind that does not tell links from non-links takes no part.
    let apart: Vec<Apart> = kinds
        .into_iter()
        .zip([0.8, 0.8, 0.8, 0.5])
        .map(|(kind, auc)| Apart { kind, auc })
        .collect();
    assert_eq!(agreement(&columns, &apart, N).1[3], 0.0);
}

#[test]
fn learned_scores_follow_the_evidence_and_never_turn_it_round() {
    let pairs = pairs_of(300, 300);
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut column = |shift: f64| -> Vec<f32> {
        let one = |at: usize| {
            let noise: f64 = StandardNormal.sample(&mut random);
            (noise + if at < 300 { shift } else { 0.0 }) as f32
        };
        (0..600).map(one).collect()
    };
    let (good, turned) = (column(2.0), column(-2.0));
    let score = learned(&[&good, &turned], &pairs);
    let alone = learned(&[&good], &pairs);
    let order = |values: &[f64]| {
        let mut order: Vec<usize> = (0..pairs.len()).filter(|&at| pairs.fold[at] == 0).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        order
    };
    assert_eq!(order(&score), order(&alone));
}

/// The largest number of links without a common end, by trying all.
fn largest_matching(ends: &[[u32; 2]], used: u64) -> usize {
    let Some((&[i, j], rest)) = ends.split_first() else {
        return 0;
    };
    let without = largest_matching(rest, used);
    let both = 1 << i | 1 << j;
    match used & both {
        0 => without.max(1 + largest_matching(rest, used | both)),
        _ => without,
    }
}

#[test]
fn matchings_are_the_largest() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    for round in 0..200 {
        let mut ends = std::collections::BTreeSet::new();
        for _ in 0..random.random_range(1..15) {
            ends.insert([
                random.random_range(0..6u32),
                6 + random.random_range(0..6u32),
            ]);
        }
        let ends: Vec<[u32; 2]> = ends.into_iter().collect();
        let links = |ends| Links::new(vec![0; 12], false, ends, Vec::new());
        let expected = 1.0 - largest_matching(&ends, 0) as f64 / ends.len() as f64;
        assert_eq!(least_false(&links(ends.clone())), expected, "{round}");
        let shares = partner_shares(&vec![1.0; ends.len()], &links(ends.clone()));
        let degree = |node: u32| ends.iter().filter(|ends| ends.contains(&node)).count() as f64;
        for (share, [i, j]) in shares.iter().zip(&ends) {
            let expected = 1.0 / (degree(*i) * degree(*j)).sqrt();
            assert!((share - expected.min(0.999)).abs() < 1e-12);
        }
        // A triangle has no two sides.
        let triangle = links(vec![[0, 1], [1, 2], [0, 2]]);
        assert_eq!(least_false(&triangle), 0.0);
    }
}

#[test]
fn checks_move_beliefs_and_the_share_towards_the_truth() {
    let (data, is_false) = planted(400, 10, 25, 8);
    let spec = JudgeSpec {
        test: false,
        ..JudgeSpec::default()
    };
    let judgment = judge(&data, &spec, Runtime::default()).unwrap();
    let before = judgment.facts.share.unwrap();
    let sample = judgment.sample(30, 1);
    assert_eq!(sample.len(), 30);
    let middle = judgment.links.len() * 4 / 10;
    let suspicious = sample
        .iter()
        .filter(|&&at| judgment.links[at].rank <= middle);
    assert_eq!(suspicious.count(), 20);
    let check = |at: usize, real: bool| Check {
        src: judgment.links[at].dst,
        dst: judgment.links[at].src,
        real,
    };
    let checks: Vec<Check> = sample.iter().map(|&at| check(at, !is_false[at])).collect();
    let mut checked = judgment.clone();
    let nodes = (0..400).flat_map(|i| (i + 1..400).map(move |j| (i, j)));
    let mut unlinked = nodes.filter(|&(i, j)| data.graph().weight(i, j).is_none());
    let (src, dst) = unlinked.next().unwrap();
    let nowhere = Check {
        src,
        dst,
        real: true,
    };
    let used = checked.recalibrate(&[checks.clone(), vec![nowhere]].concat());
    assert_eq!((used.verified, used.not_links), (30, 1));
    for &at in &sample {
        let link = &checked.links[at];
        assert_eq!(link.belief, f64::from(u8::from(!is_false[at])));
        assert_eq!(
            (link.suspect, link.verified),
            (is_false[at], Some(!is_false[at]))
        );
    }
    let share = checked.facts.share.unwrap();
    assert_eq!(share.high_unchecked, Some(before.high));
    assert!(
        share.low <= 0.2 && 0.2 <= share.high && share.high - share.low < 0.2,
        "{share:?}"
    );
    assert!(
        checked
            .sample(1000, 2)
            .iter()
            .all(|at| !sample.contains(at))
    );
    // The same checks again change nothing; one that is turned round replaces the older one.
    let mut again = checked.clone();
    again.recalibrate(&checks);
    assert_eq!(again, checked);
    again.recalibrate(&[check(sample[0], is_false[sample[0]])]);
    assert_eq!(again.links[sample[0]].verified, Some(is_false[sample[0]]));
    // All real: the share falls, and nothing breaks.
    let mut all_real = judgment.clone();
    let checks: Vec<Check> = sample.iter().map(|&at| check(at, true)).collect();
    all_real.recalibrate(&checks);
    assert!(all_real.facts.share.unwrap().estimate < before.estimate);
}

#[test]
fn flags_at_a_rate_keep_it() {
    let (data, _) = planted(400, 10, 25, 8);
    let spec = JudgeSpec {
        test: false,
        ..JudgeSpec::default()
    };
    let judgment = judge(&data, &spec, Runtime::default()).unwrap();
    let mut before = 0;
    for rate in [0.05, 0.2, 0.5] {
        let flagged = judgment.at_rate(rate);
        let sum: f64 = flagged.iter().map(|&at| judgment.links[at].belief).sum();
        assert!(sum <= rate * flagged.len() as f64);
        assert!(flagged.len() >= before && flagged.len() < judgment.links.len());
        assert!(
            flagged
                .iter()
                .all(|&at| judgment.links[at].status == Status::Judged)
        );
        before = flagged.len();
    }
    assert!(before > 50);
}

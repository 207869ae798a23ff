//! Evidence without the pair's own link, against graphs that really lack it.

use linkproof_numeric::math;

use super::super::assess::Input;
use super::super::evidence::{Known, NodeRows};
use super::super::net::Net;
use super::super::pairs::{Links, Pairs};
use super::super::paths::Paths;
use super::super::strata::{COARSE, FINE, Strata};
use super::{pairs_of, random_links};

/// The net without one link.
fn without(links: &Links, pair: [u32; 2]) -> Net {
    let rest = links.ends.iter().copied().filter(|&ends| ends != pair);
    Net::new(
        links.n,
        links.directed,
        rest.collect::<Vec<_>>().into_iter(),
    )
}

/// Common neighbors and paths of three links in plain loops.
fn plain_neighbors(net: &Net, [i, j]: [u32; 2]) -> [f64; 2] {
    let nodes = || 0..net.n() as u32;
    let degree = |node: u32| net.degree(node as usize);
    let (mut common, mut paths) = (0.0, 0.0);
    for k in nodes().filter(|&k| net.has(i, k)) {
        if net.has(k, j) {
            common += 1.0 / degree(k);
        }
        for l in nodes().filter(|&l| net.has(k, l) && net.has(l, j)) {
            paths += 1.0 / (degree(k) * degree(l)).sqrt();
        }
    }
    let [d_i, d_j] = net.degrees([i, j]);
    let room = ((d_i + 1.0) * (d_j + 1.0)).sqrt();
    [
        math::ln_1p(100.0 * common / room),
        math::ln_1p(10.0 * paths / room),
    ]
}

#[test]
fn common_neighbors_and_paths_do_not_see_the_own_link() {
    for (directed, m) in [(false, 120), (true, 260)] {
        let links = random_links(30, m, directed, 7);
        let net = links.net();
        let pairs = Pairs::new(&links, &[], 3);
        let found = Paths::new(&links, &net, 3).of(&pairs);
        assert!(pairs.n_non_links > 50);
        for place in 0..pairs.len() {
            // A non-link has no own link to leave out.
            let net = without(&links, pairs.ends[place]);
            let expected = plain_neighbors(&net, pairs.ends[place]);
            for (values, expected) in found.iter().zip(expected) {
                let error = (values[place] - expected).abs();
                assert!(error < 1e-12, "{place} {error}");
            }
        }
    }
}

#[test]
fn neighborhoods_do_not_see_the_own_link() {
    for directed in [false, true] {
        let links = random_links(25, 90, directed, 9);
        let net = links.net();
        let pairs = Pairs::new(&links, &[], 3);
        let input = Input {
            links: &links,
            features: None,
            columns: &[],
            one_to_one: false,
            picked: None,
            others: &[],
            seed: 3,
        };
        let known = Known {
            input: &input,
            net: &net,
            pairs: &pairs,
        };
        let number = |at: usize| ((at * 37 + 11) % 23) as f64 / 7.0 - 1.5;
        let of = NodeRows {
            left: (0..25 * 3).map(number).collect(),
            right: directed.then(|| (0..25 * 3).map(|at| number(at + 5)).collect()),
            width: 3,
        };
        let all: Vec<u32> = (0..pairs.len() as u32).collect();
        let found = known.neighborhoods(&all, &of);
        let right = of.right.as_ref().unwrap_or(&of.left);
        let row = |rows: &[f64], node: u32| rows[node as usize * 3..][..3].to_vec();
        for (place, &[i, j]) in pairs.ends.iter().enumerate() {
            let net = without(&links, [i, j]);
            let with_mean = |own: Vec<f64>, others: &[u32], rows: &[f64]| -> Vec<f64> {
                let mean = |at: usize| {
                    let sum: f64 = others.iter().map(|&other| row(rows, other)[at]).sum();
                    sum / others.len().max(1) as f64
                };
                own.iter()
                    .enumerate()
                    .map(|(at, x)| x + 2.0 * mean(at))
                    .collect()
            };
            let x = with_mean(row(&of.left, i), net.outgoing().of(i as usize), right);
            let y = with_mean(row(right, j), net.incoming().of(j as usize), &of.left);
            let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let expected = product(&x, &y) / (product(&x, &x) * product(&y, &y)).sqrt();
            assert!((found[place] - expected).abs() < 1e-12, "{place}");
        }
    }
}

/// `tails` by counting, pair by pair.
fn plain_tail(pairs: &Pairs, value: &[f64], place: usize) -> f64 {
    let x = value[place];
    let base: Vec<f64> = (0..pairs.len())
        .filter(|&at| pairs.is_non_link(at))
        .map(|at| value[at])
        .collect();
    let count = |values: &[f64], which: &dyn Fn(f64) -> bool| {
        values.iter().filter(|&&value| which(value)).count() as f64
    };
    let n = base.len() as f64;
    let ties = count(&base, &|value| value == x);
    let above = count(&base, &|value| value > x);
    if !pairs.is_link(place) || ties > 0.0 {
        return -((above + ties / 2.0 + 0.5) / (n + 1.0)).ln();
    }
    // Links of the same gap between two neighboring non-links.
    let gap: Vec<f64> = (0..pairs.n_links)
        .map(|at| value[at])
        .filter(|&link| count(&base, &|value| value > link) == above)
        .filter(|&link| count(&base, &|value| value == link) == 0.0)
        .collect();
    let ahead = count(&gap, &|link| link > x) + count(&gap, &|link| link == x) / 2.0;
    -((above + (ahead + 0.5) / (gap.len() as f64 + 1.0)) / (n + 1.0)).ln()
}

#[test]
fn tails_and_ranks_agree_with_counting() {
    let pairs = pairs_of(40, 60);
    // Few values, so that there are ties, and some links in gaps and beyond all non-links.
    let value: Vec<f64> = (0..pairs.len())
        .map(|at| match at {
            0..10 => 30.0 + (at / 2) as f64,
            10..25 => (at % 7) as f64 + 0.5,
            _ => (at * 29 % 17) as f64,
        })
        .collect();
    let strata = Strata::one(&pairs);
    let (tails, ranks) = (strata.tails(&pairs, &value), strata.ranks(&pairs, &value));
    for place in 0..pairs.len() {
        let expected = plain_tail(&pairs, &value, place);
        assert!((tails[place] - expected).abs() < 1e-12, "{place}");
        let below = |which: &dyn Fn(f64) -> bool| {
            let others = (0..pairs.len()).filter(|&at| pairs.is_non_link(at));
            others.filter(|&at| which(value[at])).count() as f64
        };
        let x = value[place];
        let expected = (below(&|value| value < x) + below(&|value| value == x) / 2.0) / 60.0;
        assert_eq!(ranks[place], expected);
    }
    let strongest = tails.iter().copied().fold(0.0, f64::max);
    assert!(tails[..2].iter().all(|&tail| tail < strongest));
}

#[test]
fn strata_hold_enough_and_follow_the_degrees() {
    let links = random_links(300, 1500, false, 2);
    let net = links.net();
    let pairs = Pairs::new(&links, &[], 1);
    let size = |place: u32| {
        let own = pairs.own(place as usize);
        let [d_i, d_j] = net.degrees(pairs.ends[place as usize]);
        (d_i - own).max(0.5) * (d_j - own).max(0.5)
    };
    for count in [COARSE, FINE] {
        let strata = Strata::new(&pairs, &net, count);
        assert!((2..=count).contains(&strata.members.len()));
        let mut all: Vec<u32> = strata.members.concat();
        all.sort_unstable();
        assert!((0..pairs.len() as u32).eq(all));
        let mut before = 0.0;
        for members in &strata.members {
            let is_link = |&&place: &&u32| pairs.is_link(place as usize);
            let n_links = members.iter().filter(is_link).count();
            assert!(n_links >= 20 && members.len() - n_links >= 20);
            let least = members
                .iter()
                .map(|&it| size(it))
                .fold(f64::INFINITY, f64::min);
            assert!(least >= before);
            before = members.iter().map(|&it| size(it)).fold(0.0, f64::max);
        }
    }
}

//! Meetings of buckets.

use super::buckets::{Gamma, Meeting, Part};
use crate::data::graph::Link;
use crate::params::{Descent, Params};

fn params() -> Params {
    Params {
        dim: 2,
        ridge: Some(0.1),
        descent: Descent {
            learning_rate: Some(0.05),
            ..Descent::default()
        },
        ..Params::default()
    }
}

/// Numbers of so many parts of so many nodes.
struct Numbers(Vec<[Vec<f32>; 3]>);

impl Numbers {
    fn new(sizes: &[usize]) -> Numbers {
        let mut next = 0;
        let mut part = |size: usize| {
            next += 2 * size;
            let theta = (next - 2 * size..next).map(|x| (x as f32).sin());
            [theta.collect(), vec![0.0; 2 * size], vec![0.0; 2 * size]]
        };
        Numbers(sizes.iter().map(|&size| part(size)).collect())
    }

    fn parts(&mut self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        for [theta, first, second] in &mut self.0 {
            parts.push(Part {
                theta,
                first,
                second,
            });
        }
        parts
    }
}

fn link(src: u32, dst: u32) -> Link {
    let weight = 1.0;
    Link { src, dst, weight }
}

const GAMMA: Gamma = [0.5, 0.0, 0.0];

fn meeting<'a>(params: &'a Params, order: &'a [usize], moves: u64) -> Meeting<'a> {
    Meeting {
        params,
        parts: order.len(),
        order,
        moves,
        per: 3.0,
    }
}

#[test]
fn visits_move_both_buckets_down_the_objective_and_to_the_same_bits() {
    for (sizes, links) in [
        (vec![4], vec![link(0, 1), link(2, 3)]),
        (vec![4, 3], vec![link(0, 4), link(1, 5), link(2, 6)]),
    ] {
        let visits = |count: u64| {
            let (mut numbers, mut gamma) = (Numbers::new(&sizes), GAMMA);
            let mut values = Vec::new();
            for moves in 0..count {
                let params = params();
                let meeting = meeting(&params, &[0], moves);
                let links = |_, _| Ok(links.clone());
                let found = meeting.run(&mut numbers.parts(), gamma, links).unwrap();
                gamma = found.0;
                values.push(found.1);
            }
            (numbers.0, gamma, values)
        };
        let (found, gamma, values) = visits(60);
        assert!(values[59] < values[0], "{values:?}");
        let start = Numbers::new(&sizes).0;
        let all = |numbers: &[[Vec<f32>; 3]]| -> Vec<f32> {
            numbers.iter().flat_map(|part| part[0].clone()).collect()
        };
        let still = all(&found).into_iter().zip(all(&start));
        assert_eq!(still.filter(|(a, b)| a == b).count(), 0);
        assert_ne!(gamma, GAMMA);
        assert_eq!(visits(60), (found, gamma, values));
    }
}

#[test]
fn a_meeting_is_the_visits_of_its_parts_round_by_round() {
    let params = params();
    let of = |p: usize, q: usize| match (p, q) {
        (0, 1) => Ok(vec![link(0, 3), link(2, 5)]),
        (1, 1) => Ok(vec![link(0, 1)]),
        _ => Ok(Vec::new()),
    };
    for alone in [true, false] {
        let sizes = if alone { vec![3, 3] } else { vec![3, 3, 4, 3] };
        let order = [1, 0];
        let mut numbers = Numbers::new(&sizes);
        let whole = meeting(&params, &order, 5);
        // Inside one bucket the links of part 1 with itself, between two those of
        // their parts 1.
        let between = |p, q| match (alone, p, q) {
            (false, 1, 1) => Ok(vec![link(0, 3)]),
            _ => of(p, q),
        };
        let (gamma, paid) = whole.run(&mut numbers.parts(), GAMMA, between).unwrap();

        let mut by_hand = Numbers::new(&sizes);
        let (mut expected, mut all) = (GAMMA, 0.0);
        for (done, round) in (0..).zip(order) {
            let pairs = match (alone, round) {
                (true, 0) => vec![(0, 0), (1, 1)],
                (true, _) => vec![(0, 1)],
                (false, 0) => vec![(0, 2), (1, 3)],
                (false, _) => vec![(0, 3), (1, 2)],
            };
            let count = pairs.len() as f64;
            let mut sums = [0.0; 3];
            for (p, q) in pairs {
                let mut parts = by_hand.parts();
                let mut places = vec![p, q];
                places.dedup();
                let mut chosen: Vec<Part<'_>> = Vec::new();
                for (place, part) in parts.drain(..).enumerate() {
                    if places.contains(&place) {
                        chosen.push(part);
                    }
                }
                let single = meeting(&params, &[0], 5 + done);
                let links = |_, _| between(p, if alone { q } else { q - 2 });
                let (gamma, value) = single.run(&mut chosen, expected, links).unwrap();
                for (sum, gamma) in sums.iter_mut().zip(gamma) {
                    *sum += f64::from(gamma);
                }
                all += value;
            }
            expected = sums.map(|sum| (sum / count) as f32);
        }
        assert_eq!((numbers.0, gamma, paid), (by_hand.0, expected, all));
    }
}

#[test]
fn without_links_nodes_are_driven_apart() {
    let mut near = Numbers::new(&[4, 3]);
    for part in &mut near.0 {
        part[0].fill(1.0);
    }
    let params = params();
    let meeting = meeting(&params, &[0], 0);
    let found = meeting.run(&mut near.parts(), [1.0, 0.0, 0.0], |_, _| Ok(Vec::new()));
    // Every vector points the same way, and gets shorter.
    let mut all = near.0.iter().flat_map(|part| &part[0]);
    assert!(all.all(|&x| x < 1.0), "{:?}", near.0);
    assert!(found.unwrap().1 > 0.0);
}

#[test]
fn what_is_no_visit_is_refused() {
    let params = params();
    let run = |sizes: &[usize], order: &[usize], links: Vec<Link>, per: f64| {
        let meeting = Meeting {
            per,
            ..meeting(&params, order, 0)
        };
        let mut numbers = Numbers::new(sizes);
        meeting.run(&mut numbers.parts(), GAMMA, |_, _| Ok(links.clone()))
    };
    let none = Vec::new;
    assert!(run(&[4, 3], &[0], vec![link(0, 4)], 1.0).is_ok());
    for sizes in [&[][..], &[4, 1], &[2, 2, 2]] {
        assert!(run(sizes, &[0], none(), 1.0).is_err(), "{sizes:?}");
    }
    for order in [&[0, 0][..], &[0, 2], &[0, 1, 2], &[]] {
        assert!(run(&[2, 2], order, none(), 1.0).is_err(), "{order:?}");
    }
    assert!(run(&[4], &[0], none(), 0.0).is_err());
    assert!(run(&[4], &[0], none(), f64::NAN).is_err());
    assert!(run(&[4, 3], &[0], vec![link(0, 1)], 1.0).is_err());
    assert!(run(&[4, 3], &[0], vec![link(0, 9)], 1.0).is_err());
    let mut short = Numbers::new(&[4]);
    short.0[0][1].pop();
    let one = meeting(&params, &[0], 0);
    let found = one.run(&mut short.parts(), GAMMA, |_, _| Ok(Vec::new()));
    assert!(found.is_err());
}

//! The choice by ranks: what it compares, that no unit of weights moves it, and that
//! no collapsed fit is chosen.

use super::choose::choose;
use super::held_out::SAME_RANKS;
use super::*;
use crate::model::Fit;
use crate::params::{Normalize, ScoreKind};
use crate::synthetic::{Noise, Synthetic, synthetic};

fn base() -> Params {
    Params {
        dim: 2,
        normalize: Normalize::None,
        ..Params::default()
    }
}

fn search(scores: &[ScoreKind], ridges: &[f64]) -> Search {
    Search {
        grid: Grid {
            scores: scores.to_vec(),
            betas: vec![0.5],
            ridges: ridges.to_vec(),
            ..Grid::around(&base())
        },
        folds: 3,
        ..Search::around(&base())
    }
}

fn run(data: &Dataset, search: &Search) -> Selection {
    select(&base(), data, search, Runtime::default()).unwrap()
}

fn times(data: &Dataset, factor: impl Fn(u32) -> f64) -> Dataset {
    let graph = data.graph();
    data.with_graph(
        graph
            .map_weights(|link| factor(link.src) * link.weight)
            .unwrap(),
    )
}

const BOTH: [ScoreKind; 2] = [ScoreKind::Likelihood, ScoreKind::Probability];

#[test]
fn the_unit_of_weights_moves_nothing() {
    let made = synthetic(1, Noise::false_links(0.02)).unwrap();
    // Weights of several sizes, and then all of them in other units.
    let data = times(&made.data, |row| f64::from(1 + row % 5));
    let wanted = search(&BOTH, &[1.0, 10.0, 100.0]);
    let found = run(&data, &wanted);
    assert_eq!(found.chosen.weights, WeightTransform::Binary);
    for unit in [1000.0, 0.001] {
        let other = run(&times(&data, |_| unit), &wanted);
        assert_eq!(found.chosen, other.chosen);
        assert_eq!(found.candidates, other.candidates);
    }
    // Weights of 1 have no unit, and what is asked for is kept.
    assert_eq!(
        run(&made.data, &wanted).chosen.weights,
        WeightTransform::AsIs
    );
    let kept = Search {
        weights: Some(WeightTransform::AsIs),
        ..search(&[ScoreKind::Likelihood], &[10.0])
    };
    assert_eq!(run(&data, &kept).chosen.weights, WeightTransform::AsIs);
}

/// The sum of the expected weights against that of the observed ones.
fn expected(data: &Dataset, chosen: &Candidate) -> f64 {
    let params = chosen.params(&base()).check().unwrap();
    let model = Fit::new(&params).run(data).unwrap();
    let n = model.n_nodes();
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    let sum: f64 = pairs.map(|(i, j)| model.mu(i, j)).sum();
    let observed: f64 = match chosen.weights {
        WeightTransform::Binary => data.graph().n_links() as f64,
        _ => data.graph().weights().iter().sum(),
    };
    sum / observed
}

#[test]
fn a_collapsed_fit_is_not_chosen() {
    let Synthetic { data, .. } = synthetic(2, Noise::false_links(0.01)).unwrap();
    let heavy = times(&data, |_| 10.0);
    // With weights as they are, the probability score finds that they are impossible
    // and expects nothing at all.
    let as_is = |criterion| Search {
        weights: Some(WeightTransform::AsIs),
        criterion,
        ..search(&BOTH, &[0.1, 10.0, 1000.0])
    };
    for criterion in [Criterion::Rank, Criterion::PROBABILITY] {
        let found = run(&heavy, &as_is(criterion));
        let collapsed = |one: &&Comparison| one.has_collapsed();
        assert!(
            found.candidates.iter().any(|one| collapsed(&one)),
            "{found:?}"
        );
        let mut chosen = found.candidates.iter();
        let chosen = chosen.find(|one| one.candidate == found.chosen);
        assert!(!chosen.unwrap().has_collapsed(), "{found:?}");
        assert!(expected(&heavy, &found.chosen) > 0.5, "{found:?}");
    }
    // Fits to the pattern do not collapse, whatever the weights.
    let found = run(
        &heavy,
        &search(&[ScoreKind::Probability], &[0.1, 1.0, 10.0]),
    );
    assert!(expected(&heavy, &found.chosen) > 0.5, "{found:?}");
    assert!(!found.warnings.contains(&Warning::Collapsed));
}

#[test]
fn ranks_are_those_of_a_plain_count() {
    use crate::model::folds::Folds;
    let made = synthetic(3, Noise::false_links(0.01)).unwrap();
    let search = search(&[ScoreKind::Likelihood], &[1.0, 10.0]);
    let found = run(&made.data, &search);
    let folds = Folds::new(base().seed, search.folds).unwrap();
    let mut degrees = vec![0.0; 200];
    for link in made.data.graph().links() {
        degrees[link.src as usize] += 1.0;
        degrees[link.dst as usize] += 1.0;
    }
    for one in &found.candidates {
        let params = one.candidate.params(&base()).check().unwrap();
        for &(fold, mean) in &one.folds {
            let split = folds.split(fold);
            let model = Fit::new(&params).not_seeing(split).run(&made.data).unwrap();
            let cosine = |i: u32, j: u32| {
                let (a, b) = (model.row(i as usize), model.row(j as usize));
                let dot = |a: &[f32], b: &[f32]| -> f64 {
                    a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
                };
                dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
            };
            let is_link = |i, j| made.data.graph().weight(i, j).is_some();
            // Half of the non-links are uniform, half are drawn by degree.
            let (mut links, mut others) = (Vec::new(), Vec::new());
            let mut sums = [0.0; 2];
            for i in 0..200u32 {
                for j in (0..i).filter(|&j| split.holds_out(i, j)) {
                    if is_link(i, j) {
                        links.push(cosine(i, j));
                    } else {
                        let drawn = [1.0, degrees[i as usize] * degrees[j as usize]];
                        others.push((cosine(i, j), drawn));
                        (0..2).for_each(|k| sums[k] += drawn[k]);
                    }
                }
            }
            let above = |x: f64| {
                let closer = others.iter().filter(|other| other.0 > x);
                let drawn = closer.map(|(_, drawn)| drawn[0] / sums[0] + drawn[1] / sums[1]);
                drawn.sum::<f64>() / 2.0
            };
            let plain = links.iter().map(|&x| above(x)).sum::<f64>() / links.len() as f64;
            // Non-links are a sample, and ranks are by stratum.
            assert!((mean - plain).abs() < 0.05, "{fold}: {mean} {plain}");
            assert!(mean < 0.45, "{mean}");
        }
    }
}

#[test]
fn what_ranks_cannot_decide_gets_the_larger_ridge() {
    let candidate = |ridge: f64| Candidate {
        score: ScoreKind::Likelihood,
        beta: 0.0,
        ridge,
        dim: 2,
        walks: 0,
        steps: None,
        weights: WeightTransform::AsIs,
    };
    let one = |ridge: f64, behind: f64, error: f64| Comparison {
        mean: Some(0.2 + behind),
        behind: Some(behind),
        standard_error: Some(error),
        folds: vec![(0, 0.2 + behind)],
        ..Comparison::new(candidate(ridge))
    };
    let by_ranks = Search::around(&base());
    assert_eq!(SAME_RANKS, 0.005);
    let best = one(1.0, 0.0, 0.0);
    for (other, expected) in [
        (one(10.0, 0.004, 0.001), (10.0, 2)),
        (one(10.0, 0.02, 0.03), (10.0, 2)),
        (one(10.0, 0.006, 0.001), (1.0, 1)),
        (one(0.1, 0.001, 0.01), (1.0, 2)),
    ] {
        let (chosen, tied) = choose(&[best.clone(), other], &by_ranks).unwrap();
        assert_eq!((chosen.ridge, tied), expected);
    }
    // Ridges of another score are others.
    let mut other = one(10.0, 0.001, 0.01);
    other.candidate.score = ScoreKind::Probability;
    let (chosen, tied) = choose(&[best.clone(), other], &by_ranks).unwrap();
    assert_eq!((chosen.ridge, tied), (1.0, 1));
    // Not a collapsed one, however good its ranks.
    let mut collapsed = one(100.0, -0.01, 0.001);
    collapsed.collapsed = 1;
    let chosen = choose(&[best, collapsed.clone()], &by_ranks).unwrap();
    assert_eq!((chosen.0.ridge, chosen.1), (1.0, 1));
    assert_eq!(choose(&[collapsed], &by_ranks).unwrap().0.ridge, 100.0);
}

#[test]
fn folds_of_nodes_are_ranked_too() {
    use crate::model::folds::HoldOut;
    let made = synthetic(4, Noise::false_links(0.01)).unwrap();
    let search = Search {
        hold_out: HoldOut::Nodes,
        ..search(&[ScoreKind::Likelihood], &[1.0, 10.0])
    };
    let found = run(&made.data, &search);
    for one in &found.candidates {
        assert!(one.mean.is_some_and(|mean| mean < 0.45), "{found:?}");
    }
}

#[test]
fn where_all_pairs_have_a_link_ranks_are_refused() {
    use crate::data::graph::Graph;
    let links = (0..12u32).flat_map(|i| (0..i).map(move |j| (j, i, f64::from(i))));
    let links: Vec<_> = links.collect();
    let data = Dataset::from_links(Graph::from_rows(12, &links).unwrap()).unwrap();
    let wanted = search(&[ScoreKind::Likelihood], &[1.0]);
    let error = select(&base(), &data, &wanted, Runtime::default()).unwrap_err();
    assert!(
        error.to_string().contains("all pairs have a link"),
        "{error}"
    );
    let by_score = Search {
        criterion: Criterion::PROBABILITY,
        ..wanted
    };
    assert!(select(&base(), &data, &by_score, Runtime::default()).is_ok());
}

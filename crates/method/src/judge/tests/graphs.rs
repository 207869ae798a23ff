//! Small, odd and special graphs.

use super::super::{Cause, JudgeSpec, Judgment, Kind, PlantedKind, Status, estimated_bytes, judge};
use super::{graph, planted};
use crate::data::dataset::{Dataset, NodeViews};
use crate::data::features::{Features, Matrix};
use crate::data::graph::{Ends, Graph};
use crate::data::ids::Ids;
use crate::engine::runtime::Runtime;
use crate::measure::auc;

/// A judgment that keeps what every judgment promises.
fn judged(data: &Dataset, spec: &JudgeSpec) -> Judgment {
    let judgment = judge(data, spec, Runtime::default()).unwrap();
    assert_eq!(judgment.links.len(), data.graph().n_links());
    let mut ranks: Vec<usize> = judgment.links.iter().map(|link| link.rank).collect();
    ranks.sort_unstable();
    assert!(
        ranks.iter().copied().eq(1..=judgment.links.len()),
        "ranks never tie"
    );
    for (place, link) in judgment.links.iter().enumerate() {
        assert!((0.0..=1.0).contains(&link.belief), "{link:?}");
        assert!(link.worse.is_finite() && link.vote.is_finite() && link.log_density.is_finite());
        assert_eq!(
            link.suspect,
            link.belief < 0.5 && link.status == Status::Judged
        );
        if judgment.facts.abstained {
            assert_eq!(link.belief, 1.0);
        }
        judgment.reasons(place);
    }
    assert_eq!(judgment.facts.abstained, judgment.facts.share.is_none());
    assert!(estimated_bytes(data) > 0);
    judgment
}

fn links_alone(n: usize, links: &[(u32, u32, f64)]) -> Dataset {
    Dataset::from_links(graph(n, links, Ends::Alike)).unwrap()
}

fn ring(n: u32, steps: &[u32]) -> Vec<(u32, u32, f64)> {
    let of_step = |&step: &u32| (0..n).map(move |i| (i, (i + step) % n, 1.0));
    steps.iter().flat_map(of_step).collect()
}

#[test]
fn tiny_graphs_end_without_a_claim() {
    for one_to_one in [false, true] {
        let spec = JudgeSpec {
            one_to_one,
            ..JudgeSpec::default()
        };
        for data in [
            links_alone(2, &[(0, 1, 1.0)]),
            links_alone(3, &[(0, 1, 1.0), (1, 2, 2.0), (0, 2, 3.0)]),
            links_alone(10, &ring(10, &[1])),
            links_alone(10, &ring(10, &[1, 2, 3, 4])),
            links_alone(5, &[(0, 1, -1.0), (1, 2, -2.0)]),
        ] {
            let judgment = judged(&data, &spec);
            assert!(judgment.facts.detection.is_empty());
        }
    }
    let features = |n: usize, x: f64| Features::new(Matrix::dense(n, 2, vec![x; 2 * n]).unwrap());
    let of_ten = graph(10, &ring(10, &[1, 3]), Ends::Alike);
    for x in [0.0, 1.0] {
        let data = Dataset::new(of_ten.clone(), features(10, x)).unwrap();
        assert!(judged(&data, &JudgeSpec::default()).facts.abstained);
    }
    // Features that differ, of fewer nodes than groups of links need.
    for n in [2, 3, 6] {
        let one = Matrix::dense(
            n,
            n,
            (0..n * n)
                .map(|at| f64::from(at % (n + 1) == 0))
                .collect::<Vec<f64>>(),
        );
        let apart = graph(n, &[(0, 1, 1.0)], Ends::Alike);
        for matrix in [
            one.unwrap(),
            Matrix::dense(n, 1, (0..n).map(|row| row as f64).collect::<Vec<f64>>()).unwrap(),
        ] {
            let data = Dataset::new(apart.clone(), Features::new(matrix)).unwrap();
            assert!(judged(&data, &JudgeSpec::default()).facts.abstained);
        }
    }
    let directed = graph(10, &ring(10, &[1, 3]), Ends::Directed);
    judged(
        &Dataset::from_links(directed).unwrap(),
        &JudgeSpec::default(),
    );
}

#[test]
fn regular_graphs_do_not_show_links_by_their_degrees() {
    let data = links_alone(200, &ring(200, &[1, 2, 7]));
    let judgment = judged(&data, &JudgeSpec::default());
    let unused = &judgment.facts.unused;
    let by_degrees = unused.iter().find(|it| it.cause == Cause::Degrees);
    assert_eq!(by_degrees.unwrap().name, Kind::Neighborhoods.name());
}

#[test]
fn constant_features_are_not_used_and_named() {
    let (data, _) = planted(200, 8, 20, 3);
    let n = data.n_nodes();
    let same = Features::new(Matrix::dense(n, 3, vec![1.0; 3 * n]).unwrap());
    let data = Dataset::new(data.graph().clone(), same).unwrap();
    let judgment = judged(&data, &JudgeSpec::default());
    let names: Vec<&str> = judgment
        .facts
        .unused
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert!(names.contains(&Kind::Features.name()), "{names:?}");
}

#[test]
fn planted_links_are_found_and_ranked_first() {
    let (data, is_false) = planted(600, 10, 20, 1);
    let judgment = judged(&data, &JudgeSpec::default());
    let suspicion: Vec<f64> = judgment
        .links
        .iter()
        .map(|link| -(link.rank as f64))
        .collect();
    assert!(auc(&suspicion, &is_false).unwrap() > 0.95);
    let share = judgment.facts.share.unwrap();
    assert!(share.high >= 1.0 / 6.0 && share.high < 0.3, "{share:?}");
    let detection = &judgment.facts.detection;
    assert_eq!(detection.len(), PlantedKind::ALL.len());
    for it in &detection[..2] {
        assert!(
            it.planted >= 30 && it.found > 0.5 && it.own < it.found,
            "{it:?}"
        );
    }
}

#[test]
fn heavy_false_links_do_not_turn_beliefs_round() {
    let (data, is_false) = planted(400, 40, 100, 2);
    let weighted = data.with_graph(heavier(&data, &is_false));
    let judgment = judged(&weighted, &JudgeSpec::default());
    let doubt: Vec<f64> = judgment
        .links
        .iter()
        .map(|link| 1.0 - link.belief)
        .collect();
    assert!(auc(&doubt, &is_false).unwrap() > 0.95);
    assert!(judgment.facts.weight_agreement.unwrap() < -0.1);
}

fn heavier(data: &Dataset, is_false: &[bool]) -> Graph {
    let links = data.graph().links().zip(is_false);
    let weight = |is_false: bool| if is_false { 10.0 } else { 1.0 };
    let links: Vec<(u32, u32, f64)> = links
        .map(|(link, &is_false)| (link.src, link.dst, weight(is_false)))
        .collect();
    graph(data.n_nodes(), &links, Ends::Alike)
}

#[test]
fn blind_links_are_believed_on_average_and_rank_last() {
    let (data, _) = planted(200, 10, 10, 4);
    let mut links: Vec<(u32, u32, f64)> = data
        .graph()
        .links()
        .map(|link| (link.src, link.dst, 1.0))
        .collect();
    // Forty nodes of which one link is all that is known.
    links.extend((0..40).map(|at| (at, 200 + at, 1.0)));
    let judgment = judged(&links_alone(240, &links), &JudgeSpec::default());
    let (blind, seen): (Vec<_>, Vec<_>) = judgment
        .links
        .iter()
        .partition(|link| link.status == Status::Blind);
    assert_eq!(blind.len(), 40);
    let last = seen.iter().map(|link| link.rank).max().unwrap();
    let mean = seen.iter().map(|link| link.belief).sum::<f64>() / seen.len() as f64;
    for link in blind {
        assert!(link.rank > last && !link.suspect);
        assert!(judgment.facts.abstained || (link.belief - mean).abs() < 1e-9);
        assert!(link.end >= 200, "the unknown end is named");
    }
}

#[test]
fn duplicates_are_folded_and_their_links_rank_last() {
    let (data, is_false) = planted(200, 10, 20, 5);
    let n = 200u32;
    let mut links = Vec::new();
    for link in data.graph().links() {
        for (a, b) in [(0, 0), (n, 0), (0, n), (n, n)] {
            links.push((link.src + a, link.dst + b, 1.0));
        }
    }
    links.extend((0..50).map(|i| (i, i + n, 1.0)));
    let rows: Vec<u32> = (0..2 * n).map(|row| row % n).collect();
    let matrix = data.views()[0].matrix.as_ref().unwrap().select(&rows);
    let doubled = graph(400, &links, Ends::Alike);
    let doubled = Dataset::new(doubled, Features::new(matrix)).unwrap();
    let judgment = judged(&doubled, &JudgeSpec::default());
    let groups = &judgment.facts.duplicates;
    assert!(groups.len() > 190, "{}", groups.len());
    assert!(
        groups
            .iter()
            .filter(|it| it.len() == 2)
            .all(|it| it[1] == it[0] + n)
    );
    let mut duplicates = 0;
    let mut beliefs = std::collections::BTreeMap::new();
    for link in &judgment.links {
        if link.status == Status::Duplicate {
            duplicates += 1;
            assert_eq!(link.belief, 1.0);
            assert!(link.rank + 50 > judgment.links.len());
        } else if groups.len() == 200 {
            let once = (link.src % n).min(link.dst % n)..(link.src % n).max(link.dst % n);
            let belief = *beliefs.entry((once.start, once.end)).or_insert(link.belief);
            assert_eq!(belief, link.belief, "records of one link share its belief");
        }
    }
    assert!(duplicates >= 40);
    assert!(is_false.iter().any(|&it| it));
}

#[test]
fn negative_links_are_suspicious_if_they_look_positive() {
    let (data, _) = planted(400, 10, 0, 6);
    let mut links: Vec<(u32, u32, f64)> = data
        .graph()
        .links()
        .map(|link| (link.src, link.dst, 1.0))
        .collect();
    // Nodes of one group are 4 apart. Negative links of two groups, and 30 inside of one.
    let known: std::collections::BTreeSet<(u32, u32)> =
        links.iter().map(|it| (it.0, it.1)).collect();
    let pairs = |step: u32| (0..400 - step).map(move |i| (i, i + step));
    let free = |pair: &(u32, u32)| !known.contains(pair);
    let inside: Vec<(u32, u32)> = pairs(40).filter(free).take(30).collect();
    links.extend(inside.iter().map(|&(i, j)| (i, j, -1.0)));
    links.extend(pairs(39).filter(free).take(200).map(|(i, j)| (i, j, -1.0)));
    let features = Features::new(data.views()[0].matrix.clone().unwrap());
    let data = Dataset::new(graph(400, &links, Ends::Alike), features).unwrap();
    let judgment = judged(&data, &JudgeSpec::default());
    let negative: Vec<_> = judgment
        .links
        .iter()
        .filter(|it| it.status == Status::Negative)
        .collect();
    assert_eq!(negative.len(), 230);
    assert!(
        negative
            .iter()
            .all(|link| link.belief == 1.0 && !link.suspect)
    );
    let suspicion: Vec<f64> = negative.iter().map(|link| -(link.rank as f64)).collect();
    let looks_positive: Vec<bool> = negative
        .iter()
        .map(|it| inside.contains(&(it.src, it.dst)))
        .collect();
    assert!(auc(&suspicion, &looks_positive).unwrap() > 0.9);
}

#[test]
fn views_with_features_of_their_own_are_judged_together() {
    let (data, is_false) = planted(400, 10, 20, 7);
    let matrix = data.views()[0].matrix.as_ref().unwrap();
    let rows = |first: u32| (0..200).map(|at| 2 * at + first).collect::<Vec<u32>>();
    let nodes = NodeViews {
        ids: Ids::Rows(400),
        views: (0..400).map(|i| ["a", "b"][i % 2].to_owned()).collect(),
        rows: None,
    };
    let features = [("a", 0), ("b", 1)]
        .map(|(name, first)| (name.to_owned(), Features::new(matrix.select(&rows(first)))));
    let truth: std::collections::BTreeMap<(u32, u32), bool> = data
        .graph()
        .links()
        .map(|link| (link.src, link.dst))
        .zip(is_false)
        .collect();
    let views = Dataset::with_views(data.graph().clone(), nodes, features.into()).unwrap();
    let judgment = judged(&views, &JudgeSpec::default());
    let suspicion: Vec<f64> = judgment
        .links
        .iter()
        .map(|link| -(link.rank as f64))
        .collect();
    let ends = judgment
        .links
        .iter()
        .map(|it| (it.src.min(it.dst), it.src.max(it.dst)));
    let is_false: Vec<bool> = ends.map(|ends| truth[&ends]).collect();
    assert!(auc(&suspicion, &is_false).unwrap() > 0.85);
}

#[test]
fn results_have_the_same_bits_at_any_number_of_threads() {
    let (data, _) = planted(500, 10, 20, 9);
    let at = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| judged(&data, &JudgeSpec::default()))
    };
    let one = at(1);
    assert!([2, 7].into_iter().all(|threads| at(threads) == one));
    // As columns and back.
    let links = one.links.iter().map(|link| link.link());
    let back = Judgment::from_columns(links, &one.columns(), one.facts.clone()).unwrap();
    assert_eq!(back, one);
}

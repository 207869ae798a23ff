use super::*;

fn graph(links: &[(u32, u32, f64)], duplicates: Duplicates) -> Result<Graph> {
    let links = links
        .iter()
        .map(|&(src, dst, weight)| Link { src, dst, weight })
        .collect();
    let rules = LinkRules {
        duplicates,
        self_links: SelfLinks::Drop,
        ..LinkRules::default()
    };
    Graph::new(Ids::Rows(4), links, rules)
}

#[test]
fn links_are_sorted_and_stored_once() {
    let g = graph(
        &[
            (3, 1, 2.0),
            (0, 2, 0.0),
            (1, 0, 1.0),
            (0, 1, 1.0),
            (2, 2, 5.0),
        ],
        Duplicates::Error,
    )
    .unwrap();
    let links: Vec<_> = g.links().map(|l| (l.src, l.dst, l.weight)).collect();
    assert_eq!(links, [(0, 1, 1.0), (1, 3, 2.0)]);
    let counts = LinkCounts {
        listed: 5,
        zero: 1,
        self_links: 1,
        merged: 1,
        ..LinkCounts::default()
    };
    assert_eq!(g.counts(), counts);
    assert_eq!(g.weight(3, 1), Some(2.0));
    assert_eq!(g.weight(2, 1), None);
    assert_eq!(
        g.adjacency().row(1),
        ([0, 3].as_slice(), [1.0, 2.0].as_slice())
    );
}

#[test]
fn repeated_pairs_follow_the_rule() {
    let twice = [(0, 1, 1.0), (0, 1, 1.0)];
    let other = [(0, 1, 1.0), (1, 0, 3.0), (0, 1, 2.0)];
    assert!(matches!(
        graph(&twice, Duplicates::Error),
        Err(Error::DuplicateLink { .. })
    ));
    for (rule, first, second) in [
        (Duplicates::Sum, 2.0, 6.0),
        (Duplicates::Max, 1.0, 3.0),
        (Duplicates::First, 1.0, 1.0),
    ] {
        assert_eq!(graph(&twice, rule).unwrap().weight(0, 1), Some(first));
        assert_eq!(graph(&other, rule).unwrap().weight(0, 1), Some(second));
    }
}

#[test]
fn many_links_keep_their_order_of_listing() {
    // More than one range of rows, one of them a single large row.
    let n = 700_000u32;
    let mut links = Vec::new();
    for k in 0..2 * n {
        let (src, dst) = (k % n, (k % n + 1 + k / n) % n);
        let weight = f64::from(k + 1);
        links.push(Link { src, dst, weight });
        links.push(Link {
            src: dst,
            dst: src,
            weight: 1.0,
        });
        if src > 1 {
            links.push(Link {
                src,
                dst: 0,
                weight,
            });
        }
    }
    let rules = LinkRules {
        duplicates: Duplicates::First,
        self_links: SelfLinks::Drop,
        ..LinkRules::default()
    };
    let g = Graph::new(Ids::Rows(n as usize), links, rules).unwrap();
    assert_eq!(g.weight(5, 6), Some(6.0));
    assert_eq!(g.weight(699_990, 699_992), Some(f64::from(n + 699_991)));
    assert_eq!(g.weight(0, 400_000), Some(400_001.0));
    assert!(g.links().is_sorted_by_key(|link| (link.src, link.dst)));
}

#[test]
fn invalid_links_are_refused() {
    for weight in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(Graph::from_rows(2, &[(0, 1, weight)]).is_err());
    }
    assert!(Graph::from_rows(2, &[(0, 0, 1.0)]).is_err());
    assert!(Graph::from_rows(2, &[(0, 2, 1.0)]).is_err());
}

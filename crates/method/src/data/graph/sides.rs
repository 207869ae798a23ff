//! Links whose ends stand on two sides.

use std::sync::Arc;

use super::{Ends, Link, SelfLinks, check_link};
use crate::data::ids::{Ids, Side, Sides};
use crate::error::Result;

/// The ids of sources and targets, and the links between them. Links from a node to
/// itself, in a directed graph, stay what they are.
pub(super) fn apart(
    ids: Ids,
    mut links: Vec<Link>,
    ends: Ends,
    self_links: SelfLinks,
) -> Result<(Ids, Vec<Link>)> {
    if ends == Ends::Directed {
        for link in &links {
            check_link(&ids, link, self_links)?;
        }
        let n = ids.len() as u32;
        let others = links.iter_mut().filter(|link| link.src != link.dst);
        others.for_each(|link| link.dst += n);
        let sides = Sides {
            source: ids.clone(),
            target: ids,
            same: true,
        };
        return Ok((Ids::Sides(Arc::new(sides)), links));
    }
    for link in &links {
        check_link(&ids, link, SelfLinks::Drop)?;
    }
    let mut stand = |end: fn(&mut Link) -> &mut u32| {
        // The rows of a side in the order of all rows.
        let mut rows = vec![u32::MAX; ids.len()];
        for link in &mut links {
            rows[*end(link) as usize] = 0;
        }
        let mut members = Vec::new();
        for (row, place) in rows.iter_mut().enumerate() {
            if *place == 0 {
                *place = members.len() as u32;
                members.push(row as u32);
            }
        }
        for link in &mut links {
            *end(link) = rows[*end(link) as usize];
        }
        Ids::from(ids.select(&members))
    };
    let sides = Sides {
        source: stand(|link| &mut link.src),
        target: stand(|link| &mut link.dst),
        same: false,
    };
    let n = sides.of(Side::Source).len() as u32;
    links.iter_mut().for_each(|link| link.dst += n);
    Ok((Ids::Sides(Arc::new(sides)), links))
}

#[cfg(test)]
mod tests {
    use super::super::{Duplicates, Graph, LinkRules};
    use super::*;

    fn graph(links: &[(u32, u32, f64)], ends: Ends) -> Result<Graph> {
        let links = links.iter();
        let links = links.map(|&(src, dst, weight)| Link { src, dst, weight });
        let rules = LinkRules {
            ends,
            ..LinkRules::default()
        };
        Graph::new(Ids::Rows(4), links.collect(), rules)
    }

    #[test]
    fn directions_are_kept_apart() {
        let found = graph(&[(0, 1, 1.0), (1, 0, 2.0), (3, 1, 1.0)], Ends::Directed).unwrap();
        assert_eq!((found.n_nodes(), found.n_links()), (8, 3));
        assert_eq!(found.weight(0, 5), Some(1.0));
        assert_eq!(found.weight(1, 4), Some(2.0));
        let ids = found.ids();
        assert_eq!((ids.name(5), ids.name(1)), ("1".into(), "1".into()));
        assert_eq!(ids.row("1"), Some(1));
        assert_eq!(ids.row_on(Side::Target, "1"), Some(5));
        assert!(ids.is_same_node(1, 5) && !ids.is_same_node(1, 6));
        assert!(graph(&[(0, 1, 1.0), (0, 1, 2.0)], Ends::Directed).is_err());
        let error = graph(&[(0, 1, 1.0), (2, 2, 1.0)], Ends::Directed).unwrap_err();
        assert!(error.to_string().contains("to itself"), "{error}");
        let rules = LinkRules {
            self_links: SelfLinks::Drop,
            duplicates: Duplicates::Sum,
            ends: Ends::Directed,
        };
        let link = |src, dst| Link {
            src,
            dst,
            weight: 1.0,
        };
        let listed = vec![link(2, 2), link(0, 1), link(0, 1)];
        let found = Graph::new(Ids::Rows(4), listed, rules).unwrap();
        assert_eq!(found.weight(0, 5), Some(2.0));
        assert_eq!((found.counts().self_links, found.counts().merged), (1, 1));
    }

    #[test]
    fn an_id_on_both_sides_of_a_bipartite_graph_is_two_nodes() {
        let found = graph(&[(1, 1, 1.0), (3, 1, 1.0), (1, 2, 1.0)], Ends::Bipartite).unwrap();
        // Sources 1 and 3, targets 1 and 2.
        assert_eq!((found.n_nodes(), found.n_links()), (4, 3));
        let names: Vec<_> = (0..4)
            .map(|row| found.ids().name(row).into_owned())
            .collect();
        assert_eq!(names, ["1", "3", "1", "2"]);
        assert_eq!(found.weight(0, 2), Some(1.0));
        assert_eq!(found.weight(1, 3), None);
        assert!(!found.ids().is_same_node(0, 2));
    }
}

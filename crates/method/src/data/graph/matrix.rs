//! A graph from the square matrix of its weights, read where it stands.

use std::cmp::Ordering;

use super::{Duplicates, Ends, Graph, Link, LinkCounts, LinkRules, check_link};
use crate::data::ids::Ids;
use crate::error::{Error, Result};

/// A square matrix in compressed rows (CSR), in whatever integers and reals its
/// owner keeps it. Entries stored twice add up.
#[derive(Debug, Clone, Copy)]
pub struct Compressed<'a, O, C, W> {
    /// Where each row starts, and where the last one ends.
    pub offsets: &'a [O],
    /// The columns of the stored entries.
    pub columns: &'a [C],
    /// The stored entries.
    pub weights: &'a [W],
}

impl Graph {
    /// Builds a graph from the matrix of its weights, which is triangular or
    /// symmetric. Any other matrix is an [`Error::Asymmetric`], unless the
    /// rules say what to do with an entry and its mirror image: `Sum` gives
    /// `A + A^T`, `Max` the larger one, `First` that above the diagonal.
    ///
    /// ```
    /// use linkproof::data::graph::{Compressed, Graph};
    /// use linkproof::data::ids::Ids;
    ///
    /// let matrix = Compressed { offsets: &[0i32, 1, 2], columns: &[1i32, 0], weights: &[2.5f32, 2.5] };
    /// let graph = Graph::from_matrix(Ids::Rows(2), matrix, Default::default())?;
    /// assert_eq!((graph.n_links(), graph.weight(0, 1)), (1, Some(2.5)));
    /// # Ok::<(), linkproof::Error>(())
    /// ```
    pub fn from_matrix<O, C, W>(
        ids: Ids,
        matrix: Compressed<'_, O, C, W>,
        rules: LinkRules,
    ) -> Result<Graph>
    where
        O: Copy + TryInto<usize>,
        C: Copy + TryInto<u32>,
        W: Copy + Into<f64>,
    {
        let offsets = matrix.checked_offsets(ids.len())?;
        if rules.ends != Ends::Alike {
            let mut links = Vec::with_capacity(matrix.weights.len());
            matrix.each(&offsets, |link| {
                links.push(link);
                Ok(())
            })?;
            return Graph::new(ids, links, rules);
        }
        let mut counts = LinkCounts {
            listed: matrix.weights.len(),
            ..LinkCounts::default()
        };
        let [mut upper, mut lower] = [Vec::new(), Vec::new()];
        matrix.each(&offsets, |link| {
            check_link(&ids, &link, rules.self_links)?;
            match link.src.cmp(&link.dst) {
                _ if link.weight == 0.0 => counts.zero += 1,
                Ordering::Less => upper.push(link),
                Ordering::Greater => lower.push(link),
                Ordering::Equal => counts.self_links += 1,
            }
            Ok(())
        })?;
        let mut sum_of = |links: Vec<Link>| {
            let sums = LinkRules {
                duplicates: Duplicates::Sum,
                ..LinkRules::default()
            };
            let half = Graph::new(ids.clone(), links, sums)?;
            counts.merged += half.counts.merged;
            counts.zero += half.counts.zero;
            Result::Ok(half)
        };
        let (upper, lower) = (sum_of(upper)?, sum_of(lower)?);
        let graph = match rules.duplicates {
            _ if lower.n_links() == 0 => upper,
            _ if upper.n_links() == 0 => lower,
            _ if upper.has_links_of(&lower) => {
                counts.merged += lower.n_links();
                upper
            }
            Duplicates::Error => return Err(asymmetric(&upper, &lower)),
            _ => {
                // Above the diagonal first.
                let links = upper.links().chain(lower.links()).collect();
                let both = Graph::new(ids, links, rules)?;
                counts.merged += both.counts.merged;
                counts.zero += both.counts.zero;
                both
            }
        };
        Ok(Graph { counts, ..graph })
    }

    fn has_links_of(&self, other: &Graph) -> bool {
        self.offsets == other.offsets
            && self.targets == other.targets
            && self.weights == other.weights
    }
}

/// The first entry that differs from its mirror image.
fn asymmetric(upper: &Graph, lower: &Graph) -> Error {
    let weights = |link: &Link| [upper, lower].map(|half| half.weight(link.src, link.dst));
    let differs = |link: &Link| {
        let [forward, backward] = weights(link);
        forward != backward
    };
    let first = [upper, lower].map(|half| half.links().find(differs));
    let first = first
        .into_iter()
        .flatten()
        .min_by_key(|link| (link.src, link.dst));
    let Some(link) = first else {
        return Error::links("a matrix without symmetry", "a symmetric one");
    };
    let [forward, backward] = weights(&link).map(|weight| weight.unwrap_or(0.0));
    let [src, dst] = [link.src, link.dst].map(|row| upper.ids.name(row as usize).into_owned());
    Error::Asymmetric {
        src,
        dst,
        forward,
        backward,
    }
}

impl<O, C, W> Compressed<'_, O, C, W>
where
    O: Copy + TryInto<usize>,
    C: Copy + TryInto<u32>,
    W: Copy + Into<f64>,
{
    fn checked_offsets(&self, n: usize) -> Result<Vec<usize>> {
        let wide = |&offset: &O| offset.try_into().ok();
        let offsets: Option<Vec<usize>> = self.offsets.iter().map(wide).collect();
        let offsets = offsets.filter(|offsets| {
            let entries = self.columns.len();
            offsets.len() == n + 1
                && entries == self.weights.len()
                && offsets[0] == 0
                && offsets[n] == entries
                && offsets.is_sorted()
        });
        offsets.ok_or_else(|| {
            Error::links(
                "row offsets, columns and weights that do not fit together",
                format!("the compressed rows of a {n} x {n} matrix"),
            )
        })
    }

    /// Every stored entry, row after row.
    fn each(&self, offsets: &[usize], mut see: impl FnMut(Link) -> Result<()>) -> Result<()> {
        for (row, ends) in offsets.windows(2).enumerate() {
            for place in ends[0]..ends[1] {
                see(Link {
                    src: row as u32,
                    // No graph has this many nodes, so it is refused.
                    dst: self.columns[place].try_into().unwrap_or(u32::MAX),
                    weight: self.weights[place].into(),
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::SelfLinks;
    use super::*;

    fn graph(rows: &[&[(i32, f64)]], rules: LinkRules) -> Result<Graph> {
        let mut offsets = vec![0i64];
        let (mut columns, mut weights) = (vec![], vec![]);
        for row in rows {
            columns.extend(row.iter().map(|entry| entry.0));
            weights.extend(row.iter().map(|entry| entry.1));
            offsets.push(columns.len() as i64);
        }
        let matrix = Compressed {
            offsets: &offsets,
            columns: &columns,
            weights: &weights,
        };
        Graph::from_matrix(Ids::Rows(rows.len()), matrix, rules)
    }

    fn links(graph: &Graph) -> Vec<(u32, u32, f64)> {
        let listed = graph.links();
        listed
            .map(|link| (link.src, link.dst, link.weight))
            .collect()
    }

    fn merging(duplicates: Duplicates) -> LinkRules {
        LinkRules {
            duplicates,
            ..LinkRules::default()
        }
    }

    #[test]
    fn a_symmetric_matrix_and_its_halves_are_one_graph() {
        let whole: &[&[(i32, f64)]] = &[&[(2, 3.0), (1, 2.0)], &[(0, 2.0)], &[(0, 3.0)]];
        let upper: &[&[(i32, f64)]] = &[&[(1, 2.0), (2, 3.0)], &[], &[]];
        let lower: &[&[(i32, f64)]] = &[&[], &[(0, 2.0)], &[(0, 3.0)]];
        for matrix in [whole, upper, lower] {
            // Triangular and symmetric matrices need no rule, and no rule changes them.
            for rule in [Duplicates::Error, Duplicates::Sum, Duplicates::Max] {
                let graph = graph(matrix, merging(rule)).unwrap();
                assert_eq!(links(&graph), [(0, 1, 2.0), (0, 2, 3.0)]);
            }
        }
    }

    #[test]
    fn other_matrices_need_a_rule() {
        // 0-1 differs, 0-2 stands above the diagonal alone, 1-2 is the same.
        let matrix: &[&[(i32, f64)]] = &[&[(1, 2.0), (2, 4.0)], &[(0, 3.0), (2, 1.0)], &[(1, 1.0)]];
        let error = graph(matrix, LinkRules::default()).unwrap_err();
        assert!(matches!(
            &error,
            Error::Asymmetric { src, dst, forward: 2.0, backward: 3.0 } if src == "0" && dst == "1"
        ));
        for (rule, expected) in [
            (Duplicates::Sum, [5.0, 4.0, 2.0]),
            (Duplicates::Max, [3.0, 4.0, 1.0]),
            (Duplicates::First, [2.0, 4.0, 1.0]),
        ] {
            assert_eq!(graph(matrix, merging(rule)).unwrap().weights(), expected);
        }
        let missing: &[&[(i32, f64)]] = &[&[], &[(0, 1.0), (2, 1.0)], &[(1, 1.0)]];
        let error = graph(missing, LinkRules::default()).unwrap_err();
        assert!(matches!(
            error,
            Error::Asymmetric {
                forward: 0.0,
                backward: 1.0,
                ..
            }
        ));
    }

    #[test]
    fn entries_stored_twice_add_up_and_zeros_go() {
        let matrix: &[&[(i32, f64)]] = &[&[(2, 1.0), (1, 0.0), (2, 2.0)], &[], &[]];
        let found = graph(matrix, LinkRules::default()).unwrap();
        assert_eq!(links(&found), [(0, 2, 3.0)]);
        assert_eq!((found.counts().zero, found.counts().merged), (1, 1));
    }

    #[test]
    fn weights_may_be_negative_and_sums_of_nothing_go() {
        let matrix: &[&[(i32, f64)]] = &[&[(1, -0.5), (2, 0.4)], &[(0, 0.5)], &[(0, -0.6)]];
        for (rule, expected) in [
            (Duplicates::Sum, vec![(0, 2, 0.4 - 0.6)]),
            (Duplicates::Max, vec![(0, 1, 0.5), (0, 2, 0.4)]),
            (Duplicates::First, vec![(0, 1, -0.5), (0, 2, 0.4)]),
        ] {
            let found = graph(matrix, merging(rule)).unwrap();
            assert_eq!(links(&found), expected);
            let zeros = usize::from(rule == Duplicates::Sum);
            assert_eq!(found.counts().zero, zeros);
        }
        let below: &[&[(i32, f64)]] = &[&[(2, 1.0)], &[(0, -0.5)], &[]];
        let found = graph(below, merging(Duplicates::Max)).unwrap();
        assert_eq!(links(&found), [(0, 1, -0.5), (0, 2, 1.0)]);
        assert!(found.is_signed());
        assert_eq!(
            found.negative().map(|link| (link.src, link.dst)),
            Some((0, 1))
        );
    }

    #[test]
    fn bad_entries_are_refused() {
        let rules = LinkRules::default();
        for weight in [f64::NAN, f64::INFINITY] {
            let error = graph(&[&[(1, weight)], &[]], rules).unwrap_err();
            assert!(error.to_string().contains("between '0' and '1'"), "{error}");
        }
        for column in [2, -1] {
            assert!(graph(&[&[(column, 1.0)], &[]], rules).is_err());
        }
        let diagonal: &[&[(i32, f64)]] = &[&[(0, 1.0), (1, 1.0)], &[]];
        assert!(graph(diagonal, rules).is_err());
        let dropping = LinkRules {
            self_links: SelfLinks::Drop,
            ..rules
        };
        let found = graph(diagonal, dropping).unwrap();
        assert_eq!((found.n_links(), found.counts().self_links), (1, 1));
        let broken = Compressed {
            offsets: &[0i32, 3, 2],
            columns: &[1i32, 0],
            weights: &[1.0f32, 1.0],
        };
        assert!(Graph::from_matrix(Ids::Rows(2), broken, rules).is_err());
        let huge: &[&[(i32, f64)]] = &[&[(1, 1e308), (1, 1e308)], &[]];
        assert!(graph(huge, rules).is_err());
    }
}

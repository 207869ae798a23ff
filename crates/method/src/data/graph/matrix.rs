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
        let mut upper = Half::new(ids.len());
        let mut lower = Half::new(ids.len());
        matrix.each(&offsets, |link| {
            check_link(&ids, &link, rules.self_links)?;
            counts.zero += usize::from(link.weight == 0.0);
            counts.self_links += usize::from(link.weight != 0.0 && link.src == link.dst);
            match Side::of(&link) {
                Some(Side::Upper) => upper.count(link.src),
                Some(Side::Lower) => lower.count(link.dst),
                None => {}
            }
            Ok(())
        })?;
        upper.make_room();
        lower.make_room();
        matrix.each(&offsets, |link| {
            match Side::of(&link) {
                Some(Side::Upper) => upper.put(link.src, link.dst, link.weight),
                Some(Side::Lower) => lower.put(link.dst, link.src, link.weight),
                None => {}
            }
            Ok(())
        })?;
        counts.merged = upper.tidy() + lower.tidy();
        let half = join(&ids, upper, lower, rules.duplicates, &mut counts)?;
        let half = half.without_zeros(&mut counts);
        if half.weights.iter().any(|weight| !weight.is_finite()) {
            let found = "a sum of weights beyond the range of numbers";
            return Err(Error::links(found, "smaller weights"));
        }
        Ok(Graph {
            ids,
            offsets: half.offsets,
            targets: half.targets,
            weights: half.weights,
            counts,
        })
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

enum Side {
    Upper,
    Lower,
}

impl Side {
    fn of(link: &Link) -> Option<Side> {
        match link.src.cmp(&link.dst) {
            _ if link.weight == 0.0 => None,
            Ordering::Less => Some(Side::Upper),
            Ordering::Greater => Some(Side::Lower),
            Ordering::Equal => None,
        }
    }
}

/// The entries on one side of the diagonal, each under its smaller row.
struct Half {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    next: Vec<usize>,
}

impl Half {
    fn new(n: usize) -> Half {
        Half {
            offsets: vec![0; n + 1],
            targets: Vec::new(),
            weights: Vec::new(),
            next: Vec::new(),
        }
    }

    fn count(&mut self, row: u32) {
        self.offsets[row as usize + 1] += 1;
    }

    fn make_room(&mut self) {
        for row in 1..self.offsets.len() {
            self.offsets[row] += self.offsets[row - 1];
        }
        let entries = self.offsets.last().copied().unwrap_or(0);
        self.targets = vec![0; entries];
        self.weights = vec![0.0; entries];
        self.next.clone_from(&self.offsets);
    }

    fn put(&mut self, row: u32, target: u32, weight: f64) {
        let place = &mut self.next[row as usize];
        self.targets[*place] = target;
        self.weights[*place] = weight;
        *place += 1;
    }

    fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.targets[range.clone()], &self.weights[range])
    }

    /// Sorts each row and adds up what is stored twice; says how much was.
    fn tidy(&mut self) -> usize {
        self.next = Vec::new();
        let strictly = |row| self.row(row).0.is_sorted_by(|a, b| a < b);
        if (0..self.offsets.len() - 1).all(strictly) {
            return 0;
        }
        let before = self.targets.len();
        let mut sorted = Half::new(self.offsets.len() - 1);
        for row in 0..self.offsets.len() - 1 {
            let (targets, weights) = self.row(row);
            let mut entries: Vec<(u32, f64)> = targets
                .iter()
                .copied()
                .zip(weights.iter().copied())
                .collect();
            entries.sort_by_key(|entry| entry.0);
            for same in entries.chunk_by(|a, b| a.0 == b.0) {
                sorted.targets.push(same[0].0);
                sorted.weights.push(same.iter().map(|entry| entry.1).sum());
            }
            sorted.offsets[row + 1] = sorted.targets.len();
        }
        *self = sorted;
        before - self.targets.len()
    }

    /// Without sums of two signs that came to nothing.
    fn without_zeros(self, counts: &mut LinkCounts) -> Half {
        let zeros = self.weights.iter().filter(|&&weight| weight == 0.0).count();
        if zeros == 0 {
            return self;
        }
        counts.zero += zeros;
        let mut kept = Half::new(self.offsets.len() - 1);
        for row in 0..self.offsets.len() - 1 {
            let (targets, weights) = self.row(row);
            let links = targets.iter().zip(weights).filter(|link| *link.1 != 0.0);
            for (&target, &weight) in links {
                kept.targets.push(target);
                kept.weights.push(weight);
            }
            kept.offsets[row + 1] = kept.targets.len();
        }
        kept
    }
}

/// The two halves as one.
fn join(
    ids: &Ids,
    upper: Half,
    lower: Half,
    duplicates: Duplicates,
    counts: &mut LinkCounts,
) -> Result<Half> {
    if lower.targets.is_empty() {
        return Ok(upper);
    }
    if upper.targets.is_empty() {
        return Ok(lower);
    }
    let same = upper.offsets == lower.offsets
        && upper.targets == lower.targets
        && upper.weights == lower.weights;
    if same {
        counts.merged += lower.targets.len();
        return Ok(upper);
    }
    let mut both = Half::new(ids.len());
    for row in 0..ids.len() {
        for (target, above, below) in aligned(upper.row(row), lower.row(row)) {
            let weight = match duplicates {
                Duplicates::Sum => above.unwrap_or(0.0) + below.unwrap_or(0.0),
                Duplicates::Max => {
                    let stored = above.into_iter().chain(below);
                    stored.fold(f64::NEG_INFINITY, f64::max)
                }
                Duplicates::First => above.or(below).unwrap_or(0.0),
                Duplicates::Error if above == below => continue,
                Duplicates::Error => {
                    return Err(Error::Asymmetric {
                        src: ids.name(row).into_owned(),
                        dst: ids.name(target as usize).into_owned(),
                        forward: above.unwrap_or(0.0),
                        backward: below.unwrap_or(0.0),
                    });
                }
            };
            counts.merged += usize::from(above.is_some() && below.is_some());
            both.targets.push(target);
            both.weights.push(weight);
        }
        both.offsets[row + 1] = both.targets.len();
    }
    Ok(both)
}

type Row<'a> = (&'a [u32], &'a [f64]);

/// The targets of two rows in ascending order, each with its weights.
fn aligned<'a>(a: Row<'a>, b: Row<'a>) -> impl Iterator<Item = (u32, Option<f64>, Option<f64>)> {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let (left, right) = (a.0.get(i).copied(), b.0.get(j).copied());
        let target = left.into_iter().chain(right).min()?;
        let above = (left == Some(target)).then(|| a.1[i]);
        let below = (right == Some(target)).then(|| b.1[j]);
        i += usize::from(above.is_some());
        j += usize::from(below.is_some());
        Some((target, above, below))
    })
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

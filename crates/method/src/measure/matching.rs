//! The best matching between the rows and the columns of a table of counts.

/// The largest total of entries of a `rows` x `columns` table, row after row,
/// with at most one entry from each row and each column.
///
/// The Hungarian algorithm with potentials: the rows are matched one by one,
/// each along the cheapest augmenting path, in `O(r^2 c)` for the shorter side
/// `r` and the longer side `c`.
pub(super) fn best_total(counts: &[u64], rows: usize, columns: usize) -> u64 {
    if rows > columns {
        let transposed: Vec<u64> = (0..columns)
            .flat_map(|column| (0..rows).map(move |row| counts[row * columns + column]))
            .collect();
        return best_total(&transposed, columns, rows);
    }
    let matched = match_rows(counts, rows, columns);
    matched
        .iter()
        .enumerate()
        .filter_map(|(column, row)| row.map(|row| counts[row * columns + column]))
        .sum()
}

/// The row matched with each column; needs `rows <= columns`.
fn match_rows(counts: &[u64], rows: usize, columns: usize) -> Vec<Option<usize>> {
    // The cost of a pair is minus its count. Column number `columns` is a
    // place to start paths from: it holds the row that is being matched.
    let start = columns;
    let mut row_potential = vec![0i64; rows];
    let mut column_potential = vec![0i64; columns + 1];
    let mut matched: Vec<Option<usize>> = vec![None; columns + 1];
    for new_row in 0..rows {
        matched[start] = Some(new_row);
        let mut shortest = vec![i64::MAX; columns];
        let mut previous = vec![start; columns];
        let mut visited = vec![false; columns + 1];
        let mut here = start;
        while let Some(row) = matched[here] {
            visited[here] = true;
            let mut step = i64::MAX;
            let mut nearest = start;
            for column in (0..columns).filter(|&column| !visited[column]) {
                let cost = -(counts[row * columns + column] as i64);
                let reduced = cost - row_potential[row] - column_potential[column];
                if reduced < shortest[column] {
                    shortest[column] = reduced;
                    previous[column] = here;
                }
                if shortest[column] < step {
                    step = shortest[column];
                    nearest = column;
                }
            }
            for column in 0..=columns {
                if visited[column] {
                    if let Some(row) = matched[column] {
                        row_potential[row] += step;
                    }
                    column_potential[column] -= step;
                } else {
                    shortest[column] -= step;
                }
            }
            here = nearest;
        }
        while here != start {
            matched[here] = matched[previous[here]];
            here = previous[here];
        }
    }
    matched.truncate(columns);
    matched
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tries every matching.
    fn by_search(counts: &[u64], rows: usize, columns: usize) -> u64 {
        fn best(counts: &[u64], columns: usize, row: usize, rows: usize, used: u32) -> u64 {
            if row == rows {
                return 0;
            }
            let skipped = best(counts, columns, row + 1, rows, used);
            (0..columns)
                .filter(|column| used & (1 << column) == 0)
                .map(|column| {
                    counts[row * columns + column]
                        + best(counts, columns, row + 1, rows, used | (1 << column))
                })
                .fold(skipped, u64::max)
        }
        best(counts, columns, 0, rows, 0)
    }

    #[test]
    fn greed_does_not_pay() {
        assert_eq!(best_total(&[9, 8, 8, 1], 2, 2), 16);
        assert_eq!(best_total(&[5], 1, 1), 5);
        assert_eq!(best_total(&[1, 7, 3], 1, 3), 7);
        assert_eq!(best_total(&[1, 7, 3], 3, 1), 7);
    }

    proptest! {
        #![proptest_config(crate::support::cases(256))]
        #[test]
        fn the_matching_is_the_best_of_all(
            (rows, columns, counts) in (1usize..6, 1usize..6).prop_flat_map(|(rows, columns)| {
                (Just(rows), Just(columns), prop::collection::vec(0u64..20, rows * columns))
            })
        ) {
            prop_assert_eq!(
                best_total(&counts, rows, columns),
                by_search(&counts, rows, columns)
            );
        }
    }
}

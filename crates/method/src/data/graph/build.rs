//! A graph from a list of links: checked, sorted by rows, pairs listed twice merged.

use rayon::prelude::*;

use super::{Duplicates, Ends, Graph, Link, LinkCounts, LinkRules, SelfLinks, sides};
use crate::data::ids::Ids;
use crate::error::{Error, Result, quote};

/// A listed link under its smaller row.
#[derive(Clone, Copy)]
struct Listed {
    target: u32,
    /// Its place in the list, and in the lowest bit whether its ends were exchanged: so
    /// that a link takes 16 bytes.
    place: u32,
    weight: f64,
}

impl Listed {
    fn is_reversed(&self) -> bool {
        self.place & 1 == 1
    }

    fn place(&self) -> usize {
        (self.place >> 1) as usize
    }
}

/// A graph and where its links were listed.
pub(super) struct Built {
    pub graph: Graph,
    /// Of each link the place of its first listing.
    pub places: Vec<u32>,
    /// The place of each further listing of a pair, and of its first.
    pub repeats: Vec<[usize; 2]>,
}

impl Graph {
    /// Builds a graph; `places` says whether the place of each link in the list is kept.
    pub(super) fn build(
        ids: Ids,
        links: Vec<Link>,
        rules: LinkRules,
        places: bool,
    ) -> Result<Built> {
        let mut counts = LinkCounts {
            listed: links.len(),
            ..LinkCounts::default()
        };
        let (ids, links) = match rules.ends {
            Ends::Alike => (ids, links),
            ends => sides::apart(ids, links, ends, rules.self_links)?,
        };
        let n = ids.len();
        let mut offsets = vec![0usize; n + 1];
        for link in &links {
            check_link(&ids, link, rules.self_links)?;
            counts.zero += usize::from(link.weight == 0.0);
            counts.self_links += usize::from(link.weight != 0.0 && link.src == link.dst);
        }
        // A loop of its own, so that its waits for memory overlap.
        for link in &links {
            let counts = link.weight != 0.0 && link.src != link.dst;
            offsets[link.src.min(link.dst) as usize + 1] += usize::from(counts);
        }
        for row in 0..n {
            offsets[row + 1] += offsets[row];
        }
        let listed = by_row(&links, &offsets);
        drop(links);
        let mut built = merge_rows(&ids, offsets, listed, rules.duplicates, places)?;
        counts.merged = built.graph.counts.merged;
        counts.zero += built.graph.counts.zero;
        built.graph.counts = counts;
        built.graph.ids = ids;
        Ok(built)
    }
}

pub(super) fn not_finite(ids: &Ids, link: &Link) -> Error {
    let [src, dst] = [link.src, link.dst].map(|row| quote(&ids.name(row as usize)));
    let found = format!("weight {} between {src} and {dst}", link.weight);
    Error::links(found, "a finite weight")
}

pub(super) fn check_link(ids: &Ids, link: &Link, self_links: SelfLinks) -> Result<()> {
    let n = ids.len();
    let largest = link.src.max(link.dst) as usize;
    if largest >= n {
        return Err(Error::links(
            format!("row {largest}"),
            format!("rows below the number of nodes, {n}"),
        ));
    }
    if !link.weight.is_finite() {
        return Err(not_finite(ids, link));
    }
    if link.src == link.dst && self_links == SelfLinks::Error {
        let src = ids.name(link.src as usize);
        let found = format!("a link from {} to itself", quote(&src));
        return Err(Error::links(found, "two different nodes").or("or set {self-links=drop}"));
    }
    Ok(())
}

/// The links that count, under their smaller row, in the order of listing.
/// Ranges of rows are filled in parallel, each from a look at all links.
fn by_row(links: &[Link], offsets: &[usize]) -> Vec<Listed> {
    const SMALLEST: usize = 1 << 16;
    const MOST_RANGES: usize = 16;
    let n = offsets.len() - 1;
    let nothing = Listed {
        target: 0,
        place: 0,
        weight: 0.0,
    };
    let mut listed = vec![nothing; offsets[n]];
    let n_ranges = rayon::current_num_threads().min(MOST_RANGES);
    let piece = SMALLEST.max(listed.len().div_ceil(n_ranges));
    let mut ranges = Vec::new();
    let mut rest = listed.as_mut_slice();
    let mut start = 0;
    while start < n {
        let end = offsets.partition_point(|&offset| offset <= offsets[start] + piece);
        let end = (end - 1).clamp(start + 1, n);
        let (part, tail) = rest.split_at_mut(offsets[end] - offsets[start]);
        ranges.push((start..end, part));
        rest = tail;
        start = end;
    }
    ranges.into_par_iter().for_each(|(rows, part)| {
        let first = offsets[rows.start];
        let mut next: Vec<usize> = offsets[rows.clone()].iter().map(|x| x - first).collect();
        for (at, link) in links.iter().enumerate() {
            let row = link.src.min(link.dst) as usize;
            if !rows.contains(&row) || link.weight == 0.0 || link.src == link.dst {
                continue;
            }
            let place = &mut next[row - rows.start];
            part[*place] = Listed {
                target: link.src.max(link.dst),
                place: (at as u32) << 1 | u32::from(link.src > link.dst),
                weight: link.weight,
            };
            *place += 1;
        }
    });
    listed
}

/// The graph of listed links on row numbers, with counts of what was merged.
fn merge_rows(
    ids: &Ids,
    mut offsets: Vec<usize>,
    mut listed: Vec<Listed>,
    duplicates: Duplicates,
    keeps_places: bool,
) -> Result<Built> {
    let mut counts = LinkCounts::default();
    let n = ids.len();
    // Sort every row by target; the sort is stable, so `first` means first listed.
    let mut rows: Vec<&mut [Listed]> = Vec::with_capacity(n);
    let mut rest = listed.as_mut_slice();
    for row in 0..n {
        let (head, tail) = rest.split_at_mut(offsets[row + 1] - offsets[row]);
        rows.push(head);
        rest = tail;
    }
    rows.par_iter_mut()
        .with_min_len(256)
        .for_each(|row| row.sort_by_key(|link| link.target));
    drop(rows);

    let mut targets = Vec::with_capacity(listed.len());
    let mut weights = Vec::with_capacity(listed.len());
    let (mut places, mut repeats) = (Vec::new(), Vec::new());
    let mut start = 0;
    for row in 0..n {
        let end = offsets[row + 1];
        for run in listed[start..end].chunk_by(|a, b| a.target == b.target) {
            let weight = merge_run(ids, row, run, duplicates)?;
            counts.merged += run.len() - 1;
            if weight == 0.0 {
                // Weights of two signs that add up to nothing.
                counts.zero += 1;
                continue;
            }
            targets.push(run[0].target);
            weights.push(weight);
            if keeps_places {
                let first = run[0].place();
                places.push(first as u32);
                repeats.extend(run[1..].iter().map(|again| [again.place(), first]));
            }
        }
        start = end;
        offsets[row + 1] = targets.len();
    }
    Ok(Built {
        graph: Graph {
            ids: Ids::Rows(n),
            offsets: offsets.into(),
            targets: targets.into(),
            weights: weights.into(),
            counts,
            listing: None,
        },
        places,
        repeats,
    })
}

fn merge_run(ids: &Ids, row: usize, run: &[Listed], duplicates: Duplicates) -> Result<f64> {
    if let [one] = run {
        return Ok(one.weight);
    }
    // Once in each direction is no repeat; a third listing is.
    let is_mirrored =
        run[0].is_reversed() != run[1].is_reversed() && run[0].weight == run[1].weight;
    if is_mirrored && run.len() == 2 {
        return Ok(run[0].weight);
    }
    let weights = run.iter().map(|link| link.weight);
    let merged = match duplicates {
        Duplicates::Sum => weights.sum(),
        Duplicates::Max => weights.fold(f64::NEG_INFINITY, f64::max),
        Duplicates::First => run[0].weight,
        Duplicates::Error => {
            let [first, again] = [&run[0], &run[if is_mirrored { 2 } else { 1 }]];
            return Err(Error::DuplicateLink {
                src: ids.name(row).into_owned(),
                dst: ids.name(run[0].target as usize).into_owned(),
                first: first.weight,
                second: again.weight,
                listed: [first, again].map(Listed::place),
            });
        }
    };
    if f64::is_finite(merged) {
        return Ok(merged);
    }
    Err(Error::links(
        format!(
            "a sum of weights beyond the range of numbers between '{}' and '{}'",
            ids.name(row),
            ids.name(run[0].target as usize)
        ),
        "smaller weights",
    ))
}

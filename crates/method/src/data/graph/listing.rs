//! The file that links were read from, so that an error found later names its line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Link;
use crate::error::{Error, quote};

/// The lines on which listed things stand: the place of each run of consecutive lines in
/// the list, and its first line ([example](crate::data)).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    runs: Vec<(usize, u64)>,
    n: usize,
}

impl Lines {
    /// Adds the line of the next thing.
    pub fn push(&mut self, line: u64) {
        if self.next() != Some(line) {
            self.runs.push((self.n, line));
        }
        self.n += 1;
    }

    /// The line after the last.
    fn next(&self) -> Option<u64> {
        let last = self.runs.last();
        last.map(|&(place, line)| line + (self.n - place) as u64)
    }

    /// Appends the lines of further things.
    pub fn extend(&mut self, more: &Lines) {
        let known = more.runs.first().map(|run| run.1);
        let goes_on = usize::from(known.is_some() && known == self.next());
        let runs = more.runs.iter().skip(goes_on);
        self.runs
            .extend(runs.map(|&(place, line)| (self.n + place, line)));
        self.n += more.n;
    }

    /// The line of the thing at a place.
    pub fn line(&self, place: usize) -> Option<u64> {
        let after = self.runs.partition_point(|run| run.0 <= place);
        let (first, line) = *self.runs.get(after.checked_sub(1)?)?;
        Some(line + (place - first) as u64)
    }

    /// The same without the first thing.
    #[must_use]
    pub fn without_first(&self) -> Lines {
        let mut rest = Lines::default();
        (1..self.n)
            .filter_map(|place| self.line(place))
            .for_each(|line| rest.push(line));
        rest
    }
}

/// A file of links and the lines on which they stand, if it has lines
/// ([example](crate::data)).
#[derive(Debug, Clone, Default)]
pub struct LinkFile {
    /// The file.
    pub path: PathBuf,
    /// The lines, in the order of listing.
    pub lines: Lines,
}

/// Where each link of a graph was listed first, in the order of the graph's links.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    pub(super) file: Arc<LinkFile>,
    pub(super) places: Arc<[u32]>,
}

impl LinkFile {
    /// The error of something wrong with the listed link at a place.
    pub(super) fn located(&self, error: Error, place: Option<usize>) -> Error {
        let line = place.and_then(|place| self.lines.line(place));
        match error {
            Error::DuplicateLink {
                src,
                dst,
                first,
                second,
                listed: [before, again],
            } => {
                let earlier = self.lines.line(before);
                let earlier = earlier.map_or_else(String::new, |line| format!(" on line {line}"));
                let found = format!(
                    "the pair {}, {} again, with weight {second}, after weight {first}{earlier}",
                    quote(&src),
                    quote(&dst)
                );
                Error::input(&self.path, self.lines.line(again), found, "each pair once")
                    .or("or set {duplicates=sum|max|first}")
            }
            Error::UnknownNode {
                id, missing, of, ..
            } => Error::UnknownNode {
                id,
                missing,
                of,
                file: Some((self.path.clone(), line)),
            },
            other => other.in_file(&self.path, line),
        }
    }
}

impl super::Graph {
    /// The place of a link in the list that the graph was read from, by its place in the
    /// order of [`links`](super::Graph::links); none if the graph was not read from a file.
    pub fn listed(&self, place: usize) -> Option<usize> {
        let listing = self.listing.as_ref()?;
        listing.places.get(place).map(|&listed| listed as usize)
    }

    /// An error about one of the links, with the file and line where it was listed first.
    /// Of a graph that was not read from a file the error stays as it is.
    #[must_use]
    pub fn located(&self, error: Error, is_wrong: impl Fn(&Link) -> bool) -> Error {
        let Some(listing) = &self.listing else {
            return error;
        };
        let wrong = self.links().zip(listing.places.iter());
        let wrong = wrong.filter(|(link, _)| is_wrong(link));
        let first = wrong.map(|(_, &place)| place as usize).min();
        listing.file.located(error, first)
    }

    /// The file that the graph was read from.
    pub fn file(&self) -> Option<&Path> {
        self.listing.as_ref().map(|listing| &*listing.file.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_runs() {
        let mut lines = Lines::default();
        for line in [2, 3, 4, 7, 8] {
            lines.push(line);
        }
        assert_eq!(lines.runs, [(0, 2), (3, 7)]);
        let mut more = Lines::default();
        [9, 10, 20].into_iter().for_each(|line| more.push(line));
        lines.extend(&more);
        lines.extend(&Lines::default());
        assert_eq!(lines.runs, [(0, 2), (3, 7), (7, 20)]);
        assert_eq!(lines.line(6), Some(10));
        assert_eq!(lines.without_first().line(0), Some(3));
        assert_eq!(Lines::default().line(0), None);
    }
}

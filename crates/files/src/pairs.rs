//! Pairs of nodes from delimited text, as the user wrote them.

use std::path::Path;

use super::columns;
use super::link_text::{LinkColumns, names_no_nodes};
use super::source::{Source, extensions};
use super::text::{BLOCK, Blocks, number};
use linkproof_method::data::graph::Link;
use linkproof_method::data::ids::{Ids, Names};
use linkproof_method::error::{Error, Result};

/// Pairs of ids in the order of their file. A pair may be listed again, and
/// its ends may be the same.
#[derive(Debug, Clone, Default)]
pub struct PairList {
    names: Names,
    pairs: Vec<ListedPair>,
}

/// One line of a [`PairList`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedPair {
    /// The first end, as a row of [`PairList::names`].
    pub src: u32,
    /// The second end.
    pub dst: u32,
    /// The line in the file, counted from 1.
    pub line: u64,
}

impl PairList {
    /// The distinct ids, in order of first appearance.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The pairs.
    pub fn pairs(&self) -> &[ListedPair] {
        &self.pairs
    }

    /// Without its first line, where that is a header by the rule of links and neither of
    /// its names is a node.
    pub fn without_header(self, is_node: impl Fn(&str) -> bool) -> PairList {
        let link = |pair: &ListedPair| Link {
            src: pair.src,
            dst: pair.dst,
            weight: 1.0,
        };
        let links: Vec<Link> = self.pairs.iter().map(link).collect();
        let ids = Ids::from(self.names);
        let first = links.first().map(|link| [link.src, link.dst]);
        let is_known = |row: u32| is_node(&ids.name(row as usize));
        let known = first.is_none_or(|ends| ends.into_iter().any(is_known));
        if known || !names_no_nodes(&ids, &links) {
            let names = (0..ids.len() as u32).collect::<Vec<_>>();
            return PairList {
                names: ids.select(&names),
                pairs: self.pairs,
            };
        }
        // Its two names were the first, and no other pair has them.
        let rest: Vec<u32> = (2..ids.len() as u32).collect();
        let shifted = self.pairs[1..].iter().map(|pair| ListedPair {
            src: pair.src - 2,
            dst: pair.dst - 2,
            ..*pair
        });
        PairList {
            names: ids.select(&rest),
            pairs: shifted.collect(),
        }
    }
}

/// Reads pairs: CSV, TSV or other text `src,dst`, with or without header,
/// plain, `.gz` or `.zst`. A third column, the weight in a file of links, is
/// passed over.
pub fn read_pairs(path: impl AsRef<Path>) -> Result<PairList> {
    let path = path.as_ref();
    if matches!(
        extensions(path).1.as_str(),
        "parquet" | "pq" | "mtx" | "npy"
    ) {
        let expected = "pairs as CSV or TSV: src,dst";
        return Err(Error::input(
            path,
            None,
            "a file of another format",
            expected,
        ));
    }
    let nothing = || Error::input(path, None, "no pairs", "at least one line: src,dst");
    let mut blocks = Blocks::open(Source::open(path)?, BLOCK)?;
    let (first_line, first) = blocks.first_record()?.ok_or_else(nothing)?;
    if !matches!(first.len(), 2 | 3) {
        let expected = format!("2 between {}: src, dst", blocks.delimiter().words());
        return Err(Error::input(
            path,
            first_line,
            columns(first.len()),
            expected,
        ));
    }
    let (layout, header) = layout(&first);
    let mut list = PairList::default();
    blocks.visit(|line, fields| {
        if fields.len() != first.len() {
            let expected = format!("{}, as on the first line", first.len());
            return Err(Error::input(path, line, columns(fields.len()), expected));
        }
        if header && line == first_line {
            return Ok(true);
        }
        let ends = [layout.src, layout.dst].map(|column| &fields[column]);
        if ends.iter().any(|id| id.is_empty()) {
            let expected = "an id at both ends of the pair";
            return Err(Error::input(path, line, "an empty node id", expected));
        }
        let [src, dst] = ends.map(|id| list.names.insert(id));
        list.pairs.push(ListedPair { src, dst, line });
        Ok(true)
    })?;
    if list.pairs.is_empty() {
        return Err(nothing());
    }
    Ok(list)
}

/// Which columns hold the ends, and whether the first line says so: its names
/// are known, or what should be its weight is not a number.
fn layout(first: &[String]) -> (LinkColumns, bool) {
    match LinkColumns::by_name(first) {
        Some(layout) => (layout, true),
        None => {
            let in_words = |text: &String| !text.is_empty() && number(text).is_none();
            let header = first.get(2).is_some_and(in_words);
            (LinkColumns::in_order(first.len()), header)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(name: &str, text: &str) -> Result<Vec<(String, String, u64)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let list = read_pairs(&path)?;
        let name = |row: u32| list.names().name(row as usize).to_owned();
        let pairs = list.pairs().iter();
        Ok(pairs.map(|p| (name(p.src), name(p.dst), p.line)).collect())
    }

    #[test]
    fn order_repeats_and_ids_stay_as_written() {
        let expected = |first: u64| {
            let listed = [("b", "a,1"), ("a,1", "b"), ("b", "a,1"), ("07", "07")];
            let rows = listed.iter().zip(first..);
            rows.map(|(&(a, b), line)| (a.to_owned(), b.to_owned(), line))
                .collect::<Vec<_>>()
        };
        let rows = "b,\"a,1\"\n\"a,1\",b\nb,\"a,1\"\n07,07\n";
        assert_eq!(pairs("p.csv", rows).unwrap(), expected(1));
        let headed = format!("source,target\n{rows}");
        assert_eq!(pairs("p.csv", &headed).unwrap(), expected(2));
        let weighted = "w,dst,src\n1,y,x\n";
        let one = vec![("x".to_owned(), "y".to_owned(), 2)];
        assert_eq!(pairs("p.csv", weighted).unwrap(), one);
        assert_eq!(pairs("p.tsv", "a\tb\tmu\nx\ty\t-3\n").unwrap(), one);
    }

    #[test]
    fn a_header_of_unknown_names_is_told_by_the_nodes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        std::fs::write(&path, "upper half,lower half\nt1,b2\nt2,b1\nt1,b3\n").unwrap();
        let read = || read_pairs(&path).unwrap();
        let found = read().without_header(|id| id.starts_with('t') || id.starts_with('b'));
        let first = found.pairs()[0];
        assert_eq!((found.pairs().len(), first.line), (3, 2));
        assert_eq!(found.names().name(first.src as usize), "t1");
        assert_eq!(found.names().name(first.dst as usize), "b2");
        // One that the model knows stays.
        assert_eq!(
            read().without_header(|id| id == "upper half").pairs().len(),
            4
        );
    }

    #[test]
    fn wrong_pairs_name_their_line() {
        for (name, text, line, what) in [
            ("p.csv", "", None, "no pairs"),
            ("p.csv", "src,dst\n", None, "no pairs"),
            ("p.csv", "a\n", Some(1), "1 column"),
            ("p.csv", "a,b\n\nc\n", Some(3), "1 column"),
            ("p.csv", "a,b\nc,\n", Some(2), "empty node id"),
            ("p.mtx", "", None, "another format"),
        ] {
            let Error::Input {
                line: at, found, ..
            } = pairs(name, text).unwrap_err()
            else {
                panic!("{text}");
            };
            assert_eq!(at, line, "{text}");
            assert!(found.contains(what), "{found}");
        }
    }
}

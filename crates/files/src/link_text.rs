//! Links in delimited text: which column is which, and each line checked.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::columns;
use super::evidence::{self, is_apart};
use super::intern::{BlockLinks, Interner};
use super::record::{Block, Delimiter, Records};
use super::source::Source;
use super::text::{Blocks, number};
use linkproof_method::data::graph::{Lines, Link, SelfLinks};
use linkproof_method::data::ids::Ids;
use linkproof_method::error::{Error, Result, quote};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// One end.
    Src,
    /// The other end.
    Dst,
    /// The weight.
    Weight,
}

/// The role that a column's name tells, if it is a known name.
pub(super) fn role(name: &str) -> Option<Role> {
    match name.to_ascii_lowercase().as_str() {
        "src" | "source" | "from" | "u" | "i" | "head" | "node1" | "id1" => Some(Role::Src),
        "dst" | "target" | "to" | "v" | "j" | "tail" | "node2" | "id2" => Some(Role::Dst),
        "weight" | "w" | "value" | "count" => Some(Role::Weight),
        _ => None,
    }
}

/// Which column holds what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinkColumns {
    pub(super) src: usize,
    pub(super) dst: usize,
    pub(super) weight: Option<usize>,
}

impl LinkColumns {
    /// The layout that names tell, when they are all known and make sense.
    pub(super) fn by_name<S: AsRef<str>>(names: &[S]) -> Option<LinkColumns> {
        let roles: Option<Vec<Role>> = names.iter().map(|name| role(name.as_ref())).collect();
        let roles = roles?;
        let place = |wanted| roles.iter().position(|&role| role == wanted);
        let layout = LinkColumns {
            src: place(Role::Src)?,
            dst: place(Role::Dst)?,
            weight: place(Role::Weight),
        };
        (layout.n_columns() == names.len()).then_some(layout)
    }

    /// The columns that are known by name among others, when it is clear which they are.
    fn among<S: AsRef<str>>(names: &[S]) -> Option<LinkColumns> {
        let place = |wanted| {
            let is = |name: &S| role(name.as_ref()) == Some(wanted);
            let mut places = (0..names.len()).filter(|&place| is(&names[place]));
            (places.next(), places.next().is_some())
        };
        match [Role::Src, Role::Dst, Role::Weight].map(place) {
            [(Some(src), false), (Some(dst), false), (weight, false)] => {
                Some(LinkColumns { src, dst, weight })
            }
            _ => None,
        }
    }

    /// `src, dst[, weight]`.
    pub(super) fn in_order(n_columns: usize) -> LinkColumns {
        LinkColumns {
            src: 0,
            dst: 1,
            weight: (n_columns > 2).then_some(2),
        }
    }

    fn n_columns(self) -> usize {
        2 + usize::from(self.weight.is_some())
    }
}

/// One link as written.
struct Row<'f> {
    src: &'f str,
    dst: &'f str,
    weight: f64,
}

/// How to read the rows of one file.
struct RowReader {
    path: PathBuf,
    delimiter: Delimiter,
    layout: LinkColumns,
    /// The fields of the first line.
    first: Vec<String>,
    header: Option<u64>,
    /// The columns that are evidence.
    evidence: Vec<usize>,
    self_links: SelfLinks,
}

impl RowReader {
    /// Looks at the first line of a file, of which some columns are evidence and no weight.
    fn new(blocks: &mut Blocks, self_links: SelfLinks, evidence: &[String]) -> Result<RowReader> {
        let path = blocks.path().to_owned();
        let delimiter = blocks.delimiter();
        let Some((line, first)) = blocks.first_record()? else {
            return Err(no_links(&path, "an empty file: no links"));
        };
        let among = LinkColumns::among(&first).filter(|_| first.len() > 3);
        let (layout, is_header) = match (among, first.len()) {
            (Some(layout), _) => (layout, true),
            (None, 2 | 3) if !is_markup(&first) => layout(&path, line, &first)?,
            _ => return Err(no_table(&path, line, &first, delimiter)),
        };
        let is_weight = |&at: &usize| !is_header || !is_apart(&first[at], evidence);
        let layout = LinkColumns {
            weight: layout.weight.filter(is_weight),
            ..layout
        };
        if !evidence.is_empty() && !is_header {
            let found = format!("{}, which is no header", quote(&first.join(",")));
            let expected = format!("a header with src, dst and {}", evidence.join(", "));
            return Err(Error::input(&path, line, found, expected));
        }
        Ok(RowReader {
            evidence: evidence::places(&path, &first, layout, evidence)?,
            path,
            delimiter,
            layout,
            first,
            header: is_header.then_some(line),
            self_links,
        })
    }

    /// One record as a link; `None` for the header.
    fn row<'f>(&self, line: u64, fields: &'f [Cow<'_, str>]) -> Result<Option<Row<'f>>> {
        if fields.len() != self.first.len() {
            return Err(Error::input(
                &self.path,
                line,
                columns(fields.len()),
                format!("{}, as on the first line", self.first.len()),
            ));
        }
        if self.header == Some(line) {
            return Ok(None);
        }
        let row = Row {
            src: &fields[self.layout.src],
            dst: &fields[self.layout.dst],
            weight: match self.layout.weight {
                None => 1.0,
                Some(column) => weight(&self.path, line, &fields[column])?,
            },
        };
        if row.src.is_empty() || row.dst.is_empty() {
            return Err(Error::input(
                &self.path,
                line,
                "an empty node id",
                "an id at both ends of the link",
            ));
        }
        if row.src == row.dst && self.self_links == SelfLinks::Error {
            return Err(self_link(&self.path, line, row.src));
        }
        Ok(Some(row))
    }

    fn block(&self, known: &Interner, block: &Block) -> Result<BlockLinks> {
        let mut found = BlockLinks::default();
        let mut fields = Vec::with_capacity(4);
        let mut records = Records::new(block, &self.path, self.delimiter)?;
        while let Some(line) = records.next(&mut fields)? {
            if let Some(row) = self.row(line, &fields)? {
                found.push(known, row.src, row.dst, row.weight);
                found.lines.push(line);
                for &at in &self.evidence {
                    let about = evidence::number(&self.path, line, &self.first[at], &fields[at])?;
                    found.evidence.push(about);
                }
            }
        }
        Ok(found.finish(known))
    }
}

/// The links of a file, before they become a graph.
pub(super) struct Listed {
    pub(super) ids: Ids,
    pub(super) links: Vec<Link>,
    pub(super) lines: Lines,
    /// Numbers about the links, so many for each.
    pub(super) evidence: Vec<f64>,
    /// The first line, if it was left out: its names are no known ones of columns, and no
    /// nodes either.
    pub(super) header: Option<String>,
    /// The columns that hold neither ends nor weights.
    pub(super) passed_over: usize,
}

impl Listed {
    /// Links between nodes of one kind, of a file that has no lines.
    pub(super) fn new(ids: Ids, links: Vec<Link>) -> Listed {
        Listed {
            ids,
            links,
            lines: Lines::default(),
            evidence: Vec::new(),
            header: None,
            passed_over: 0,
        }
    }
}

/// Reads all links of a text file in blocks of `size` bytes.
pub(super) fn read(
    source: Source,
    self_links: SelfLinks,
    evidence: &[String],
    size: usize,
) -> Result<Listed> {
    let mut blocks = Blocks::open(source, size)?;
    let reader = RowReader::new(&mut blocks, self_links, evidence)?;
    let mut ids = Interner::default();
    let mut listed = Listed::new(Ids::Rows(0), Vec::new());
    listed.passed_over = reader.first.len() - reader.layout.n_columns();
    blocks.fold(
        &mut ids,
        |ids, block| reader.block(ids, block),
        |ids, mut found| {
            listed.lines.extend(&found.lines);
            listed.evidence.append(&mut found.evidence);
            ids.merge(found, &mut listed.links)
        },
    )?;
    if listed.links.is_empty() {
        return Err(no_links(&reader.path, "no links, only a header"));
    }
    listed.ids = ids.into_ids();
    let may_be_header = reader.header.is_none() && reader.layout.weight.is_none();
    if !(may_be_header && names_no_nodes(&listed.ids, &listed.links)) {
        return Ok(listed);
    }
    // Its two names were the first, and no other link has them.
    let rest: Vec<u32> = (2..listed.ids.len() as u32).collect();
    listed.links.remove(0);
    for link in &mut listed.links {
        link.src -= 2;
        link.dst -= 2;
    }
    Ok(Listed {
        ids: Ids::from(listed.ids.select(&rest)),
        lines: listed.lines.without_first(),
        header: Some(reader.first.join(",")),
        passed_over: 0,
        ..listed
    })
}

/// Whether the first of the links is a header: `user,item` above numbers. Names that
/// come again below are nodes; so are names like those below, for `alice,bob` may be a
/// link like any other. Names of columns are unlike ids: words above numbers, or words
/// without a digit above codes that all have one.
pub(super) fn names_no_nodes(ids: &Ids, links: &[Link]) -> bool {
    /// So few codes may have digits by chance.
    const FEWEST_CODES: usize = 3;
    let Some((first, rest)) = links.split_first() else {
        return false;
    };
    let name = |row: u32| ids.name(row as usize);
    let is_number = |row: u32| number(&name(row)).is_some();
    let has_digit = |row: u32| name(row).bytes().any(|byte| byte.is_ascii_digit());
    let ends = [first.src, first.dst];
    if rest.is_empty() || first.src == first.dst || ends.into_iter().any(is_number) {
        return false;
    }
    let all = |is_so: &dyn Fn(&Link) -> bool| rest.iter().all(is_so);
    let above_numbers = all(&|link| is_number(link.src)) || all(&|link| is_number(link.dst));
    let above_codes = || {
        rest.len() >= FEWEST_CODES
            && !ends.into_iter().any(has_digit)
            && all(&|link| has_digit(link.src) && has_digit(link.dst))
    };
    (above_numbers || above_codes())
        && all(&|link| !ends.contains(&link.src) && !ends.contains(&link.dst))
}

fn layout(path: &Path, line: u64, first: &[String]) -> Result<(LinkColumns, bool)> {
    if let Some(layout) = LinkColumns::by_name(first) {
        return Ok((layout, true));
    }
    let layout = LinkColumns::in_order(first.len());
    let header = first
        .get(2)
        .is_some_and(|weight| !weight.is_empty() && number(weight).is_none());
    let order = [Role::Src, Role::Dst, Role::Weight];
    let fits = |(name, expected): (&String, Role)| match role(name) {
        None => true,
        Some(found) => (found == Role::Weight) == (expected == Role::Weight),
    };
    if header && !first.iter().zip(order).all(fits) {
        return Err(Error::input(
            path,
            line,
            format!(
                "a header {} of which not every name is known",
                quote(&first.join(","))
            ),
            "src, dst and weight in any order, or any names in that order",
        ));
    }
    Ok((layout, header))
}

fn weight(path: &Path, line: u64, text: &str) -> Result<f64> {
    match number(text) {
        Some(weight) if weight.is_finite() => Ok(weight),
        _ => Err(bad_weight(path, line, text)),
    }
}

/// Whether a first line is the beginning of XML or HTML.
fn is_markup(first: &[String]) -> bool {
    first.first().is_some_and(|field| field.starts_with('<'))
}

/// A first line that is none of a table of links, and what it may be instead.
fn no_table(path: &Path, line: u64, first: &[String], delimiter: Delimiter) -> Error {
    let table = format!(
        "2 or 3 between {}: src, dst and perhaps weight",
        delimiter.words()
    );
    let (found, expected) = match first {
        _ if is_markup(first) => (
            "XML".to_owned(),
            "a table src,dst[,weight], as networkx.write_weighted_edgelist writes one".to_owned(),
        ),
        [only] if only.contains(';') => (
            "1 column, with semicolons in it".to_owned(),
            format!("{table} (write it with commas)"),
        ),
        [_, _, _, _, ..] => (
            columns(first.len()),
            format!(
                "{table}; or a header that calls one column src, one dst and perhaps one weight"
            ),
        ),
        _ => (columns(first.len()), table),
    };
    Error::input(path, line, found, expected)
}

/// A weight that is not a finite number.
fn bad_weight(path: &Path, line: u64, text: &str) -> Error {
    Error::input(
        path,
        line,
        format!("weight {}", quote(text)),
        "a finite number",
    )
}

/// A self-link where that is an error.
pub(super) fn self_link(path: &Path, line: u64, id: &str) -> Error {
    Error::input(
        path,
        line,
        format!("a link from {} to itself", quote(id)),
        "two different nodes",
    )
    .or("or set {self-links=drop}")
}

/// A file without links.
pub(super) fn no_links(path: &Path, found: &str) -> Error {
    Error::input(path, None, found, "at least one link: src,dst[,weight]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_links;
    use linkproof_method::data::graph::Graph;

    fn read(name: &str, text: &str) -> Result<Graph> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read_links(&path, &Default::default())
    }

    fn listing(graph: &Graph) -> Vec<String> {
        let name = |row: u32| graph.ids().name(row as usize);
        let line = |link: Link| format!("{} {} {}", name(link.src), name(link.dst), link.weight);
        graph.links().map(line).collect()
    }

    #[test]
    fn known_columns_are_found_among_others() {
        let graph = read(
            "l.csv",
            ",year,src,dst,weight\n0,1999,a,b,2\n1,2001,b,c,3\n",
        )
        .unwrap();
        assert_eq!(listing(&graph), ["a b 2", "b c 3"]);
        assert_eq!(graph.counts().columns, 2);
        let unweighted = read("l.csv", "id,source,target,kind\n0,a,b,x\n").unwrap();
        assert_eq!(listing(&unweighted), ["a b 1"]);
        for (text, found, expected) in [
            // Which of two weights?
            (
                "src,dst,count,value\na,b,1,2\n",
                "4 columns",
                "calls one column src",
            ),
            (
                "word_a,word_b,year,count\na,b,1,2\n",
                "4 columns",
                "calls one column src",
            ),
            ("a;b;1\n", "semicolons", "with commas"),
            (
                "<?xml version='1.0' encoding='utf-8'?>\n<graphml>\n",
                "XML",
                "write_weighted_edgelist",
            ),
        ] {
            for name in ["l.csv", "l.graphml"] {
                let error = read(name, text).unwrap_err().to_string();
                let both = error.contains(found) && error.contains(expected);
                assert!(both || name == "l.graphml" && found != "XML", "{error}");
            }
        }
    }
}

//! Links that a person has verified: read, resolved and kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::link_text::{Role, role};
use crate::source::Source;
use crate::text::{BLOCK, Blocks, number};
use crate::{Field, write_table};
use linkproof_method::data::graph::Graph;
use linkproof_method::data::ids::Side;
use linkproof_method::error::{Error, Result, quote};
use linkproof_method::judge;

/// The columns of a file of verified links.
const COLUMNS: [&str; 3] = ["src", "dst", "real"];

/// One line of a file of verified links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCheck {
    /// The id of one end.
    pub src: String,
    /// The id of the other end.
    pub dst: String,
    /// Whether the link is real.
    pub real: bool,
    /// The line in the file, counted from 1.
    pub line: u64,
}

/// A file of verified links.
#[derive(Debug, Clone)]
pub struct VerifiedLinks {
    path: PathBuf,
    /// The lines that say something.
    pub checks: Vec<ListedCheck>,
}

/// Reads verified links: CSV or TSV with columns `src`, `dst` and `real` (1, 0 or empty) in
/// any order among others, or these three without a header.
pub fn read_checks(path: impl AsRef<Path>) -> Result<VerifiedLinks> {
    let path = path.as_ref();
    let mut blocks = Blocks::open(Source::open(path)?, BLOCK)?;
    let Some((first_line, first)) = blocks.first_record()? else {
        return Err(no_columns(path, None, "an empty file".to_owned()));
    };
    let named = by_name(&first);
    let [src, dst, real] = match named {
        Some(places) => places,
        None if first.len() == 3 && answer(&first[2]).is_some() => [0, 1, 2],
        None => {
            let found = format!("columns {}", quote(&first.join(",")));
            return Err(no_columns(path, Some(first_line), found));
        }
    };
    let mut checks = Vec::new();
    blocks.visit(|line, fields| {
        if fields.len() != first.len() {
            let expected = format!("{}, as on the first line", first.len());
            let found = crate::columns(fields.len());
            return Err(Error::input(path, line, found, expected));
        }
        if named.is_some() && line == first_line {
            return Ok(true);
        }
        let Some(answer) = answer(&fields[real]) else {
            let found = format!("{} in the column 'real'", quote(&fields[real]));
            let expected = "1 (real), 0 (false) or nothing";
            return Err(Error::input(path, line, found, expected));
        };
        if let Some(real) = answer {
            checks.push(ListedCheck {
                src: fields[src].to_string(),
                dst: fields[dst].to_string(),
                real,
                line,
            });
        }
        Ok(true)
    })?;
    Ok(VerifiedLinks {
        path: path.to_owned(),
        checks,
    })
}

/// The places of the three columns in a header.
fn by_name(first: &[String]) -> Option<[usize; 3]> {
    let place = |is: &dyn Fn(&str) -> bool| first.iter().position(|name| is(name));
    let src = place(&|name| role(name) == Some(Role::Src))?;
    let dst = place(&|name| role(name) == Some(Role::Dst))?;
    let real = place(&|name| name.eq_ignore_ascii_case(COLUMNS[2]))?;
    Some([src, dst, real])
}

/// What a field says: real, false or nothing; none if it is none of these. Programs that
/// know no missing whole numbers write 1 as 1.0.
fn answer(field: &str) -> Option<Option<bool>> {
    match field.trim() {
        "" => Some(None),
        field => match number(field)? {
            1.0 => Some(Some(true)),
            0.0 => Some(Some(false)),
            _ => None,
        },
    }
}

fn no_columns(path: &Path, line: Option<u64>, found: String) -> Error {
    Error::input(path, line, found, "columns src, dst and real")
}

/// Verified links that were kept, extended by new ones.
#[derive(Debug, Clone, Default)]
pub struct MergedChecks {
    /// Those about links, for the judge.
    pub checks: Vec<judge::Check>,
    /// How many kept ones a new one contradicts and replaces.
    pub replaced: usize,
    /// How many kept ones are about pairs that are no links.
    pub not_links: usize,
    listed: Vec<(String, String, bool)>,
    /// Whether `a, b` and `b, a` are two links.
    has_sides: bool,
}

/// Both ends of a pair in one order.
type Pair = (String, String);

fn pair(has_sides: bool, listed: &ListedCheck) -> Pair {
    let (src, dst) = (listed.src.clone(), listed.dst.clone());
    match dst < src && !has_sides {
        true => (dst, src),
        false => (src, dst),
    }
}

/// One answer for each pair.
///
/// # Errors
/// A pair that is marked both ways.
fn answers(has_sides: bool, file: &VerifiedLinks) -> Result<BTreeMap<Pair, (bool, u64)>> {
    let mut known: BTreeMap<Pair, (bool, u64)> = BTreeMap::new();
    for listed in &file.checks {
        let now = (listed.real, listed.line);
        let before = *known.entry(pair(has_sides, listed)).or_insert(now);
        if before.0 != now.0 {
            let (src, dst) = (quote(&listed.src), quote(&listed.dst));
            let said = |real| if real { "real" } else { "false" };
            let found = format!(
                "the pair {src}, {dst} as {}, after {} on line {}",
                said(now.0),
                said(before.0),
                before.1
            );
            return Err(Error::input(
                &file.path,
                now.1,
                found,
                "one answer for each pair",
            ));
        }
    }
    Ok(known)
}

/// The rows of the ends of a link between two ids.
fn ends(links: &Graph, src: &str, dst: &str) -> Option<[u32; 2]> {
    let src = links.ids().row_on(Side::Source, src)?;
    let dst = links.ids().row_on(Side::Target, dst)?;
    links.place(src, dst).map(|_| [src.min(dst), src.max(dst)])
}

/// Refuses a pair that is no link.
fn check_link(links: &Graph, file: &VerifiedLinks, listed: &ListedCheck) -> Result<()> {
    if ends(links, &listed.src, &listed.dst).is_some() {
        return Ok(());
    }
    let ends = [(Side::Source, &listed.src), (Side::Target, &listed.dst)];
    let mut unknown = ends
        .into_iter()
        .filter(|(side, id)| links.ids().row_on(*side, id).is_none());
    let found = match unknown.next() {
        Some((_, id)) => format!("node {}, which no link has", quote(id)),
        None => {
            let (src, dst) = (quote(&listed.src), quote(&listed.dst));
            format!("the pair {src}, {dst}, which is no link")
        }
    };
    let expected = "links of the graph that is judged";
    Err(Error::input(&file.path, listed.line, found, expected))
}

impl MergedChecks {
    /// Extends kept checks by new ones, all about `links` between the user's rows.
    ///
    /// # Errors
    /// A file that marks a pair both ways, and a new check on a pair that is no link.
    pub fn new(
        links: &Graph,
        kept: Option<&VerifiedLinks>,
        new: Option<&VerifiedLinks>,
    ) -> Result<MergedChecks> {
        let has_sides = links.ids().sides().is_some();
        let mut merged = MergedChecks {
            has_sides,
            ..MergedChecks::default()
        };
        let old = kept.map(|file| answers(has_sides, file)).transpose()?;
        let mut all = old.unwrap_or_default();
        if let Some(file) = new {
            let mut listed = file.checks.iter();
            listed.try_for_each(|listed| check_link(links, file, listed))?;
            for (pair, answer) in answers(has_sides, file)? {
                let before = all.insert(pair, answer);
                let replaces = before.is_some_and(|before| before.0 != answer.0);
                merged.replaced += usize::from(replaces);
            }
        }
        for ((src, dst), (real, _)) in all {
            match ends(links, &src, &dst) {
                Some([src, dst]) => merged.checks.push(judge::Check { src, dst, real }),
                None => merged.not_links += 1,
            }
            merged.listed.push((src, dst, real));
        }
        Ok(merged)
    }

    /// Writes all of them as `src,dst,real`.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        write_table(path, &COLUMNS, |rows| {
            for (src, dst, real) in &self.listed {
                let real = Field::Whole(u64::from(*real));
                rows.row(&[Field::Text(src), Field::Text(dst), real])?;
            }
            Ok(())
        })
    }

    /// Whether a check of a file is among them with this answer.
    pub fn has(&self, listed: &ListedCheck) -> bool {
        let (src, dst) = pair(self.has_sides, listed);
        self.listed.binary_search(&(src, dst, listed.real)).is_ok()
    }
}

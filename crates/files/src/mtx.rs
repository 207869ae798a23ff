//! MatrixMarket `.mtx`: coordinate matrices as links or sparse data vectors,
//! array matrices as dense data vectors.

use std::borrow::Cow;
use std::path::Path;

use hashbrown::HashSet;

use super::link_text::{Listed, no_links, self_link};
use super::record::{Block, Delimiter, Records};
use super::source::Source;
use super::text::{Blocks, number};
use linkproof_method::data::features::Matrix;
use linkproof_method::data::graph::{Lines, Link, SelfLinks};
use linkproof_method::data::ids::Ids;
use linkproof_method::error::{Error, Result, quote};

/// Larger sizes are taken for damage: rows must fit a row number.
const MOST_ROWS: usize = 1 << 31;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Banner {
    coordinate: bool,
    pattern: bool,
    symmetric: bool,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    banner: Banner,
    n_rows: usize,
    n_columns: usize,
    n_entries: usize,
    size_line: u64,
}

/// Links between the nodes `0..n` of a square coordinate matrix.
pub(super) fn read_links(source: Source, self_links: SelfLinks, size: usize) -> Result<Listed> {
    let path = &source.path().to_owned();
    let (head, blocks) = open_links(source, size)?;
    let check = |line, link: &Link| {
        if link.src == link.dst && self_links == SelfLinks::Error {
            let id = format!("{} (index {})", link.src, u64::from(link.src) + 1);
            return Err(self_link(path, line, &id));
        }
        Ok(())
    };
    let (links, lines) = read_entries(path, &head, blocks, check)?;
    if links.is_empty() {
        return Err(no_links(path, "a matrix with no entries: no links"));
    }
    Ok(Listed {
        lines,
        ..Listed::new(Ids::Rows(head.n_rows), links)
    })
}

/// A matrix of data vectors: sparse from coordinates, dense from an array.
pub(super) fn read_matrix(source: Source, size: usize) -> Result<Matrix> {
    let path = &source.path().to_owned();
    let (head, blocks) = open(source, size)?;
    if !head.banner.coordinate {
        return read_array(path, &head, blocks);
    }
    let (entries, lines) = read_entries(path, &head, blocks, |_, _| Ok(()))?;
    let mirrored = |link: &Link| head.banner.symmetric && link.src != link.dst;
    let mut offsets = vec![0usize; head.n_rows + 1];
    for link in &entries {
        offsets[link.src as usize + 1] += 1;
        if mirrored(link) {
            offsets[link.dst as usize + 1] += 1;
        }
    }
    for row in 0..head.n_rows {
        offsets[row + 1] += offsets[row];
    }
    let n_stored = offsets[head.n_rows];
    let mut next = offsets.clone();
    let mut columns = vec![0u32; n_stored];
    let mut values = vec![0f64; n_stored];
    let mut put = |row: u32, column: u32, value: f64| {
        let place = &mut next[row as usize];
        columns[*place] = column;
        values[*place] = value;
        *place += 1;
    };
    for link in &entries {
        put(link.src, link.dst, link.weight);
        if mirrored(link) {
            put(link.dst, link.src, link.weight);
        }
    }
    Matrix::sparse(head.n_columns, offsets, columns, values).map_err(|error| {
        let repeat = repeated_entry(&head, &entries);
        repeat.map_or(error.in_file(path, None), |place| {
            let entry = entries[place];
            let (row, column) = (u64::from(entry.src) + 1, u64::from(entry.dst) + 1);
            let found = format!("the entry {row} {column} again");
            Error::input(path, lines.line(place), found, "each entry once")
        })
    })
}

/// The place of the first entry that has been listed before.
fn repeated_entry(head: &Head, entries: &[Link]) -> Option<usize> {
    let mut seen = HashSet::new();
    entries.iter().position(|entry| {
        let place = match head.banner.symmetric {
            true => (entry.src.max(entry.dst), entry.src.min(entry.dst)),
            false => (entry.src, entry.dst),
        };
        !seen.insert(place)
    })
}

fn open(source: Source, size: usize) -> Result<(Head, Blocks)> {
    let mut blocks = Blocks::plain(source, size)?;
    let path = &blocks.path().to_owned();
    let first = blocks.take_line()?.map(|(_, line)| line);
    let text = String::from_utf8_lossy(first.as_deref().unwrap_or_default()).into_owned();
    let banner = banner(path, text.trim())?;
    while let Some((line, bytes)) = blocks.take_line()? {
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        if !text.is_empty() && !text.starts_with('%') {
            let head = head(path, line, text, banner)?;
            return Ok((head, blocks));
        }
    }
    Err(Error::input(
        path,
        None,
        "no size line",
        "a line with the numbers of rows, columns and entries after the comments",
    ))
}

fn open_links(source: Source, size: usize) -> Result<(Head, Blocks)> {
    let (head, blocks) = open(source, size)?;
    let path = blocks.path();
    let wrong = |line, found: String, expected| Err(Error::input(path, line, found, expected));
    if !head.banner.coordinate {
        return wrong(
            1,
            "an array matrix".to_owned(),
            "a coordinate matrix, for links",
        );
    }
    if head.n_rows != head.n_columns {
        let found = format!("{} rows and {} columns", head.n_rows, head.n_columns);
        return wrong(head.size_line, found, "a square matrix, for links");
    }
    Ok((head, blocks))
}

fn banner(path: &Path, text: &str) -> Result<Banner> {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let known = match words.as_slice() {
        ["%%matrixmarket", "matrix", format, field, symmetry] => {
            let coordinate = *format == "coordinate";
            let field_fits = matches!(*field, "real" | "integer" | "double")
                || coordinate && *field == "pattern";
            let symmetry_fits = *symmetry == "general" || coordinate && *symmetry == "symmetric";
            let fits = matches!(*format, "coordinate" | "array") && field_fits && symmetry_fits;
            fits.then_some(Banner {
                coordinate,
                pattern: *field == "pattern",
                symmetric: *symmetry == "symmetric",
            })
        }
        _ => None,
    };
    known.ok_or_else(|| {
        Error::input(
            path,
            1,
            quote(text),
            "'%%MatrixMarket matrix coordinate real|integer|pattern general|symmetric' \
             or '%%MatrixMarket matrix array real|integer general'",
        )
    })
}

fn head(path: &Path, line: u64, text: &str, banner: Banner) -> Result<Head> {
    let sizes: Option<Vec<usize>> = text.split_whitespace().map(|x| x.parse().ok()).collect();
    let wrong =
        |expected: &str| Error::input(path, line, format!("size line {}", quote(text)), expected);
    let (n_rows, n_columns, n_entries) = match (sizes.as_deref(), banner.coordinate) {
        (Some(&[rows, columns, entries]), true) => (rows, columns, entries),
        (Some(&[rows, columns]), false) => {
            let entries = rows.checked_mul(columns);
            (
                rows,
                columns,
                entries.ok_or_else(|| wrong("a possible size"))?,
            )
        }
        (_, true) => return Err(wrong("the numbers of rows, columns and entries")),
        (_, false) => return Err(wrong("the numbers of rows and columns")),
    };
    // Rows without entries cost memory too; a few bytes must not ask for gigabytes.
    let believable = n_rows < 10_000_000 || n_rows / 10_000 <= n_entries;
    if n_rows > MOST_ROWS || n_columns > MOST_ROWS || !believable {
        return Err(wrong("a size that fits the entries, below 2^31 rows"));
    }
    if banner.symmetric && n_rows != n_columns {
        return Err(wrong("as many rows as columns, as the matrix is symmetric"));
    }
    Ok(Head {
        banner,
        n_rows,
        n_columns,
        n_entries,
        size_line: line,
    })
}

fn is_comment(fields: &[Cow<'_, str>]) -> bool {
    fields.first().is_some_and(|field| field.starts_with('%'))
}

impl Head {
    fn entry(&self, path: &Path, line: u64, fields: &[Cow<'_, str>]) -> Result<Link> {
        let n_fields = if self.banner.pattern { 2 } else { 3 };
        if fields.len() != n_fields {
            return Err(Error::input(
                path,
                line,
                quote(&fields.join(" ")),
                match self.banner.pattern {
                    true => "a row and a column index",
                    false => "a row index, a column index and a number",
                },
            ));
        }
        Ok(Link {
            src: index(path, line, &fields[0], "row", self.n_rows)?,
            dst: index(path, line, &fields[1], "column", self.n_columns)?,
            weight: match fields.get(2) {
                None => 1.0,
                Some(text) => finite(path, line, text)?,
            },
        })
    }

    fn check_count(&self, path: &Path, found: usize, whole: bool) -> Result<()> {
        if found == self.n_entries || found < self.n_entries && !whole {
            return Ok(());
        }
        let more = if whole { "" } else { " or more" };
        Err(Error::input(
            path,
            self.size_line,
            format!("a size line that promises {} entries", self.n_entries),
            format!("{found}{more}, as many as follow (is the file cut short?)"),
        ))
    }
}

fn index(path: &Path, line: u64, text: &str, what: &str, n: usize) -> Result<u32> {
    match text.parse::<u64>() {
        Ok(index) if (1..=n as u64).contains(&index) => Ok((index - 1) as u32),
        _ => Err(Error::input(
            path,
            line,
            format!("{what} index {}", quote(text)),
            format!("a whole number from 1 to {n}"),
        )),
    }
}

fn finite(path: &Path, line: u64, text: &str) -> Result<f64> {
    number(text)
        .filter(|x| x.is_finite())
        .ok_or_else(|| Error::input(path, line, quote(text), "a finite number"))
}

fn read_entries(
    path: &Path,
    head: &Head,
    blocks: Blocks,
    check: impl Fn(u64, &Link) -> Result<()> + Sync,
) -> Result<(Vec<Link>, Lines)> {
    let parse = |_: &Vec<Link>, block: &Block| {
        let (mut entries, mut lines) = (Vec::new(), Lines::default());
        let mut fields = Vec::with_capacity(4);
        let mut records = Records::new(block, path, Delimiter::Whitespace)?;
        while let Some(line) = records.next(&mut fields)? {
            if !is_comment(&fields) {
                let entry = head.entry(path, line, &fields)?;
                check(line, &entry)?;
                entries.push(entry);
                lines.push(line);
            }
        }
        Ok((entries, lines))
    };
    let (mut entries, mut lines) = (Vec::new(), Lines::default());
    blocks.fold(&mut entries, parse, |entries, (more, their)| {
        entries.extend(more);
        lines.extend(&their);
        head.check_count(path, entries.len(), false)
    })?;
    head.check_count(path, entries.len(), true)?;
    Ok((entries, lines))
}

fn read_array(path: &Path, head: &Head, blocks: Blocks) -> Result<Matrix> {
    let parse = |_: &Vec<f64>, block: &Block| {
        let mut values = Vec::new();
        let mut fields = Vec::new();
        let mut records = Records::new(block, path, Delimiter::Whitespace)?;
        while let Some(line) = records.next(&mut fields)? {
            if !is_comment(&fields) {
                for text in &fields {
                    values.push(finite(path, line, text)?);
                }
            }
        }
        Ok(values)
    };
    let mut by_column: Vec<f64> = Vec::new();
    blocks.fold(&mut by_column, parse, |all, more| {
        all.extend(more);
        head.check_count(path, all.len(), false)
    })?;
    head.check_count(path, by_column.len(), true)?;
    let place = |k: usize| by_column[k % head.n_columns * head.n_rows + k / head.n_columns];
    let values: Vec<f64> = (0..by_column.len()).map(place).collect();
    Matrix::dense(head.n_rows, head.n_columns, values).map_err(|error| error.in_file(path, None))
}

#[cfg(test)]
#[path = "mtx_tests.rs"]
mod tests;

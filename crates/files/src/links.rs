//! Links from files of any format, as a graph.

use std::path::Path;

use super::link_text;
use super::mtx;
use super::source::extensions;
use super::text::BLOCK;
use linkproof_method::data::graph::{Ends, Graph, Link, LinkRules, SelfLinks};
use linkproof_method::error::{Error, Remedy, Result, quote};

/// Reads links: CSV, TSV or other text `src,dst[,weight]`, Parquet, or
/// MatrixMarket `.mtx`; any of them may be `.gz` or `.zst`.
///
/// Rows follow the first appearance of ids, except for `.mtx`, where they are
/// the indices minus 1.
///
/// # Errors
/// Names the file and line of whatever is not a link; see [`Error::Input`].
pub fn read_links(path: impl AsRef<Path>, rules: &LinkRules) -> Result<Graph> {
    read_links_with_evidence(path, rules, &[])
}

/// As [`read_links`], where columns that are evidence are not taken for the weight because
/// of their place.
pub fn read_links_with_evidence(
    path: impl AsRef<Path>,
    rules: &LinkRules,
    evidence: &[String],
) -> Result<Graph> {
    read_in_blocks(path.as_ref(), rules, evidence, BLOCK)
}

fn read_in_blocks(
    path: &Path,
    rules: &LinkRules,
    evidence: &[String],
    size: usize,
) -> Result<Graph> {
    // On two sides an id names two nodes.
    let self_links = match rules.ends {
        Ends::Bipartite => SelfLinks::Drop,
        _ => rules.self_links,
    };
    let (mut without_first, mut passed_over) = (false, 0);
    let (ids, links) = match format(path) {
        Format::Text => {
            let listed = link_text::read(path, self_links, evidence, size)?;
            without_first = listed.without_first;
            passed_over = listed.passed_over;
            (listed.ids, listed.links)
        }
        Format::Mtx => mtx::read_links(path, self_links, size)?,
        Format::Parquet => parquet_links(path, self_links, evidence)?,
    };
    let mut graph = Graph::new(ids, links, *rules).map_err(|error| match error {
        Error::DuplicateLink {
            src,
            dst,
            first,
            second,
        } => duplicate(path, [&src, &dst], [first, second], size),
        other => other.in_file(path, None),
    })?;
    graph.note_headers(usize::from(without_first));
    graph.note_columns(passed_over);
    if graph.n_links() == 0 {
        let counts = graph.counts();
        let found = format!(
            "a graph with no links ({} listed; dropped: {} of weight zero, {} self-links)",
            counts.listed, counts.zero, counts.self_links
        );
        return Err(link_text::no_links(path, &found));
    }
    Ok(graph)
}

enum Format {
    Text,
    Mtx,
    Parquet,
}

fn format(path: &Path) -> Format {
    match extensions(path).1.as_str() {
        "mtx" => Format::Mtx,
        "parquet" | "pq" => Format::Parquet,
        _ => Format::Text,
    }
}

#[cfg(feature = "parquet")]
use super::parquet::read_links as parquet_links;

#[cfg(not(feature = "parquet"))]
fn parquet_links(
    path: &Path,
    _: linkproof_method::data::graph::SelfLinks,
    _: &[String],
) -> Result<(linkproof_method::data::ids::Ids, Vec<Link>)> {
    Err(super::no_parquet(path))
}

/// The first line of a links file on which an id stands; `None` where it does
/// not, or where the format has no lines. Reads the file again, so this is for
/// the messages of errors that are found later.
pub fn locate_id(path: impl AsRef<Path>, id: &str) -> Result<Option<u64>> {
    let mut found = None;
    visit(path.as_ref(), BLOCK, |line, src, dst, _| {
        if src == id || dst == id {
            found = Some(line);
        }
        found.is_none()
    })?;
    Ok(found)
}

/// As [`locate_id`], the first line on which a link between two ids stands.
pub fn locate_link(path: impl AsRef<Path>, [a, b]: [&str; 2]) -> Result<Option<u64>> {
    let mut found = None;
    visit(path.as_ref(), BLOCK, |line, src, dst, _| {
        if (src == a && dst == b) || (src == b && dst == a) {
            found = Some(line);
        }
        found.is_none()
    })?;
    Ok(found)
}

fn visit(
    path: &Path,
    size: usize,
    mut visit: impl FnMut(u64, &str, &str, f64) -> bool,
) -> Result<()> {
    match format(path) {
        Format::Text => link_text::visit(path, size, |line, row| {
            visit(line, row.src, row.dst, row.weight)
        }),
        Format::Mtx => mtx::visit(path, size, |line, entry: Link| {
            let (src, dst) = (entry.src.to_string(), entry.dst.to_string());
            visit(line, &src, &dst, entry.weight)
        }),
        Format::Parquet => Ok(()),
    }
}

/// Says on which two lines a pair stands.
fn duplicate(path: &Path, [a, b]: [&str; 2], weights: [f64; 2], size: usize) -> Error {
    let mut listings: Vec<(u64, bool, f64)> = Vec::new();
    // A file that cannot be read twice, such as a pipe, leaves the lines unsaid.
    let _ = visit(path, size, |line, src, dst, weight| {
        let forward = src == a && dst == b;
        if (forward || src == b && dst == a) && weight != 0.0 {
            listings.push((line, forward, weight));
        }
        listings.len() < 3
    });
    let pair = match listings.as_slice() {
        // Once in each direction is no repeat; the third listing is.
        [one, two, three] if one.1 != two.1 && one.2 == two.2 => Some((one, three)),
        [one, two, ..] => Some((one, two)),
        _ => None,
    };
    let (line, earlier, [first, second]) = match pair {
        Some((one, two)) => (Some(two.0), format!(" on line {}", one.0), [one.2, two.2]),
        None => (None, String::new(), weights),
    };
    Error::input(
        path,
        line,
        format!(
            "the pair {}, {} again, with weight {second}, after weight {first}{earlier}",
            quote(a),
            quote(b)
        ),
        "each pair once",
    )
    .or(Remedy::MergeDuplicates)
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;

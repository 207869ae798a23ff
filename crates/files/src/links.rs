//! Links from files of any format, as a graph.

use std::path::Path;

use super::evidence::LinkEvidence;
use super::link_text;
#[cfg(not(feature = "parquet"))]
use super::link_text::Listed;
use super::mtx;
use super::source::{Source, Sources};
use super::text::BLOCK;
use linkproof_method::data::graph::{Ends, Graph, LinkFile, LinkRules, SelfLinks};
use linkproof_method::error::{Error, Result};

/// Links as read from a file.
#[derive(Debug, Clone)]
pub struct ListedLinks {
    /// The links, which know the lines of the file on which they stand.
    pub graph: Graph,
    /// The columns that are evidence about links.
    pub evidence: LinkEvidence,
    /// The first line, if it was taken for a header although its names are no known ones.
    pub header: Option<String>,
}

/// Reads links: CSV, TSV or other text `src,dst[,weight]`, Parquet, or
/// MatrixMarket `.mtx`; any of them may be `.gz` or `.zst`.
///
/// Rows follow the first appearance of ids, except for `.mtx`, where they are
/// the indices minus 1.
///
/// # Errors
/// Names the file and line of whatever is not a link; see [`Error::Input`]. So do errors
/// that are found later, when the links are joined with nodes and fitted.
pub fn read_links(path: impl AsRef<Path>, rules: &LinkRules) -> Result<Graph> {
    let source = Source::open(path.as_ref())?;
    Ok(read_in_blocks(source, rules, &[], BLOCK)?.graph)
}

impl Sources {
    /// Reads links as [`read_links`] does, with columns that are evidence about them: those
    /// are not taken for the weight because of their place.
    pub fn read_links(
        &self,
        path: impl AsRef<Path>,
        rules: &LinkRules,
        evidence: &[String],
    ) -> Result<ListedLinks> {
        read_in_blocks(self.open(path.as_ref())?, rules, evidence, BLOCK)
    }
}

fn read_in_blocks(
    source: Source,
    rules: &LinkRules,
    evidence: &[String],
    size: usize,
) -> Result<ListedLinks> {
    let path = source.path().to_owned();
    // On two sides an id names two nodes.
    let self_links = match rules.ends {
        Ends::Bipartite => SelfLinks::Drop,
        _ => rules.self_links,
    };
    let listed = match source.extension() {
        "mtx" if !evidence.is_empty() => {
            let expected = "links as CSV, TSV or Parquet, whose columns have names";
            return Err(Error::input(&path, None, "a MatrixMarket file", expected));
        }
        "mtx" => mtx::read_links(source, self_links, size)?,
        "parquet" | "pq" => parquet_links(source, self_links, evidence)?,
        _ => link_text::read(source, self_links, evidence, size)?,
    };
    let file = LinkFile {
        path: path.clone(),
        lines: listed.lines,
    };
    let (mut graph, repeats) = Graph::from_file(listed.ids, listed.links, *rules, file)?;
    graph.note_headers(usize::from(listed.header.is_some()));
    graph.note_columns(listed.passed_over);
    if graph.n_links() == 0 {
        let counts = graph.counts();
        let found = format!(
            "a graph with no links ({} listed; dropped: {} of weight zero, {} self-links)",
            counts.listed, counts.zero, counts.self_links
        );
        return Err(link_text::no_links(&path, &found));
    }
    Ok(ListedLinks {
        graph,
        evidence: LinkEvidence::new(evidence, listed.evidence, repeats),
        header: listed.header,
    })
}

#[cfg(feature = "parquet")]
use super::parquet::read_links as parquet_links;

#[cfg(not(feature = "parquet"))]
fn parquet_links(source: Source, _: SelfLinks, _: &[String]) -> Result<Listed> {
    Err(super::no_parquet(source.path()))
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;

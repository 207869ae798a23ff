//! Embeddings, links and node tables as files.

use std::io::{self, Write};
use std::path::Path;

use super::npy::write_npy;
use super::output::write_file;
use super::source::extensions;
use linkproof_method::choice::choice;
use linkproof_method::data::attributes::Attributes;
use linkproof_method::data::graph::Graph;
use linkproof_method::data::ids::Ids;
use linkproof_method::error::{Error, Result, quote};

choice!(
    /// How embeddings are written.
    EmbeddingFormat {
        /// NumPy; the ids are not in it.
        Npy = "npy",
        /// Parquet with the same columns.
        Parquet = "parquet",
        /// CSV `node,y0,y1,...`.
        Csv = "csv",
        /// The text format of word2vec: `n K`, then an id and its numbers a line.
        Word2vec = "word2vec",
    }
);

impl EmbeddingFormat {
    /// Refuses ids that the format cannot hold; for a look before long work.
    pub fn check(self, ids: &Ids) -> Result<()> {
        match self {
            EmbeddingFormat::Word2vec => check_words(ids),
            _ => Ok(()),
        }
    }
}

/// Writes the embeddings of `n` nodes, `k` numbers each, row after row.
pub fn write_embeddings(
    path: impl AsRef<Path>,
    format: EmbeddingFormat,
    ids: &Ids,
    n: usize,
    k: usize,
    values: &[f32],
) -> Result<()> {
    let path = path.as_ref();
    if n.checked_mul(k) != Some(values.len()) || ids.len() != n || k == 0 {
        return Err(Error::data(
            "embeddings",
            format!("{} numbers and {} ids", values.len(), ids.len()),
            format!("{n} rows x {k} columns of them, and {n} ids"),
        ));
    }
    match format {
        EmbeddingFormat::Npy => write_npy(path, n, k, values),
        EmbeddingFormat::Csv => write_file(path, |file| {
            write!(file, "node")?;
            for column in 0..k {
                write!(file, ",y{column}")?;
            }
            writeln!(file)?;
            for (row, numbers) in values.chunks_exact(k).enumerate() {
                write_field(file, &ids.name(row))?;
                write_numbers(file, ',', numbers)?;
            }
            Ok(())
        }),
        EmbeddingFormat::Word2vec => {
            check_words(ids)?;
            write_file(path, |file| {
                writeln!(file, "{n} {k}")?;
                for (row, numbers) in values.chunks_exact(k).enumerate() {
                    write!(file, "{}", ids.name(row))?;
                    write_numbers(file, ' ', numbers)?;
                }
                Ok(())
            })
        }
        EmbeddingFormat::Parquet => parquet_embeddings(path, ids, k, values),
    }
}

/// Writes links as `src,dst,weight`: Parquet where the name ends in `.parquet`,
/// else CSV.
pub fn write_links(path: impl AsRef<Path>, graph: &Graph) -> Result<()> {
    let path = path.as_ref();
    if extensions(path).1 == "parquet" {
        return parquet_links(path, graph);
    }
    let ids = graph.ids();
    write_file(path, |file| {
        writeln!(file, "src,dst,weight")?;
        for link in graph.links() {
            write_field(file, &ids.name(link.src as usize))?;
            file.write_all(b",")?;
            write_field(file, &ids.name(link.dst as usize))?;
            writeln!(file, ",{}", Number(link.weight))?;
        }
        Ok(())
    })
}

/// Writes a node table in row order: `node[,view]`, then whatever else is known.
pub fn write_nodes(
    path: impl AsRef<Path>,
    ids: &Ids,
    views: Option<&[String]>,
    attributes: Option<&Attributes>,
) -> Result<()> {
    let path = path.as_ref();
    if let Some(views) = views
        && views.len() != ids.len()
    {
        return Err(Error::data(
            "views",
            format!("{} of them", views.len()),
            format!("one for each of {} nodes", ids.len()),
        ));
    }
    let columns = attributes.map_or(&[][..], Attributes::columns);
    write_file(path, |file| {
        write!(file, "node{}", if views.is_some() { ",view" } else { "" })?;
        for (header, _) in columns {
            file.write_all(b",")?;
            write_field(file, header)?;
        }
        writeln!(file)?;
        for row in 0..ids.len() {
            write_field(file, &ids.name(row))?;
            if let Some(views) = views {
                file.write_all(b",")?;
                write_field(file, &views[row])?;
            }
            for (_, texts) in columns {
                file.write_all(b",")?;
                write_field(file, texts.get(row))?;
            }
            writeln!(file)?;
        }
        Ok(())
    })
}

#[cfg(feature = "parquet")]
use super::parquet::{write_embeddings as parquet_embeddings, write_links as parquet_links};

#[cfg(not(feature = "parquet"))]
fn parquet_embeddings(path: &Path, _: &Ids, _: usize, _: &[f32]) -> Result<()> {
    Err(super::no_parquet(path))
}

#[cfg(not(feature = "parquet"))]
fn parquet_links(path: &Path, _: &Graph) -> Result<()> {
    Err(super::no_parquet(path))
}

/// Writes a field so that it reads back as it is.
pub(super) fn write_field(file: &mut (impl Write + ?Sized), text: &str) -> io::Result<()> {
    let special = |byte: u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    let bytes = text.as_bytes();
    let trimmed = matches!(bytes, [] | [b' ' | b'\t', ..] | [.., b' ' | b'\t']);
    // A reader takes this character at the start of a file for a mark.
    let marked = text.starts_with('\u{feff}');
    if !trimmed && !marked && !bytes.iter().copied().any(special) {
        return file.write_all(bytes);
    }
    write!(file, "\"{}\"", text.replace('"', "\"\""))
}

/// A number in as few characters as keep its value.
pub(super) struct Number<N>(pub(super) N);

macro_rules! display_number {
    ($number:ty) => {
        impl std::fmt::Display for Number<$number> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let x = self.0;
                if x == 0.0 || (1e-4..1e15).contains(&x.abs()) {
                    write!(f, "{x}")
                } else {
                    write!(f, "{x:e}")
                }
            }
        }
    };
}

display_number!(f32);
display_number!(f64);

fn write_numbers(file: &mut impl Write, before: char, numbers: &[f32]) -> io::Result<()> {
    for &number in numbers {
        write!(file, "{before}{}", Number(number))?;
    }
    writeln!(file)
}

fn check_words(ids: &Ids) -> Result<()> {
    for row in 0..ids.len() {
        let name = &*ids.name(row);
        if name.is_empty() || name.contains(char::is_whitespace) {
            let found = format!("the id {}", quote(name));
            let error = Error::data("word2vec", found, "ids without whitespace");
            return Err(error.or("or set another {format}"));
        }
    }
    Ok(())
}

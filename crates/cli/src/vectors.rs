//! Embeddings in a file, with the ids that stand beside it.

use std::path::{Path, PathBuf};

use linkproof::Error;
use linkproof::data::ids::Ids;
use linkproof::io::{self, EmbeddingFormat, Embeddings};

use crate::exit::Usage;

/// Reads embeddings. A file without ids takes those of `NAME.nodes.csv` or
/// `nodes.csv` beside it, else the row numbers.
pub fn read(path: &Path) -> Result<Embeddings, Error> {
    let mut vectors = io::read_embeddings(path)?;
    if !matches!(vectors.ids, Ids::Rows(_)) {
        return Ok(vectors);
    }
    if let Some(nodes) = beside(path) {
        let ids = io::read_nodes(&nodes)?.into_parts().0;
        if ids.len() != vectors.n {
            let found = format!("{} rows", vectors.n);
            let expected = format!(
                "as many as {} beside it has nodes, {}",
                nodes.display(),
                ids.len()
            );
            return Err(Error::input(path, None, found, expected));
        }
        vectors.ids = ids;
    }
    Ok(vectors)
}

/// The file with the ids of a file that has none.
fn beside(path: &Path) -> Option<PathBuf> {
    let named = [
        path.with_extension("nodes.csv"),
        path.with_file_name("nodes.csv"),
    ];
    named.into_iter().find(|nodes| nodes.is_file())
}

/// The files that [`read`] reads.
pub fn inputs(path: &Path) -> impl Iterator<Item = PathBuf> {
    [path.to_owned()].into_iter().chain(beside(path))
}

/// The files that [`write`] may write.
pub fn outputs(path: &Path, format: EmbeddingFormat) -> impl Iterator<Item = PathBuf> {
    let ids = (format == EmbeddingFormat::Npy).then(|| path.with_extension("nodes.csv"));
    [path.to_owned()].into_iter().chain(ids)
}

/// The format that the ending of `--out` asks for.
pub fn format_of(path: &Path) -> Result<EmbeddingFormat, Usage> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    match extension.to_ascii_lowercase().as_str() {
        "npy" => Ok(EmbeddingFormat::Npy),
        "csv" => Ok(EmbeddingFormat::Csv),
        "parquet" => Ok(EmbeddingFormat::Parquet),
        "txt" => Ok(EmbeddingFormat::Word2vec),
        _ => Err(Usage::new(format!(
            "--out {}: the ending chooses the format; expected .npy, .csv, .parquet or .txt",
            path.display()
        ))),
    }
}

/// Writes embeddings, those of a node `dim` numbers.
pub fn write(
    path: &Path,
    format: EmbeddingFormat,
    ids: &Ids,
    dim: usize,
    values: &[f32],
) -> Result<(), Error> {
    if format == EmbeddingFormat::Npy {
        write_ids(path, ids)?;
    }
    io::write_embeddings(path, format, ids, ids.len(), dim, values)
}

/// Writes ids beside an `.npy` file, unless the row numbers say it all and no
/// ids of an earlier run stand there.
fn write_ids(out: &Path, ids: &Ids) -> Result<(), Error> {
    let path = out.with_extension("nodes.csv");
    match ids {
        Ids::Rows(_) if !path.exists() => Ok(()),
        ids => io::write_nodes(path, ids, None, None),
    }
}

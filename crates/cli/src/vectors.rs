//! Embeddings in a file, with the ids that stand beside it.

use std::path::{Path, PathBuf};

use linkproof::data::attributes::Attributes;
use linkproof::data::ids::Ids;
use linkproof::io::{self, EmbeddingFormat, Embeddings};
use linkproof::{Error, Matrix};

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

/// What the table of nodes beside a file of embeddings says of them.
pub fn names(path: &Path) -> Result<Option<Attributes>, Error> {
    let table = beside(path).map(io::read_nodes).transpose()?;
    Ok(table.map(|table| table.attributes().clone()))
}

/// Data vectors are clustered while they have no more entries than this, zeros counted.
const MOST_ENTRIES: usize = 1 << 28;

/// Data vectors as points to be clustered.
pub fn read_features(path: &Path) -> Result<Embeddings, Error> {
    let (ids, matrix) = io::read_features(path)?.into_parts();
    let rows: Vec<u32> = (0..matrix.n_rows() as u32).collect();
    Ok(Embeddings {
        n: rows.len(),
        k: matrix.n_columns(),
        values: points(path, &matrix, &rows)?,
        ids,
    })
}

/// Some rows of data vectors as points to be clustered: of unit length, unless some entry is
/// negative.
pub fn points(path: &Path, matrix: &Matrix, rows: &[u32]) -> Result<Vec<f32>, Error> {
    let (n, dim) = (rows.len(), matrix.n_columns());
    if n.saturating_mul(dim) > MOST_ENTRIES {
        let found = format!("{n} data vectors of {dim} entries");
        let expected = format!("at most {MOST_ENTRIES} entries in all, zeros counted");
        return Err(Error::input(path, None, found, expected));
    }
    let mut points = vec![0.0f32; n * dim];
    let mut signed = false;
    for (&row, point) in rows.iter().zip(points.chunks_exact_mut(dim)) {
        for (column, x) in matrix.row(row as usize) {
            point[column as usize] = x as f32;
            signed |= x < 0.0;
        }
    }
    if !signed {
        points.chunks_exact_mut(dim).for_each(to_unit_length);
    }
    Ok(points)
}

fn to_unit_length(point: &mut [f32]) {
    let squares = point.iter().map(|&x| f64::from(x) * f64::from(x));
    let length = squares.sum::<f64>().sqrt();
    if length > 0.0 {
        let scale = |x: &mut f32| *x = (f64::from(*x) / length) as f32;
        point.iter_mut().for_each(scale);
    }
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

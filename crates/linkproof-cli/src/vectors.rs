//! Embeddings from a file, with the ids that stand beside it.

use std::path::Path;

use linkproof::Error;
use linkproof::ids::Ids;
use linkproof::io::{self, Embeddings};

/// Reads embeddings. A file without ids takes those of `NAME.nodes.csv` or
/// `nodes.csv` beside it, else the row numbers.
pub fn read(path: &Path) -> Result<Embeddings, Error> {
    let mut vectors = io::read_embeddings(path)?;
    if !matches!(vectors.ids, Ids::Rows(_)) {
        return Ok(vectors);
    }
    let beside = [
        path.with_extension("nodes.csv"),
        path.with_file_name("nodes.csv"),
    ];
    if let Some(nodes) = beside.iter().find(|nodes| nodes.is_file()) {
        let ids = io::read_nodes(nodes)?.into_parts().0;
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

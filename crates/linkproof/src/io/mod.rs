//! Files: links, data vectors, node tables and labels in; embeddings and links
//! out. Whatever is wrong with an input names its file and line.

mod npy;
mod output;
mod record;
mod source;
mod text;

use std::path::Path;

use crate::error::Error;

pub use npy::{NpyNumber, read_npy, write_npy};
pub use output::{OutputFolder, write_file};
pub use source::digest;

/// Says in which file wrong data stands.
fn in_file(path: &Path, error: Error) -> Error {
    match error {
        Error::Data {
            found, expected, ..
        } => Error::input(path, None, found, expected),
        other => other,
    }
}

//! Files: links, data vectors, node tables and labels in; embeddings and links
//! out. Whatever is wrong with an input names its file and line.

mod record;
mod source;
mod text;

pub use source::digest;

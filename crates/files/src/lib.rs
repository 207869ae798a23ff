//! Files: links, data vectors, node tables and labels in; embeddings and links
//! out. Whatever is wrong with an input names its file and line.

// Tests compare with the system's functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

#[cfg(feature = "parquet")]
mod caught;
mod check;
mod checkpoint;
mod citations;
mod encoding;
mod evidence;
mod export;
mod features;
mod folder;
mod guard;
mod id_list;
mod inputs;
mod intern;
mod labels;
mod link_text;
mod links;
pub mod memory;
mod model;
mod mtx;
mod nodes;
mod npy;
mod output;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
mod record;
mod side;
mod source;
mod steady;
mod table;
mod text;
mod unpacked;
mod write;

#[cfg(not(feature = "parquet"))]
use std::path::Path;

#[cfg(not(feature = "parquet"))]
use linkproof_method::error::Error;

pub use check::{
    Check, JudgedTable, ListedCheck, MergedChecks, VerifiedLinks, check_files, check_json,
    facts_json, implanted_json, load_check, read_checks, robust_json, write_check, write_missing,
    write_sample,
};
pub use checkpoint::{Checkpoint, Pace};
pub use citations::{Citations, read_citations};
pub use encoding::read_text;
pub use evidence::LinkEvidence;
pub use export::{GraphFormat, ModelGraph, write_graph};
pub use features::{Embeddings, read_embeddings, read_features};
pub use folder::{FolderKind, OutputFolder, model_files};
pub use guard::Files;
pub use id_list::{ListedId, read_id_list};
pub use inputs::{Input, InputFiles, InputReader, ViewFile, read};
pub use labels::{Labels, read_labels};
pub use links::{ListedLinks, read_links};
pub use model::{
    LINKS, Stored, VERSION, classes, fit_json, from_bytes, gamma_json, load, save, to_bytes,
    write_model,
};
pub use nodes::{NodeTable, read_nodes};
pub use npy::{NpyNumber, read_npy, write_npy};
pub use output::write_file;
pub use pairs::{ListedPair, PairList, read_pairs};
pub use side::{Listed, OutputLock, holds_nothing, remove_unfinished};
pub use source::{Sources, digest};
pub use table::{Field, TableRows, write_table};
pub use unpacked::set_unpacked_limit;
pub use write::{EmbeddingFormat, write_embeddings, write_links, write_nodes};

/// A number of columns in words.
fn columns(n: usize) -> String {
    format!("{n} column{}", if n == 1 { "" } else { "s" })
}

#[cfg(not(feature = "parquet"))]
fn no_parquet(path: &Path) -> Error {
    Error::input(
        path,
        None,
        "a Parquet file",
        "another format: this build is without the feature 'parquet'",
    )
}

#[cfg(test)]
#[path = "../../method/tests/support/mod.rs"]
mod support;

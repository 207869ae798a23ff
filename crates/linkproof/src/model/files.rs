//! Model folders: `model.safetensors`, `nodes.csv`, `embeddings.npy`, the
//! links, and `fit.json`. What saving and loading share.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::encoder::NetworkSpec;
use crate::error::Error;
use crate::io::model_files;
use crate::params::Params;

pub(super) use crate::io::model_files::{EMBEDDINGS, EMBEDDINGS_PLAIN, FIT, MODEL, NODES};

/// The version of the format of a model folder.
pub const VERSION: &str = "1";

/// The name of the links' file in a model folder.
pub const LINKS: &str = model_files::LINKS[if cfg!(feature = "parquet") { 0 } else { 1 }];

/// What the metadata of `model.safetensors` says.
#[derive(Serialize, Deserialize)]
pub(super) struct Described {
    pub(super) params: Params,
    pub(super) views: Vec<DescribedView>,
    pub(super) view_pairs: Vec<(usize, usize)>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct DescribedView {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) spec: NetworkSpec,
}

pub(super) fn damaged(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::input(
        path,
        None,
        format!("a model that cannot be used: {why}"),
        format!("a model that linkproof wrote (format version {VERSION})"),
    )
}

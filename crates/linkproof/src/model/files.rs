//! Model folders: `model.safetensors`, `nodes.csv`, `embeddings.npy`, the
//! links, and `fit.json`. What saving and loading share.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::encoder::NetworkSpec;
use crate::error::Error;
use crate::params::Params;

/// The version of the format of a model folder.
pub const VERSION: &str = "1";

pub(super) const MODEL: &str = "model.safetensors";
pub(super) const NODES: &str = "nodes.csv";
pub(super) const EMBEDDINGS: &str = "embeddings.npy";
pub(super) const FIT: &str = "fit.json";

/// The name of the links' file in a model folder.
pub const LINKS: &str = if cfg!(feature = "parquet") {
    "links.parquet"
} else {
    "links.csv"
};

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

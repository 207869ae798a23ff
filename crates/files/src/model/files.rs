//! Model folders: `model.safetensors`, `nodes.csv`, `embeddings.npy`, the
//! links, and `fit.json`. What saving and loading share.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model_files;
use linkproof_method::engine::encoder::NetworkSpec;
use linkproof_method::error::Error;
use linkproof_method::judge::Facts;
use linkproof_method::params::Params;
use linkproof_method::size::SizeLaw;

pub(super) use crate::model_files::{
    BELIEFS, EMBEDDINGS, EMBEDDINGS_PLAIN, FIT, LABELS, MODEL, NODES, OFFSETS, SUSPECTS,
};

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) believed: Option<DescribedBeliefs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sizes: Option<SizeLaw>,
    /// How many fits to parts of the nodes there are, beside the one to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replicates: Option<usize>,
    /// The header of the column that names nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name_column: Option<String>,
}

/// What is known of the links, whose numbers are among the tensors.
#[derive(Serialize, Deserialize)]
pub(super) struct DescribedBeliefs {
    pub(super) abstained: bool,
    pub(super) rounds: usize,
    pub(super) numbers: Vec<String>,
    /// None in models of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) facts: Option<Facts>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct DescribedView {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) spec: NetworkSpec,
}

/// The name of the nodes' offsets among the numbers of a model.
pub(super) const OFFSETS_OF_NODES: &str = "offsets";

/// The name of a view's map to offsets among them.
pub(super) fn offsets_of(view: usize) -> String {
    format!("views.{view}.offsets")
}

/// The name of a view's map to averages among the numbers of a model.
pub(super) fn averages_of(view: usize) -> String {
    format!("views.{view}.averages")
}

/// The name of numbers about links.
pub(super) fn numbers_of_links(name: &str) -> String {
    format!("believed.links.{name}")
}

/// What the names of a view's data vectors begin with.
pub(super) fn vectors_of(view: usize) -> String {
    format!("believed.views.{view}")
}

/// What the names of a replicate's numbers begin with; the first is the whole.
pub(super) fn replicate_of(number: usize) -> String {
    format!("replicates.{number}")
}

pub(super) fn damaged(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::input(
        path,
        None,
        format!("a model that cannot be used: {why}"),
        format!("a model that linkproof wrote (format version {VERSION})"),
    )
}

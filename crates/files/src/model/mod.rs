//! Model folders: `model.safetensors`, `nodes.csv`, `embeddings.npy`, the
//! links, and `fit.json`; and the same as one piece of memory.

mod files;
mod load;
mod reader;
mod save;
mod tables;
mod tensor;

pub use files::{LINKS, VERSION};
pub(crate) use load::links_between;
pub use load::{Stored, classes, from_bytes, load};
pub use save::{fit_json, gamma_json, save, to_bytes, write_model};
pub(crate) use tensor::{Tensor, write_safetensors};

#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod names_tests;
#[cfg(test)]
mod tests;

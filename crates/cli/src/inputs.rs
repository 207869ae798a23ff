//! The record of a command: what it read, and where it ran.

use linkproof::io::Sources;
use serde_json::{Map, Value, json};

use crate::session::peak_memory_bytes;

/// What the record of a model has of every command: the files that were read with their
/// digests, versions, memory and what was typed.
pub fn record(sources: &Sources) -> Map<String, Value> {
    let command: Vec<String> = std::env::args_os()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let inputs = sources.files().into_iter().map(|(path, digest)| {
        let path = path.display().to_string();
        json!({ "path": path, "sha256": digest })
    });
    Map::from_iter([
        ("inputs".to_owned(), inputs.collect()),
        (
            "versions".to_owned(),
            json!({ "linkproof": env!("CARGO_PKG_VERSION"),
                    "system": std::env::consts::OS,
                    "processor": std::env::consts::ARCH,
                    "instructions": linkproof::instructions().ok() }),
        ),
        ("peak_memory_bytes".to_owned(), json!(peak_memory_bytes())),
        ("command".to_owned(), json!(command)),
    ])
}

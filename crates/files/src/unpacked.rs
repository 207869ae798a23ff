//! How large a packed file may become: a few kilobytes can stand for any number of
//! bytes.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::memory;
use linkproof_method::error::{Error, Result, in_bytes};

/// A packed file may become so many times as large.
const TIMES: u64 = 100;
/// Any packed file may become so large.
const LEAST: u64 = 1_000_000_000;
/// The variable that sets the limit where nothing else does.
const VARIABLE: &str = "LINKPROOF_MAX_UNPACKED";

/// The limit that was set; 0 where none was.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Sets how many bytes a packed file (`.gz`, `.zst`, Parquet) may become in this
/// process. Otherwise it is 1 GB or 100 times the size of the file, whichever is
/// more, or what the variable `LINKPROOF_MAX_UNPACKED` says, such as `20GB`.
pub fn set_unpacked_limit(bytes: u64) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

/// How large a file may become that has so many bytes.
pub(super) fn limit(packed: Option<u64>) -> Result<u64> {
    match LIMIT.load(Ordering::Relaxed) {
        0 => {}
        limit => return Ok(limit),
    }
    match std::env::var(VARIABLE) {
        Ok(text) => memory::bytes(&text)
            .ok_or_else(|| Error::data(VARIABLE, text, "an amount such as 500MB or 20GB")),
        Err(_) => Ok(packed.unwrap_or(0).saturating_mul(TIMES).max(LEAST)),
    }
}

pub(super) fn too_large(path: &Path, limit: u64) -> Error {
    let found = format!(
        "a packed file that becomes more than {} unpacked",
        in_bytes(limit)
    );
    let expected = "at most that: a few bytes can stand for any number";
    Error::input(path, None, found, expected)
        .or("if it is meant to be so large, unpack it first, or set a larger {max-unpacked}")
}

//! The inputs of a fit as they were when they were read, for the record.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use linkproof::Error;
use linkproof::io;
use serde_json::{Map, Value, json};

use crate::session::peak_memory_bytes;

/// Paths and digests of files, taken before they are read.
#[derive(Debug)]
pub struct Inputs(Vec<Input>);

#[derive(Debug)]
struct Input {
    path: PathBuf,
    /// None of what is no plain file, such as a pipe: it cannot be read twice.
    digest: Option<String>,
    stamp: Option<Stamp>,
    changed: bool,
}

/// By what a change is noticed.
type Stamp = (u64, Option<SystemTime>);

fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    found
        .is_file()
        .then(|| (found.len(), found.modified().ok()))
}

impl Inputs {
    /// Takes the digests, just before the files are read.
    pub fn before<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<Inputs, Error> {
        let inputs = paths.map(|path| {
            let stamp = stamp(path);
            let digest = stamp.map(|_| io::digest(path)).transpose()?;
            Ok(Input {
                path: path.to_owned(),
                digest,
                stamp,
                changed: false,
            })
        });
        Ok(Inputs(inputs.collect::<Result<_, Error>>()?))
    }

    /// Notes which files have changed since, once they have been read: what was
    /// read of them may not be what the digest tells.
    pub fn after(&mut self) {
        for input in &mut self.0 {
            input.changed = stamp(&input.path) != input.stamp;
        }
    }

    /// The files that changed while they were read.
    pub fn changed(&self) -> impl Iterator<Item = &Path> {
        let changed = self.0.iter().filter(|input| input.changed);
        changed.map(|input| input.path.as_path())
    }

    /// What the record of a model has of every command: these files, versions, memory
    /// and what was typed.
    pub fn record(&self) -> Map<String, Value> {
        let command: Vec<String> = std::env::args_os()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect();
        Map::from_iter([
            ("inputs".to_owned(), self.json()),
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

    /// As `fit.json` has it.
    fn json(&self) -> Value {
        let one = |input: &Input| {
            let path = input.path.display().to_string();
            let mut json = json!({ "path": path, "sha256": input.digest });
            if input.changed {
                json["changed_while_read"] = true.into();
            }
            json
        };
        self.0.iter().map(one).collect::<Vec<_>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_while_reading_is_noted_and_a_later_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("links.csv");
        fs::write(&path, "abc").unwrap();
        let taken = || Inputs::before([path.as_path(), Path::new("/dev/null")].into_iter());
        let mut inputs = taken().unwrap();
        inputs.after();
        fs::write(&path, "later").unwrap();
        let json = inputs.json();
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(json[0]["sha256"], digest);
        assert_eq!(json[0].get("changed_while_read"), None);
        assert_eq!(json[1]["sha256"], Value::Null);
        let mut inputs = taken().unwrap();
        fs::write(&path, "meanwhile").unwrap();
        inputs.after();
        assert_eq!(inputs.changed().collect::<Vec<_>>(), [path.as_path()]);
        assert_eq!(inputs.json()[0]["changed_while_read"], true);
    }
}

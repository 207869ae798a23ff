//! A model as files: its folder, and what a pickle holds.

use std::collections::BTreeMap;
use std::path::Path;

use linkproof::io::{FolderKind, OutputFolder};
use linkproof::{Error, Fitted};
use serde_json::{Map, Value};

use crate::model::{Kept, Model};

impl Model {
    /// Writes a model folder; `extra` goes into `fit.json`.
    pub fn write(
        &self,
        folder: &Path,
        overwrite: bool,
        extra: &Map<String, Value>,
    ) -> linkproof::Result<()> {
        if self.trusting().is_some() {
            return Err(Error::data(
                "model",
                "a fit with robust=True, whose beliefs and averages this version cannot write",
                "robust=False, or beliefs().to_csv(...) and numpy.save(..., embedding_)",
            ));
        }
        let folder = OutputFolder::create(folder, FolderKind::model(), overwrite)?;
        let mut all = self.extra.clone();
        all.extend(extra.clone());
        self.fitted().save(&self.links, &folder, all)?;
        folder.commit()
    }

    /// The files of a model folder.
    pub fn files(&self) -> linkproof::Result<BTreeMap<String, Vec<u8>>> {
        let place = tempfile::tempdir().map_err(in_temporary)?;
        let folder = place.path().join("model");
        self.write(&folder, false, &Map::new())?;
        let mut files = BTreeMap::new();
        let entries = std::fs::read_dir(&folder).map_err(|error| Error::read(&folder, error))?;
        for entry in entries {
            let read = |path: &Path| -> std::io::Result<Vec<u8>> { std::fs::read(path) };
            let entry = entry.map_err(|error| Error::read(&folder, error))?;
            let bytes = read(&entry.path());
            let bytes = bytes.map_err(|error| Error::read(&entry.path(), error))?;
            files.insert(entry.file_name().to_string_lossy().into_owned(), bytes);
        }
        Ok(files)
    }
}

/// A model from the files of its folder.
pub fn from_files(files: &BTreeMap<String, Vec<u8>>) -> linkproof::Result<Model> {
    let place = tempfile::tempdir().map_err(in_temporary)?;
    for (name, bytes) in files {
        // Only names that a model folder has, and so no paths.
        let name = Path::new(name).file_name().unwrap_or_default();
        let path = place.path().join(name);
        std::fs::write(&path, bytes).map_err(|error| Error::write(&path, error))?;
    }
    load(place.path())
}

/// Loads a model folder.
pub fn load(folder: &Path) -> linkproof::Result<Model> {
    let fitted = Fitted::load(folder)?;
    let links = fitted.load_links(folder)?;
    let path = folder.join("fit.json");
    let bytes = std::fs::read(&path).map_err(|error| Error::read(&path, error))?;
    let mut extra: Map<String, Value> = serde_json::from_slice(&bytes).unwrap_or_default();
    if let Value::Object(known) = fitted.fit_json(Map::new())? {
        extra.retain(|name, _| !known.contains_key(name));
    }
    Ok(Model {
        kept: Kept::Plain(Box::new(fitted)),
        links,
        extra,
    })
}

fn in_temporary(error: std::io::Error) -> Error {
    Error::write(&std::env::temp_dir(), error)
}

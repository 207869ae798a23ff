//! A model as files: its folder, and what a pickle holds.

use std::path::Path;

use linkproof::io::{FolderKind, OutputFolder};
use linkproof::io::{Stored, from_bytes, load, to_bytes, write_model};
use serde_json::{Map, Value};

use crate::model::Model;

impl From<Stored> for Model {
    fn from(stored: Stored) -> Model {
        Model {
            fitted: stored.model,
            record: stored.record,
        }
    }
}

impl Model {
    /// Writes a model folder; `extra` goes into `fit.json`.
    pub fn write(
        &self,
        folder: &Path,
        overwrite: bool,
        extra: Map<String, Value>,
    ) -> linkproof::Result<()> {
        let folder = OutputFolder::create(folder, FolderKind::model(), overwrite)?;
        let mut record = self.record.clone();
        record.extend(extra);
        write_model(&self.fitted, &folder, &record)?;
        folder.commit()
    }

    /// Loads a model folder.
    pub fn read(folder: &Path) -> linkproof::Result<Model> {
        load(folder).map(Model::from)
    }

    /// All of it in one piece.
    pub fn bytes(&self) -> linkproof::Result<Vec<u8>> {
        to_bytes(&self.fitted, &self.record)
    }

    /// From one piece.
    pub fn of_bytes(bytes: &[u8]) -> linkproof::Result<Model> {
        from_bytes(bytes).map(Model::from)
    }
}

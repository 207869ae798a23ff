//! A model as files: its folder, and what a pickle holds.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use linkproof::error::quote;
use linkproof::io::{self, Field, FolderKind, OutputFolder, model_files};
use linkproof::{Error, Fitted};
use serde_json::{Map, Value};

use crate::model::Model;
use crate::robust::Trusting;

/// The columns of a table of beliefs.
const COLUMNS: [&str; 4] = ["src", "dst", "weight", "belief"];

impl Model {
    /// Writes a model folder; `extra` goes into `fit.json`.
    pub fn write(
        &self,
        folder: &Path,
        overwrite: bool,
        extra: &Map<String, Value>,
    ) -> linkproof::Result<()> {
        let folder = OutputFolder::create(folder, FolderKind::model(), overwrite)?;
        let mut all = self.extra.clone();
        all.extend(extra.clone());
        self.fitted.save(&self.links, &folder, all)?;
        if let Some(trust) = &self.trust {
            self.write_beliefs(&folder.file(model_files::BELIEFS), &trust.beliefs)?;
        }
        folder.commit()
    }

    fn write_beliefs(&self, path: &Path, beliefs: &[f64]) -> linkproof::Result<()> {
        io::write_table(path, &COLUMNS, |rows| {
            for (link, &belief) in self.links.links().zip(beliefs) {
                let [src, dst] = [link.src, link.dst].map(|row| self.name(row));
                rows.row(&[
                    Field::Text(&src),
                    Field::Text(&dst),
                    Field::Real(link.weight),
                    Field::Real(belief),
                ])?;
            }
            Ok(())
        })
    }

    fn name(&self, row: u32) -> Cow<'_, str> {
        self.fitted.ids().name(row as usize)
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
    let mut model = Model {
        fitted,
        links,
        trust: None,
        extra,
    };
    let path = folder.join(model_files::BELIEFS);
    if model.extra.contains_key("robust") && path.exists() {
        let beliefs = read_beliefs(&path, &model)?;
        model.trust = Some(Trusting::loaded(beliefs));
    }
    Ok(model)
}

/// The beliefs in a model's links, in their order, which is that of the file.
fn read_beliefs(path: &Path, model: &Model) -> linkproof::Result<Vec<f64>> {
    let text = io::read_text(path)?;
    let mut records = records(&text);
    let wrong = |place: usize, found: String| {
        let expected = "the links of links.parquet beside it, in its order: src,dst,weight,belief";
        Err(Error::input(path, place as u64 + 1, found, expected))
    };
    if records.next().is_none_or(|header| header != COLUMNS) {
        return wrong(0, "another header".to_owned());
    }
    let mut beliefs = Vec::with_capacity(model.links.n_links());
    let mut links = model.links.links();
    for (place, record) in records.enumerate() {
        let belief = match (record.as_slice(), links.next()) {
            ([src, dst, _, belief], Some(link))
                if *src == model.name(link.src) && *dst == model.name(link.dst) =>
            {
                belief.parse().ok()
            }
            _ => None,
        };
        match belief.filter(|belief| (0.0..=1.0).contains(belief)) {
            Some(belief) => beliefs.push(belief),
            None => return wrong(place + 1, quote(&record.join(",")).to_string()),
        }
    }
    match links.next() {
        None => Ok(beliefs),
        Some(_) => wrong(beliefs.len(), format!("{} links", beliefs.len())),
    }
}

/// The records of a table as the library writes it: fields between commas,
/// quoted where they must be.
fn records(text: &str) -> impl Iterator<Item = Vec<String>> + '_ {
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || {
        rest.peek()?;
        let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
        while let Some(c) = rest.next() {
            match c {
                '"' if is_quoted && rest.peek() == Some(&'"') => {
                    rest.next();
                    field.push('"');
                }
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
                '\n' if !is_quoted => break,
                c => field.push(c),
            }
        }
        fields.push(field);
        Some(fields)
    })
}

fn in_temporary(error: std::io::Error) -> Error {
    Error::write(&std::env::temp_dir(), error)
}

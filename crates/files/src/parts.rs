//! The parts of a model or check folder belong together: the file that describes the folder
//! has a digest of each. Tables for people, from which nothing is loaded, have none.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::source::{Sources, digest, in_hexadecimal};
use super::{OutputFolder, check_files};
use linkproof_method::data::ids::Ids;
use linkproof_method::error::{Error, Result};

/// Where the digests stand in `fit.json` and `check.json`.
pub(super) const PARTS: &str = "parts";

/// The SHA-256 of each part that is loaded, and of the ids of the rows. Of the table of
/// nodes only the ids count: people edit the names.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Parts {
    files: BTreeMap<String, String>,
    row_ids: String,
}

impl Parts {
    /// The digests of files that have just been written; some may not be there.
    pub(super) fn of(folder: &OutputFolder, names: &[&str], ids: &Ids) -> Result<Parts> {
        let mut files = BTreeMap::new();
        for name in names {
            let path = folder.file(name);
            if path.exists() {
                files.insert((*name).to_owned(), digest(path)?);
            }
        }
        let row_ids = digest_of_ids(ids);
        Ok(Parts { files, row_ids })
    }

    /// Refuses a folder of which a part was read that is not the one that was written.
    pub(super) fn check(&self, folder: &Path, read: &Sources, ids: &Ids) -> Result<()> {
        let files = read.files();
        for (name, expected) in &self.files {
            let path = folder.join(name);
            let found = files.iter().find(|(read, _)| *read == path);
            if found.is_none_or(|(_, found)| found != expected) {
                let found = "a file that was not written with the others of its folder";
                let expected = "the folder as linkproof wrote it: restore this file, or make the \
                                folder again";
                return Err(Error::input(&path, None, found, expected));
            }
        }
        if self.row_ids != digest_of_ids(ids) {
            let found = "other nodes than those of the folder, or these in another order";
            let expected = "the ids as linkproof wrote them, in order; names may change";
            let path = folder.join(check_files::NODES);
            return Err(Error::input(&path, None, found, expected));
        }
        Ok(())
    }
}

fn digest_of_ids(ids: &Ids) -> String {
    let mut hasher = Sha256::new();
    for row in 0..ids.len() {
        let name = ids.name(row);
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    in_hexadecimal(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::{LINKS, load, save};
    use linkproof_method::{Dataset, Graph, Params, fit};

    #[test]
    fn parts_of_other_models_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let model = |name: &str, weight: f64| {
            let links = [(0, 1, weight), (1, 2, 2.0), (2, 3, 3.0)];
            let data = Dataset::from_links(Graph::from_rows(4, &links).unwrap()).unwrap();
            let params = Params {
                dim: 2,
                steps: Some(3),
                ..Params::default()
            };
            let path = root.path().join(name);
            save(&fit(&params.check().unwrap(), &data).unwrap(), &path).unwrap();
            path
        };
        let (one, other) = (model("one", 1.0), model("other", 5.0));
        for name in ["model.safetensors", "embeddings.npy", LINKS, "fit.json"] {
            let kept = fs::read(one.join(name)).unwrap();
            fs::copy(other.join(name), one.join(name)).unwrap();
            let error = load(&one).unwrap_err().to_string();
            assert!(error.contains("not written with the others"), "{error}");
            fs::write(one.join(name), kept).unwrap();
        }
        let nodes = one.join("nodes.csv");
        fs::write(&nodes, "node,name\n0,A\n1,B\n2,\n3,D\n").unwrap();
        assert_eq!(load(&one).unwrap().model.title(1), Some("B"));
        fs::write(&nodes, "node\n1\n0\n2\n3\n").unwrap();
        let error = load(&one).unwrap_err().to_string();
        assert!(
            error.contains("nodes.csv") && error.contains("another order"),
            "{error}"
        );
        // A folder of an earlier version has no digests.
        fs::write(&nodes, "node\n0\n1\n2\n3\n").unwrap();
        let fit = fs::read_to_string(one.join("fit.json")).unwrap();
        let mut fit: serde_json::Value = serde_json::from_str(&fit).unwrap();
        fit.as_object_mut().unwrap().remove("parts").unwrap();
        fs::write(one.join("fit.json"), fit.to_string()).unwrap();
        fs::copy(other.join(LINKS), one.join(LINKS)).unwrap();
        assert!(!load(&one).unwrap().record.contains_key("parts"));
    }
}

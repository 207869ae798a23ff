//! Folders that appear whole or not at all, and replace nothing but folders of
//! their own kind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::check::check_files;
use super::output::{Place, closed, resolved, sync_folder, unusable};
use super::side::{OutputLock, SideFolder, is_beside, one_step, recover, replace};
use linkproof_method::error::{Error, Result, quote, shown_path};

/// The names of the files of a model folder.
pub mod model_files {
    /// The encoder's weights and everything else that a model is.
    pub const MODEL: &str = "model.safetensors";
    /// The ids, in row order.
    pub const NODES: &str = "nodes.csv";
    /// The embeddings.
    pub const EMBEDDINGS: &str = "embeddings.npy";
    /// The embeddings that expected weights are made of, where a robust fit
    /// recommends averages of them.
    pub const EMBEDDINGS_PLAIN: &str = "embeddings-plain.npy";
    /// The offset of each node, in a model with offsets.
    pub const OFFSETS: &str = "offsets.csv";
    /// The beliefs of a robust fit.
    pub const BELIEFS: &str = "beliefs.csv";
    /// The flagged links of a robust fit and the most suspicious ones.
    pub const SUSPECTS: &str = super::check_files::SUSPECTS;
    /// What is known of the fit.
    pub const FIT: &str = "fit.json";
    /// The links; a build without Parquet writes the second.
    pub const LINKS: [&str; 2] = ["links.parquet", "links.csv"];
    /// The labels that a fit was given.
    pub const LABELS: &str = "labels.csv";
    /// The model as a page.
    pub const REPORT: &str = "report.html";
    /// The embeddings in other formats.
    pub const FORMATS: [&str; 3] = [
        "embeddings.parquet",
        "embeddings.csv",
        "embeddings.word2vec",
    ];

    /// All that are part of a model; a page can be made again from the others.
    pub(crate) fn parts() -> impl Iterator<Item = &'static str> {
        let single = [
            MODEL,
            NODES,
            EMBEDDINGS,
            EMBEDDINGS_PLAIN,
            OFFSETS,
            BELIEFS,
            SUSPECTS,
            FIT,
            LABELS,
        ];
        single.into_iter().chain(LINKS).chain(FORMATS)
    }

    /// The files by which a folder is known to hold a model.
    pub(crate) const MARKS: [&str; 2] = [MODEL, FIT];
}

/// What a folder of ours holds: by this it is told from folders that must not be
/// replaced.
#[derive(Debug, Clone)]
pub struct FolderKind {
    what: &'static str,
    marks: Vec<String>,
    files: Vec<String>,
}

impl FolderKind {
    /// A kind of folder: in words (`a model`), the files that are always there, and
    /// all others that may be, with `/` between a folder's name and a file's.
    pub fn new<S: Into<String>>(
        what: &'static str,
        marks: impl IntoIterator<Item = S>,
        others: impl IntoIterator<Item = S>,
    ) -> FolderKind {
        FolderKind {
            what,
            marks: marks.into_iter().map(Into::into).collect(),
            files: others.into_iter().map(Into::into).collect(),
        }
    }

    /// A model folder.
    pub fn model() -> FolderKind {
        let others = model_files::parts().chain([model_files::REPORT]);
        let others = others.chain(check_files::KEPT);
        FolderKind::new("a model", model_files::MARKS, others)
    }

    /// A check folder.
    pub fn check() -> FolderKind {
        FolderKind::new("a check", check_files::MARKS, check_files::parts())
    }

    /// The same kind, which may also hold a file that is written with the folder,
    /// where that is its place.
    pub fn and(mut self, folder: &Path, file: &Path) -> Result<FolderKind> {
        let (folder, file) = (resolved(folder)?, resolved(file)?);
        if let Ok(inside) = file.strip_prefix(&folder) {
            let parts = inside.iter().map(|part| part.to_string_lossy());
            self.files.push(parts.collect::<Vec<_>>().join("/"));
        }
        Ok(self)
    }

    /// The first file of a folder that is none of this kind's; none where all are
    /// and the marks are among them.
    fn foreign(&self, folder: &Path) -> io::Result<Option<String>> {
        let mut found = Vec::new();
        if let Some(foreign) = self.look(folder, "", &mut found)? {
            return Ok(Some(foreign));
        }
        let known = self.marks.iter().all(|mark| found.contains(mark));
        Ok(match known {
            true => None,
            false => found.into_iter().next(),
        })
    }

    fn look(
        &self,
        folder: &Path,
        before: &str,
        found: &mut Vec<String>,
    ) -> io::Result<Option<String>> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = format!("{before}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                let inner = format!("{name}/");
                if !self.names().any(|file| file.starts_with(&inner)) {
                    return Ok(Some(name));
                }
                if let Some(foreign) = self.look(&entry.path(), &inner, found)? {
                    return Ok(Some(foreign));
                }
            } else if self.names().any(|file| *file == name) || self.is_left_over(&name) {
                found.push(name);
            } else {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Whether a file is one that a kill left half written.
    fn is_left_over(&self, name: &str) -> bool {
        let started = |file: &String| {
            let (folder, file) = file.rsplit_once('/').unwrap_or(("", file));
            let name = match folder {
                "" => Some(name),
                folder => name.strip_prefix(folder).and_then(|n| n.strip_prefix('/')),
            };
            name.is_some_and(|name| is_beside(name, file))
        };
        self.names().any(started)
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.marks.iter().chain(&self.files)
    }
}

/// A folder of outputs in the making. Files go into [`OutputFolder::path`], a
/// temporary folder beside the target, until [`OutputFolder::commit`] puts all
/// of them in place at once. Dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct OutputFolder {
    // Dropped in this order, so that folders made for it are empty by then.
    side: SideFolder,
    _lock: OutputLock,
    asked: PathBuf,
    target: Place,
    kind: FolderKind,
    force: bool,
}

impl OutputFolder {
    /// Checks before any work that the target can be used: it does not exist, or is
    /// an empty folder, or, where that is asked for (`force`), holds an earlier
    /// output of the same kind and nothing else. Until this one is done with, no
    /// other process may write there. What an earlier one left that was killed is
    /// removed, finished or undone.
    pub fn create(path: impl AsRef<Path>, kind: FolderKind, force: bool) -> Result<OutputFolder> {
        let path = path.as_ref();
        let target = Place::of(path)?;
        let lock = OutputLock::of(&target, path)?;
        recover(&target).map_err(|source| closed(path, &source))?;
        check_target(path, &target, &kind, force)?;
        let side = SideFolder::new(&target);
        Ok(OutputFolder {
            side: side.map_err(|source| closed(path, &source))?,
            _lock: lock,
            asked: path.to_owned(),
            target,
            kind,
            force,
        })
    }

    /// Where to write until all is done.
    pub fn path(&self) -> &Path {
        self.side.path()
    }

    /// A file of the folder in the making.
    pub fn file(&self, name: &str) -> PathBuf {
        self.side.path().join(name)
    }

    /// Copies files of the folder that is to be replaced, but for those that have been
    /// made anew.
    pub(super) fn keep(&self, names: &[&str]) -> Result<()> {
        for name in names {
            let (from, to) = (self.target.path.join(name), self.file(name));
            if from.is_file() && !to.exists() {
                fs::copy(&from, &to).map_err(|source| Error::write(&from, source))?;
            }
        }
        Ok(())
    }

    /// Puts the folder in place, in one step where the system can. When that fails,
    /// what stood there is intact. Where it is because the target has changed, what
    /// was made is kept beside it.
    pub fn commit(self) -> Result<()> {
        let failed = |source| Error::write(&self.asked, source);
        let target = &self.target.path;
        let found = match check_target(&self.asked, &self.target, &self.kind, self.force) {
            Ok(found) => found,
            Err(Error::Output {
                path,
                found,
                expected,
                ..
            }) => {
                let made = self.side.keep(&self.target);
                let expected = format!("{expected}; what was made is in {}", shown_path(&made));
                return Err(unusable(&path, &found, &expected));
            }
            Err(other) => return Err(other),
        };
        sync_folder(self.side.path());
        {
            let _step = one_step();
            match found {
                // An empty folder goes as a new one comes.
                Found::Nothing | Found::Empty => fs::rename(self.side.path(), target),
                Found::Ours => replace(&self.side, &self.target),
            }
            .map_err(failed)?;
        }
        sync_folder(&self.target.parent);
        Ok(())
    }
}

enum Found {
    Nothing,
    Empty,
    Ours,
}

fn check_target(asked: &Path, target: &Place, kind: &FolderKind, force: bool) -> Result<Found> {
    let cannot = |source: io::Error| closed(asked, &source);
    match fs::metadata(&target.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(cannot(error)),
        Ok(there) if !there.is_dir() => {
            let expected = "expected a new or an empty folder";
            return Err(unusable(asked, "is a file", expected));
        }
        Ok(_) => {}
    }
    // Also where it is empty: a shell would stay behind in a folder that is gone.
    let here = std::env::current_dir().and_then(fs::canonicalize);
    if here.is_ok_and(|here| here.starts_with(&target.path)) {
        let found = "is or contains the current folder, which would be replaced";
        return Err(unusable(asked, found, "expected a folder of its own"));
    }
    let mut entries = fs::read_dir(&target.path).map_err(cannot)?;
    if entries.next().is_none() {
        return Ok(Found::Empty);
    }
    let what = kind.what;
    match (kind.foreign(&target.path).map_err(cannot)?, force) {
        (None, true) => Ok(Found::Ours),
        (None, false) => Err(unusable(
            asked,
            &format!("already holds {what}"),
            "expected a new or an empty folder",
        )
        .or("{force=true} replaces it as a whole")),
        (Some(name), false) => Err(unusable(
            asked,
            &format!("already holds {}", quote(&name)),
            "expected a new or an empty folder",
        )),
        (Some(name), true) => Err(unusable(
            asked,
            &format!("holds {}, which is no part of {what}", quote(&name)),
            &format!(
                "expected a new or an empty folder, or one that holds {what} and nothing else: \
                 only that is replaced"
            ),
        )),
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;

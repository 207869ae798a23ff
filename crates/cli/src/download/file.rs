//! What a file is known to be, and a file while it arrives.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use linkproof::Error;
use linkproof::io::{Listed, digest};

/// A file whose content is known beforehand.
#[derive(Debug, Clone, Copy)]
pub struct KnownFile<'f> {
    /// Its name, here and there.
    pub name: &'f str,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256 digest in hexadecimal.
    pub sha256: &'f str,
}

impl KnownFile<'_> {
    /// What a file holds instead; `None` when it is this one.
    pub fn differs(&self, path: &Path) -> Result<Option<String>, Error> {
        let at = |source| Error::read(path, source);
        let bytes = fs::metadata(path).map_err(at)?.len();
        let sha256 = digest(path)?;
        let right = bytes == self.bytes && sha256 == self.sha256;
        Ok((!right).then(|| format!("{bytes} bytes with the SHA-256 {sha256}")))
    }

    /// In words, for messages.
    pub fn expected(&self) -> String {
        format!("{} bytes with the SHA-256 {}", self.bytes, self.sha256)
    }
}

/// A file that is still arriving. An empty one goes when it is done with.
pub(super) struct Part {
    pub(super) path: PathBuf,
    file: File,
    _listed: Listed,
}

impl Part {
    pub(super) fn open(path: PathBuf) -> Result<Part, Error> {
        let opened = OpenOptions::new().append(true).create(true).open(&path);
        match opened {
            Ok(file) => Ok(Part {
                _listed: Listed::if_empty(&path),
                path,
                file,
            }),
            Err(source) => Err(Error::write(&path, source)),
        }
    }

    pub(super) fn length(&self) -> Result<u64, Error> {
        let metadata = self.file.metadata();
        let metadata = metadata.map_err(|source| Error::read(&self.path, source))?;
        Ok(metadata.len())
    }

    pub(super) fn clear(&mut self) -> Result<(), Error> {
        let cleared = self.file.set_len(0);
        cleared.map_err(|source| Error::write(&self.path, source))
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(bytes);
        written.map_err(|source| Error::write(&self.path, source))
    }

    /// Gives the file its name, now that it is whole.
    pub(super) fn finish(self, target: &Path) -> Result<(), Error> {
        let synced = self.file.sync_all();
        let renamed = synced.and_then(|()| fs::rename(&self.path, target));
        renamed.map_err(|source| Error::write(target, source))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.length().is_ok_and(|length| length == 0) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

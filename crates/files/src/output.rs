//! Files that appear whole or not at all: written to the side, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

use super::side::{Listed, SideFile};
use linkproof_method::error::{Error, Result, shown_path};

/// Writes a file to the side and renames it into place. When anything fails,
/// what stood there before is intact and nothing is left behind.
///
/// A path that is no plain file (`/dev/stdout`, a pipe) is written directly.
pub fn write_file(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    let failed = |source| Error::write(path, source);
    let target = Place::of(path)?;
    if target.is_file(path)? == Some(false) {
        let file = File::create(&target.path).map_err(|source| closed(path, &source))?;
        return fill(&file, write).map_err(failed);
    }
    let side = target.side_file(path)?;
    fill(side.as_file(), write).map_err(failed)?;
    side.as_file().sync_all().map_err(failed)?;
    side.persist(&target.path).map_err(failed)?;
    sync_folder(&target.parent);
    Ok(())
}

fn fill(
    file: &File,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 18, file);
    write(&mut writer)?;
    writer.flush()
}

/// Where an output goes.
#[derive(Debug)]
pub(super) struct Place {
    _made: MadeFolders,
    pub(super) path: PathBuf,
    pub(super) parent: PathBuf,
    pub(super) name: String,
}

impl Place {
    /// Follows links and makes missing parent folders, which go again with the
    /// place unless they hold something by then.
    pub(super) fn of(path: &Path) -> Result<Place> {
        let full = resolved(path)?;
        let (Some(parent), Some(name)) = (full.parent(), full.file_name()) else {
            let expected = "expected a name for the output";
            return Err(unusable(path, "has no name", expected));
        };
        let missing = parent.ancestors().take_while(|folder| !folder.exists());
        let made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        let made = MadeFolders {
            _listed: made
                .iter()
                .rev()
                .map(|path| Listed::if_empty(path))
                .collect(),
            folders: made,
        };
        fs::create_dir_all(parent).map_err(|source| closed(path, &source))?;
        Ok(Place {
            _made: made,
            parent: parent.to_owned(),
            name: name.to_string_lossy().into_owned(),
            path: parent.join(name),
        })
    }

    /// Whether a plain file stands there, or something else that can be written
    /// to, such as a pipe; none where nothing does.
    pub(super) fn is_file(&self, asked: &Path) -> Result<Option<bool>> {
        match fs::metadata(&self.path) {
            Ok(there) if there.is_dir() => {
                let expected = "expected the name of a file";
                Err(unusable(asked, "is a folder", expected))
            }
            Ok(there) => Ok(Some(there.is_file())),
            Err(_) => Ok(None),
        }
    }

    /// A file beside the target.
    pub(super) fn side_file(&self, asked: &Path) -> Result<SideFile> {
        SideFile::new(self).map_err(|source| closed(asked, &source))
    }
}

/// The absolute path, without links as far as it exists.
pub(super) fn resolved(path: &Path) -> Result<PathBuf> {
    let cannot = |source: io::Error| closed(path, &source);
    let full = std::path::absolute(path).map_err(cannot)?;
    let mut missing = Vec::new();
    let mut here = full.as_path();
    loop {
        match fs::canonicalize(here) {
            Ok(found) => {
                return Ok(missing.into_iter().rev().fold(found, joined));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot(error)),
        }
        if fs::symlink_metadata(here).is_ok() {
            let found = match here == full {
                true => "is a symbolic link to nothing".to_owned(),
                false => format!("{} is a symbolic link to nothing", shown_path(here)),
            };
            return Err(unusable(path, &found, "expected a place that can be made"));
        }
        let (Some(parent), Some(last)) = (here.parent(), here.components().next_back()) else {
            return Ok(full);
        };
        missing.push(last);
        here = parent;
    }
}

/// A path and one step further, which may be back.
fn joined(mut path: PathBuf, step: Component<'_>) -> PathBuf {
    match step {
        Component::ParentDir => {
            path.pop();
        }
        step => path.push(step),
    }
    path
}

/// Folders that had to be made for an output, innermost first. Those that are
/// still empty when the output is done with (because it failed) go again.
#[derive(Debug)]
struct MadeFolders {
    folders: Vec<PathBuf>,
    _listed: Vec<Listed>,
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for folder in &self.folders {
            if fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

/// Makes a rename outlast a power cut, where the system can.
pub(super) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        // Some systems cannot; the rename is done either way.
        let _ = folder.sync_all();
    }
}

pub(super) fn closed(path: &Path, source: &io::Error) -> Error {
    unusable(
        path,
        &format!("cannot be written ({source})"),
        "expected a place where files can be made",
    )
}

pub(super) fn unusable(path: &Path, found: &str, expected: &str) -> Error {
    Error::Output {
        path: path.to_owned(),
        found: found.to_owned(),
        expected: expected.to_owned(),
        remedy: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/x.csv");
        write_file(&path, |file| file.write_all(b"old")).unwrap();
        let error = write_file(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert!(matches!(error, Err(Error::Write { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(&folder.path().join("new")), ["x.csv"]);
        let error = write_file(folder.path(), |_| Ok(()));
        assert!(matches!(error, Err(Error::Output { .. })));
        let below_a_file = path.join("y");
        let error = write_file(&below_a_file, |_| Ok(()));
        assert!(matches!(error, Err(Error::Output { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn new_files_have_the_usual_permissions_and_devices_stay() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let plain = folder.path().join("plain");
        write_file(&path, |_| Ok(())).unwrap();
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&plain));
        write_file("/dev/null", |file| file.write_all(b"x")).unwrap();
        let null = fs::metadata("/dev/null").unwrap();
        assert!(null.file_type().is_char_device());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_dangling_ones_refused() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("real"), "old").unwrap();
        symlink("real", at("link")).unwrap();
        write_file(at("link"), |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(at("real")).unwrap(), b"new");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        symlink("gone", at("dangling")).unwrap();
        for path in ["dangling", "dangling/below", "dangling/far/below"] {
            let error = write_file(at(path), |_| Ok(())).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("dangling"), "{text}");
            assert!(text.contains("is a symbolic link to nothing"), "{text}");
        }
        assert!(!at("gone").exists());
    }
}

//! Outputs that appear whole or not at all: written to the side, then renamed.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Result};

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
    let target = place(path)?;
    match fs::metadata(&target.path) {
        Ok(there) if there.is_dir() => {
            return Err(unusable(path, "is a folder", "expected the name of a file"));
        }
        Ok(there) if !there.is_file() => {
            let file = File::create(&target.path).map_err(|source| closed(path, &source))?;
            return fill(&file, write).map_err(failed);
        }
        _ => {}
    }
    let mut builder = tempfile::Builder::new();
    let prefix = format!(".{}.", target.name);
    builder.prefix(&prefix);
    if let Some(permissions) = permissions(0o666) {
        builder.permissions(permissions);
    }
    let side = builder
        .tempfile_in(&target.parent)
        .map_err(|source| closed(path, &source))?;
    fill(side.as_file(), write).map_err(failed)?;
    side.as_file().sync_all().map_err(failed)?;
    side.persist(&target.path)
        .map_err(|error| failed(error.error))?;
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

/// A folder of outputs in the making. Files go into [`OutputFolder::path`], a
/// temporary folder beside the target, until [`OutputFolder::commit`] puts all
/// of them in place at once. Dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct OutputFolder {
    // Dropped first, so that folders made for it are empty by then.
    side: TempDir,
    asked: PathBuf,
    target: Place,
    force: bool,
}

impl OutputFolder {
    /// Checks before any work that the target can be used: it does not exist,
    /// or is an empty folder, or may be replaced as a whole (`force`).
    pub fn create(path: impl AsRef<Path>, force: bool) -> Result<OutputFolder> {
        let path = path.as_ref();
        let target = place(path)?;
        check_target(path, &target, force)?;
        let side = side_folder(&target).map_err(|source| closed(path, &source))?;
        Ok(OutputFolder {
            asked: path.to_owned(),
            target,
            force,
            side,
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

    /// Puts the folder in place. When that fails, what stood there is intact.
    pub fn commit(self) -> Result<()> {
        let failed = |source| Error::write(&self.asked, source);
        let target = &self.target.path;
        match check_target(&self.asked, &self.target, self.force)? {
            Found::Nothing => fs::rename(self.side.path(), target).map_err(failed)?,
            Found::Empty => {
                fs::remove_dir(target).map_err(failed)?;
                if let Err(source) = fs::rename(self.side.path(), target) {
                    // An empty folder stood there before.
                    let _ = fs::create_dir(target);
                    return Err(failed(source));
                }
            }
            Found::Content => {
                let aside = side_folder(&self.target).map_err(failed)?;
                let old = aside.path().join("old");
                fs::rename(target, &old).map_err(failed)?;
                if let Err(source) = fs::rename(self.side.path(), target) {
                    if fs::rename(&old, target).is_err() {
                        // Better a folder under another name than none.
                        let _ = aside.keep();
                    }
                    return Err(failed(source));
                }
            }
        }
        // It has moved: there is nothing left to remove.
        let _ = self.side.keep();
        sync_folder(&self.target.parent);
        Ok(())
    }
}

/// Where an output goes.
#[derive(Debug)]
struct Place {
    _made: MadeFolders,
    path: PathBuf,
    parent: PathBuf,
    name: String,
}

/// Follows links and makes missing parent folders.
fn place(path: &Path) -> Result<Place> {
    let cannot = |source: io::Error| closed(path, &source);
    let full = match fs::canonicalize(path) {
        Ok(full) => full,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::path::absolute(path).map_err(cannot)?
        }
        Err(error) => return Err(cannot(error)),
    };
    let (Some(parent), Some(name)) = (full.parent(), full.file_name()) else {
        return Err(unusable(
            path,
            "has no name",
            "expected a name for the output",
        ));
    };
    let missing = parent.ancestors().take_while(|folder| !folder.exists());
    let made = MadeFolders(missing.map(Path::to_owned).collect());
    fs::create_dir_all(parent).map_err(cannot)?;
    Ok(Place {
        _made: made,
        parent: parent.to_owned(),
        name: name.to_string_lossy().into_owned(),
        path: parent.join(name),
    })
}

/// Folders that had to be made for an output, innermost first. Those that are
/// still empty when the output is done with (because it failed) go again.
#[derive(Debug)]
struct MadeFolders(Vec<PathBuf>);

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for folder in &self.0 {
            if fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

enum Found {
    Nothing,
    Empty,
    Content,
}

fn check_target(asked: &Path, target: &Place, force: bool) -> Result<Found> {
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
    let mut entries = fs::read_dir(&target.path).map_err(cannot)?;
    let Some(first) = entries.next() else {
        return Ok(Found::Empty);
    };
    let first = first.map_err(cannot)?.file_name();
    if !force {
        return Err(unusable(
            asked,
            &format!("already holds '{}'", first.to_string_lossy()),
            "expected a new or an empty folder; say --force to replace it as a whole",
        ));
    }
    if std::env::current_dir().is_ok_and(|here| here.starts_with(&target.path)) {
        return Err(unusable(
            asked,
            "is or contains the current folder, which --force would remove",
            "expected a folder of its own",
        ));
    }
    Ok(Found::Content)
}

fn side_folder(target: &Place) -> io::Result<TempDir> {
    let prefix = format!(".{}.", target.name);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    if let Some(permissions) = permissions(0o777) {
        builder.permissions(permissions);
    }
    builder.tempdir_in(&target.parent)
}

/// What a new file or folder may be used for, less what the user's mask takes.
#[cfg(unix)]
fn permissions(mode: u32) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn permissions(_: u32) -> Option<Permissions> {
    None
}

/// Makes a rename outlast a power cut, where the system can.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        // Some systems cannot; the rename is done either way.
        let _ = folder.sync_all();
    }
}

fn closed(path: &Path, source: &io::Error) -> Error {
    unusable(
        path,
        &format!("cannot be written ({source})"),
        "expected a place where files can be made",
    )
}

fn unusable(path: &Path, found: &str, expected: &str) -> Error {
    Error::Output {
        path: path.to_owned(),
        found: found.to_owned(),
        expected: expected.to_owned(),
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

    #[test]
    fn folders_appear_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a/model");
        let made = OutputFolder::create(&target, false).unwrap();
        fs::write(made.file("x"), "1").unwrap();
        drop(made);
        assert!(names(folder.path()).is_empty());

        let made = OutputFolder::create(&target, false).unwrap();
        fs::write(made.file("x"), "1").unwrap();
        made.commit().unwrap();
        assert_eq!(names(&target), ["x"]);

        let error = OutputFolder::create(&target, false).unwrap_err();
        assert!(matches!(error, Error::Output { .. }));
        let text = error.to_string();
        assert!(
            text.contains("already holds 'x'") && text.contains("--force"),
            "{text}"
        );

        let made = OutputFolder::create(&target, true).unwrap();
        fs::write(made.file("y"), "2").unwrap();
        assert_eq!(names(&target), ["x"]);
        made.commit().unwrap();
        assert_eq!(names(&target), ["y"]);
        assert_eq!(names(&folder.path().join("a")), ["model"]);

        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        let made = OutputFolder::create(&empty, false).unwrap();
        fs::write(made.file("z"), "3").unwrap();
        made.commit().unwrap();
        assert_eq!(names(&empty), ["z"]);
    }

    #[test]
    fn unusable_targets_are_refused_before_any_work() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [&file, &file.join("below"), Path::new("/"), Path::new(".")] {
            let error = OutputFolder::create(path, true).unwrap_err();
            assert!(matches!(error, Error::Output { .. }), "{error}");
        }
    }
}

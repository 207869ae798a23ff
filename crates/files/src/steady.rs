//! Several files of a folder that may be replaced while they are read: all are of the
//! old one or all of the new one.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use linkproof_method::error::{Error, Result};

use super::side::{is_being_replaced, recovered};

/// How often a folder is read again that was replaced meanwhile.
const TRIES: usize = 1000;
/// How long to wait for a folder that is about to come.
const PAUSE: Duration = Duration::from_millis(2);

/// Reads files of a folder, again where it was replaced meanwhile.
pub(super) fn steady<T>(folder: &Path, mut read: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..TRIES {
        recovered(folder);
        // While it is held open no other folder gets its number.
        let held = File::open(folder);
        let found = read();
        match held {
            Ok(held) if is_still_at(&held, folder) => return found,
            Ok(_) => {}
            // Not there when it was opened. Some systems open no folders.
            Err(_) if found.is_err() || cfg!(not(unix)) => {
                let comes = is_being_replaced(folder);
                if !comes && (cfg!(not(unix)) || !folder.exists()) {
                    return found;
                }
                std::thread::sleep(PAUSE);
            }
            Err(_) => {}
        }
    }
    let why = "replaced again and again while it was read";
    Err(Error::input(folder, None, why, "a folder that stays"))
}

/// Whether a folder that is held open is the one that has this name.
#[cfg(unix)]
fn is_still_at(held: &File, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |there: std::fs::Metadata| (there.dev(), there.ino());
    match (held.metadata(), std::fs::metadata(folder)) {
        (Ok(held), Ok(there)) => place(held) == place(there),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_still_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{FolderKind, OutputFolder};

    fn write(target: &Path, text: &str) {
        let kind = FolderKind::new("a letter", ["x", "y"], []);
        let made = OutputFolder::create(target, kind, true).unwrap();
        fs::write(made.file("x"), text).unwrap();
        fs::write(made.file("y"), text).unwrap();
        made.commit().unwrap();
    }

    fn part(folder: &Path, name: &str) -> Result<String> {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|source| Error::read(&path, source))
    }

    #[test]
    fn a_folder_that_is_replaced_meanwhile_is_read_again() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("m");
        write(&folder, "0");
        let mut times = 0;
        let found = steady(&folder, || {
            let first = part(&folder, "x")?;
            times += 1;
            if times <= 3 {
                write(&folder, &times.to_string());
            }
            Ok((first, part(&folder, "y")?))
        });
        assert_eq!(found.unwrap(), ("3".to_owned(), "3".to_owned()));
        assert_eq!(times, 4);
        // By another name of the same folder.
        #[cfg(unix)]
        {
            let other = root.path().join("other");
            std::os::unix::fs::symlink(&folder, &other).unwrap();
            assert_eq!(steady(&other, || part(&other, "x")).unwrap(), "3");
        }
    }

    #[test]
    fn what_is_wrong_with_a_folder_that_stays_is_told() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("m");
        let mut times = 0;
        let mut read = || {
            times += 1;
            part(&folder, "x")
        };
        assert!(matches!(
            steady(&folder, &mut read),
            Err(Error::Read { .. })
        ));
        fs::create_dir(&folder).unwrap();
        assert!(matches!(
            steady(&folder, &mut read),
            Err(Error::Read { .. })
        ));
        assert_eq!(times, 2);
    }

    #[test]
    fn a_folder_that_never_stays_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let (folder, other) = (root.path().join("m"), root.path().join("n"));
        fs::create_dir(&folder).unwrap();
        let error = steady(&folder, || {
            // Both are alive, so that the numbers differ.
            fs::create_dir(&other).unwrap();
            fs::remove_dir(&folder).unwrap();
            fs::rename(&other, &folder).unwrap();
            Ok(())
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("again and again"), "{error}");
    }
}

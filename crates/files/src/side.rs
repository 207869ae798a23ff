//! What is made beside an output until it is whole. Its name says what it is for, so
//! that the next run there knows it; a lock on it dies with the process that makes
//! it, so that the next run knows whether anyone still does; and it is listed, so
//! that a process that has to end at once can take it along.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::{NamedTempFile, TempDir};

use linkproof_method::error::Result;

use super::output::{Place, closed, resolved, unusable};

/// Stands between the name of an output and what makes a name beside it its own.
const MARK: &str = ".linkproof-";
/// The letters by which such names differ.
const LETTERS: usize = 6;
/// Names are cut to so many bytes: a system takes 255 in all.
const LONGEST: usize = 200;
/// How often something new is made when a run that cleans up was faster.
const TRIES: usize = 100;

/// What is listed, to be removed where the process has to end at once.
static LISTED: Mutex<Vec<Unfinished>> = Mutex::new(Vec::new());
/// Held while an output is put in place, which is not to be cut in two.
static STEP: Mutex<()> = Mutex::new(());

fn held<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps [`remove_unfinished`] waiting for as long as it lives.
pub(super) fn one_step() -> MutexGuard<'static, ()> {
    held(&STEP)
}

/// Something on disk that is of no use unless the work is finished. While it lives,
/// [`remove_unfinished`] removes it.
#[derive(Debug, PartialEq, Eq, Clone)]
enum Unfinished {
    /// A file, or a folder with all that it holds.
    All(PathBuf),
    /// A file or a folder, if it is empty.
    IfEmpty(PathBuf),
}

/// An entry in the list of what [`remove_unfinished`] removes.
#[derive(Debug)]
pub struct Listed(Unfinished);

impl Listed {
    /// A file, or a folder with all that it holds.
    pub fn all(path: &Path) -> Listed {
        Listed::new(Unfinished::All(path.to_owned()))
    }

    /// A file or a folder, if it is empty by then.
    pub fn if_empty(path: &Path) -> Listed {
        Listed::new(Unfinished::IfEmpty(path.to_owned()))
    }

    fn new(what: Unfinished) -> Listed {
        held(&LISTED).push(what.clone());
        Listed(what)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut list = held(&LISTED);
        if let Some(place) = list.iter().rposition(|what| *what == self.0) {
            list.remove(place);
        }
    }
}

/// Removes all that this process has not finished writing; for a process that is
/// about to end at once. An output that is being put in place comes to stand there
/// first, and none is put in place afterwards.
pub fn remove_unfinished() {
    // Whoever has run out of memory may hold one of these.
    let wait = |mutex: &'static Mutex<()>| {
        let until = Instant::now() + Duration::from_millis(300);
        while Instant::now() < until {
            if let Ok(guard) = mutex.try_lock() {
                return Some(guard);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    };
    std::mem::forget(wait(&STEP));
    let Ok(list) = LISTED.try_lock() else {
        return;
    };
    for what in list.iter() {
        if let Unfinished::All(path) = what {
            remove(path);
        }
    }
    // Folders were listed before those inside them.
    for what in list.iter().rev() {
        if let Unfinished::IfEmpty(path) = what {
            let is_empty = fs::metadata(path).is_ok_and(|there| there.len() == 0);
            if fs::remove_dir(path).is_err() && is_empty {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn remove(path: &Path) {
    // What is gone, or cannot be removed, is no reason to stop.
    let _ = match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        _ => fs::remove_file(path),
    };
}

/// A name beside an output.
fn beside(place: &Place, what: &str) -> PathBuf {
    place.parent.join(prefix(&place.name) + what)
}

fn prefix(name: &str) -> String {
    let cut = (0..=name.len().min(LONGEST)).rev();
    let end = cut.into_iter().find(|&end| name.is_char_boundary(end));
    format!(".{}{MARK}", &name[..end.unwrap_or(0)])
}

/// Whether a name is one that a run gives to what it makes beside an output of
/// another name.
pub(super) fn is_beside(name: &str, output: &str) -> bool {
    let rest = name.strip_prefix(prefix(output).as_str());
    rest.is_some_and(|rest| {
        rest.len() == LETTERS && rest.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// Whether a folder is empty but for what a run left there that was killed.
pub fn holds_nothing(folder: &Path) -> bool {
    let is_left_over = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_unfinished))
    };
    fs::read_dir(folder).is_ok_and(|mut entries| entries.all(is_left_over))
}

/// Whether a name is one that a run gives to what it makes beside any output.
pub(super) fn is_unfinished(name: &str) -> bool {
    name.starts_with('.') && name.contains(MARK)
}

/// Removes what runs left beside an output that ended before they could.
pub(super) fn clear_leftovers(place: &Place) {
    let Ok(entries) = fs::read_dir(&place.parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name
            .to_str()
            .is_some_and(|name| is_beside(name, &place.name))
        {
            continue;
        }
        let path = entry.path();
        // A maker that is alive holds the lock.
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
            && is_at(&file, &path)
        {
            remove(&path);
        }
    }
}

/// Whether an open file or folder is the one that has this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |there: fs::Metadata| (there.dev(), there.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(there)) => place(open) == place(there),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Locks what was just made; false where a run that cleans up was faster.
fn is_ours(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // A file system without locks has to do without.
        Ok(()) | Err(TryLockError::Error(_)) => is_at(file, path),
    }
}

fn made<T>(
    place: &Place,
    mode: u32,
    make: impl Fn(&tempfile::Builder<'_, '_>) -> io::Result<T>,
    is_ours: impl Fn(&T) -> bool,
) -> io::Result<T> {
    let prefix = prefix(&place.name);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).rand_bytes(LETTERS);
    if let Some(permissions) = permissions(mode) {
        builder.permissions(permissions);
    }
    for _ in 0..TRIES {
        let made = make(&builder)?;
        if is_ours(&made) {
            return Ok(made);
        }
    }
    Err(io::Error::other("what is made there goes at once"))
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

/// A file beside its target. Dropped, it goes.
#[derive(Debug)]
pub(super) struct SideFile {
    file: NamedTempFile,
    _listed: Listed,
}

impl SideFile {
    pub(super) fn new(place: &Place) -> io::Result<SideFile> {
        clear_leftovers(place);
        let ours = |file: &NamedTempFile| is_ours(file.as_file(), file.path());
        let file = made(
            place,
            0o666,
            |builder| builder.tempfile_in(&place.parent),
            ours,
        )?;
        Ok(SideFile {
            _listed: Listed::all(file.path()),
            file,
        })
    }

    pub(super) fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives it the name of its target.
    pub(super) fn persist(self, target: &Path) -> io::Result<()> {
        let _step = one_step();
        let persisted = self.file.persist(target);
        persisted.map(drop).map_err(|error| error.error)
    }
}

/// A folder beside its target. Dropped, it goes.
#[derive(Debug)]
pub(super) struct SideFolder {
    folder: TempDir,
    _lock: Option<File>,
    _listed: Listed,
}

impl SideFolder {
    pub(super) fn new(place: &Place) -> io::Result<SideFolder> {
        clear_leftovers(place);
        let make = |builder: &tempfile::Builder<'_, '_>| {
            let folder = builder.tempdir_in(&place.parent)?;
            // Some systems open no folders, and lock none.
            let lock = File::open(folder.path()).ok();
            Ok((folder, lock))
        };
        let ours = |(folder, lock): &(TempDir, Option<File>)| {
            lock.as_ref()
                .is_none_or(|lock| is_ours(lock, folder.path()))
        };
        let (folder, lock) = made(place, 0o777, make, ours)?;
        Ok(SideFolder {
            _listed: Listed::all(folder.path()),
            folder,
            _lock: lock,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives the folder a name under which the next run leaves it alone.
    pub(super) fn keep(self, place: &Place) -> PathBuf {
        let made = self.folder.path().to_owned();
        let name = made.file_name().unwrap_or_default().to_string_lossy();
        let letters = &name[name.len().saturating_sub(LETTERS)..];
        let kept = place.parent.join(format!("{}.kept-{letters}", place.name));
        match fs::rename(&made, &kept) {
            Ok(()) => kept,
            Err(_) => self.folder.keep(),
        }
    }
}

/// The right to write to a place, which nobody else has until it is dropped or the
/// process ends.
#[derive(Debug)]
pub struct OutputLock {
    // Removed while it is still locked.
    path: PathBuf,
    file: Option<File>,
    _listed: Listed,
}

impl OutputLock {
    /// Takes the right to write a file or folder, which need not exist, and removes
    /// what runs left beside it that were killed.
    ///
    /// # Errors
    /// [`Error::Output`](linkproof_method::Error::Output) where another process has it.
    pub fn take(path: impl AsRef<Path>) -> Result<OutputLock> {
        let path = path.as_ref();
        let place = Place::of(path)?;
        let lock = OutputLock::of(&place, path)?;
        clear_leftovers(&place);
        Ok(lock)
    }

    pub(super) fn of(place: &Place, asked: &Path) -> Result<OutputLock> {
        let path = beside(place, "lock");
        for _ in 0..TRIES {
            let opened = OpenOptions::new().create(true).append(true).open(&path);
            let file = opened.map_err(|source| closed(asked, &source))?;
            let is_locked = match file.try_lock() {
                Ok(()) if is_at(&file, &path) => true,
                // Its last holder has just removed it.
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) => {
                    let expected = "expected to wait for that one, or another place";
                    let found = "is being written by another process";
                    return Err(unusable(asked, found, expected));
                }
                // A file system without locks has to do without.
                Err(TryLockError::Error(_)) => false,
            };
            return Ok(OutputLock {
                _listed: Listed::all(&path),
                path,
                file: is_locked.then_some(file),
            });
        }
        let source = io::Error::other("its lock goes as soon as it is made");
        Err(closed(asked, &source))
    }
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        drop(self.file.take());
    }
}

/// Puts a folder in the place of another, which goes. When that fails, the other is
/// intact.
pub(super) fn replace(side: &SideFolder, place: &Place) -> io::Result<()> {
    if exchange(side.path(), &place.path).is_ok() {
        // The other goes with the name that the new one had.
        return Ok(());
    }
    // In an order that `recover` knows how to go on with.
    let (new, old) = (beside(place, "new"), beside(place, "old"));
    remove(&new);
    remove(&old);
    fs::rename(side.path(), &new)?;
    let back = |error| {
        let _ = fs::rename(&new, side.path());
        error
    };
    fs::rename(&place.path, &old).map_err(back)?;
    if let Err(error) = fs::rename(&new, &place.path) {
        let _ = fs::rename(&old, &place.path);
        return Err(back(error));
    }
    remove(&old);
    Ok(())
}

/// Exchanges two folders in one step, where the system can.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    #[cfg(test)]
    if tests::CANNOT_EXCHANGE.get() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Finishes a replacement that a process did not live to finish, or undoes it. Under
/// the lock of the place.
pub(super) fn recover(place: &Place) -> io::Result<()> {
    let there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let (new, old) = (beside(place, "new"), beside(place, "old"));
    if !there(&place.path) {
        // The new one was whole before the old one left.
        let whole = [&new, &old].into_iter().find(|path| there(path));
        whole
            .map(|path| fs::rename(path, &place.path))
            .transpose()?;
    }
    if there(&place.path) {
        remove(&new);
        remove(&old);
    }
    Ok(())
}

/// Whether a folder is missing because another is about to take its place.
pub(super) fn is_being_replaced(folder: &Path) -> bool {
    let Ok(full) = resolved(folder) else {
        return false;
    };
    let (Some(parent), Some(name)) = (full.parent(), full.file_name()) else {
        return false;
    };
    let prefix = prefix(&name.to_string_lossy());
    ["new", "old"]
        .map(|what| parent.join(prefix.clone() + what))
        .iter()
        .any(|path| path.exists())
}

/// As [`recover`], for whoever wants to read a folder that is not there.
pub(super) fn recovered(folder: &Path) {
    let is_beside_something =
        || resolved(folder).is_ok_and(|full| full.parent().is_some_and(Path::is_dir));
    if folder.exists() || !is_beside_something() {
        return;
    }
    let Ok(place) = Place::of(folder) else {
        return;
    };
    if is_being_replaced(folder)
        && let Ok(_lock) = OutputLock::of(&place, folder)
    {
        // What cannot be mended is told as missing.
        let _ = recover(&place);
    }
}

#[cfg(test)]
#[path = "side_tests.rs"]
mod tests;

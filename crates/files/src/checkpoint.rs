//! Checkpoints: what solvers remember, kept in a folder beside an output, so that a
//! run that was cut short goes on to the same result.
//!
//! The folder holds a header, which says what the work is, and a file for each solver
//! on its way or done, named by a digest of its inputs. A run that goes on does
//! everything again but the solvers: those that were done are read, and those that
//! were on their way go on from where they were.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::output::{unusable, write_file};
use super::side::{OutputLock, holds_nothing, is_unfinished};
use linkproof_method::engine::runtime::{Keeper, Stage};
use linkproof_method::error::{Error, Result, shown_path};

/// The file that says what a folder's states belong to.
const HEADER: &str = "checkpoint.json";
const DIGEST: usize = 32;
/// Unless the user says how often, all saves together may take one part in so many
/// of the time.
const COST: u32 = 200;
/// A result is kept that took longer than one part in so many of the time between
/// two saves; a shorter one is found again as fast as it is read.
const WORTH: u32 = 100;

/// How many saves are under way in this process.
static SAVING: AtomicUsize = AtomicUsize::new(0);

/// When a checkpoint is made.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The time between two saves of a solver.
    pub every: Duration,
    /// How long the work has to have run before the first.
    pub first: Duration,
    /// Whether saves that take long are made less often.
    pub adapts: bool,
}

impl Default for Pace {
    /// Every five minutes, once the work has run for five.
    fn default() -> Self {
        Pace {
            every: Duration::from_secs(300),
            first: Duration::from_secs(300),
            adapts: true,
        }
    }
}

impl Pace {
    /// Every so many seconds, from the start.
    pub fn every(seconds: f64) -> Result<Pace> {
        match Duration::try_from_secs_f64(seconds) {
            Ok(every) => Ok(Pace {
                every,
                first: Duration::ZERO,
                adapts: false,
            }),
            Err(_) => Err(Error::argument(
                "every",
                "a number of seconds of 0 or more",
                seconds,
            )),
        }
    }
}

/// A folder in which a piece of work keeps how far it has come.
#[derive(Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    work: Map<String, Value>,
    pace: Pace,
    started: Instant,
    state: Mutex<State>,
    _lock: OutputLock,
}

#[derive(Debug, Clone, Copy)]
struct State {
    /// Whether the folder is ours by now.
    is_open: bool,
    /// The last save took so long.
    took: Duration,
    saves: usize,
}

impl Checkpoint {
    /// Where a piece of work, described by what its result depends on, will keep how
    /// far it has come. Nothing is written yet. A checkpoint that an earlier piece of
    /// work left there stays until the first save.
    ///
    /// # Errors
    /// A folder that holds something else.
    pub fn begin(folder: &Path, work: Map<String, Value>, pace: Pace) -> Result<Checkpoint> {
        let lock = OutputLock::take(folder)?;
        if folder.exists() && !Checkpoint::is_there(folder) && !holds_nothing(folder) {
            let expected = "expected a new folder, an empty one or a checkpoint's";
            return Err(unusable(folder, "is no checkpoint and not empty", expected));
        }
        Ok(Checkpoint::new(folder, work, pace, lock, false))
    }

    /// Goes on with a piece of work.
    ///
    /// # Errors
    /// A folder that holds no checkpoint, or one of other work: it says what differs.
    pub fn resume(folder: &Path, work: Map<String, Value>, pace: Pace) -> Result<Checkpoint> {
        let lock = OutputLock::take(folder)?;
        let path = folder.join(HEADER);
        let text = fs::read_to_string(&path).map_err(|source| Error::read(&path, source))?;
        let kept: Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
            Error::input(
                &path,
                Some(error.line() as u64),
                error.to_string(),
                "a checkpoint's header",
            )
        })?;
        let names = kept.keys().chain(work.keys());
        let mut other: Vec<&str> = names
            .filter(|name| kept.get(*name) != work.get(*name))
            .map(String::as_str)
            .collect();
        other.sort_unstable();
        other.dedup();
        if other.is_empty() {
            return Ok(Checkpoint::new(folder, work, pace, lock, true));
        }
        let differences: Vec<String> = other
            .iter()
            .map(|name| match (kept.get(*name), work.get(*name)) {
                (Some(Value::Object(kept)), Some(Value::Object(work))) => differing(kept, work),
                (kept, work) => format!("{name} {} and not {}", shown(kept), shown(work)),
            })
            .collect();
        Err(Error::input(
            &path,
            None,
            format!("a checkpoint of other work: {}", differences.join(", ")),
            "one of the same data, settings and version",
        ))
    }

    fn new(
        folder: &Path,
        work: Map<String, Value>,
        pace: Pace,
        lock: OutputLock,
        is_open: bool,
    ) -> Checkpoint {
        Checkpoint {
            folder: folder.to_owned(),
            work,
            pace,
            started: Instant::now(),
            state: Mutex::new(State {
                is_open,
                took: Duration::ZERO,
                saves: 0,
            }),
            _lock: lock,
        }
    }

    /// Whether a folder holds a checkpoint.
    pub fn is_there(folder: &Path) -> bool {
        folder.join(HEADER).is_file()
    }

    /// Whether a state is being written in this process.
    pub fn is_saving() -> bool {
        SAVING.load(Ordering::Relaxed) > 0
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether there is anything to go on from.
    pub fn has_states(&self) -> bool {
        self.now().is_open
    }

    /// How often a state was saved.
    pub fn saves(&self) -> usize {
        self.now().saves
    }

    /// Removes the folder: the work is done.
    pub fn finish(self) {
        if self.has_states() {
            // One that stays does no harm: the next run says that it is there.
            let _ = clear(&self.folder);
        }
    }

    fn now(&self) -> State {
        *self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn path(&self, key: &str, stage: Stage) -> PathBuf {
        let stage = match stage {
            Stage::Running => "running",
            Stage::Done => "done",
        };
        self.folder.join(format!("{key}.{stage}"))
    }

    /// Makes the folder ours, which held a checkpoint or nothing.
    fn open(&self) -> Result<()> {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.is_open {
            return Ok(());
        }
        let cannot = |source| Error::write(&self.folder, source);
        if self.folder.exists() {
            clear(&self.folder).map_err(cannot)?;
        }
        fs::create_dir_all(&self.folder).map_err(cannot)?;
        let text = serde_json::to_string_pretty(&self.work).unwrap_or_default();
        write_file(self.folder.join(HEADER), |file| writeln!(file, "{text}"))?;
        state.is_open = true;
        Ok(())
    }
}

/// Removes the files of a checkpoint, the header last, and the folder if that is all:
/// other files stay.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("running" | "done")) || is_left_over(&path) {
            fs::remove_file(&path)?;
        }
    }
    match fs::remove_file(folder.join(HEADER)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// Whether a file is one that a kill left half written.
fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_str().is_some_and(is_unfinished)
}

fn shown(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
    text.chars().take(60).collect()
}

/// The entries in which two objects differ.
fn differing(kept: &Map<String, Value>, work: &Map<String, Value>) -> String {
    let names = kept
        .keys()
        .chain(work.keys().filter(|name| !kept.contains_key(*name)));
    let parts = names
        .filter(|name| kept.get(*name) != work.get(*name))
        .map(|name| {
            format!(
                "{name} {} and not {}",
                shown(kept.get(name)),
                shown(work.get(name))
            )
        });
    parts.collect::<Vec<_>>().join(", ")
}

impl Keeper for Checkpoint {
    fn recall(&self, key: &str, stage: Stage) -> Result<Option<Box<dyn Read>>> {
        if !self.has_states() {
            return Ok(None);
        }
        // A file that is not there or is damaged counts as none: the work is done again.
        Ok(sound(&self.path(key, stage), key)
            .ok()
            .map(|file| Box::new(file) as Box<dyn Read>))
    }

    fn is_due(&self, since: Duration) -> bool {
        let wait = match self.pace.adapts {
            true => self.pace.every.max(self.now().took * COST),
            false => self.pace.every,
        };
        since >= wait && self.started.elapsed() >= self.pace.first
    }

    fn is_worth(&self, took: Duration) -> bool {
        took >= self.pace.every / WORTH && self.started.elapsed() >= self.pace.first
    }

    fn keep(
        &self,
        key: &str,
        stage: Stage,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let _saving = Saving::new();
        let clock = Instant::now();
        self.open()?;
        write_file(self.path(key, stage), |file| {
            let mut hashed = Hashed {
                inner: file,
                hasher: Sha256::new_with_prefix(key),
            };
            write(&mut hashed)?;
            let digest = hashed.hasher.finalize();
            file.write_all(&digest)
        })?;
        if stage == Stage::Done {
            let _ = fs::remove_file(self.path(key, Stage::Running));
        }
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        state.took = clock.elapsed();
        state.saves += 1;
        Ok(())
    }
}

struct Saving;

impl Saving {
    fn new() -> Saving {
        SAVING.fetch_add(1, Ordering::Relaxed);
        Saving
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        SAVING.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Hashed<'f, 'w> {
    inner: &'f mut BufWriter<&'w File>,
    hasher: Sha256,
}

impl Write for Hashed<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The content of a file that ends with a digest of its key and its content: a state that
/// was kept under another key counts as damaged.
fn sound(path: &Path, key: &str) -> io::Result<impl Read + use<>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let content = length.checked_sub(DIGEST as u64);
    let content = content.ok_or_else(|| io::Error::other("too short"))?;
    let mut hasher = Sha256::new_with_prefix(key);
    let mut bytes = vec![0; 1 << 16];
    let mut left = (&mut file).take(content);
    loop {
        match left.read(&mut bytes)? {
            0 => break,
            read => hasher.update(&bytes[..read]),
        }
    }
    let mut digest = [0; DIGEST];
    file.read_exact(&mut digest)?;
    if hasher.finalize()[..] != digest {
        let message = format!("{} is damaged", shown_path(path));
        return Err(io::Error::other(message));
    }
    file.rewind()?;
    Ok(BufReader::with_capacity(1 << 16, file).take(content))
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;

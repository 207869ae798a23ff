//! Ctrl-C and its kin: the first lets work end between two steps, and where that
//! takes too long ends it anyway; the second ends the program at once. In either case
//! nothing half done is left.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use linkproof::io::Checkpoint;

use crate::exit;

/// Whether a signal asked the program to stop.
static STOP: AtomicBool = AtomicBool::new(false);
/// Where a checkpoint is or will be, and how to go on from it.
static KEPT: Mutex<Option<(PathBuf, String)>> = Mutex::new(None);

/// So long may work take to end by itself.
const GRACE: Duration = Duration::from_millis(500);

/// Listens, from now on to the end.
pub fn listen() -> anyhow::Result<()> {
    let ignored = ignores_hangups();
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            end();
        }
        // Apart, so that a second signal is heard meanwhile. Where no thread can be
        // had, the work has to end by itself.
        let _ = std::thread::Builder::new().spawn(|| {
            std::thread::sleep(GRACE);
            // A state that is being kept is worth waiting for.
            while Checkpoint::is_saving() {
                std::thread::sleep(Duration::from_millis(10));
            }
            end();
        });
    })
    .context("cannot listen for interrupts")?;
    if ignored {
        ignore_hangups();
    }
    Ok(())
}

fn end() -> ! {
    let way_on = way_on().map_or_else(String::new, |words| format!("; {words}"));
    exit::at_once(exit::STOPPED, &format!("stopped by the user{way_on}"))
}

/// Says where work that is stopped can be gone on with, once there is something.
pub fn goes_on_from(folder: &Path, words: &str) {
    if let Ok(mut kept) = KEPT.lock() {
        *kept = Some((folder.to_owned(), words.to_owned()));
    }
}

/// How to go on with work that was stopped, where that can be.
pub fn way_on() -> Option<String> {
    let kept = KEPT.lock().ok()?;
    let (folder, words) = kept.as_ref()?;
    Checkpoint::is_there(folder).then(|| words.clone())
}

/// Whether a signal has come.
pub fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Whether whoever started the program (`nohup`) wants it to outlive the terminal.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    // The mask has a bit for each signal, and a hangup is the first.
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 != 0)
}

#[cfg(unix)]
fn ignore_hangups() {
    // SAFETY: to ignore a signal runs no code of ours, and this is what it was before
    // the handler of interrupts took all signals.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
}

#[cfg(not(unix))]
fn ignore_hangups() {}

//! Ctrl-C and its kin: the first lets work end between two steps, and where that
//! takes too long ends it anyway; the second ends the program at once. In either case
//! nothing half done is left.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;

use crate::exit;

/// Whether a signal asked the program to stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// So long may work take to end by itself.
const GRACE: Duration = Duration::from_millis(500);

/// Listens, from now on to the end.
pub fn listen() -> anyhow::Result<()> {
    let ignored = ignores_hangups();
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            exit::at_once(exit::STOPPED, "stopped by the user");
        }
        // Apart, so that a second signal is heard meanwhile. Where no thread can be
        // had, the work has to end by itself.
        let _ = std::thread::Builder::new().spawn(|| {
            std::thread::sleep(GRACE);
            exit::at_once(exit::STOPPED, "stopped by the user");
        });
    })
    .context("cannot listen for interrupts")?;
    if ignored {
        ignore_hangups();
    }
    Ok(())
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

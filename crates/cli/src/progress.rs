//! Progress on standard error: step, value, held-out score, rate, time left.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use linkproof::engine::runtime::{Event, Monitor, Record};

use crate::memory;
use crate::session::Session;

const STEPS: &str =
    "{spinner} step {pos} of at most {len}  {msg}  {per_sec}  {elapsed} so far, at most {eta} left";

/// What a person sees while a command works; nothing where nobody looks.
pub struct Progress {
    bar: ProgressBar,
    held_out: Mutex<Option<f64>>,
    counts_steps: AtomicBool,
}

impl Monitor for Progress {
    fn after(&self, event: Event<'_>) -> bool {
        match event {
            Event::Step { record, most } => self.step(record, most),
            Event::Fits { done, most } => self.fits(done, most),
            _ => {}
        }
        !Session::is_stopped()
    }
}

impl Progress {
    /// Starts with a few words on what is being done.
    pub fn start(session: &Session, words: &'static str) -> Progress {
        let bar = if session.shows_progress() {
            let bar = ProgressBar::no_length();
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        } else {
            ProgressBar::hidden()
        };
        let progress = Progress {
            bar,
            held_out: Mutex::new(None),
            counts_steps: AtomicBool::new(false),
        };
        progress.style("{spinner} {msg}  {elapsed}");
        progress.say(words);
        progress
    }

    /// Says what is being done now.
    pub fn say(&self, words: &'static str) {
        memory::doing(words);
        self.bar.set_message(words);
    }

    /// Steps aside while something else is said.
    pub fn aside<V>(&self, say: impl FnOnce() -> V) -> V {
        self.bar.suspend(say)
    }

    /// Shows one step of a fit.
    fn step(&self, record: &Record, most: usize) {
        if record.step == 1 {
            memory::doing("fitting");
        }
        if self.bar.is_hidden() {
            return;
        }
        if !self.counts_steps.swap(true, Ordering::Relaxed) {
            self.style(STEPS);
            self.bar.set_length(most as u64);
            self.bar.reset_eta();
        }
        let mut known = self.held_out.lock().unwrap_or_else(PoisonError::into_inner);
        *known = record.held_out.or(*known);
        let held_out = known.map_or_else(String::new, |score| format!("  held out {score:.6}"));
        let message = format!("value {:.6}{held_out}", record.value);
        self.bar.set_message(message);
        self.bar.set_position(record.step as u64);
    }

    /// Shows that `done` of `all` things are done.
    pub fn count(&self, done: u64, all: u64, things: &'static str) {
        if self.bar.is_hidden() {
            return;
        }
        if !self.counts_steps.swap(true, Ordering::Relaxed) {
            self.style("{spinner} {pos} of {len} {msg}  {per_sec}  {eta} left");
            self.bar.set_length(all);
        }
        self.bar.set_message(things);
        self.bar.set_position(done);
    }

    /// Shows that `done` of `all` bytes of a file are here.
    pub fn bytes(&mut self, done: u64, all: u64, file: &'static str) {
        if self.bar.is_hidden() {
            return;
        }
        if self.bar.length() != Some(all) {
            // What an earlier run fetched does not count for the rate.
            self.bar.set_position(done);
            self.bar.set_length(all);
            self.bar.reset_eta();
            self.bar.set_message(file);
            self.style("{spinner} {msg}  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left");
        }
        self.bar.set_position(done);
    }

    /// Shows that `done` of at most `all` fits are done, from any thread.
    fn fits(&self, done: usize, all: usize) {
        if self.bar.is_hidden() {
            return;
        }
        if self.bar.length() != Some(all as u64) {
            self.style(
                "{spinner} {pos} of at most {len} fits  {elapsed} so far, at most {eta} left",
            );
            self.bar.set_length(all as u64);
            self.bar.reset_eta();
        }
        self.bar.set_position(done as u64);
    }

    /// Shows that `done` of `all` cells of an experiment are done, and about how
    /// many seconds the others will take; from any thread.
    pub fn cells(&self, done: usize, all: usize, left: f64) {
        if self.bar.is_hidden() {
            return;
        }
        self.style("{spinner} {pos} of {len} cells  {elapsed} so far, about {msg} left");
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        let left = Duration::from_secs_f64(left.clamp(0.0, 1e7).round());
        self.bar
            .set_message(indicatif::HumanDuration(left).to_string());
    }

    /// Clears the line.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }

    fn style(&self, template: &str) {
        // A template that does not parse would leave the plain style.
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }
}

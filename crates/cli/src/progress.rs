//! Progress on standard error: what is done, how far it has come, time left.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use linkproof::engine::runtime::{Doing, Event, Monitor, Record};
use linkproof::text::figures;

use crate::memory;
use crate::session::Session;

/// A line that is drawn again several times a second, so that its times go on.
const LINE: &str = "{spinner} {msg}  {elapsed} so far{left}";
const REDRAWN: Duration = Duration::from_millis(200);

/// What a person sees while a command works; nothing where nobody looks.
pub struct Progress {
    bar: ProgressBar,
    clock: Instant,
    shown: Mutex<Shown>,
    left: Left,
}

/// When it was known how many seconds are left, and how many.
type Left = Arc<Mutex<Option<(Instant, f64)>>>;

/// What is known of the work.
#[derive(Default)]
struct Shown {
    doing: Option<Doing>,
    held_out: Option<f64>,
    /// By what is counted.
    paces: HashMap<&'static str, Pace>,
}

impl Monitor for Progress {
    fn after(&self, event: Event<'_>) -> bool {
        match event {
            Event::Doing(doing) => self.begin(doing),
            Event::Step { record, left, .. } => self.step(record, left),
            Event::Fits { done, most, share } => self.show("fits", share, 1.0, |shown, _| {
                format!("{}{done} of about {most} fits", shown.words(", "))
            }),
            Event::Share(share) => self.show("share", share, 1.0, |shown, _| {
                format!("{}{:.0}%", shown.words(", "), (100.0 * share).floor())
            }),
            _ => {}
        }
        !Session::is_stopped()
    }
}

impl Shown {
    fn words(&self, after: &str) -> String {
        self.doing
            .map_or_else(String::new, |it| format!("{it}{after}"))
    }

    /// The pace of what is counted after so much of it is done.
    fn pace(&mut self, what: &'static str, now: f64, done: f64) -> Option<f64> {
        self.paces.entry(what).or_default().after(now, done)
    }
}

impl Progress {
    /// Starts with a few words on what is being done.
    pub fn start(session: &Session, words: &'static str) -> Progress {
        let bar = if session.shows_progress() {
            let bar = ProgressBar::no_length();
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(REDRAWN);
            bar
        } else {
            ProgressBar::hidden()
        };
        let left = Left::default();
        let told = Arc::clone(&left);
        let in_line = move |_: &ProgressState, line: &mut dyn Write| {
            let told = *told.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((since, seconds)) = told {
                let left = in_words(seconds - since.elapsed().as_secs_f64());
                let _ = write!(line, ", {left}");
            }
        };
        // A template that does not parse would leave the plain style.
        if let Ok(style) = ProgressStyle::with_template(LINE) {
            bar.set_style(style.with_key("left", in_line));
        }
        let progress = Progress {
            bar,
            clock: Instant::now(),
            shown: Mutex::default(),
            left,
        };
        progress.say(words);
        progress
    }

    /// Says what is being done now.
    pub fn say(&self, words: &'static str) {
        memory::give_back_free();
        memory::doing(words);
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Shown::default();
        self.set(words.to_owned(), None);
    }

    fn set(&self, message: String, seconds_left: Option<f64>) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = seconds_left.map(|seconds| (Instant::now(), seconds));
        self.bar.set_message(message);
    }

    /// Steps aside while something else is said.
    pub fn aside<V>(&self, say: impl FnOnce() -> V) -> V {
        self.bar.suspend(say)
    }

    /// Shows that work of another kind begins.
    fn begin(&self, doing: Doing) {
        let now = self.clock.elapsed().as_secs_f64();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.doing = Some(doing);
        shown.paces.remove("share");
        shown.pace("share", now, 0.0);
        self.bar.set_message(doing.to_string());
        if doing == Doing::Averaging {
            // No fit is left to tell how long it takes.
            self.set(doing.to_string(), None);
        }
    }

    /// Shows how far some work is; the words get its pace, where that is known.
    fn show(
        &self,
        what: &'static str,
        done: f64,
        all: f64,
        words: impl FnOnce(&Shown, Option<f64>) -> String,
    ) {
        if self.bar.is_hidden() {
            return;
        }
        let now = self.clock.elapsed().as_secs_f64();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = shown.pace(what, now, done);
        let left = pace.map(|pace| (all - done).max(0.0) / pace);
        self.set(words(&shown, pace), left);
    }

    /// Shows one step of a fit, after which about so many are left.
    fn step(&self, record: &Record, left: usize) {
        if record.step == 1 {
            memory::doing("fitting");
        }
        if let Ok(mut shown) = self.shown.lock() {
            shown.held_out = record.held_out.or(shown.held_out);
        }
        let done = record.step as f64;
        self.show("steps", done, done + left as f64, |shown, _| {
            let mut words = format!("fitting, step {}  value {:.6}", record.step, record.value);
            if let Some(score) = shown.held_out {
                let _ = write!(words, "  held out {score:.6}");
            }
            words
        });
    }

    /// Shows that `done` of `all` things are done. Their pace is their own: what was done
    /// before the first of them does not count.
    pub fn count(&self, done: u64, all: u64, things: &'static str) {
        self.show(things, done as f64, all as f64, |_, pace| {
            let pace = pace.map_or_else(String::new, |pace| format!("  {}/s", figures(pace)));
            format!("{done} of {all} {things}{pace}")
        });
    }

    /// Shows that `done` of `all` bytes of a file are here.
    pub fn bytes(&self, done: u64, all: u64, file: &'static str) {
        self.show(file, done as f64, all as f64, |_, pace| {
            let pace = pace.map_or_else(String::new, |it| format!("  {}/s", HumanBytes(it as u64)));
            format!("{file}  {} of {}{pace}", HumanBytes(done), HumanBytes(all))
        });
    }

    /// Shows that `done` of `all` cells of an experiment are done, and how much of the cost
    /// of those that were open; from any thread.
    pub fn cells(&self, done: usize, all: usize, cost: f64, open_cost: f64) {
        self.show("cells", cost, open_cost, |_, _| {
            format!("{done} of {all} cells")
        });
    }

    /// Clears the line.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// The pace of some work is that of so many reports: fits slow down and speed up.
const REPORTS: usize = 20;

/// How fast something gets done. Pure: the time is given.
#[derive(Debug, Default)]
struct Pace {
    /// When it was, and what was done.
    reports: VecDeque<(f64, f64)>,
}

impl Pace {
    /// So much is done; how much a second, where that is known.
    fn after(&mut self, now: f64, done: f64) -> Option<f64> {
        self.reports.push_back((now, done));
        if self.reports.len() > REPORTS + 1 {
            self.reports.pop_front();
        }
        let &(since, first) = self.reports.front()?;
        let pace = (done - first) / (now - since);
        Some(pace).filter(|pace| pace.is_finite() && *pace > 0.0)
    }
}

/// Work that is so many seconds late is not nearly done.
const LATE: f64 = -2.0;

/// Seconds left, as people say it.
fn in_words(seconds: f64) -> String {
    match seconds.round() {
        ..LATE => "longer than foreseen".to_owned(),
        ..1.0 => "nearly done".to_owned(),
        seconds if seconds < 60.0 => format!("about {seconds:.0}s left"),
        seconds if seconds < 3600.0 => {
            let (minutes, rest) = ((seconds / 60.0).floor(), seconds % 60.0);
            format!("about {minutes:.0}m {rest:02.0}s left")
        }
        seconds => {
            let minutes = (seconds / 60.0).round();
            let (hours, rest) = ((minutes / 60.0).floor(), minutes % 60.0);
            format!("about {hours:.0}h {rest:02.0}m left")
        }
    }
}

#[cfg(test)]
mod tests;

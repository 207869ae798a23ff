//! Progress on standard error: what is done, how far it has come, time left.

mod left;

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use linkproof::engine::runtime::{Doing, Event, Monitor, Record};

use self::left::{Pace, TimeLeft, in_figures};
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
    /// When it was told how many seconds are left, and how many.
    left: Left,
}

type Left = Arc<Mutex<Option<(Instant, f64)>>>;

/// What is known of the work.
#[derive(Default)]
struct Shown {
    doing: Option<Doing>,
    held_out: Option<f64>,
    time: TimeLeft,
    /// The things that are counted.
    counts: Option<&'static str>,
    pace: Pace,
}

impl Monitor for Progress {
    fn after(&self, event: Event<'_>) -> bool {
        match event {
            Event::Doing(doing) => self.begin(doing),
            Event::Step { record, left, .. } => self.step(record, left),
            Event::Fits { done, most, share } => self.fits(done, most, share),
            Event::Tick => self.tick(),
            Event::Share(share) => self.share(share),
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
            bar.enable_steady_tick(REDRAWN);
            bar
        } else {
            ProgressBar::hidden()
        };
        let progress = Progress {
            bar,
            clock: Instant::now(),
            shown: Mutex::default(),
            left: Left::default(),
        };
        progress.style(LINE);
        progress.say(words);
        progress
    }

    /// Says what is being done now.
    pub fn say(&self, words: &'static str) {
        memory::give_back_free();
        memory::doing(words);
        self.know(|shown| *shown = Shown::default());
        self.tell_left(None);
        self.style(LINE);
        self.bar.set_message(words);
    }

    fn know<V>(&self, learn: impl FnOnce(&mut Shown) -> V) -> V {
        learn(&mut self.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn now(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }

    fn tell_left(&self, seconds: Option<f64>) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = seconds.map(|seconds| (Instant::now(), seconds));
    }

    /// Steps aside while something else is said.
    pub fn aside<V>(&self, say: impl FnOnce() -> V) -> V {
        self.bar.suspend(say)
    }

    /// Shows that work of another kind begins.
    fn begin(&self, doing: Doing) {
        let now = self.now();
        self.know(|shown| {
            shown.doing = Some(doing);
            shown.time.begin(now);
        });
        self.bar.set_message(doing.to_string());
        if doing == Doing::Averaging {
            // No fit is left to tell how long it takes.
            self.tell_left(None);
        }
    }

    /// Shows one step of a fit, after which about so many are left.
    fn step(&self, record: &Record, left: usize) {
        if record.step == 1 {
            memory::doing("fitting");
        }
        if self.bar.is_hidden() {
            return;
        }
        let now = self.now();
        let (held_out, left) = self.know(|shown| {
            shown.held_out = record.held_out.or(shown.held_out);
            (
                shown.held_out,
                shown.time.after_step(now, record.step, left),
            )
        });
        let mut message = format!("fitting, step {}  value {:.6}", record.step, record.value);
        if let Some(score) = held_out {
            let _ = write!(message, "  held out {score:.6}");
        }
        self.bar.set_message(message);
        self.tell_left(left);
    }

    /// Shows that such a share of the work that began last is done.
    fn share(&self, share: f64) {
        if self.bar.is_hidden() {
            return;
        }
        let now = self.now();
        let (doing, left) = self.know(|shown| (shown.doing, shown.time.after_share(now, share)));
        let doing = doing.map_or_else(|| "working".to_owned(), |doing| doing.to_string());
        let percent = (100.0 * share).floor();
        self.bar.set_message(format!("{doing}, {percent:.0}%"));
        self.tell_left(left);
    }

    /// Hears of a step of one of many fits.
    fn tick(&self) {
        if !self.bar.is_hidden() {
            let now = self.now();
            // Only what is news: it is counted down by itself.
            if let Some(left) = self.know(|shown| shown.time.after_tick(now)) {
                self.tell_left(Some(left));
            }
        }
    }

    /// Shows that `done` of `all` things are done. Their pace is their own: what was done
    /// before the first of them does not count.
    pub fn count(&self, done: u64, all: u64, things: &'static str) {
        if self.bar.is_hidden() {
            return;
        }
        let now = self.now();
        let pace = self.know(|shown| {
            if shown.counts.replace(things) != Some(things) {
                shown.pace = Pace::default();
            }
            shown.pace.after(now, done)
        });
        let mut message = format!("{done} of {all} {things}");
        if let Some(pace) = pace {
            let _ = write!(message, "  {}/s", in_figures(pace));
        }
        self.bar.set_message(message);
        self.tell_left(pace.map(|pace| all.saturating_sub(done) as f64 / pace));
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

    /// Shows that `done` of about `all` fits are done, with them this share of the work;
    /// from any thread.
    fn fits(&self, done: usize, all: usize, share: f64) {
        if self.bar.is_hidden() {
            return;
        }
        let now = self.now();
        let (doing, left) = self.know(|shown| {
            let left = shown.time.after_fit(now, done, all, share);
            (shown.doing, left)
        });
        let doing = doing.map_or_else(String::new, |doing| format!("{doing}, "));
        self.bar
            .set_message(format!("{doing}{done} of about {all} fits"));
        self.tell_left(left);
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
            let told = Arc::clone(&self.left);
            let left = move |_: &ProgressState, line: &mut dyn Write| {
                let told = *told.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((since, seconds)) = told {
                    let left = left::in_words(seconds - since.elapsed().as_secs_f64());
                    let _ = write!(line, ", {left}");
                }
            };
            self.bar.set_style(style.with_key("left", left));
        }
    }
}

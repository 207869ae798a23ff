//! Seconds that work has left, by what it has done and what it says is to do. Pure: the
//! time is told.

use std::collections::VecDeque;

/// The pace of a fit is that of so many steps.
const PACE: usize = 20;
/// The steps of one of many fits, until one of them is done.
const USUAL_STEPS: f64 = 90.0;
/// Before so many steps nothing is said of many fits.
const FIRST_STEPS: usize = 5;

/// What is known of the pace of some work.
#[derive(Debug, Default)]
pub struct TimeLeft {
    /// Steps of a fit, and when they were done.
    steps: VecDeque<(f64, usize)>,
    many: Option<Many>,
    /// When the work began whose shares are reported.
    began: Option<f64>,
}

/// Many fits.
#[derive(Debug)]
struct Many {
    began: f64,
    done: usize,
    all: usize,
    ticks: usize,
}

impl TimeLeft {
    /// Work begins of which shares may be told.
    pub fn begin(&mut self, now: f64) {
        self.began = Some(now);
    }

    /// Such a share of the work is done.
    pub fn after_share(&mut self, now: f64, share: f64) -> Option<f64> {
        rest(now - *self.began.get_or_insert(now), share)
    }

    /// A step of a fit is done, and about so many are left.
    pub fn after_step(&mut self, now: f64, step: usize, left: usize) -> Option<f64> {
        self.steps.push_back((now, step));
        if self.steps.len() > PACE + 1 {
            self.steps.pop_front();
        }
        let &(since, first) = self.steps.front()?;
        let steps = step.checked_sub(first).filter(|&steps| steps > 0)?;
        Some((now - since) / steps as f64 * left as f64)
    }

    /// Of about so many fits so many are done, and with them this share of the work.
    pub fn after_fit(&mut self, now: f64, done: usize, all: usize, share: f64) -> Option<f64> {
        let many = self.many.get_or_insert(Many {
            began: now,
            done,
            all,
            ticks: 0,
        });
        (many.done, many.all) = (done, all);
        rest(now - many.began, share)
    }

    /// A step of one of many fits is done: all that is known until one of them is.
    pub fn after_tick(&mut self, now: f64) -> Option<f64> {
        let many = self.many.as_mut()?;
        many.ticks += 1;
        if many.done > 0 || many.ticks < FIRST_STEPS {
            return None;
        }
        let share = many.ticks as f64 / (USUAL_STEPS * many.all.max(1) as f64);
        rest(now - many.began, share.min(0.9))
    }
}

/// The pace of things that are counted, from the first that was told of.
#[derive(Debug, Default)]
pub struct Pace {
    since: Option<(f64, u64)>,
}

impl Pace {
    /// So many are done; how many a second, where that is known.
    pub fn after(&mut self, now: f64, done: u64) -> Option<f64> {
        let &mut (since, first) = self.since.get_or_insert((now, done));
        let pace = done.saturating_sub(first) as f64 / (now - since);
        Some(pace).filter(|pace| pace.is_finite() && *pace > 0.0)
    }
}

/// A number of things a second, as short as it can be said.
pub fn in_figures(pace: f64) -> String {
    match pace {
        100.0.. => format!("{pace:.0}"),
        1.0.. => format!("{pace:.1}"),
        _ => format!("{pace:.2}"),
    }
}

/// Seconds left where a share of the work took so many.
fn rest(seconds: f64, share: f64) -> Option<f64> {
    (share > 0.0).then(|| seconds * (1.0 - share).max(0.0) / share)
}

/// Work that is so many seconds late is not nearly done.
const LATE: f64 = -2.0;

/// Seconds left, as people say it.
pub fn in_words(seconds: f64) -> String {
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
#[path = "left_tests.rs"]
mod tests;

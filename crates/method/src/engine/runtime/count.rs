//! Fits counted over all stages of some work, with what is to do.

use std::sync::{Mutex, PoisonError};

use super::{Doing, Event, Monitor, Runtime};

/// Counts fits over all stages of some work, whose stages count their own.
pub struct FitCount<'r> {
    runtime: Runtime<'r>,
    counted: Mutex<Counted>,
}

/// Fits of one kind: how many are expected, and what one costs against others.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Fits {
    /// How many are expected.
    pub number: usize,
    /// What one costs.
    pub cost: f64,
}

/// What is done and what is to do.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    done: usize,
    spent: f64,
    stage: Fits,
    later: Fits,
}

impl Counted {
    fn after_fit(&mut self) -> Event<'static> {
        self.done += 1;
        self.spent += self.stage.cost;
        self.stage.number = self.stage.number.saturating_sub(1);
        self.event()
    }

    fn event(&self) -> Event<'static> {
        let cost = |fits: Fits| fits.number as f64 * fits.cost;
        let all = self.spent + cost(self.stage) + cost(self.later);
        Event::Fits {
            done: self.done,
            most: self.done + self.stage.number + self.later.number,
            share: self.spent / all.max(f64::MIN_POSITIVE),
        }
    }
}

impl<'r> FitCount<'r> {
    /// Nothing is done, and so many fits are expected that all cost the same.
    pub fn new(runtime: Runtime<'r>, number: usize) -> FitCount<'r> {
        let stage = Fits { number, cost: 1.0 };
        let counted = Counted {
            stage,
            ..Counted::default()
        };
        FitCount {
            runtime,
            counted: Mutex::new(counted),
        }
    }

    /// The runtime of the stages.
    pub fn runtime(&self) -> Runtime<'_> {
        Runtime {
            monitor: self,
            ..self.runtime
        }
    }

    /// Begins a stage: what its fits are for, how many are expected, and what is
    /// expected after it.
    pub fn begin(&self, doing: Doing, stage: Fits, later: Fits) {
        self.correct(stage, later);
        self.runtime.begins(doing);
        let event = self.told(|counted| counted.event());
        self.runtime.monitor.after(event);
    }

    fn told<V>(&self, tell: impl FnOnce(&mut Counted) -> V) -> V {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        tell(&mut counted)
    }

    /// Corrects what is expected of the stage and after it.
    pub fn correct(&self, stage: Fits, later: Fits) {
        self.told(|counted| (counted.stage, counted.later) = (stage, later));
    }
}

impl Monitor for FitCount<'_> {
    fn after(&self, event: Event<'_>) -> bool {
        let event = match event {
            Event::Fits { .. } => self.told(Counted::after_fit),
            other => other,
        };
        self.runtime.monitor.after(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_count_by_what_they_cost_and_expectations_can_be_corrected() {
        let seen = Mutex::new(Vec::new());
        let watch = |event: Event<'_>| {
            if let Event::Fits { done, most, share } = event {
                seen.lock().unwrap().push((done, most, share));
            }
            true
        };
        let count = FitCount::new(Runtime::watched_by(&watch), 4);
        let fits = |number, cost| Fits { number, cost };
        count.begin(Doing::Sifting, fits(2, 1.0), fits(3, 2.0));
        // Stages count their own.
        count.runtime().after_fit(7, 9);
        count.runtime().after_fit(8, 9);
        count.begin(Doing::Settling, fits(2, 2.0), fits(0, 0.0));
        count.runtime().after_fit(1, 1);
        count.runtime().after_fit(1, 1);
        // One more than was expected.
        count.runtime().after_fit(1, 1);
        let expected = [
            (0, 5, 0.0),
            (1, 5, 1.0 / 8.0),
            (2, 5, 2.0 / 8.0),
            (2, 4, 2.0 / 6.0),
            (3, 4, 4.0 / 6.0),
            (4, 4, 1.0),
            (5, 5, 1.0),
        ];
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}

//! Time left on recorded work: two fits to citation graphs.

use linkproof::engine::{Standing, steps_left};

use super::*;

const PATIENCE: usize = 10;

/// The recorded fits: seconds and held-out score of each step.
fn recorded() -> Vec<Vec<(f64, f64)>> {
    let text = include_str!("recorded.txt");
    let mut fits: Vec<Vec<(f64, f64)>> = Vec::new();
    for line in text.lines().skip(1) {
        match line.split_once(' ') {
            Some(("#", _)) => fits.push(Vec::new()),
            Some((seconds, score)) => {
                let numbers = (seconds.parse().unwrap(), score.parse().unwrap());
                fits.last_mut().unwrap().push(numbers);
            }
            None => panic!("{line}"),
        }
    }
    fits
}

/// For each step when it was done, what was said to be left, and what was left.
fn told(fit: &[(f64, f64)]) -> Vec<(f64, f64, f64)> {
    let mut pace = Pace::default();
    let (mut best, mut waited) = (f64::INFINITY, 0);
    let all = fit[fit.len() - 1].0;
    let after = |(place, &(now, score)): (usize, &(f64, f64))| {
        waited = if score < best { 0 } else { waited + 1 };
        best = best.min(score);
        let left = steps_left(Standing {
            step: place + 1,
            most: 500,
            usual: Some(100),
            patience: Some((waited, PATIENCE, 1)),
        });
        let pace = pace.after(now, place as f64)?;
        Some((now, left as f64 / pace, all - now))
    };
    fit.iter().enumerate().filter_map(after).collect()
}

#[test]
fn what_is_said_of_recorded_fits_is_of_the_size_of_what_was_left() {
    let fits = recorded();
    assert_eq!(fits.iter().map(Vec::len).collect::<Vec<_>>(), [172, 56]);
    for fit in fits {
        let told = told(&fit);
        let all = told[told.len() - 1].0;
        assert_eq!(told.len(), fit.len() - 1, "from the second step on");
        for &(now, said, truth) in &told {
            // Never minutes for seconds, nor seconds for minutes: within a factor of
            // four, or of half of the whole.
            let slack = 0.5 * all;
            let fits = said < 4.0 * truth + slack && truth < 4.0 * said + slack;
            assert!(fits, "after {now:.1} of {all:.1}: {said:.1} for {truth:.1}");
        }
        // At most so many steps at this pace, as it was told before, is ten times that.
        let (now, said, truth) = told[10];
        let most = now / 12.0 * 488.0;
        assert!(
            most > 3.0 * truth && said < 4.0 * truth,
            "{most} {said} {truth}"
        );
    }
}

#[test]
fn a_fit_that_slows_down_is_told_by_its_last_steps() {
    let mut pace = Pace::default();
    assert_eq!(pace.after(0.0, 1.0), None);
    assert_eq!(pace.after(1.0, 2.0), Some(1.0));
    for step in 3..=30 {
        pace.after(f64::from(step) * 10.0, f64::from(step));
    }
    let found = pace.after(310.0, 31.0).unwrap();
    assert!((found - 0.1).abs() < 1e-6, "{found}");
}

#[test]
fn seconds_as_people_say_them() {
    let words = [
        -1.0, 0.4, 1.0, 59.4, 59.6, 61.0, 600.0, 3599.4, 3600.0, 7260.0,
    ]
    .map(in_words);
    let expected = [
        "nearly done",
        "nearly done",
        "about 1s left",
        "about 59s left",
        "about 1m 00s left",
        "about 1m 01s left",
        "about 10m 00s left",
        "about 59m 59s left",
        "about 1h 00m left",
        "about 2h 01m left",
    ];
    assert_eq!(words, expected);
}

#[test]
fn things_that_are_counted_have_a_clock_of_their_own() {
    // A layout of 500 rounds in 8 seconds, after 45 seconds of other work.
    let mut pace = Pace::default();
    assert_eq!(pace.after(45.0, 0.0), None, "nothing is known of it yet");
    for round in 1..=500 {
        let round = f64::from(round);
        let found = pace.after(45.0 + 8.0 * round / 500.0, round).unwrap();
        assert!((found - 62.5).abs() < 1e-6, "{round}: {found}");
    }
    // Where the first that is heard of is not the first.
    let mut pace = Pace::default();
    assert_eq!(pace.after(10.0, 7.0), None);
    assert_eq!(pace.after(12.0, 11.0), Some(2.0));
    assert_eq!(
        [-3.0, -1.0].map(in_words),
        ["longer than foreseen", "nearly done"]
    );
}

use std::sync::atomic::AtomicBool;

use linkproof_method::data::dataset::Dataset;
use linkproof_method::params::{
    Descent, Mlp, OptimizerKind, Params, Precision, Sampler, Sampling, SolverKind,
};
use linkproof_method::robust::{Recipe, fit_model};
use linkproof_method::select::{Search, select};
use linkproof_method::{Event, Fit, Fitted, Runtime};

use super::*;

fn data(seed: u64) -> Dataset {
    use linkproof_lab::synthetic::{Noise, synthetic};
    synthetic(seed, Noise::false_links(0.02)).unwrap().data
}

fn work(name: &str) -> Map<String, Value> {
    Map::from_iter([("work".to_owned(), Value::from(name))])
}

fn often() -> Pace {
    Pace::every(0.0).unwrap()
}

/// Runs work that is stopped after so many steps, over and over, until it is done;
/// how often it was stopped.
fn by_pieces<V>(folder: &Path, steps: usize, run: impl Fn(Runtime<'_>) -> Result<V>) -> (V, usize) {
    let mut stops = 0;
    loop {
        let kept = match Checkpoint::is_there(folder) {
            true => Checkpoint::resume(folder, work("w"), often()).unwrap(),
            false => Checkpoint::begin(folder, work("w"), often()).unwrap(),
        };
        let left = AtomicUsize::new(steps);
        let monitor = |event: Event<'_>| match event {
            Event::Step { .. } | Event::Tick => {
                let before = left.fetch_sub(1, Ordering::Relaxed);
                // Those that run beside the one that was stopped stop as well.
                before > 1 && before < usize::MAX / 2
            }
            _ => true,
        };
        match run(Runtime::watched_by(&monitor).kept_by(&kept)) {
            Ok(found) => {
                kept.finish();
                assert!(!folder.exists(), "nothing is left");
                return (found, stops);
            }
            Err(Error::Interrupted { .. }) => stops += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(stops < 10_000);
    }
}

fn same(a: &Fitted, b: &Fitted) {
    assert_eq!(a.embeddings(), b.embeddings());
    let (a, b) = (a.report(), b.report());
    assert_eq!(
        (a.steps, a.best_step, a.stop_reason),
        (b.steps, b.best_step, b.stop_reason)
    );
    assert_eq!((a.value, a.held_out), (b.value, b.held_out));
    let without_time = |report: &linkproof_method::model::FitReport| -> Vec<_> {
        let records = report.history.iter();
        records
            .map(|record| {
                (
                    record.step,
                    record.value,
                    record.gradient_norm,
                    record.held_out,
                )
            })
            .collect()
    };
    assert_eq!(without_time(a), without_time(b));
}

#[test]
fn fits_in_pieces_have_the_bits_of_whole_ones() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("c");
    let data = data(3);
    let base = Params {
        dim: 3,
        steps: Some(40),
        ..Params::default()
    };
    let exact = |optimizer| Params {
        solver: Some(SolverKind::Exact),
        optimizer: Some(optimizer),
        ..base.clone()
    };
    let sgd = |sampler| Params {
        solver: Some(SolverKind::Sgd),
        sampling: Sampling {
            sampler,
            block: Some(32),
            ..Sampling::default()
        },
        ..base.clone()
    };
    let table = |params: Params| Params {
        encoder: Some(linkproof_method::params::EncoderKind::Table),
        ..params
    };
    let cases = [
        exact(OptimizerKind::Lbfgs),
        Params {
            precision: Precision::F64,
            validation: Some(0.0),
            ..exact(OptimizerKind::Lbfgs)
        },
        exact(OptimizerKind::Adam),
        Params {
            offsets: true,
            ..exact(OptimizerKind::Lbfgs)
        },
        Params {
            offsets: true,
            ..table(sgd(Sampler::Block))
        },
        Params {
            descent: Descent {
                radius: Some(0.5),
                ..Descent::default()
            },
            ..exact(OptimizerKind::Sgd)
        },
        sgd(Sampler::Block),
        sgd(Sampler::Pairs),
        table(sgd(Sampler::Block)),
        Params {
            encoder: Some(linkproof_method::params::EncoderKind::Mlp),
            mlp: Mlp {
                hidden: vec![7],
                dropout: 0.3,
                ..Mlp::default()
            },
            ..exact(OptimizerKind::Adam)
        },
    ];
    for params in cases {
        let params = params.check().unwrap();
        let whole = Fit::new(&params).run(&data).unwrap();
        for steps in [1, 7] {
            let (fitted, stops) = by_pieces(&at, steps, |runtime| {
                Fit::new(&params).runtime(runtime).run(&data)
            });
            assert!(stops >= whole.report().steps / steps - 1, "{stops}");
            same(&whole, &fitted);
        }
    }
}

#[test]
fn searches_and_robust_fits_go_on_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("c");
    let data = data(5);
    let base = Params {
        dim: 2,
        ..Params::default()
    };
    let params = base.clone().check().unwrap();
    let recipe = Recipe::default();
    let whole = fit_model(&params, &data, &recipe, Runtime::default()).unwrap();
    let (pieces, stops) = by_pieces(&at, 8, |runtime| {
        fit_model(&params, &data, &recipe, runtime)
    });
    assert!(stops > 1, "{stops}");
    same(&whole.model, &pieces.model);
    assert_eq!(
        format!("{:?}", whole.summary.facts.explained),
        format!("{:?}", pieces.summary.facts.explained)
    );

    let search = Search::around(&base);
    let whole = select(&base, &data, &search, Runtime::default()).unwrap();
    let (pieces, stops) = by_pieces(&at, 200, |runtime| select(&base, &data, &search, runtime));
    assert!(stops > 1, "{stops}");
    assert_eq!(
        format!("{:?}", whole.chosen),
        format!("{:?}", pieces.chosen)
    );
    assert_eq!(
        format!("{:?}", whole.candidates),
        format!("{:?}", pieces.candidates)
    );
}

fn interrupted(folder: &Path, data: &Dataset, params: &Params) {
    let params = params.clone().check().unwrap();
    let kept = Checkpoint::begin(folder, work("w"), often()).unwrap();
    let monitor =
        |event: Event<'_>| !matches!(event, Event::Step { record, .. } if record.step == 5);
    let runtime = Runtime::watched_by(&monitor).kept_by(&kept);
    assert!(Fit::new(&params).runtime(runtime).run(data).is_err());
    assert!(kept.has_states());
}

fn params() -> Params {
    Params {
        dim: 2,
        steps: Some(12),
        ..Params::default()
    }
}

#[test]
fn other_work_is_refused_and_says_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("c");
    interrupted(&at, &data(1), &params());
    let refused = |work| {
        Checkpoint::resume(&at, work, often())
            .unwrap_err()
            .to_string()
    };
    let text = refused(work("v"));
    assert!(text.contains(r#"work "w" and not "v""#), "{text}");
    let nothing = folder.path().join("nothing");
    assert!(Checkpoint::resume(&nothing, work("w"), often()).is_err());
    assert!(!nothing.exists());
    // Two processes at once.
    let first = Checkpoint::resume(&at, work("w"), often()).unwrap();
    assert!(refused(work("w")).contains("another process"));
    drop(first);
    // A folder of other things is not written to.
    fs::write(folder.path().join("mine"), "").unwrap();
    assert!(Checkpoint::begin(folder.path(), work("w"), often()).is_err());
}

/// What is kept is found by its inputs: other data or settings do not get it, even
/// if the header were to say so.
#[test]
fn states_of_other_inputs_and_damaged_ones_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("c");
    let (one, two) = (data(1), data(2));
    let first_step = |data: &Dataset, params: &Params| {
        let params = params.clone().check().unwrap();
        let kept = Checkpoint::resume(&at, work("w"), Pace::default()).unwrap();
        let first = AtomicUsize::new(0);
        let monitor = |event: Event<'_>| {
            if let Event::Step { record, .. } = event {
                first.store(record.step, Ordering::Relaxed);
            }
            false
        };
        let runtime = Runtime::watched_by(&monitor).kept_by(&kept);
        assert!(Fit::new(&params).runtime(runtime).run(data).is_err());
        first.load(Ordering::Relaxed)
    };
    interrupted(&at, &one, &params());
    assert_eq!(first_step(&one, &params()), 6);
    assert_eq!(first_step(&two, &params()), 1);
    let ridge = Params {
        ridge: Some(0.3),
        ..params()
    };
    assert_eq!(first_step(&one, &ridge), 1);
    let files = fs::read_dir(&at)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let state = files
        .into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "running"));
    let state = state.unwrap();
    let bytes = fs::read(&state).unwrap();
    for place in [0, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        fs::write(&state, &damaged).unwrap();
        assert_eq!(first_step(&one, &params()), 1, "{place}");
        fs::write(&state, &bytes[..place]).unwrap();
        assert_eq!(first_step(&one, &params()), 1, "{place}");
    }
}

#[test]
fn nothing_is_saved_before_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("c");
    let stopped = AtomicBool::new(false);
    let kept = Checkpoint::begin(&at, work("w"), Pace::default()).unwrap();
    let monitor = |_: Event<'_>| !stopped.swap(true, Ordering::Relaxed);
    let params = params().check().unwrap();
    let runtime = Runtime::watched_by(&monitor).kept_by(&kept);
    assert!(Fit::new(&params).runtime(runtime).run(&data(1)).is_err());
    assert!(!at.exists() && kept.saves() == 0);
    assert!(Pace::every(-1.0).is_err() && Pace::every(f64::NAN).is_err());
}

#[test]
fn a_state_under_another_key_is_none() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("state");
    let kept = Checkpoint::begin(&folder, work("w"), often()).unwrap();
    kept.keep("one", Stage::Done, &mut |to| to.write_all(b"found"))
        .unwrap();
    fs::copy(folder.join("one.done"), folder.join("two.done")).unwrap();
    let mut text = String::new();
    let mut one = kept.recall("one", Stage::Done).unwrap().unwrap();
    one.read_to_string(&mut text).unwrap();
    assert_eq!(text, "found");
    assert!(kept.recall("two", Stage::Done).unwrap().is_none());
}

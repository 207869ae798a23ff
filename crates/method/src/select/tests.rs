use super::*;
use crate::measure::{KMeans, purity};
use crate::model::fit;
use crate::params::{Descent, Normalize, OptimizerKind, ScoreKind};
use crate::synthetic::{CLUSTERS, Noise, synthetic};

fn base() -> Params {
    Params {
        dim: 2,
        normalize: Normalize::None,
        ..Params::default()
    }
}

fn grid(scores: &[ScoreKind], betas: &[f64], ridges: &[f64]) -> Grid {
    Grid {
        scores: scores.to_vec(),
        betas: betas.to_vec(),
        ridges: ridges.to_vec(),
        ..Grid::around(&base())
    }
}

#[test]
fn corrupted_weights_choose_the_score_that_withstands_them() {
    let made = synthetic(1, Noise::corrupted_weights(0.01, 0.005, 100.0)).unwrap();
    let all = [
        ScoreKind::Likelihood,
        ScoreKind::Moment,
        ScoreKind::Probability,
    ];
    let search = Search {
        grid: grid(&all, &[0.5], &[1.0, 10.0, 100.0]),
        criterion: Criterion::PROBABILITY,
        ..Search::around(&base())
    };
    let found = select(&base(), &made.data, &search, Runtime::default()).unwrap();
    assert_eq!(found.chosen.score, ScoreKind::Probability, "{found:?}");
    // By far, and not by luck.
    let others = found.candidates.iter();
    let mut others = others.filter(|one| one.candidate.score != ScoreKind::Probability);
    assert!(
        others.all(|one| one.behind.is_none_or(|behind| behind > 0.01)),
        "{found:?}"
    );
    let model = fit(&found.chosen.params(&base()).check().unwrap(), &made.data).unwrap();
    let clusters = KMeans::new(CLUSTERS, 0)
        .fit(model.embeddings(), model.n_nodes(), 2)
        .unwrap();
    let purity = purity(&made.labels, &clusters.labels).unwrap();
    assert!(purity > 0.85, "{purity}");
    // The race spared most fits, and shows which candidates went when; three were fitted on
    // every fold.
    assert_eq!(found.fits, 9 + 3 + 3 * 3);
    for one in &found.candidates {
        assert_eq!(one.out_after.is_none(), one.folds.len() == 5, "{one:?}");
    }
}

#[test]
fn a_race_finds_as_good_a_candidate_as_every_fit_on_every_fold() {
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    let mut search = Search {
        grid: grid(&[ScoreKind::Moment], &[0.0, 0.5], &[0.1, 3.0, 30.0, 300.0]),
        criterion: Criterion::PROBABILITY,
        ..Search::around(&base())
    };
    let raced = select(&base(), &made.data, &search, Runtime::default()).unwrap();
    search.halving = false;
    let all = select(&base(), &made.data, &search, Runtime::default()).unwrap();
    assert_eq!(all.fits, 8 * 5);
    let behind = |candidate: Candidate| {
        let mut entries = all.candidates.iter();
        let found = entries.find(|one| one.candidate == candidate);
        found.unwrap().behind.unwrap()
    };
    assert_eq!(behind(all.chosen), 0.0);
    // Candidates may be as good as equal; the race finds one of the good ones.
    let worst = all.candidates.iter().filter_map(|one| one.behind);
    let worst = worst.fold(0.0, f64::max);
    assert!(behind(raced.chosen) <= 0.1 * worst, "{raced:?}");
    // The rule of one standard error may only choose something simpler.
    search.one_standard_error = true;
    let simple = select(&base(), &made.data, &search, Runtime::default()).unwrap();
    assert!(simple.chosen.ridge >= all.chosen.ridge);
}

#[test]
fn the_choice_does_not_depend_on_threads() {
    let made = synthetic(3, Noise::false_links(0.02)).unwrap();
    let search = Search {
        grid: grid(
            &[ScoreKind::Probability],
            &[0.5],
            &[1.0, 10.0, 100.0, 300.0],
        ),
        ..Search::around(&base())
    };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        let found = pool.install(|| select(&base(), &made.data, &search, Runtime::default()));
        found.unwrap().candidates
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn a_choice_on_the_edge_is_warned_about() {
    // Which of two ridges is better is the data's business; each is an edge.
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    let search = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[0.001, 10.0]),
        ..Search::around(&base())
    };
    let found = select(&base(), &made.data, &search, Runtime::default()).unwrap();
    let edge = |ridge| Warning::Edge {
        param: "ridge",
        value: ridge,
        largest: ridge == 10.0,
    };
    assert_eq!(found.warnings[0], edge(found.chosen.ridge));
    // Which is said of a choice, however it came about, and of no other.
    let search = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[0.1, 1.0, 10.0]),
        ..search
    };
    for (ridge, is_edge) in [(0.1, true), (1.0, false), (10.0, true)] {
        let chosen = Candidate {
            ridge,
            ..found.chosen
        };
        let warnings = choose::warnings(&[], &chosen, &search);
        let expected: Vec<Warning> = is_edge.then(|| edge(ridge)).into_iter().collect();
        assert_eq!(warnings, expected);
    }
}

#[test]
fn a_candidate_is_judged_by_the_fit_that_the_user_would_get() {
    use crate::model::Fit;
    let made = synthetic(6, Noise::false_links(0.02)).unwrap();
    let base = Params {
        validation: Some(0.15),
        ..base()
    };
    let search = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[0.1, 0.3, 1.0, 10.0]),
        criterion: Criterion::PROBABILITY,
        ..Search::around(&base)
    };
    let found = select(&base, &made.data, &search, Runtime::default()).unwrap();
    let folds = Folds::new(base.seed, search.folds).unwrap();
    let formula = search.criterion.formula().unwrap();
    let mut compared = 0;
    for entry in found
        .candidates
        .iter()
        .filter(|one| one.out_after.is_none())
    {
        let params = entry.candidate.params(&base).check().unwrap();
        for &(fold, criterion) in &entry.folds[..2] {
            let split = folds.split(fold);
            let model = Fit::new(&params).not_seeing(split).run(&made.data);
            let model = model.unwrap();
            let (mut sum, mut pairs) = (0.0, 0.0);
            for i in 0..200u32 {
                for j in (i + 1..200).filter(|&j| split.holds_out(i, j)) {
                    let weight = made.data.graph().weight(i, j).unwrap_or(0.0);
                    let s = model.mu(i as usize, j as usize).ln();
                    sum += formula.pair(s, weight).value;
                    pairs += 1.0;
                }
            }
            let expected: f64 = sum / pairs;
            // The constant of the score aside, to single precision.
            let size = expected - formula.constant();
            assert!(
                (criterion - expected).abs() < 1e-3 * size,
                "{entry:?} {expected}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 6);
    assert!(
        found
            .candidates
            .iter()
            .any(|one| one.candidate == found.chosen && one.out_after.is_none())
    );
}

#[test]
fn a_candidate_that_diverges_is_reported_and_skipped() {
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    // Under so strong a ridge plain gradient steps of this length run away.
    let base = Params {
        optimizer: Some(OptimizerKind::Sgd),
        descent: Descent {
            learning_rate: Some(0.01),
            ..Descent::default()
        },
        solver: Some(crate::params::SolverKind::Exact),
        steps: Some(200),
        ..base()
    };
    let search = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[1.0, 1e9]),
        ..Search::around(&base)
    };
    let found = select(&base, &made.data, &search, Runtime::default()).unwrap();
    assert_eq!(found.chosen.ridge, 1.0);
    let failed = &found.candidates[0];
    assert!(failed.failure.as_ref().unwrap().contains("diverged"));
    assert!(
        found
            .warnings
            .contains(&Warning::Failed { failed: 1, all: 2 })
    );
    let all = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[1e9]),
        ..search
    };
    let error = select(&base, &made.data, &all, Runtime::default()).unwrap_err();
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
}

#[test]
fn a_choice_that_tells_nothing_is_warned_about() {
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    let search = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[1e5, 1e6]),
        ..Search::around(&base())
    };
    let found = select(&base(), &made.data, &search, Runtime::default()).unwrap();
    assert!(found.warnings.contains(&Warning::Collapsed));
}

#[test]
fn an_interrupt_ends_the_search() {
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    let runtime = Runtime::watched_by(&|_: crate::Event<'_>| false);
    let error = select(&base(), &made.data, &Search::around(&base()), runtime).unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }));
}

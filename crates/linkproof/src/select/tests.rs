use super::*;
use crate::experiment::synthetic::{CLUSTERS, Noise, synthetic};
use crate::measure::{KMeans, purity};
use crate::model::fit;
use crate::params::{Normalize, OptimizerKind, ScoreKind};

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
        ..Search::around(&base())
    };
    let found = select(&base(), &made.data, &search, Watcher::NONE).unwrap();
    assert_eq!(found.chosen.score, ScoreKind::Probability, "{found:?}");
    let model = fit(&found.chosen.params(&base()).check().unwrap(), &made.data).unwrap();
    let clusters = KMeans::new(CLUSTERS, 0)
        .fit(model.embeddings(), model.n_nodes(), 2)
        .unwrap();
    let purity = purity(&made.labels, &clusters.labels).unwrap();
    assert!(purity > 0.85, "{purity}");
    // The race spared most fits, and says who went when.
    assert_eq!(found.fits, 9 + 3 + 3 * 3);
    let out = |round| {
        let entries = found.candidates.iter();
        entries
            .filter(|one| one.entry.out_after == Some(round))
            .count()
    };
    assert_eq!((out(1), out(2)), (6, 0));
    let picture = plot(&found).to_svg();
    // The axes and three scores; round markers of the first score, in the plot
    // and in the legend, and the ring.
    assert_eq!(picture.matches("<polyline").count(), 1 + 3);
    assert_eq!(picture.matches("<circle").count(), 3 + 1 + 1);
    assert!(picture.contains("probability 0.5") && !picture.contains("NaN"));
}

#[test]
fn every_candidate_on_every_fold_finds_the_same() {
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    let mut search = Search {
        grid: grid(&[ScoreKind::Moment], &[0.0, 0.5], &[0.1, 3.0, 30.0, 300.0]),
        ..Search::around(&base())
    };
    let raced = select(&base(), &made.data, &search, Watcher::NONE).unwrap();
    search.halving = false;
    let all = select(&base(), &made.data, &search, Watcher::NONE).unwrap();
    assert_eq!(all.fits, 8 * 5);
    assert_eq!(raced.chosen, all.chosen);
    let best = |one: &&Comparison| one.entry.candidate == all.chosen;
    let best = all.candidates.iter().find(best).unwrap();
    assert_eq!(best.behind, Some(0.0));
    // The rule of one standard error may only choose something simpler.
    search.one_standard_error = true;
    let simple = select(&base(), &made.data, &search, Watcher::NONE).unwrap();
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
        let found = pool.install(|| select(&base(), &made.data, &search, Watcher::NONE));
        found.unwrap().candidates
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn a_choice_on_the_edge_is_warned_about() {
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    let search = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[0.001, 0.01, 0.1]),
        ..Search::around(&base())
    };
    let found = select(&base(), &made.data, &search, Watcher::NONE).unwrap();
    assert_eq!(found.chosen.ridge, 0.1);
    assert!(found.warnings[0].contains("the chosen ridge, 0.1, is the largest"));
}

#[test]
fn a_candidate_that_diverges_is_reported_and_skipped() {
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    // Under so strong a ridge plain gradient steps of this length run away.
    let base = Params {
        optimizer: Some(OptimizerKind::Sgd),
        learning_rate: Some(0.01),
        solver: Some(crate::params::SolverKind::Exact),
        steps: Some(200),
        ..base()
    };
    let search = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[1.0, 1e9]),
        ..Search::around(&base)
    };
    let found = select(&base, &made.data, &search, Watcher::NONE).unwrap();
    assert_eq!(found.chosen.ridge, 1.0);
    let failed = &found.candidates[0].entry;
    assert!(failed.failure.as_ref().unwrap().contains("diverged"));
    assert!(found.warnings.iter().any(|text| text.contains("1 of 2")));
    let all = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[1e9]),
        ..search
    };
    let error = select(&base, &made.data, &all, Watcher::NONE).unwrap_err();
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
}

#[test]
fn a_choice_that_tells_nothing_is_warned_about() {
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    let search = Search {
        grid: grid(&[ScoreKind::Likelihood], &[], &[1e5, 1e6]),
        ..Search::around(&base())
    };
    let found = select(&base(), &made.data, &search, Watcher::NONE).unwrap();
    assert!(
        found
            .warnings
            .iter()
            .any(|text| text.contains("tells no pair"))
    );
}

#[test]
fn an_interrupt_ends_the_search() {
    let made = synthetic(2, Noise::false_links(0.02)).unwrap();
    let watcher = Watcher {
        after_fit: &|_, _| (),
        goes_on: &|| false,
    };
    let error = select(&base(), &made.data, &Search::around(&base()), watcher).unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }));
}

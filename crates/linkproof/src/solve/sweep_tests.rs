use super::tests::{data, some_links};
use super::{Plan, Sweeper};
use crate::objective::{Gradient, Prepared, Problem, Turn, Workspace};
use crate::pairs::Split;
use crate::params::{EncoderKind, Params, ScoreKind, SolverKind};

fn params(score: ScoreKind, validation: f64) -> Params {
    Params {
        dim: 3,
        score,
        beta: 0.4,
        ridge: 0.7,
        encoder: Some(EncoderKind::Table),
        solver: Some(SolverKind::Sgd),
        validation: Some(validation),
        ..Params::default()
    }
}

/// The value of a turn, and its gradient added to `whole`.
fn add(problem: &Problem<'_, f64>, theta: &[f64], turn: &Turn, whole: &mut [f64]) -> f64 {
    let mut gradient = Gradient::default();
    let value = problem.swept(theta, turn, &mut Workspace::default(), &mut gradient);
    for piece in &gradient.pieces {
        for offset in 0..piece.len {
            whole[piece.place + offset] += gradient.values[piece.start + offset];
        }
    }
    value
}

/// Calls `check` with problems of every score, one and two views, with and
/// without pairs that are held out or set aside.
fn each_problem(mut check: impl FnMut(&Problem<'_, f64>, &[f64])) {
    for views in [false, true] {
        for score in [
            ScoreKind::Likelihood,
            ScoreKind::Moment,
            ScoreKind::Probability,
        ] {
            for split in [None, Some(Split::share(4, 0.3))] {
                let params = params(score, 0.0).check().unwrap();
                let data = data(views);
                let aside = split.map(|_| some_links(&data));
                let prepared = Prepared::without(&data, &params, split, aside.as_ref()).unwrap();
                let problem = Problem::new(&prepared, &params).unwrap();
                let theta = problem.start(1.0);
                check(&problem, &theta);
            }
        }
    }
}

#[test]
fn a_sweep_in_one_turn_is_the_full_gradient() {
    each_problem(|problem, theta| {
        let mut expected = vec![0.0; theta.len()];
        problem.full(theta, 1, Some(&mut expected));
        let mut found = vec![0.0; theta.len()];
        let mut sweeper = Sweeper::new(problem, 1, 0);
        add(problem, theta, sweeper.draw(5), &mut found);
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < 1e-10 * (1.0 + expected.abs()),
                "{found} {expected}"
            );
        }
    });
}

#[test]
fn turns_estimate_the_full_gradient_without_bias() {
    const SWEEPS: u64 = 4000;
    each_problem(|problem, theta| {
        let mut expected = vec![0.0; theta.len()];
        problem.full(theta, 1, Some(&mut expected));
        let mut mean = vec![0.0; theta.len()];
        let mut sweeper = Sweeper::new(problem, 3, 1);
        for step in 1..=3 * SWEEPS {
            add(problem, theta, sweeper.draw(step), &mut mean);
        }
        let n_gammas = problem.gammas().len();
        for (place, (mean, expected)) in mean.iter().zip(&expected).enumerate() {
            // Vectors move once a sweep, gamma at every turn.
            let is_gamma = place >= theta.len() - n_gammas;
            let times = SWEEPS as f64 * if is_gamma { 3.0 } else { 1.0 };
            let mean = mean / times;
            assert!(
                (mean - expected).abs() < 0.04 * (0.2 + expected.abs()),
                "{place} {mean} {expected}"
            );
        }
    });
}

#[test]
fn a_sweep_visits_every_node_once_and_depends_on_the_step_alone() {
    let params = params(ScoreKind::Moment, 0.0).check().unwrap();
    let data = data(true);
    let prepared = Prepared::new(&data, &params, None).unwrap();
    let problem = Problem::<f64>::new(&prepared, &params).unwrap();
    let mut sweeper = Sweeper::new(&problem, 3, 9);
    let mut seen = vec![Vec::new(); 2];
    let mut last = Vec::new();
    for step in 4..=6 {
        let turn = sweeper.draw(step);
        assert_eq!(turn.sweep, 2);
        for (seen, rows) in seen.iter_mut().zip(&turn.rows) {
            assert!(rows.is_sorted());
            seen.extend_from_slice(rows);
        }
        last.clone_from(&turn.rows);
    }
    for (seen, n) in seen.iter_mut().zip([9, 6]) {
        seen.sort_unstable();
        assert_eq!(*seen, (0..n).collect::<Vec<u32>>());
    }
    assert_eq!(Sweeper::new(&problem, 3, 9).draw(6).rows, last);
    assert_ne!(Sweeper::new(&problem, 3, 8).draw(6).rows, last);
}

#[test]
fn tables_sweep_unless_asked_for_samples() {
    let data = data(false);
    let turns = |change: fn(&mut Params)| {
        let mut params = params(ScoreKind::Moment, 0.0);
        params.block = Some(6);
        change(&mut params);
        let params = params.check().unwrap();
        let prepared = Prepared::new(&data, &params, None).unwrap();
        let problem = Problem::<f64>::new(&prepared, &params).unwrap();
        Plan::new(&params, &problem).unwrap().turns
    };
    assert_eq!(turns(|_| {}), Some(3));
    assert_eq!(turns(|p| p.link_batch = Some(4)), None);
    assert_eq!(turns(|p| p.sampler = crate::params::Sampler::Pairs), None);
    assert_eq!(turns(|p| p.solver = Some(SolverKind::Exact)), None);
    assert_eq!(turns(|p| p.encoder = Some(EncoderKind::Linear)), None);
    // Fewer than two nodes a turn cannot show a pair.
    assert_eq!(turns(|p| p.block = Some(2)), None);
}

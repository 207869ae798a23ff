use super::tests::{data, some_links};
use super::{CpuEngine, Engine, Evaluator, Gradient, Plan, SweepPart, Sweeper, Workspace};
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::Split;
use crate::params::{EncoderKind, Params, ScoreKind, SolverKind};

fn params(score: ScoreKind, validation: f64) -> Params {
    Params {
        dim: 3,
        score,
        beta: 0.4,
        ridge: Some(0.7),
        encoder: Some(EncoderKind::Table),
        solver: Some(SolverKind::Sgd),
        validation: Some(validation),
        ..Params::default()
    }
}

/// The value of a part, and its gradient added to `whole`.
fn add(evaluator: &Evaluator<'_, f64>, theta: &[f64], part: &SweepPart, whole: &mut [f64]) -> f64 {
    let mut gradient = Gradient::default();
    let value = evaluator.swept(theta, part, &mut Workspace::default(), &mut gradient);
    for piece in &gradient.pieces {
        for offset in 0..piece.len {
            whole[piece.place + offset] += gradient.values[piece.start + offset];
        }
    }
    value.unwrap()
}

/// Calls `check` with problems of every score, one and two views, with and
/// without pairs that are held out or set aside.
fn each_problem(mut check: impl FnMut(&Evaluator<'_, f64>, &Problem<'_>, &[f64], &[f64])) {
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
                let prepared = Prepared::new(&data, &params, split, aside.as_ref()).unwrap();
                let problem = Problem::new(&prepared, &params).unwrap();
                let evaluator = Evaluator::new(&problem);
                let theta: Vec<f64> = problem.start(&problem.inputs(), 1.0);
                let mut gradient = vec![0.0; theta.len()];
                let mut engine = CpuEngine::new(&problem);
                engine.load(&theta).unwrap();
                engine.objective(Some(&mut gradient)).unwrap();
                check(&evaluator, &problem, &theta, &gradient);
            }
        }
    }
}

#[test]
fn a_sweep_in_one_part_is_the_full_gradient() {
    each_problem(|evaluator, problem, theta, expected| {
        let mut found = vec![0.0; theta.len()];
        let mut sweeper = Sweeper::new(problem, 1, 0);
        add(evaluator, theta, sweeper.draw(5), &mut found);
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-10 * (1.0 + expected.abs()),
                "{found} {expected}"
            );
        }
    });
}

#[test]
fn parts_estimate_the_full_gradient_without_bias() {
    const SWEEPS: u64 = 4000;
    each_problem(|evaluator, problem, theta, expected| {
        let mut mean = vec![0.0; theta.len()];
        let mut sweeper = Sweeper::new(problem, 3, 1);
        for step in 1..=3 * SWEEPS {
            add(evaluator, theta, sweeper.draw(step), &mut mean);
        }
        let n_gammas = problem.parameters.gammas.len();
        for (place, (mean, expected)) in mean.iter().zip(expected).enumerate() {
            // Vectors move once a sweep, gamma with every part.
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
    let prepared = Prepared::new(&data, &params, None, None).unwrap();
    let problem = Problem::new(&prepared, &params).unwrap();
    let mut sweeper = Sweeper::new(&problem, 3, 9);
    let mut seen = vec![Vec::new(); 2];
    let mut last = Vec::new();
    for step in 4..=6 {
        let part = sweeper.draw(step);
        assert_eq!(part.sweep, 2);
        for (seen, rows) in seen.iter_mut().zip(&part.rows) {
            assert!(rows.is_sorted());
            seen.extend_from_slice(rows);
        }
        last.clone_from(&part.rows);
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
        params.sampling.block = Some(6);
        change(&mut params);
        let params = params.check().unwrap();
        let prepared = Prepared::new(&data, &params, None, None).unwrap();
        let problem = Problem::new(&prepared, &params).unwrap();
        Plan::new(&params, &problem).unwrap().turns
    };
    assert_eq!(turns(|_| {}), Some(3));
    assert_eq!(turns(|p| p.sampling.link_batch = Some(4)), None);
    assert_eq!(
        turns(|p| p.sampling.sampler = crate::params::Sampler::Pairs),
        None
    );
    assert_eq!(turns(|p| p.solver = Some(SolverKind::Exact)), None);
    assert_eq!(turns(|p| p.encoder = Some(EncoderKind::Linear)), None);
    // Fewer than two nodes of a view cannot show a pair.
    assert_eq!(turns(|p| p.sampling.block = Some(2)), None);
}

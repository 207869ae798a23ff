//! Held-out scores that a training pass knows.

use super::tests::data;
use crate::objective::{Look, Prepared, Problem};
use crate::pairs::Split;
use crate::params::Params;

#[test]
fn a_watched_pass_knows_the_held_out_score() {
    let params = Params {
        dim: 3,
        validation: Some(0.2),
        ..Params::default()
    };
    let params = params.check().unwrap();
    let data = data(true);
    for split in [
        Split::share(1, 0.2),
        Split::fold(2, 0, 4).stopping_by(Some(Split::share(1, 0.2))),
    ] {
        let prepared = Prepared::new(&data, &params, Some(split)).unwrap();
        let problem = Problem::<f64>::new(&prepared, &params).unwrap();
        let theta = problem.start(1.0);
        let fresh = problem.held_out(&theta, Look::PLAIN).unwrap();
        let (mut watched, mut plain) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        let value = problem.full_watched(&theta, &mut watched);
        assert_eq!(value, problem.full(&theta, 0, Some(&mut plain)));
        assert_eq!(watched, plain);
        let known = problem.held_out(&theta, Look::PLAIN).unwrap();
        assert!(
            (known - fresh).abs() < 1e-12 * fresh.abs(),
            "{known} {fresh}"
        );
        // Elsewhere it is computed anew.
        let moved: Vec<f64> = theta.iter().map(|x| 1.1 * x).collect();
        assert_ne!(problem.held_out(&moved, Look::PLAIN).unwrap(), known);
    }
}

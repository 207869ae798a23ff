//! Solvers that run elsewhere: running one there, and reading what it found here.

use std::io;

use super::state::{Reader, Writer};
use super::{Solution, solve};
use crate::engine::objective::Problem;
use crate::engine::runtime::Runtime;
use crate::engine::task::torn;
use crate::engine::{Engine, Numbers, Plan, SolverTask};
use crate::error::{Error, Result};
use crate::params::Precision;
use linkproof_numeric::real::Real;

/// Runs the solver of a task here; its outcome as bytes. A fit that diverged is an
/// outcome too.
///
/// # Errors
/// Words and numbers that do not belong together, and whatever else ends a solver.
pub fn run_task(task: SolverTask, runtime: Runtime<'_>) -> Result<Vec<u8>> {
    let task = task.unpack()?;
    let problem = Problem::new(&task.data, &task.params)?;
    let (backend, plan) = (runtime.backend(), &task.plan);
    match (task.params.precision, &task.start) {
        (Precision::F32, Numbers::Single(start)) => {
            run_on(&mut *backend.single(&problem)?, plan, start, runtime)
        }
        (Precision::F64, Numbers::Double(start)) => {
            run_on(&mut *backend.double(&problem)?, plan, start, runtime)
        }
        _ => Err(torn()),
    }
}

fn run_on<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan,
    start: &[T],
    runtime: Runtime<'_>,
) -> Result<Vec<u8>> {
    if start.len() != engine.problem().n_params() {
        return Err(torn());
    }
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    let written = match solve(engine, plan, start.to_vec(), runtime) {
        Ok(solution) => writer.number(0).and_then(|()| writer.solution(&solution)),
        Err(Error::Diverged { step, detail }) => writer
            .number(1)
            .and_then(|()| writer.number(step as u64))
            .and_then(|()| writer.bytes(detail.as_bytes())),
        Err(error) => return Err(error),
    };
    // Memory does not refuse.
    written.map_err(|_| torn())?;
    Ok(bytes)
}

/// What a solver that ran elsewhere found.
pub(super) fn outcome<T: Real>(bytes: &[u8]) -> Result<Solution<T>> {
    let mut bytes = bytes;
    let mut reader = Reader::new(&mut bytes);
    let mut read = || -> io::Result<Result<Solution<T>>> {
        Ok(match reader.number()? {
            0 => Ok(reader.solution()?),
            _ => Err(Error::Diverged {
                step: reader.size()?,
                detail: String::from_utf8_lossy(&reader.bytes()?).into_owned(),
            }),
        })
    };
    read().map_err(|_| torn())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::runtime::Elsewhere;
    use crate::model::folds::{Folds, fit_fold};
    use crate::params::{EncoderKind, Params};
    use crate::synthetic::{Noise, synthetic};
    use std::sync::Mutex;

    /// Runs solvers here, from what would have travelled.
    #[derive(Default)]
    struct NextDoor(Mutex<Vec<SolverTask>>);

    impl Elsewhere for NextDoor {
        fn solve(&self, task: SolverTask, is_wanted: &dyn Fn() -> bool) -> Result<Vec<u8>> {
            assert!(is_wanted());
            self.0.lock().unwrap().push(task.clone());
            let words = serde_json::to_string(&task.words).unwrap();
            let words = serde_json::from_str(&words).unwrap();
            run_task(SolverTask { words, ..task }, Runtime::default())
        }
    }

    #[test]
    fn a_solver_elsewhere_finds_the_same_bits() {
        let data = synthetic(4, Noise::false_links(0.02)).unwrap().data;
        for (encoder, precision) in [
            (EncoderKind::Linear, Precision::F32),
            (EncoderKind::Table, Precision::F64),
        ] {
            let params = Params {
                dim: 2,
                ridge: Some(0.1),
                validation: Some(0.1),
                encoder: Some(encoder),
                precision,
                ..Params::default()
            };
            let params = params.check().unwrap();
            let folds = Folds::new(0, 3).unwrap();
            let fit = |runtime| fit_fold(&params, &data, (folds, 1), None, runtime).unwrap();
            let next_door = NextDoor::default();
            let (here, there) = (
                fit(Runtime::default()),
                fit(Runtime::default().with_many(&next_door)),
            );
            assert_eq!((here.y, here.steps), (there.y, there.steps));
            let tasks = next_door.0.into_inner().unwrap();
            let [task] = tasks.as_slice() else {
                panic!("{} tasks", tasks.len());
            };
            // Numbers that are missing, or those of another task, are told.
            for cut in 0..task.numbers.len() {
                let mut torn = task.clone();
                torn.numbers.remove(cut);
                assert!(run_task(torn, Runtime::default()).is_err(), "without {cut}");
            }
        }
    }

    #[test]
    fn a_fit_that_diverged_is_an_outcome() {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        writer.number(1).unwrap();
        writer.number(7).unwrap();
        writer.bytes(b"ran away").unwrap();
        let found = outcome::<f32>(&bytes).unwrap_err();
        assert!(matches!(found, Error::Diverged { step: 7, ref detail } if detail == "ran away"));
        assert!(outcome::<f32>(&bytes[..9]).is_err());
    }
}

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

//! Solvers that are kept and go on later: what they remember, as bytes.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use super::{Solution, StopReason};
use crate::data::digest::Digest;
use crate::engine::Plan;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::runtime::{Keeper, Record, Stage};
use crate::error::Result;
use linkproof_numeric::real::Real;

/// Numbers that are converted at a time.
const PIECE: usize = 4096;

/// Where a solver's state is kept.
pub(super) struct Kept<'r> {
    keeper: &'r dyn Keeper,
    key: String,
    /// When it was kept last, or began.
    last: Instant,
}

impl<'r> Kept<'r> {
    /// The place of a solver with these inputs: all that its result depends on.
    pub(super) fn new<T: Real>(
        keeper: &'r dyn Keeper,
        problem: &Problem<'_>,
        plan: &Plan,
        start: &[T],
    ) -> Kept<'r> {
        Kept {
            keeper,
            key: key(problem, plan, start),
            last: Instant::now(),
        }
    }

    /// The result, where the solver was done.
    pub(super) fn result<T: Real>(&self) -> Result<Option<Solution<T>>> {
        self.recalled(Stage::Done, |reader| reader.solution())
    }

    /// What was kept of a solver on its way.
    pub(super) fn recalled<V>(
        &self,
        stage: Stage,
        read: impl FnOnce(&mut Reader<'_>) -> io::Result<V>,
    ) -> Result<Option<V>> {
        let Some(mut bytes) = self.keeper.recall(&self.key, stage)? else {
            return Ok(None);
        };
        // What cannot be read counts as not kept: the work is done again.
        Ok(read(&mut Reader(&mut *bytes)).ok())
    }

    /// Whether a state is wanted now; at the end of a run that is interrupted, too.
    pub(super) fn is_due(&self, at_the_end: bool) -> bool {
        let since = match at_the_end {
            true => Duration::MAX,
            false => self.last.elapsed(),
        };
        self.keeper.is_due(since)
    }

    /// Keeps a state.
    pub(super) fn keep(&mut self, write: impl Fn(&mut Writer<'_>) -> io::Result<()>) -> Result<()> {
        let mut write = |to: &mut dyn Write| write(&mut Writer(to));
        self.keeper.keep(&self.key, Stage::Running, &mut write)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Keeps a result that took so many seconds.
    pub(super) fn finish<T: Real>(&self, solution: &Solution<T>, seconds: f64) -> Result<()> {
        let took = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        if !self.keeper.is_worth(took) {
            return Ok(());
        }
        let mut write = |to: &mut dyn Write| Writer(to).solution(solution);
        self.keeper.keep(&self.key, Stage::Done, &mut write)
    }
}

fn key<T: Real>(problem: &Problem<'_>, plan: &Plan, start: &[T]) -> String {
    // By name, so that whatever is new has to be thought of here.
    let Problem {
        data,
        parameters,
        dim,
        negative,
        score,
        ridge,
        dropout,
        seed,
        // All that it says is in the others and in the plan.
        params: _,
        // The number of training links, in all that is kept.
        per: _,
    } = problem;
    let Prepared {
        views,
        view_pairs,
        training,
        held_out,
        judged,
        split,
        aside,
        impossible: [never_held_out, never_judged],
        // These are told and not used.
        set_aside_links: _,
        training_links: _,
        ignored_links: _,
    } = data;
    let mut digest = Digest::default();
    digest.words(&(plan, parameters, dim, negative, score));
    digest.words(&(ridge, dropout, seed, split, view_pairs, size_of::<T>()));
    digest.links(training);
    for graph in [held_out, judged, aside, never_held_out, never_judged] {
        digest.number(graph.is_some().into());
        graph.iter().for_each(|graph| digest.links(graph));
    }
    for view in views {
        digest.words(&(&view.name, &view.rows));
        view.matrix.iter().for_each(|matrix| digest.matrix(matrix));
    }
    digest.number(start.len() as u64);
    start
        .iter()
        .for_each(|x| digest.number(x.to_f64().to_bits()));
    digest.to_string()
}

/// Writes what a solver remembers.
pub(super) struct Writer<'w>(&'w mut dyn Write);

impl<'w> Writer<'w> {
    pub(super) fn new(to: &'w mut dyn Write) -> Writer<'w> {
        Writer(to)
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.number(bytes.len() as u64)?;
        self.0.write_all(bytes)
    }

    pub(super) fn number(&mut self, number: u64) -> io::Result<()> {
        self.0.write_all(&number.to_le_bytes())
    }

    /// To the last bit, also where it is no number.
    pub(super) fn real(&mut self, real: f64) -> io::Result<()> {
        self.number(real.to_bits())
    }

    pub(super) fn maybe(&mut self, real: Option<f64>) -> io::Result<()> {
        self.number(real.is_some().into())?;
        self.real(real.unwrap_or(0.0))
    }

    pub(super) fn reals<T: Real>(&mut self, reals: &[T]) -> io::Result<()> {
        self.number(reals.len() as u64)?;
        let mut bytes = Vec::with_capacity(8 * PIECE);
        for piece in reals.chunks(PIECE) {
            bytes.clear();
            match T::to_f32s(piece) {
                Some(piece) => piece.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
                None => piece
                    .iter()
                    .for_each(|x| bytes.extend(x.to_f64().to_le_bytes())),
            }
            self.0.write_all(&bytes)?;
        }
        Ok(())
    }

    pub(super) fn history(&mut self, history: &[Record]) -> io::Result<()> {
        self.number(history.len() as u64)?;
        for record in history {
            self.number(record.step as u64)?;
            self.real(record.value)?;
            self.real(record.gradient_norm)?;
            self.maybe(record.held_out)?;
            self.real(record.seconds)?;
        }
        Ok(())
    }

    pub(super) fn solution<T: Real>(&mut self, solution: &Solution<T>) -> io::Result<()> {
        self.reals(&solution.theta)?;
        self.number(solution.stop_reason as u64)?;
        self.number(solution.steps as u64)?;
        self.number(solution.best_step as u64)?;
        self.maybe(solution.held_out.map(|(start, _)| start))?;
        self.maybe(solution.held_out.map(|(_, best)| best))?;
        self.history(&solution.history)
    }
}

/// Reads what a solver remembers.
pub(super) struct Reader<'r>(&'r mut dyn Read);

impl<'r> Reader<'r> {
    pub(super) fn new(from: &'r mut dyn Read) -> Reader<'r> {
        Reader(from)
    }

    pub(super) fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let (length, mut bytes) = (self.number()?, Vec::new());
        Read::take(&mut *self.0, length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn size(&mut self) -> io::Result<usize> {
        usize::try_from(self.number()?).map_err(io::Error::other)
    }

    pub(super) fn real(&mut self) -> io::Result<f64> {
        Ok(f64::from_bits(self.number()?))
    }

    pub(super) fn maybe(&mut self) -> io::Result<Option<f64>> {
        let is_some = self.number()? != 0;
        let real = self.real()?;
        Ok(is_some.then_some(real))
    }

    pub(super) fn reals<T: Real>(&mut self) -> io::Result<Vec<T>> {
        let length = self.size()?;
        let is_single = size_of::<T>() == 4;
        let mut reals = Vec::new();
        let mut bytes = vec![0; PIECE * size_of::<T>()];
        while reals.len() < length {
            let piece = (length - reals.len()).min(PIECE) * size_of::<T>();
            self.0.read_exact(&mut bytes[..piece])?;
            for bytes in bytes[..piece].chunks_exact(size_of::<T>()) {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                let bits = u64::from_le_bytes(word);
                reals.push(T::of(match is_single {
                    true => f64::from(f32::from_bits(bits as u32)),
                    false => f64::from_bits(bits),
                }));
            }
        }
        Ok(reals)
    }

    pub(super) fn history(&mut self) -> io::Result<Vec<Record>> {
        let length = self.size()?;
        (0..length)
            .map(|_| {
                Ok(Record {
                    step: self.size()?,
                    value: self.real()?,
                    gradient_norm: self.real()?,
                    held_out: self.maybe()?,
                    seconds: self.real()?,
                })
            })
            .collect()
    }

    pub(super) fn solution<T: Real>(&mut self) -> io::Result<Solution<T>> {
        let theta = self.reals()?;
        let stop_reason = match self.number()? {
            0 => StopReason::Converged,
            1 => StopReason::NoDescent,
            2 => StopReason::Patience,
            _ => StopReason::Steps,
        };
        let (steps, best_step) = (self.size()?, self.size()?);
        let held_out = self.maybe()?.zip(self.maybe()?);
        Ok(Solution {
            theta,
            stop_reason,
            steps,
            best_step,
            held_out,
            history: self.history()?,
        })
    }
}

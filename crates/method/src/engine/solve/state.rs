//! Fits that are kept and go on later: their states, as bytes.

use std::io;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Task, Trained};
use crate::data::digest::Digest;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::runtime::{Keeper, Stage};
use crate::error::Result;

/// Where a fit's state is kept.
pub(super) struct Kept<'r> {
    keeper: &'r dyn Keeper,
    key: String,
    /// When it was kept last, or began.
    last: Instant,
}

impl<'r> Kept<'r> {
    /// The place of a fit with these inputs: all that its result depends on.
    pub(super) fn new(keeper: &'r dyn Keeper, task: &Task<'_>) -> Kept<'r> {
        Kept {
            keeper,
            key: key(task),
            last: Instant::now(),
        }
    }

    /// What was kept of a fit that is done, or of one on its way.
    pub(super) fn recalled<V: DeserializeOwned>(&self, stage: Stage) -> Result<Option<V>> {
        let bytes = self.keeper.recall(&self.key, stage)?;
        // What cannot be read counts as not kept: the work is done again.
        Ok(bytes.and_then(|bytes| ciborium::from_reader(bytes).ok()))
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
    pub(super) fn keep(&mut self, state: &impl Serialize) -> Result<()> {
        self.write(Stage::Running, state)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Keeps a result, if it took long enough.
    pub(super) fn finish(&self, trained: &Trained) -> Result<()> {
        let took = Duration::try_from_secs_f64(trained.seconds).unwrap_or_default();
        match self.keeper.is_worth(took) {
            true => self.write(Stage::Done, trained),
            false => Ok(()),
        }
    }

    fn write(&self, stage: Stage, what: &impl Serialize) -> Result<()> {
        let mut write = |to: &mut dyn io::Write| {
            ciborium::into_writer(what, to).map_err(|error| match error {
                ciborium::ser::Error::Io(error) => error,
                other => io::Error::other(other.to_string()),
            })
        };
        self.keeper.keep(&self.key, stage, &mut write)
    }
}

fn key(task: &Task<'_>) -> String {
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
        params,
        // The number of training links, in all that is kept.
        per: _,
    } = task.problem;
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
    digest.words(&(&task.plan, parameters, dim, negative, score));
    digest.words(&(ridge, dropout, seed, split, view_pairs, params.precision));
    digest.words(&(params.init_scale, &task.sums));
    digest.links(training);
    for graph in [held_out, judged, aside, never_held_out, never_judged] {
        digest.number(graph.is_some().into());
        graph.iter().for_each(|graph| digest.links(graph));
    }
    for view in views {
        digest.words(&(&view.name, &view.rows));
        view.matrix.iter().for_each(|matrix| digest.matrix(matrix));
    }
    digest.number(task.start.is_some().into());
    task.start.iter().for_each(|theta| digest.reals(theta));
    digest.to_string()
}

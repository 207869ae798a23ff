//! Free vectors of nodes that changed, fitted against all others.
//!
//! Rows are put in groups, for each view those that move and those that stay. The
//! pairs of moving rows with all rows are the objective's own; those of two rows that
//! stay do not change and are left out. In large graphs a part of the rows that stay
//! is drawn, and counts for all of them.

use std::ops::Range;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

use super::joined::Joined;
use crate::data::graph::{Adjacency, Link};
use crate::data::transform::transform_weight;
use crate::engine::pairs::{
    AllPairs, EmbeddedRows, PairPass, PairTerm, Part, Split, Tiled, ViewMatrix, listed_pairs,
};
use crate::engine::runtime::{Record, Runtime};
use crate::engine::solve::{Descent, Lbfgs, Minimized, Patience, StopReason, minimize};
use crate::engine::{EXACT_NODES, Standing, steps_left};
use crate::error::{Error, Result};
use crate::model::Fitted;
use crate::score::{Kernel, Score};

/// The share of the pairs that decide when to stop, where there are enough links.
const HELD_OUT: f64 = 0.1;
const ENOUGH_LINKS: usize = 200;
const PATIENCE: usize = 5;
/// The most steps, and where nothing is held out.
const MOST_STEPS: usize = 100;
const MOST_UNWATCHED: usize = 20;
/// A gain of this share of the objective ends a fit.
const TOLERANCE: f64 = 1e-4;

/// Known nodes move where at least this share of their links changed: fewer hardly
/// move them.
const LEAST_CHANGED: f64 = 0.1;

/// Moves the vectors of touched nodes of tables, at first the new ones alone; returns
/// the steps.
pub(super) fn fit_tables(
    model: &Fitted,
    joined: &Joined,
    embeddings: &mut [f32],
    runtime: Runtime<'_>,
) -> Result<usize> {
    let is_table = |row: u32| {
        let view = joined.node_views[row as usize] as usize;
        model.views()[view].network.is_table()
    };
    let links = joined.links.adjacency();
    let fresh = model.n_nodes() as u32..joined.ids.len() as u32;
    for row in fresh.filter(|&row| is_table(row)) {
        start(model, &links, row as usize, embeddings);
    }
    let moves = |(&row, &changed): (&u32, &usize)| {
        let degree = links.row(row as usize).0.len();
        let is_new = row as usize >= model.n_nodes();
        let enough = is_new || changed as f64 >= LEAST_CHANGED * degree as f64;
        (is_table(row) && enough).then_some(row)
    };
    let all: Vec<u32> = joined.touched.iter().filter_map(moves).collect();
    let new = all.partition_point(|&row| (row as usize) < model.n_nodes());
    let mut steps = 0;
    for moving in [&all[new..], &all[..]] {
        let is_done = moving.is_empty() || (new == 0 && steps > 0);
        if !is_done {
            steps += fit_rows(model, joined, moving, embeddings, runtime)?;
        }
    }
    Ok(steps)
}

/// Moves some vectors against all others; returns the steps.
fn fit_rows(
    model: &Fitted,
    joined: &Joined,
    moving: &[u32],
    embeddings: &mut [f32],
    runtime: Runtime<'_>,
) -> Result<usize> {
    let groups = Groups::new(model, joined, moving);
    let mut local = Local::new(model, joined, &groups, embeddings, runtime)?;
    let theta = local.moving().collect();
    let settings = Lbfgs {
        max_steps: match local.split {
            Some(_) => MOST_STEPS,
            None => MOST_UNWATCHED,
        },
        value_tolerance: TOLERANCE,
        ..Lbfgs::default()
    };
    let (last, _) = minimize(&settings, theta, &mut local)?;
    let steps = local.steps;
    let best = local.best.into_best().unwrap_or(last);
    let dim = model.dim();
    for (&row, y) in groups.moving_rows().zip(best.chunks_exact(dim)) {
        embeddings[row as usize * dim..][..dim].copy_from_slice(y);
    }
    Ok(steps)
}

/// A new node starts between those that it is linked to.
fn start(model: &Fitted, links: &Adjacency, row: usize, embeddings: &mut [f32]) {
    let (known, dim) = (model.n_nodes(), model.dim());
    let targets = links.row(row).0.iter().map(|&target| target as usize);
    let near: Vec<usize> = targets.filter(|&target| target < known).collect();
    for k in 0..dim {
        let sum: f32 = near.iter().map(|&near| embeddings[near * dim + k]).sum();
        embeddings[row * dim + k] = sum / near.len().max(1) as f32;
    }
}

/// Rows in their groups: of each view those that move, then those that stay.
struct Groups {
    rows: Vec<u32>,
    ranges: Vec<Range<usize>>,
    /// What a row of a group counts for.
    factors: Vec<f64>,
}

impl Groups {
    fn new(model: &Fitted, joined: &Joined, moving: &[u32]) -> Groups {
        let n = joined.ids.len();
        let mut moves = vec![false; n];
        moving.iter().for_each(|&row| moves[row as usize] = true);
        let mut random = ChaCha8Rng::seed_from_u64(model.params().seed ^ 0x7570_6461);
        let mut groups = Groups {
            rows: Vec::with_capacity(n),
            ranges: Vec::new(),
            factors: Vec::new(),
        };
        for view in 0..model.views().len() as u32 {
            for is_moving in [true, false] {
                let of_group = |row: &u32| {
                    let row = *row as usize;
                    joined.node_views[row] == view && moves[row] == is_moving
                };
                let all: Vec<u32> = (0..n as u32).filter(of_group).collect();
                let kept = match is_moving {
                    true => all.len(),
                    false => all.len().min(EXACT_NODES * all.len() / n.max(1) + 1),
                };
                let start = groups.rows.len();
                groups.factors.push(all.len() as f64 / kept.max(1) as f64);
                match kept == all.len() {
                    true => groups.rows.extend(all),
                    false => {
                        let mut drawn = sample(&mut random, all.len(), kept).into_vec();
                        drawn.sort_unstable();
                        groups
                            .rows
                            .extend(drawn.into_iter().map(|place| all[place]));
                    }
                }
                groups.ranges.push(start..groups.rows.len());
            }
        }
        groups
    }

    fn moving_rows(&self) -> impl Iterator<Item = &u32> {
        let ranges = self.ranges.iter().step_by(2);
        ranges.flat_map(|range| &self.rows[range.clone()])
    }
}

/// The objective of the rows that move.
struct Local<'l> {
    groups: &'l Groups,
    dim: usize,
    gamma: ViewMatrix,
    scale: ViewMatrix,
    nodes: Vec<u32>,
    /// Links that train, with pairs of rows that were not drawn, and those held out.
    links: Adjacency,
    held_out: Adjacency,
    split: Option<Split>,
    /// Ends of links that are in no group: their rows follow the groups.
    y: Vec<f32>,
    ranges: Vec<Range<usize>>,
    score: Score,
    kernel: Kernel<f32>,
    tiles: Tiled<f32>,
    ridge: f64,
    n_links: f64,
    runtime: Runtime<'l>,
    watched: Option<f64>,
    best: Patience<f32>,
    steps: usize,
}

impl<'l> Local<'l> {
    fn new(
        model: &Fitted,
        joined: &Joined,
        groups: &'l Groups,
        embeddings: &[f32],
        runtime: Runtime<'l>,
    ) -> Result<Local<'l>> {
        let (dim, params) = (model.dim(), model.params().clone().check()?);
        let n_views = model.views().len();
        // Beside the groups, for each view the ends of links that were not drawn.
        let n_groups = 3 * n_views;
        let mut place = vec![u32::MAX; joined.ids.len()];
        for (at, &row) in groups.rows.iter().enumerate() {
            place[row as usize] = at as u32;
        }
        let mut moves = vec![false; joined.ids.len()];
        groups
            .moving_rows()
            .for_each(|&row| moves[row as usize] = true);
        let concerns = |link: &Link| moves[link.src as usize] || moves[link.dst as usize];
        let mut rows = groups.rows.clone();
        let mut ranges = groups.ranges.clone();
        for view in 0..n_views as u32 {
            let from = rows.len();
            for link in joined.links.links().filter(concerns) {
                for row in [link.src, link.dst] {
                    let is_new = place[row as usize] == u32::MAX;
                    if is_new && joined.node_views[row as usize] == view {
                        place[row as usize] = rows.len() as u32;
                        rows.push(row);
                    }
                }
            }
            ranges.push(from..rows.len());
        }
        let view_of = |group: usize| {
            if group < 2 * n_views {
                group / 2
            } else {
                group - 2 * n_views
            }
        };
        let mut gamma = ViewMatrix::filled(n_groups, 0.0);
        let mut scale = ViewMatrix::filled(n_groups, 0.0);
        for a in 0..n_groups {
            for b in a..n_groups {
                let (d, e) = (view_of(a), view_of(b));
                gamma.set(a, b, model.gamma().get(d, e));
                let moving = |group: usize| group < 2 * n_views && group.is_multiple_of(2);
                let drawn = a < 2 * n_views && b < 2 * n_views;
                if drawn && model.takes_part(d, e) && (moving(a) || moving(b)) {
                    scale.set(a, b, groups.factors[a] * groups.factors[b]);
                }
            }
        }
        let links: Vec<Link> = (joined.links.links().filter(concerns))
            .map(|link| {
                let ends = [link.src, link.dst].map(|row| place[row as usize]);
                Link {
                    src: ends[0].min(ends[1]),
                    dst: ends[0].max(ends[1]),
                    weight: transform_weight(link.weight, params.weights),
                }
            })
            .collect();
        let split = (links.len() >= ENOUGH_LINKS).then(|| Split::share(params.seed, HELD_OUT));
        let held = |link: &Link| split.is_some_and(|split| split.holds_out(link.src, link.dst));
        let (held_out, links): (Vec<Link>, Vec<Link>) = links.into_iter().partition(held);
        let y = rows
            .iter()
            .flat_map(|&row| embeddings[row as usize * dim..][..dim].iter().copied())
            .collect();
        let score = params.score().capped::<f32>();
        Ok(Local {
            groups,
            dim,
            gamma,
            scale,
            nodes: (0..rows.len() as u32).collect(),
            n_links: links.len().max(1) as f64,
            links: Adjacency::new(rows.len(), links.iter().copied()),
            held_out: Adjacency::new(rows.len(), held_out.iter().copied()),
            split,
            y,
            ranges,
            kernel: Kernel::new(&score),
            score,
            tiles: Tiled::default(),
            ridge: params.ridge(),
            runtime,
            watched: None,
            best: Patience::default(),
            steps: 0,
        })
    }

    fn places(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (ranges, dim) = (self.groups.ranges.clone(), self.dim);
        let moving = ranges.into_iter().step_by(2);
        moving.map(move |range| range.start * dim..range.end * dim)
    }

    fn moving(&self) -> impl Iterator<Item = f32> + '_ {
        self.places().flat_map(|place| &self.y[place]).copied()
    }
}

impl Minimized<f32> for Local<'_> {
    fn value(&mut self, theta: &[f32], gradient: &mut [f32]) -> Result<f64> {
        let mut rest = theta;
        for place in self.places() {
            let (here, after) = rest.split_at(place.len());
            self.y[place].copy_from_slice(here);
            rest = after;
        }
        let embedded = EmbeddedRows {
            y: &self.y,
            mirror: &self.y,
            offsets: &[],
            dim: self.dim,
            views: &self.ranges,
            gamma: &self.gamma,
        };
        let pairs = AllPairs {
            rows: &self.ranges,
            scale: &self.scale,
            nodes: &self.nodes,
            split: self.split.map(|split| (split, Part::Training)),
            watched: self.split.is_some(),
        };
        let mut slopes = vec![0.0f32; self.y.len()];
        let mut sums =
            (self.tiles).all_pairs(&embedded, &pairs, &self.kernel, Some(&mut slopes))?;
        // Links count once each, whatever the rows drawn count for.
        let unit = ViewMatrix::filled(self.scale.n_views(), 1.0);
        let correct = |links: &Adjacency, slopes: Option<&mut [f32]>| {
            let term = PairTerm::Correction;
            listed_pairs(&embedded, links, term, &unit, &self.score, slopes)
        };
        let corrections = correct(&self.links, Some(&mut slopes));
        sums.add_corrections(&corrections);
        self.watched = self.split.map(|_| {
            let (value, pairs) = sums.watched;
            (value + correct(&self.held_out, None).value) / pairs.max(1.0)
        });
        let squares: f64 = theta.iter().map(|&y| f64::from(y).powi(2)).sum();
        let mut out = 0;
        for place in self.places() {
            for at in place {
                let slope = f64::from(slopes[at]) + 2.0 * self.ridge * f64::from(theta[out]);
                gradient[out] = (slope / self.n_links) as f32;
                out += 1;
            }
        }
        let constant = self.score.constant() * sums.pairs;
        Ok((sums.value + constant + self.ridge * squares) / self.n_links)
    }

    fn after_step(&mut self, descent: &Descent<f32>) -> Result<Option<StopReason>> {
        let (step, theta) = (descent.step(), descent.theta());
        self.steps = step;
        let record = Record {
            step,
            value: descent.value(),
            gradient_norm: descent.norm(),
            held_out: self.watched,
            seconds: 0.0,
        };
        let left = steps_left(Standing {
            step,
            most: MOST_STEPS,
            usual: None,
            patience: None,
        });
        if !self.runtime.after_step(&record, left, MOST_STEPS) {
            return Err(Error::Interrupted { step });
        }
        let Some(score) = self.watched else {
            return Ok(None);
        };
        let theta = || Ok(theta.to_vec());
        let ends = self.best.ends((score, step), theta, PATIENCE)?;
        Ok(ends.then_some(StopReason::Patience))
    }
}

/// The largest difference between the slopes and central differences, against the
/// largest slope.
#[cfg(test)]
pub(super) fn largest_difference(
    model: &Fitted,
    joined: &Joined,
    embeddings: &[f32],
) -> Result<f64> {
    let moving: Vec<u32> = joined.touched.keys().copied().collect();
    let groups = Groups::new(model, joined, &moving);
    let mut local = Local::new(model, joined, &groups, embeddings, Runtime::default())?;
    let theta: Vec<f32> = local.moving().collect();
    let mut slopes = vec![0.0; theta.len()];
    local.value(&theta, &mut slopes)?;
    let (mut worst, step) = (0.0f64, 1e-2f32);
    for place in 0..theta.len() {
        let mut at = |by: f32| {
            let mut moved = theta.clone();
            moved[place] += by;
            local.value(&moved, &mut vec![0.0; theta.len()])
        };
        let difference = (at(step)? - at(-step)?) / (2.0 * f64::from(step));
        worst = worst.max((difference - f64::from(slopes[place])).abs());
    }
    let largest = slopes.iter().fold(0.0f32, |a, b| a.max(b.abs()));
    Ok(worst / f64::from(largest))
}

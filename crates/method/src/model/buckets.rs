//! Tables that are split in buckets, of which only two are in memory at a time.
//!
//! The objective is a sum over pairs of buckets, and a visit moves the vectors of two
//! buckets along the gradient of their own term. Two visits that share no bucket can be
//! made at the same time.

use crate::data::dataset::DataView;
use crate::data::graph::{Graph, Link, LinkRules};
use crate::data::ids::Ids;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::{CpuEngine, Engine, OptimizerMemory, Plan};
use crate::error::{Error, Result};
use crate::params::{CheckedParams, OptimizerKind, Params, SolverKind};
use std::borrow::Cow;

/// The vectors of the nodes of one or two buckets, row after row, and then `gamma`; and
/// the averages of Adam of each number.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketState {
    /// Vectors and `gamma`.
    pub theta: Vec<f32>,
    /// The averages of derivatives.
    pub first: Vec<f32>,
    /// The averages of their squares.
    pub second: Vec<f32>,
}

/// A visit to a bucket, or to two of them.
#[derive(Debug, Clone)]
pub struct Visit {
    params: CheckedParams,
    sizes: Vec<usize>,
    /// How often these vectors have moved before.
    moves: u64,
    /// The links that a visit of this size has on average.
    per: f64,
}

impl Visit {
    /// A visit to buckets of so many nodes each: the pairs inside one bucket, or those
    /// between two. The ridge and the length of a step are those of the settings. The
    /// objective is divided by `per`, the links that a visit of this size has on average:
    /// one with more of them counts for more, and one without still drives its nodes
    /// apart.
    ///
    /// # Errors
    /// Other than one or two buckets, buckets of fewer than two nodes, and a `per` that is
    /// not positive.
    pub fn new(params: &Params, sizes: &[usize], moves: u64, per: f64) -> Result<Visit> {
        let n: usize = sizes.iter().sum();
        let fits = (1..=2).contains(&sizes.len())
            && sizes.iter().all(|&size| size >= 2)
            && u32::try_from(n).is_ok();
        if !fits {
            let found = format!("{sizes:?} nodes");
            return Err(Error::data(
                "buckets",
                found,
                "one or two of at least two nodes",
            ));
        }
        if !(per > 0.0 && per.is_finite()) {
            let expected = "the links of a visit on average, more than 0";
            return Err(Error::data("buckets", per.to_string(), expected));
        }
        let params = Params {
            solver: Some(SolverKind::Sgd),
            optimizer: Some(OptimizerKind::Adam),
            validation: Some(0.0),
            ..params.clone()
        };
        Ok(Visit {
            params: params.check()?,
            sizes: sizes.to_vec(),
            moves,
            per,
        })
    }

    /// Moves every vector once along all of its links in the visit. Links are between
    /// rows of the first bucket and then of the second. Gives the state, and the objective
    /// on the way per link of a visit on average.
    ///
    /// # Errors
    /// A state of another size, bad links, and vectors that ran away.
    pub fn run(&self, links: Vec<Link>, state: BucketState) -> Result<(BucketState, f64)> {
        let n: usize = self.sizes.iter().sum();
        let expected = n * self.params.dim + 1;
        let lengths = [&state.theta, &state.first, &state.second].map(Vec::len);
        if lengths != [expected; 3] {
            let found = format!("{lengths:?} numbers");
            let expected = format!("{expected} for vectors and each average");
            return Err(Error::data("buckets", found, expected));
        }
        let data = self.prepared(n, links)?;
        let mut problem = Problem::new(&data, &self.params)?;
        problem.per = self.per;
        let plan = Plan::new(&self.params, &problem)?;
        let Some(turns) = plan.turns else {
            let found = format!("{n} nodes");
            return Err(Error::data("buckets", found, "enough nodes for a sweep"));
        };
        let mut engine = CpuEngine::<f32>::new(&problem);
        engine.load(&state.theta)?;
        drop(state.theta);
        let turns = turns as u64;
        let memory = OptimizerMemory {
            steps: self.moves * turns,
            vectors: vec![Cow::Owned(state.first), Cow::Owned(state.second)],
        };
        engine.resume(&plan, memory)?;
        let mut value = 0.0;
        for step in self.moves * turns + 1..=(self.moves + 1) * turns {
            let outcome = engine.step(step)?;
            if !(outcome.value.is_finite() && outcome.gradient_norm.is_finite()) {
                return Err(Error::Diverged {
                    step: step as usize,
                    detail: format!("objective {:e} of two buckets", outcome.value),
                });
            }
            value += outcome.value / turns as f64;
        }
        let memory = engine.memory()?;
        let mut vectors = memory.into_iter().flat_map(|memory| memory.vectors);
        let mut next = || vectors.next().map(Cow::into_owned).unwrap_or_default();
        let (first, second) = (next(), next());
        drop(vectors);
        let theta = engine.parameters()?;
        Ok((
            BucketState {
                theta,
                first,
                second,
            },
            value,
        ))
    }

    fn prepared(&self, n: usize, links: Vec<Link>) -> Result<Prepared> {
        let names = ["first", "second"];
        let mut start = 0;
        let views = self.sizes.iter().zip(names).map(|(&size, name)| {
            start += size;
            DataView {
                name: name.to_owned(),
                rows: start - size..start,
                matrix: None,
            }
        });
        let training = Graph::new(Ids::Rows(n), links, LinkRules::default())?;
        let is_between =
            |link: Link| (link.src as usize) < self.sizes[0] && link.dst as usize >= self.sizes[0];
        if self.sizes.len() == 2 && !training.links().all(is_between) {
            let found = "links inside a bucket";
            return Err(Error::data("buckets", found, "links between the two"));
        }
        Ok(Prepared {
            views: views.collect(),
            view_pairs: vec![(0, self.sizes.len() - 1)],
            training_links: training.n_links(),
            training,
            held_out: None,
            judged: None,
            split: None,
            aside: None,
            impossible: [None, None],
            set_aside_links: 0,
            ignored_links: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> Params {
        Params {
            dim: 2,
            ridge: 0.1,
            learning_rate: Some(0.05),
            ..Params::default()
        }
    }

    fn state(numbers: usize) -> BucketState {
        BucketState {
            theta: (0..numbers).map(|x| (x as f32).sin()).collect(),
            first: vec![0.0; numbers],
            second: vec![0.0; numbers],
        }
    }

    fn link(src: u32, dst: u32) -> Link {
        let weight = 1.0;
        Link { src, dst, weight }
    }

    #[test]
    fn visits_move_both_buckets_down_the_objective_and_to_the_same_bits() {
        for (sizes, links) in [
            (vec![4], vec![link(0, 1), link(2, 3)]),
            (vec![4, 3], vec![link(0, 4), link(1, 5), link(2, 6)]),
        ] {
            let numbers = sizes.iter().sum::<usize>() * 2 + 1;
            let visits = |count: u64| {
                let (mut state, mut values) = (state(numbers), Vec::new());
                for moves in 0..count {
                    let visit = Visit::new(&params(), &sizes, moves, 3.0).unwrap();
                    let (next, value) = visit.run(links.clone(), state).unwrap();
                    values.push(value);
                    state = next;
                }
                (state, values)
            };
            let (found, values) = visits(60);
            assert!(values[59] < values[0], "{values:?}");
            let start = state(numbers).theta;
            let moved = found.theta.iter().zip(&start).filter(|(a, b)| a != b);
            assert_eq!(moved.count(), numbers);
            assert_eq!(visits(60).0, found);
        }
    }

    #[test]
    fn without_links_nodes_are_driven_apart() {
        let mut near = state(15);
        near.theta.fill(1.0);
        let visit = Visit::new(&params(), &[4, 3], 0, 3.0).unwrap();
        let (moved, value) = visit.run(Vec::new(), near).unwrap();
        // Every vector points the same way, and gets shorter.
        assert!(moved.theta[..14].iter().all(|&x| x < 1.0), "{moved:?}");
        assert!(value > 0.0, "{value}");
    }

    #[test]
    fn what_is_no_visit_is_refused() {
        let visit = |sizes: &[usize]| Visit::new(&params(), sizes, 0, 1.0);
        assert!(visit(&[]).is_err() && visit(&[4, 1]).is_err() && visit(&[2, 2, 2]).is_err());
        assert!(Visit::new(&params(), &[4], 0, 0.0).is_err());
        assert!(Visit::new(&params(), &[4], 0, f64::NAN).is_err());
        let two = visit(&[4, 3]).unwrap();
        assert!(two.run(vec![link(0, 4)], state(14)).is_err());
        assert!(two.run(vec![link(0, 1)], state(15)).is_err());
        assert!(two.run(vec![link(0, 9)], state(15)).is_err());
    }
}

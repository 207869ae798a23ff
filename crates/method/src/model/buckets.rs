//! Tables that are split in buckets, of which only two are in memory at a time, and buckets
//! in parts.
//!
//! The objective is a sum over pairs of parts, and a visit moves the vectors of two parts
//! along the gradient of their own term. A meeting of two buckets is all visits between
//! their parts; two meetings that share no bucket can be made at the same time.

use crate::data::dataset::DataView;
use crate::data::graph::{Graph, Link, LinkRules};
use crate::data::ids::Ids;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::solve::run_steps;
use crate::engine::{CpuEngine, Engine, OptimizerMemory, Plan};
use crate::error::{Error, Result};
use crate::params::{CheckedParams, OptimizerKind, Params, SolverKind};

/// The numbers of some nodes, which a visit changes in place.
#[derive(Debug)]
pub struct Part<'a> {
    /// Vectors, row after row.
    pub theta: &'a mut [f32],
    /// The averages of derivatives.
    pub first: &'a mut [f32],
    /// The averages of their squares.
    pub second: &'a mut [f32],
}

impl Part<'_> {
    fn rows(&self, dim: usize) -> usize {
        self.theta.len() / dim.max(1)
    }
}

/// `gamma` and its averages, first and second.
pub type Gamma = [f32; 3];

/// A meeting of two buckets, or of one with itself. Buckets are made of parts, and every
/// pair of parts is visited once. So what a visit works on is small beside the buckets.
#[derive(Debug, Clone)]
pub struct Meeting<'a> {
    /// The settings of the fit. Its ridge and the length of a step are those of a visit.
    pub params: &'a Params,
    /// The parts of a bucket, a power of two.
    pub parts: usize,
    /// The rounds of visits, each number below that of parts once: in round `r` part `p`
    /// meets part `p XOR r`.
    pub order: &'a [usize],
    /// How often these vectors have moved before.
    pub moves: u64,
    /// The links that a visit has on average.
    pub per: f64,
}

impl Meeting<'_> {
    /// Makes all visits. `parts` are those of the first bucket and then, where there are
    /// two, those of the second. `links_of` gives the links between two parts, or inside
    /// one, by rows of the first and then of the second. All visits of a round start from
    /// one `gamma`, and their ends are averaged. Gives the last one, and what the visits
    /// paid.
    ///
    /// # Errors
    /// Parts or rounds of another number, a `per` that is not positive, parts of fewer than
    /// two nodes, averages of another number, bad links, and vectors that ran away.
    pub fn run(
        &self,
        parts: &mut [Part<'_>],
        gamma: Gamma,
        links_of: impl Fn(usize, usize) -> Result<Vec<Link>>,
    ) -> Result<(Gamma, f64)> {
        let count = self.parts;
        let alone = parts.len() == count;
        if !(count.is_power_of_two() && (alone || parts.len() == 2 * count)) {
            let found = format!("{} parts of buckets of {count}", parts.len());
            let expected = "those of one or two buckets, a power of two each";
            return Err(Error::data("buckets", found, expected));
        }
        let mut rounds = self.order.to_vec();
        rounds.sort_unstable();
        if !rounds.into_iter().eq(0..count) {
            let found = format!("rounds {:?}", self.order);
            return Err(Error::data("buckets", found, "each number once"));
        }
        if !(self.per > 0.0 && self.per.is_finite()) {
            let expected = "the links of a visit on average, more than 0";
            return Err(Error::data("buckets", self.per.to_string(), expected));
        }
        let params = Params {
            solver: Some(SolverKind::Sgd),
            optimizer: Some(OptimizerKind::Adam),
            validation: Some(0.0),
            ..self.params.clone()
        };
        let params = params.check()?;
        let (mut gamma, mut paid) = (gamma, 0.0);
        for (done, round) in (0..).zip(self.order) {
            let mut sums = [0.0; 3];
            let mut visits = 0.0;
            for p in (0..count).filter(|p| !alone || *p <= p ^ round) {
                let other = p ^ round;
                let mut pair = two_of(parts, p, if alone { other } else { count + other });
                let visit = Visit {
                    params: &params,
                    moves: self.moves + done,
                    per: self.per,
                };
                let (found, value) = visit.run(links_of(p, other)?, &mut pair, gamma)?;
                for (sum, found) in sums.iter_mut().zip(found) {
                    *sum += f64::from(found);
                }
                visits += 1.0;
                paid += value;
            }
            gamma = sums.map(|sum| (sum / visits) as f32);
        }
        Ok((gamma, paid))
    }
}

/// Two parts, or one where both places are the same.
fn two_of<'s, 'a>(parts: &'s mut [Part<'a>], one: usize, other: usize) -> Vec<&'s mut Part<'a>> {
    let wanted = |place: &usize| *place == one || *place == other;
    let parts = parts.iter_mut().enumerate();
    parts
        .filter(|(place, _)| wanted(place))
        .map(|(_, part)| part)
        .collect()
}

/// A visit to one part, the pairs inside it, or to two, the pairs between them. The
/// objective is divided by `per`, the links that a visit has on average: one with more of
/// them counts for more, and one without still drives its nodes apart.
#[derive(Debug, Clone)]
struct Visit<'a> {
    params: &'a CheckedParams,
    moves: u64,
    per: f64,
}

impl Visit<'_> {
    /// Moves every vector once along all of its links in the visit. Gives `gamma`, and the
    /// objective on the way per link of a visit on average.
    ///
    /// # Errors
    /// Parts of fewer than two nodes, averages of another number, bad links, and vectors
    /// that ran away.
    fn run(
        &self,
        links: Vec<Link>,
        parts: &mut [&mut Part<'_>],
        gamma: Gamma,
    ) -> Result<(Gamma, f64)> {
        let sizes = sizes_of(parts, self.params.dim)?;
        let data = prepared(&sizes, links)?;
        let mut problem = Problem::new(&data, self.params)?;
        problem.per = self.per;
        let plan = Plan::new(self.params, &problem)?;
        let Some(turns) = plan.turns else {
            let found = format!("{sizes:?} nodes");
            return Err(Error::data("buckets", found, "enough nodes for a sweep"));
        };
        let mut engine = CpuEngine::<f32>::new(&problem);
        // Copies are made one after another: a visit is to take little memory.
        engine.load(&joined(parts, |part| &*part.theta, gamma[0]))?;
        let turns = turns as u64;
        let first = joined(parts, |part| &*part.first, gamma[1]);
        let second = joined(parts, |part| &*part.second, gamma[2]);
        let memory = OptimizerMemory {
            steps: self.moves * turns,
            vectors: vec![first.into(), second.into()],
        };
        engine.resume(&plan, memory)?;
        let mut value = 0.0;
        let (first, last) = (self.moves * turns + 1, (self.moves + 1) * turns);
        run_steps(
            &mut engine,
            first as usize..=last as usize,
            |_, _, outcome| {
                value += outcome.value / turns as f64;
                Ok(None)
            },
        )?;
        let mut gamma = [0.0; 3];
        if let Some(memory) = engine.memory()?
            && let [first, second] = memory.vectors.as_slice()
        {
            gamma[1] = put_back(parts, |part| &mut *part.first, first);
            gamma[2] = put_back(parts, |part| &mut *part.second, second);
        }
        gamma[0] = put_back(parts, |part| &mut *part.theta, &engine.parameters()?);
        Ok((gamma, value))
    }
}

/// The nodes of each part.
fn sizes_of(parts: &[&mut Part<'_>], dim: usize) -> Result<Vec<usize>> {
    let fits = |part: &&mut Part<'_>| {
        let lengths = [&*part.first, &*part.second].map(<[f32]>::len);
        part.rows(dim) >= 2 && lengths == [part.rows(dim) * dim; 2]
    };
    let sizes: Vec<usize> = parts.iter().map(|part| part.rows(dim)).collect();
    let numbers: usize = parts.iter().map(|part| part.theta.len()).sum();
    let n: usize = sizes.iter().sum();
    if parts.iter().all(fits) && numbers == n * dim && u32::try_from(n).is_ok() {
        return Ok(sizes);
    }
    let found = format!("{sizes:?} nodes, {numbers} numbers");
    let expected = "two or more nodes in each part, and as many averages as numbers";
    Err(Error::data("buckets", found, expected))
}

/// A row of numbers of all parts, and then one more.
fn joined<'p>(
    parts: &'p [&mut Part<'_>],
    row: impl Fn(&'p Part<'_>) -> &'p [f32],
    last: f32,
) -> Vec<f32> {
    let lengths: usize = parts.iter().map(|part| part.theta.len()).sum();
    let mut numbers = Vec::with_capacity(lengths + 1);
    for part in parts {
        numbers.extend_from_slice(row(part));
    }
    numbers.push(last);
    numbers
}

/// Puts numbers back where [`joined`] found them; the last one.
fn put_back<'a>(
    parts: &mut [&mut Part<'a>],
    row: impl for<'p> Fn(&'p mut Part<'a>) -> &'p mut [f32],
    numbers: &[f32],
) -> f32 {
    let mut rest = numbers;
    for part in parts {
        let row = row(part);
        let (here, after) = rest.split_at(row.len().min(rest.len()));
        row[..here.len()].copy_from_slice(here);
        rest = after;
    }
    rest.first().copied().unwrap_or_default()
}

fn prepared(sizes: &[usize], links: Vec<Link>) -> Result<Prepared> {
    let n: usize = sizes.iter().sum();
    let names = ["first", "second"];
    let mut start = 0;
    let views = sizes.iter().zip(names).map(|(&size, name)| {
        start += size;
        DataView {
            name: name.to_owned(),
            rows: start - size..start,
            matrix: None,
            space: 0,
        }
    });
    let training = Graph::new(Ids::Rows(n), links, LinkRules::default())?;
    let is_between = |link: Link| (link.src as usize) < sizes[0] && link.dst as usize >= sizes[0];
    if sizes.len() == 2 && !training.links().all(is_between) {
        let found = "links inside a bucket";
        return Err(Error::data("buckets", found, "links between the two"));
    }
    Ok(Prepared {
        views: views.collect(),
        view_pairs: vec![(0, sizes.len() - 1)],
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

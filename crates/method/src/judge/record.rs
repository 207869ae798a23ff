//! A judgment as columns of numbers and facts, to be kept in a folder.

use std::collections::BTreeMap;

use super::outcome::{Facts, JudgedLink, Judgment, Status};
use crate::data::graph::Link;
use crate::error::{Error, Result};

const BELIEF: &str = "belief";
const RANK: &str = "rank";
const SUSPECT: &str = "suspect";
const STATUS: &str = "status";
const WORSE: &str = "worse";
const LOG_DENSITY: &str = "log_density";
const VOTE: &str = "vote";
const TIMES: &str = "times";
const COMMON: &str = "common";
const SHARE: &str = "share";
const END: &str = "end";
const VERIFIED: &str = "verified";

/// Columns of numbers about links, by name.
pub type Columns = BTreeMap<String, Vec<f64>>;

impl Judgment {
    /// The numbers of each link by name, in the order of [`Judgment::links`]; NaN stands
    /// for nothing.
    pub fn columns(&self) -> Columns {
        let all = |number: &dyn Fn(&JudgedLink) -> f64| self.links.iter().map(number).collect();
        let flag = |flag: bool| f64::from(u8::from(flag));
        let mut columns: Columns = [
            (BELIEF, all(&|link| link.belief)),
            (RANK, all(&|link| link.rank as f64)),
            (SUSPECT, all(&|link| flag(link.suspect))),
            (STATUS, all(&|link| f64::from(link.status as u8))),
            (WORSE, all(&|link| link.worse)),
            (LOG_DENSITY, all(&|link| link.log_density)),
            (VOTE, all(&|link| link.vote)),
            (TIMES, all(&|link| f64::from(link.times))),
            (COMMON, all(&|link| flag(link.has_common))),
            (SHARE, all(&|link| link.share.map_or(f64::NAN, f64::from))),
            (END, all(&|link| f64::from(link.end))),
            (VERIFIED, all(&|link| link.verified.map_or(f64::NAN, flag))),
        ]
        .map(|(name, numbers)| (name.to_owned(), numbers))
        .into();
        for (kind, tails) in self.facts.kinds.iter().zip(&self.tails) {
            let numbers = tails.iter().map(|&x| f64::from(x)).collect();
            columns.insert(format!("tail_{kind}"), numbers);
        }
        columns
    }

    /// The judgment of these links, whose ends are the user's rows, from its parts.
    ///
    /// # Errors
    /// A column that is missing or has another length, and numbers that no judgment has.
    pub fn from_columns(
        links: impl Iterator<Item = Link>,
        columns: &Columns,
        facts: Facts,
    ) -> Result<Judgment> {
        let links: Vec<Link> = links.collect();
        let wrong = |name: &str, found: &str| {
            let expected = format!("{} numbers about links", links.len());
            Error::data(format!("column {name:?}"), found, expected)
        };
        let column = |name: &str| match columns.get(name) {
            Some(numbers) if numbers.len() == links.len() => Ok(numbers.as_slice()),
            Some(numbers) => Err(wrong(name, &format!("{} numbers", numbers.len()))),
            None => Err(wrong(name, "no such column")),
        };
        let (belief, rank, status) = (column(BELIEF)?, column(RANK)?, column(STATUS)?);
        let (suspect, worse, common) = (column(SUSPECT)?, column(WORSE)?, column(COMMON)?);
        let (density, vote, times) = (column(LOG_DENSITY)?, column(VOTE)?, column(TIMES)?);
        let (share, end, verified) = (column(SHARE)?, column(END)?, column(VERIFIED)?);
        let mut ranks: Vec<f64> = rank.to_vec();
        ranks.sort_unstable_by(f64::total_cmp);
        if !(1..).zip(&ranks).all(|(at, &rank)| rank == f64::from(at)) {
            return Err(wrong(RANK, "numbers that are no ranks"));
        }
        if !belief.iter().all(|x| (0.0..=1.0).contains(x)) {
            return Err(wrong(BELIEF, "a number that is no probability"));
        }
        let mut judged = Vec::with_capacity(links.len());
        for (place, link) in links.iter().enumerate() {
            let Some(&status) = Status::ALL.get(status[place] as usize) else {
                return Err(wrong(STATUS, "a number that stands for nothing"));
            };
            judged.push(JudgedLink {
                src: link.src,
                dst: link.dst,
                weight: link.weight,
                belief: belief[place],
                rank: rank[place] as usize,
                suspect: suspect[place] > 0.0,
                status,
                worse: worse[place],
                log_density: density[place],
                vote: vote[place],
                times: times[place] as f32,
                has_common: common[place] > 0.0,
                share: Some(share[place] as f32).filter(|share| !share.is_nan()),
                end: end[place] as u32,
                verified: Some(verified[place])
                    .filter(|x| !x.is_nan())
                    .map(|x| x > 0.0),
            });
        }
        let tails = facts.kinds.iter().map(|kind| {
            let numbers = column(&format!("tail_{kind}"))?;
            Ok(numbers.iter().map(|&x| x as f32).collect())
        });
        Ok(Judgment {
            tails: tails.collect::<Result<_>>()?,
            links: judged,
            facts,
        })
    }

    /// Sorts the links by their ends, as a graph of the user's rows has them.
    pub fn sort_by_ends(&mut self) {
        let mut order: Vec<u32> = (0..self.links.len() as u32).collect();
        let ends = |at: &u32| {
            let link = &self.links[*at as usize];
            (link.src, link.dst)
        };
        order.sort_unstable_by_key(ends);
        let of = |at: &u32| *at as usize;
        self.links = order.iter().map(|at| self.links[of(at)].clone()).collect();
        for tails in &mut self.tails {
            *tails = order.iter().map(|at| tails[of(at)]).collect();
        }
    }
}

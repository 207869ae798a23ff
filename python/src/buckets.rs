//! Meetings of buckets of a table that is in no one memory.

use linkproof::data::buffer::Buffer;
use linkproof::data::graph::Link;
use linkproof::error::{Error, Result};
use linkproof::model::buckets::{Gamma, Meeting, Part};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays;
use crate::errors::exception;
use crate::settings::unchecked;
use crate::work::Threads;

/// Three rows: vectors, and both averages of Adam.
type Bucket<'py> = Bound<'py, PyArray2<f32>>;

/// Rows of the first ends of links in their bucket, of the second ones in theirs, weights,
/// and where the links of each pair of parts begin.
type Listed<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
);

/// Someone at whom buckets meet. The threads stay, and with them the memory that the
/// system's allocator keeps for each: what a meeting took serves the next one.
#[pyclass(frozen, module = "linkproof._core")]
pub struct BucketWorker {
    threads: Threads,
}

#[pymethods]
impl BucketWorker {
    /// With so many threads, or as many as there are cores.
    #[new]
    #[pyo3(signature = (threads))]
    fn new(threads: Option<usize>) -> PyResult<BucketWorker> {
        let threads = Threads::start(threads)?;
        Ok(BucketWorker { threads })
    }

    /// Moves the vectors of two buckets along the links between them, or those of one along
    /// the links inside, in place. `cuts` says at which rows the parts of each bucket begin
    /// and the last one ends; in round `r` of `order` part `p` meets part `p XOR r`. `per` is
    /// the links of a visit to two parts on average. Gives `gamma`, and what visits paid.
    #[pyo3(signature = (settings, dim, buckets, cuts, gamma, links, *, order, moves, per))]
    #[allow(clippy::too_many_arguments)] // what a meeting is
    fn meet<'py>(
        &self,
        py: Python<'py>,
        settings: &str,
        dim: usize,
        buckets: Vec<Bucket<'py>>,
        cuts: Vec<Vec<usize>>,
        gamma: (f32, f32, f32),
        links: Listed<'py>,
        order: Vec<usize>,
        moves: u64,
        per: f64,
    ) -> PyResult<((f32, f32, f32), f64)> {
        let params = unchecked(settings)?;
        let links = Links::read(&links, order.len())?;
        if !(1..=2).contains(&buckets.len()) || buckets.len() != cuts.len() {
            return Err(refused("one or two buckets, and the cuts of each"));
        }
        let mut held = buckets
            .iter()
            .map(|bucket| Ok(bucket.try_readwrite()?))
            .collect::<PyResult<Vec<_>>>()?;
        let mut parts = Vec::new();
        for (bucket, cuts) in held.iter_mut().zip(&cuts) {
            if cuts.len() != order.len() + 1 {
                return Err(refused("as many parts in each bucket as rounds"));
            }
            if bucket.shape()[0] != 3 {
                return Err(refused("three rows each"));
            }
            cut(bucket.as_slice_mut()?, dim, cuts, &mut parts)
                .ok_or_else(|| refused("cuts from 0 to the last row, none before another"))?;
        }
        let meeting = Meeting {
            params: &params,
            parts: order.len(),
            order: &order,
            moves,
            per,
        };
        let gamma: Gamma = [gamma.0, gamma.1, gamma.2];
        let run = || meeting.run(&mut parts, gamma, |p, q| links.of(&cuts, p, q));
        let found = py.detach(|| self.threads.install(run));
        let ([gamma, first, second], paid) = found.map_err(exception)?;
        Ok(((gamma, first, second), paid))
    }
}

fn refused(expected: &str) -> PyErr {
    PyValueError::new_err(format!("buckets: expected {expected}"))
}

/// Cuts the numbers of a bucket into those of its parts.
fn cut<'a>(
    numbers: &'a mut [f32],
    dim: usize,
    cuts: &[usize],
    parts: &mut Vec<Part<'a>>,
) -> Option<()> {
    let length = numbers.len() / 3;
    let ends = cuts.first() == Some(&0) && cuts.last()?.checked_mul(dim) == Some(length);
    if !ends || !cuts.is_sorted() {
        return None;
    }
    let (mut theta, rest) = numbers.split_at_mut(length);
    let (mut first, mut second) = rest.split_at_mut(length);
    for rows in cuts.windows(2) {
        let count = (rows[1] - rows[0]) * dim;
        let take = |row: &mut &'a mut [f32]| {
            let (here, after) = std::mem::take(row).split_at_mut(count);
            *row = after;
            here
        };
        parts.push(Part {
            theta: take(&mut theta),
            first: take(&mut first),
            second: take(&mut second),
        });
    }
    Some(())
}

/// The links of a meeting, by pairs of parts.
struct Links {
    first: Buffer<u32>,
    second: Buffer<u32>,
    weight: Buffer<f64>,
    starts: Buffer<u32>,
    parts: usize,
}

impl Links {
    fn read(listed: &Listed<'_>, parts: usize) -> PyResult<Links> {
        let links = Links {
            first: arrays::rows(&listed.0, "first")?,
            second: arrays::rows(&listed.1, "second")?,
            weight: arrays::doubles(listed.2.as_any(), "weight")?,
            starts: arrays::rows(&listed.3, "starts")?,
            parts,
        };
        let count = links.first.len();
        let starts = &links.starts;
        let whole = links.second.len() == count
            && links.weight.len() == count
            && Some(starts.len()) == parts.checked_mul(parts).and_then(|it| it.checked_add(1))
            && starts.is_sorted()
            && starts.last().is_some_and(|&last| last as usize == count);
        match whole {
            true => Ok(links),
            false => Err(PyValueError::new_err(
                "links: found ends, weights and starts of different numbers",
            )),
        }
    }

    /// The links between two parts, or inside one, by rows of the first and then of the
    /// second.
    fn of(&self, cuts: &[Vec<usize>], p: usize, q: usize) -> Result<Vec<Link>> {
        let (mine, other) = (&cuts[0], &cuts[cuts.len() - 1]);
        let inside = cuts.len() == 1 && p == q;
        let size = if inside { 0 } else { mine[p + 1] - mine[p] };
        let pair = p * self.parts + q;
        let row = |row: u32, from: usize, after: usize| {
            let row = (row as usize).checked_sub(from).map(|row| row + after);
            row.and_then(|row| u32::try_from(row).ok())
        };
        let link = |place: usize| {
            let src = row(self.first[place], mine[p], 0)?;
            let dst = row(self.second[place], other[q], size)?;
            let weight = self.weight[place];
            Some(Link { src, dst, weight })
        };
        let places = self.starts[pair] as usize..self.starts[pair + 1] as usize;
        places
            .map(link)
            .collect::<Option<Vec<Link>>>()
            .ok_or_else(|| Error::data("buckets", "a link outside its part", "rows of it"))
    }
}

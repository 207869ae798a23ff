//! Ids to rows while links stream in: parsers look ids up in parallel, new ids
//! are added in the order of the file.

use linkproof_method::data::graph::{Lines, Link};
use linkproof_method::data::ids::{Ids, Names, row_number};
use linkproof_method::error::{Error, Result};

/// Marks a row that is one of a block's own new names.
const OWN: u32 = 1 << 31;
const NO_ROW: u32 = u32::MAX;

/// Links whose ids are looked up side by side; their text stays in cache.
const LOOKED_UP_TOGETHER: usize = 256;

/// All ids seen so far.
#[derive(Default)]
pub(super) struct Interner {
    names: Names,
    /// The rows of ids that are small whole numbers, which many files have:
    /// finding them here takes no hashing.
    numbered: Vec<u32>,
    /// Bytes of the ids that were added one by one.
    #[cfg(feature = "parquet")]
    bytes: u64,
}

/// The links of one block. Ends that were not known yet are own names.
#[derive(Default)]
pub(super) struct BlockLinks {
    new: Names,
    links: Vec<Link>,
    /// The lines of the links.
    pub(super) lines: Lines,
    /// Numbers about the links, so many for each.
    pub(super) evidence: Vec<f64>,
    waiting: Waiting,
}

/// Links as written, to be looked up together: the ids of both ends one after
/// the other in one text.
#[derive(Default)]
struct Waiting {
    text: String,
    ends: Vec<usize>,
    weights: Vec<f64>,
}

impl BlockLinks {
    /// Adds a link, told with the same `known` ids as all of this block.
    pub(super) fn push(&mut self, known: &Interner, src: &str, dst: &str, weight: f64) {
        for id in [src, dst] {
            self.waiting.text.push_str(id);
            self.waiting.ends.push(self.waiting.text.len());
        }
        self.waiting.weights.push(weight);
        if self.waiting.weights.len() == LOOKED_UP_TOGETHER {
            self.look_up(known);
        }
    }

    /// Must follow the last link.
    pub(super) fn finish(mut self, known: &Interner) -> BlockLinks {
        self.look_up(known);
        self
    }

    fn look_up(&mut self, known: &Interner) {
        let Waiting {
            text,
            ends,
            weights,
        } = &mut self.waiting;
        let starts = std::iter::once(&0).chain(ends.iter());
        let ids: Vec<&str> = starts
            .zip(ends.iter())
            .map(|(&start, &end)| &text[start..end])
            .collect();
        let mut rows = known.rows(&ids);
        for (row, id) in rows.iter_mut().zip(&ids) {
            if *row == NO_ROW {
                *row = OWN | self.new.insert(id);
            }
        }
        for (ends, &weight) in rows.chunks_exact(2).zip(weights.iter()) {
            let (src, dst) = (ends[0], ends[1]);
            self.links.push(Link { src, dst, weight });
        }
        text.clear();
        ends.clear();
        weights.clear();
    }
}

impl Interner {
    /// The rows of ids, or [`NO_ROW`].
    fn rows(&self, ids: &[&str]) -> Vec<u32> {
        let number = |id: &&str| row_number(id).map_or(usize::MAX, |number| number as usize);
        let numbers: Vec<usize> = ids.iter().map(number).collect();
        // Nothing else here, so that the waits for memory overlap.
        let numbered = |&number: &usize| self.numbered.get(number).copied().unwrap_or(NO_ROW);
        let mut rows: Vec<u32> = numbers.iter().map(numbered).collect();
        let others: Vec<usize> = (0..ids.len()).filter(|&at| rows[at] == NO_ROW).collect();
        if !others.is_empty() {
            let names: Vec<&str> = others.iter().map(|&at| ids[at]).collect();
            for (at, row) in others.into_iter().zip(self.names.rows(&names)) {
                rows[at] = row.unwrap_or(NO_ROW);
            }
        }
        rows
    }

    /// The row of an id, added at the end when it is new.
    #[cfg(feature = "parquet")]
    pub(super) fn insert(&mut self, id: &str) -> Result<u32> {
        if let Some(number) = row_number(id)
            && let Some(&row) = self.numbered.get(number as usize)
            && row != NO_ROW
        {
            return Ok(row);
        }
        let n_before = self.names.len();
        let row = self.names.insert(id);
        if self.names.len() > n_before {
            self.bytes += id.len() as u64;
            self.note_new(n_before)?;
        }
        Ok(row)
    }

    /// The bytes of the ids that were added one by one.
    #[cfg(feature = "parquet")]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes the names from a row on, which are new.
    fn note_new(&mut self, first: usize) -> Result<()> {
        if self.names.len() >= OWN as usize {
            return Err(Error::links("2^31 nodes or more", "fewer than that"));
        }
        for row in first..self.names.len() {
            if let Some(number) = row_number(self.names.name(row))
                && let Some(place) = self.numbered.get_mut(number as usize)
            {
                *place = row as u32;
            }
        }
        Ok(())
    }

    /// Adds a block's new names and appends its links with their final rows.
    pub(super) fn merge(&mut self, block: BlockLinks, links: &mut Vec<Link>) -> Result<()> {
        let n_before = self.names.len();
        let mut rows = Vec::with_capacity(block.new.len());
        for start in (0..block.new.len()).step_by(2 * LOOKED_UP_TOGETHER) {
            let end = (start + 2 * LOOKED_UP_TOGETHER).min(block.new.len());
            let names: Vec<&str> = (start..end).map(|own| block.new.name(own)).collect();
            rows.extend(self.names.insert_all(&names));
        }
        self.note_new(n_before)?;
        let row = |end: u32| match end & OWN {
            0 => end,
            _ => rows[(end & !OWN) as usize],
        };
        links.extend(block.links.iter().map(|link| Link {
            src: row(link.src),
            dst: row(link.dst),
            weight: link.weight,
        }));
        self.make_room()
    }

    /// Lets the table of numbers grow with the number of ids, so that ids that
    /// are large and few cannot make it large.
    pub(super) fn make_room(&mut self) -> Result<()> {
        if self.names.len() < 4096 || self.numbered.len() >= 4 * self.names.len() {
            return Ok(());
        }
        let room = (8 * self.names.len()).next_power_of_two();
        self.numbered.resize(room, NO_ROW);
        self.note_new(0)
    }

    /// The id of a row.
    #[cfg(feature = "parquet")]
    pub(super) fn name(&self, row: u32) -> &str {
        self.names.name(row as usize)
    }

    /// The ids in order of first appearance.
    pub(super) fn into_ids(self) -> Ids {
        Ids::from(self.names)
    }
}

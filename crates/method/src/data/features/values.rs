//! Numbers, and where rows of them start, in the memory in which they came.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::buffer::Buffer;
use crate::data::floats;
use linkproof_numeric::real::Real;

/// Numbers in the precision in which they came ([example](super::Matrix)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Values {
    /// Single precision.
    F32(#[serde(with = "floats")] Buffer<f32>),
    /// Double precision.
    F64(#[serde(with = "floats")] Buffer<f64>),
}

impl Values {
    /// The same numbers in their precision.
    pub fn of<T: Real>(numbers: &[T]) -> Values {
        match T::to_f32s(numbers) {
            Some(numbers) => numbers.to_vec().into(),
            None => numbers
                .iter()
                .map(|x| x.to_f64())
                .collect::<Vec<f64>>()
                .into(),
        }
    }

    /// Some of them.
    pub fn slice(&self, places: Range<usize>) -> Values {
        match self {
            Values::F32(values) => values[places].to_vec().into(),
            Values::F64(values) => values[places].to_vec().into(),
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One number, in double precision.
    pub fn get(&self, place: usize) -> f64 {
        match self {
            Values::F32(values) => f64::from(values[place]),
            Values::F64(values) => values[place],
        }
    }

    /// All of them in another precision, or the same.
    pub fn cast<T: Real>(&self) -> Cow<'_, [T]> {
        match self {
            Values::F32(values) => match T::from_f32(values) {
                Some(values) => Cow::Borrowed(values),
                None => values.iter().map(|&x| T::of(f64::from(x))).collect(),
            },
            Values::F64(values) => match T::from_f64(values) {
                Some(values) => Cow::Borrowed(values),
                None => values.iter().map(|&x| T::of(x)).collect(),
            },
        }
    }

    pub(super) fn first_not_finite(&self) -> Option<usize> {
        match self {
            Values::F32(values) => values.iter().position(|x| !x.is_finite()),
            Values::F64(values) => values.iter().position(|x| !x.is_finite()),
        }
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Values::F32(values.into())
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Values::F64(values.into())
    }
}

/// Where the rows of a sparse matrix start, and where the last one ends ([example](super::Matrix)).
#[derive(Debug, Clone)]
pub enum Offsets {
    /// As this machine counts memory.
    Wide(Buffer<usize>),
    /// As others store the offsets of fewer than 2^32 entries.
    Narrow(Buffer<u32>),
}

impl Offsets {
    pub(super) fn len(&self) -> usize {
        match self {
            Offsets::Wide(offsets) => offsets.len(),
            Offsets::Narrow(offsets) => offsets.len(),
        }
    }

    pub(super) fn get(&self, place: usize) -> usize {
        match self {
            Offsets::Wide(offsets) => offsets[place],
            Offsets::Narrow(offsets) => offsets[place] as usize,
        }
    }

    pub(super) fn wide(&self) -> Cow<'_, [usize]> {
        match self {
            Offsets::Wide(offsets) => Cow::Borrowed(offsets),
            Offsets::Narrow(offsets) => offsets.iter().map(|&x| x as usize).collect(),
        }
    }

    /// Whether they ascend from zero to a number of entries.
    pub(super) fn span(&self, entries: usize) -> bool {
        let ascend = (1..self.len()).all(|place| self.get(place - 1) <= self.get(place));
        self.len() > 0 && ascend && self.get(0) == 0 && self.get(self.len() - 1) == entries
    }
}

impl From<Vec<usize>> for Offsets {
    fn from(offsets: Vec<usize>) -> Self {
        Offsets::Wide(offsets.into())
    }
}

impl PartialEq for Offsets {
    fn eq(&self, other: &Self) -> bool {
        self.wide() == other.wide()
    }
}

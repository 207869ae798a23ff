//! Sums over all pairs on a card, of embeddings that the host has.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use linkproof_method::engine::pairs::{AllPairs, EmbeddedRows, SumPairs, Sums};
use linkproof_method::error::{Error, Result};
use linkproof_method::score::{Kernel, Score};

use crate::card::{CardPairs, Place};
use crate::device::{Device, Products};
use crate::layout::Layout;
use crate::pass::Number;

/// The first thing that went wrong on a card, until someone asks.
#[derive(Debug, Clone, Default)]
pub struct Failure(Arc<Mutex<Option<Error>>>);

impl Failure {
    /// An error where something went wrong.
    pub fn take(&self) -> Result<()> {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.take().map_or(Ok(()), Err)
    }

    fn put(&self, error: Error) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }
}

/// Sums over all pairs on a card.
#[derive(Debug)]
pub struct DevicePairs<T: Number> {
    pub on: Place,
    failure: Failure,
    state: Mutex<CardPairs<T>>,
}

impl<T: Number> DevicePairs<T> {
    /// Nothing is known, and no memory is taken.
    pub fn new(device: &Arc<Device>, products: Products, failure: Failure) -> Result<Self> {
        Ok(DevicePairs {
            on: Place {
                device: Arc::clone(device),
                stream: device.stream()?,
                products,
            },
            failure,
            state: Mutex::default(),
        })
    }

    /// What is on the card.
    pub fn state(&self) -> MutexGuard<'_, CardPairs<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn there_and_back(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        score: &Score,
        gradient: Option<&mut [T]>,
    ) -> Result<Sums> {
        let (device, stream) = (&*self.on.device, &self.on.stream);
        let mut state = self.state();
        let layout = state.layout(&self.on, pairs, embedded.dim);
        let mut rows = padded(embedded, &layout);
        state.rows.fill(device, stream, rows.as_slice())?;
        let by = (embedded.gamma, score);
        let sums = state.run(&self.on, &layout, pairs, by, gradient.is_some())?;
        if let Some(gradient) = gradient {
            state.gradient.read(device, stream, &mut rows)?;
            let (dim, width) = (layout.dim, layout.width);
            for place in &layout.places {
                let rows = rows[place.start * width..].chunks_exact(width);
                let out = &mut gradient[place.rows.start * dim..place.rows.end * dim];
                for (out, row) in out.chunks_exact_mut(dim).zip(rows) {
                    for (out, more) in out.iter_mut().zip(row) {
                        *out += *more;
                    }
                }
            }
        }
        Ok(sums)
    }
}

/// Embeddings as they stand on the card, each view from a whole tile on.
pub fn padded<T: Number>(embedded: &EmbeddedRows<'_, T>, layout: &Layout) -> Vec<T> {
    let (dim, width) = (layout.dim, layout.width);
    let mut padded = vec![T::ZERO; layout.rows * width];
    for place in &layout.places {
        let rows = padded[place.start * width..].chunks_exact_mut(width);
        let from = &embedded.y[place.rows.start * dim..place.rows.end * dim];
        for (row, from) in rows.zip(from.chunks_exact(dim)) {
            row[..dim].copy_from_slice(from);
        }
    }
    padded
}

/// The sums of an engine on the host, computed on a card.
#[derive(Debug)]
pub struct HostPairs<T: Number>(pub Arc<DevicePairs<T>>);

impl<T: Number> SumPairs<T> for HostPairs<T> {
    fn all_pairs(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        kernel: &Kernel<T>,
        gradient: Option<&mut [T]>,
    ) -> Sums {
        let found = self
            .0
            .there_and_back(embedded, pairs, kernel.score(), gradient);
        found.unwrap_or_else(|error| {
            self.0.failure.put(error);
            let mut sums = Sums::zero(pairs.scale.n_views());
            sums.value = f64::NAN;
            sums
        })
    }
}

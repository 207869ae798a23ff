//! Sums over all pairs on a card, of embeddings that the host has.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use linkproof_method::engine::pairs::{AllPairs, EmbeddedRows, PairPass, Sums};
use linkproof_method::error::Result;
use linkproof_method::score::{Kernel, Score};

use crate::card::{CardPairs, Memory, Place};
use crate::device::{Device, Products};
use crate::layout::Layout;
use crate::pass::Number;

/// Sums over all pairs on a card.
#[derive(Debug)]
pub struct DevicePairs<T: Number> {
    pub on: Place,
    state: Mutex<CardPairs<T>>,
}

impl<T: Number> DevicePairs<T> {
    /// Nothing is known, and no memory is taken.
    pub fn new(device: &Arc<Device>, products: Products, memory: Memory) -> Result<Self> {
        Ok(DevicePairs {
            on: Place {
                device: Arc::clone(device),
                stream: device.stream()?,
                products,
                memory,
            },
            state: Mutex::default(),
        })
    }

    /// What is on the card.
    pub fn state(&self) -> MutexGuard<'_, CardPairs<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings embeddings up; how they stand there.
    pub fn bring_up(
        &self,
        state: &mut CardPairs<T>,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
    ) -> Result<Layout> {
        let on = &self.on;
        // Offsets are two more dimensions: (y, b, 1) meets (z, 1, b).
        let of_offsets = if embedded.offsets.is_empty() { 0 } else { 2 };
        let layout = state.layout(on, pairs, embedded.dim + of_offsets);
        let rows = padded(embedded, &layout, Side::Left);
        state.rows.fill(on, rows.as_slice())?;
        state.mirror = match of_offsets > 0 || embedded.mirror.as_ptr() != embedded.y.as_ptr() {
            true => {
                let mut mirror = state.mirror.take().unwrap_or_default();
                let right = padded(embedded, &layout, Side::Right);
                mirror.fill(on, right.as_slice())?;
                Some(mirror)
            }
            false => None,
        };
        Ok(layout)
    }

    /// Brings the gradient of all rows down, as they stand there.
    pub fn bring_down(&self, state: &CardPairs<T>, layout: &Layout) -> Result<Vec<T>> {
        let mut rows = vec![T::ZERO; layout.rows * layout.width];
        let on = &self.on;
        state.gradient.read(on, &mut rows)?;
        Ok(rows)
    }

    fn there_and_back(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        score: &Score,
        gradient: Option<&mut [T]>,
    ) -> Result<Sums> {
        let mut state = self.state();
        let layout = self.bring_up(&mut state, embedded, pairs)?;
        let by = (embedded.gamma, score);
        let sums = state.run(&self.on, &layout, pairs, by, gradient.is_some())?;
        if let Some(gradient) = gradient {
            let rows = self.bring_down(&state, &layout)?;
            let (dim, width) = (embedded.dim, layout.width);
            let (of_rows, of_offsets) = gradient.split_at_mut(embedded.y.len());
            for place in &layout.places {
                let rows = rows[place.start * width..].chunks_exact(width);
                let out = &mut of_rows[place.rows.start * dim..place.rows.end * dim];
                for (out, row) in out.chunks_exact_mut(dim).zip(rows.clone()) {
                    for (out, more) in out.iter_mut().zip(row) {
                        *out += *more;
                    }
                }
                if !of_offsets.is_empty() {
                    let out = &mut of_offsets[place.rows.clone()];
                    for (out, row) in out.iter_mut().zip(rows) {
                        *out += row[dim];
                    }
                }
            }
        }
        Ok(sums)
    }
}

/// The sides of a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Side {
    Left,
    Right,
}

/// Embeddings as they stand on the card, each view from a whole tile on.
pub fn padded<T: Number>(embedded: &EmbeddedRows<'_, T>, layout: &Layout, side: Side) -> Vec<T> {
    let (dim, width) = (embedded.dim, layout.width);
    let mut padded = vec![T::ZERO; layout.rows * width];
    let numbers = match side {
        Side::Left => embedded.y,
        Side::Right => embedded.mirror,
    };
    for place in &layout.places {
        let rows = padded[place.start * width..].chunks_exact_mut(width);
        for (row, from) in rows.zip(place.rows.clone()) {
            row[..dim].copy_from_slice(&numbers[from * dim..(from + 1) * dim]);
            if let Some(&offset) = embedded.offsets.get(from) {
                (row[dim], row[dim + 1]) = match side {
                    Side::Left => (offset, T::ONE),
                    Side::Right => (T::ONE, offset),
                };
            }
        }
    }
    padded
}

/// The passes of an engine on the host, computed on a card.
#[derive(Debug)]
pub struct HostPairs<T: Number>(pub Arc<DevicePairs<T>>);

impl<T: Number> PairPass<T> for HostPairs<T> {
    fn all_pairs(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        kernel: &Kernel<T>,
        gradient: Option<&mut [T]>,
    ) -> Result<Sums> {
        let score = kernel.score();
        self.0.there_and_back(embedded, pairs, score, gradient)
    }
}

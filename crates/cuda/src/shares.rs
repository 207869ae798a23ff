//! Shares of passes over all pairs, for those who have several cards: each computes some
//! tiles of rows, and sends the gradient of these rows.

use std::sync::Arc;

use linkproof_method::engine::pairs::{AllPairs, EmbeddedRows, FlatPartial, PassShare, Sums};
use linkproof_method::error::Result;
use linkproof_method::score::Score;

use crate::card::Memory;
use crate::device::{Device, Products};
use crate::layout::WIDEST;
use crate::pairs::DevicePairs;
use crate::pass::Number;

/// How many shares a pass over so many rows can have at most: more would be idle.
pub fn most_shares(n_rows: usize) -> usize {
    n_rows.div_ceil(WIDEST).max(1)
}

/// Shares of passes over all pairs on a card. What it finds for a tile of rows has the same
/// bits in every share, and whatever else runs on the card.
#[derive(Debug)]
pub struct CardShares<T: Number>(DevicePairs<T>);

impl<T: Number> CardShares<T> {
    pub(crate) fn new(device: &Arc<Device>, products: Products) -> Result<CardShares<T>> {
        Ok(CardShares(DevicePairs::new(device, products, Memory::All)?))
    }

    /// A share of a pass, and the gradient of its rows if it is asked for.
    /// [`linkproof_method::engine::pairs::join_rows`] makes a whole of all shares.
    ///
    /// # Errors
    /// [`linkproof_method::error::Error::Device`] where the card does not do it.
    pub fn part(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        pairs: &AllPairs<'_>,
        score: &Score,
        (share, with_gradient): (PassShare, bool),
    ) -> Result<FlatPartial<T>> {
        let mut state = self.0.state();
        let layout = self.0.bring_up(&mut state, embedded, pairs)?;
        let by = (embedded.gamma, score);
        let how = (share, with_gradient);
        let (work, sums) = state.run_each(&self.0.on, &layout, pairs, by, how)?;
        let slopes = match with_gradient {
            true => self.0.bring_down(&state, &layout)?,
            false => Vec::new(),
        };
        // The slope in a node's offset stands behind those in its numbers.
        let wanted = embedded.dim + usize::from(!embedded.offsets.is_empty());
        let n_views = pairs.scale.n_views();
        let mut part = FlatPartial::of_no_rows();
        for tile in work.tiles {
            let sums = sums[tile.items].iter().map(|item| {
                let mut sums = Sums::zero(n_views);
                item.add_to(&mut sums);
                sums
            });
            let slopes = slopes.chunks_exact(layout.width).skip(tile.start);
            let slopes = slopes.take(tile.rows.len()).flat_map(|row| &row[..wanted]);
            part.push_rows(tile.rows, sums, slopes.copied());
        }
        Ok(part)
    }
}

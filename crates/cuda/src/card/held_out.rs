//! Which pairs of a pass are held out: the rule's numbers, counts, and bits that are kept.

use cudarc::driver::LaunchConfig;
use linkproof_method::engine::pairs::{AllPairs, PassShare, Split};
use linkproof_method::error::Result;

use super::{CardPairs, Memory, Place, blocks};
use crate::compile::{Kind, Variant};
use crate::layout::{Layout, TILE, Work};
use crate::memory::Buffer;
use crate::pass::{Item, Number, Pass};
use crate::vectors::launch;

/// It is written down which pairs take part, bit by bit, where that takes at most this
/// share of the memory.
const WRITTEN_SHARE: usize = 8;
/// The multipliers of the held-out rule's hash.
const HASH: [u32; 2] = [0x9e37_79b1, 0x85eb_ca77];

impl<T: Number> CardPairs<T> {
    /// What the held-out rule makes of each row.
    pub(super) fn tell_rules(
        &mut self,
        on: &Place,
        nodes: &[u32],
        layout: &Layout,
        split: Split,
    ) -> Result<()> {
        let rules = split.rules();
        let mut hashes = [const { Vec::new() }; 3];
        hashes
            .iter_mut()
            .for_each(|hashes| hashes.resize(layout.rows, 0u32));
        let mut named = vec![0u8; layout.rows];
        for place in &layout.places {
            for (at, row) in (place.start..).zip(place.rows.clone()) {
                let node = nodes[row];
                hashes[0][at] = node.wrapping_mul(HASH[0]);
                for (which, rule) in rules.iter().enumerate() {
                    let Some(rule) = rule else { continue };
                    hashes[which + 1][at] = node.wrapping_mul(HASH[1]).wrapping_add(rule.seed);
                    named[at] |= u8::from(rule.has_node(node)) << which;
                }
            }
        }
        for (buffer, hashes) in self.hashes.iter_mut().zip(&hashes) {
            buffer.fill(on, hashes.as_slice())?;
        }
        self.named.fill(on, named.as_slice())
    }

    /// The numbers of pairs of the part that items have, and of those watched, times their
    /// factors.
    pub(super) fn counts(
        &mut self,
        on: &Place,
        pass: &Pass,
        layout: &Layout,
        (pairs, share): (&AllPairs<'_>, PassShare),
        (work, own): (&Work, usize),
    ) -> Result<Vec<(f64, f64)>> {
        let is_kept = is_everything(pairs.nodes);
        let key = (layout.clone(), pairs.scale.clone(), pairs.split, share);
        let known = self.counted.iter().find(|(of, _)| is_kept && *of == key);
        let mut counts = match known {
            Some((_, counts)) => counts.clone(),
            None => {
                let kernels = Variant::plain(T::NAME);
                let counts = self.counts.room(on, 2 * work.items.len())?;
                let (own, config) = (own as i32, blocks(work.items.len(), 256));
                launch!(on, kernels, "count", config; pass, &own, counts)?;
                let mut counts = vec![0u64; 2 * work.items.len()];
                self.counts.read(on, &mut counts)?;
                let of_item = |(item, counts): (&Item, &[u64])| {
                    let half = 0.5 * item.scale;
                    (half * counts[0] as f64, half * counts[1] as f64)
                };
                let counts = counts.chunks_exact(2);
                let counts: Vec<_> = work.items.iter().zip(counts).map(of_item).collect();
                if is_kept {
                    self.counted.push((key, counts.clone()));
                }
                counts
            }
        };
        if !pairs.watched {
            counts.iter_mut().for_each(|(_, watched)| *watched = 0.0);
        }
        Ok(counts)
    }

    /// Has it written down which pairs take part, where that is not known.
    pub(super) fn write_masks(
        &mut self,
        on: &Place,
        pass: &mut Pass,
        (layout, pairs, split): (&Layout, &AllPairs<'_>, Split),
        (terms, width): (u32, u32),
    ) -> Result<bool> {
        let tiles = layout.rows / TILE;
        let words = tiles * tiles * 128;
        let key = (layout.clone(), pairs.scale.clone(), split);
        let is_known = self.written.as_ref() == Some(&key);
        let (free, all) = on.device.memory()?;
        let most = match on.memory {
            Memory::Free => free,
            Memory::All => all,
        };
        if !is_known && 2 * 4 * words > most / WRITTEN_SHARE {
            return Ok(false);
        }
        for masks in &mut self.masks {
            masks.room(on, words)?;
        }
        pass.keep = self.masks[0].address(on);
        pass.watch = self.masks[1].address(on);
        if is_known {
            return Ok(true);
        }
        // Of all tiles, whatever the share of this pass.
        let gamma = pairs.scale.map(|_| 0.0);
        let work = layout.work(pairs, &gamma, (2 * TILE, 1), PassShare::WHOLE);
        let mut items = Buffer::default();
        items.fill(on, work.items.as_slice())?;
        let variant = Variant {
            kind: Kind::Tensor { terms, width },
            split: 2,
            ..Variant::plain(T::NAME)
        };
        let of_masks = Pass {
            items: items.address(on),
            ..*pass
        };
        let config = LaunchConfig {
            grid_dim: (work.items.len() as u32, 4, 1),
            ..blocks(1, 256)
        };
        launch!(on, variant, "masks", config; &of_masks)?;
        self.written = Some(key);
        Ok(true)
    }
}

/// Whether nodes, ascending, are all there are: 0, 1, 2 and so on.
pub fn is_everything(nodes: &[u32]) -> bool {
    nodes
        .last()
        .is_some_and(|&last| last as usize + 1 == nodes.len())
}

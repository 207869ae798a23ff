//! A pass over all pairs of rows that are on the card: sums, and the gradient there.

use std::sync::Arc;

use cudarc::driver::{CudaStream, LaunchConfig, PushKernelArg};
use linkproof_method::engine::pairs::{AllPairs, Part, Split, Sums, TileShare, ViewMatrix};
use linkproof_method::error::Result;
use linkproof_method::score::{Score, UnlinkedForm};

use crate::compile::{Kind, Variant};
use crate::device::{Device, Products};
use crate::layout::{Layout, TILE, Work};
use crate::memory::Buffer;
use crate::pass::{Item, Number, Pass, RuleNumbers, part_number};
use crate::series::Series;

/// The widest rows that tensor cores are used for.
const WIDEST: usize = 128;
/// It is written down which pairs take part, bit by bit, where that takes at most this
/// share of the memory that is free.
const WRITTEN_SHARE: usize = 8;
/// The multipliers of the held-out rule's hash.
const HASH: [u32; 2] = [0x9e37_79b1, 0x85eb_ca77];
/// Blocks of kernels that go over all of something, at most.
const MANY: usize = 2048;
/// Sums of an item: three of each of eight warps.
const SUMS: usize = 24;

/// Where passes run, and how.
#[derive(Debug, Clone)]
pub struct Place {
    pub device: Arc<Device>,
    pub stream: Arc<CudaStream>,
    pub products: Products,
}

/// Memory that serves again, and what is known of earlier passes.
#[derive(Debug, Default)]
pub struct CardPairs<T: Number> {
    /// The embeddings, and as the other ends of pairs see them where that differs.
    pub rows: Buffer<T>,
    pub mirror: Option<Buffer<T>>,
    packed: Buffer<u8>,
    slots: Buffer<T>,
    /// The gradient in them, after a pass for one.
    pub gradient: Buffer<T>,
    items: Buffer<Item>,
    sums: Buffer<f64>,
    most: Buffer<u32>,
    stretch: Buffer<f32>,
    hashes: [Buffer<u32>; 3],
    named: Buffer<u8>,
    masks: [Buffer<u32>; 2],
    counts: Buffer<u64>,
    cells: Buffer<f64>,
    /// Exponent of the score whose table is there, and its polynomials.
    tabulated: Option<(f64, Series)>,
    /// What the masks are of.
    written: Option<(Layout, ViewMatrix, Split)>,
    /// Numbers of pairs that were counted, of all nodes.
    counted: Vec<(Counted, (f64, f64))>,
}

/// What pairs were counted of.
type Counted = (Layout, ViewMatrix, Option<(Split, Part)>, TileShare);

impl<T: Number> CardPairs<T> {
    /// How rows of a dimension stand on the card for a score.
    pub fn layout(&self, on: &Place, pairs: &AllPairs<'_>, dim: usize) -> Layout {
        let width = match tensor::<T>(on, dim) {
            Some((_, width)) => width as usize,
            None => dim.next_multiple_of(16),
        };
        Layout::new(pairs.rows, dim, width)
    }

    /// Where the embeddings are, and where as the other ends of pairs see them.
    pub fn sides(&self, stream: &CudaStream) -> (u64, u64) {
        let mirror = self.mirror.as_ref().unwrap_or(&self.rows);
        (self.rows.address(stream), mirror.address(stream))
    }

    /// Sums over pairs of the rows, and if asked to the gradient in them.
    pub fn run(
        &mut self,
        on: &Place,
        layout: &Layout,
        pairs: &AllPairs<'_>,
        (gamma, score): (&ViewMatrix, &Score),
        wants_gradient: bool,
    ) -> Result<Sums> {
        let (device, stream) = (&*on.device, &on.stream);
        let tensor = tensor::<T>(on, layout.dim);
        let own = if tensor.is_some() { 2 * TILE } else { TILE };
        let work = layout.work(pairs, gamma, (own, 6 * device.processors));
        let mut sums = Sums::zero(pairs.scale.n_views());
        if work.items.is_empty() {
            self.gradient
                .clear(device, stream, layout.rows * layout.width)?;
            return Ok(sums);
        }
        self.items.fill(device, stream, work.items.as_slice())?;
        let mut pass = self.pass(on, layout, score)?;
        let mut split = 0;
        if let Some((rule, part)) = pairs.split {
            self.tell_rules(on, pairs.nodes, layout, rule)?;
            pass.hash_first = self.hashes[0].address(stream);
            pass.hash_fold = self.hashes[1].address(stream);
            pass.hash_stop = self.hashes[2].address(stream);
            pass.named = self.named.address(stream);
            [pass.fold, pass.stop] = RuleNumbers::of_split(Some(rule));
            pass.part = part_number(part);
            pass.watches = i32::from(pairs.watched);
            (sums.pairs, sums.watched.1) = self.counts(on, &pass, layout, pairs, (&work, own))?;
            let known_nodes = is_everything(pairs.nodes) && part == Part::Training;
            split = 2;
            if let Some(tensor) = tensor.filter(|_| known_nodes && wants_gradient)
                && self.write_masks(on, &mut pass, (layout, pairs, rule), tensor)?
            {
                split = 1;
            }
        } else {
            sums.pairs = work.pairs;
        }
        let variant = Variant {
            number: T::NAME,
            kind: tensor.map_or(Kind::Plain, |(terms, width)| Kind::Tensor { terms, width }),
            score: score_number(score),
            series: tensor.map_or(0, |_| pass.series.count),
            split,
            gradient: wants_gradient,
        };
        self.launch(on, variant, &mut pass, (layout, &work))?;
        let mut found = vec![0.0; work.items.len() * SUMS];
        self.sums.read(device, stream, &mut found)?;
        for (&(d, e), found) in work.views.iter().zip(found.chunks_exact(SUMS)) {
            let part = |place: usize| -> f64 { found.iter().skip(place).step_by(3).sum() };
            sums.value += 0.5 * part(0);
            sums.gamma.add(d, e, -0.5 * part(1));
            sums.watched.0 += 0.5 * part(2);
        }
        Ok(sums)
    }

    /// The numbers of a pass that are always needed.
    pub fn pass(&mut self, on: &Place, layout: &Layout, score: &Score) -> Result<Pass> {
        let (device, stream) = (&*on.device, &on.stream);
        let (mut growth, mut beta, mut per_unit) = (1.0, 0.0, 0.0);
        let mut series = Series::default();
        match score.unlinked_form() {
            UnlinkedForm::Power { growth: a } => growth = a,
            UnlinkedForm::Table {
                beta: exponent,
                cells,
                cells_per_unit,
            } => {
                (beta, per_unit) = (exponent, cells_per_unit);
                series = match &self.tabulated {
                    Some((known, series)) if *known == beta => *series,
                    _ => {
                        self.cells.fill(device, stream, cells.as_slice())?;
                        Series::new(beta, tolerance(on.products))
                    }
                };
                self.tabulated = Some((beta, series));
            }
        }
        // A power's own growth, or that of the probability score where pairs weigh little.
        let rate = match beta > 0.0 {
            true => (1.0 + beta).min(2.0),
            false => growth,
        };
        Ok(Pass {
            items: self.items.address(stream),
            left: self.rows.address(stream),
            right: self.mirror.as_ref().unwrap_or(&self.rows).address(stream),
            gradient: 0,
            sums: 0,
            stretch: 0,
            hash_first: 0,
            hash_fold: 0,
            hash_stop: 0,
            named: 0,
            keep: 0,
            watch: 0,
            cells: self.cells.address(stream),
            fold: RuleNumbers::default(),
            stop: RuleNumbers::default(),
            part: 0,
            rows: layout.rows as u32,
            dim: layout.width as u32,
            growth,
            cap: score.cap(),
            beta,
            cells_per_unit: per_unit,
            watches: 0,
            rate: (rate * std::f64::consts::LOG2_E) as f32,
            inverse: (1.0 / growth) as f32,
            limit: score.cap() as f32,
            series,
        })
    }

    /// What the held-out rule makes of each row.
    fn tell_rules(
        &mut self,
        on: &Place,
        nodes: &[u32],
        layout: &Layout,
        split: Split,
    ) -> Result<()> {
        let (device, stream) = (&*on.device, &on.stream);
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
            buffer.fill(device, stream, hashes.as_slice())?;
        }
        self.named.fill(device, stream, named.as_slice())
    }

    /// The number of pairs of the part, and of those watched, times their factors.
    fn counts(
        &mut self,
        on: &Place,
        pass: &Pass,
        layout: &Layout,
        pairs: &AllPairs<'_>,
        (work, own): (&Work, usize),
    ) -> Result<(f64, f64)> {
        let (device, stream) = (&*on.device, &on.stream);
        let is_kept = is_everything(pairs.nodes);
        let key = (
            layout.clone(),
            pairs.scale.clone(),
            pairs.split,
            pairs.share,
        );
        let known = self.counted.iter().find(|(of, _)| is_kept && *of == key);
        let (all, watched) = match known {
            Some((_, counts)) => *counts,
            None => {
                let function = device.function(Variant::plain(T::NAME), "count")?;
                let counts = self.counts.room(device, stream, 2 * work.items.len())?;
                let own = own as i32;
                let mut launch = stream.launch_builder(&function);
                launch.arg(pass).arg(&own).arg(counts);
                let config = blocks(work.items.len(), 256);
                // SAFETY: the arguments are those of the kernel.
                device.check("counting", unsafe { launch.launch(config) })?;
                let mut counts = vec![0u64; 2 * work.items.len()];
                self.counts.read(device, stream, &mut counts)?;
                let mut sums = (0.0, 0.0);
                for (item, counts) in work.items.iter().zip(counts.chunks_exact(2)) {
                    sums.0 += 0.5 * item.scale * counts[0] as f64;
                    sums.1 += 0.5 * item.scale * counts[1] as f64;
                }
                if is_kept {
                    self.counted.push((key, sums));
                }
                sums
            }
        };
        Ok((all, if pairs.watched { watched } else { 0.0 }))
    }

    /// Has it written down which pairs take part, where that is not known.
    fn write_masks(
        &mut self,
        on: &Place,
        pass: &mut Pass,
        (layout, pairs, split): (&Layout, &AllPairs<'_>, Split),
        (terms, width): (u32, u32),
    ) -> Result<bool> {
        let (device, stream) = (&*on.device, &on.stream);
        let tiles = layout.rows / TILE;
        let words = tiles * tiles * 128;
        let key = (layout.clone(), pairs.scale.clone(), split);
        let is_known = self.written.as_ref() == Some(&key);
        if !is_known && 2 * 4 * words > device.free_memory()? / WRITTEN_SHARE {
            return Ok(false);
        }
        for masks in &mut self.masks {
            masks.room(device, stream, words)?;
        }
        pass.keep = self.masks[0].address(stream);
        pass.watch = self.masks[1].address(stream);
        if is_known {
            return Ok(true);
        }
        // Of all tiles, whatever the share of this pass.
        let whole = AllPairs {
            share: TileShare::WHOLE,
            ..*pairs
        };
        let gamma = pairs.scale.map(|_| 0.0);
        let work = layout.work(&whole, &gamma, (2 * TILE, 1));
        let mut items = Buffer::default();
        items.fill(device, stream, work.items.as_slice())?;
        let variant = Variant {
            kind: Kind::Tensor { terms, width },
            split: 2,
            ..Variant::plain(T::NAME)
        };
        let function = device.function(variant, "masks")?;
        let of_masks = Pass {
            items: items.address(stream),
            ..*pass
        };
        let mut launch = stream.launch_builder(&function);
        launch.arg(&of_masks);
        let config = LaunchConfig {
            grid_dim: (work.items.len() as u32, 4, 1),
            ..blocks(1, 256)
        };
        // SAFETY: the arguments are those of the kernel.
        device.check("the held-out rule", unsafe { launch.launch(config) })?;
        self.written = Some(key);
        Ok(true)
    }

    /// Computes sums and, if asked to, the gradient.
    fn launch(
        &mut self,
        on: &Place,
        variant: Variant,
        pass: &mut Pass,
        (layout, work): (&Layout, &Work),
    ) -> Result<()> {
        let (device, stream) = (&*on.device, &on.stream);
        let size = layout.rows * layout.width;
        self.sums.room(device, stream, work.items.len() * SUMS)?;
        pass.sums = self.sums.address(stream);
        if variant.gradient {
            // Not every tile writes to every part.
            self.slots.clear(device, stream, size * work.slots)?;
            pass.gradient = self.slots.address(stream);
        }
        let mut config = blocks(work.items.len(), 256);
        if matches!(variant.kind, Kind::Tensor { .. }) {
            self.pack(on, variant, layout)?;
            pass.right = self.packed.address(stream);
            pass.stretch = self.stretch.address(stream);
            config.block_dim.0 = 384;
            config.shared_mem_bytes = variant.shared_bytes();
        } else if variant.gradient {
            config.grid_dim.1 = layout.width.div_ceil(128) as u32;
        }
        let function = device.function(variant, "pairs")?;
        let mut launch = stream.launch_builder(&function);
        launch.arg(&*pass);
        // SAFETY: the arguments are those of the kernel, and all memory is there.
        device.check("all pairs", unsafe { launch.launch(config) })?;
        if variant.gradient {
            let function = device.function(Variant::plain(T::NAME), "add_slots")?;
            let gradient = self.gradient.room(device, stream, size)?;
            let (size, slots) = (size as u64, work.slots as u32);
            let mut launch = stream.launch_builder(&function);
            launch
                .arg(&pass.gradient)
                .arg(&size)
                .arg(&slots)
                .arg(gradient);
            // SAFETY: the arguments are those of the kernel.
            device.check("adding up", unsafe { launch.launch(over(size as usize)) })?;
        }
        Ok(())
    }

    /// Writes rows as tensor cores read them.
    fn pack(&mut self, on: &Place, variant: Variant, layout: &Layout) -> Result<()> {
        let (device, stream) = (&*on.device, &on.stream);
        self.most.clear(device, stream, 1)?;
        let tiles = layout.rows / TILE;
        let most = self.most.room(device, stream, 1)?;
        let stretch = self.stretch.room(device, stream, 1)?;
        let bytes = tiles * variant.stages().1 as usize;
        let packed = self.packed.room(device, stream, bytes)?;
        let left = self.rows.address(stream);
        let rows = self.mirror.as_ref().unwrap_or(&self.rows).address(stream);
        let count = (layout.rows * layout.width) as u64;
        let largest = device.function(variant, "largest")?;
        for side in [left, rows] {
            let mut launch = stream.launch_builder(&largest);
            launch.arg(&side).arg(&count).arg(&mut *most);
            // SAFETY: the arguments are those of the kernel.
            device.check("packing", unsafe { launch.launch(blocks(1024, 256)) })?;
            if left == rows {
                break;
            }
        }
        let stretch_of = device.function(variant, "stretch_of")?;
        let mut launch = stream.launch_builder(&stretch_of);
        launch.arg(&*most).arg(&mut *stretch);
        // SAFETY: likewise.
        device.check("packing", unsafe { launch.launch(blocks(1, 1)) })?;
        let pack = device.function(variant, "pack")?;
        let mut launch = stream.launch_builder(&pack);
        launch.arg(&rows).arg(&*stretch).arg(packed);
        // SAFETY: likewise.
        device.check("packing", unsafe { launch.launch(blocks(tiles, 256)) })?;
        Ok(())
    }
}

/// How tensor cores are used, if they are.
fn tensor<T: Number>(on: &Place, dim: usize) -> Option<(u32, u32)> {
    let terms = match on.products {
        Products::Exact => 3,
        Products::Fast => 1,
        Products::Plain => return None,
    };
    let fits = on.device.is_hopper && T::IS_SINGLE && dim <= WIDEST;
    let width = if dim <= WIDEST / 2 {
        WIDEST / 2
    } else {
        WIDEST
    };
    fits.then_some((terms, width as u32))
}

/// How wrong polynomials of the probability score may be: below what products lose.
fn tolerance(products: Products) -> f64 {
    match products {
        Products::Fast => 4e-4,
        Products::Exact | Products::Plain => 4e-6,
    }
}

/// 0: a power; 1: the probability score, continued above its cap; 2: as it is.
fn score_number(score: &Score) -> u32 {
    match (score.is_tabulated(), score.cap().is_finite()) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    }
}

/// Whether nodes, ascending, are all there are: 0, 1, 2 and so on.
fn is_everything(nodes: &[u32]) -> bool {
    nodes
        .last()
        .is_some_and(|&last| last as usize + 1 == nodes.len())
}

/// Blocks of kernels that go over so many numbers, one after another.
pub fn over(count: usize) -> LaunchConfig {
    blocks(count.div_ceil(256).clamp(1, MANY), 256)
}

/// So many blocks of so many threads.
pub fn blocks(count: usize, threads: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (count as u32, 1, 1),
        block_dim: (threads, 1, 1),
        shared_mem_bytes: 0,
    }
}

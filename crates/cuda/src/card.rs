//! A pass over all pairs of rows that are on the card: sums, and the gradient there.

mod held_out;

use std::sync::Arc;

use cudarc::driver::{CudaStream, LaunchConfig};
use linkproof_method::engine::pairs::{AllPairs, Part, PassShare, Split, Sums, ViewMatrix};
use linkproof_method::error::Result;
use linkproof_method::score::{Score, UnlinkedForm};

use self::held_out::is_everything;
use crate::compile::{Kind, Variant};
use crate::device::{Device, Products};
use crate::layout::{Layout, TILE, Work};
use crate::memory::Buffer;
use crate::pass::{Item, Number, Pass, RuleNumbers, part_number};
use crate::series::Series;
use crate::vectors::launch;

/// The widest rows that tensor cores are used for.
const WIDEST: usize = 128;
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
    pub memory: Memory,
}

/// The memory that decides whether it is written down which pairs take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// What is free.
    Free,
    /// All that the card has: what others take there decides nothing.
    All,
}

/// What an item adds to the sums of a pass.
#[derive(Debug, Clone, Copy)]
pub struct ItemSums {
    views: (usize, usize),
    value: f64,
    gamma: f64,
    pairs: f64,
    watched: (f64, f64),
}

impl ItemSums {
    /// Adds it.
    pub fn add_to(&self, sums: &mut Sums) {
        let (d, e) = self.views;
        sums.value += self.value;
        sums.gamma.add(d, e, self.gamma);
        sums.pairs += self.pairs;
        sums.watched.0 += self.watched.0;
        sums.watched.1 += self.watched.1;
    }
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
    counted: Vec<(Counted, Vec<(f64, f64)>)>,
}

/// What pairs were counted of.
type Counted = (Layout, ViewMatrix, Option<(Split, Part)>, PassShare);

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
    pub fn sides(&self, on: &Place) -> (u64, u64) {
        let mirror = self.mirror.as_ref().unwrap_or(&self.rows);
        (self.rows.address(on), mirror.address(on))
    }

    /// Sums over pairs of the rows, and if asked to the gradient in them.
    pub fn run(
        &mut self,
        on: &Place,
        layout: &Layout,
        pairs: &AllPairs<'_>,
        by: (&ViewMatrix, &Score),
        wants_gradient: bool,
    ) -> Result<Sums> {
        let mut sums = Sums::zero(pairs.scale.n_views());
        let (_, found) =
            self.run_each(on, layout, pairs, by, (PassShare::WHOLE, wants_gradient))?;
        found.iter().for_each(|found| found.add_to(&mut sums));
        Ok(sums)
    }

    /// The same over a share of the tiles, of each item by itself.
    pub fn run_each(
        &mut self,
        on: &Place,
        layout: &Layout,
        pairs: &AllPairs<'_>,
        (gamma, score): (&ViewMatrix, &Score),
        (share, wants_gradient): (PassShare, bool),
    ) -> Result<(Work, Vec<ItemSums>)> {
        let tensor = tensor::<T>(on, layout.dim);
        let own = if tensor.is_some() { 2 * TILE } else { TILE };
        let work = layout.work(pairs, gamma, (own, 6 * on.device.processors), share);
        if work.items.is_empty() {
            self.gradient.clear(on, layout.rows * layout.width)?;
            return Ok((work, Vec::new()));
        }
        self.items.fill(on, work.items.as_slice())?;
        let mut pass = self.pass(on, layout, score)?;
        let mut split = 0;
        let mut counts = None;
        if let Some((rule, part)) = pairs.split {
            self.tell_rules(on, pairs.nodes, layout, rule)?;
            pass.hash_first = self.hashes[0].address(on);
            pass.hash_fold = self.hashes[1].address(on);
            pass.hash_stop = self.hashes[2].address(on);
            pass.named = self.named.address(on);
            [pass.fold, pass.stop] = RuleNumbers::of_split(Some(rule));
            pass.part = part_number(part);
            pass.watches = i32::from(pairs.watched);
            counts = Some(self.counts(on, &pass, layout, (pairs, share), (&work, own))?);
            let known_nodes = is_everything(pairs.nodes) && part == Part::Training;
            split = 2;
            if let Some(tensor) = tensor.filter(|_| known_nodes && wants_gradient)
                && self.write_masks(on, &mut pass, (layout, pairs, rule), tensor)?
            {
                split = 1;
            }
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
        self.sums.read(on, &mut found)?;
        let of_item = |(item, found): (usize, &[f64])| {
            let part = |place: usize| -> f64 { found.iter().skip(place).step_by(3).sum() };
            let (pairs, watched) = match &counts {
                Some(counts) => counts[item],
                None => (work.pairs[item], 0.0),
            };
            ItemSums {
                views: work.views[item],
                value: 0.5 * part(0),
                gamma: -0.5 * part(1),
                pairs,
                watched: (0.5 * part(2), watched),
            }
        };
        let found = found.chunks_exact(SUMS).enumerate().map(of_item).collect();
        Ok((work, found))
    }

    /// The numbers of a pass that are always needed.
    pub fn pass(&mut self, on: &Place, layout: &Layout, score: &Score) -> Result<Pass> {
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
                        self.cells.fill(on, cells.as_slice())?;
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
            items: self.items.address(on),
            left: self.rows.address(on),
            right: self.mirror.as_ref().unwrap_or(&self.rows).address(on),
            gradient: 0,
            sums: 0,
            stretch: 0,
            hash_first: 0,
            hash_fold: 0,
            hash_stop: 0,
            named: 0,
            keep: 0,
            watch: 0,
            cells: self.cells.address(on),
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

    /// Computes sums and, if asked to, the gradient.
    fn launch(
        &mut self,
        on: &Place,
        variant: Variant,
        pass: &mut Pass,
        (layout, work): (&Layout, &Work),
    ) -> Result<()> {
        let size = layout.rows * layout.width;
        self.sums.room(on, work.items.len() * SUMS)?;
        pass.sums = self.sums.address(on);
        if variant.gradient {
            // Not every tile writes to every part.
            self.slots.clear(on, size * work.slots)?;
            pass.gradient = self.slots.address(on);
        }
        let mut config = blocks(work.items.len(), 256);
        if matches!(variant.kind, Kind::Tensor { .. }) {
            self.pack(on, variant, layout)?;
            pass.right = self.packed.address(on);
            pass.stretch = self.stretch.address(on);
            config.block_dim.0 = 384;
            config.shared_mem_bytes = variant.shared_bytes();
        } else if variant.gradient {
            config.grid_dim.1 = layout.width.div_ceil(128) as u32;
        }
        launch!(on, variant, "pairs", config; &*pass)?;
        if variant.gradient {
            let gradient = self.gradient.room(on, size)?;
            let (config, count, slots) = (over(size), size as u64, work.slots as u32);
            let kernels = Variant::plain(T::NAME);
            launch!(on, kernels, "add_slots", config; &pass.gradient, &count, &slots, gradient)?;
        }
        Ok(())
    }

    /// Writes rows as tensor cores read them.
    fn pack(&mut self, on: &Place, variant: Variant, layout: &Layout) -> Result<()> {
        self.most.clear(on, 1)?;
        let tiles = layout.rows / TILE;
        let most = self.most.room(on, 1)?;
        let stretch = self.stretch.room(on, 1)?;
        let bytes = tiles * variant.stages().1 as usize;
        let packed = self.packed.room(on, bytes)?;
        let left = self.rows.address(on);
        let rows = self.mirror.as_ref().unwrap_or(&self.rows).address(on);
        let count = (layout.rows * layout.width) as u64;
        for side in [left, rows] {
            launch!(on, variant, "largest", blocks(1024, 256); &side, &count, &mut *most)?;
            if left == rows {
                break;
            }
        }
        launch!(on, variant, "stretch_of", blocks(1, 1); &*most, &mut *stretch)?;
        launch!(on, variant, "pack", blocks(tiles, 256); &rows, &*stretch, packed)
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

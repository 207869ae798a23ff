//! How long a pass over all pairs takes on a card.

use std::time::Instant;

use linkproof_method::engine::pairs::{AllPairs, EmbeddedRows, Part, Split, ViewMatrix};
use linkproof_method::error::Result;
use linkproof_method::score::Score;

use crate::Cuda;
use crate::card::Memory;
use crate::pairs::{DevicePairs, Side, padded};

/// What all pairs of a graph would cost on a card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Seconds for value and gradient, by a pass over fewer nodes just now.
    pub seconds: f64,
    /// Bytes of the card's memory.
    pub bytes: usize,
    /// Bytes of it that are free.
    pub free: usize,
}

/// A pass over so many nodes says how fast a card is.
const TRIED: usize = 16_384;

impl Cuda {
    /// What all pairs of so many nodes would cost in single precision, the links aside.
    ///
    /// # Errors
    /// [`linkproof_method::error::Error::Device`] where the card does not answer.
    pub fn forecast(&self, n_nodes: usize, dim: usize, score: &Score) -> Result<Forecast> {
        let (free, _) = self.memory()?;
        let tried = n_nodes.min(TRIED);
        let times = self.time_of_pairs(tried, dim, score, None, 3)?;
        let fastest = times.into_iter().fold(f64::INFINITY, f64::min);
        let more = (n_nodes as f64 / tried as f64).powi(2);
        // Embeddings, the same for tensor cores, and two gradients; and, where that is
        // little, which pairs are held out.
        let embeddings = n_nodes * dim.next_multiple_of(64) * size_of::<f32>();
        let held_out = n_nodes.saturating_mul(n_nodes) / 4;
        let written = held_out <= free / 8;
        Ok(Forecast {
            seconds: fastest * more,
            bytes: 4 * embeddings + if written { held_out } else { 0 },
            free,
        })
    }

    /// Seconds that value and gradient over all pairs of so many embeddings take in
    /// single precision, time after time, once they are on the card. With a rule, pairs
    /// are held out by it.
    ///
    /// # Errors
    /// [`linkproof_method::error::Error::Device`] where the card does not do it.
    pub fn time_of_pairs(
        &self,
        n_nodes: usize,
        dim: usize,
        score: &Score,
        split: Option<Split>,
        times: usize,
    ) -> Result<Vec<f64>> {
        let pairs = DevicePairs::<f32>::new(&self.device, self.products, Memory::Free)?;
        // Similarities of about a tenth of a standard deviation more than one: as
        // varied as those of a fit.
        let length = 1.05 / (dim as f32).sqrt().sqrt();
        let y: Vec<f32> = (0..(n_nodes * dim) as u32)
            .map(|place| length * noise(place))
            .collect();
        let (rows, unit, gamma) = (
            vec![0..n_nodes; 1],
            ViewMatrix::filled(1, 1.0),
            ViewMatrix::filled(1, 5.0),
        );
        let nodes: Vec<u32> = (0..n_nodes as u32).collect();
        let all = AllPairs {
            rows: &rows,
            scale: &unit,
            nodes: &nodes,
            split: split.map(|split| (split, Part::Training)),
            watched: split.is_some(),
        };
        let embedded = EmbeddedRows {
            y: &y,
            mirror: &y,
            offsets: &[],
            dim,
            views: &rows,
            gamma: &gamma,
        };
        let mut state = pairs.state();
        let layout = state.layout(&pairs.on, &all, dim);
        let rows = padded(&embedded, &layout, Side::Left);
        let on = &pairs.on;
        state.rows.fill(on, rows.as_slice())?;
        // The first compiles kernels, and finds out which pairs are held out.
        state.run(on, &layout, &all, (&gamma, score), true)?;
        let mut seconds = Vec::with_capacity(times);
        for _ in 0..times {
            on.device.check("waiting", on.stream.synchronize())?;
            let clock = Instant::now();
            state.run(on, &layout, &all, (&gamma, score), true)?;
            on.device.check("waiting", on.stream.synchronize())?;
            seconds.push(clock.elapsed().as_secs_f64());
        }
        Ok(seconds)
    }
}

/// Numbers of mean 0 and variance about 1.
fn noise(place: u32) -> f32 {
    let mut x = place.wrapping_mul(0x9e37_79b9) ^ (place >> 15);
    let mut sum = 0.0;
    for _ in 0..3 {
        x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
        x ^= x >> 16;
        sum += x as f32 / 4_294_967_296.0 - 0.5;
    }
    2.0 * sum
}

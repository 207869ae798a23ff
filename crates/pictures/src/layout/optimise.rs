//! The layout itself: neighbours attract each other and all others repel, as in
//! UMAP. Within an epoch every point moves from where all points were at its
//! start, so that points can move in parallel; Adam's steps keep that stable,
//! however many neighbours a point has.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use linkproof_method::error::{Error, Result};
use linkproof_numeric::math;

use super::fuzzy::Edges;

/// Two points at distance `d` are neighbours to the degree
/// `1 / (1 + A d^{2B})`, which with these constants is the closest to
/// `min(1, exp(-(d - 0.1)))`: points of a crowd are drawn about 0.1 apart.
const A: f32 = 1.576_943_5;
const B: f32 = 0.895_060_9;

/// No single force moves a point further than this along an axis.
const CLIP: f32 = 4.0;

/// Points that each pull by a neighbour is set against.
const OTHERS: f32 = 5.0;

/// Points drawn for a point in an epoch, which stand for all those.
const DRAWS: usize = 16;

/// The start's 99% quantile of absolute coordinates; none exceeds twice that.
const START: f64 = 10.0;

/// The random part of the start, which parts equal points.
const NOISE: f64 = 1e-3;

/// Points that share a random stream.
const BLOCK: usize = 128;

/// Adam's decay rates, shorter than usual: forces turn as points pass.
const FIRST_DECAY: f32 = 0.5;
const SECOND_DECAY: f32 = 0.9;

/// The epochs for `n` points, as UMAP has them.
pub(super) fn epochs(n: usize) -> usize {
    if n <= 10_000 { 500 } else { 200 }
}

/// Moves points from a start in which most are within +-1.
pub(super) fn run(
    edges: &Edges,
    start: &[[f64; 2]],
    n_epochs: usize,
    seed: u64,
    observer: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<[f64; 2]>> {
    let mut at = spread(start, seed);
    let mut motions = vec![Motion::default(); at.len()];
    for epoch in 0..n_epochs {
        let rate = 1.0 - epoch as f32 / n_epochs as f32;
        let adam = Adam::new(epoch, rate);
        let blocks = motions.par_chunks_mut(BLOCK).enumerate();
        blocks.for_each(|(block, motions)| {
            let mut random = stream(seed, epoch + 1, block);
            for (i, motion) in (block * BLOCK..).zip(motions) {
                motion.turn(&adam, force(edges, &at, i, &mut random));
            }
        });
        for (at, motion) in at.iter_mut().zip(&motions) {
            at[0] += motion.step[0];
            at[1] += motion.step[1];
        }
        if !observer(epoch + 1, n_epochs) {
            return Err(Error::Interrupted { step: epoch + 1 });
        }
    }
    Ok(at.iter().map(|p| p.map(f64::from)).collect())
}

/// The random numbers of a block of points in an epoch; epoch 0 is the start.
fn stream(seed: u64, epoch: usize, block: usize) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream((epoch as u64) << 32 | block as u64);
    random
}

/// The start in its own unit, with a little noise; points far out come closer.
fn spread(start: &[[f64; 2]], seed: u64) -> Vec<[f32; 2]> {
    let mut random = stream(seed, 0, 0);
    let mut noise = || NOISE * (f64::from(random.next_u32()) / f64::from(u32::MAX) - 0.5);
    let mut place = |x: f64| ((START * x).clamp(-2.0 * START, 2.0 * START) + noise()) as f32;
    start.iter().map(|p| [place(p[0]), place(p[1])]).collect()
}

/// A point's next step, and the running means of its force and of the squares.
#[derive(Debug, Clone, Copy, Default)]
struct Motion {
    step: [f32; 2],
    first: [f32; 2],
    second: [f32; 2],
}

/// The factors of an epoch.
struct Adam {
    rate: f32,
    first: f32,
    second: f32,
}

impl Adam {
    fn new(epoch: usize, rate: f32) -> Adam {
        let steps = epoch.min(10_000) as f32 + 1.0;
        Adam {
            rate,
            first: 1.0 / (1.0 - math::pow_single(FIRST_DECAY, steps)),
            second: 1.0 / (1.0 - math::pow_single(SECOND_DECAY, steps)),
        }
    }
}

impl Motion {
    fn turn(&mut self, adam: &Adam, force: [f32; 2]) {
        for axis in 0..2 {
            let (first, second) = (&mut self.first[axis], &mut self.second[axis]);
            let force = force[axis];
            *first += (1.0 - FIRST_DECAY) * (force - *first);
            *second += (1.0 - SECOND_DECAY) * (force * force - *second);
            let size = (*second * adam.second).sqrt() + 1e-7;
            self.step[axis] = adam.rate * *first * adam.first / size;
        }
    }
}

/// The force on a point: the slope of `2 w log(degree)` for each of its edges
/// (UMAP visits an edge from both its ends), and of `5 w log(1 - degree)` with
/// random others in the place of the neighbour.
fn force(edges: &Edges, at: &[[f32; 2]], i: usize, random: &mut ChaCha8Rng) -> [f32; 2] {
    let here = at[i];
    let mut sum = [0.0; 2];
    let mut total = 0.0;
    for &(j, weight) in edges.of(i) {
        let apart = difference(here, at[j as usize]);
        let square = apart[0] * apart[0] + apart[1] * apart[1];
        total += weight;
        if square > 0.0 {
            // -2 A B d^{2B-2} / (1 + A d^{2B})
            let power = math::pow_single(square, B);
            let slope = -2.0 * A * B * power / (square * (1.0 + A * power));
            add_clipped(&mut sum, apart, slope, 2.0 * weight);
        }
    }
    let weight = OTHERS * total / DRAWS as f32;
    for _ in 0..DRAWS {
        let j = (u64::from(random.next_u32()) * at.len() as u64) >> 32;
        let apart = difference(here, at[j as usize]);
        let square = apart[0] * apart[0] + apart[1] * apart[1];
        // 2 B / (d^2 (1 + A d^{2B})), bounded at 0, where the point itself is.
        let slope = 2.0 * B / ((0.001 + square) * (1.0 + A * math::pow_single(square, B)));
        add_clipped(&mut sum, apart, slope, weight);
    }
    sum
}

fn difference(a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn add_clipped(sum: &mut [f32; 2], apart: [f32; 2], slope: f32, weight: f32) {
    for (sum, apart) in sum.iter_mut().zip(apart) {
        *sum += weight * (slope * apart).clamp(-CLIP, CLIP);
    }
}

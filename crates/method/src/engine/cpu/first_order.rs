//! Adam, and gradient steps with momentum: a step for each gradient, with a
//! schedule, clipping and projection. Parameters that a sparse gradient does
//! not touch stay as they are, and so does their memory of past gradients.

use rayon::prelude::*;

use super::Gradient;
use crate::engine::{OptimizerMemory, Plan};
use crate::error::{Error, Result};
use crate::params::OptimizerKind;
use linkproof_numeric::math;
use linkproof_numeric::processor::vectorised;
use linkproof_numeric::real::{Real, dot_f64};

const FIRST_DECAY: f64 = 0.9;
const SECOND_DECAY: f64 = 0.999;
const EPSILON: f64 = 1e-8;
const CHUNK: usize = 16_384;

/// An optimizer's memory.
#[derive(Debug, Clone)]
pub struct FirstOrder<T> {
    adam: bool,
    plan: Plan,
    first: Vec<T>,
    second: Vec<T>,
    start: Option<Vec<T>>,
    steps: i32,
    /// The sum of the squared derivatives of each chunk of a piece.
    squares: Vec<f64>,
}

/// One step's factors.
#[derive(Clone, Copy)]
struct Factors<T> {
    rate: T,
    clip: T,
    momentum: T,
    second_scale: T,
}

impl<T: Real> FirstOrder<T> {
    /// An optimizer at its start.
    pub fn new(plan: &Plan, start: &[T]) -> Self {
        let adam = plan.optimizer == OptimizerKind::Adam;
        FirstOrder {
            adam,
            first: vec![T::ZERO; start.len()],
            second: vec![T::ZERO; if adam { start.len() } else { 0 }],
            start: plan.descent.radius.map(|_| start.to_vec()),
            plan: plan.clone(),
            steps: 0,
            squares: Vec::new(),
        }
    }

    /// What it remembers: both averages and the start, as far as it has them.
    pub fn memory(&self) -> OptimizerMemory<'_, T> {
        let all = [Some(&self.first), Some(&self.second), self.start.as_ref()];
        OptimizerMemory {
            steps: self.steps as u64,
            vectors: all
                .into_iter()
                .flatten()
                .map(|v| v.as_slice().into())
                .collect(),
        }
    }

    /// Takes up what another one like it remembered.
    pub fn recall(&mut self, memory: OptimizerMemory<'_, T>) -> Result<()> {
        let mine = [
            Some(&mut self.first),
            Some(&mut self.second),
            self.start.as_mut(),
        ];
        let mut mine: Vec<&mut Vec<T>> = mine.into_iter().flatten().collect();
        let fits = mine.len() == memory.vectors.len()
            && mine
                .iter()
                .zip(&memory.vectors)
                .all(|(mine, kept)| mine.len() == kept.len());
        if !fits {
            let found = "a memory of another shape";
            return Err(Error::data("optimizer", found, "that of the same plan"));
        }
        for (mine, kept) in mine.iter_mut().zip(&memory.vectors) {
            mine.copy_from_slice(kept);
        }
        self.steps = memory.steps as i32;
        Ok(())
    }

    /// Moves the parameters along a gradient and returns its norm. Where that
    /// is not finite, the parameters are not either.
    pub fn step(&mut self, theta: &mut [T], gradient: &Gradient<T>) -> f64 {
        self.steps += 1;
        let clip = self.plan.descent.clip.map_or(1.0, |clip| {
            let norm = dot_f64(gradient.derivatives(), gradient.derivatives()).sqrt();
            (clip / norm.max(1e-300)).min(1.0)
        });
        let every_step = self.factors(self.steps, clip);
        let mut of_moves = None;
        let mut squares = 0.0;
        for piece in &gradient.pieces {
            let factors = match piece.moves {
                None => every_step,
                Some(moves) => match of_moves {
                    Some((known, factors)) if known == moves => factors,
                    _ => {
                        let factors = self.factors(moves as i32, clip);
                        of_moves = Some((moves, factors));
                        factors
                    }
                },
            };
            let place = piece.place..piece.place + piece.len;
            let values = &gradient.values[piece.start..piece.start + piece.len];
            let theta = &mut theta[place.clone()];
            let first = &mut self.first[place.clone()];
            let second = if self.adam {
                &mut self.second[place]
            } else {
                &mut [][..]
            };
            let parts = (theta, first, second, values);
            squares += update(self.adam, parts, factors, &mut self.squares);
        }
        self.project(theta);
        squares.sqrt()
    }

    /// The factors of parameters that have moved so often.
    fn factors(&self, moves: i32, clip: f64) -> Factors<T> {
        let rate = self.plan.descent.rate(f64::from(self.steps - 1));
        let (rate, momentum, second_scale) = if self.adam {
            let first_scale = 1.0 - math::pow(FIRST_DECAY, f64::from(moves));
            let second_scale = 1.0 - math::pow(SECOND_DECAY, f64::from(moves));
            (rate / first_scale, FIRST_DECAY, 1.0 / second_scale)
        } else {
            (rate, self.plan.descent.momentum, 1.0)
        };
        Factors {
            rate: T::of(rate),
            clip: T::of(clip),
            momentum: T::of(momentum),
            second_scale: T::of(second_scale),
        }
    }

    /// Back onto the ball around the start.
    fn project(&self, theta: &mut [T]) {
        let (Some(start), Some(radius)) = (&self.start, self.plan.descent.radius) else {
            return;
        };
        let square: f64 = theta
            .iter()
            .zip(start)
            .map(|(x, s)| (*x - *s).to_f64().powi(2))
            .sum();
        let distance = square.sqrt();
        if distance > radius {
            let factor = T::of(radius / distance);
            for (x, s) in theta.iter_mut().zip(start) {
                *x = *s + (*x - *s) * factor;
            }
        }
    }
}

type Parts<'a, T> = (&'a mut [T], &'a mut [T], &'a mut [T], &'a [T]);

/// Updates parameters and returns the sum of the squared derivatives; long
/// pieces are shared out among threads.
fn update<T: Real>(
    is_adam: bool,
    (theta, first, second, values): Parts<'_, T>,
    factors: Factors<T>,
    squares: &mut Vec<f64>,
) -> f64 {
    if values.len() <= CHUNK {
        return match is_adam {
            true => adam(theta, first, second, values, factors),
            false => momentum_step(theta, first, values, factors),
        };
    }
    squares.clear();
    squares.resize(values.len().div_ceil(CHUNK), 0.0);
    let parts = theta
        .par_chunks_mut(CHUNK)
        .zip(first.par_chunks_mut(CHUNK))
        .zip(values.par_chunks(CHUNK))
        .zip(squares.par_iter_mut());
    if is_adam {
        parts.zip(second.par_chunks_mut(CHUNK)).for_each(
            |((((theta, first), values), squares), second)| {
                *squares = adam(theta, first, second, values, factors);
            },
        );
    } else {
        parts.for_each(|(((theta, first), values), squares)| {
            *squares = momentum_step(theta, first, values, factors);
        });
    }
    squares.iter().sum()
}

vectorised!(
    fn adam<T>(
        theta: &mut [T],
        first: &mut [T],
        second: &mut [T],
        gradient: &[T],
        factors: Factors<T>
    ) -> f64 = adam_body
);
vectorised!(
    fn momentum_step<T>(
        theta: &mut [T],
        velocity: &mut [T],
        gradient: &[T],
        factors: Factors<T>
    ) -> f64 = momentum_body
);

#[inline(always)]
fn adam_body<T: Real, const FMA: bool>(
    theta: &mut [T],
    first: &mut [T],
    second: &mut [T],
    gradient: &[T],
    factors: Factors<T>,
) -> f64 {
    let (decay, rest) = (factors.momentum, T::ONE - factors.momentum);
    let (second_decay, second_rest) = (T::of(SECOND_DECAY), T::of(1.0 - SECOND_DECAY));
    let epsilon = T::of(EPSILON);
    let parts = theta.iter_mut().zip(first).zip(second);
    for (((theta, first), second), gradient) in parts.zip(gradient) {
        let gradient = *gradient * factors.clip;
        *first = decay * *first + rest * gradient;
        *second = second_decay * *second + second_rest * gradient * gradient;
        *theta -= factors.rate * *first / ((*second * factors.second_scale).sqrt() + epsilon);
    }
    // The chunk is in the cache still.
    dot_f64(gradient, gradient)
}

#[inline(always)]
fn momentum_body<T: Real, const FMA: bool>(
    theta: &mut [T],
    velocity: &mut [T],
    gradient: &[T],
    factors: Factors<T>,
) -> f64 {
    let parts = theta.iter_mut().zip(velocity);
    for ((theta, velocity), gradient) in parts.zip(gradient) {
        *velocity = factors.momentum * *velocity + *gradient * factors.clip;
        *theta -= factors.rate * *velocity;
    }
    dot_f64(gradient, gradient)
}

//! Adam, and gradient steps with momentum: a step for each gradient, with a
//! schedule, clipping and projection. Parameters that a sparse gradient does
//! not touch stay as they are, and so does their memory of past gradients.

use rayon::prelude::*;

use super::plan::Plan;
use crate::objective::Gradient;
use crate::params::OptimizerKind;
use crate::real::Real;

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
            start: plan.radius.map(|_| start.to_vec()),
            plan: plan.clone(),
            steps: 0,
        }
    }

    /// `delta_t = delta_0 (1 + t/t_0)^-alpha`.
    fn rate(&self) -> f64 {
        let t = f64::from(self.steps - 1);
        self.plan.learning_rate * (1.0 + t / self.plan.schedule_t0).powf(-self.plan.schedule_alpha)
    }

    /// Moves the parameters along a gradient of the given norm.
    pub fn step(&mut self, theta: &mut [T], gradient: &mut Gradient<T>, norm: f64) {
        self.steps += 1;
        let clip = self
            .plan
            .clip
            .map_or(1.0, |clip| (clip / norm.max(1e-300)).min(1.0));
        let (rate, momentum, second_scale) = if self.adam {
            let first_scale = 1.0 - FIRST_DECAY.powi(self.steps);
            let second_scale = 1.0 - SECOND_DECAY.powi(self.steps);
            (self.rate() / first_scale, FIRST_DECAY, 1.0 / second_scale)
        } else {
            (self.rate(), self.plan.momentum, 1.0)
        };
        let factors = Factors {
            rate: T::of(rate),
            clip: T::of(clip),
            momentum: T::of(momentum),
            second_scale: T::of(second_scale),
        };
        for piece in &gradient.pieces {
            let place = piece.place..piece.place + piece.len;
            let values = &gradient.values[piece.start..piece.start + piece.len];
            let theta = &mut theta[place.clone()];
            let first = &mut self.first[place.clone()];
            let second = if self.adam {
                &mut self.second[place]
            } else {
                &mut [][..]
            };
            update(self.adam, (theta, first, second, values), factors);
        }
        self.project(theta);
    }

    /// Back onto the ball around the start.
    fn project(&self, theta: &mut [T]) {
        let (Some(start), Some(radius)) = (&self.start, self.plan.radius) else {
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

/// Updates parameters; long pieces are shared out among threads.
fn update<T: Real>(
    is_adam: bool,
    (theta, first, second, values): Parts<'_, T>,
    factors: Factors<T>,
) {
    if values.len() <= CHUNK {
        if is_adam {
            adam(theta, first, second, values, factors);
        } else {
            momentum_step(theta, first, values, factors);
        }
        return;
    }
    let parts = theta
        .par_chunks_mut(CHUNK)
        .zip(first.par_chunks_mut(CHUNK))
        .zip(values.par_chunks(CHUNK));
    if is_adam {
        parts
            .zip(second.par_chunks_mut(CHUNK))
            .for_each(|(((theta, first), values), second)| {
                adam(theta, first, second, values, factors)
            });
    } else {
        parts.for_each(|((theta, first), values)| momentum_step(theta, first, values, factors));
    }
}

fn adam<T: Real>(
    theta: &mut [T],
    first: &mut [T],
    second: &mut [T],
    gradient: &[T],
    factors: Factors<T>,
) {
    let (decay, rest) = (factors.momentum, T::ONE - factors.momentum);
    let (second_decay, second_rest) = (T::of(SECOND_DECAY), T::of(1.0 - SECOND_DECAY));
    let epsilon = T::of(EPSILON);
    for (((theta, first), second), gradient) in
        theta.iter_mut().zip(first).zip(second).zip(gradient)
    {
        let gradient = *gradient * factors.clip;
        *first = decay * *first + rest * gradient;
        *second = second_decay * *second + second_rest * gradient * gradient;
        *theta -= factors.rate * *first / ((*second * factors.second_scale).sqrt() + epsilon);
    }
}

fn momentum_step<T: Real>(
    theta: &mut [T],
    velocity: &mut [T],
    gradient: &[T],
    factors: Factors<T>,
) {
    for ((theta, velocity), gradient) in theta.iter_mut().zip(velocity).zip(gradient) {
        *velocity = factors.momentum * *velocity + *gradient * factors.clip;
        *theta -= factors.rate * *velocity;
    }
}

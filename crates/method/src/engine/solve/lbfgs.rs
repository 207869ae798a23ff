//! Limited-memory BFGS with a strong Wolfe line search (Nocedal and Wright,
//! *Numerical Optimization*, algorithms 7.4, 3.5 and 3.6).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::StopReason;
use super::vectors::{add_scaled, dot, minus, scaled};
use crate::data::floats::{self, Floats};
use crate::engine::LBFGS_MEMORY;
use crate::error::{Error, Result};
use linkproof_numeric::real::Real;

/// Settings of the minimiser.
#[derive(Debug, Clone, Copy)]
pub struct Lbfgs {
    /// Pairs of past steps and gradient changes that are kept.
    pub memory: usize,
    /// The largest number of steps.
    pub max_steps: usize,
    /// A gradient of this norm, relative to that at the start, counts as zero.
    pub gradient_tolerance: f64,
    /// A gain of this size, relative to the value, counts as none.
    pub value_tolerance: f64,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Lbfgs {
            memory: LBFGS_MEMORY,
            max_steps: 500,
            gradient_tolerance: 1e-6,
            value_tolerance: 1e-9,
        }
    }
}

const SUFFICIENT_DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
const MAX_TRIALS: usize = 30;

/// A function that is minimised.
pub trait Minimized<T: Real> {
    /// Its value at some parameters; its gradient overwrites `gradient`.
    fn value(&mut self, theta: &[T], gradient: &mut [T]) -> Result<f64>;

    /// Sees how far the descent has come after each step, and may end the run.
    fn after_step(&mut self, descent: &Descent<T>) -> Result<Option<StopReason>>;
}

/// Minimises a function.
pub fn minimize<T: Real>(
    settings: &Lbfgs,
    start: Vec<T>,
    objective: &mut impl Minimized<T>,
) -> Result<(Vec<T>, StopReason)> {
    Descent::start(start, objective)?.run(settings, objective)
}

/// A descent on its way: all that its next steps depend on.
#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Real")]
pub struct Descent<T: Real> {
    step: usize,
    here: Point<T>,
    norm: f64,
    start_norm: f64,
    memory: Memory<T>,
    small_gains: usize,
}

impl<T: Real> Descent<T> {
    /// A descent at its start.
    pub fn start(start: Vec<T>, objective: &mut impl Minimized<T>) -> Result<Descent<T>> {
        let n = start.len();
        let mut here = Point {
            theta: start,
            gradient: vec![T::ZERO; n],
            value: 0.0,
        };
        here.value = objective.value(&here.theta, &mut here.gradient)?;
        let norm = here.norm();
        if !(here.value.is_finite() && norm.is_finite()) {
            return Err(Error::Diverged {
                step: 0,
                detail: format!(
                    "objective {:e} and gradient norm {norm:e} at the start",
                    here.value
                ),
            });
        }
        Ok(Descent {
            step: 0,
            here,
            norm,
            start_norm: norm,
            memory: Memory::default(),
            small_gains: 0,
        })
    }

    /// The steps taken.
    pub fn step(&self) -> usize {
        self.step
    }

    /// The parameters.
    pub fn theta(&self) -> &[T] {
        &self.here.theta
    }

    /// The value there.
    pub fn value(&self) -> f64 {
        self.here.value
    }

    /// The length of the gradient there.
    pub fn norm(&self) -> f64 {
        self.norm
    }

    /// Goes on to the end.
    pub fn run(
        mut self,
        settings: &Lbfgs,
        objective: &mut impl Minimized<T>,
    ) -> Result<(Vec<T>, StopReason)> {
        loop {
            if self.has_converged(settings) {
                return Ok((self.here.theta, StopReason::Converged));
            }
            if self.step >= settings.max_steps {
                return Ok((self.here.theta, StopReason::Steps));
            }
            self.step += 1;
            let Some(next) = self.next_point(objective)? else {
                if self.memory.is_empty() {
                    return Ok((self.here.theta, StopReason::NoDescent));
                }
                self.memory.clear();
                continue;
            };
            let gain = self.here.value - next.value;
            self.memory.push(settings.memory, &self.here, &next);
            self.here = next;
            self.norm = self.here.norm();
            self.small_gains = match gain <= settings.value_tolerance * self.here.value.abs() {
                true => self.small_gains + 1,
                false => 0,
            };
            if let Some(reason) = objective.after_step(&self)? {
                return Ok((self.here.theta, reason));
            }
        }
    }

    fn has_converged(&self, settings: &Lbfgs) -> bool {
        let is_flat = self.step > 0 && self.norm <= settings.gradient_tolerance * self.start_norm;
        self.start_norm == 0.0 || is_flat || self.small_gains >= 3
    }

    /// The end of a search along the best direction known.
    fn next_point(&mut self, objective: &mut impl Minimized<T>) -> Result<Option<Point<T>>> {
        let mut direction = self.memory.direction(&self.here.gradient);
        let mut slope = dot(&direction, &self.here.gradient);
        if !(slope < 0.0) {
            self.memory.clear();
            direction = scaled(&self.here.gradient, -T::ONE);
            slope = dot(&direction, &self.here.gradient);
        }
        let first = if self.memory.is_empty() {
            (1.0 / self.here.norm()).min(1.0)
        } else {
            1.0
        };
        let search = LineSearch {
            from: &self.here,
            direction: &direction,
            slope,
        };
        search.run(first, objective)
    }
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "T: Real")]
struct Point<T: Real> {
    #[serde(with = "floats")]
    theta: Vec<T>,
    #[serde(with = "floats")]
    gradient: Vec<T>,
    value: f64,
}

impl<T: Real> Point<T> {
    fn norm(&self) -> f64 {
        dot(&self.gradient, &self.gradient).sqrt()
    }
}

/// Past steps `s` and gradient changes `y`, with `1/<s, y>`.
#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Real")]
struct Memory<T: Real> {
    pairs: VecDeque<(Floats<'static, T>, Floats<'static, T>, f64)>,
}

impl<T: Real> Default for Memory<T> {
    fn default() -> Self {
        Memory {
            pairs: VecDeque::new(),
        }
    }
}

impl<T: Real> Memory<T> {
    fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn clear(&mut self) {
        self.pairs.clear();
    }

    fn push(&mut self, most: usize, here: &Point<T>, next: &Point<T>) {
        let s = minus(&next.theta, &here.theta);
        let y = minus(&next.gradient, &here.gradient);
        let product = dot(&s, &y);
        // Only pairs of positive curvature keep the approximation positive.
        if product > 1e-12 * dot(&y, &y).sqrt() * dot(&s, &s).sqrt() {
            if self.pairs.len() == most {
                self.pairs.pop_front();
            }
            self.pairs.push_back((s.into(), y.into(), 1.0 / product));
        }
    }

    /// The two-loop recursion: minus the approximate inverse Hessian times the
    /// gradient.
    fn direction(&self, gradient: &[T]) -> Vec<T> {
        let mut q = gradient.to_vec();
        let mut alphas = Vec::with_capacity(self.pairs.len());
        for (s, y, rho) in self.pairs.iter().rev() {
            let alpha = rho * dot(s, &q);
            add_scaled(&mut q, T::of(-alpha), y);
            alphas.push(alpha);
        }
        if let Some((_, y, rho)) = self.pairs.back() {
            q = scaled(&q, T::of(1.0 / (rho * dot(y, y))));
        }
        for ((s, y, rho), alpha) in self.pairs.iter().zip(alphas.into_iter().rev()) {
            let beta = rho * dot(y, &q);
            add_scaled(&mut q, T::of(alpha - beta), s);
        }
        scaled(&q, -T::ONE)
    }
}

struct LineSearch<'s, T: Real> {
    from: &'s Point<T>,
    direction: &'s [T],
    slope: f64,
}

/// A trial along the search direction.
struct Trial<T: Real> {
    length: f64,
    slope: f64,
    point: Point<T>,
}

impl<T: Real> LineSearch<'_, T> {
    fn at(&self, length: f64, objective: &mut impl Minimized<T>) -> Result<Trial<T>> {
        let mut theta = self.from.theta.clone();
        add_scaled(&mut theta, T::of(length), self.direction);
        let mut gradient = vec![T::ZERO; theta.len()];
        let value = objective.value(&theta, &mut gradient)?;
        Ok(Trial {
            length,
            slope: dot(&gradient, self.direction),
            point: Point {
                theta,
                gradient,
                value: if value.is_finite() {
                    value
                } else {
                    f64::INFINITY
                },
            },
        })
    }

    /// Enough decrease; near the optimum, where rounding drowns the decrease,
    /// a slope that has fallen enough at no higher value (Hager and Zhang).
    fn decreases(&self, trial: &Trial<T>) -> bool {
        let gain = self.from.value + SUFFICIENT_DECREASE * trial.length * self.slope;
        let rounding = T::ROUNDING * self.from.value.abs();
        trial.point.value <= gain
            || (trial.point.value <= self.from.value + rounding
                && trial.slope <= (2.0 * SUFFICIENT_DECREASE - 1.0) * self.slope)
    }

    fn flat(&self, trial: &Trial<T>) -> bool {
        trial.slope.abs() <= -CURVATURE * self.slope
    }

    /// A point that meets the strong Wolfe conditions, or the best decrease
    /// found; `None` when nothing decreases.
    fn run(&self, first: f64, objective: &mut impl Minimized<T>) -> Result<Option<Point<T>>> {
        let mut low = Trial {
            length: 0.0,
            slope: self.slope,
            point: self.from.clone(),
        };
        let mut length = first;
        for trial in 0..MAX_TRIALS {
            let next = self.at(length, objective)?;
            if !self.decreases(&next) || (trial > 0 && next.point.value >= low.point.value) {
                return self.zoom(low, next, objective);
            }
            if self.flat(&next) {
                return Ok(Some(next.point));
            }
            if next.slope >= 0.0 {
                return self.zoom(next, low, objective);
            }
            length = next.length * 2.5;
            low = next;
        }
        Ok((low.length > 0.0).then_some(low.point))
    }

    /// Narrows the interval between a low point and another end.
    fn zoom(
        &self,
        mut low: Trial<T>,
        mut high: Trial<T>,
        objective: &mut impl Minimized<T>,
    ) -> Result<Option<Point<T>>> {
        for _ in 0..MAX_TRIALS {
            let next = self.at(between(&low, &high), objective)?;
            if !self.decreases(&next) || next.point.value >= low.point.value && !self.flat(&next) {
                high = next;
            } else {
                if self.flat(&next) {
                    return Ok(Some(next.point));
                }
                if next.slope * (high.length - low.length) >= 0.0 {
                    high = low;
                }
                low = next;
            }
            if (high.length - low.length).abs() <= 1e-12 * high.length.abs().max(low.length.abs()) {
                break;
            }
        }
        Ok((low.length > 0.0).then_some(low.point))
    }
}

/// The minimiser of the cubic through two trials, kept well inside the interval.
fn between<T: Real>(low: &Trial<T>, high: &Trial<T>) -> f64 {
    let (a, b) = (low.length, high.length);
    let (fa, fb) = (low.point.value, high.point.value);
    let middle = 0.5 * (a + b);
    let d1 = low.slope + high.slope - 3.0 * (fa - fb) / (a - b);
    let inside = d1 * d1 - low.slope * high.slope;
    if !(inside > 0.0) {
        return middle;
    }
    let d2 = (b - a).signum() * inside.sqrt();
    let cubic = b - (b - a) * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let margin = 0.1 * (b - a).abs();
    let (least, most) = (a.min(b) + margin, a.max(b) - margin);
    if cubic.is_finite() {
        cubic.clamp(least, most)
    } else {
        middle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function, and what happens after a step.
    impl<T: Real, F, A> Minimized<T> for (F, A)
    where
        F: FnMut(&[T], &mut [T]) -> f64,
        A: FnMut(usize) -> Option<StopReason>,
    {
        fn value(&mut self, theta: &[T], gradient: &mut [T]) -> Result<f64> {
            Ok(self.0(theta, gradient))
        }

        fn after_step(&mut self, descent: &Descent<T>) -> Result<Option<StopReason>> {
            Ok(self.1(descent.step))
        }
    }

    fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut value = 0.0;
        for i in 0..x.len() - 1 {
            let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
            value += a * a + 100.0 * b * b;
            gradient[i] += -2.0 * a - 400.0 * x[i] * b;
            gradient[i + 1] += 200.0 * b;
        }
        value
    }

    #[test]
    fn finds_the_minimum_of_a_curved_valley_in_about_as_many_steps_as_scipy() {
        let settings = Lbfgs {
            gradient_tolerance: 1e-10,
            value_tolerance: 0.0,
            ..Lbfgs::default()
        };
        let mut calls = 0;
        let start = vec![-1.2, 1.0, -1.2, 1.0, -1.2, 1.0, -1.2, 1.0, -1.2, 1.0];
        let counted = |x: &[f64], g: &mut [f64]| {
            calls += 1;
            rosenbrock(x, g)
        };
        let (x, reason) = minimize(&settings, start, &mut (counted, |_| None)).unwrap();
        assert_eq!(reason, StopReason::Converged);
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-7), "{x:?}");
        // SciPy 1.17.1's L-BFGS-B with 10 corrections needs 96 evaluations here.
        assert!(calls < 150, "{calls}");
    }

    #[test]
    fn comes_back_from_steps_that_overflow() {
        let settings = Lbfgs::default();
        let objective = |x: &[f64], g: &mut [f64]| {
            g[0] = (5.0 * x[0]).exp() * 5.0 - 1.0;
            (5.0 * x[0]).exp() - x[0]
        };
        let (x, _) = minimize(&settings, vec![-900.0], &mut (objective, |_| None)).unwrap();
        assert!((x[0] - (0.2f64).ln() / 5.0).abs() < 1e-5, "{x:?}");
    }

    #[test]
    fn stops_when_told_and_when_it_starts_at_the_minimum() {
        let square = |x: &[f64], g: &mut [f64]| {
            g[0] = 2.0 * x[0];
            x[0] * x[0]
        };
        let mut stopped = (square, |_| Some(StopReason::Patience));
        let (_, reason) = minimize(&Lbfgs::default(), vec![3.0], &mut stopped).unwrap();
        assert_eq!(reason, StopReason::Patience);
        let (_, reason) = minimize(&Lbfgs::default(), vec![0.0], &mut stopped).unwrap();
        assert_eq!(reason, StopReason::Converged);
        assert!(minimize(&Lbfgs::default(), vec![f64::NAN], &mut stopped).is_err());
    }
}

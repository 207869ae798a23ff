//! The density-power score of a law, and the law that makes it least.
//!
//! A link of size `x` pays, with `A = sum of f^{1+beta}`,
//!
//! ```text
//! l = -(f(x)^beta - 1)/beta + A/(1 + beta),
//! ```
//!
//! as a pair pays under the probability score: in its derivative a link counts for
//! `f(x)^beta`, so that a size that the law thinks absurd says nothing. Links count by
//! belief besides. A prior worth one link keeps numbers finite that the data do not
//! tell (the dispersion of links that all weigh 1).
//!
//! So large an exponent does not look at the tail. In a second round, with a smaller
//! one, all links count of whose sizes one or more was to be expected.

use super::{Family, Point, rank_of};
use linkproof_numeric::math;

/// The exponent of the score, and that of the second round.
pub(super) const BETA: f64 = 0.3;
const SECOND_BETA: f64 = 0.1;
/// A size of which fewer than this many were to be expected does not count there.
const FEWEST_EXPECTED: f64 = 0.1;

/// Links of one size, or one link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    /// The size as the law sees it.
    pub x: f64,
    /// The place of its similarity among those of the groups.
    pub group: usize,
    /// The sum of beliefs, and that of their squares.
    pub weight: f64,
    pub square: f64,
}

/// Location at similarity 0, logarithm of the shape, slope.
pub(super) type Theta = [f64; 3];

/// What is fitted: cells, and the similarity of each group.
#[derive(Debug, Clone)]
pub(super) struct Problem<'c> {
    pub family: Family,
    pub beta: f64,
    pub cells: Vec<&'c Cell>,
    pub groups: &'c [f64],
    pub start: Theta,
    /// The logarithm of the shape stays in here.
    pub shapes: (f64, f64),
    /// Whether the slope is free, or 0.
    pub slopes: bool,
}

impl Problem<'_> {
    /// The power integral of each group.
    pub(super) fn powers(&self, theta: Theta) -> Vec<Point> {
        let power = |s: f64| {
            self.family
                .power(self.beta, theta[0] + theta[2] * s, theta[1])
        };
        match theta[2] == 0.0 {
            true => vec![power(0.0); self.groups.len()],
            false => self.groups.iter().map(|&s| power(s)).collect(),
        }
    }

    /// What the links of a cell pay each.
    pub(super) fn loss(&self, theta: Theta, cell: &Cell, powers: &[Point]) -> (f64, Theta) {
        let s = self.groups[cell.group];
        let eta = theta[0] + theta[2] * s;
        let log_f = self.family.log_density(cell.x, eta, theta[1]);
        let (power, beta) = (powers[cell.group], self.beta);
        let counts = math::exp(beta * log_f.value);
        let by_location = power.by_location / (1.0 + beta) - counts * log_f.by_location;
        let by_shape = power.by_shape / (1.0 + beta) - counts * log_f.by_shape;
        let value = power.value / (1.0 + beta) - math::exp_m1(beta * log_f.value) / beta;
        (value, [by_location, by_shape, s * by_location])
    }

    /// The mean loss with the prior, and its derivatives.
    pub(super) fn evaluate(&self, theta: Theta) -> (f64, Theta) {
        let powers = self.powers(theta);
        let (mut value, mut slope, mut all) = (0.0, [0.0; 3], 0.0);
        for cell in &self.cells {
            let (loss, by) = self.loss(theta, cell, &powers);
            value += cell.weight * loss;
            all += cell.weight;
            for (sum, by) in slope.iter_mut().zip(by) {
                *sum += cell.weight * by;
            }
        }
        for place in 0..3 {
            let away = theta[place] - self.start[place];
            value += 0.5 * away * away;
            slope[place] += away;
        }
        let scale = 1.0 / all.max(f64::MIN_POSITIVE);
        (scale * value, slope.map(|sum| scale * sum))
    }

    /// The second derivatives, by differences of the first.
    fn hessian(&self, theta: Theta, slope: Theta) -> [Theta; 3] {
        const STEP: f64 = 1e-5;
        let mut hessian = [[0.0; 3]; 3];
        for place in 0..self.n_free() {
            let mut moved = theta;
            moved[place] += STEP;
            let (_, after) = self.evaluate(moved);
            for other in 0..3 {
                let second = 0.5 * (after[other] - slope[other]) / STEP;
                hessian[place][other] += second;
                hessian[other][place] += second;
            }
        }
        hessian
    }

    fn n_free(&self) -> usize {
        if self.slopes { 3 } else { 2 }
    }

    /// The numbers that make the score least: Newton's steps, damped until the score
    /// falls.
    fn minimise(&self, from: Theta) -> Theta {
        const STEPS: usize = 100;
        let mut theta = from;
        let (mut value, mut slope) = self.evaluate(theta);
        let mut damping = 0.0f64;
        for _ in 0..STEPS {
            let hessian = self.hessian(theta, slope);
            let before = value;
            loop {
                if let Some(step) = solve(hessian, slope, damping, self.n_free()) {
                    let mut moved = theta;
                    for (moved, step) in moved.iter_mut().zip(step) {
                        *moved -= step.clamp(-2.0, 2.0);
                    }
                    moved[1] = moved[1].max(self.shapes.0).min(self.shapes.1);
                    let (after, slope_after) = self.evaluate(moved);
                    if after < value {
                        (theta, value, slope) = (moved, after, slope_after);
                        damping = if damping < 1e-6 { 0.0 } else { 0.1 * damping };
                        break;
                    }
                }
                damping = (10.0 * damping).max(1e-6);
                if damping > 1e9 {
                    return theta;
                }
            }
            if before - value < 1e-15 * (1.0 + value.abs()) {
                break;
            }
        }
        theta
    }

    /// The numbers of both rounds, and the problem of the second.
    pub(super) fn solve(mut self) -> (Theta, Self) {
        let first = self.minimise(self.start);
        let all: f64 = self.cells.iter().map(|cell| cell.weight).sum();
        let (family, groups) = (self.family, self.groups);
        self.cells.retain(|cell| {
            let eta = first[0] + first[2] * groups[cell.group];
            let (below, upto) = rank_of(family, cell.x, eta, first[1]);
            2.0 * all * upto.min(1.0 - below) > FEWEST_EXPECTED
        });
        self.beta = SECOND_BETA;
        (self.minimise(first), self)
    }

    /// The standard error of the slope at the optimum, links taken as independent:
    /// `H^-1 V H^-1` with `V` the covariance of what links say. None where the score
    /// is flat.
    pub(super) fn slope_error(&self, theta: Theta) -> Option<f64> {
        let hessian = self.hessian(theta, self.evaluate(theta).1);
        let row = solve(hessian, [0.0, 0.0, 1.0], 0.0, 3)?;
        let powers = self.powers(theta);
        let (mut sum, mut all) = (0.0, 0.0);
        for cell in &self.cells {
            let (_, by) = self.loss(theta, cell, &powers);
            let said: f64 = row.iter().zip(by).map(|(a, b)| a * b).sum();
            sum += cell.square * said * said;
            all += cell.weight;
        }
        Some(sum.sqrt() / f64::max(all, f64::MIN_POSITIVE))
    }
}

/// `(H + damping I)^-1 g` of the first so many numbers by Cholesky's method; none
/// where that matrix is not positive.
fn solve(hessian: [Theta; 3], g: Theta, damping: f64, n: usize) -> Option<Theta> {
    let mut l = [[0.0; 3]; 3];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let rest = hessian[i][j] - known + if i == j { damping } else { 0.0 };
            if i == j {
                if !(rest > 1e-12) {
                    return None;
                }
                l[i][i] = rest.sqrt();
            } else {
                l[i][j] = rest / l[j][j];
            }
        }
    }
    let mut x = [0.0; 3];
    for i in 0..n {
        let known: f64 = (0..i).map(|k| l[i][k] * x[k]).sum();
        x[i] = (g[i] - known) / l[i][i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| l[k][i] * x[k]).sum();
        x[i] = (x[i] - known) / l[i][i];
    }
    Some(x)
}

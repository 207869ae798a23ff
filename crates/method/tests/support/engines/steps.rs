//! Steps on samples and on parts of sweeps, and how parameters move.

use std::ops::Range;

use linkproof_method::data::graph::Link;
use linkproof_method::engine::encoder::Network;
use linkproof_method::engine::pairs::{PairTerm, Part};
use linkproof_method::engine::{Plan, Sample, SweepPart};
use linkproof_method::params::OptimizerKind;
use linkproof_numeric::real::Real;

use super::reference::{Pair, ReferenceEngine};

/// Whether a parameter moves with a step.
#[derive(Clone, Copy, PartialEq)]
pub enum Move {
    No,
    /// As with every step.
    Always,
    /// For the time of this number.
    Time(u32),
}

/// A gradient, and which parameters move along it.
pub struct Moves {
    pub value: f64,
    pub gradient: Vec<f64>,
    pub moved: Vec<Move>,
}

impl<T: Real> ReferenceEngine<'_, T> {
    /// The objective on a sample, and its gradient.
    pub fn sampled(&self, sample: &Sample, step: u64) -> Moves {
        let (problem, layout) = (self.problem, &self.problem.parameters);
        let (rows, mut passes) = self.encode(Some(&sample.rows), step);
        let mut block = Vec::new();
        let mut start = 0;
        for (here, &size) in sample.rows.iter().zip(&sample.block) {
            block.extend((start..start + size).map(|row| (row, rows.nodes[row])));
            start += here.len();
        }
        let pairs = self.all_pairs(&block, Part::Training, &sample.scale);
        let mut times = vec![0usize; rows.nodes.len()];
        let mut listed = Vec::new();
        for (named, term, scale) in &sample.listed {
            for (row, times) in times.iter_mut().enumerate() {
                let (targets, weights) = named.row(row);
                if *term == PairTerm::Unlinked {
                    *times += targets.len();
                }
                for (&target, &weight) in targets.iter().zip(weights) {
                    if (target as usize) < row {
                        continue;
                    }
                    let [d, e] = [row, target as usize].map(|row| self.view_of(rows.nodes[row]));
                    let (src, dst) = (row as u32, target);
                    let link = Link { src, dst, weight };
                    listed.push(match term {
                        PairTerm::Correction => Pair::link(link, scale.get(d, e)),
                        PairTerm::Unlinked => Pair::unlinked(link, scale.get(d, e)),
                    });
                }
            }
        }
        let gamma = layout.gamma(&self.theta);
        let mut sum = self.sum(&rows, &gamma, &self.score, pairs.chain(listed));
        let n_links = problem.n_links();
        let all = sum.slopes.iter_mut().chain(&mut sum.offsets);
        all.for_each(|slope| *slope /= n_links);
        let mut gradient = vec![0.0; layout.n_params];
        let mut moved = vec![Move::No; layout.n_params];
        let mut squares = 0.0;
        let mut first = 0;
        let dim = problem.dim;
        for (place, (view, (batch, pass, of_offsets))) in
            problem.encoders().iter().zip(&mut passes).enumerate()
        {
            let own = &sample.rows[place];
            let rows = first..first + own.len();
            // The ridge of all rows of a table, estimated by that of the block or of
            // the ends of the drawn pairs.
            let size = sample.block[place];
            let expected = match size {
                0 => {
                    let drawn = times.iter().sum::<usize>() as f64 / 2.0;
                    drawn * problem.data.n_partners(place) / problem.data.n_pairs_total()
                }
                _ => size as f64 / view.rows.len() as f64,
            };
            let mut of_table = |table: usize, width: usize, slopes: &[f64], unit: f64| {
                for (position, &row) in own.iter().enumerate() {
                    let times = match size {
                        0 => times[first + position] as f64,
                        _ => f64::from(u8::from(position < size)),
                    };
                    let ridge = 2.0 * problem.ridge / n_links * times / expected * unit * unit;
                    for k in 0..width {
                        let at = table + row as usize * width + k;
                        gradient[at] = unit * slopes[position * width + k];
                        if times > 0.0 {
                            gradient[at] += ridge * self.theta[at];
                        }
                        moved[at] = Move::Always;
                    }
                }
            };
            let slopes = &mut sum.slopes[first * dim..(first + own.len()) * dim];
            if view.network.is_table() {
                of_table(view.params.start, dim, slopes, 1.0);
            }
            if let Some(of_view) = &view.offsets {
                of_table(
                    of_view.own.start,
                    1,
                    &sum.offsets[rows.clone()],
                    of_view.unit,
                );
            }
            let mut of_map = |network: &Network,
                              at: &Range<usize>,
                              pass: &mut _,
                              slopes: &mut [f64],
                              unit: f64| {
                let derivative = (slopes, 2.0 * problem.ridge / n_links * unit * unit);
                let (params, out) = (&self.theta[at.clone()], &mut gradient[at.clone()]);
                network.backward(params, batch, pass, derivative, out);
                moved[at.clone()].fill(Move::Always);
            };
            if !view.network.is_table() {
                squares += pass.squared_weights();
                of_map(&view.network, &view.params, pass, slopes, 1.0);
            }
            if let Some((of_view, (network, at))) = view
                .offsets
                .as_ref()
                .and_then(|it| Some((it, it.map.as_ref()?)))
            {
                let mut slopes: Vec<f64> =
                    sum.offsets[rows].iter().map(|x| x * of_view.unit).collect();
                of_map(network, at, of_offsets, &mut slopes, of_view.unit);
            }
            first += own.len();
        }
        for &(d, e, place) in &layout.gammas {
            (gradient[place], moved[place]) = (sum.gamma.get(d, e) / n_links, Move::Always);
        }
        let mut tables = problem.encoders().iter();
        if tables.any(|view| view.network.is_table() || view.offsets.is_some()) {
            squares = 0.0;
        }
        let value = sum.value + self.score.constant() * sum.pairs + problem.ridge * squares;
        Moves {
            value: value / n_links,
            gradient,
            moved,
        }
    }

    /// The objective as some nodes show it, and its gradient in their vectors.
    pub fn swept(&self, part: &SweepPart) -> Moves {
        let (problem, layout) = (self.problem, &self.problem.parameters);
        let (rows, _) = self.encode(None, 0);
        let mut moving = Vec::new();
        let mut is_moving = vec![0.0; rows.nodes.len()];
        for (view, own) in problem.encoders().iter().zip(&part.rows) {
            for &row in own {
                let node = view.rows.start + row as usize;
                moving.push((node, node));
                is_moving[node] = 1.0;
            }
        }
        let mut scale = layout.view_matrix(part.of as f64);
        for &(d, e, _) in layout.gammas.iter().filter(|(d, e, _)| d == e) {
            let all = problem.encoders()[d].rows.len() as f64;
            let here = part.rows[d].len() as f64;
            scale.set(d, e, (all - 1.0) / (here - 1.0).max(1.0));
        }
        let pairs = self.all_pairs(&moving, Part::Training, &scale);
        let listed = self.listed(Part::Training).map(|pair| {
            let ends = pair.rows.map(|row| is_moving[row]);
            Pair {
                factor: 0.5 * pair.factor * (ends[0] + ends[1]),
                moves: ends.map(|end| pair.factor * end),
                ..pair
            }
        });
        let gamma = layout.gamma(&self.theta);
        let sum = self.sum(&rows, &gamma, &self.score, pairs.chain(listed));
        let (n_links, dim) = (problem.n_links(), problem.dim);
        let mut gradient = vec![0.0; layout.n_params];
        let mut moved = vec![Move::No; layout.n_params];
        for (view, own) in problem.encoders().iter().zip(&part.rows) {
            for &row in own {
                for k in 0..dim {
                    let at = view.params.start + row as usize * dim + k;
                    let slope = sum.slopes[(view.rows.start + row as usize) * dim + k];
                    gradient[at] = (slope + 2.0 * problem.ridge * self.theta[at]) / n_links;
                    moved[at] = Move::Time(part.sweep);
                }
                if let Some(of_view) = &view.offsets {
                    let at = of_view.own.start + row as usize;
                    let slope = sum.offsets[view.rows.start + row as usize];
                    gradient[at] = (slope + 2.0 * problem.ridge * self.theta[at]) / n_links;
                    moved[at] = Move::Time(part.sweep);
                }
            }
        }
        let whole = part.of as f64 / n_links;
        for &(d, e, place) in &layout.gammas {
            (gradient[place], moved[place]) = (sum.gamma.get(d, e) * whole, Move::Always);
        }
        Moves {
            value: (sum.value + self.score.constant() * sum.pairs) * whole,
            gradient,
            moved,
        }
    }
}

/// The memory of a first-order method.
pub struct Descent {
    pub plan: Plan,
    start: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    steps: u32,
}

impl Descent {
    pub fn new(plan: &Plan, start: &[f64]) -> Descent {
        Descent {
            plan: plan.clone(),
            start: start.to_vec(),
            first: vec![0.0; start.len()],
            second: vec![0.0; start.len()],
            steps: 0,
        }
    }

    /// Moves parameters; the length of the gradient.
    pub fn step(&mut self, theta: &mut [f64], moves: &Moves) -> f64 {
        let plan = &self.plan;
        self.steps += 1;
        let squares = moves.gradient.iter().zip(&moves.moved);
        let squares = squares.filter(|(_, moved)| **moved != Move::No);
        let squares = squares.map(|(slope, _)| slope * slope);
        let norm = squares.sum::<f64>().sqrt();
        let clip = plan.descent.clip.map_or(1.0, |clip| (clip / norm).min(1.0));
        let passed = 1.0 + f64::from(self.steps - 1) / plan.descent.schedule_t0;
        let rate = plan.descent.learning_rate.unwrap()
            * f64::powf(passed, -plan.descent.schedule_alpha.unwrap());
        for (at, theta) in theta.iter_mut().enumerate() {
            let moved = match moves.moved[at] {
                Move::No => continue,
                Move::Always => self.steps,
                Move::Time(time) => time,
            };
            let gradient = clip * moves.gradient[at];
            if plan.optimizer == OptimizerKind::Sgd {
                self.first[at] = plan.descent.momentum * self.first[at] + gradient;
                *theta -= rate * self.first[at];
                continue;
            }
            self.first[at] = 0.9 * self.first[at] + 0.1 * gradient;
            self.second[at] = 0.999 * self.second[at] + 0.001 * gradient * gradient;
            let first = self.first[at] / (1.0 - f64::powf(0.9, f64::from(moved)));
            let second = self.second[at] / (1.0 - f64::powf(0.999, f64::from(moved)));
            *theta -= rate * first / (second.sqrt() + 1e-8);
        }
        if let Some(radius) = plan.descent.radius {
            let away = theta.iter().zip(&self.start).map(|(x, s)| (x - s).powi(2));
            let distance = away.sum::<f64>().sqrt();
            if distance > radius {
                for (x, s) in theta.iter_mut().zip(&self.start) {
                    *x = s + (*x - s) * radius / distance;
                }
            }
        }
        norm
    }
}

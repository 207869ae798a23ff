//! First-order methods that stay on the card, with the optimizer's memory: steps over
//! all pairs, and sweeps over tables.

use std::sync::Arc;

use linkproof_method::engine::pairs::{AllPairs, Part, Sums, ViewMatrix};
use linkproof_method::engine::{OptimizerMemory, Plan, StepOutcome, SweepPart, Sweeper};
use linkproof_method::error::{Error, Result};
use linkproof_method::params::{OptimizerKind, SolverKind};
use linkproof_numeric::math;

use crate::card::{CardPairs, blocks, over};
use crate::layout::Layout;
use crate::memory::Buffer;
use crate::pass::Number;
use crate::resident::{NOWHERE, Resident, has_mirror, variant};
use crate::vectors::launch;

const FIRST_DECAY: f64 = 0.9;
const SECOND_DECAY: f64 = 0.999;
const EPSILON: f64 = 1e-8;
/// Partial sums of squares.
const SQUARES: usize = 256;

/// A first-order method on the card.
#[derive(Debug)]
pub struct Descent<T: Number> {
    plan: Plan,
    /// Draws the parts of sweeps; unset: all pairs at every step.
    sweeper: Option<Sweeper>,
    is_adam: bool,
    steps: i32,
    first: Buffer<T>,
    second: Buffer<T>,
    /// The memory of each gamma, which stays on the host.
    gammas: Vec<[f64; 2]>,
    derivative: Buffer<T>,
    places: Buffer<u64>,
    rows: Buffer<u32>,
    squares: Buffer<f64>,
}

/// One step's factors.
struct Factors {
    rate: f64,
    momentum: f64,
    second_scale: f64,
}

impl<T: Number> Descent<T> {
    /// Sets off from the parameters in place, if a plan's steps can be taken here.
    pub fn new(on: &Resident<'_, T>, plan: &Plan) -> Result<Option<Descent<T>>> {
        let problem = on.problem;
        let is_swept_here = problem.parameters.is_all_tables() && !has_mirror(problem);
        let sweeps = plan.turns.filter(|_| is_swept_here);
        let takes_all = plan.solver == SolverKind::Exact;
        if plan.descent.radius.is_some() || !(takes_all || sweeps.is_some()) {
            return Ok(None);
        }
        let sweeper = sweeps.filter(|_| !takes_all);
        let mut descent = Descent {
            plan: plan.clone(),
            sweeper: sweeper.map(|parts| Sweeper::new(problem, parts, plan.seed)),
            is_adam: plan.optimizer == OptimizerKind::Adam,
            steps: 0,
            first: Buffer::default(),
            second: Buffer::default(),
            gammas: vec![[0.0; 2]; problem.parameters.gammas.len()],
            derivative: Buffer::default(),
            places: Buffer::default(),
            rows: Buffer::default(),
            squares: Buffer::default(),
        };
        let place = &on.pairs.on;
        for memory in [&mut descent.first, &mut descent.second] {
            memory.clear(place, problem.n_params())?;
        }
        Ok(Some(descent))
    }

    /// What it remembers, as the processor would: both averages, of all parameters.
    pub fn memory(&self, on: &Resident<'_, T>) -> Result<OptimizerMemory<'static, T>> {
        let (problem, place) = (on.problem, &on.pairs.on);
        let mut vectors = Vec::with_capacity(2);
        for (which, buffer) in [&self.first, &self.second].into_iter().enumerate() {
            let mut numbers = vec![T::ZERO; self.remembered(which, problem.n_params())];
            if !numbers.is_empty() {
                buffer.read(place, &mut numbers)?;
                for (&(_, _, at), memory) in problem.parameters.gammas.iter().zip(&self.gammas) {
                    numbers[at] = T::of(memory[which]);
                }
            }
            vectors.push(numbers.into());
        }
        Ok(OptimizerMemory {
            steps: self.steps as u64,
            vectors,
        })
    }

    /// Takes up what another one like it remembered, on a card or on the processor.
    pub fn recall(&mut self, on: &Resident<'_, T>, memory: &OptimizerMemory<'_, T>) -> Result<()> {
        let (problem, place) = (on.problem, &on.pairs.on);
        let lens = [0, 1].map(|which| self.remembered(which, problem.n_params()));
        if !memory.vectors.iter().map(|kept| kept.len()).eq(lens) {
            let found = "a memory of another shape";
            return Err(Error::data("optimizer", found, "that of the same plan"));
        }
        let mine = [&mut self.first, &mut self.second];
        for (which, (mine, kept)) in mine.into_iter().zip(&memory.vectors).enumerate() {
            if kept.is_empty() {
                continue;
            }
            mine.fill(place, &**kept)?;
            let gammas = problem.parameters.gammas.iter();
            for (&(_, _, at), memory) in gammas.zip(&mut self.gammas) {
                memory[which] = kept[at].to_f64();
            }
        }
        self.steps = memory.steps as i32;
        Ok(())
    }

    /// How long the first or the second average is; only Adam has the second.
    fn remembered(&self, which: usize, n_params: usize) -> usize {
        match which == 0 || self.is_adam {
            true => n_params,
            false => 0,
        }
    }

    /// A step, counted from 1.
    pub fn step(&mut self, on: &mut Resident<'_, T>, step: u64) -> Result<StepOutcome> {
        self.steps += 1;
        on.has_moved = true;
        match self
            .sweeper
            .as_mut()
            .map(|sweeper| sweeper.draw(step).clone())
        {
            Some(part) => self.sweep(on, &part),
            None => self.all_pairs(on, step),
        }
    }

    /// A step over all pairs.
    fn all_pairs(&mut self, on: &mut Resident<'_, T>, step: u64) -> Result<StepOutcome> {
        let (found, slopes) = on.derive(false, step, true)?;
        let squares = on.derivative_squares()?;
        let slopes = slopes.into_iter().map(|slope| T::of(slope).to_f64());
        let slopes: Vec<f64> = slopes.collect();
        let (gradient_norm, clip) = self.norm_and_clip(squares, &slopes);
        // All weights are one row, at the start.
        let place = &on.pairs.on;
        self.places.fill(place, &[0u64][..])?;
        let from = on.derivative.address(place);
        self.move_rows(on, (from, 1, on.n_weights()), clip, self.steps)?;
        self.move_gammas(on, &slopes, clip);
        let value = found.value;
        Ok(StepOutcome {
            value,
            gradient_norm,
        })
    }

    /// A part of a sweep.
    fn sweep(&mut self, on: &mut Resident<'_, T>, part: &SweepPart) -> Result<StepOutcome> {
        let problem = on.problem;
        let gamma = problem.parameters.gamma(&on.theta);
        let pairs = Arc::clone(&on.pairs);
        let mut state = pairs.state();
        let (layout, sums) = self.pair_sums(on, &mut state, part, &gamma)?;
        let whole = part.of as f64 / problem.n_links();
        let gammas = problem.parameters.gammas.iter();
        let slopes = gammas.map(|&(d, e, _)| T::of(sums.gamma.get(d, e) * whole).to_f64());
        let slopes: Vec<f64> = slopes.collect();
        let squares = self.derivative(on, &state, &layout)?;
        let (gradient_norm, clip) = self.norm_and_clip(squares, &slopes);
        let from = self.derivative.address(&pairs.on);
        let rows = (from, layout.rows, layout.dim);
        self.move_rows(on, rows, clip, part.sweep as i32)?;
        self.move_gammas(on, &slopes, clip);
        let value = (sums.value + on.score.constant() * sums.pairs) * whole;
        Ok(StepOutcome {
            value,
            gradient_norm,
        })
    }

    /// The length of a gradient, and the factor that keeps it to the largest.
    fn norm_and_clip(&self, squares: f64, slopes: &[f64]) -> (f64, f64) {
        let norm = (squares + slopes.iter().map(|slope| slope * slope).sum::<f64>()).sqrt();
        let largest = self.plan.descent.clip;
        let clip = largest.map_or(1.0, |largest| (largest / norm.max(1e-300)).min(1.0));
        (norm, clip)
    }

    /// What the nodes of a part show of the objective; leaves the derivative in their
    /// vectors on the card.
    fn pair_sums(
        &mut self,
        on: &mut Resident<'_, T>,
        state: &mut CardPairs<T>,
        part: &SweepPart,
        gamma: &ViewMatrix,
    ) -> Result<(Layout, Sums)> {
        let problem = on.problem;
        let place = &on.pairs.on.clone();

        let (mut views, mut nodes) = (Vec::new(), Vec::new());
        for (view, rows) in problem.encoders().iter().zip(&part.rows) {
            views.push(nodes.len()..nodes.len() + rows.len());
            nodes.extend(rows.iter().map(|&row| view.rows.start as u32 + row));
        }
        let scale = sweep_scale(on, part);
        let all = AllPairs {
            rows: &views,
            scale: &scale,
            nodes: &nodes,
            split: problem.data.split.map(|split| (split, Part::Training)),
            watched: false,
        };
        let score = on.score.clone();
        let layout = state.layout(place, &all, problem.dim);
        let (mut places, mut rows) = (vec![NOWHERE; layout.rows], vec![u32::MAX; layout.rows]);
        for here in &layout.places {
            for (at, joined) in (here.start..).zip(here.rows.clone()) {
                let row = on.place_of(nodes[joined] as usize);
                (places[at], rows[at]) = (on.table_places[row], row as u32);
            }
        }
        self.places.fill(place, places.as_slice())?;
        self.rows.fill(place, rows.as_slice())?;
        state.rows.room(place, layout.rows * layout.width)?;
        let (from, to) = (on.parameters.address(place), state.rows.address(place));
        let at = self.places.address(place);
        let (count, dim, width) = (layout.rows as u32, layout.dim as u32, layout.width as u32);
        let kernels = variant::<T>(&score);
        launch!(
            place, kernels, "gather", over(layout.rows * layout.width);
            &from, &at, &count, &dim, &width, &to
        )?;
        let mut sums = state.run(place, &layout, &all, (gamma, &score), true)?;
        on.tell_gamma(gamma)?;
        let pass = state.pass(place, &layout, &score)?;
        let of_rows = self.rows.address(place);
        let mut row_sums = std::mem::take(&mut on.row_sums);
        let mut there = std::mem::take(&mut on.sums);
        let lists = [
            Some((&on.training, 1.0)),
            on.aside.as_ref().map(|list| (list, -1.0)),
        ];
        for (list, factor) in lists.into_iter().flatten() {
            row_sums.clear(place, layout.rows * part.rows.len() * 2)?;
            let listed = crate::lists::Listed {
                gradient: state.gradient.address(place),
                sums: row_sums.address(place),
                ..on.listed(list, &list.caps, factor)
            };
            let config = blocks(layout.rows.div_ceil(8), 256);
            let table_places = on.table_places_there.address(place);
            launch!(
                place, kernels, "swept", config;
                &pass, &listed, &of_rows, &from, &table_places, &dim
            )?;
            let by = (place, kernels);
            Resident::<T>::add_row_sums(by, &row_sums, &mut there, &layout, &mut sums)?;
            if factor < 0.0 {
                let ends = |row: &u32| match *row {
                    u32::MAX => 0.0,
                    row => list.ends[row as usize],
                };
                sums.pairs += 0.5 * factor * rows.iter().map(ends).sum::<f64>();
            }
        }
        (on.row_sums, on.sums) = (row_sums, there);
        Ok((layout, sums))
    }

    /// Writes the derivative in the vectors of a part; the sum of its squares.
    fn derivative(
        &mut self,
        on: &Resident<'_, T>,
        state: &CardPairs<T>,
        layout: &Layout,
    ) -> Result<f64> {
        let place = &on.pairs.on;

        self.derivative.room(place, layout.rows * layout.dim)?;
        let n_blocks = (layout.rows * layout.dim).div_ceil(256).clamp(1, SQUARES);
        self.squares.room(place, n_blocks)?;
        let inverse = T::of(1.0 / on.problem.n_links());
        let ridge = T::of(2.0 * on.problem.ridge / on.problem.n_links());
        let (slopes, table) = (state.gradient.address(place), on.parameters.address(place));
        let (places, out) = (self.places.address(place), self.derivative.address(place));
        let (count, dim, width) = (layout.rows as u32, layout.dim as u32, layout.width as u32);
        let squares = self.squares.address(place);
        launch!(
            place, variant::<T>(&on.score), "part_derivative", blocks(n_blocks, 256);
            &slopes, &table, &places, &count, &dim, &width, &inverse, &ridge, &out, &squares
        )?;
        let mut found = vec![0.0; n_blocks];
        self.squares.read(place, &mut found)?;
        Ok(found.iter().sum())
    }

    fn move_rows(
        &mut self,
        on: &Resident<'_, T>,
        (from, rows, dim): (u64, usize, usize),
        clip: f64,
        moves: i32,
    ) -> Result<()> {
        let place = &on.pairs.on;

        let factors = self.factors(moves);
        let (rate, clip) = (T::of(factors.rate), T::of(clip));
        let (momentum, second_scale) = (T::of(factors.momentum), T::of(factors.second_scale));
        let places = self.places.address(place);
        let config = over(rows * dim);
        let (count, dim) = (rows as u32, dim as u32);
        let adam = i32::from(self.is_adam);
        let table = on.parameters.address(place);
        let (first, second) = (self.first.address(place), self.second.address(place));
        launch!(
            place, variant::<T>(&on.score), "part_step", config;
            &from, &places, &count, &dim, &adam, &rate, &clip, &momentum, &second_scale,
            &table, &first, &second
        )
    }

    fn move_gammas(&mut self, on: &mut Resident<'_, T>, slopes: &[f64], clip: f64) {
        let factors = self.factors(self.steps);
        let gammas = on.problem.parameters.gammas.iter();
        for ((&(_, _, at), slope), memory) in gammas.zip(slopes).zip(&mut self.gammas) {
            let slope = slope * clip;
            // Kept in the precision of the fit, so that it is the same after a checkpoint.
            let kept = |x: f64| T::of(x).to_f64();
            let moved = if self.is_adam {
                memory[0] = kept(FIRST_DECAY * memory[0] + (1.0 - FIRST_DECAY) * slope);
                memory[1] = kept(SECOND_DECAY * memory[1] + (1.0 - SECOND_DECAY) * slope * slope);
                memory[0] / ((memory[1] * factors.second_scale).sqrt() + EPSILON)
            } else {
                memory[0] = kept(factors.momentum * memory[0] + slope);
                memory[0]
            };
            on.theta[at] = T::of(on.theta[at].to_f64() - factors.rate * moved);
        }
    }

    /// The factors of parameters that have moved so often.
    fn factors(&self, moves: i32) -> Factors {
        let rate = self.plan.descent.rate(f64::from(self.steps - 1));
        let left = |decay: f64| 1.0 - math::pow(decay, f64::from(moves));
        match self.is_adam {
            true => Factors {
                rate: rate / left(FIRST_DECAY),
                momentum: FIRST_DECAY,
                second_scale: 1.0 / left(SECOND_DECAY),
            },
            false => Factors {
                rate,
                momentum: self.plan.descent.momentum,
                second_scale: 1.0,
            },
        }
    }
}

/// How many pairs of a node stand behind each that the part has.
fn sweep_scale<T: Number>(on: &Resident<'_, T>, part: &SweepPart) -> ViewMatrix {
    let views = on.problem.encoders();
    let mut scale = ViewMatrix::filled(views.len(), 0.0);
    for &(d, e, _) in &on.problem.parameters.gammas {
        let factor = if d == e {
            let (all, here) = (views[d].rows.len() as f64, part.rows[d].len() as f64);
            (all - 1.0) / (here - 1.0).max(1.0)
        } else {
            part.of as f64
        };
        scale.set(d, e, factor);
    }
    scale
}

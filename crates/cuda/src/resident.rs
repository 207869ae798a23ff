//! An objective that stays on the card: data vectors, links, parameters and all
//! arithmetic. What travels is parameters in, and a few sums and the gradient out.

mod listed;
mod views;

use std::ops::Range;
use std::sync::Arc;

use linkproof_method::engine::encoder::Dropout;
use linkproof_method::engine::objective::Problem;
use linkproof_method::engine::pairs::{AllPairs, Part, Sums, ViewMatrix};
use linkproof_method::engine::{Look, ObjectiveValue, PartSum};
use linkproof_method::error::Result;
use linkproof_method::score::Score;
use linkproof_numeric::math;

use crate::card::{CardPairs, blocks};
use crate::compile::{Kind, Variant};
use crate::layout::Layout;
use crate::lists::List;
use crate::memory::{Buffer, Staging};
use crate::network::Net;
use crate::pairs::DevicePairs;
use crate::pass::Number;
use crate::vectors::{Encoder, launch};
use views::{Pass, View};

/// Partial sums of squares.
const SQUARES: usize = 256;
/// No place: padding.
pub const NOWHERE: u64 = u64::MAX;

/// An objective on the card.
#[derive(Debug)]
pub struct Resident<'p, T: Number> {
    pub problem: &'p Problem<'p>,
    pub pairs: Arc<DevicePairs<T>>,
    /// The score that solvers follow.
    pub score: Score,
    /// The parameters; of tables that are swept, the gammas alone are up to date.
    pub theta: Vec<T>,
    /// Whether the card's parameters have moved since.
    pub has_moved: bool,
    pub parameters: Buffer<T>,
    staging: Staging<T>,
    pub derivative: Buffer<T>,
    parts: Buffer<T>,
    views: Vec<View<T>>,
    pub training: List,
    pub aside: Option<List>,
    held_out: Option<List>,
    judged: Option<List>,
    /// Pairs that cannot be linked among those held out and judged.
    impossible: [Option<List>; 2],
    /// Parameters that the ridge holds down, and by how much.
    ridged: Vec<(Range<usize>, f64)>,
    view_of: Buffer<u32>,
    gamma: Buffer<f64>,
    pub row_sums: Buffer<f64>,
    pub sums: Buffer<f64>,
    all_rows: Buffer<T>,
    all_mirror: Option<Buffer<T>>,
    places: Buffer<u64>,
    /// Rows on the card, and where a table has the vector of each.
    layout: Layout,
    pub table_places: Vec<u64>,
    pub table_places_there: Buffer<u64>,
    rows: Vec<Range<usize>>,
    nodes: Vec<u32>,
    unit: ViewMatrix,
}

impl<'p, T: Number> Resident<'p, T> {
    /// Whether a problem has tables and linear maps alone, and none of offsets, signs,
    /// impossible pairs and dropout.
    pub fn is_plain(problem: &Problem<'_>) -> bool {
        let mut encoders = problem.encoders().iter();
        !has_mirror(problem)
            && problem.data.impossible.iter().all(Option::is_none)
            && problem.dropout.is_none()
            && encoders.all(|view| Encoder::<T>::serves(&view.network))
    }

    /// Whether all encoders of a problem can be computed on the card.
    pub fn serves(problem: &Problem<'_>) -> bool {
        let mut encoders = problem.encoders().iter();
        encoders.all(|view| Net::<T>::serves(&view.network))
    }

    /// Copies a problem up.
    pub fn new(problem: &'p Problem<'p>, pairs: &Arc<DevicePairs<T>>) -> Result<Resident<'p, T>> {
        let (on, data) = (&pairs.on, problem.data);
        let score = problem.score.clone().capped::<T>();
        let rows: Vec<Range<usize>> = data.views.iter().map(|view| view.rows.clone()).collect();
        // Offsets are two more dimensions: (y, b, 1) meets (z, 1, b).
        let dims = problem.dim
            + if problem.parameters.has_offsets() {
                2
            } else {
                0
            };
        let layout = Layout::new(&rows, dims, dims);
        let views = problem.encoders().iter().zip(&data.views);
        let views = views
            .map(|(encoder, view)| View::new(on, problem, encoder, view.matrix.as_ref()))
            .collect::<Result<_>>()?;
        let list = |graph: Option<&_>| {
            let list = graph.map(|graph| List::new(on, graph, &layout, &score));
            list.transpose()
        };
        let training = List::new(on, &data.training, &layout, &score)?;
        let (aside, held_out) = (list(data.aside.as_ref())?, list(data.held_out.as_ref())?);
        let judged = list(data.judged.as_ref())?;
        let [first, second] = data.impossible.each_ref();
        let impossible = [list(first.as_ref())?, list(second.as_ref())?];
        let mut view_of = vec![0u32; layout.rows];
        let mut table_places = vec![NOWHERE; layout.rows];
        for (view, place) in layout.places.iter().enumerate() {
            view_of[place.start..place.start + place.rows.len()].fill(view as u32);
            let start = problem.encoders()[view].params.start;
            for row in 0..place.rows.len() {
                table_places[place.start + row] = (start + row * problem.dim) as u64;
            }
        }
        let mut resident = Resident {
            problem,
            pairs: Arc::clone(pairs),
            score,
            theta: Vec::new(),
            has_moved: false,
            parameters: Buffer::default(),
            staging: Staging::default(),
            derivative: Buffer::default(),
            parts: Buffer::default(),
            views,
            training,
            aside,
            held_out,
            judged,
            impossible,
            ridged: ridged(problem),
            view_of: Buffer::default(),
            gamma: Buffer::default(),
            row_sums: Buffer::default(),
            sums: Buffer::default(),
            all_rows: Buffer::default(),
            all_mirror: None,
            places: Buffer::default(),
            layout,
            table_places,
            table_places_there: Buffer::default(),
            nodes: (0..problem.n_nodes() as u32).collect(),
            unit: problem.parameters.view_matrix(1.0),
            rows,
        };
        resident.view_of.fill(on, view_of.as_slice())?;
        let places = resident.table_places.as_slice();
        resident.table_places_there.fill(on, places)?;
        Ok(resident)
    }

    /// Puts parameters in place; whether they are others than before.
    pub fn load(&mut self, theta: &[T]) -> Result<bool> {
        let changes = self.has_moved || self.theta != theta;
        if changes {
            self.has_moved = false;
            self.theta.clear();
            self.theta.extend_from_slice(theta);
            let on = &self.pairs.on;
            let to = &mut self.parameters;
            self.staging.up(on, theta, to)?;
        }
        Ok(changes)
    }

    /// Reads the parameters in place.
    pub fn read(&mut self) -> Result<&[T]> {
        let on = &self.pairs.on;
        let gammas = self.problem.parameters.gammas.len();
        if self.has_moved {
            let weights = self.theta.len() - gammas;
            let into = &mut self.theta[..weights];
            self.parameters.read(on, into)?;
            self.has_moved = false;
        }
        Ok(&self.theta)
    }

    /// Where a node's row is on the card.
    pub fn place_of(&self, node: usize) -> usize {
        let place = &self.layout.places[self.problem.data.view_of(node)];
        place.start + node - place.rows.start
    }

    /// The objective over the training pairs; its gradient overwrites `gradient`. Held-out pairs may be watched along the way.
    pub fn objective(
        &mut self,
        watches: bool,
        gradient: Option<&mut [T]>,
    ) -> Result<ObjectiveValue> {
        let (found, slopes) = self.derive(watches, 0, gradient.is_some())?;
        if let Some(gradient) = gradient {
            let on = &self.pairs.on;
            let from = &self.derivative;
            self.staging.down(on, from, gradient)?;
            let gammas = self.problem.parameters.gammas.iter();
            for (&(_, _, place), slope) in gammas.zip(slopes) {
                gradient[place] = T::of(slope);
            }
        }
        Ok(found)
    }

    /// The same, as a step sees it, with the gradient in the weights left on the card; that
    /// in the gammas is returned.
    pub fn derive(
        &mut self,
        watches: bool,
        step: u64,
        wants_gradient: bool,
    ) -> Result<(ObjectiveValue, Vec<f64>)> {
        let problem = self.problem;
        let gamma = problem.parameters.gamma(&self.theta);
        let score = self.score.clone();
        let pairs = Arc::clone(&self.pairs);
        let mut state = pairs.state();
        let which = (Part::Training, watches);
        let by = (&gamma, &score);
        let dropout = problem.dropout(step);
        let (layout, sums) = self.pair_sums(&mut state, which, by, (dropout, wants_gradient))?;
        let held_out = match watches {
            true => {
                let mut watched = Sums::zero(self.rows.len());
                (watched.value, watched.pairs) = sums.watched;
                let from = (&layout, state.sides(&pairs.on));
                self.add_listed(&mut state, from, Part::HeldOut, by, (&mut watched, false))?;
                Some(part_sum(&watched))
            }
            false => None,
        };
        let inverse = 1.0 / problem.n_links();
        let ridge = match problem.ridge != 0.0 {
            true => problem.ridge * self.ridged_squares()?,
            false => 0.0,
        };
        let value = (sums.value + score.constant() * sums.pairs + ridge) * inverse;
        if wants_gradient {
            let ridge = 2.0 * problem.ridge * inverse;
            self.backward(&state, (&layout, dropout), (inverse, ridge))?;
        }
        let gammas = problem.parameters.gammas.iter();
        let slopes = gammas.map(|&(d, e, _)| sums.gamma.get(d, e) * inverse);
        Ok((ObjectiveValue { value, held_out }, slopes.collect()))
    }

    /// The sum over the pairs of a part.
    pub fn part_sum(&mut self, part: Part, by: Option<&Score>, look: Look) -> Result<PartSum> {
        let problem = self.problem;
        if part != Part::Training && problem.data.split.is_none() {
            return Ok(part_sum(&Sums::zero(0)));
        }
        let mut gamma = problem.parameters.gamma(&self.theta);
        let log_k = if look.k == 1.0 { 0.0 } else { math::ln(look.k) };
        for &(d, e, _) in &problem.parameters.gammas {
            gamma.set(d, e, gamma.get(d, e) - log_k);
        }
        let score = by.unwrap_or(&self.score).clone();
        let pairs = Arc::clone(&self.pairs);
        let mut state = pairs.state();
        let sums = match look.estimates(problem.n_nodes()) {
            true => self.estimated(&mut state, part, (&gamma, &score))?,
            false => {
                let which = (part, false);
                self.pair_sums(&mut state, which, (&gamma, &score), (None, false))?
                    .1
            }
        };
        Ok(part_sum(&sums))
    }

    fn all(&self, part: Part, watched: bool) -> AllPairs<'_> {
        AllPairs {
            rows: &self.rows,
            scale: &self.unit,
            nodes: &self.nodes,
            split: self.problem.data.split.map(|split| (split, part)),
            watched,
        }
    }

    /// Embeds all nodes, also as others see them where that differs.
    fn embed(
        &mut self,
        (rows, mirror): (&mut Buffer<T>, &mut Option<Buffer<T>>),
        layout: &Layout,
        score: &Score,
        dropout: Option<Dropout>,
    ) -> Result<()> {
        let on = &self.pairs.on;
        // Padding has no view, and must be zero.
        rows.clear(on, layout.rows * layout.width)?;
        match has_mirror(self.problem) {
            true => mirror
                .get_or_insert_default()
                .clear(on, layout.rows * layout.width)?,
            false => *mirror = None,
        }
        let pass = Pass {
            on,
            products: variant::<T>(score),
            layout,
            theta: self.parameters.address(on),
            dropout,
        };
        let mirror = mirror.as_ref().map(|mirror| mirror.address(on));
        let to = (rows.address(on), mirror);
        for (place, view) in self.views.iter_mut().enumerate() {
            view.forward(pass, self.problem, place, to)?;
        }
        Ok(())
    }

    /// Embeds all nodes, and sums over all pairs of a part and over its listed ones.
    fn pair_sums(
        &mut self,
        state: &mut CardPairs<T>,
        (part, watched): (Part, bool),
        by: (&ViewMatrix, &Score),
        (dropout, wants_gradient): (Option<Dropout>, bool),
    ) -> Result<(Layout, Sums)> {
        let on = &self.pairs.on.clone();
        let layout = state.layout(on, &self.all(part, watched), self.layout.dim);
        let rows = (&mut state.rows, &mut state.mirror);
        self.embed(rows, &layout, by.1, dropout)?;
        let all = self.all(part, watched);
        let mut sums = state.run(on, &layout, &all, by, wants_gradient)?;
        let from = (&layout, state.sides(on));
        self.add_listed(state, from, part, by, (&mut sums, wants_gradient))?;
        Ok((layout, sums))
    }

    /// The number of parameters that are not gammas.
    pub fn n_weights(&self) -> usize {
        let layout = &self.problem.parameters;
        layout.n_params - layout.gammas.len()
    }

    /// The sum of the squares that the ridge holds down.
    fn ridged_squares(&mut self) -> Result<f64> {
        let from = self.parameters.address(&self.pairs.on);
        let mut sum = 0.0;
        for place in 0..self.ridged.len() {
            let (range, factor) = self.ridged[place].clone();
            sum += factor * self.squares(from, range)?;
        }
        Ok(sum)
    }

    /// The sum of the squares of the derivative in the weights.
    pub fn derivative_squares(&mut self) -> Result<f64> {
        let from = self.derivative.address(&self.pairs.on);
        self.squares(from, 0..self.n_weights())
    }

    /// The sum of the squares of some numbers.
    fn squares(&mut self, from: u64, range: Range<usize>) -> Result<f64> {
        let on = &self.pairs.on.clone();
        // Blocks beyond would have nothing to sum up.
        let n_blocks = range.len().div_ceil(256).clamp(1, SQUARES);
        self.sums.room(on, n_blocks)?;
        let to = self.sums.address(on);
        let from = from + (range.start * size_of::<T>()) as u64;
        let (count, config) = (range.len() as u64, blocks(n_blocks, 256));
        launch!(on, variant::<T>(&self.score), "squares", config; &from, &count, &to)?;
        let mut found = vec![0.0; n_blocks];
        self.sums.read(on, &mut found)?;
        Ok(found.iter().sum())
    }

    /// The derivative in all weights, from that in the embeddings.
    fn backward(
        &mut self,
        state: &CardPairs<T>,
        (layout, dropout): (&Layout, Option<Dropout>),
        factors: (f64, f64),
    ) -> Result<()> {
        let on = &self.pairs.on;
        self.derivative.room(on, self.problem.n_params())?;
        let pass = Pass {
            on,
            products: variant::<T>(&self.score),
            layout,
            theta: self.parameters.address(on),
            dropout,
        };
        let from = (state.rows.address(on), state.gradient.address(on));
        let out = self.derivative.address(on);
        for (place, view) in self.views.iter_mut().enumerate() {
            let to = (&mut self.parts, out);
            view.backward(pass, self.problem, place, from, factors, to)?;
        }
        Ok(())
    }
}

/// Whether embeddings differ from what the other ends of pairs see.
pub fn has_mirror(problem: &Problem<'_>) -> bool {
    problem.negative > 0 || problem.parameters.has_offsets()
}

/// Parameters that the ridge holds down, and by how much: weights, and offsets in their
/// unit.
fn ridged(problem: &Problem<'_>) -> Vec<(Range<usize>, f64)> {
    let mut ridged: Vec<(Range<usize>, f64)> = Vec::new();
    let mut put = |range: Range<usize>, factor: f64| match ridged.last_mut() {
        Some((last, by)) if last.end == range.start && *by == factor => last.end = range.end,
        _ => ridged.push((range, factor)),
    };
    for view in problem.encoders() {
        for layer in view.network.layers() {
            let start = view.params.start;
            put(start + layer.weights.start..start + layer.weights.end, 1.0);
        }
        if let Some(offsets) = &view.offsets {
            let map = offsets.map.iter().map(|(_, place)| place.clone());
            for range in map.chain([offsets.own.clone()]) {
                put(range, offsets.unit * offsets.unit);
            }
        }
    }
    ridged
}

/// The kernels around pairs, for a score.
pub fn variant<T: Number>(score: &Score) -> Variant {
    Variant {
        kind: Kind::Resident,
        score: u32::from(score.is_tabulated()),
        ..Variant::plain(T::NAME)
    }
}

fn part_sum(sums: &Sums) -> PartSum {
    PartSum {
        value: sums.value,
        pairs: sums.pairs,
    }
}

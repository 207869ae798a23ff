//! Encoder x score x pair engine: the value and gradient that solvers see.
//!
//! All parameters stand in one flat vector: the weights of each view's
//! encoder, then one `gamma` for each pair of views that takes part. The
//! objective is
//!
//! ```text
//! ( sum over pairs of the score + ridge * ||encoder weights||^2 ) / |W|
//! ```

mod evaluate;
mod held_out;
mod prepare;
mod sample;
mod sweep;

pub use evaluate::{Evaluation, evaluate};
pub use held_out::{Block, EXACT_NODES, Look};
pub use prepare::{Prepared, PreparedView};
pub use sample::{Gradient, Piece, Sample, Workspace};
pub use sweep::Turn;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::encoder::{Dropout, Input, Network, NetworkSpec, Pass, Statistics};
use crate::error::Result;
use crate::graph::Graph;
use crate::math;
use crate::pairs::{
    AllPairs, Charge, Embedded, ListedPairs, PairEngine, Part, Split, Sums, Tiled, ViewMatrix,
    listed_pairs,
};
use crate::params::{CheckedParams, Encoder};
use crate::real::{Real, dot_f64};
use crate::score::{Kernel, Score};

/// One view's encoder inside the vector of parameters.
#[derive(Debug, Clone)]
pub struct EncodedView<'a, T: Real> {
    /// Its data vectors.
    pub input: Input<'a, T>,
    /// Its encoder.
    pub network: Network,
    /// The places of its parameters.
    pub params: Range<usize>,
    /// Its nodes, as internal rows.
    pub rows: Range<usize>,
}

/// A fit's objective on given data.
#[derive(Debug)]
pub struct Problem<'a, T: Real> {
    views: Vec<EncodedView<'a, T>>,
    dim: usize,
    /// The pairs of views that take part, and the places of their gammas.
    gammas: Vec<(usize, usize, usize)>,
    n_params: usize,
    score: Score,
    kernel: Kernel<T>,
    engine: Tiled<T>,
    links: ListedPairs,
    prepared: &'a Prepared,
    held_out_links: Option<ListedPairs>,
    judged_links: Option<ListedPairs>,
    /// Pairs that were set aside, and the factor that takes them back out of a
    /// sum over all pairs.
    aside: Option<(ListedPairs, ViewMatrix)>,
    nodes: Vec<u32>,
    unit: ViewMatrix,
    ridge: f64,
    dropout: Option<(f64, f64)>,
    seed: u64,
    watched: Watched<T>,
}

/// The sum over the pairs held out to decide when to stop, at the parameters of
/// the last pass that watched them.
#[derive(Debug)]
struct Watched<T>(Mutex<Option<(Vec<T>, Sums)>>);

impl<T: Real> Watched<T> {
    fn keep(&self, theta: &[T], sums: Sums) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((theta.to_vec(), sums));
    }

    fn at(&self, theta: &[T]) -> Option<Sums> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, sums) = kept.as_ref()?;
        (known == theta).then(|| sums.clone())
    }
}

impl<'a, T: Real> Problem<'a, T> {
    /// Sets the objective up.
    pub fn new(prepared: &'a Prepared, params: &CheckedParams) -> Result<Problem<'a, T>> {
        let mut views = Vec::new();
        let mut encoders = Vec::new();
        let mut next = 0;
        for view in &prepared.views {
            let encoder = params.encoder(&view.name, view.matrix.is_some())?;
            let network = Network::new(view_spec(view, &encoder, params.dim));
            encoders.push(encoder);
            let input = match &view.matrix {
                Some(matrix) if !network.is_table() => Input::new(matrix),
                _ => Input::Nodes(view.rows.len()),
            };
            views.push(EncodedView {
                input,
                params: next..next + network.n_params(),
                rows: view.rows.clone(),
                network,
            });
            next = views[views.len() - 1].params.end;
        }
        let n_views = views.len();
        let mut unit = ViewMatrix::filled(n_views, 0.0);
        let mut gammas = Vec::new();
        for &(d, e) in &prepared.view_pairs {
            unit.set(d, e, 1.0);
            gammas.push((d, e, next));
            next += 1;
        }
        let mut minus = ViewMatrix::filled(n_views, 0.0);
        for &(d, e) in &prepared.view_pairs {
            minus.set(d, e, -1.0);
        }
        let score = Score::of(params.score()).capped::<T>();
        let kernel = Kernel::new(&score);
        let dropout = encoders.iter().map(Encoder::dropout).fold(0.0, f64::max);
        let drops = dropout > 0.0 || params.input_dropout > 0.0;
        Ok(Problem {
            views,
            dim: params.dim,
            gammas,
            n_params: next,
            kernel,
            engine: Tiled::default(),
            score,
            links: ListedPairs::of(&prepared.training),
            held_out_links: prepared.held_out.as_ref().map(ListedPairs::of),
            judged_links: prepared.judged.as_ref().map(ListedPairs::of),
            aside: prepared
                .aside
                .as_ref()
                .map(|aside| (ListedPairs::of(aside), minus)),
            nodes: (0..prepared.training.n_nodes() as u32).collect(),
            prepared,
            unit,
            ridge: params.ridge,
            dropout: drops.then_some((params.input_dropout, dropout)),
            seed: params.seed,
            watched: Watched(Mutex::new(None)),
        })
    }

    /// The number of parameters.
    pub fn n_params(&self) -> usize {
        self.n_params
    }

    /// The encoders.
    pub fn views(&self) -> &[EncodedView<'a, T>] {
        &self.views
    }

    /// The pairs of views that take part, and the places of their gammas.
    pub fn gammas(&self) -> &[(usize, usize, usize)] {
        &self.gammas
    }

    /// The links a fit sees, with the weights it sees.
    pub fn training(&self) -> &Graph {
        &self.prepared.training
    }

    /// The data behind the objective.
    pub fn prepared(&self) -> &Prepared {
        self.prepared
    }

    /// Whether some pairs are held out to decide when to stop.
    pub fn has_held_out(&self) -> bool {
        self.prepared.split.is_some_and(Split::stops)
    }

    /// Whether the objective changes from step to step.
    pub fn is_random(&self) -> bool {
        self.dropout.is_some()
    }

    /// The score that solvers follow.
    pub fn score(&self) -> &Score {
        &self.score
    }

    fn n_links(&self) -> f64 {
        self.prepared.training.n_links() as f64
    }

    fn all_rows(&self) -> Vec<Range<usize>> {
        self.views.iter().map(|view| view.rows.clone()).collect()
    }

    fn dropout(&self, step: u64) -> Option<Dropout> {
        self.dropout.map(|(input, hidden)| Dropout {
            input,
            hidden,
            seed: self.seed,
            step,
        })
    }

    /// The random start: mean squared length of an embedding `scale^2`, and
    /// `gamma = -log(mean over pairs of min(w, median positive weight))`, so
    /// that corrupted weights do not move it.
    pub fn start(&self, scale: f64) -> Vec<T> {
        let mut theta = Vec::with_capacity(self.n_params);
        for (stream, view) in self.views.iter().enumerate() {
            theta.extend(
                view.network
                    .start(&view.input, self.seed, stream as u64, scale),
            );
        }
        let mut weights = self.prepared.training.weights().to_vec();
        let middle = weights.len() / 2;
        let median = *weights.select_nth_unstable_by(middle, f64::total_cmp).1;
        let mut sums = ViewMatrix::filled(self.views.len(), 0.0);
        for link in self.prepared.training.links() {
            let (d, e) = (self.view_of(link.src), self.view_of(link.dst));
            sums.add(d, e, link.weight.min(median));
        }
        let seen = 1.0 - self.prepared.split.map_or(0.0, |split| split.held_share());
        for &(d, e, _) in &self.gammas {
            let pairs = (self.prepared.n_pairs(d, e) * seen).max(1.0);
            // Half a link where there is none, as for a pair of views that
            // the user named.
            let mean = sums.get(d, e).max(0.5 * median.min(1.0)) / pairs;
            theta.push(T::of(-math::ln(mean)));
        }
        theta
    }

    fn view_of(&self, row: u32) -> usize {
        self.prepared.view_of(row as usize)
    }

    /// `gamma` for each pair of views.
    pub fn gamma(&self, theta: &[T]) -> ViewMatrix {
        let mut gamma = ViewMatrix::filled(self.views.len(), 0.0);
        for &(d, e, place) in &self.gammas {
            gamma.set(d, e, theta[place].to_f64());
        }
        gamma
    }

    /// The objective over all training pairs; its gradient overwrites `gradient`.
    pub fn full(&self, theta: &[T], step: u64, gradient: Option<&mut [T]>) -> f64 {
        self.over_all_pairs(theta, step, gradient, false)
    }

    /// The same, and along the way the sum over the pairs held out to decide
    /// when to stop, if a training pass is one of inference too: a look at the
    /// same parameters costs nothing then.
    pub fn full_watched(&self, theta: &[T], gradient: &mut [T]) -> f64 {
        let watches = self.held_out_links.is_some()
            && self.nodes.len() <= EXACT_NODES
            && !self.is_random()
            && !self.views.iter().any(|view| view.network.spec().batch_norm);
        self.over_all_pairs(theta, 0, Some(gradient), watches)
    }

    fn over_all_pairs(
        &self,
        theta: &[T],
        step: u64,
        gradient: Option<&mut [T]>,
        watches: bool,
    ) -> f64 {
        let dropout = self.dropout(step);
        let mut passes: Vec<_> = self
            .views
            .iter()
            .map(|view| {
                let mut batch = view.input.all();
                if let Some(dropout) = dropout {
                    dropout.drop_inputs(&mut batch);
                }
                let mut pass = Pass::default();
                let params = &theta[view.params.clone()];
                view.network.forward(params, &batch, dropout, &mut pass);
                (batch, pass)
            })
            .collect();
        let mut joined = Vec::with_capacity(self.nodes.len() * self.dim);
        for (_, pass) in &passes {
            joined.extend_from_slice(pass.embeddings());
        }
        let gamma = self.gamma(theta);
        let rows = self.all_rows();
        let embedded = Embedded {
            y: &joined,
            dim: self.dim,
            views: &rows,
            gamma: &gamma,
        };
        let mut slopes = gradient.is_some().then(|| vec![T::ZERO; joined.len()]);
        let by = (&self.score, &self.kernel);
        let part = (Part::Training, watches);
        let sums = self.pair_sums(&embedded, part, by, slopes.as_deref_mut());
        if watches {
            let mut watched = Sums::zero(self.views.len());
            (watched.value, watched.pairs) = sums.watched;
            self.add_listed(&embedded, Part::HeldOut, &self.score, &mut watched, None);
            self.watched.keep(theta, watched);
        }
        let inverse = 1.0 / self.n_links();
        let value = (self.with_constant(&sums) + self.ridge_value(theta)) * inverse;
        if let (Some(gradient), Some(mut slopes)) = (gradient, slopes) {
            slopes.iter_mut().for_each(|slope| *slope *= T::of(inverse));
            for (view, (batch, pass)) in self.views.iter().zip(&mut passes) {
                let slopes = &mut slopes[view.rows.start * self.dim..view.rows.end * self.dim];
                let place = view.params.clone();
                let (params, gradient) = (&theta[place.clone()], &mut gradient[place]);
                let derivative = (slopes, self.ridge_slope());
                view.network
                    .backward(params, batch, pass, derivative, gradient);
            }
            for &(d, e, place) in &self.gammas {
                gradient[place] = T::of(sums.gamma.get(d, e) * inverse);
            }
        }
        value
    }

    /// Sums over the pairs of one part: all pairs, then the links' corrections.
    /// Held-out pairs may be watched beside.
    fn pair_sums(
        &self,
        embedded: &Embedded<'_, T>,
        (part, watched): (Part, bool),
        (score, kernel): (&Score, &Kernel<T>),
        mut slopes: Option<&mut [T]>,
    ) -> Sums {
        let rows = self.all_rows();
        let pairs = AllPairs {
            rows: &rows,
            scale: &self.unit,
            nodes: &self.nodes,
            split: self.prepared.split.map(|split| (split, part)),
            watched,
        };
        let mut sums =
            self.engine
                .all_pairs(embedded, &pairs, score, kernel, slopes.as_deref_mut());
        self.add_listed(embedded, part, score, &mut sums, slopes);
        sums
    }

    /// Adds to a sum over all pairs of a part what is known pair by pair: the
    /// links' corrections, and in training the pairs set aside, taken back out.
    fn add_listed(
        &self,
        embedded: &Embedded<'_, T>,
        part: Part,
        score: &Score,
        sums: &mut Sums,
        mut slopes: Option<&mut [T]>,
    ) {
        let (links, aside) = match part {
            Part::Training => (Some(&self.links), self.aside.as_ref()),
            Part::HeldOut => (self.held_out_links.as_ref(), None),
            Part::Judged => (self.judged_links.as_ref(), None),
        };
        if let Some(links) = links {
            let (charge, slopes) = (Charge::Correction, slopes.as_deref_mut());
            let corrections = listed_pairs(embedded, links, charge, &self.unit, score, slopes);
            sums.add_corrections(&corrections);
        }
        if let Some((aside, minus)) = aside {
            let charge = Charge::Unlinked;
            sums.add(&listed_pairs(embedded, aside, charge, minus, score, slopes));
        }
    }

    /// The part of the objective that no parameter changes.
    pub fn constant(&self) -> f64 {
        match self.score.constant() {
            0.0 => 0.0,
            constant => constant * self.prepared.n_training_pairs() / self.n_links(),
        }
    }

    fn with_constant(&self, sums: &Sums) -> f64 {
        sums.value + self.score.constant() * sums.pairs
    }

    /// The places of the weights that the ridge holds down.
    fn ridged(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.views.iter().flat_map(|view| {
            view.network.layers().iter().map(|layer| {
                view.params.start + layer.weights.start..view.params.start + layer.weights.end
            })
        })
    }

    fn ridge_value(&self, theta: &[T]) -> f64 {
        if self.ridge == 0.0 {
            return 0.0;
        }
        let squares = self
            .ridged()
            .map(|range| dot_f64(&theta[range.clone()], &theta[range]));
        self.ridge * squares.sum::<f64>()
    }

    /// The derivative of the ridge in a weight, for each unit of that weight.
    fn ridge_slope(&self) -> T {
        T::of(2.0 * self.ridge / self.n_links())
    }

    /// What inference needs beside the parameters.
    pub fn statistics(&self, theta: &[T]) -> Vec<Statistics> {
        self.views
            .iter()
            .map(|view| {
                view.network
                    .statistics(&theta[view.params.clone()], &view.input)
            })
            .collect()
    }

    /// The embeddings of all nodes as inference gives them, in internal order.
    pub fn embed(&self, theta: &[T], statistics: &[Statistics]) -> Vec<T> {
        let mut all = Vec::new();
        for (view, statistics) in self.views.iter().zip(statistics) {
            all.extend(
                view.network
                    .embed(&theta[view.params.clone()], &view.input, statistics),
            );
        }
        all
    }
}

/// The shape of a view's encoder.
fn view_spec(view: &PreparedView, encoder: &Encoder, outputs: usize) -> NetworkSpec {
    let columns = view.matrix.as_ref().map(crate::features::Matrix::n_columns);
    let inputs = columns.filter(|_| *encoder != Encoder::Table);
    NetworkSpec::of(encoder, inputs.unwrap_or(view.rows.len()), outputs)
}

//! The objective over all training pairs: encoder, pairs, and back.

use std::ops::Range;

use crate::data::graph::{Adjacency, Graph};
use crate::engine::encoder::{Batch, Input, Pass};
use crate::engine::objective::{Problem, ViewEncoder};
use crate::engine::pairs::{
    AllPairs, EmbeddedRows, PairPass, PairTerm, Part, Sums, Tiled, ViewMatrix, listed_pairs,
};
use crate::engine::{EXACT_NODES, ObjectiveValue, PartSum};
use crate::error::Result;
use crate::score::{Kernel, Score};
use linkproof_numeric::real::Real;

/// Values and gradients of a problem at given parameters.
#[derive(Debug)]
pub struct Evaluator<'p, T: Real> {
    pub(super) problem: &'p Problem<'p>,
    pub(super) inputs: Vec<Input<'p, T>>,
    /// The score that solvers follow.
    pub(super) score: Score,
    pub(super) kernel: Kernel<T>,
    pub(super) tiles: Box<dyn PairPass<T> + 'p>,
    pub(super) links: Adjacency,
    held_out_links: Option<Adjacency>,
    judged_links: Option<Adjacency>,
    pub(super) aside: Option<Adjacency>,
    /// Pairs that cannot be linked among those held out and judged.
    impossible: [Option<Adjacency>; 2],
    rows: Vec<Range<usize>>,
    nodes: Vec<u32>,
    unit: ViewMatrix,
    /// The factor that takes pairs set aside back out of a sum over all pairs.
    minus: ViewMatrix,
}

impl<'p, T: Real> Evaluator<'p, T> {
    /// Sets the arithmetic of a problem up.
    pub fn new(problem: &'p Problem<'p>) -> Evaluator<'p, T> {
        Evaluator::with(problem, Box::new(Tiled::default()))
    }

    /// The same, with sums over all pairs left to another.
    pub(super) fn with(
        problem: &'p Problem<'p>,
        tiles: Box<dyn PairPass<T> + 'p>,
    ) -> Evaluator<'p, T> {
        let data = problem.data;
        let score = problem.score.clone().capped::<T>();
        Evaluator {
            inputs: problem.inputs(),
            kernel: Kernel::new(&score),
            score,
            tiles,
            links: data.training.adjacency(),
            held_out_links: data.held_out.as_ref().map(Graph::adjacency),
            judged_links: data.judged.as_ref().map(Graph::adjacency),
            aside: data.aside.as_ref().map(Graph::adjacency),
            impossible: data
                .impossible
                .each_ref()
                .map(|pairs| pairs.as_ref().map(Graph::adjacency)),
            rows: data.views.iter().map(|view| view.rows.clone()).collect(),
            nodes: (0..problem.n_nodes() as u32).collect(),
            unit: problem.parameters.view_matrix(1.0),
            minus: problem.parameters.view_matrix(-1.0),
            problem,
        }
    }

    pub(super) fn encoders(&self) -> impl Iterator<Item = (&'p ViewEncoder, &Input<'p, T>)> {
        self.problem.encoders().iter().zip(&self.inputs)
    }

    /// Rows of all nodes, embedded, and mirrored.
    pub(super) fn all_rows<'e>(
        &'e self,
        (y, mirror): (&'e [T], &'e [T]),
        offsets: &'e [T],
        gamma: &'e ViewMatrix,
    ) -> EmbeddedRows<'e, T> {
        EmbeddedRows {
            y,
            mirror,
            offsets,
            dim: self.problem.dim,
            views: &self.rows,
            gamma,
        }
    }

    /// Whether a training pass may sum up held-out pairs beside: it is one of
    /// inference too.
    pub(super) fn can_watch(&self) -> bool {
        self.held_out_links.is_some()
            && self.nodes.len() <= EXACT_NODES
            && self.problem.trains_as_it_infers()
    }

    /// The objective over the training pairs; its gradient overwrites `gradient`. Held-out pairs may be watched along the way.
    pub(super) fn objective(
        &self,
        theta: &[T],
        step: u64,
        watches: bool,
        gradient: Option<&mut [T]>,
    ) -> Result<ObjectiveValue> {
        let problem = self.problem;
        let dim = problem.dim;
        let mut passes = self.forward(theta, step);
        let mut joined = Vec::with_capacity(self.nodes.len() * dim);
        let mut offsets = Vec::new();
        for (view, (batch, pass, of_offsets)) in problem.encoders().iter().zip(&mut passes) {
            joined.extend_from_slice(pass.embeddings());
            if let Some(of_view) = &view.offsets {
                of_view.forward(theta, batch, of_offsets, &mut offsets);
            }
        }
        let (gamma, mirror) = (problem.parameters.gamma(theta), problem.mirrored(&joined));
        let embedded = self.all_rows((&joined, &mirror), &offsets, &gamma);
        let mut slopes = gradient
            .is_some()
            .then(|| vec![T::ZERO; embedded.n_slopes()]);
        let by = (&self.score, &self.kernel);
        let which = (Part::Training, watches);
        let sums = self.pair_sums(&embedded, which, by, slopes.as_deref_mut())?;
        let held_out = watches.then(|| {
            let mut watched = Sums::zero(self.rows.len());
            (watched.value, watched.pairs) = sums.watched;
            self.add_listed(&embedded, Part::HeldOut, &self.score, &mut watched, None);
            PartSum::of(&watched)
        });
        let inverse = 1.0 / problem.n_links();
        let ridge = match problem.ridge {
            0.0 => 0.0,
            ridge => ridge * problem.parameters.squared_weights(theta),
        };
        let value = (self.with_constant(&sums) + ridge) * inverse;
        if let (Some(gradient), Some(mut slopes)) = (gradient, slopes) {
            slopes.iter_mut().for_each(|slope| *slope *= T::of(inverse));
            let ridge = self.ridge_slope();
            let (slopes, offsets) = slopes.split_at_mut(joined.len());
            for (view, (batch, pass, of_offsets)) in problem.encoders().iter().zip(&mut passes) {
                let slopes = &mut slopes[view.rows.start * dim..view.rows.end * dim];
                let place = view.params.clone();
                let (params, out) = (&theta[place.clone()], &mut gradient[place]);
                view.network
                    .backward(params, batch, pass, (slopes, T::of(ridge)), out);
                let Some(of_view) = &view.offsets else {
                    continue;
                };
                let slopes = &mut offsets[view.rows.clone()];
                let ridge = T::of(of_view.in_units(slopes, ridge));
                let own = gradient[of_view.own.clone()].iter_mut().zip(&*slopes);
                for ((out, slope), e) in own.zip(&theta[of_view.own.clone()]) {
                    *out = *slope + *e * ridge;
                }
                if let Some((network, place)) = &of_view.map {
                    let (params, out) = (&theta[place.clone()], &mut gradient[place.clone()]);
                    network.backward(params, batch, of_offsets, (slopes, ridge), out);
                }
            }
            for &(d, e, place) in &problem.parameters.gammas {
                gradient[place] = T::of(sums.gamma.get(d, e) * inverse);
            }
        }
        Ok(ObjectiveValue { value, held_out })
    }

    /// Encodes all nodes for training; the second pass is for offsets.
    fn forward(&self, theta: &[T], step: u64) -> Vec<(Batch<'_, T>, Pass<T>, Pass<T>)> {
        let dropout = self.problem.dropout(step);
        self.encoders()
            .map(|(view, input)| {
                let mut batch = input.all();
                if let Some(dropout) = dropout {
                    dropout.drop_inputs(&mut batch);
                }
                let mut pass = Pass::default();
                let params = &theta[view.params.clone()];
                view.network.forward(params, &batch, dropout, &mut pass);
                (batch, pass, Pass::default())
            })
            .collect()
    }

    /// Sums over the pairs of one part: all pairs, then the links'
    /// corrections. Held-out pairs may be watched beside.
    pub(super) fn pair_sums(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        (part, watched): (Part, bool),
        (score, kernel): (&Score, &Kernel<T>),
        mut slopes: Option<&mut [T]>,
    ) -> Result<Sums> {
        let pairs = AllPairs {
            rows: &self.rows,
            scale: &self.unit,
            nodes: &self.nodes,
            split: self.problem.data.split.map(|split| (split, part)),
            watched,
        };
        let mut sums = self
            .tiles
            .all_pairs(embedded, &pairs, kernel, slopes.as_deref_mut())?;
        self.add_listed(embedded, part, score, &mut sums, slopes);
        Ok(sums)
    }

    /// Adds to a sum over all pairs of a part what is known pair by pair: the
    /// links' corrections, and pairs set aside or impossible, taken back out.
    pub(super) fn add_listed(
        &self,
        embedded: &EmbeddedRows<'_, T>,
        part: Part,
        score: &Score,
        sums: &mut Sums,
        mut slopes: Option<&mut [T]>,
    ) {
        let (links, aside) = match part {
            Part::Training => (Some(&self.links), self.aside.as_ref()),
            Part::HeldOut => (self.held_out_links.as_ref(), self.impossible[0].as_ref()),
            Part::Judged => (self.judged_links.as_ref(), self.impossible[1].as_ref()),
        };
        if let Some(links) = links {
            let (term, slopes) = (PairTerm::Correction, slopes.as_deref_mut());
            let corrections = listed_pairs(embedded, links, term, &self.unit, score, slopes);
            sums.add_corrections(&corrections);
        }
        if let Some(aside) = aside {
            let term = PairTerm::Unlinked;
            let back = listed_pairs(embedded, aside, term, &self.minus, score, slopes);
            sums.add(&back);
        }
    }

    pub(super) fn with_constant(&self, sums: &Sums) -> f64 {
        sums.value + self.score.constant() * sums.pairs
    }

    /// The derivative of the ridge in a weight, for each unit of that weight.
    pub(super) fn ridge_slope(&self) -> f64 {
        2.0 * self.problem.ridge / self.problem.n_links()
    }
}

impl PartSum {
    pub(super) fn of(sums: &Sums) -> PartSum {
        PartSum {
            value: sums.value,
            pairs: sums.pairs,
        }
    }
}

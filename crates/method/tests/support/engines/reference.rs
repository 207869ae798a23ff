//! The engine in plain loops and double precision: what others are checked
//! against. It shares the encoders with the library's, which have checks of their
//! own, and nothing of its sums, samples, sweeps and steps.

use std::marker::PhantomData;

use linkproof::{Error, Result};
use linkproof_method::data::graph::{Graph, Link};
use linkproof_method::engine::encoder::{Batch, Input, Pass, Statistics};
use linkproof_method::engine::objective::Problem;
use linkproof_method::engine::pairs::{Part, ViewMatrix};
use linkproof_method::engine::{
    Backend, Engine, Look, ObjectiveValue, PartSum, Plan, StepOutcome, StepSampler, Sweeper,
};
use linkproof_method::params::SolverKind;
use linkproof_method::score::Score;
use linkproof_numeric::real::Real;

use super::steps::{Descent, Move, Moves};

/// Plain loops, one pair after another.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reference;

impl Backend for Reference {
    fn single<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f32> + 'p>> {
        Ok(Box::new(ReferenceEngine::<f32>::new(problem)))
    }

    fn double<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f64> + 'p>> {
        Ok(Box::new(ReferenceEngine::<f64>::new(problem)))
    }
}

pub struct ReferenceEngine<'p, T> {
    pub problem: &'p Problem<'p>,
    inputs: Vec<Input<'p, f64>>,
    pub score: Score,
    pub theta: Vec<f64>,
    descent: Option<Descent>,
    precision: PhantomData<T>,
}

/// A pair of rows, of nodes `i < j`, in a sum.
#[derive(Clone, Copy)]
pub struct Pair {
    pub rows: [usize; 2],
    /// Of a link, whose correction it is; unset: what every pair adds.
    pub weight: Option<f64>,
    /// The factor of its value.
    pub factor: f64,
    /// The factors of its slope in the vectors of both ends.
    pub moves: [f64; 2],
}

impl Pair {
    pub fn link(link: Link, factor: f64) -> Pair {
        Pair {
            weight: Some(link.weight),
            ..Pair::unlinked(link, factor)
        }
    }

    pub fn unlinked(link: Link, factor: f64) -> Pair {
        Pair {
            rows: [link.src as usize, link.dst as usize],
            weight: None,
            factor,
            moves: [factor; 2],
        }
    }
}

/// Embedded rows and the nodes that they are of.
pub struct Rows {
    pub y: Vec<f64>,
    /// Their offsets; empty without.
    pub offsets: Vec<f64>,
    pub nodes: Vec<usize>,
}

/// The batch and the pass of each view, and the pass of its offsets.
type Passes<'b> = Vec<(Batch<'b, f64>, Pass<f64>, Pass<f64>)>;

/// What a sum over pairs gives.
pub struct Sum {
    pub value: f64,
    pub pairs: f64,
    pub gamma: ViewMatrix,
    pub slopes: Vec<f64>,
    /// The derivative in each row's offset, with offsets or without.
    pub offsets: Vec<f64>,
}

impl<'p, T: Real> ReferenceEngine<'p, T> {
    fn new(problem: &'p Problem<'p>) -> Self {
        ReferenceEngine {
            problem,
            inputs: problem.inputs(),
            score: problem.score.clone().capped::<T>(),
            theta: vec![0.0; problem.n_params()],
            descent: None,
            precision: PhantomData,
        }
    }

    pub fn view_of(&self, node: usize) -> usize {
        self.problem.data.view_of(node)
    }

    /// The pairs of a part between rows of some nodes, ascending.
    pub fn all_pairs<'s>(
        &'s self,
        rows: &'s [(usize, usize)],
        part: Part,
        scale: &'s ViewMatrix,
    ) -> impl Iterator<Item = Pair> + 's {
        let split = self.problem.data.split;
        let pairs = rows.iter().enumerate().flat_map(move |(place, first)| {
            let others = rows[place + 1..].iter();
            others.map(move |second| (first, second))
        });
        pairs.filter_map(move |(&(a, i), &(b, j))| {
            let factor = scale.get(self.view_of(i), self.view_of(j));
            let here = split.map_or(Part::Training, |split| split.part_of(i as u32, j as u32));
            (factor != 0.0 && here == part).then_some(Pair {
                rows: [a, b],
                weight: None,
                factor,
                moves: [factor; 2],
            })
        })
    }

    /// The listed pairs of a part: its links, and those set aside or impossible, taken
    /// back out.
    pub fn listed(&self, part: Part) -> impl Iterator<Item = Pair> {
        let data = self.problem.data;
        let (links, aside) = match part {
            Part::Training => (Some(&data.training), data.aside.as_ref()),
            Part::HeldOut => (data.held_out.as_ref(), data.impossible[0].as_ref()),
            Part::Judged => (data.judged.as_ref(), data.impossible[1].as_ref()),
        };
        let links = links.into_iter().flat_map(Graph::links);
        let aside = aside.into_iter().flat_map(Graph::links);
        let links = links.map(|link| Pair::link(link, 1.0));
        links.chain(aside.map(|link| Pair::unlinked(link, -1.0)))
    }

    pub fn sum(
        &self,
        rows: &Rows,
        gamma: &ViewMatrix,
        score: &Score,
        pairs: impl Iterator<Item = Pair>,
    ) -> Sum {
        let dim = self.problem.dim;
        let mut sum = Sum {
            value: 0.0,
            pairs: 0.0,
            gamma: ViewMatrix::filled(self.inputs.len(), 0.0),
            slopes: vec![0.0; rows.y.len()],
            offsets: vec![0.0; rows.nodes.len()],
        };
        for pair in pairs {
            let [i, j] = pair.rows;
            let [d, e] = pair.rows.map(|row| self.view_of(rows.nodes[row]));
            let sign = |k: usize| {
                if k + self.problem.negative < dim {
                    1.0
                } else {
                    -1.0
                }
            };
            let product: f64 = (0..dim)
                .map(|k| sign(k) * rows.y[i * dim + k] * rows.y[j * dim + k])
                .sum();
            let offsets = [i, j].map(|row| rows.offsets.get(row).copied().unwrap_or(0.0));
            let s = product + offsets[0] + offsets[1] - gamma.get(d, e);
            let term = match pair.weight {
                Some(weight) => score.correction(s, weight),
                None => {
                    sum.pairs += pair.factor;
                    score.unlinked(s)
                }
            };
            sum.value += pair.factor * term.value;
            sum.gamma.add(d, e, -pair.factor * term.slope);
            let moves = pair.moves.map(|factor| factor * term.slope);
            for k in 0..dim {
                sum.slopes[i * dim + k] += moves[0] * sign(k) * rows.y[j * dim + k];
                sum.slopes[j * dim + k] += moves[1] * sign(k) * rows.y[i * dim + k];
            }
            sum.offsets[i] += moves[0];
            sum.offsets[j] += moves[1];
        }
        sum
    }

    /// Encodes some rows of each view, or all, for training.
    pub fn encode(&self, some: Option<&[Vec<u32>]>, step: u64) -> (Rows, Passes<'_>) {
        let dropout = self.problem.dropout(step);
        let (mut y, mut nodes, mut passes) = (Vec::new(), Vec::new(), Vec::new());
        let mut offsets = Vec::new();
        for (place, (view, input)) in self.problem.encoders().iter().zip(&self.inputs).enumerate() {
            let mut batch = match some {
                Some(rows) => input.select(&rows[place]),
                None => input.all(),
            };
            if let Some(dropout) = dropout {
                dropout.drop_inputs(&mut batch);
            }
            let mut pass = Pass::default();
            let params = &self.theta[view.params.clone()];
            view.network.forward(params, &batch, dropout, &mut pass);
            y.extend_from_slice(pass.embeddings());
            nodes.extend((0..batch.n_rows()).map(|row| view.rows.start + batch.node(row)));
            let mut of_offsets = Pass::default();
            if let Some(of_view) = &view.offsets {
                let own = |row: usize| self.theta[of_view.own.start + batch.node(row)];
                let mut told = vec![0.0; batch.n_rows()];
                if let Some((network, place)) = &of_view.map {
                    network.forward(&self.theta[place.clone()], &batch, None, &mut of_offsets);
                    told.copy_from_slice(of_offsets.embeddings());
                }
                let sums = told.iter().enumerate();
                offsets.extend(sums.map(|(row, told)| of_view.unit * (told + own(row))));
            }
            passes.push((batch, pass, of_offsets));
        }
        (Rows { y, offsets, nodes }, passes)
    }

    /// Encodes all nodes as inference does.
    fn infer(&self) -> Rows {
        let views = self.problem.encoders().iter().zip(&self.inputs);
        let embedded = views.map(|(view, input)| {
            let params = &self.theta[view.params.clone()];
            let statistics = view.network.statistics(params, input);
            view.network.embed(params, input, &statistics)
        });
        let views = self.problem.encoders().iter().zip(&self.inputs);
        let offsets = views.filter_map(|(view, input)| {
            let of_view = view.offsets.as_ref()?;
            let own = self.theta[of_view.own.clone()].to_vec();
            let told = of_view.map.as_ref().map_or_else(
                || vec![0.0; own.len()],
                |(network, place)| {
                    let weights = &self.theta[place.clone()];
                    network.embed(weights, input, &Statistics::default())
                },
            );
            let both = own.into_iter().zip(told);
            Some(
                both.map(|(own, told)| of_view.unit * (own + told))
                    .collect::<Vec<f64>>(),
            )
        });
        Rows {
            y: embedded.flatten().collect(),
            offsets: offsets.flatten().collect(),
            nodes: (0..self.problem.n_nodes()).collect(),
        }
    }

    /// The objective over the training pairs, and its gradient.
    fn whole(&self, step: u64) -> Moves {
        let (problem, layout) = (self.problem, &self.problem.parameters);
        let (rows, mut passes) = self.encode(None, step);
        let unit = layout.view_matrix(1.0);
        let all: Vec<_> = rows.nodes.iter().copied().enumerate().collect();
        let pairs = self.all_pairs(&all, Part::Training, &unit);
        let pairs = pairs.chain(self.listed(Part::Training));
        let gamma = layout.gamma(&self.theta);
        let mut sum = self.sum(&rows, &gamma, &self.score, pairs);
        let ridge = problem.ridge;
        let n_links = problem.n_links();
        let all = sum.slopes.iter_mut().chain(&mut sum.offsets);
        all.for_each(|slope| *slope /= n_links);
        let mut gradient = vec![0.0; layout.n_params];
        for (view, (batch, pass, of_offsets)) in problem.encoders().iter().zip(&mut passes) {
            let dim = problem.dim;
            let slopes = &mut sum.slopes[view.rows.start * dim..view.rows.end * dim];
            let (params, out) = (&self.theta[view.params.clone()], view.params.clone());
            let derivative = (slopes, 2.0 * ridge / n_links);
            view.network
                .backward(params, batch, pass, derivative, &mut gradient[out]);
            if let Some(of_view) = &view.offsets {
                let slopes = &sum.offsets[view.rows.clone()];
                let mut slopes: Vec<f64> = slopes.iter().map(|x| x * of_view.unit).collect();
                let ridge = 2.0 * ridge / n_links * of_view.unit.powi(2);
                for (place, slope) in of_view.own.clone().zip(&slopes) {
                    gradient[place] = slope + ridge * self.theta[place];
                }
                if let Some((network, place)) = &of_view.map {
                    let params = &self.theta[place.clone()];
                    let out = &mut gradient[place.clone()];
                    network.backward(params, batch, of_offsets, (&mut slopes, ridge), out);
                }
            }
        }
        for &(d, e, place) in &layout.gammas {
            gradient[place] = sum.gamma.get(d, e) / n_links;
        }
        let ridge = ridge * layout.squared_weights(&self.theta);
        let value = sum.value + self.score.constant() * sum.pairs + ridge;
        Moves {
            value: value / n_links,
            moved: vec![Move::Always; gradient.len()],
            gradient,
        }
    }
}

impl<T: Real> Engine<T> for ReferenceEngine<'_, T> {
    fn problem(&self) -> &Problem<'_> {
        self.problem
    }

    fn load(&mut self, theta: &[T]) -> Result<()> {
        self.theta = theta.iter().map(|x| x.to_f64()).collect();
        self.descent = None;
        Ok(())
    }

    fn parameters(&mut self) -> Result<Vec<T>> {
        Ok(self.theta.iter().map(|&x| T::of(x)).collect())
    }

    fn objective(&mut self, gradient: Option<&mut [T]>) -> Result<ObjectiveValue> {
        let found = self.whole(0);
        if let Some(gradient) = gradient {
            for (out, &slope) in gradient.iter_mut().zip(&found.gradient) {
                *out = T::of(slope);
            }
        }
        Ok(ObjectiveValue {
            value: found.value,
            held_out: None,
        })
    }

    fn sums(&mut self, part: Part, by: Option<&Score>, look: Look) -> Result<PartSum> {
        let layout = &self.problem.parameters;
        let rows = self.infer();
        let gamma = layout.gamma(&self.theta).map(|gamma| gamma - look.k.ln());
        let blocks: Vec<(Vec<_>, ViewMatrix)> = match look.estimates(self.problem.n_nodes()) {
            false => {
                let all = rows.nodes.iter().map(|&node| (node, node));
                vec![(all.collect(), layout.view_matrix(1.0))]
            }
            true => Look::blocks(self.problem)
                .map(|drawn| {
                    let views = self.problem.encoders().iter().zip(&drawn.rows);
                    let nodes = views.flat_map(|(view, rows)| {
                        let node = |&row: &u32| view.rows.start + row as usize;
                        rows.iter().map(node).map(|node| (node, node))
                    });
                    (nodes.collect(), drawn.scale.clone())
                })
                .collect(),
        };
        let pairs = blocks.iter();
        let pairs = pairs.flat_map(|(rows, scale)| self.all_pairs(rows, part, scale));
        let pairs = pairs.chain(self.listed(part));
        let score = by.unwrap_or(&self.score);
        let sum = self.sum(&rows, &gamma, score, pairs);
        Ok(PartSum {
            value: sum.value,
            pairs: sum.pairs,
        })
    }

    fn begin(&mut self, plan: &Plan) -> Result<()> {
        self.descent = Some(Descent::new(plan, &self.theta));
        Ok(())
    }

    fn step(&mut self, step: u64) -> Result<StepOutcome> {
        let Some(mut descent) = self.descent.take() else {
            return Err(Error::data("engine", "a step", "to begin with a plan"));
        };
        let plan = &descent.plan;
        let moves = match (plan.solver, plan.turns) {
            (SolverKind::Exact, _) => self.whole(step),
            (_, None) => self.sampled(StepSampler::new(self.problem, plan).draw(step), step),
            (_, Some(parts)) => self.swept(Sweeper::new(self.problem, parts, plan.seed).draw(step)),
        };
        let gradient_norm = descent.step(&mut self.theta, &moves);
        self.descent = Some(descent);
        Ok(StepOutcome {
            value: moves.value,
            gradient_norm,
        })
    }
}

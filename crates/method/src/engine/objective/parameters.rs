//! Where each parameter stands in the flat vector of all of them.

use std::ops::Range;

use super::{Prepared, ViewOffsets};
use crate::data::dataset::DataView;
use crate::data::features::Matrix;
use crate::engine::encoder::{Network, NetworkSpec};
use crate::engine::pairs::ViewMatrix;
use crate::error::Result;
use crate::params::{CheckedParams, Encoder, OptimizerKind, SolverKind};
use linkproof_numeric::real::{Real, dot_f64};

/// Up to this number of nodes all pairs are visited at every step.
const EXACT_SOLVER_NODES: usize = 20_000;

/// The solver and the optimizer of a fit, as they were asked for or else as they suit
/// its encoders.
pub(crate) fn method<'n>(
    params: &CheckedParams,
    n_nodes: usize,
    networks: impl IntoIterator<Item = &'n Network>,
) -> (SolverKind, OptimizerKind) {
    // Who sets lambda, which the exact solver has no use for, wants samples.
    let exact = n_nodes <= EXACT_SOLVER_NODES
        && params.optimizer != Some(OptimizerKind::Sgd)
        && params.sampling.lambda.is_none();
    let solver = params.solver.unwrap_or(match exact {
        true => SolverKind::Exact,
        false => SolverKind::Sgd,
    });
    let smooth = |network: &Network| {
        let dropout = network.spec().encoder.mlp.dropout;
        network.is_linear() && dropout == 0.0
    };
    let smooth = solver == SolverKind::Exact
        && params.input_dropout == 0.0
        && params.descent.radius.is_none()
        && networks.into_iter().all(smooth);
    let optimizer = params.optimizer.unwrap_or(match smooth {
        true => OptimizerKind::Lbfgs,
        false => OptimizerKind::Adam,
    });
    (solver, optimizer)
}

/// How far Adam moves a table's vectors with a step; offsets, which are tables too,
/// move as far.
pub const TABLE_RATE: f64 = 0.02;

/// One view's encoder inside the vector of parameters.
#[derive(Debug, Clone)]
pub struct ViewEncoder {
    /// The encoder.
    pub network: Network,
    /// The places of its parameters.
    pub params: Range<usize>,
    /// The nodes of the view, as internal rows.
    pub rows: Range<usize>,
    /// Where the nodes' offsets come from, where they have any.
    pub offsets: Option<ViewOffsets>,
}

/// Where the parameters of a fit stand.
#[derive(Debug, Clone)]
pub struct ParameterLayout {
    /// The encoder of each view.
    pub encoders: Vec<ViewEncoder>,
    /// The pairs of views that take part, and the places of their gammas.
    pub gammas: Vec<(usize, usize, usize)>,
    /// The number of parameters.
    pub n_params: usize,
}

impl ParameterLayout {
    /// Lays out the parameters of a fit to prepared data.
    pub fn new(data: &Prepared, params: &CheckedParams) -> Result<ParameterLayout> {
        let networks = data.views.iter().map(|view| {
            let encoder = params.encoder(&view.name, view.matrix.is_some())?;
            Ok(Network::new(view_spec(view, encoder, params.dim)))
        });
        let networks: Vec<Network> = networks.collect::<Result<_>>()?;
        let n_nodes = data.training.n_nodes();
        let by_gradients = method(params, n_nodes, &networks).1 != OptimizerKind::Lbfgs;
        let mut encoders = Vec::with_capacity(data.views.len());
        let mut next = 0;
        for (view, network) in data.views.iter().zip(networks) {
            let mut take = |count: usize| {
                next += count;
                next - count..next
            };
            let places = take(network.n_params());
            let offsets = params.offsets.then(|| {
                let map = (!network.is_table()).then(|| {
                    let map = ViewOffsets::map_of(network.spec().inputs);
                    let places = take(map.n_params());
                    (map, places)
                });
                ViewOffsets {
                    map,
                    own: take(view.rows.len()),
                    unit: match by_gradients && !network.is_table() {
                        true => TABLE_RATE / network.rate(),
                        false => 1.0,
                    },
                }
            });
            encoders.push(ViewEncoder {
                network,
                params: places,
                rows: view.rows.clone(),
                offsets,
            });
        }
        let gammas = data.view_pairs.iter().zip(next..);
        let gammas: Vec<_> = gammas.map(|(&(d, e), place)| (d, e, place)).collect();
        Ok(ParameterLayout {
            n_params: next + gammas.len(),
            encoders,
            gammas,
        })
    }

    /// `gamma` for each pair of views.
    pub fn gamma<T: Real>(&self, theta: &[T]) -> ViewMatrix {
        self.gamma_at(|place| theta[place].to_f64())
    }

    /// The same of parameters by their places.
    pub fn gamma_at(&self, theta: impl Fn(usize) -> f64) -> ViewMatrix {
        let mut gamma = ViewMatrix::filled(self.encoders.len(), 0.0);
        for &(d, e, place) in &self.gammas {
            gamma.set(d, e, theta(place));
        }
        gamma
    }

    /// A matrix with one entry for each pair of views that takes part, else 0.
    pub fn view_matrix(&self, entry: f64) -> ViewMatrix {
        let mut matrix = ViewMatrix::filled(self.encoders.len(), 0.0);
        for &(d, e, _) in &self.gammas {
            matrix.set(d, e, entry);
        }
        matrix
    }

    /// The sum of the squares of the weights that the ridge holds down.
    pub fn squared_weights<T: Real>(&self, theta: &[T]) -> f64 {
        let of_view = |view: &ViewEncoder| {
            let theta = &theta[view.params.clone()];
            let layers = view.network.layers().iter();
            let squares = layers.map(|layer| {
                let weights = &theta[layer.weights.clone()];
                dot_f64(weights, weights)
            });
            squares.collect::<Vec<f64>>()
        };
        let squares: f64 = self.encoders.iter().flat_map(of_view).sum();
        squares + self.squared_offsets(theta)
    }

    fn squared_offsets<T: Real>(&self, theta: &[T]) -> f64 {
        let all = self
            .encoders
            .iter()
            .filter_map(|view| view.offsets.as_ref());
        let of_view = |offsets: &ViewOffsets| {
            let map = offsets.map.iter().map(|(_, place)| place.clone());
            let squares = map.chain([offsets.own.clone()]).map(|place| {
                let numbers = &theta[place];
                dot_f64(numbers, numbers)
            });
            offsets.unit * offsets.unit * squares.sum::<f64>()
        };
        all.map(of_view).sum()
    }

    /// Whether nodes have offsets.
    pub fn has_offsets(&self) -> bool {
        self.encoders.iter().any(|view| view.offsets.is_some())
    }

    /// Whether every node has a vector of its own.
    pub fn is_all_tables(&self) -> bool {
        self.encoders.iter().all(|view| view.network.is_table())
    }
}

/// The shape of a view's encoder.
fn view_spec(view: &DataView, encoder: Encoder, outputs: usize) -> NetworkSpec {
    let columns = view.matrix.as_ref().map(Matrix::n_columns);
    let inputs = columns.filter(|_| encoder.kind.reads_vectors());
    NetworkSpec {
        inputs: inputs.unwrap_or(view.rows.len()),
        outputs,
        encoder,
    }
}

//! Where each parameter stands in the flat vector of all of them.

use std::ops::Range;

use super::Prepared;
use crate::data::dataset::DataView;
use crate::data::features::Matrix;
use crate::engine::encoder::{Network, NetworkSpec};
use crate::engine::pairs::ViewMatrix;
use crate::error::Result;
use crate::params::{CheckedParams, Encoder};
use linkproof_numeric::real::{Real, dot_f64};

/// One view's encoder inside the vector of parameters.
#[derive(Debug, Clone)]
pub struct ViewEncoder {
    /// The encoder.
    pub network: Network,
    /// The places of its parameters.
    pub params: Range<usize>,
    /// The nodes of the view, as internal rows.
    pub rows: Range<usize>,
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
        let mut encoders = Vec::with_capacity(data.views.len());
        let mut next = 0;
        for view in &data.views {
            let encoder = params.encoder(&view.name, view.matrix.is_some())?;
            let network = Network::new(view_spec(view, encoder, params.dim));
            let start = next;
            next += network.n_params();
            encoders.push(ViewEncoder {
                network,
                params: start..next,
                rows: view.rows.clone(),
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
        let mut gamma = ViewMatrix::filled(self.encoders.len(), 0.0);
        for &(d, e, place) in &self.gammas {
            gamma.set(d, e, theta[place].to_f64());
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
        self.encoders.iter().flat_map(of_view).sum()
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

//! The memory that fits hold, foretold.

use super::{EXACT_NODES, Plan};
use crate::engine::objective::Problem;
use crate::engine::pairs::copies_of_gradient;
use crate::params::{OptimizerKind, Precision, SolverKind};

/// Pairs of past steps and gradient changes that L-BFGS keeps.
pub const LBFGS_MEMORY: usize = 10;
/// Bytes for each link.
const LINK: f64 = 160.0;
/// Bytes for each link that no file has, as walks add them: it is not read, and graphs
/// share it.
const MADE_LINK: f64 = 120.0;

/// The bytes of memory that fits hold, about. With `P` the bytes of the parameters,
/// `Y` those of the embeddings, `V` those of the data vectors and `H` those of what
/// hidden layers give for all nodes, measured fits of 4 to 50,000 nodes held, beside
/// 18.5 MB of program (docs/decisions/endurance.md has the table):
///
/// - 160 bytes a link and 40 a node;
/// - `2.8 V` while they are read, or `2 V` and the fit's own, whichever is more;
///   stochastic steps, which gather rows, `3.3 V`;
/// - L-BFGS: `(2 m + 12) P` for its `m` past steps, the point it stands on, the
///   three between which it looks, with their gradients, and the best; others: `5 P`
///   for parameters, gradient, two
///   averages and the best;
/// - all pairs: `4 Y` (embeddings, packed, joined, and their gradient), and the
///   sums of a gradient on their way, one for each level of their tree and one more;
///   stochastic: `Y` to report by, and `2 Y` packed for the held-out score
///   while it is exact;
/// - `H`, where the encoder has hidden layers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// What fits at the same time share.
    shared: f64,
    /// What each has for itself: encoders, and what it has for each node.
    encoders: f64,
    of_nodes: f64,
    /// What each of several prepares for itself, which one alone has shared.
    prepared: f64,
}

impl Forecast {
    /// What the program itself holds.
    pub const PROGRAM: u64 = 18_500_000;

    /// Foretells what a fit holds that runs as planned.
    pub fn new(problem: &Problem<'_>, plan: &Plan) -> Forecast {
        const READ: f64 = 2.8;
        let size = match problem.params.precision {
            Precision::F32 => 4.0,
            Precision::F64 => 8.0,
        };
        let (data, n) = (problem.data, problem.n_nodes() as f64);
        let params = problem.n_params() as f64 * size;
        let embeddings = n * problem.dim as f64 * size;
        let copies_of_params = match plan.optimizer {
            OptimizerKind::Lbfgs => 2 * LBFGS_MEMORY + 12,
            OptimizerKind::Adam | OptimizerKind::Sgd => 5,
        };
        let copies_of_embeddings = match plan.solver {
            SolverKind::Exact => 4 + copies_of_gradient(problem.n_nodes()) as u32,
            SolverKind::Sgd if problem.n_nodes() <= EXACT_NODES => 3,
            SolverKind::Sgd => 1,
        };
        let others = [&data.held_out, &data.judged, &data.aside];
        let others = others.into_iter().flatten().map(|graph| graph.n_links());
        let links = (data.training.n_links() + others.sum::<usize>()) as f64;
        let matrices = data.views.iter().filter_map(|view| view.matrix.as_ref());
        let vectors: f64 = matrices.map(|matrix| matrix.bytes() as f64).sum();
        let copies_of_vectors = match plan.solver {
            SolverKind::Exact => 2.0,
            SolverKind::Sgd => 3.3,
        };
        let encoders = problem.parameters.encoders.iter();
        let hidden = encoders.flat_map(|encoder| {
            let layers = encoder.network.layers().split_last();
            let before_last = layers.map_or(&[][..], |(_, before)| before);
            before_last
                .iter()
                .map(|layer| layer.outputs * encoder.rows.len())
        });
        let hidden = hidden.sum::<usize>() as f64 * size;
        let own = f64::from(copies_of_params as u32) * params
            + f64::from(copies_of_embeddings) * embeddings
            + hidden;
        let encoders = problem.parameters.encoders.iter();
        let encoders = encoders.filter(|encoder| !encoder.network.is_table());
        let encoders = encoders.map(|encoder| encoder.params.len()).sum::<usize>() as f64;
        let encoders = f64::from(copies_of_params as u32) * encoders * size;
        let shared = Forecast::PROGRAM as f64 + LINK * links + 40.0 * n;
        // What reading held is given back before the fit has its own.
        let held = (READ * vectors - own).max(copies_of_vectors * vectors);
        Forecast {
            shared: shared + held,
            encoders,
            of_nodes: own - encoders,
            prepared: 60.0 * links + 2.0 * vectors,
        }
    }

    /// What so many fits at the same time hold.
    pub fn of(self, fits: f64) -> u64 {
        self.of_parts(fits, 1.0)
    }

    /// What so many fits at the same time hold, each to such a share of the nodes.
    pub fn of_parts(self, fits: f64, share: f64) -> u64 {
        let fits = fits.max(1.0);
        let of_nodes = (fits * share).max(1.0);
        let own = fits * self.encoders + of_nodes * self.of_nodes;
        (self.shared + own + (of_nodes - 1.0) * self.prepared) as u64
    }

    /// What the program and the data hold while nothing is fitted.
    pub fn of_data(self) -> u64 {
        self.shared as u64
    }

    /// The same with so many more links, which no file has.
    pub fn with_links(self, more: usize) -> Forecast {
        Forecast {
            shared: self.shared + MADE_LINK * more as f64,
            ..self
        }
    }
}

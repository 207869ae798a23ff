//! A score over all pairs: value and gradient.

use std::path::PathBuf;
use std::time::Instant;

use linkproof::Graph;
use linkproof::data::features::{Matrix, Values};
use linkproof::data::graph::{Link, LinkRules};
use linkproof::data::ids::Ids;
use linkproof::engine::objective::evaluate;
use linkproof::io::{NpyNumber, read_npy, write_npy};
use linkproof::params::ScoreKind;
use linkproof::score::Score;
use linkproof_numeric::real::Real;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Failure, megabytes};

/// Value and gradient of a score for given embeddings (whose precision is the
/// arithmetic's).
#[derive(Debug, Deserialize)]
pub struct Exact {
    embeddings: PathBuf,
    /// `src,dst` between row numbers, each of weight 1; left out: no links.
    links: Option<PathBuf>,
    gamma: f64,
    score: ScoreKind,
    beta: f64,
    /// Where to write the gradient, for a comparison.
    gradient_to: Option<PathBuf>,
}

impl Exact {
    /// Evaluates; reading files is not in the time.
    pub fn run(&self) -> Result<Value, Failure> {
        let Matrix::Dense(dense) = read_npy(&self.embeddings)? else {
            return Err("embeddings: expected a dense matrix".into());
        };
        let graph = read_graph(dense.n_rows(), self.links.as_ref())?;
        match dense.into_values() {
            Values::F32(y) => self.time(&y, &graph),
            Values::F64(y) => self.time(&y, &graph),
        }
    }

    fn time<T: Real + NpyNumber>(&self, y: &[T], graph: &Graph) -> Result<Value, Failure> {
        let dim = y.len() / graph.n_nodes();
        let score = Score::new(self.score, self.beta);
        let before = megabytes("VmRSS:");
        let clock = Instant::now();
        let found = evaluate(y, dim, graph, self.gamma, &score, true)?;
        let seconds = clock.elapsed().as_secs_f64();
        if let (Some(path), Some(gradient)) = (&self.gradient_to, &found.gradient) {
            write_npy(path, graph.n_nodes(), dim, gradient)?;
        }
        Ok(json!({ "seconds": seconds, "value": found.value, "before_mb": before }))
    }
}

fn read_graph(n: usize, path: Option<&PathBuf>) -> Result<Graph, Failure> {
    let mut links = Vec::new();
    if let Some(path) = path {
        let text = std::fs::read_to_string(path)?;
        for line in text.lines().skip(1) {
            let (src, dst) = line.split_once(',').ok_or("links: expected src,dst")?;
            let (src, dst, weight) = (src.parse()?, dst.parse()?, 1.0);
            links.push(Link { src, dst, weight });
        }
    }
    Ok(Graph::new(Ids::Rows(n), links, LinkRules::default())?)
}

//! Stochastic steps: how long they take, and the value and gradient of one
//! whose sample is given.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use linkproof::data::graph::{Adjacency, Link};
use linkproof::engine::objective::{Prepared, Problem};
use linkproof::engine::pairs::{PairTerm, ViewMatrix};
use linkproof::engine::{Evaluator, Gradient, Sample, Workspace};
use linkproof::io::{read_features, read_links, write_npy};
use linkproof::{CheckedParams, Dataset, Event, Fit, Params, Runtime};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Failure;

/// Some steps of a fit.
#[derive(Debug, Deserialize)]
pub struct Steps {
    links: PathBuf,
    features: Option<PathBuf>,
    params: Params,
    /// Steps before the clock starts.
    warm_up: usize,
}

impl Steps {
    /// The mean time of the steps after the first ones: everything between a
    /// step and the next, the draw of the sample included.
    pub fn run(&self) -> Result<Value, Failure> {
        let data = read(&self.links, self.features.as_deref())?;
        let params = self.params.clone().check()?;
        let clock = Instant::now();
        let times = Mutex::new(Vec::new());
        let monitor = |event: Event<'_>| {
            if let (Event::Step { record, .. }, Ok(mut times)) = (event, times.lock())
                && record.step >= self.warm_up
            {
                times.push(clock.elapsed().as_secs_f64());
            }
            true
        };
        let fit = Fit::new(&params).runtime(Runtime::watched_by(&monitor));
        fit.run(&data)?;
        let times = times.into_inner()?;
        let steps = times.len().saturating_sub(1);
        if steps == 0 {
            return Err("no step after the warm-up".into());
        }
        let seconds = (times[steps] - times[0]) / steps as f64;
        Ok(json!({ "seconds": seconds, "steps": steps }))
    }
}

/// One evaluation at the random start, of a sample that the caller drew:
/// links and pairs between row numbers, as in the paper's stochastic step.
#[derive(Debug, Deserialize)]
pub struct SampledOnce {
    links: PathBuf,
    features: PathBuf,
    params: Params,
    /// The nodes to encode, ascending.
    nodes: Vec<u32>,
    /// Sampled links, as places in `nodes`, each of weight 1.
    sampled_links: Vec<(u32, u32)>,
    /// Sampled pairs, likewise.
    sampled_pairs: Vec<(u32, u32)>,
    lambda: f64,
    /// Where to write the parameters and the gradient.
    theta_to: PathBuf,
    gradient_to: PathBuf,
}

impl SampledOnce {
    /// The objective `(|W|/m1) (links' part + lambda pairs' part) / |W|`.
    pub fn run(&self) -> Result<Value, Failure> {
        let data = read(&self.links, Some(&self.features))?;
        let params: CheckedParams = self.params.clone().check()?;
        let prepared = Prepared::new(&data, &params, None, None)?;
        let problem = Problem::new(&prepared, &params)?;
        let theta: Vec<f32> = problem.start(&problem.inputs(), params.init_scale);
        let per_link = problem.n_links() / self.sampled_links.len() as f64;
        let listed = |pairs: &[(u32, u32)], weight: f64| {
            let links = pairs
                .iter()
                .map(move |&(src, dst)| Link { src, dst, weight });
            Adjacency::new(self.nodes.len(), links)
        };
        let sample = Sample {
            rows: vec![self.nodes.clone()],
            block: vec![0],
            scale: ViewMatrix::filled(1, 0.0),
            listed: vec![
                (
                    listed(&self.sampled_links, 1.0),
                    PairTerm::Correction,
                    ViewMatrix::filled(1, per_link),
                ),
                (
                    listed(&self.sampled_pairs, 0.0),
                    PairTerm::Unlinked,
                    ViewMatrix::filled(1, per_link * self.lambda),
                ),
            ],
        };
        let mut gradient = Gradient::whole(problem.n_params());
        let evaluator = Evaluator::new(&problem);
        let value =
            evaluator.sampled(&theta, &sample, 1, &mut Workspace::default(), &mut gradient)?;
        let (theta, slopes) = (
            by_rows(&problem, &theta),
            by_rows(&problem, &gradient.values),
        );
        write_npy(&self.theta_to, 1, theta.len(), &theta)?;
        write_npy(&self.gradient_to, 1, slopes.len(), &slopes)?;
        Ok(json!({ "value": value }))
    }
}

/// Parameters with each layer's weights row after row.
fn by_rows(problem: &Problem<'_>, values: &[f32]) -> Vec<f32> {
    let mut out = values.to_vec();
    for view in problem.encoders() {
        for layer in view.network.layers() {
            let place = view.params.start + layer.weights.start;
            let place = place..place + layer.weights.len();
            out[place.clone()].copy_from_slice(&layer.row_major(&values[place]));
        }
    }
    out
}

fn read(links: &Path, features: Option<&Path>) -> Result<Dataset, Failure> {
    let graph = read_links(links, &Default::default())?;
    Ok(match features {
        Some(path) => Dataset::new(graph, read_features(path)?)?,
        None => Dataset::from_links(graph)?,
    })
}

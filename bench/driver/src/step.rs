//! Stochastic steps: how long they take, and the value and gradient of one
//! whose sample is given.

use std::path::{Path, PathBuf};
use std::time::Instant;

use linkproof::graph::Link;
use linkproof::io::{read_features, read_links, write_npy};
use linkproof::objective::{Gradient, Prepared, Problem, Sample, Workspace};
use linkproof::pairs::{Charge, ListedPairs, ViewMatrix};
use linkproof::{CheckedParams, Dataset, Params, fit_observed};
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
        let mut start = None;
        let mut steps = 0;
        let mut seconds = 0.0;
        fit_observed(&params, &data, &mut |record, _| {
            if record.step == self.warm_up {
                start = Some(Instant::now());
            } else if let Some(start) = start {
                steps += 1;
                seconds = start.elapsed().as_secs_f64();
            }
            true
        })?;
        if steps == 0 {
            return Err("no step after the warm-up".into());
        }
        Ok(json!({ "seconds": seconds / f64::from(steps), "steps": steps }))
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
        let prepared = Prepared::new(&data, &params, None)?;
        let problem = Problem::<f32>::new(&prepared, &params)?;
        let theta = problem.start(params.init_scale);
        let per_link = problem.training().n_links() as f64 / self.sampled_links.len() as f64;
        let listed = |pairs: &[(u32, u32)], weight: f64| {
            let links = pairs
                .iter()
                .map(move |&(src, dst)| Link { src, dst, weight });
            ListedPairs::new(self.nodes.len(), links)
        };
        let sample = Sample {
            rows: vec![self.nodes.clone()],
            block: vec![0],
            scale: ViewMatrix::filled(1, 0.0),
            listed: vec![
                (
                    listed(&self.sampled_links, 1.0),
                    Charge::Correction,
                    ViewMatrix::filled(1, per_link),
                ),
                (
                    listed(&self.sampled_pairs, 0.0),
                    Charge::Unlinked,
                    ViewMatrix::filled(1, per_link * self.lambda),
                ),
            ],
        };
        let mut gradient = Gradient::whole(problem.n_params());
        let value = problem.sampled(&theta, &sample, 1, &mut Workspace::default(), &mut gradient);
        write_npy(&self.theta_to, 1, theta.len(), &theta)?;
        write_npy(
            &self.gradient_to,
            1,
            gradient.values.len(),
            &gradient.values,
        )?;
        Ok(json!({ "value": value }))
    }
}

fn read(links: &Path, features: Option<&Path>) -> Result<Dataset, Failure> {
    let graph = read_links(links, &Default::default())?;
    Ok(match features {
        Some(path) => Dataset::new(graph, read_features(path)?)?,
        None => Dataset::from_links(graph)?,
    })
}

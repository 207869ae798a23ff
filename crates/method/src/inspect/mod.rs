//! Data looked at before a fit: what is there, what is odd about it, what a fit
//! would cost, and which settings to begin with.

mod advice;
mod agreement;
mod components;
mod cost;
mod judged;
mod plain;
mod shape;
mod weights;

pub use advice::{Advice, Look};
pub use agreement::{Agreement, Relation};
pub use components::{Components, components};
pub use cost::{SolverCost, Way, solver_costs};
pub use judged::LinksJudged;
pub use plain::{Leading, PlainVerdict, plain_verdict};
pub use shape::{Degrees, Hub, Isolated, Vectors, ViewLinks, ViewShape};
pub use weights::{HeavyLink, Impossible, Tail, Weights};

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::graph::LinkCounts;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::params::{CheckedParams, Params, WeightTransform};

/// What there is to know about data before a fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Nodes.
    pub nodes: usize,
    /// Linked pairs.
    pub links: usize,
    /// All pairs, `n (n - 1) / 2`.
    pub pairs: u64,
    /// The share of the pairs that are linked.
    pub linked_share: f64,
    /// What reading the links dropped or merged.
    pub read: LinkCounts,
    /// The views; one where nothing tells views apart.
    pub views: Vec<ViewShape>,
    /// The pairs of views that have links.
    pub view_pairs: Vec<ViewLinks>,
    /// Links a node.
    pub degrees: Degrees,
    /// Nodes without links.
    pub isolated: Isolated,
    /// Connected components.
    pub components: Components,
    /// Link weights.
    pub weights: Weights,
    /// What the judge finds about the links; none if there are too many for a look.
    pub judged: Option<LinksJudged>,
    /// Why the links were not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// Whether features and links agree, if there are features to compare.
    pub agreement: Option<Agreement>,
    /// What each solver would cost.
    pub solvers: Vec<SolverCost>,
    /// The threads that the times are for.
    pub threads: usize,
    /// What to begin with.
    pub advice: Advice,
}

/// Looks at data. `params` says how a fit would see them; of it, the dimension
/// decides on cost. The same data give the same report, but for the times.
///
/// ```
/// use linkproof::inspect::{Tail, inspect};
/// use linkproof::params::ScoreKind;
/// use linkproof::{Dataset, Graph, Params};
///
/// // A ring whose links weigh 1, 2 or 3, and two that weigh 400; two nodes alone.
/// let weight = |node: u32| if node % 50 == 7 { 400.0 } else { f64::from(1 + node % 3) };
/// let links: Vec<_> = (0..100).map(|node| (node, (node + 1) % 100, weight(node))).collect();
/// let graph = Graph::from_rows(102, &links)?;
/// let report = inspect(&Dataset::from_links(graph)?, &Params::default().check()?)?;
/// assert_eq!(report.isolated.count, 2);
/// assert_eq!(report.weights.impossible.tail, Tail::Isolated);
/// assert!(report.judged.is_some());
/// assert_eq!(report.advice.score, ScoreKind::Probability);
/// # Ok::<(), linkproof::Error>(())
/// ```
///
/// # Errors
/// What keeps a fit from starting, such as too few links to hold some out.
pub fn inspect(data: &Dataset, params: &CheckedParams) -> Result<Report> {
    let graph = data.graph();
    let degrees = graph.degrees();
    let isolated = shape::isolated(data, &degrees);
    let components = components(graph);
    let (weights, _) = weights::weights(data);
    let judged = judged::judged(data, params.seed, Runtime::default())?;
    let solvers = match graph.is_signed() {
        // As the advice is: the pattern alone is fitted.
        true => {
            let pattern = Params {
                weights: WeightTransform::Binary,
                ..params.given().clone()
            };
            solver_costs(data, &pattern.check()?)?
        }
        false => solver_costs(data, params)?,
    };
    let views = shape::views(data, &degrees);
    let pairs = shape::n_pairs(data.n_nodes());
    let linked_share = graph.n_links() as f64 / pairs as f64;
    let advice = Advice::new(&weights, judged.links.as_ref(), linked_share, &solvers);
    Ok(Report {
        nodes: data.n_nodes(),
        links: graph.n_links(),
        pairs,
        linked_share,
        read: graph.counts(),
        views,
        view_pairs: shape::view_pairs(data),
        degrees: shape::degrees(data, degrees),
        isolated,
        components,
        weights,
        judged: judged.links,
        not_judged: judged.not_judged,
        agreement: judged.agreement,
        solvers,
        threads: rayon::current_num_threads(),
        advice,
    })
}

/// The smallest value that at least a share of all values does not exceed;
/// the values ascend, and there is at least one.
fn quantile<V: Copy>(sorted: &[V], share: f64) -> V {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

#[cfg(test)]
mod tests;

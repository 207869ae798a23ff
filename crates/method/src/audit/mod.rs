//! Links against a model: how they are judged, what the model expects of them, and which
//! pairs miss a link.
//!
//! Rows here are the user's, as in a model.
//!
//! ```
//! use linkproof::audit::{AuditSettings, audit};
//! use linkproof::params::ScoreKind;
//! use linkproof::{Dataset, Graph, Params, Runtime};
//!
//! // A ring of weights 1 and one weight that is absurd.
//! let ring = (0..30u32).map(|k| (k, (k + 1) % 30, if k == 7 { 500.0 } else { 1.0 }));
//! let data = Dataset::from_links(Graph::from_rows(30, &ring.collect::<Vec<_>>())?)?;
//! let (score, ridge) = (ScoreKind::Probability, 0.1);
//! let params = Params { score, ridge: Some(ridge), dim: 2, ..Default::default() }.check()?;
//! let model = linkproof::fit(&params, &data)?;
//! let found = audit(&model, None, &AuditSettings::default(), Runtime::default())?;
//! let absurd = found.expected.iter().find(|it| it.weight == 500.0);
//! assert!(absurd.is_some_and(|it| it.trust < 1e-9));
//! # Ok::<(), linkproof::Error>(())
//! ```

mod judged;
mod missing;
mod seen;

pub use judged::{can_fit, judged_data, taking_part};
pub use missing::{Missing, missing};
use seen::SeenWeights;

use crate::data::dataset::Dataset;
use crate::data::features::Features;
use crate::data::graph::Link;
use crate::data::transform::transform_weight;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::judge::{Check, JudgeSpec, Judgment, judge};
use crate::model::{Expected, Fitted};
use crate::params::{Params, WeightTransform};
use crate::score::Score;
use linkproof_numeric::math;

/// What a model expects of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedLink {
    /// The row of one end.
    pub src: u32,
    /// The row of the other end.
    pub dst: u32,
    /// The weight as observed.
    pub weight: f64,
    /// The expected weight.
    pub mu: f64,
    /// `p(w|mu)/p(w|w)` if the weight is larger than expected, else 1.
    pub trust: f64,
    /// The link's weight in the estimating equation.
    pub influence: f64,
}

/// `log( p(w|mu) / p(w|w) )` for a Poisson `p` if `w > mu`, else 0: a link that is weaker
/// than expected is no suspect.
pub fn log_trust(w: f64, mu: f64) -> f64 {
    if w > mu {
        w * (math::ln(mu) - math::ln(w)) + w - mu
    } else {
        0.0
    }
}

impl ExpectedLink {
    /// What a fit of these parameters expects of a link whose weight it saw as it is or
    /// transformed.
    pub fn new(params: &Params, link: Link, expected: Expected) -> ExpectedLink {
        let seen = transform_weight(link.weight, params.weights);
        ExpectedLink::seen_as(&Score::of(params), link, seen, expected)
    }

    /// The same of a link that the fit sees with another weight than observed.
    fn seen_as(score: &Score, link: Link, seen: f64, expected: Expected) -> ExpectedLink {
        // If sizes have two signs, the fit saw whether there is a link.
        let seen = if expected.signed { 1.0 } else { seen };
        let log_trust = log_trust(seen, expected.strength);
        ExpectedLink {
            src: link.src,
            dst: link.dst,
            weight: link.weight,
            mu: expected.mu,
            trust: math::exp(log_trust),
            influence: score.influence(log_trust, expected.strength),
        }
    }
}

/// How links are audited.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AuditSettings {
    /// How links are judged that the model has not judged.
    pub judge: JudgeSpec,
    /// List so many pairs of largest expected weight that have no link.
    pub missing: usize,
}

/// What an audit found.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The judgment of the links, which are sorted by their ends.
    pub judgment: Judgment,
    /// What the model expects of each link.
    pub expected: Vec<ExpectedLink>,
    /// For each link the mean belief in the links that are believed no more: the false
    /// discovery rate if all of them are called false.
    pub false_discovery_rate: Vec<f64>,
    /// Whether the model reads features that were not given.
    pub by_links_alone: bool,
    /// Pairs that miss a link.
    pub missing: Vec<Missing>,
}

/// Audits links between a model's nodes: those of `data`, which has features if they are
/// known (see [`judged_data`]), or the model's own. Of its own links a robust fit has the
/// judgment.
///
/// # Errors
/// Data that are not the model's; [`crate::Error::Interrupted`] if the monitor says so.
pub fn audit(
    model: &Fitted,
    data: Option<&Dataset>,
    settings: &AuditSettings,
    runtime: Runtime<'_>,
) -> Result<Audit> {
    let own;
    let known = data.map_or_else(|| known_judgment(model, &settings.judge.checks), |_| None);
    let data = match data {
        Some(data) => data,
        None => {
            own = own_data(model)?;
            &own
        }
    };
    let judgment = match known {
        Some(known) => known,
        None => {
            let spec = JudgeSpec {
                seed: model.params().seed,
                ..settings.judge.clone()
            };
            let mut judgment = judge(data, &spec, runtime)?;
            judgment.sort_by_ends();
            judgment
        }
    };
    let links = data.user_graph()?;
    Ok(Audit {
        expected: expected_links(model, data)?,
        false_discovery_rate: discovery_rates(&judgment),
        by_links_alone: !can_fit(model, data),
        missing: missing(model, &links, settings.missing),
        judgment,
    })
}

/// The judgment that a robust fit keeps, with new checks.
fn known_judgment(model: &Fitted, checks: &[Check]) -> Option<Judgment> {
    let mut judgment = model.believed()?.judgment(model.links())?;
    judgment.recalibrate(checks);
    Some(judgment)
}

/// The links of a model, with the features that it keeps.
pub fn own_data(model: &Fitted) -> Result<Dataset> {
    let kept = model.believed().map_or(&[][..], |it| &it.vectors);
    let kept = kept.iter().zip(model.views());
    let features =
        kept.filter_map(|(matrix, view)| Some((view.name.clone(), Features::new(matrix.clone()?))));
    judged_data(model, model.links().clone(), features.collect())
}

/// What the model expects of the links of `data`, sorted by their ends. A fit with walks
/// expects weights that are averaged over the walks of all links.
fn expected_links(model: &Fitted, data: &Dataset) -> Result<Vec<ExpectedLink>> {
    let mut params = model.params().clone();
    if model.is_signed() {
        params.weights = WeightTransform::Binary;
    }
    let seen = SeenWeights::new(&params, data)?;
    let score = Score::of(&params);
    let links = data.graph().links().map(|link| {
        let of_user = data.user_link(link);
        let expected = model.pair(of_user.src as usize, of_user.dst as usize);
        ExpectedLink::seen_as(&score, of_user, seen.of(&link), expected)
    });
    let mut links: Vec<ExpectedLink> = links.collect();
    links.sort_unstable_by_key(|link| (link.src, link.dst));
    Ok(links)
}

/// The mean belief in the links that are believed no more than each link, ties by rank.
pub fn discovery_rates(judgment: &Judgment) -> Vec<f64> {
    let places = judgment.by_belief();
    let mut rates = vec![0.0; places.len()];
    let mut sum = 0.0;
    for (before, &place) in places.iter().enumerate() {
        sum += judgment.links[place].belief;
        rates[place] = sum / (before + 1) as f64;
    }
    rates
}

#[cfg(test)]
mod tests;

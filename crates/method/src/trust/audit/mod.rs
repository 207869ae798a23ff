//! How far a fit believes each link, and which pairs it misses.
//!
//! Rows here are the user's, as in a model.
//!
//! ```
//! use linkproof::params::ScoreKind;
//! use linkproof::trust::audit::judge;
//! use linkproof::{Dataset, Graph, Params};
//!
//! // A ring of weights 1 and one weight that is absurd.
//! let ring = (0..30u32).map(|k| (k, (k + 1) % 30, if k == 7 { 500.0 } else { 1.0 }));
//! let data = Dataset::from_links(Graph::from_rows(30, &ring.collect::<Vec<_>>())?)?;
//! let (score, ridge) = (ScoreKind::Probability, 0.1);
//! let params = Params { score, ridge, dim: 2, ..Default::default() }.check()?;
//! let model = linkproof::fit(&params, &data)?;
//! let verdicts = judge(&model, data.graph().links());
//! assert_eq!((verdicts[0].src, verdicts[0].dst, verdicts[0].weight), (7, 8, 500.0));
//! assert!(verdicts[0].trust < 1e-9);
//! # Ok::<(), linkproof::Error>(())
//! ```

mod baseline;
mod cross;
mod discovery;
mod judged;
mod missing;
mod seen;
mod usual;

pub(crate) use baseline::product;
pub use baseline::{Baseline, Contest, contest};
use cross::judge_inside;
pub use cross::{CrossFit, cross_fit};
pub use discovery::{Discovery, RandomPair, discover, random_pairs, sizes};
pub use judged::{
    Judges, Thresholds, as_fitted, can_fit, has_vectors, judge_by, judged_data, pairs_to_compare,
    taking_part,
};
pub use missing::{Missing, missing};
use seen::SeenWeights;

use crate::data::graph::Link;
use crate::data::transform::transform_weight;
use crate::model::{Expected, Fitted};
use crate::params::Params;
use crate::score::Score;
use crate::size::SizeLaw;
use linkproof_numeric::math;

/// A link and what a fit makes of it ([example](self)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The row of one end.
    pub src: u32,
    /// The row of the other end.
    pub dst: u32,
    /// The weight as observed.
    pub weight: f64,
    /// The expected weight, to be compared with the weight as the fit saw it.
    pub mu: f64,
    /// The chance of a link.
    pub p_link: f64,
    /// By what it is compared with other pairs ([`Expected::strength`]).
    pub strength: f64,
    /// The similarity of its ends.
    pub similarity: f64,
    /// `p(w|mu)/p(w|w)` where the weight is larger than expected, else 1.
    pub trust: f64,
    /// The link's weight in the estimating equation.
    pub influence: f64,
    log_trust: f64,
}

/// `log( p(w|mu) / p(w|w) )` for a Poisson `p` where `w > mu`, else 0: a link
/// that is weaker than expected is no suspect.
pub fn log_trust(w: f64, mu: f64) -> f64 {
    if w > mu {
        w * (math::ln(mu) - math::ln(w)) + w - mu
    } else {
        0.0
    }
}

impl Verdict {
    /// What a fit of these parameters, by which so much is expected, makes of a link,
    /// whose weight it saw as it is or transformed.
    pub fn new(params: &Params, link: Link, expected: Expected) -> Verdict {
        let seen = transform_weight(link.weight, params.weights);
        Verdict::seen_as(&Score::of(params), link, seen, expected)
    }

    /// The same of a link that the fit sees with another weight than observed.
    pub(crate) fn seen_as(score: &Score, link: Link, seen: f64, expected: Expected) -> Verdict {
        // Where sizes have two signs, what was fitted is whether there is a link.
        let seen = if expected.signed { 1.0 } else { seen };
        let log_trust = log_trust(seen, expected.strength);
        Verdict {
            src: link.src,
            dst: link.dst,
            weight: link.weight,
            mu: expected.mu,
            strength: expected.strength,
            p_link: expected.p_link,
            similarity: expected.similarity,
            trust: math::exp(log_trust),
            influence: score.influence(log_trust, expected.strength),
            log_trust,
        }
    }

    /// `-log10` of the chance of a weight as large: that of a link, times that of
    /// such a size by the law of sizes, where there is one; where sizes have two signs,
    /// that of a size as far from what is usual, on either side.
    pub fn surprise(&self, sizes: Option<&SizeLaw>) -> f64 {
        let log_size = sizes.map_or(0.0, |law| law.log_chance(self.weight, self.similarity));
        -(math::ln(self.p_link) + log_size) / std::f64::consts::LN_10
    }

    /// Less trusted links first; ties by the expected weight, then by row.
    fn order(&self, other: &Verdict) -> std::cmp::Ordering {
        self.log_trust
            .total_cmp(&other.log_trust)
            .then(self.strength.total_cmp(&other.strength))
            .then((self.src, self.dst).cmp(&(other.src, other.dst)))
    }
}

/// Judges links between rows of a model, least trusted first, by their weights as
/// they are or transformed. For a model of weights averaged over walks, which
/// need all links, see [`as_fitted`].
pub fn judge(model: &Fitted, links: impl Iterator<Item = Link>) -> Vec<Verdict> {
    let (score, weights) = (Score::of(model.params()), model.params().weights);
    let judged = links.map(|link| {
        let expected = model.pair(link.src as usize, link.dst as usize);
        Verdict::seen_as(
            &score,
            link,
            transform_weight(link.weight, weights),
            expected,
        )
    });
    least_trusted_first(judged.collect())
}

/// Sorts verdicts.
pub fn least_trusted_first(mut verdicts: Vec<Verdict>) -> Vec<Verdict> {
    verdicts.sort_by(Verdict::order);
    verdicts
}

#[cfg(test)]
mod tests;

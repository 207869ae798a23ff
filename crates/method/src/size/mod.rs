//! The size of a link, given that there is one.
//!
//! The expected weight of a pair has two parts: the chance of a link,
//! `1 - e^{-nu}` for an intensity `nu` that is fitted to the pattern of the links,
//! and the size of a link, whose law is told here by the weights of the links. Sizes
//! are counts, positive numbers or signed numbers ([`Family`]); their location may
//! depend on the similarity of the pair, `a + c s`.
//!
//! The law is fitted by the density-power score with every link counted by the
//! belief in it (`estimate`), so that neither false links nor a few absurd weights
//! tell it; family and slope are chosen by links that the fit did not see
//! (`choose`). Signed numbers are around one place, or a sign and a size (`signed`).

mod choose;
mod counts;
mod estimate;
mod gamma;
mod normal;
mod rounded;
mod signed;
mod sums;

pub use choose::SizedLink;
pub use signed::Signs;

use serde::{Deserialize, Serialize};

use linkproof_numeric::math;

/// The kinds of sizes. `x` is a weight in the unit of the law, `eta` the location
/// and `rho` the logarithm of the shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Counts: negative binomial of mean `e^eta` and dispersion `e^rho`, given that
    /// it is not zero.
    NegativeBinomial,
    /// Counts with a heavier tail: a log-normal number, rounded, given that it is
    /// not zero.
    RoundedLogNormal,
    /// Positive numbers: `log x` is normal around `eta`, of deviation `e^rho`.
    LogNormal,
    /// Positive numbers: gamma of mean `e^eta` and shape `e^rho`.
    Gamma,
    /// Signed numbers: normal around `eta`, of deviation `e^rho`.
    Normal,
}

/// A number with its derivatives in `eta` and `rho`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// The value.
    pub value: f64,
    /// The derivative in `eta`.
    pub by_location: f64,
    /// The derivative in `rho`.
    pub by_shape: f64,
}

impl Family {
    /// Whether sizes are whole numbers of a unit.
    pub fn is_counts(self) -> bool {
        matches!(self, Family::NegativeBinomial | Family::RoundedLogNormal)
    }

    /// A weight in a unit as the law sees it: a count, its logarithm or itself.
    pub fn seen(self, weight: f64, unit: f64) -> f64 {
        match self {
            Family::NegativeBinomial | Family::RoundedLogNormal => (weight / unit).round().max(1.0),
            Family::LogNormal | Family::Gamma => math::ln(weight / unit),
            Family::Normal => weight / unit,
        }
    }

    /// The logarithm of the density at what [`Family::seen`] gives.
    pub fn log_density(self, x: f64, eta: f64, rho: f64) -> Point {
        match self {
            Family::NegativeBinomial => counts::log_density(x, eta, rho),
            Family::RoundedLogNormal => rounded::log_density(x, eta, rho),
            Family::LogNormal | Family::Normal => normal::log_density(x, eta, rho),
            Family::Gamma => gamma::log_density(x, eta, rho),
        }
    }

    /// The sum or integral of the density to the power `1 + beta`.
    pub fn power(self, beta: f64, eta: f64, rho: f64) -> Point {
        match self {
            Family::NegativeBinomial => counts::power(beta, eta, rho),
            Family::RoundedLogNormal => rounded::power(beta, eta, rho),
            Family::LogNormal | Family::Normal => normal::power(beta, rho),
            Family::Gamma => gamma::power(beta, rho),
        }
    }

    /// The logarithm of the chance of a size of `x` or more.
    pub fn log_above(self, x: f64, eta: f64, rho: f64) -> f64 {
        let log_chance = match self {
            Family::NegativeBinomial => counts::log_above(x, eta, rho),
            Family::RoundedLogNormal => rounded::log_above(x, eta, rho),
            Family::LogNormal | Family::Normal => normal::log_above(x, eta, rho),
            Family::Gamma => gamma::log_above(x, eta, rho),
        };
        log_chance.min(0.0)
    }

    /// The mean size, in the unit of the law.
    pub fn mean(self, eta: f64, rho: f64) -> f64 {
        match self {
            Family::NegativeBinomial => counts::mean(eta, rho),
            Family::RoundedLogNormal => rounded::mean(eta, rho),
            Family::LogNormal => math::exp(eta + 0.5 * math::exp(2.0 * rho)),
            Family::Gamma => math::exp(eta),
            Family::Normal => eta,
        }
    }
}

/// The law of the sizes of links.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SizeLaw {
    /// The kind of sizes.
    pub family: Family,
    /// What sizes are counted or measured in: of counts the step between them, else
    /// a size that is usual.
    pub unit: f64,
    /// The location `a` where the similarity is 0.
    pub location: f64,
    /// How the location grows with the similarity, `c`; 0 where weights say nothing
    /// of it.
    pub slope: f64,
    /// The logarithm of the shape.
    pub shape: f64,
    /// The chance of a negative sign, where the rest is of sizes without their signs.
    #[serde(default)]
    pub negative: Option<Signs>,
    /// The similarities of links, from the least hundredth to the largest: outside
    /// the size is what it is at the ends.
    pub similarities: (f64, f64),
    /// The slope as it was estimated, whether it is used or not, and its standard
    /// error; none where similarities were not given.
    pub estimated_slope: Option<(f64, f64)>,
    /// What the slope gains on links that the fit did not see, and the standard
    /// error of that.
    pub slope_gain: Option<(f64, f64)>,
    /// How far the ranks of unseen weights under the law are from uniform
    /// (Kolmogorov's distance).
    pub distance: f64,
}

impl SizeLaw {
    /// Whether sizes have two signs.
    pub fn is_signed(&self) -> bool {
        self.family == Family::Normal || self.negative.is_some()
    }

    /// A similarity, or the end of those of links where it is beyond.
    fn within(&self, similarity: f64) -> f64 {
        let (from, to) = self.similarities;
        similarity.max(from).min(to)
    }

    /// The location of the sizes of pairs of a similarity.
    fn location_at(&self, similarity: f64) -> f64 {
        if self.slope == 0.0 {
            return self.location;
        }
        self.location + self.slope * self.within(similarity)
    }

    /// The chance of a negative sign at a similarity.
    fn negative_at(&self, similarity: f64) -> Option<f64> {
        let similarity = self.within(similarity);
        self.negative.map(|signs| signs.negative(similarity))
    }

    /// The mean size of a link of a pair of this similarity.
    pub fn mean(&self, similarity: f64) -> f64 {
        let mean = self.unit * self.family.mean(self.location_at(similarity), self.shape);
        match self.negative_at(similarity) {
            Some(q) => (1.0 - 2.0 * q) * mean,
            None => mean,
        }
    }

    /// The logarithm of the chance that a link of a pair of this similarity weighs
    /// as much, or, of signed weights, is as far from what is usual: twice the chance of
    /// such a sign and, with it, such a size.
    pub fn log_chance(&self, weight: f64, similarity: f64) -> f64 {
        let eta = self.location_at(similarity);
        if let Some(q) = self.negative_at(similarity) {
            let sign = if weight < 0.0 { q } else { 1.0 - q };
            let size = self
                .family
                .log_above(self.reached(weight.abs()), eta, self.shape);
            return (math::ln(2.0 * sign) + size).min(0.0);
        }
        match self.family {
            Family::Normal => {
                let x = weight / self.unit;
                let far = self
                    .family
                    .log_above(eta + (x - eta).abs(), eta, self.shape);
                (std::f64::consts::LN_2 + far).min(0.0)
            }
            family => family.log_above(self.reached(weight), eta, self.shape),
        }
    }

    /// A weight as the law sees it, of counts the next one that is no smaller.
    fn reached(&self, weight: f64) -> f64 {
        match self.family.is_counts() {
            true => (weight / self.unit - 1e-6).ceil().max(1.0),
            false => self.family.seen(weight, self.unit),
        }
    }

    /// Where a weight stands in the law: the chances of smaller sizes and of sizes
    /// no larger. Between the two, at random, stands the rank that is uniform where
    /// the law holds.
    pub fn rank(&self, weight: f64, similarity: f64) -> (f64, f64) {
        let size = match self.negative {
            Some(_) => weight.abs(),
            None => weight,
        };
        let x = self.family.seen(size, self.unit);
        let (below, upto) = rank_of(self.family, x, self.location_at(similarity), self.shape);
        match self.negative_at(similarity) {
            Some(q) if weight < 0.0 => (q * (1.0 - upto), q * (1.0 - below)),
            Some(q) => (q + (1.0 - q) * below, q + (1.0 - q) * upto),
            None => (below, upto),
        }
    }

    /// Whether its numbers can be those of a law.
    pub fn is_sound(&self) -> bool {
        let (from, to) = self.similarities;
        let signs = self
            .negative
            .map_or((0.0, 0.0), |it| (it.log_odds, it.slope));
        let numbers = [
            self.location,
            self.slope,
            self.shape,
            from,
            to,
            signs.0,
            signs.1,
        ];
        let mean = self.mean(from) + self.mean(to);
        self.unit > 0.0 && numbers.iter().all(|x| x.is_finite()) && from <= to && mean.is_finite()
    }
}

/// The chances of smaller sizes than `x` and of sizes no larger.
fn rank_of(family: Family, x: f64, eta: f64, rho: f64) -> (f64, f64) {
    let below = |x: f64| -math::exp_m1(family.log_above(x, eta, rho));
    match family.is_counts() {
        true => (below(x), below(x + 1.0)),
        false => (below(x), below(x)),
    }
}

#[cfg(test)]
pub(crate) mod tests;

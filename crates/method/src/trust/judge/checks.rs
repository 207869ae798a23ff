//! What becomes of links that are known to be false.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::belief;
use super::pairs::Draw;
use super::ranks::Rank;

/// The rates at which suspects are called.
pub const RATES: [f64; 3] = [0.05, 0.1, 0.2];

/// Suspects among links with implants, at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateCheck {
    /// The rate that was asked for.
    pub asked: f64,
    /// The links and implants that are suspects.
    pub suspects: usize,
    /// The share of sound links among them, as it is claimed.
    pub claimed: f64,
    /// The same where the implants are known to be false, and the links are
    /// believed as they were without implants.
    pub realised: f64,
    /// The share of the implants that are suspects.
    pub found: f64,
}

/// Implants of one kind, judged as the links are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// How they were made.
    pub kind: Draw,
    /// How many.
    pub implants: usize,
    /// How far they are believed on average.
    pub mean_belief: f64,
    /// At each of [`RATES`].
    pub rates: Vec<RateCheck>,
}

/// What the links are known by.
#[derive(Debug, Clone, Copy)]
pub struct Links<'l> {
    /// Their ranks.
    pub ranks: &'l [Rank],
    /// Their weights.
    pub weights: &'l [f64],
    /// Their beliefs.
    pub beliefs: &'l [f64],
    /// For each stratum the density of sound links that nothing explains.
    pub unexplained: &'l [f64],
}

/// Judges implants among the links. Each weighs as much as some link, so that
/// weights tell nothing of it.
pub fn check(links: Links<'_>, kind: Draw, implants: &[Rank], seed: u64) -> Check {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x6368_6563);
    let n_links = links.ranks.len();
    let all = || links.ranks.iter().chain(implants);
    let ranks: Vec<f64> = all().map(|rank| rank.rank).collect();
    let strata: Vec<usize> = all().map(|rank| rank.stratum).collect();
    let mut weights = links.weights.to_vec();
    weights.extend(
        implants
            .iter()
            .map(|_| links.weights[random.random_range(0..n_links)]),
    );
    let found = belief::by_ranks(&ranks, &strata, links.unexplained);
    let beliefs = belief::with_weights(&found.beliefs, &weights).beliefs;
    let rates = belief::discovery_rates(&beliefs);
    let at = |asked: f64| {
        let set: Vec<usize> = (0..rates.len())
            .filter(|&place| rates[place] <= asked)
            .collect();
        let mean = |value: &dyn Fn(usize) -> f64| {
            set.iter().map(|&place| value(place)).sum::<f64>() / set.len().max(1) as f64
        };
        let n_found = set.iter().filter(|&&place| place >= n_links).count();
        RateCheck {
            asked,
            suspects: set.len(),
            claimed: mean(&|place| beliefs[place]),
            realised: mean(&|place| links.beliefs.get(place).copied().unwrap_or(0.0)),
            found: n_found as f64 / implants.len().max(1) as f64,
        }
    };
    Check {
        kind,
        implants: implants.len(),
        mean_belief: beliefs[n_links..].iter().sum::<f64>() / implants.len().max(1) as f64,
        rates: RATES.map(at).to_vec(),
    }
}

//! Held-out links ranked among non-links by embeddings alone.
//!
//! Fits are compared by the cosines of their embeddings: evidence that does not depend on
//! the fit would hide their differences. A link is ranked among the non-links of its fold
//! and stratum (same pair of views, similar degrees).

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::dataset::Dataset;
use crate::engine::pairs::{Split, mirrored};
use crate::error::{Error, Result};
use crate::judge::pairs::{Links, Pairs};
use crate::judge::strata::{COARSE, Strata};
use crate::model::folds::Folds;
use crate::params::{CheckedParams, Params};

/// Smaller differences between the mean ranks of two fits do not matter.
pub const SAME_RANKS: f64 = 0.005;

/// Non-links for each link, and at least and at most.
const NON_LINKS_PER_LINK: usize = 5;
const LEAST_NON_LINKS: usize = 8_000;
const MOST_NON_LINKS: usize = 200_000;
/// Draws for each non-link before the search ends.
const DRAWS: usize = 20;
/// The variance of a node's multiplier.
const V: f64 = std::f64::consts::SQRT_2 - 1.0;
const NON_LINK_STREAM: u64 = 0x6465_636f;

/// Links that fits do not see, fold by fold, and non-links to rank them among.
#[derive(Debug, Clone)]
pub struct HeldOut {
    folds: Vec<Fold>,
    n_strata: usize,
    /// Of a directed graph, two rows are one node.
    n_nodes: usize,
}

/// The pairs of one fold.
#[derive(Debug, Clone, Default)]
struct Fold {
    links: Vec<PlacedPair>,
    non_links: Vec<PlacedPair>,
}

/// A pair of internal rows and its stratum.
#[derive(Debug, Clone, Copy)]
struct PlacedPair {
    ends: [u32; 2],
    stratum: u32,
}

impl HeldOut {
    /// The links of the views that take part, in the folds that hold them out.
    pub fn new(data: &Dataset, folds: Folds, params: &CheckedParams) -> Result<HeldOut> {
        folds.check(data, params)?;
        let splits: Vec<Split> = (0..folds.number()).map(|it| folds.split(it)).collect();
        let names: Vec<&str> = data.views().iter().map(|view| view.name.as_str()).collect();
        let named = params.view_pairs_among(&names)?;
        let takes_part = |ends: &[u32; 2]| {
            let [d, e] = ends.map(|row| data.view_of(row));
            let is_named = |named: &Vec<_>| named.contains(&(d, e)) || named.contains(&(e, d));
            named.as_ref().is_none_or(is_named)
        };
        let all = data.graph().links().map(|link| [link.src, link.dst]);
        let links: Vec<[u32; 2]> = all.filter(takes_part).collect();
        let holds_out = |[src, dst]: [u32; 2]| {
            let mut splits = splits.iter();
            splits.position(|split| split.holds_out(src.min(dst), src.max(dst)))
        };
        let found = HeldOut::sample(data, links, params.seed, folds.number(), holds_out);
        if found.folds.iter().all(|fold| fold.non_links.is_empty()) {
            let accepted = "a score (probability:0.5) where all pairs have a link";
            return Err(Error::argument("criterion", accepted, "rank"));
        }
        Ok(found)
    }

    fn sample(
        data: &Dataset,
        links: Vec<[u32; 2]>,
        seed: u64,
        n_folds: usize,
        holds_out: impl Fn([u32; 2]) -> Option<usize>,
    ) -> HeldOut {
        let sides = data.ids().sides().filter(|sides| sides.same);
        let views = (0..data.n_nodes() as u32).map(|row| data.view_of(row) as u32);
        let links = Links::new(views.collect(), false, links, Vec::new());
        let pairs = Pairs::of(&links, &non_links(data, &links, seed), &[], seed);
        let strata = Strata::new(&pairs, &links.net(), COARSE);
        let mut stratum_of = vec![0; pairs.len()];
        for (stratum, members) in (0..).zip(&strata.members) {
            for &place in members {
                stratum_of[place as usize] = stratum;
            }
        }
        let mut folds = vec![Fold::default(); n_folds];
        for (place, (&ends, stratum)) in pairs.ends.iter().zip(stratum_of).enumerate() {
            let Some(fold) = holds_out(ends) else {
                continue;
            };
            let fold = &mut folds[fold];
            let list = if pairs.is_link(place) {
                &mut fold.links
            } else {
                &mut fold.non_links
            };
            list.push(PlacedPair { ends, stratum });
        }
        HeldOut {
            folds,
            n_strata: strata.members.len(),
            n_nodes: sides.map_or(data.n_nodes(), |sides| sides.source.len()),
        }
    }

    /// How much smaller the second ranks of the links of the first folds are than the first
    /// ones, on average, and the standard error of that.
    ///
    /// Links of the same node differ alike, so nodes are drawn: each gets a multiplier of
    /// mean 1 and variance `v = sqrt(2) - 1`, and a link the product of its nodes', as in the
    /// bootstrap of a model. The multiplier of a link then has variance 1, and those of two
    /// links that share a node have the covariance `v`: with the differences `d_ij` less their
    /// mean, the variance of their sum over all draws is
    ///
    /// ```text
    /// V = (1 - 2v) sum d_ij^2 + v sum_i (sum_j d_ij)^2.
    /// ```
    pub fn gain(&self, before: &[Vec<f64>], after: &[Vec<f64>]) -> (f64, f64) {
        let pairs = before.iter().flatten().zip(after.iter().flatten());
        let gains: Vec<f64> = pairs.map(|(before, after)| before - after).collect();
        let m = gains.len().max(1) as f64;
        let mean = gains.iter().sum::<f64>() / m;
        let mut sums = vec![0.0; self.n_nodes];
        let mut squares = 0.0;
        let links = self.folds.iter().flat_map(|fold| &fold.links);
        for (gain, link) in gains.iter().zip(links) {
            for end in link.ends {
                sums[end as usize % self.n_nodes] += gain - mean;
            }
            squares += (gain - mean).powi(2);
        }
        let shared: f64 = sums.iter().map(|sum| sum * sum).sum();
        let variance = (1.0 - 2.0 * V) * squares + V * shared;
        (mean, variance.max(0.0).sqrt() / m)
    }

    /// For each link of a fold the share of the non-links of its stratum that are closer,
    /// by embeddings `y` (internal rows) of a fit that did not see the fold; ties count
    /// half.
    pub fn ranks(&self, fold: usize, y: &[f32], params: &Params) -> Vec<f64> {
        let Fold { links, non_links } = &self.folds[fold];
        let dim = params.dim;
        let mirror = mirrored(y, dim, params.negative());
        let cosine = |pair: &PlacedPair| {
            let [src, dst] = pair.ends.map(|row| row as usize * dim);
            cosine(&y[src..][..dim], &mirror[dst..][..dim])
        };
        let cosines: Vec<f64> = non_links.par_iter().map(cosine).collect();
        let mut strata = vec![Vec::new(); self.n_strata];
        for (pair, cosine) in non_links.iter().zip(cosines) {
            strata[pair.stratum as usize].push(cosine);
        }
        let sort = |list: &mut Vec<f64>| list.sort_by(f64::total_cmp);
        strata.par_iter_mut().for_each(sort);
        let rank = |pair: &PlacedPair| share_above(&strata[pair.stratum as usize], cosine(pair));
        links.par_iter().map(rank).collect()
    }
}

/// Draws non-links for each pair of views with links, half of them uniformly,
/// half with ends drawn by degree. A pair may be drawn twice.
fn non_links(data: &Dataset, links: &Links, seed: u64) -> Vec<[u32; 2]> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(NON_LINK_STREAM);
    let mut found = Vec::new();
    for kind in 0..links.n_kinds() {
        let m = links.n_links(kind);
        let most = MOST_NON_LINKS * m / links.ends.len();
        let wanted = (NON_LINKS_PER_LINK * m).clamp(LEAST_NON_LINKS, most.max(LEAST_NON_LINKS));
        let is_possible = |&[a, b]: &[u32; 2]| {
            let is_pair = a != b && !data.ids().is_same_node(a, b);
            is_pair && data.graph().weight(a.min(b), a.max(b)).is_none()
        };
        let of_kind = links.draw_non_links(kind, wanted, DRAWS, &mut random, is_possible);
        found.extend(of_kind.into_iter().map(|[a, b]| [a.min(b), a.max(b)]));
    }
    found
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        let both = a.iter().zip(b);
        both.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 {
        dot(a, b) / lengths
    } else {
        0.0
    }
}

/// The share of ascending numbers that are larger; ties count half, and so does the number
/// itself.
fn share_above(sorted: &[f64], x: f64) -> f64 {
    let below = sorted.partition_point(|&other| other < x);
    let upto = sorted.partition_point(|&other| other <= x);
    let (above, ties) = (sorted.len() - upto, upto - below);
    (above as f64 + 0.5 * (ties as f64 + 1.0)) / (sorted.len() as f64 + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::graph::Graph;

    /// Two rings of 30 nodes, and embeddings that tell them apart.
    fn rings() -> (Dataset, Vec<f32>) {
        let ring = |first: u32| (0..30u32).map(move |k| (first + k, first + (k + 1) % 30, 1.0));
        let links: Vec<_> = ring(0).chain(ring(30)).collect();
        let data = Dataset::from_links(Graph::from_rows(60, &links).unwrap()).unwrap();
        let y = (0..60).flat_map(|row| if row < 30 { [1.0, 0.1] } else { [0.1, 1.0] });
        (data, y.collect())
    }

    fn params() -> CheckedParams {
        let params = Params {
            dim: 2,
            ..Params::default()
        };
        params.check().unwrap()
    }

    #[test]
    fn links_of_a_fold_are_ranked_among_its_non_links() {
        let (data, y) = rings();
        let folds = Folds::new(0, 3).unwrap();
        let held_out = HeldOut::new(&data, folds, &params()).unwrap();
        let mut ends: Vec<[u32; 2]> = Vec::new();
        for fold in 0..3 {
            let ranks = held_out.ranks(fold, &y, params().given());
            assert_eq!(ranks.len(), held_out.folds[fold].links.len());
            // Half of the pairs are inside a ring and tie with the links.
            let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
            assert!((mean - 0.25).abs() < 0.05, "{mean}");
            ends.extend(held_out.folds[fold].links.iter().map(|pair| pair.ends));
            let split = folds.split(fold);
            let of_fold = &held_out.folds[fold];
            for pair in of_fold.links.iter().chain(&of_fold.non_links) {
                assert!(split.holds_out(pair.ends[0], pair.ends[1]));
            }
            let is_link = |pair: &PlacedPair| data.graph().weight(pair.ends[0], pair.ends[1]);
            assert!(of_fold.non_links.iter().all(|pair| is_link(pair).is_none()));
        }
        ends.sort_unstable();
        let links: Vec<[u32; 2]> = data.graph().links().map(|it| [it.src, it.dst]).collect();
        assert_eq!(ends, links);
    }

    #[test]
    fn ties_count_half() {
        assert_eq!(share_above(&[1.0, 2.0, 2.0, 3.0], 2.0), 0.5);
        assert_eq!(share_above(&[], 2.0), 0.5);
        assert_eq!(share_above(&[1.0, 2.0, 3.0], 4.0), 0.125);
    }
}

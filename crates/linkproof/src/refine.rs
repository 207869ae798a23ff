//! Setting suspects aside before the fit, as many as the held-out criterion
//! says; none where that is best, so that a clean graph does not lose.
//!
//! For some folds, each held out in turn: every other link is judged by a fit
//! that saw neither it nor the fold, the least trusted share is set aside, and
//! the criterion on the fold, suspects included, tells what that was worth. A
//! judge that had seen the fold would find just those links suspect that
//! disagree with it, and every share would look too good.

use rayon::prelude::*;
use serde::Serialize;

use crate::audit::{SeenWeights, Verdict, cross_fit, judge_inside, least_trusted_first, links_of};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::folds::{Care, Criterion, Folds, fit_fold};
use crate::graph::{Graph, LinkRules};
use crate::model::Fit;
use crate::objective::Prepared;
use crate::pairs::Split;
use crate::params::CheckedParams;
use crate::runtime::{FitCount, Runtime};

/// How suspects are found.
#[derive(Debug, Clone, PartialEq)]
pub struct Refinement {
    /// The shares of the links that may be set aside, ascending; none at all
    /// is always tried.
    pub shares: Vec<f64>,
    /// The number of folds.
    pub folds: usize,
    /// How many of them are held out to compare the shares.
    pub compared: usize,
    /// What compares them.
    pub criterion: Criterion,
}

impl Default for Refinement {
    fn default() -> Self {
        Refinement {
            shares: vec![0.05, 0.1, 0.2, 0.3, 0.45],
            folds: 5,
            compared: 2,
            criterion: Criterion::default(),
        }
    }
}

/// A share that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// The share of the links that was set aside.
    pub share: f64,
    /// The mean of the criterion over the pairs of each fold; smaller is better.
    pub folds: Vec<f64>,
}

impl Tried {
    fn mean(&self) -> f64 {
        self.folds.iter().sum::<f64>() / self.folds.len() as f64
    }
}

/// The links to set aside.
#[derive(Debug, Clone)]
pub struct Suspects {
    /// The chosen share of the links.
    pub share: f64,
    /// The links, least trusted first, each judged by a fit that did not see it.
    pub links: Vec<Verdict>,
    /// The same links as a graph, for a fit without them; `None`
    /// where nothing is set aside.
    pub aside: Option<Graph>,
    /// What was tried.
    pub tried: Vec<Tried>,
}

/// The most fits that [`find_suspects`] takes.
fn most_fits(settings: &Refinement) -> usize {
    let tried = settings.shares.len() + 1;
    settings.folds + settings.compared * (settings.folds - 1 + tried)
}

/// Finds the links that a fit is better off without.
pub fn find_suspects(
    params: &CheckedParams,
    data: &Dataset,
    settings: &Refinement,
    runtime: Runtime<'_>,
) -> Result<Suspects> {
    let share = |share: &f64| *share > 0.0 && *share < 1.0;
    if !settings.shares.iter().all(share) || !settings.shares.is_sorted() {
        return Err(Error::Param {
            name: "refine-shares",
            accepted: "numbers between 0 and 1, ascending".into(),
            given: format!("{:?}", settings.shares),
        });
    }
    let folds = Folds::new(params.seed, settings.folds)?;
    folds.check(data, params)?;
    let count = FitCount::new(runtime, most_fits(settings));
    let search = FoldSearch {
        params,
        data,
        folds,
        seen: SeenWeights::new(params, data)?,
        runtime: count.runtime(),
    };
    let outer: Vec<usize> = (0..settings.compared.clamp(1, settings.folds)).collect();
    let rankings: Vec<Vec<Verdict>> = outer
        .par_iter()
        .map(|&fold| search.rank_without(fold))
        .collect::<Result<_>>()?;
    let tried = search.try_shares(settings, &rankings)?;
    let best = tried.iter().min_by(|a, b| a.mean().total_cmp(&b.mean()));
    let share = best.map_or(0.0, |best| best.share);
    if share == 0.0 {
        return Ok(Suspects {
            share,
            links: Vec::new(),
            aside: None,
            tried,
        });
    }
    let judged = cross_fit(params, data, folds, &[], search.runtime)?.verdicts;
    let links = judged[..count_of(share, judged.len())].to_vec();
    Ok(Suspects {
        share,
        aside: Some(links_of(data, &links)?),
        links,
        tried,
    })
}

fn count_of(share: f64, links: usize) -> usize {
    (share * links as f64).round() as usize
}

struct FoldSearch<'s> {
    params: &'s CheckedParams,
    data: &'s Dataset,
    folds: Folds,
    seen: SeenWeights,
    runtime: Runtime<'s>,
}

impl FoldSearch<'_> {
    /// The links outside a fold, least trusted first: those of each other fold
    /// judged by a fit that saw neither.
    fn rank_without(&self, fold: usize) -> Result<Vec<Verdict>> {
        let split = self.folds.split(fold);
        let others: Vec<usize> = (0..self.folds.number()).filter(|&g| g != fold).collect();
        let parts: Vec<Vec<Verdict>> = others
            .par_iter()
            .map(|&other| {
                let judged = self.links_in(self.folds.split(other))?;
                let aside = self.data.to_user_rows(judged.clone())?;
                let fit = Fit::new(self.params).not_seeing(split).without(&aside);
                let fitted = fit.runtime(self.runtime.of_one_of_many()).run(self.data)?;
                self.runtime.after_fit(0, 0);
                Ok(judge_inside(&fitted, self.data, &self.seen, judged.links()))
            })
            .collect::<Result<_>>()?;
        Ok(least_trusted_first(parts.into_iter().flatten().collect()))
    }

    /// The links that a split holds out.
    fn links_in(&self, split: Split) -> Result<Graph> {
        let graph = self.data.graph();
        let links = graph.links();
        let links = links.filter(|link| split.holds_out(link.src, link.dst));
        Graph::new(graph.ids().clone(), links.collect(), LinkRules::default())
    }

    /// None, then every share in turn, until two in a row are worse than the best.
    fn try_shares(&self, settings: &Refinement, rankings: &[Vec<Verdict>]) -> Result<Vec<Tried>> {
        let mut tried: Vec<Tried> = Vec::new();
        let mut best = (f64::INFINITY, 0);
        for (place, share) in std::iter::once(0.0)
            .chain(settings.shares.iter().copied())
            .enumerate()
        {
            let folds = (0..rankings.len())
                .into_par_iter()
                .map(|fold| {
                    let ranking = &rankings[fold];
                    let aside = &ranking[..count_of(share, ranking.len())];
                    let value = self.criterion_on(fold, aside, settings.criterion)?;
                    self.runtime.after_fit(0, 0);
                    Ok(value)
                })
                .collect::<Result<_>>()?;
            let next = Tried { share, folds };
            if next.mean() < best.0 {
                best = (next.mean(), place);
            }
            tried.push(next);
            if place >= best.1 + 2 {
                break;
            }
        }
        Ok(tried)
    }

    fn criterion_on(&self, fold: usize, aside: &[Verdict], criterion: Criterion) -> Result<f64> {
        let aside = self.data.to_internal_rows(links_of(self.data, aside)?)?;
        let split = self.folds.split_of_fit(fold, self.params, self.data);
        let prepared = Prepared::new(self.data, self.params, Some(split), Some(&aside))?;
        let (formula, care) = (criterion.formula(), Care::Coarse(None));
        let fit = fit_fold(self.params, &prepared, care, &formula, self.runtime)?;
        Ok(fit.criterion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::synthetic::{Noise, synthetic};
    use crate::params::{Normalize, Params, ScoreKind};

    fn suspects(noise: Noise) -> (Suspects, Vec<u32>) {
        let made = synthetic(7, noise).unwrap();
        let params = Params {
            dim: 2,
            ridge: 3.0,
            score: ScoreKind::Likelihood,
            normalize: Normalize::None,
            ..Params::default()
        };
        let params = params.check().unwrap();
        let found = find_suspects(
            &params,
            &made.data,
            &Refinement::default(),
            Runtime::default(),
        );
        (found.unwrap(), made.labels)
    }

    #[test]
    fn corrupted_weights_are_set_aside_from_a_likelihood_fit() {
        let (found, labels) = suspects(Noise::corrupted_weights(0.01, 0.005, 100.0));
        assert!(found.share > 0.0, "{:?}", found.tried);
        let best = found
            .tried
            .iter()
            .map(Tried::mean)
            .fold(f64::INFINITY, f64::min);
        assert!(best < found.tried[0].mean() - 1e-5, "{:?}", found.tried);
        let n_heavy = found.links.iter().filter(|v| v.weight == 100.0).count();
        assert!(
            n_heavy as f64 > 0.5 * found.links.len() as f64,
            "{:?}",
            found.tried
        );
        assert_eq!(found.aside.unwrap().n_links(), found.links.len());
        let joins_two = |v: &&Verdict| labels[v.src as usize] != labels[v.dst as usize];
        assert!(found.links.iter().filter(joins_two).count() >= n_heavy);
    }

    #[test]
    fn a_clean_graph_keeps_its_links() {
        let (found, _) = suspects(Noise::false_links(0.0));
        assert_eq!(found.share, 0.0, "{:?}", found.tried);
        assert!(found.aside.is_none() && found.links.is_empty());
        assert!(found.tried.len() >= 3);
        // By far, and not by luck.
        let others = found.tried[1..].iter().map(Tried::mean);
        let next = others.fold(f64::INFINITY, f64::min);
        assert!(next > found.tried[0].mean() + 1e-5, "{:?}", found.tried);
    }

    #[test]
    fn shares_out_of_range_are_refused() {
        let made = synthetic(7, Noise::false_links(0.01)).unwrap();
        let params = Params::default().check().unwrap();
        for shares in [vec![0.0], vec![1.0], vec![f64::NAN], vec![0.2, 0.1]] {
            let settings = Refinement {
                shares,
                ..Refinement::default()
            };
            let found = find_suspects(&params, &made.data, &settings, Runtime::default());
            assert!(matches!(found, Err(Error::Param { .. })));
        }
    }
}

//! One run of the judge over links: evidence, combinations, claims, votes.

use super::Progress;
use super::candidates::{against_rivals, least_false, partner_shares, picked_by_likeness};
use super::claims::{
    RisingDensity, belief, interval, kept, logistic, logit, looks_random, mean_by_nodes,
};
use super::combine::{Agreement, Apart, agreement, joins_unlike, learned, standardize};
use super::evidence::{Evidence, Known};
use super::features::FeatureSpaces;
use super::outcome::{Cause, EvidenceColumn, Kind, Share, Unused};
use super::pairs::{Links, Pairs};
use super::strata::{COARSE, FINE, Strata};
use super::votes::{odds_by_vote, scores_in_strata};
use crate::error::Result;

/// Fewer links with evidence, or fewer non-links, say nothing.
const LEAST_COMPARED: usize = 50;
/// Links were picked by likeness if this is at least so much.
pub(super) const PICKED: f64 = 0.5;
/// The name of the weights among the columns.
pub(super) const WEIGHT: &str = "weight";

/// What a run is given.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub links: &'a Links,
    pub features: Option<&'a FeatureSpaces>,
    /// The weights, if they are evidence.
    pub weights: Option<&'a [f64]>,
    pub columns: &'a [EvidenceColumn],
    /// Whether each node has at most one real link.
    pub one_to_one: bool,
    /// How far links were picked by likeness; none: to be found out.
    pub picked: Option<f64>,
    /// Pairs to be compared with non-links, too.
    pub others: &'a [[u32; 2]],
    pub seed: u64,
}

/// What a run found, for each link.
pub(super) struct Assessed {
    /// Large: suspicious.
    pub suspicion: Vec<f64>,
    pub beliefs: Vec<f64>,
    pub share: Option<Share>,
    pub worse: Vec<f64>,
    /// The logarithm of the density of `worse`; one-to-one: the log odds of the belief.
    pub log_density: Vec<f64>,
    /// The log odds that weights and columns add.
    pub vote: Vec<f64>,
    /// Links of whose ends one has neither features nor another link.
    pub blind: Vec<bool>,
    pub abstained: bool,
    pub picked: f64,
    pub kinds: Vec<Kind>,
    pub loadings: Vec<f64>,
    /// The tails of each kind, of all pairs.
    pub tails: Vec<Vec<f32>>,
    /// The mean of `worse`, and its error.
    pub auc: (f64, f64),
    /// Similarity of features and common neighbors of all pairs, for ties and groups.
    pub nearness: Option<Vec<f64>>,
    pub common: Vec<f64>,
    pub weight_agreement: Option<f64>,
    pub unused: Vec<Unused>,
    pub pairs: Pairs,
    /// The share of each link at its ends, of links that compete.
    pub partner: Option<Vec<f64>>,
}

/// Evidence as tails.
struct Tails {
    kinds: Vec<Apart>,
    columns: Vec<Vec<f32>>,
    unused: Vec<Unused>,
    nearness: Option<Vec<f64>>,
    common: Vec<f64>,
}

impl Tails {
    fn add(&mut self, (kind, value): Evidence, pairs: &Pairs, coarse: &Strata) {
        let is_constant = value.iter().all(|&x| x == value[0]);
        if is_constant {
            self.unused.push(Unused {
                name: kind.name().to_owned(),
                cause: Cause::Constant,
            });
        } else {
            let ranks = coarse.ranks(pairs, &value);
            let auc = ranks[..pairs.n_links].iter().sum::<f64>() / pairs.n_links as f64;
            let tails = coarse.tails(pairs, &value);
            self.columns
                .push(tails.into_iter().map(|x| x as f32).collect());
            self.kinds.push(Apart { kind, auc });
        }
        match kind {
            Kind::Features => self.nearness = Some(value),
            Kind::CommonNeighbors => self.common = value,
            _ => {}
        }
    }
}

/// Judges links once.
pub(super) fn assess(input: &Input<'_>, progress: &mut Progress<'_>) -> Result<Assessed> {
    let links = input.links;
    let net = links.net();
    let pairs = Pairs::new(links, &links.kinds(), input.others, input.seed);
    let m = pairs.n_links;
    let (coarse, fine) = (
        Strata::new(&pairs, &net, COARSE),
        Strata::new(&pairs, &net, FINE),
    );
    let known = Known {
        links,
        net: &net,
        features: input.features,
        pairs: &pairs,
        seed: input.seed,
    };
    let mut tails = Tails {
        kinds: Vec::new(),
        columns: Vec::new(),
        unused: Vec::new(),
        nearness: None,
        common: vec![0.0; pairs.len()],
    };
    for evidence in known.exact() {
        tails.add(evidence, &pairs, &coarse);
    }
    progress.step(2.0)?;
    let fair = known.neighborhoods_are_fair();
    for evidence in known.held_out(progress)? {
        if evidence.0 == Kind::Neighborhoods && !fair {
            tails.unused.push(Unused {
                name: evidence.0.name().to_owned(),
                cause: Cause::Degrees,
            });
        } else {
            tails.add(evidence, &pairs, &coarse);
        }
    }
    if joins_unlike(&tails.kinds) {
        known
            .neighbor_features()
            .into_iter()
            .for_each(|it| tails.add(it, &pairs, &coarse));
    }
    let blind = blind(input, &net);
    let reverse = known.reverse();
    let n_seen = blind.iter().filter(|&&blind| !blind).count();
    let found = if n_seen.min(pairs.n_non_links) >= LEAST_COMPARED && !tails.kinds.is_empty() {
        Some(combined(&tails, reverse, &pairs))
    } else {
        None
    };
    progress.step(2.0)?;
    drop(net);
    let kinds = tails.kinds.iter().map(|it| it.kind).collect();
    let mut assessed = Assessed {
        suspicion: vec![0.0; m],
        beliefs: vec![1.0; m],
        share: None,
        worse: vec![0.5; m],
        log_density: vec![0.0; m],
        vote: vec![0.0; m],
        blind,
        abstained: true,
        picked: 0.0,
        kinds,
        loadings: vec![0.0; tails.columns.len()],
        tails: tails.columns,
        auc: (0.5, 0.0),
        nearness: tails.nearness,
        common: tails.common,
        weight_agreement: None,
        unused: tails.unused,
        partner: None,
        pairs,
    };
    match found {
        Some(found) => assessed.claim(input, found, (&coarse, &fine)),
        None => assessed.order_without_claims(input),
    }
    Ok(assessed)
}

/// The two combinations.
struct Combined {
    /// Of each link, for ranking.
    likely: Vec<f64>,
    /// Of links and non-links alike, for claims.
    plain: Vec<f64>,
    loadings: Vec<f64>,
}

fn combined(tails: &Tails, reverse: Option<Vec<f32>>, pairs: &Pairs) -> Combined {
    let m = pairs.n_links;
    let columns: Vec<&[f32]> = tails.columns.iter().map(Vec::as_slice).collect();
    let Agreement { score, loadings } = agreement(&columns, &tails.kinds, m);
    // The link the other way is in the learned score alone.
    let mut all = columns.clone();
    all.extend(reverse.as_deref());
    let mut learned = learned(&all, pairs);
    let mut likely = learned[..m].to_vec();
    standardize(&mut likely, m);
    let mut agreed = score;
    standardize(&mut agreed, m);
    likely
        .iter_mut()
        .zip(&agreed)
        .for_each(|(sum, x)| *sum += x);
    standardize(&mut likely, m);
    standardize(&mut learned, m);
    let mut plain: Vec<f64> = (0..pairs.len())
        .map(|place| {
            let terms = columns.iter().zip(&loadings);
            terms
                .map(|(column, loading)| loading * f64::from(column[place]))
                .sum()
        })
        .collect();
    standardize(&mut plain, m);
    plain
        .iter_mut()
        .zip(&learned)
        .for_each(|(sum, x)| *sum += x);
    Combined {
        likely,
        plain,
        loadings,
    }
}

/// Links of whose ends one has neither features nor another link.
fn blind(input: &Input<'_>, net: &super::net::Net) -> Vec<bool> {
    let is_silent = |node: u32| {
        let silent = input.features.is_none_or(|it| it.silent[node as usize]);
        silent && net.degree(node as usize) <= 1.0
    };
    let links = input.links.ends.iter();
    links
        .map(|ends| ends.iter().any(|&node| is_silent(node)))
        .collect()
}

impl Assessed {
    fn claim(&mut self, input: &Input<'_>, found: Combined, (coarse, fine): (&Strata, &Strata)) {
        let m = self.pairs.n_links;
        let Combined {
            mut likely,
            plain,
            loadings,
        } = found;
        self.loadings = loadings;
        self.worse = fine.ranks(&self.pairs, &plain);
        self.worse.truncate(m);
        let seen: Vec<f64> = self.seen(&self.worse);
        self.auc = mean_by_nodes(&self.worse, &input.links.ends, input.links.n);
        self.abstained = looks_random(self.auc);
        let share = interval(&seen);
        let estimate = share.estimate.unwrap_or(0.0);
        let density = RisingDensity::new(&seen);
        self.log_density = self.worse.iter().map(|&x| density.log_at(x)).collect();
        let mut beliefs: Vec<f64> = self
            .log_density
            .iter()
            .map(|&log| belief(estimate, log))
            .collect();
        self.log_density
            .iter_mut()
            .for_each(|log| *log = log.clamp(LEAST_LOG, MOST_LOG));

        self.picked = match input.picked {
            Some(picked) => picked,
            None => self.find_picked(fine, &beliefs),
        };
        if self.picked > 0.0 || input.one_to_one {
            let x: Vec<f64> = match &self.nearness {
                Some(nearness) => Strata::one(&self.pairs).tails(&self.pairs, nearness),
                None => likely.clone(),
            };
            let x = &x[..m];
            let partner = partner_shares(x, input.links);
            let rival = against_rivals(x, &partner, &beliefs);
            let picked = if input.one_to_one { 1.0 } else { self.picked };
            likely = likely
                .iter()
                .zip(&rival)
                .map(|(likely, rival)| picked * rival + (1.0 - picked) * likely)
                .collect();
            self.partner = Some(partner);
        }
        self.share = Some(share);
        if self.picked >= PICKED {
            self.share = Some(Share {
                estimate: None,
                high: 1.0,
                ..share
            });
        }
        self.hear_votes(input, coarse, &mut likely, &beliefs);
        if let Some(partner) = self.partner.as_ref().filter(|_| input.one_to_one) {
            // Whatever else: no node has two real links.
            let low = least_false(input.links);
            let mean = partner.iter().sum::<f64>() / m as f64;
            let scale = ((1.0 - low) / mean).min(1.0);
            beliefs = partner.iter().map(|share| kept(share * scale)).collect();
            self.log_density = beliefs.iter().map(|&b| logit(b)).collect();
            self.vote = vec![0.0; m];
            self.abstained = false;
            self.share = Some(Share {
                low,
                estimate: Some(1.0 - beliefs.iter().sum::<f64>() / m as f64),
                high: 1.0,
                high_unchecked: None,
            });
        } else if self.abstained {
            beliefs = vec![1.0; m];
            self.share = None;
        } else {
            for (belief, vote) in beliefs.iter_mut().zip(&self.vote) {
                *belief = kept(logistic(logit(*belief) + vote));
            }
            let seen = self.seen(&beliefs);
            let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
            let blind = beliefs
                .iter_mut()
                .zip(&self.blind)
                .filter(|(_, blind)| **blind);
            blind.for_each(|(belief, _)| *belief = mean);
        }
        self.beliefs = beliefs;
        self.suspicion = likely.into_iter().map(|x| -x).collect();
    }

    /// Forgets the tails of pairs that are no links.
    pub fn shrink(&mut self) {
        if self.pairs.len() == self.pairs.n_links + self.pairs.n_non_links {
            for tails in &mut self.tails {
                tails.truncate(self.pairs.n_links);
                tails.shrink_to_fit();
            }
        }
    }

    /// The values of the links that are not blind.
    fn seen(&self, values: &[f64]) -> Vec<f64> {
        let seen = values.iter().zip(&self.blind).filter(|(_, blind)| !**blind);
        seen.map(|(x, _)| *x).collect()
    }

    fn find_picked(&self, fine: &Strata, beliefs: &[f64]) -> f64 {
        let Some(nearness) = &self.nearness else {
            return 0.0;
        };
        let alike = fine.ranks(&self.pairs, nearness);
        let believed = alike
            .iter()
            .zip(beliefs)
            .filter(|(_, belief)| **belief >= 0.5);
        let alike: Vec<f64> = believed.map(|(alike, _)| *alike).collect();
        picked_by_likeness(&alike, &self.worse)
    }

    /// Weights and the user's columns vote together, and once.
    fn hear_votes(
        &mut self,
        input: &Input<'_>,
        coarse: &Strata,
        likely: &mut [f64],
        beliefs: &[f64],
    ) {
        let m = likely.len();
        standardize(likely, m);
        let mut sum = vec![0.0; m];
        let mut voters = 0;
        let weights = input.weights.map(|values| (WEIGHT, values));
        let columns = input
            .columns
            .iter()
            .map(|it| (it.name.as_str(), it.values.as_slice()));
        for (name, values) in columns.chain(weights) {
            let Some(z) = scores_in_strata(values, coarse, &self.pairs) else {
                self.unused.push(Unused {
                    name: name.to_owned(),
                    cause: Cause::Constant,
                });
                continue;
            };
            let agrees = z.iter().zip(likely.iter()).map(|(z, x)| z * x).sum::<f64>() / m as f64;
            if name == WEIGHT {
                self.weight_agreement = Some(agrees);
            }
            sum.iter_mut()
                .zip(&z)
                .for_each(|(sum, z)| *sum += agrees * z);
            voters += 1;
        }
        if voters == 0 {
            return;
        }
        standardize(&mut sum, m);
        let slope = sum
            .iter()
            .zip(likely.iter())
            .map(|(z, x)| z * x)
            .sum::<f64>()
            / m as f64;
        likely
            .iter_mut()
            .zip(&sum)
            .for_each(|(x, vote)| *x += slope * vote);
        self.vote = odds_by_vote(beliefs, &sum);
    }

    /// With too little to compare: by features, then weight, then common neighbors.
    fn order_without_claims(&mut self, input: &Input<'_>) {
        let m = self.pairs.n_links;
        let mut order: Vec<usize> = (0..m).collect();
        let number = |values: Option<&[f64]>, place: usize| values.map_or(0.0, |it| it[place]);
        let by = |values: Option<&[f64]>, a: usize, b: usize| {
            number(values, a).total_cmp(&number(values, b))
        };
        order.sort_by(|&a, &b| {
            by(self.nearness.as_deref(), a, b)
                .then(by(input.weights, a, b))
                .then(by(Some(&self.common), a, b))
        });
        for (place, link) in order.into_iter().enumerate() {
            self.suspicion[link] = -(place as f64);
        }
    }
}

/// The density is clipped here where checks recalibrate it.
const LEAST_LOG: f64 = -3.912_023_005_428_146;
const MOST_LOG: f64 = 3.912_023_005_428_146;

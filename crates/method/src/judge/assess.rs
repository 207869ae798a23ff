//! One run of the judge over links: evidence, combinations, claims, votes.

use super::Progress;
use super::candidates::{against_rivals, least_false, partner_shares, picked_by_likeness};
use super::claims::{
    RisingDensity, belief, interval, kept, logistic, logit, looks_random, mean_by_nodes,
};
use super::combine::{Apart, Combined, combined, joins_unlike};
use super::evidence::{Evidence, Known};
use super::features::FeatureSpaces;
use super::net::Net;
use super::outcome::{Cause, EvidenceColumn, Facts, Kind, Share, Unused};
use super::pairs::{Links, Pairs};
use super::strata::{COARSE, FINE, Strata};
use super::subject::Subject;
use super::votes::{WEIGHT, odds_by_vote, vote};
use crate::error::Result;

/// Fewer links with evidence, or fewer non-links, say nothing.
const LEAST_COMPARED: usize = 50;
/// Links were picked by likeness if this is at least so much.
const PICKED: f64 = 0.5;
/// The density is clipped here where checks recalibrate it.
const MOST_LOG: f64 = 3.912_023_005_428_146;

/// What a run is given.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub links: &'a Links,
    pub features: Option<&'a FeatureSpaces>,
    /// The user's columns; the last one are the weights, if they are evidence.
    pub columns: &'a [EvidenceColumn],
    /// Whether each node has at most one real link.
    pub one_to_one: bool,
    /// How far links were picked by likeness; none: to be found out.
    pub picked: Option<f64>,
    /// Pairs to be compared with non-links, too.
    pub others: &'a [[u32; 2]],
    pub seed: u64,
}

impl<'a> Input<'a> {
    /// What is known of a data set.
    pub fn new(
        subject: &'a Subject,
        columns: &'a [EvidenceColumn],
        others: &'a [[u32; 2]],
        seed: u64,
    ) -> Input<'a> {
        Input {
            links: &subject.links,
            features: subject.features.as_ref(),
            columns,
            one_to_one: false,
            picked: None,
            others,
            seed,
        }
    }

    /// Links of whose ends one has neither features nor another link.
    fn blind(&self, net: &Net) -> Vec<bool> {
        let is_silent = |&node: &u32| {
            let silent = self.features.is_none_or(|it| it.silent[node as usize]);
            silent && net.degree(node as usize) <= 1.0
        };
        let links = self.links.ends.iter();
        links.map(|ends| ends.iter().any(is_silent)).collect()
    }
}

/// What a run found, for each link.
pub(super) struct Assessed {
    /// What holds for all links together.
    pub facts: Facts,
    /// Large: suspicious.
    pub suspicion: Vec<f64>,
    pub beliefs: Vec<f64>,
    pub worse: Vec<f64>,
    /// The logarithm of the density of `worse`; one-to-one: the log odds of the belief.
    pub log_density: Vec<f64>,
    /// The log odds that weights and columns add.
    pub vote: Vec<f64>,
    /// Links of whose ends one has neither features nor another link.
    pub blind: Vec<bool>,
    /// The tails of each kind, of all pairs.
    pub tails: Vec<Vec<f32>>,
    /// Similarity of features and common neighbors of all pairs, for ties and groups.
    pub nearness: Option<Vec<f64>>,
    pub common: Vec<f64>,
    pub pairs: Pairs,
    /// The share of each link at its ends, of links that compete.
    pub partner: Option<Vec<f64>>,
}

/// Evidence as tails.
struct Tails<'p> {
    pairs: &'p Pairs,
    coarse: &'p Strata,
    kinds: Vec<Apart>,
    columns: Vec<Vec<f32>>,
    unused: Vec<Unused>,
    nearness: Option<Vec<f64>>,
    common: Vec<f64>,
}

impl Tails<'_> {
    fn add(&mut self, (kind, value): Evidence) {
        if value.iter().all(|&x| x == value[0]) {
            self.leave_out(kind, Cause::Constant);
        } else {
            let ranks = self.coarse.ranks(self.pairs, &value);
            let m = self.pairs.n_links;
            let auc = ranks[..m].iter().sum::<f64>() / m as f64;
            self.kinds.push(Apart { kind, auc });
            let tails = self.coarse.tails(self.pairs, &value).into_iter();
            self.columns.push(tails.map(|x| x as f32).collect());
        }
        match kind {
            Kind::Features => self.nearness = Some(value),
            Kind::CommonNeighbors => self.common = value,
            _ => {}
        }
    }

    fn leave_out(&mut self, kind: Kind, cause: Cause) {
        let name = kind.name().to_owned();
        self.unused.push(Unused { name, cause });
    }
}

/// Judges links once.
pub(super) fn assess(input: &Input<'_>, progress: &mut Progress<'_>) -> Result<Assessed> {
    let links = input.links;
    let net = links.net();
    let pairs = Pairs::new(links, input.others, input.seed);
    let m = pairs.n_links;
    let [coarse, fine] = [COARSE, FINE].map(|count| Strata::new(&pairs, &net, count));
    let known = Known {
        input,
        net: &net,
        pairs: &pairs,
    };
    let mut tails = Tails {
        pairs: &pairs,
        coarse: &coarse,
        kinds: Vec::new(),
        columns: Vec::new(),
        unused: Vec::new(),
        nearness: None,
        common: Vec::new(),
    };
    known.exact().into_iter().for_each(|it| tails.add(it));
    progress.step(2.0)?;
    let fair = known.neighborhoods_are_fair();
    for evidence in known.held_out(progress)? {
        if evidence.0 == Kind::Neighborhoods && !fair {
            tails.leave_out(evidence.0, Cause::Degrees);
        } else {
            tails.add(evidence);
        }
    }
    if joins_unlike(&tails.kinds) {
        let like = known.neighbor_features().into_iter();
        like.for_each(|it| tails.add(it));
    }
    let blind = input.blind(&net);
    let n_seen = blind.iter().filter(|&&blind| !blind).count();
    let enough = n_seen.min(pairs.n_non_links) >= LEAST_COMPARED && !tails.kinds.is_empty();
    let combined = enough.then(|| combined(&tails.columns, &tails.kinds, known.reverse(), &pairs));
    progress.step(2.0)?;
    drop(net);
    let facts = Facts {
        kinds: tails.kinds.iter().map(|it| it.kind).collect(),
        loadings: vec![0.0; tails.columns.len()],
        auc: 0.5,
        abstained: true,
        one_to_one: input.one_to_one,
        unused: tails.unused,
        ..Facts::default()
    };
    let mut assessed = Assessed {
        facts,
        suspicion: vec![0.0; m],
        beliefs: vec![1.0; m],
        worse: vec![0.5; m],
        log_density: vec![0.0; m],
        vote: vec![0.0; m],
        blind,
        tails: tails.columns,
        nearness: tails.nearness,
        common: tails.common,
        partner: None,
        pairs,
    };
    match combined {
        Some(combined) => assessed.claim(input, combined, &coarse, &fine),
        None => assessed.order_without_claims(input),
    }
    Ok(assessed)
}

impl Assessed {
    /// Places of the pairs that are neither links nor non-links, with their ends.
    pub fn others(&self) -> impl Iterator<Item = (usize, [u32; 2])> + '_ {
        let first = self.pairs.n_links + self.pairs.n_non_links;
        (first..).zip(self.pairs.ends[first..].iter().copied())
    }

    /// How much the kinds of evidence agree that a pair looks like a link.
    pub fn agreement(&self, place: usize) -> f64 {
        let tails = self.tails.iter().zip(&self.facts.loadings);
        let terms = tails.map(|(tails, loading)| loading * f64::from(tails[place]));
        terms.sum()
    }

    /// The tails of one kind.
    pub fn tails_of(&self, kind: Kind) -> Option<&[f32]> {
        let at = self.facts.kinds.iter().position(|&it| it == kind)?;
        Some(&self.tails[at])
    }

    /// The suspicion of the links that are believed, of the first `m`; none if the judge
    /// abstains.
    pub fn believed(&self, m: usize) -> Vec<f64> {
        let links = self.beliefs[..m].iter().zip(&self.suspicion);
        let believed = links.filter(|(belief, _)| !self.facts.abstained && **belief >= 0.5);
        believed.map(|(_, suspicion)| *suspicion).collect()
    }

    /// Forgets the evidence of pairs that are no links.
    pub fn shrink(&mut self) {
        let m = self.pairs.n_links;
        for tails in &mut self.tails {
            tails.truncate(m);
            tails.shrink_to_fit();
        }
        for values in self.nearness.iter_mut().chain([&mut self.common]) {
            values.truncate(m);
            values.shrink_to_fit();
        }
    }

    /// The values of the links that are not blind.
    fn seen(&self, values: &[f64]) -> Vec<f64> {
        let seen = values.iter().zip(&self.blind).filter(|(_, blind)| !**blind);
        seen.map(|(x, _)| *x).collect()
    }

    fn claim(&mut self, input: &Input<'_>, found: Combined, coarse: &Strata, fine: &Strata) {
        let m = self.pairs.n_links;
        let mut likely = found.likely;
        self.facts.loadings = found.loadings;
        self.worse = fine.ranks(&self.pairs, &found.plain);
        self.worse.truncate(m);
        let seen = self.seen(&self.worse);
        let (auc, error) = mean_by_nodes(&self.worse, &input.links.ends, input.links.n);
        (self.facts.auc, self.facts.auc_error) = (auc, error);
        self.facts.abstained = looks_random((auc, error));
        let mut share = interval(&seen);
        let estimate = share.estimate.unwrap_or(0.0);
        let density = RisingDensity::new(&seen);
        let logs = self.worse.iter().map(|&x| density.log_at(x));
        self.log_density = logs.collect();
        let logs = self.log_density.iter_mut();
        let of_link = |log: &mut f64| {
            let belief = belief(estimate, *log);
            *log = log.clamp(-MOST_LOG, MOST_LOG);
            belief
        };
        let mut beliefs: Vec<f64> = logs.map(of_link).collect();
        let picked = input.picked.unwrap_or_else(|| self.picked(fine, &beliefs));
        self.facts.candidates = picked;
        if picked > 0.0 || input.one_to_one {
            let x: Vec<f64> = match &self.nearness {
                Some(nearness) => Strata::one(&self.pairs).tails(&self.pairs, nearness),
                None => likely.clone(),
            };
            let x = &x[..m];
            let partner = partner_shares(x, input.links);
            let rival = against_rivals(x, &partner, &beliefs);
            let picked = if input.one_to_one { 1.0 } else { picked };
            for (likely, rival) in likely.iter_mut().zip(&rival) {
                *likely = picked * rival + (1.0 - picked) * *likely;
            }
            self.partner = Some(partner);
        }
        if picked >= PICKED {
            (share.estimate, share.high) = (None, 1.0);
        }
        let heard = vote(
            &mut likely,
            input.columns,
            coarse,
            &self.pairs,
            &mut self.facts,
        );
        if let Some(heard) = heard {
            self.vote = odds_by_vote(&beliefs, &heard);
        }
        self.facts.share = Some(share);
        if let Some(partner) = self.partner.as_ref().filter(|_| input.one_to_one) {
            // Whatever else: no node has two real links.
            let low = least_false(input.links);
            let mean = partner.iter().sum::<f64>() / m as f64;
            let scale = ((1.0 - low) / mean).min(1.0);
            beliefs = partner.iter().map(|share| kept(share * scale)).collect();
            self.log_density = beliefs.iter().map(|&b| logit(b)).collect();
            self.vote = vec![0.0; m];
            self.facts.abstained = false;
            self.facts.share = Some(Share {
                low,
                estimate: Some(1.0 - beliefs.iter().sum::<f64>() / m as f64),
                high: 1.0,
                high_unchecked: None,
            });
        } else if self.facts.abstained {
            beliefs = vec![1.0; m];
            self.facts.share = None;
        } else {
            for (belief, vote) in beliefs.iter_mut().zip(&self.vote) {
                *belief = kept(logistic(logit(*belief) + vote));
            }
            let seen = self.seen(&beliefs);
            let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
            let blind = beliefs.iter_mut().zip(&self.blind);
            let blind = blind.filter(|(_, blind)| **blind);
            blind.for_each(|(belief, _)| *belief = mean);
        }
        self.beliefs = beliefs;
        self.suspicion = likely.into_iter().map(|x| -x).collect();
    }

    /// How far links look as if their features had picked them.
    fn picked(&self, fine: &Strata, beliefs: &[f64]) -> f64 {
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

    /// With too little to compare: by features, then weight, then common neighbors.
    fn order_without_claims(&mut self, input: &Input<'_>) {
        let weights = input.columns.last().filter(|it| it.name == WEIGHT);
        let weights = weights.map(|it| it.values.as_slice());
        let keys = [self.nearness.as_deref(), weights, Some(&self.common)];
        let mut order: Vec<usize> = (0..self.pairs.n_links).collect();
        order.sort_by(|&a, &b| {
            let by = keys.iter().flatten().map(|key| key[a].total_cmp(&key[b]));
            by.reduce(|first, next| first.then(next))
                .unwrap_or(a.cmp(&b))
        });
        for (place, link) in order.into_iter().enumerate() {
            self.suspicion[link] = -(place as f64);
        }
    }
}

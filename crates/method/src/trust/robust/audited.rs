//! An audit: every link by what the model expects of it and by how far it is
//! believed, and which pairs miss a link.

use std::collections::BTreeMap;

use super::outcome::{Trust, judge_links};
use super::recipe::Recipe;
use super::unseen::{RANK_BY_VECTORS, WEIGHT_ODDS};
use crate::data::dataset::Dataset;
use crate::engine::runtime::Runtime;
use crate::error::{Error, Result};
use crate::model::folds::Folds;
use crate::model::{Believed, Fitted, held_out_pairs};
use crate::params::Params;
use crate::trust::audit::{
    self, Baseline, Contest, CrossFit, Judges, Missing, RandomPair, Thresholds, Verdict, as_fitted,
    can_fit, contest, discover, judge_by, missing, pairs_to_compare, sizes, taking_part,
};
use crate::trust::judge::evidence::Kind;
use crate::trust::judge::{JudgedLink, PRIOR};

/// Fewer links that a fit did not see say too little about it.
const FEWEST_UNSEEN: usize = 50;
/// Links are compared with the baseline by fits of their own up to this number.
const MOST_COMPARED: usize = 2000;
const DISCOVERY_RATE: &str = "false_discovery_rate";
const RANK: &str = "rank";

/// What makes a link a suspect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The share of sound links among the least believed ones, and of honest weights
    /// among those called too large.
    pub beliefs: Option<f64>,
    /// By the model's own expected weights.
    pub own: Option<Thresholds>,
}

impl Limits {
    /// As given; where nothing is, a share of 0.1 of the least believed links, or
    /// of the chance that they are sound where links are not judged.
    pub fn new(
        judge: bool,
        false_discovery_rate: Option<f64>,
        fdr: Option<f64>,
        min_trust: Option<f64>,
    ) -> Result<Limits> {
        let own = Thresholds::new(fdr, min_trust)?;
        let is_given = fdr.is_some() || min_trust.is_some();
        let rate = false_discovery_rate;
        if let Some(given) = rate.filter(|rate| !(0.0..=1.0).contains(rate)) {
            let name = "false-discovery-rate";
            return Err(Error::argument(name, "between 0 and 1", given));
        }
        Ok(Limits {
            beliefs: rate.or((judge && !is_given).then_some(0.1)),
            own: (is_given || !judge).then_some(own),
        })
    }
}

/// How links are audited.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditSettings {
    /// Judge how far links are believed, by fits that did not see them.
    pub judge: bool,
    /// Take expected weights from fits that did not see the link.
    pub cross_fit: bool,
    /// The folds of both.
    pub folds: usize,
    /// What makes a link a suspect.
    pub limits: Limits,
    /// List so many pairs of largest expected weight that have no link.
    pub missing: usize,
    /// The links are those of the model's fit: what a robust fit believes of them
    /// is known.
    pub own_links: bool,
}

/// A link and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AuditedLink {
    /// What the model expects of it.
    pub verdict: Verdict,
    /// `-log10` of the chance of a weight as large.
    pub surprise: f64,
    /// The chance that it is sound, by the model's own expected weights.
    pub fdr: f64,
    /// The rate of error of calling its weight too large.
    pub weight_fdr: f64,
    /// Whether it is a suspect.
    pub suspect: bool,
    /// The cosine of its ends' data vectors, where they have some of one kind.
    pub cosine: Option<f64>,
    /// The standard error of the logarithm of its expected weight, where the model has
    /// replicates.
    pub log_mu_error: Option<f64>,
    /// How far it is believed, where it was judged.
    pub judged: Option<JudgedLink>,
}

impl AuditedLink {
    /// Why it is a suspect: it is not believed, its weight is too large, or the model does
    /// not expect it. Empty for others.
    pub fn why(&self, limits: &Limits) -> &'static str {
        let within = |rate: f64| limits.beliefs.is_some_and(|limit| rate <= limit);
        let judged = self
            .judged
            .is_some_and(|it| within(it.false_discovery_rate));
        match (self.suspect, judged, within(self.weight_fdr)) {
            (false, ..) => "",
            (_, true, true) => "belief and weight",
            (_, true, false) => "belief",
            (_, false, true) => "weight",
            (_, false, false) => "model",
        }
    }
}

/// How links were judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Beliefs {
    /// What was found about all links together; none of links of the model's own
    /// fit, whose record has it.
    pub trust: Option<Trust>,
    /// Whether links could not be told from pairs without a link.
    pub abstained: bool,
    /// Whether the model reads data vectors that were not given.
    pub by_links_alone: bool,
    /// Why there was nothing to judge by.
    pub why_not: Option<String>,
}

/// What an audit found.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The links: where beliefs say something the least believed first, and of
    /// those, or else, the least trusted.
    pub links: Vec<AuditedLink>,
    /// How they were judged; none where that was not asked for.
    pub beliefs: Option<Beliefs>,
    /// The share of links that look like random pairs by their expected weights.
    pub random_share: f64,
    /// The number of links whose weight is too large (5% of them in error).
    pub too_heavy: usize,
    /// How model and cosines tell links from random pairs; none where there is too
    /// little to compare.
    pub contest: Option<Contest>,
    /// Pairs that miss a link.
    pub missing: Vec<Missing>,
    has_vectors: bool,
}

impl Audit {
    /// Whether links are in the order of beliefs.
    pub fn is_by_belief(&self) -> bool {
        self.beliefs.as_ref().is_some_and(|found| !found.abstained)
    }

    /// The number of suspects.
    pub fn n_suspects(&self) -> usize {
        self.links.iter().filter(|link| link.suspect).count()
    }

    /// The shares of the links and of the weight that the suspects have.
    pub fn suspect_shares(&self) -> (f64, f64) {
        let heaviest = self.links.iter().map(|link| link.verdict.weight.abs());
        let unit = heaviest.fold(f64::MIN_POSITIVE, f64::max);
        let (mut weight, mut all) = (0.0, 0.0);
        for link in &self.links {
            let share = link.verdict.weight.abs() / unit;
            all += share;
            weight += if link.suspect { share } else { 0.0 };
        }
        let links = self.n_suspects() as f64 / self.links.len().max(1) as f64;
        (links, weight / f64::max(all, f64::MIN_POSITIVE))
    }

    /// The numbers about each link, by name and in the order of a table; not a
    /// number where there is none.
    pub fn columns(&self) -> Vec<(String, Vec<f64>)> {
        let all = |number: &dyn Fn(&AuditedLink) -> f64| self.links.iter().map(number).collect();
        let mut columns: Vec<(String, Vec<f64>)> = vec![
            ("weight".into(), all(&|link| link.verdict.weight)),
            ("mu".into(), all(&|link| link.verdict.mu)),
            ("trust".into(), all(&|link| link.verdict.trust)),
            ("influence".into(), all(&|link| link.verdict.influence)),
            ("surprise".into(), all(&|link| link.surprise)),
            ("fdr".into(), all(&|link| link.fdr)),
            (
                "suspect".into(),
                all(&|link| f64::from(u8::from(link.suspect))),
            ),
        ];
        if self.has_vectors {
            let cosines = all(&|link| link.cosine.unwrap_or(f64::NAN));
            columns.push(("cosine".into(), cosines));
        }
        if self.beliefs.is_some() {
            for (name, number) in columns_of_judge() {
                let of = |link: &AuditedLink| link.judged.as_ref().map_or(f64::NAN, &number);
                columns.push((name, all(&of)));
            }
        }
        columns.push(("weight_fdr".into(), all(&|link| link.weight_fdr)));
        if self.links.iter().any(|link| link.log_mu_error.is_some()) {
            let errors = all(&|link| link.log_mu_error.unwrap_or(f64::NAN));
            columns.push(("log_mu_error".into(), errors));
        }
        columns
    }
}

type Number = Box<dyn Fn(&JudgedLink) -> f64>;

/// What the judge says of a link, by name.
fn columns_of_judge() -> Vec<(String, Number)> {
    let mut columns: Vec<(String, Number)> = vec![
        (Believed::BELIEF.into(), Box::new(|link| link.belief)),
        (
            DISCOVERY_RATE.into(),
            Box::new(|link| link.false_discovery_rate),
        ),
        (RANK.into(), Box::new(|link| link.rank)),
    ];
    for (place, kind) in Kind::ALL.into_iter().enumerate() {
        columns.push((rank_by(kind), Box::new(move |link| link.by_kind[place])));
    }
    columns.push((WEIGHT_ODDS.into(), Box::new(|link| link.weight_odds)));
    columns
}

fn rank_by(kind: Kind) -> String {
    format!("rank_{}", kind.to_string().replace('-', "_"))
}

/// Judged links as a model keeps them.
pub(super) fn numbers(links: &[JudgedLink]) -> BTreeMap<String, Vec<f64>> {
    let mut columns = columns_of_judge();
    columns.push((
        RANK_BY_VECTORS.into(),
        Box::new(|link| link.rank_by_vectors),
    ));
    let all = |number: Number| links.iter().map(number).collect();
    columns
        .into_iter()
        .map(|(name, number)| (name, all(number)))
        .collect()
}

/// The links of a robust fit as it judged them, by their ends; none of other models.
pub fn remembered(model: &Fitted) -> Option<Vec<JudgedLink>> {
    let believed = model.believed()?;
    let number = |name: &str, place: usize| {
        let column = believed.column(name);
        column.map_or(f64::NAN, |numbers| numbers[place])
    };
    let links = model.links().links().enumerate();
    let judged = links.map(|(place, link)| JudgedLink {
        src: link.src,
        dst: link.dst,
        weight: link.weight,
        belief: number(Believed::BELIEF, place),
        false_discovery_rate: number(DISCOVERY_RATE, place),
        rank: number(RANK, place),
        rank_by_vectors: number(RANK_BY_VECTORS, place),
        by_kind: Kind::ALL.map(|kind| number(&rank_by(kind), place)),
        weight_odds: number(WEIGHT_ODDS, place),
    });
    Some(judged.collect())
}

/// Audits links between a model's nodes; `data` has these, and data vectors where
/// they are known. (See [`audit::judged_data`].)
pub fn audit(
    model: &Fitted,
    data: &Dataset,
    settings: &AuditSettings,
    runtime: Runtime<'_>,
) -> Result<Audit> {
    Folds::new(0, settings.folds)?;
    let random = pairs_to_compare(model, data);
    let baseline = Baseline::new(data);
    let links = data.user_graph()?;
    let unseen = unseen_links(model, data);
    // Few links are told from random pairs by fits of their own.
    let few = unseen.len() < FEWEST_UNSEEN && links.n_links() < MOST_COMPARED;
    let compares = baseline.is_some() && few && can_fit(model, data);
    let crossed = match settings.cross_fit || compares {
        true => match judge_by(model, data, Judges::Folds(settings.folds), runtime) {
            Ok(crossed) => Some(crossed),
            Err(error) if settings.cross_fit || is_final(&error) => return Err(error),
            // The comparison was our idea.
            Err(_) => None,
        },
        false => None,
    };
    let plain = as_fitted(model, data, &random)?;
    let contest = match (&baseline, &crossed) {
        (Some(baseline), Some(crossed)) => {
            compare(baseline, &crossed.verdicts, (&random, &crossed.random))?
        }
        (Some(baseline), None) if unseen.len() >= FEWEST_UNSEEN => {
            compare(baseline, &unseen, (&random, &plain.random))?
        }
        _ => None,
    };
    let CrossFit { verdicts, random } = match crossed {
        Some(crossed) if settings.cross_fit => crossed,
        _ => plain,
    };
    let (judged, beliefs) = match settings.judge {
        true => {
            believe(model, data, settings, runtime).map(|(links, found)| (links, Some(found)))?
        }
        false => (Vec::new(), None),
    };
    let find = |verdict: &Verdict| {
        let ends = (verdict.src.min(verdict.dst), verdict.src.max(verdict.dst));
        let place = judged.binary_search_by_key(&ends, |link| (link.src, link.dst));
        place.ok().map(|place| judged[place])
    };
    let belief = |verdict: &Verdict| find(verdict).map_or(1.0, |link| link.belief);
    let law = sizes(model, &verdicts, belief);
    let discovery = discover(&verdicts, law.as_ref(), &random);
    let speaks = beliefs.as_ref().is_some_and(|found| !found.abstained);
    let limits = &settings.limits;
    let all = verdicts
        .iter()
        .zip(discovery.rates.iter().zip(&discovery.weight_rates))
        .map(|(verdict, (&fdr, &weight_fdr))| {
            let judged = find(verdict);
            let by_belief = judged.filter(|_| speaks).zip(limits.beliefs);
            AuditedLink {
                verdict: *verdict,
                surprise: verdict.surprise(law.as_ref()),
                fdr,
                weight_fdr,
                suspect: by_belief.is_some_and(|(link, rate)| link.false_discovery_rate <= rate)
                    || limits.beliefs.is_some_and(|rate| weight_fdr <= rate)
                    || limits.own.is_some_and(|own| own.call(verdict, fdr)),
                cosine: baseline
                    .as_ref()
                    .and_then(|it| it.cosine(verdict.src, verdict.dst)),
                log_mu_error: model
                    .spread(verdict.src as usize, verdict.dst as usize)
                    .map(|spread| spread.error),
                judged,
            }
        });
    let mut all: Vec<AuditedLink> = all.collect();
    if speaks {
        let belief = |link: &AuditedLink| link.judged.map_or(f64::INFINITY, |it| it.belief);
        all.sort_by(|a, b| belief(a).total_cmp(&belief(b)));
    }
    Ok(Audit {
        links: all,
        beliefs,
        random_share: discovery.random_share,
        too_heavy: discovery.too_heavy,
        contest,
        missing: missing(model, &links, settings.missing),
        has_vectors: baseline.is_some(),
    })
}

/// Whether an error ends an audit of which other parts stand without.
fn is_final(error: &Error) -> bool {
    matches!(
        error,
        Error::Interrupted { .. } | Error::Param { .. } | Error::Memory { .. }
    )
}

/// How model and baseline tell links that no fit saw from random pairs.
fn compare(
    baseline: &Baseline<'_>,
    unseen: &[Verdict],
    (random, mus): (&[RandomPair], &[f64]),
) -> Result<Option<Contest>> {
    let links = unseen
        .iter()
        .map(|link| (link.strength, baseline.cosine(link.src, link.dst)));
    let pairs = random.iter().zip(mus);
    let pairs = pairs.map(|(pair, &mu)| (mu, baseline.cosine(pair.src, pair.dst)));
    contest(&Vec::from_iter(links), &Vec::from_iter(pairs))
}

/// The links that the model's fit held out, as the model judges them. With
/// several views the order of nodes inside that fit is not known here.
fn unseen_links(model: &Fitted, data: &Dataset) -> Vec<Verdict> {
    let Ok(params) = model.params().clone().check() else {
        return Vec::new();
    };
    let counts = model.report().counts;
    let n_links = counts.training_links + counts.held_out_links + counts.ignored_links;
    let split = held_out_pairs(&params, n_links + counts.set_aside_links);
    let Some(split) = split.filter(|_| model.views().len() == 1) else {
        return Vec::new();
    };
    let links = data.graph().links();
    let held = links.filter(|link| split.holds_out(link.src, link.dst));
    audit::judge(model, held)
}

/// How far links are believed, by their ends. A robust fit has judged its own;
/// others are judged now, views whose data vectors are not given by links alone.
fn believe(
    model: &Fitted,
    data: &Dataset,
    settings: &AuditSettings,
    runtime: Runtime<'_>,
) -> Result<(Vec<JudgedLink>, Beliefs)> {
    let own = model.believed().filter(|_| settings.own_links);
    if let Some((believed, links)) = own.zip(remembered(model)) {
        let found = Beliefs {
            trust: None,
            abstained: believed.abstained,
            by_links_alone: false,
            why_not: None,
        };
        return Ok((links, found));
    }
    let mut recipe = Recipe {
        folds: settings.folds,
        ..Recipe::default()
    };
    if let Some(believed) = model.believed() {
        let _ = believed;
    }
    let by_links_alone = !can_fit(model, data);
    let mut params: Params = model.params().clone();
    if by_links_alone {
        // Tables, for views whose data vectors are not here.
        (params.encoder, params.view_encoders) = (None, Default::default());
    }
    let judgement = taking_part(model, data.clone())
        .and_then(|(data, _)| judge_links(&params.check()?, &data, &recipe, runtime));
    let mut found = Beliefs {
        trust: None,
        abstained: true,
        by_links_alone,
        why_not: None,
    };
    let mut links = match judgement {
        Ok((judgement, _)) => {
            found.abstained = judgement.abstained;
            found.trust = Some(Trust::new(&judgement));
            judgement.links
        }
        Err(error) if is_final(&error) => return Err(error),
        // What the model itself says of the links stands without.
        Err(error) => {
            found.why_not = Some(error.to_string());
            untold(data)
        }
    };
    links.sort_by_key(|link| (link.src, link.dst));
    Ok((links, found))
}

/// Links of which nothing is known: all are believed alike.
fn untold(data: &Dataset) -> Vec<JudgedLink> {
    let links = data.graph().links().map(|link| {
        let [a, b] = [link.src, link.dst].map(|row| data.user_row(row as usize) as u32);
        JudgedLink {
            src: a.min(b),
            dst: a.max(b),
            weight: link.weight,
            belief: PRIOR,
            false_discovery_rate: PRIOR,
            rank: 0.5,
            rank_by_vectors: 0.5,
            by_kind: [0.5; Kind::ALL.len()],
            weight_odds: 1.0,
        }
    });
    links.collect()
}

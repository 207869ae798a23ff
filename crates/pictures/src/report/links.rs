//! The links of a page: what the model expects of them, how far they are believed, and
//! which of many are shown.

use serde_json::{Value, json};

use super::Page;
use super::arrays::{array, reals};
use linkproof_method::data::graph::Graph;
use linkproof_method::error::Result;
use linkproof_method::trust::audit::{
    Thresholds, Verdict, as_fitted, discover, judged_data, pairs_to_compare, sizes, taking_part,
};
use linkproof_method::trust::judge::JudgedLink;
use linkproof_method::trust::judge::evidence::Kind;
use linkproof_method::trust::robust::remembered;

/// So many links are drawn at most: the least believed, and some of the others.
const MOST_LINKS: usize = 500_000;
/// Suspects are the least believed links, with at most this share of sound ones.
const SUSPECTS: f64 = 0.1;

/// The links of which the fit tells something.
pub(super) struct Judged {
    /// They themselves.
    pub graph: Graph,
    /// The share that looks like random pairs.
    pub random_share: f64,
    /// The least believed first, or the least trusted where there are no beliefs.
    links: Vec<JudgedOne>,
    by_belief: bool,
}

struct JudgedOne {
    verdict: Verdict,
    rate: f64,
    belief: Option<JudgedLink>,
    suspect: bool,
    /// The standard error of the logarithm of its expected weight, where it is known.
    error: Option<f64>,
}

impl Page<'_> {
    /// How the model judges its links.
    pub(super) fn judge(&self) -> Result<Judged> {
        let data = judged_data(self.model, self.links.clone(), Vec::new())?;
        let (data, _) = taking_part(self.model, data)?;
        let random = pairs_to_compare(self.model, &data);
        let judged = as_fitted(self.model, &data, &random)?;
        let law = sizes(self.model, &judged.verdicts, |_| 1.0);
        let discovery = discover(&judged.verdicts, law.as_ref(), &judged.random);
        // Where all are believed alike, beliefs say nothing.
        let speaks = self.model.believed().is_some_and(|it| !it.abstained);
        let beliefs = remembered(self.model)
            .filter(|_| speaks)
            .unwrap_or_default();
        let find = |link: &Verdict| {
            let ends = (link.src.min(link.dst), link.src.max(link.dst));
            let place = beliefs.binary_search_by_key(&ends, |it| (it.src, it.dst));
            place.ok().map(|place| beliefs[place])
        };
        let own = Thresholds::new(None, None)?;
        let spread = |link: &Verdict| {
            let found = self.model.spread(link.src as usize, link.dst as usize);
            found.map(|spread| spread.error)
        };
        let rates = discovery.rates.iter().zip(&discovery.weight_rates);
        let verdicts = judged.verdicts.into_iter().zip(rates);
        let mut links: Vec<JudgedOne> = verdicts
            .map(|(verdict, (&rate, &weight_rate))| {
                let belief = find(&verdict);
                JudgedOne {
                    verdict,
                    rate,
                    belief,
                    error: spread(&verdict),
                    suspect: match belief {
                        Some(it) => it.false_discovery_rate.min(weight_rate) <= SUSPECTS,
                        None => own.call(&verdict, rate),
                    },
                }
            })
            .collect();
        let by_belief = !links.is_empty() && links.iter().all(|link| link.belief.is_some());
        if by_belief {
            let belief = |link: &JudgedOne| link.belief.map_or(1.0, |it| it.belief);
            links.sort_by(|a, b| belief(a).total_cmp(&belief(b)));
        }
        Ok(Judged {
            graph: data.user_graph()?,
            random_share: discovery.random_share,
            links,
            by_belief,
        })
    }
}

impl Judged {
    /// The links that are drawn.
    pub(super) fn drawn(&self) -> Value {
        let suspects: Vec<bool> = self.links.iter().map(|link| link.suspect).collect();
        let places = shown(&suspects, MOST_LINKS);
        let each = || places.iter().map(|&place| &self.links[place]);
        let numbers = |number: fn(&Verdict) -> f64| {
            let finite = |link: &JudgedOne| number(&link.verdict).clamp(f64::MIN, f64::MAX);
            reals(&each().map(finite).collect::<Vec<f64>>())
        };
        let single = |value: f64| value.clamp(0.0, f64::from(f32::MAX)) as f32;
        let mut drawn = json!({
            "n": self.links.len(),
            "shown": places.len(),
            "suspects": suspects.iter().filter(|suspect| **suspect).count(),
            "src": array(each().map(|link| link.verdict.src)),
            "dst": array(each().map(|link| link.verdict.dst)),
            "weight": numbers(|verdict| verdict.weight),
            "mu": numbers(|verdict| verdict.mu),
            "trust": array(each().map(|link| single(link.verdict.trust))),
            "chance": array(each().map(|link| single(link.rate))),
            "suspect": array(each().map(|link| u8::from(link.suspect))),
        });
        if self.links.iter().any(|link| link.error.is_some()) {
            let errors = each().map(|link| link.error.map_or(f32::NAN, |error| error as f32));
            drawn["spread"] = array(errors);
        }
        if self.by_belief {
            let of_judge = |number: &dyn Fn(&JudgedLink) -> f64| {
                array(each().map(|link| single(link.belief.as_ref().map_or(f64::NAN, number))))
            };
            drawn["belief"] = of_judge(&|it| it.belief);
            drawn["rate"] = of_judge(&|it| it.false_discovery_rate);
            drawn["weight_odds"] = of_judge(&|it| it.weight_odds);
            let mut evidence = Vec::new();
            for (place, kind) in Kind::ALL.into_iter().enumerate() {
                let name = kind.to_string().replace('-', " ");
                let column = format!("rank_{}", name.replace(' ', "_"));
                drawn[&column] = of_judge(&|it| it.by_kind[place]);
                evidence.push(json!({ "name": name, "column": column }));
            }
            drawn["evidence"] = evidence.into();
        }
        drawn
    }
}

/// Places of links to show, at most so many: a tenth of them the least trusted,
/// then the suspects, then others at equal distances.
fn shown(suspects: &[bool], most: usize) -> Vec<usize> {
    let n = suspects.len();
    if n <= most {
        return (0..n).collect();
    }
    let first = most / 10;
    let called = (first..n).filter(|&place| suspects[place]);
    let mut places: Vec<usize> = (0..first).chain(called).take(most - most / 10).collect();
    let others: Vec<usize> = (first..n).filter(|&place| !suspects[place]).collect();
    let room = (most - places.len()).min(others.len());
    places.extend((0..room).map(|place| others[place * others.len() / room]));
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_links_are_all_shown_and_of_many_every_suspect() {
        assert_eq!(shown(&[false, true, false], 3), [0, 1, 2]);
        let suspects: Vec<bool> = (0..1000).map(|place| place % 10 == 7).collect();
        let places = shown(&suspects, 200);
        assert_eq!(places.len(), 200);
        assert!(places.is_sorted_by(|a, b| a < b));
        assert!((0..20).all(|place| places.contains(&place)));
        assert_eq!(places.iter().filter(|&&place| suspects[place]).count(), 100);
        // Too many suspects leave room for others.
        let places = shown(&vec![true; 1000], 200);
        assert!(places.len() <= 200);
    }
}

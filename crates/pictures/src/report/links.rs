//! The links of a page: how they are judged, what the model expects of them, and which of
//! many are shown.

use serde_json::{Value, json};

use super::Page;
use super::arrays::{array, reals};
use linkproof_method::audit::{
    Audit, AuditSettings, ExpectedLink, audit, judged_data, taking_part,
};
use linkproof_method::data::graph::Graph;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::judge::JudgeSpec;
use linkproof_method::model::Spread;
use linkproof_text::why;

/// So many links are drawn at most: the most suspicious, and some of the others.
const MOST_LINKS: usize = 500_000;

/// In a plain fit a link of less trust is a suspect, too: its weight is far too large.
const FAR_TOO_HEAVY: f64 = 0.05;

/// The links of a page, judged.
pub(super) struct Judged {
    /// They themselves.
    pub graph: Graph,
    found: Audit,
    /// Whether a robust fit has judged them.
    has_judgment: bool,
}

impl Page<'_> {
    /// The links of the model as a robust fit has judged them; those of other models are
    /// compared with what the model expects.
    pub(super) fn judge(&self) -> Result<Judged> {
        let data = judged_data(self.model, self.links.clone(), Vec::new())?;
        let (data, _) = taking_part(self.model, data)?;
        let known = self.model.believed();
        let kept = known.and_then(|it| it.judgment(self.model.links()));
        let settings = AuditSettings {
            judge: JudgeSpec {
                test: false,
                ..JudgeSpec::default()
            },
            missing: 0,
        };
        let has_judgment = kept.is_some();
        let judged = (!has_judgment).then_some(&data);
        Ok(Judged {
            found: audit(self.model, judged, &settings, Runtime::default())?,
            graph: data.user_graph()?,
            has_judgment,
        })
    }

    /// The links that are drawn: the least believed first, or the least trusted if there are
    /// no beliefs.
    pub(super) fn drawn_links(&self, judged: &Judged) -> Value {
        let (all, judgment) = (&judged.found.expected, &judged.found.judgment);
        let has_beliefs = judged.has_judgment && !judgment.facts.abstained;
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| {
            if has_beliefs {
                let [a, b] = [a, b].map(|place| &judgment.links[place]);
                a.belief.total_cmp(&b.belief).then(a.rank.cmp(&b.rank))
            } else {
                all[a].trust.total_cmp(&all[b].trust)
            }
        });
        let is_suspect = |place: usize| {
            let is_heavy = !judged.has_judgment && all[place].trust < FAR_TOO_HEAVY;
            judgment.links[place].suspect || is_heavy
        };
        let suspects: Vec<bool> = order.iter().map(|&place| is_suspect(place)).collect();
        let places = shown(&suspects, MOST_LINKS);
        let each = || places.iter().map(|&place| &all[order[place]]);
        let of_judge = || places.iter().map(|&place| &judgment.links[order[place]]);
        let numbers = |number: fn(&ExpectedLink) -> f64| {
            let finite = |link: &ExpectedLink| number(link).clamp(f64::MIN, f64::MAX);
            reals(&each().map(finite).collect::<Vec<f64>>())
        };
        let single = |value: f64| value.clamp(0.0, f64::from(f32::MAX)) as f32;
        let mut drawn = json!({
            "n": all.len(),
            "shown": places.len(),
            "suspects": suspects.iter().filter(|suspect| **suspect).count(),
            "src": array(each().map(|link| link.src)),
            "dst": array(each().map(|link| link.dst)),
            "weight": numbers(|link| link.weight),
            "mu": numbers(|link| link.mu),
            "trust": array(each().map(|link| single(link.trust))),
            "suspect": array(places.iter().map(|&place| u8::from(suspects[place]))),
        });
        // Standard errors of the logarithms of expected weights, if they are known.
        let spread = each().map(|link| self.model.spread(link.src as usize, link.dst as usize));
        let spread: Vec<_> = spread.collect();
        if spread.iter().any(Option::is_some) {
            let error =
                |known: &Option<Spread>| known.as_ref().map_or(f32::NAN, |it| it.error as f32);
            drawn["spread"] = array(spread.iter().map(error));
        }
        if has_beliefs {
            let name = |row: u32| {
                let title = self.model.title(row as usize).map(str::to_owned);
                title.unwrap_or_else(|| self.model.ids().name(row as usize).into_owned())
            };
            let reasons = places.iter().map(|&place| judgment.reasons(order[place]));
            drawn["belief"] = array(of_judge().map(|link| single(link.belief)));
            drawn["rank"] = array(of_judge().map(|link| link.rank as u32));
            drawn["why"] = reasons.map(|reasons| why(&reasons, &name)).collect();
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

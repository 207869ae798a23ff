//! The links of a page: how they are judged, what the model expects of them, and which of
//! many are shown.

use serde_json::{Value, json};

use super::Page;
use super::arrays::{array, reals};
use linkproof_method::audit::{AuditSettings, ExpectedLink, audit, judged_data, taking_part};
use linkproof_method::data::graph::Graph;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::judge::{JudgeSpec, Judgment};
use linkproof_text::why;

/// So many links are drawn at most: the most suspicious, and some of the others.
const MOST_LINKS: usize = 500_000;

/// In a plain fit a link of less trust is a suspect, too: its weight is far too large.
const FAR_TOO_HEAVY: f64 = 0.05;

/// The links of a page.
pub(super) struct Judged {
    /// They themselves.
    pub graph: Graph,
    /// The least believed first, or the least trusted if there are no beliefs.
    links: Vec<JudgedOne>,
    has_beliefs: bool,
}

struct JudgedOne {
    expected: ExpectedLink,
    belief: f64,
    rank: usize,
    why: String,
    suspect: bool,
    /// The standard error of the logarithm of its expected weight, if it is known.
    error: Option<f64>,
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
        let found = audit(
            self.model,
            (!has_judgment).then_some(&data),
            &settings,
            Runtime::default(),
        )?;
        let has_beliefs = has_judgment && !found.judgment.facts.abstained;
        let mut links: Vec<JudgedOne> = found
            .expected
            .iter()
            .enumerate()
            .map(|(place, expected)| self.one(&found.judgment, place, expected, has_judgment))
            .collect();
        links.sort_by(|a, b| match has_beliefs {
            true => a.belief.total_cmp(&b.belief).then(a.rank.cmp(&b.rank)),
            false => a.expected.trust.total_cmp(&b.expected.trust),
        });
        Ok(Judged {
            graph: data.user_graph()?,
            links,
            has_beliefs,
        })
    }

    fn one(
        &self,
        judgment: &Judgment,
        place: usize,
        expected: &ExpectedLink,
        has_judgment: bool,
    ) -> JudgedOne {
        let judged = &judgment.links[place];
        let name = |row: u32| {
            let title = self.model.title(row as usize).map(str::to_owned);
            title.unwrap_or_else(|| self.model.ids().name(row as usize).into_owned())
        };
        let (src, dst) = (expected.src as usize, expected.dst as usize);
        JudgedOne {
            expected: *expected,
            belief: judged.belief,
            rank: judged.rank,
            why: match has_judgment {
                true => why(&judgment.reasons(place), &name),
                false => String::new(),
            },
            suspect: judged.suspect || (!has_judgment && expected.trust < FAR_TOO_HEAVY),
            error: self.model.spread(src, dst).map(|spread| spread.error),
        }
    }
}

impl Judged {
    /// The links that are drawn.
    pub(super) fn drawn(&self) -> Value {
        let suspects: Vec<bool> = self.links.iter().map(|link| link.suspect).collect();
        let places = shown(&suspects, MOST_LINKS);
        let each = || places.iter().map(|&place| &self.links[place]);
        let numbers = |number: fn(&ExpectedLink) -> f64| {
            let finite = |link: &JudgedOne| number(&link.expected).clamp(f64::MIN, f64::MAX);
            reals(&each().map(finite).collect::<Vec<f64>>())
        };
        let single = |value: f64| value.clamp(0.0, f64::from(f32::MAX)) as f32;
        let mut drawn = json!({
            "n": self.links.len(),
            "shown": places.len(),
            "suspects": suspects.iter().filter(|suspect| **suspect).count(),
            "src": array(each().map(|link| link.expected.src)),
            "dst": array(each().map(|link| link.expected.dst)),
            "weight": numbers(|link| link.weight),
            "mu": numbers(|link| link.mu),
            "trust": array(each().map(|link| single(link.expected.trust))),
            "suspect": array(each().map(|link| u8::from(link.suspect))),
        });
        if self.links.iter().any(|link| link.error.is_some()) {
            let errors = each().map(|link| link.error.map_or(f32::NAN, |error| error as f32));
            drawn["spread"] = array(errors);
        }
        if self.has_beliefs {
            drawn["belief"] = array(each().map(|link| single(link.belief)));
            drawn["rank"] = array(each().map(|link| link.rank as u32));
            drawn["why"] = each().map(|link| link.why.as_str()).collect();
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

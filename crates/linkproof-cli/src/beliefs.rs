//! How far the links of an audit are believed.

use std::collections::HashMap;
use std::path::Path;

use linkproof::audit::{self, Verdict};
use linkproof::judge::{JudgedLink, Judgement};
use linkproof::robust::{Recipe, Trust, judge_links};
use linkproof::{Error, Params};
use serde_json::Value;

use crate::judged::Judged;
use crate::progress::Progress;
use crate::robust::{counting, trust_in_words};
use crate::words::Flags;

/// What the judge adds to the columns of an audit.
pub const JUDGED_COLUMNS: [&str; 8] = [
    "belief",
    "false_discovery_rate",
    "rank",
    "rank_embeddings",
    "rank_averages",
    "rank_data_vectors",
    "rank_common_neighbors",
    "weight_odds",
];

/// The numbers of these columns.
pub fn judged_columns(link: &JudgedLink) -> [f64; JUDGED_COLUMNS.len()] {
    let [embeddings, averages, data_vectors, common_neighbors] = link.by_kind;
    [
        link.belief,
        link.false_discovery_rate,
        link.rank,
        embeddings,
        averages,
        data_vectors,
        common_neighbors,
        link.weight_odds,
    ]
}

/// What the judge found.
pub struct Beliefs {
    /// None where it could not judge.
    pub judgement: Option<Judgement>,
    /// Why not.
    pub why_not: Option<String>,
    /// Whether the model reads data vectors that were not given.
    pub by_links_alone: bool,
    /// For each link of the audit, if it was judged.
    pub links: Vec<Option<JudgedLink>>,
}

impl Beliefs {
    /// The same for these links, in their order.
    pub fn of(mut self, verdicts: &[Verdict]) -> Beliefs {
        let ends = |a: u32, b: u32| (a.min(b), a.max(b));
        let links = self.judgement.iter().flat_map(|found| &found.links);
        let known: HashMap<(u32, u32), JudgedLink> = links
            .map(|link| (ends(link.src, link.dst), *link))
            .collect();
        let find = |verdict: &Verdict| known.get(&ends(verdict.src, verdict.dst)).copied();
        self.links = verdicts.iter().map(find).collect();
        self
    }

    /// Whether beliefs say something.
    pub fn speak(&self) -> bool {
        self.judgement
            .as_ref()
            .is_some_and(|found| !found.abstained)
    }

    /// What was found about all links together.
    pub fn trust(&self) -> Option<Trust> {
        self.judgement.as_ref().map(Trust::new)
    }

    /// The same in words.
    pub fn words(&self) -> String {
        let mut text = self
            .trust()
            .as_ref()
            .map_or_else(String::new, trust_in_words);
        if let Some(why_not) = &self.why_not {
            text.push_str(&format!("\n  judged    no: {why_not}"));
        }
        if self.by_links_alone && self.judgement.is_some() {
            text.push_str(
                "\n  note      judged by links alone: give the model's data vectors, --features \
                 FILE, for more",
            );
        }
        text
    }
}

impl Judged {
    /// How far the links are believed, by fits that did not see them.
    pub fn believe(
        &self,
        folder: &Path,
        folds: Option<usize>,
        progress: &Progress,
    ) -> Result<Beliefs, Error> {
        let mut recipe = Recipe::default();
        recipe.folds = folds.unwrap_or(recipe.folds);
        if let Some(ridge) = known_ridge(folder) {
            recipe.ridges = vec![ridge];
        }
        let by_links_alone = !self.can_fit();
        let mut params: Params = self.model.params().clone();
        if by_links_alone {
            // Tables, for views whose data vectors are not here.
            (params.encoder, params.view_encoders) = (None, Default::default());
        }
        let judgement = counting(&recipe, progress, |watcher| {
            let (data, _) = audit::taking_part(&self.model, self.data.clone())?;
            judge_links(&params.check()?, &data, &recipe, watcher)
        });
        let (judgement, why_not) = match judgement {
            Ok((judgement, _)) => (Some(judgement), None),
            Err(error @ (Error::Interrupted { .. } | Error::Param { .. })) => return Err(error),
            // What the model itself says of the links stands without.
            Err(error) => (None, Some(error.told(&Flags))),
        };
        Ok(Beliefs {
            judgement,
            why_not,
            by_links_alone,
            links: Vec::new(),
        })
    }
}

/// The ridge of the judges of a robust fit.
fn known_ridge(folder: &Path) -> Option<f64> {
    let text = std::fs::read(folder.join("fit.json")).ok()?;
    let fit: Value = serde_json::from_slice(&text).ok()?;
    let ridge = fit.get("robust")?.get("chosen")?.get("judge_ridge")?;
    ridge.as_f64().filter(|ridge| *ridge >= 0.0)
}

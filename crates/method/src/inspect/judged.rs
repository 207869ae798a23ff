//! What the judge of links finds before a fit, without planted links.

use serde::Serialize;

use super::agreement::Agreement;
use crate::data::dataset::Dataset;
use crate::engine::Forecast;
use crate::engine::runtime::Runtime;
use crate::error::{Error, Result};
use crate::judge::{Facts, JudgeSpec, Tally, estimated_bytes, judge};

/// Larger graphs are not judged here: that would take minutes.
const MOST_LINKS: usize = 1_000_000;

/// What the judge finds about the links.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinksJudged {
    /// The share of false links with its interval, AUC, candidates, contradictions and
    /// duplicates.
    #[serde(flatten)]
    pub facts: Facts,
    /// How many links there are of each sort.
    #[serde(flatten)]
    pub tally: Tally,
}

/// Links, and whether features agree with them.
pub(super) struct Judged {
    pub links: Option<LinksJudged>,
    pub agreement: Option<Agreement>,
    /// Why the links were not judged.
    pub not_judged: Option<String>,
}

/// Judges the links if that takes seconds and the memory that the runtime allows.
pub(super) fn judged(data: &Dataset, seed: u64, runtime: Runtime<'_>) -> Result<Judged> {
    let not_judged = |why: String| Judged {
        links: None,
        agreement: None,
        not_judged: Some(why),
    };
    let n_links = data.graph().n_links();
    if n_links > MOST_LINKS {
        return Ok(not_judged(format!(
            "for more than {MOST_LINKS} this takes minutes. Check them on their own"
        )));
    }
    let spec = JudgeSpec {
        seed,
        test: false,
        ..JudgeSpec::default()
    };
    let found = match judge(data, &spec, runtime) {
        Ok(found) => found,
        Err(error @ Error::Memory { .. }) => {
            return Ok(not_judged(error.to_string()));
        }
        Err(error) => return Err(error),
    };
    let agreement = Agreement::new(data, &found, seed)?;
    Ok(Judged {
        links: Some(LinksJudged {
            tally: found.tally(),
            facts: found.facts,
        }),
        agreement,
        not_judged: None,
    })
}

/// The memory that judging takes, with the program's own; 0 for graphs that are not judged.
pub(super) fn judged_bytes(data: &Dataset) -> u64 {
    if data.graph().n_links() > MOST_LINKS {
        return 0;
    }
    Forecast::PROGRAM + estimated_bytes(data)
}

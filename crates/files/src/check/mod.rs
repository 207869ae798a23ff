//! Check folders: `suspects.csv` and `beliefs.csv` for people, `check.json`, and what
//! loading needs: the nodes, the links, and the numbers about them. `sample.csv` and
//! `checked.csv` are the user's and stay when a folder is written again.

mod load;
mod save;
mod tables;
mod verified;

pub use load::load_check;
pub use save::{check_json, facts_json, implanted_json, robust_json, write_check};
pub use tables::{JudgedTable, write_missing, write_sample};
pub use verified::{ListedCheck, MergedChecks, VerifiedLinks, read_checks};

use linkproof_method::data::attributes::Attributes;
use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::graph::{Ends, Graph, Link, LinkRules};
use linkproof_method::data::ids::{Ids, Side};
use linkproof_method::error::Result;
use linkproof_method::judge::Judgment;
use linkproof_method::model::Fitted;
use serde_json::{Map, Value};

/// The names of the files of a check folder.
pub mod check_files {
    /// All flagged links and the most suspicious ones.
    pub const SUSPECTS: &str = "suspects.csv";
    /// The belief of each link.
    pub const BELIEFS: &str = "beliefs.csv";
    /// What holds for all links together.
    pub const CHECK: &str = "check.json";
    /// The nodes, in row order.
    pub const NODES: &str = "nodes.csv";
    /// The links; a build without Parquet writes the second.
    pub const LINKS: [&str; 2] = ["links.parquet", "links.csv"];
    /// The numbers about each link.
    pub const NUMBERS: &str = "judgment.safetensors";
    /// Unlinked pairs that look most like links.
    pub const MISSING: &str = "missing.csv";
    /// The check as a page.
    pub const REPORT: &str = "report.html";
    /// Links that a person should verify: the user's.
    pub const SAMPLE: &str = "sample.csv";
    /// Links that a person has verified: the user's.
    pub const CHECKED: &str = "checked.csv";

    /// The files by which a folder is known to hold a check.
    pub(crate) const MARKS: [&str; 2] = [CHECK, NUMBERS];
    /// The user's own.
    pub(crate) const KEPT: [&str; 2] = [SAMPLE, CHECKED];

    /// All that may be in the folder, the user's files included.
    pub fn parts() -> impl Iterator<Item = &'static str> {
        let single = [SUSPECTS, BELIEFS, NODES, MISSING, REPORT];
        single.into_iter().chain(MARKS).chain(LINKS).chain(KEPT)
    }
}

/// A finished check: what a check folder holds.
#[derive(Debug, Clone)]
pub struct Check {
    /// The ids of the nodes, in the user's row order.
    pub ids: Ids,
    /// The view of each node, if there are several.
    pub views: Option<Vec<String>>,
    /// What is known of the nodes, such as names; of a directed graph each node stands once.
    pub attributes: Attributes,
    /// The judgment, its links sorted by their ends.
    pub judgment: Judgment,
    /// Seed, inputs, versions, and whatever else the writer noted.
    pub record: Map<String, Value>,
}

impl Check {
    /// The judgment of the links of some data.
    pub fn new(
        data: &Dataset,
        attributes: Attributes,
        mut judgment: Judgment,
        record: Map<String, Value>,
    ) -> Check {
        judgment.sort_by_ends();
        let mut views = vec![String::new(); data.n_nodes()];
        for row in 0..data.n_nodes() {
            let view = data.view_of(row as u32);
            views[data.user_row(row)].clone_from(&data.views()[view].name);
        }
        let is_plain = data.ids().sides().is_some() || views.iter().all(String::is_empty);
        Check {
            ids: data.ids().clone(),
            views: (!is_plain).then_some(views),
            attributes,
            judgment,
            record,
        }
    }

    /// The judgment of the links of a model.
    pub fn of_model(model: &Fitted, judgment: Judgment, record: Map<String, Value>) -> Check {
        Check {
            ids: model.ids().clone(),
            views: None,
            attributes: model.attributes().cloned().unwrap_or_default(),
            judgment,
            record,
        }
    }

    /// What the ends of links are.
    pub fn ends(&self) -> Ends {
        match self.ids.sides() {
            Some(sides) if sides.same => Ends::Directed,
            Some(_) => Ends::Bipartite,
            None => Ends::Alike,
        }
    }

    /// The ids of the nodes, each once.
    pub fn node_ids(&self) -> &Ids {
        match self.ids.sides() {
            Some(sides) if sides.same => &sides.source,
            _ => &self.ids,
        }
    }

    /// What a node is called, if it has a name.
    pub fn title(&self, row: u32) -> Option<&str> {
        title(&self.ids, Some(&self.attributes), row)
    }

    /// A node for people: its name, which may be cut short, and its id, or its id alone.
    pub fn called(&self, row: u32) -> String {
        called(&self.ids, Some(&self.attributes), row)
    }

    /// The place among the judged links of the link between two ids.
    pub fn place(&self, src: &str, dst: &str) -> Option<usize> {
        let src = self.ids.row_on(Side::Source, src)?;
        let dst = self.ids.row_on(Side::Target, dst)?;
        let ends = (src.min(dst), src.max(dst));
        let links = &self.judgment.links;
        let found = links.binary_search_by_key(&ends, |link| (link.src, link.dst));
        found.ok()
    }

    /// All links, with the user's ids.
    pub fn all_links(&self) -> Result<Graph> {
        self.graph(0..self.judgment.links.len())
    }

    /// The links at some places, with the user's ids.
    pub fn graph(&self, places: impl Iterator<Item = usize>) -> Result<Graph> {
        let links = places.map(|place| self.judgment.links[place].link());
        let links: Vec<Link> = links.collect();
        Graph::new(self.ids.clone(), links, LinkRules::default())
    }
}

/// What a node is called, if it has a name.
fn title<'a>(ids: &Ids, attributes: Option<&'a Attributes>, row: u32) -> Option<&'a str> {
    let sides = ids.sides().filter(|sides| sides.same);
    let n = sides.map_or(ids.len(), |sides| sides.source.len());
    attributes?.name(row as usize % n.max(1))
}

/// The longest name in a sentence.
const LONGEST: usize = 30;

fn called(ids: &Ids, attributes: Option<&Attributes>, row: u32) -> String {
    let id = ids.name(row as usize);
    let Some(name) = title(ids, attributes, row) else {
        return id.into_owned();
    };
    let more = name.char_indices().nth(LONGEST).map(|_| '…');
    let longest = LONGEST - usize::from(more.is_some());
    let name: String = name.chars().take(longest).chain(more).collect();
    format!("{name} ({id})")
}

#[cfg(test)]
mod tests;

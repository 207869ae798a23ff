//! What the judge is asked, and what it answers.

use serde::{Deserialize, Serialize};

use crate::choice::choice;
use crate::data::graph::Link;

/// How links are to be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeSpec {
    /// The seed of non-links, folds and planted links.
    pub seed: u64,
    /// Whether each node has at most one real link.
    pub one_to_one: bool,
    /// Whether the weights of the links are evidence.
    pub weights: bool,
    /// More evidence that the user has about each link.
    pub columns: Vec<EvidenceColumn>,
    /// Whether planted links test the judge.
    pub test: bool,
    /// Links that a person or another source has verified.
    pub checks: Vec<Check>,
}

impl Default for JudgeSpec {
    fn default() -> Self {
        JudgeSpec {
            seed: 0,
            one_to_one: false,
            weights: true,
            columns: Vec::new(),
            test: true,
            checks: Vec::new(),
        }
    }
}

/// A column of numbers about the links.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceColumn {
    /// Its name.
    pub name: String,
    /// A number for each link in the order of the data's graph; NaN: no evidence.
    pub values: Vec<f64>,
}

/// A verified link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Check {
    /// The user's row of one end; of a directed graph, of the source.
    pub src: u32,
    /// The user's row of the other end.
    pub dst: u32,
    /// Whether the link is real.
    pub real: bool,
}

choice!(
    /// A kind of evidence about a pair.
    Kind {
        /// Similarity of the ends' features.
        Features = "cos",
        /// Neighbors that both ends have.
        CommonNeighbors = "cn",
        /// Paths of three links between the ends.
        Paths = "p3",
        /// Features of the kind that linked nodes share.
        SharedTraits = "psd",
        /// Features that go together in links, also of unlike nodes.
        TraitPairs = "bil",
        /// Each end with its other neighbors, compared by features (or by position).
        Neighborhoods = "agg",
        /// Positions of the ends in the graph.
        Positions = "spec",
        /// The features of each end compared with those of the other end's neighbors.
        NeighborFeatures = "like",
    }
);

choice!(
    /// What is known of a link, and how it takes part.
    Status {
        /// It is judged by evidence.
        Judged = "judged",
        /// Nothing else is known of one of its ends.
        Blind = "blind",
        /// Its ends are two records of one node.
        Duplicate = "duplicate",
        /// Its weight is negative: it is suspicious if it looks like a positive link.
        Negative = "negative",
    }
);

/// Why a link ranks where it does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// By this kind of evidence such a share of the non-links look better than the link.
    Unlike {
        /// The kind.
        kind: Kind,
        /// The share of the non-links that look better.
        better: f64,
    },
    /// The ends have no neighbor in common.
    NoCommonNeighbors,
    /// Of all kinds the one that speaks most for the link.
    Like {
        /// The kind.
        kind: Kind,
        /// The share of the non-links that look better.
        better: f64,
    },
    /// The weight is so many times the usual one for the nodes.
    Heavy {
        /// The factor.
        times: f64,
    },
    /// The weight, or the user's columns, speak against the link.
    Vote,
    /// Other links of an end are far likelier.
    BetterPartner {
        /// The user's row of that end.
        node: u32,
    },
    /// Nothing else is known of this node.
    NothingKnown {
        /// The user's row.
        node: u32,
    },
    /// The ends are duplicates.
    Duplicate,
    /// A person or another source has verified the link.
    Verified {
        /// Whether it is real.
        real: bool,
    },
}

/// A link and what the judge found.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedLink {
    /// The user's row of one end; of a directed or bipartite graph, of the source.
    pub src: u32,
    /// The user's row of the other end; the targets of a directed graph follow all its
    /// sources.
    pub dst: u32,
    /// The weight as given.
    pub weight: f64,
    /// The probability that the link is real; 1 if the judge abstains.
    pub belief: f64,
    /// The suspicion rank: 1 for the most suspicious link, never tied.
    pub rank: usize,
    /// Whether the link is flagged.
    pub suspect: bool,
    /// How the link takes part.
    pub status: Status,
    /// The share of the non-links of its degrees that look worse; small: it looks random.
    pub worse: f64,
    /// The logarithm of the density of `worse` at the link; of one-to-one links, the
    /// log odds of its share.
    pub log_density: f64,
    /// The log odds that weight and columns add to the belief.
    pub vote: f64,
    /// The weight against the usual weight of links between such nodes.
    pub times: f32,
    /// Whether the ends have a neighbor in common.
    pub has_common: bool,
    /// The share of the link among the candidates of its two ends, if links compete.
    pub share: Option<f32>,
    /// The end of which less is known, in the user's rows: a blind link's unknown end, or the
    /// end with more candidates.
    pub end: u32,
    /// Whether the link was verified as real or as false.
    pub verified: Option<bool>,
}

impl JudgedLink {
    /// The link alone.
    pub fn link(&self) -> Link {
        Link {
            src: self.src,
            dst: self.dst,
            weight: self.weight,
        }
    }
}

/// The share of false links.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The lower bound, if at most 15% of the real links look random; after checks the 5%
    /// point.
    pub low: f64,
    /// The estimate; none if the links look as if their features had picked them.
    pub estimate: Option<f64>,
    /// The upper bound, if false links fall like random pairs; after checks the 95% point.
    pub high: f64,
    /// The upper bound without checks, if there are checks.
    pub high_unchecked: Option<f64>,
}

choice!(
    /// How links were planted.
    #[derive(Default)]
    PlantedKind {
        /// Between any nodes.
        #[default]
        Uniform = "uniform",
        /// Between nodes drawn by their number of links.
        ByDegree = "by degree",
        /// The most alike of 40 pairs.
        Alike = "alike",
    }
);

/// What became of planted links of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Detection {
    /// How they were planted.
    pub kind: PlantedKind,
    /// How many there were.
    pub planted: usize,
    /// The share that is flagged.
    pub flagged: f64,
    /// The share that is more suspicious than nine tenths of the believed links.
    pub found: f64,
    /// The share of the user's links that is so, too.
    pub own: f64,
    /// One minus the mean belief of the links flagged in this run.
    pub claimed: f64,
    /// The share of these that are planted.
    pub realised: f64,
}

/// Groups of links that contradict the features: many links among nodes that are unlike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The user's row of one end of an example.
    pub src: u32,
    /// The user's row of the other end.
    pub dst: u32,
    /// The core number: in a group of links each node has at least so many.
    pub core: usize,
    /// The largest core number of 20 permutations.
    pub usual: usize,
    /// How many nodes the group has.
    pub nodes: usize,
}

choice!(
    /// Why something was not used.
    Cause {
        /// It has one value only.
        Constant = "constant",
        /// It shows a link by the degrees of its ends alone.
        Degrees = "degrees",
    }
);

/// Evidence that was not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unused {
    /// The kind of evidence, or the user's column.
    pub name: String,
    /// Why.
    pub cause: Cause,
}

/// What became of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChecksUsed {
    /// How many links are verified now.
    pub verified: usize,
    /// How many of them are real.
    pub real: usize,
    /// How many checks are about pairs that are no links.
    pub not_links: usize,
}

/// What the judge found about all links together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The kinds of evidence that were used, in the order of [`Judgment::tails`].
    pub kinds: Vec<Kind>,
    /// What each kind weighs in the ranking.
    pub loadings: Vec<f64>,
    /// The share of false links; none if the judge abstains.
    pub share: Option<Share>,
    /// How often a link outranks a non-link of its degrees.
    pub auc: f64,
    /// The standard error of that, by nodes.
    pub auc_error: f64,
    /// Whether the links look random to everything that is known.
    pub abstained: bool,
    /// How far the links look as if their features had picked them, from 0 to 1.
    pub candidates: f64,
    /// Whether each node was said to have at most one real link.
    pub one_to_one: bool,
    /// The correlation of the weights with the rest of the evidence, if they are evidence.
    pub weight_agreement: Option<f64>,
    /// What became of planted links; empty without a test.
    pub detection: Vec<Detection>,
    /// Groups of links that contradict the features.
    pub contradictions: Vec<Contradiction>,
    /// Nodes, by the user's rows, that are records of one.
    pub duplicates: Vec<Vec<u32>>,
    /// Evidence that was not used.
    pub unused: Vec<Unused>,
}

/// What the judge found.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgment {
    /// The links in the order of the data's graph (internal rows).
    pub links: Vec<JudgedLink>,
    /// For each kind of evidence and each link minus the logarithm of the share of non-links
    /// that look better; NaN for links that are not judged.
    pub tails: Vec<Vec<f32>>,
    /// What holds for all links together.
    pub facts: Facts,
}

impl Judgment {
    /// The places of the links, most suspicious first.
    pub fn by_rank(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.links.len()).collect();
        places.sort_unstable_by_key(|&place| self.links[place].rank);
        places
    }

    /// How many links are flagged.
    pub fn n_flagged(&self) -> usize {
        self.links.iter().filter(|link| link.suspect).count()
    }

    /// How many links there are of each sort.
    pub fn tally(&self) -> Tally {
        let count = |is: fn(&JudgedLink) -> bool| self.links.iter().filter(|&it| is(it)).count();
        Tally {
            links: self.links.len(),
            flagged: self.n_flagged(),
            verified: count(|link| link.verified.is_some()),
            negative: count(|link| link.weight < 0.0),
        }
    }
}

/// How many links there are of each sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All links.
    pub links: usize,
    /// The flagged ones.
    pub flagged: usize,
    /// Those that were verified, as real or as false.
    pub verified: usize,
    /// Those of negative weight.
    pub negative: usize,
}

//! A data set as the judge sees it: one node for each record that is not a duplicate, and
//! one link for each linked pair of them.

use hashbrown::HashMap;

use super::features::FeatureSpaces;
use super::groups::duplicates;
use super::outcome::{EvidenceColumn, JudgeSpec};
use super::pairs::{Links, ordered};
use super::votes::WEIGHT;
use crate::data::dataset::Dataset;
use crate::data::graph::Link;

/// What is judged, and where its parts come from.
pub(super) struct Subject {
    /// The positive links between the nodes.
    pub links: Links,
    /// The features of the nodes.
    pub features: Option<FeatureSpaces>,
    /// The node of each internal row.
    pub node_of: Vec<u32>,
    /// For each link of the data the place among `links`; none if it is negative, or
    /// between duplicates.
    pub place_of: Vec<Option<u32>>,
    /// The ends of the negative links, in the order of the data.
    pub negative: Vec<[u32; 2]>,
    /// Groups of internal rows that are records of one node.
    pub duplicates: Vec<Vec<u32>>,
}

impl Subject {
    /// Reads the nodes and links of a data set.
    pub fn new(data: &Dataset, seed: u64) -> Subject {
        let sides = data.ids().sides().filter(|sides| sides.same);
        // The two sides of a directed graph are the same nodes.
        let n = sides.map_or(data.n_nodes(), |sides| sides.source.len());
        let node_of: Vec<u32> = (0..data.n_nodes()).map(|row| (row % n) as u32).collect();
        let features = FeatureSpaces::new(data, &node_of, n, seed);
        let mut subject = Subject::folded(data, node_of, n, Vec::new());
        if let Some(features) = &features {
            let found = duplicates(features, &subject.links.net(), &subject.links.group);
            if !found.is_empty() {
                let mut of_node: Vec<u32> = (0..n as u32).collect();
                for part in &found {
                    part.iter()
                        .for_each(|&node| of_node[node as usize] = part[0]);
                }
                let node_of = (0..data.n_nodes()).map(|row| of_node[row % n]);
                subject = Subject::folded(data, node_of.collect(), n, found);
            }
        }
        subject.features = features;
        subject
    }

    /// The links between `n` nodes.
    fn folded(data: &Dataset, node_of: Vec<u32>, n: usize, duplicates: Vec<Vec<u32>>) -> Subject {
        let directed = n < data.n_nodes();
        let (mut ends, mut negative) = (Vec::new(), Vec::new());
        let mut place_of = Vec::with_capacity(data.graph().n_links());
        // Without duplicates each pair is linked once.
        let mut known: HashMap<[u32; 2], u32> = HashMap::new();
        for link in data.graph().links() {
            let nodes = [link.src, link.dst].map(|row| node_of[row as usize]);
            let is_between = nodes[0] != nodes[1];
            if is_between && link.weight < 0.0 {
                negative.push(nodes);
            }
            place_of.push((is_between && link.weight >= 0.0).then(|| {
                let next = ends.len() as u32;
                let place = if duplicates.is_empty() {
                    next
                } else {
                    *known.entry(ordered(directed, nodes)).or_insert(next)
                };
                if place == next {
                    ends.push(nodes);
                }
                place
            }));
        }
        // A pair can be a positive link of one record and a negative one of another.
        let excluded = negative.iter().copied();
        let excluded = excluded.filter(|&ends| !known.contains_key(&ordered(directed, ends)));
        let group = |row: u32| {
            let view = data.view_of(row) as u32;
            if directed { 0 } else { view }
        };
        let group = (0..n as u32).map(group).collect();
        Subject {
            links: Links::new(group, directed, ends, excluded.collect()),
            features: None,
            node_of,
            place_of,
            negative,
            duplicates,
        }
    }

    /// Whether both ends of a link are records of one node.
    pub fn is_within_node(&self, link: Link) -> bool {
        self.node_of[link.src as usize] == self.node_of[link.dst as usize]
    }

    /// Whether an internal row has no features.
    pub fn is_silent(&self, row: u32) -> bool {
        let node = self.node_of[row as usize] as usize;
        self.features.as_ref().is_none_or(|it| it.silent[node])
    }

    /// The user's columns for each link, and the weights, if they are evidence; numbers of
    /// folded links are means.
    pub fn columns(&self, data: &Dataset, spec: &JudgeSpec) -> Vec<EvidenceColumn> {
        let m = self.links.ends.len();
        let mean = |name: &str, values: &[f64]| {
            let (mut sums, mut counts) = (vec![0.0; m], vec![0.0; m]);
            let values = values.iter().copied().chain(std::iter::repeat(f64::NAN));
            for (at, x) in self.place_of.iter().zip(values) {
                if let Some(at) = at.filter(|_| !x.is_nan()) {
                    sums[at as usize] += x;
                    counts[at as usize] += 1.0;
                }
            }
            // Where nothing is known 0 / 0 is NaN.
            let means = sums.iter().zip(&counts).map(|(sum, count)| sum / count);
            EvidenceColumn {
                name: name.to_owned(),
                values: means.collect(),
            }
        };
        let columns = spec.columns.iter().map(|it| mean(&it.name, &it.values));
        let weights = spec.weights.then(|| mean(WEIGHT, data.graph().weights()));
        columns.chain(weights).collect()
    }
}

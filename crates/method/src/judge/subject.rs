//! A data set as the judge sees it: one node for each record that is not a duplicate, and
//! one link for each linked pair of them.

use std::collections::BTreeMap;

use super::features::FeatureSpaces;
use super::groups::duplicates;
use super::outcome::EvidenceColumn;
use super::pairs::Links;
use crate::data::dataset::Dataset;

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
    /// The negative links: the place in the data, and the nodes.
    pub negative: Vec<(usize, [u32; 2])>,
    /// The mean weight of each link.
    pub weights: Vec<f64>,
    /// The user's columns, for each link; NaN: nothing is known.
    pub columns: Vec<EvidenceColumn>,
    /// Groups of internal rows that are records of one node.
    pub duplicates: Vec<Vec<u32>>,
}

impl Subject {
    /// Reads the nodes and links of a data set.
    pub fn new(data: &Dataset, columns: &[EvidenceColumn], seed: u64) -> Subject {
        let sides = data.ids().sides().filter(|sides| sides.same);
        let (n, directed) = match sides {
            Some(sides) => (sides.source.len(), true),
            None => (data.n_nodes(), false),
        };
        // The two sides of a directed graph are the same nodes.
        let node_of: Vec<u32> = (0..data.n_nodes()).map(|row| (row % n) as u32).collect();
        let group = (0..n as u32).map(|row| {
            if directed {
                0
            } else {
                data.view_of(row) as u32
            }
        });
        let mut subject = Subject {
            links: Links {
                n,
                directed,
                group: group.collect(),
                ends: Vec::new(),
                excluded: Vec::new(),
            },
            features: FeatureSpaces::new(data, &node_of, n, seed),
            node_of,
            place_of: Vec::new(),
            negative: Vec::new(),
            weights: Vec::new(),
            columns: Vec::new(),
            duplicates: Vec::new(),
        };
        subject.fold(data);
        if let Some(features) = &subject.features {
            let found = duplicates(features, &subject.links.net(), &subject.links.group);
            if !found.is_empty() {
                for part in &found {
                    for &node in part {
                        subject.node_of[node as usize] = part[0];
                    }
                }
                let of_node = subject.node_of[..n].to_vec();
                subject
                    .node_of
                    .iter_mut()
                    .enumerate()
                    .for_each(|(row, node)| {
                        *node = of_node[row % n];
                    });
                subject.duplicates = found;
                subject.fold(data);
            }
        }
        subject.average(data, columns);
        subject
    }

    /// Fills links and places by `node_of`.
    fn fold(&mut self, data: &Dataset) {
        self.links.ends.clear();
        self.links.excluded.clear();
        self.place_of.clear();
        self.negative.clear();
        let folded = !self.duplicates.is_empty();
        let mut known: BTreeMap<u64, u32> = BTreeMap::new();
        for (place, link) in data.graph().links().enumerate() {
            let ends = [link.src, link.dst].map(|row| self.node_of[row as usize]);
            if ends[0] == ends[1] {
                self.place_of.push(None);
                continue;
            }
            if link.weight < 0.0 {
                self.negative.push((place, ends));
                self.links.excluded.push(ends);
                self.place_of.push(None);
                continue;
            }
            let next = self.links.ends.len() as u32;
            let at = if folded {
                *known.entry(self.links.code(ends)).or_insert(next)
            } else {
                next
            };
            if at == next {
                self.links.ends.push(ends);
            }
            self.place_of.push(Some(at));
        }
        if folded {
            // A pair that is a positive link of one record and a negative one of another.
            let links = &self.links;
            let is_link = |ends: &[u32; 2]| known.contains_key(&links.code(*ends));
            let excluded: Vec<[u32; 2]> = links
                .excluded
                .iter()
                .copied()
                .filter(|ends| !is_link(ends))
                .collect();
            self.links.excluded = excluded;
        }
    }

    /// Weights and columns of folded links are means.
    fn average(&mut self, data: &Dataset, columns: &[EvidenceColumn]) {
        let m = self.links.ends.len();
        let mean = |value: &dyn Fn(usize) -> f64| {
            let (mut sums, mut counts) = (vec![0.0; m], vec![0.0; m]);
            for (place, at) in self.place_of.iter().enumerate() {
                let x = value(place);
                if let Some(at) = at.filter(|_| !x.is_nan()) {
                    sums[at as usize] += x;
                    counts[at as usize] += 1.0;
                }
            }
            let mean =
                |(sum, count): (&f64, &f64)| if *count > 0.0 { sum / count } else { f64::NAN };
            sums.iter().zip(&counts).map(mean).collect::<Vec<f64>>()
        };
        let weights = data.graph().weights();
        let averaged = columns.iter().map(|column| EvidenceColumn {
            name: column.name.clone(),
            values: mean(&|place| column.values.get(place).copied().unwrap_or(f64::NAN)),
        });
        let columns = averaged.collect();
        self.weights = mean(&|place| weights[place]);
        self.columns = columns;
    }
}

//! Real graphs made worse in a known way.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::graph::{Graph, Link, LinkRules};
use linkproof_method::data::transform::normalize;
use linkproof_method::error::{Error, Result};
use linkproof_method::params::Normalize;

/// A data set with false links.
#[derive(Debug, Clone)]
pub struct Contaminated {
    /// The data with the false links among the others.
    pub data: Dataset,
    /// The false links, as internal rows, the smaller first.
    pub false_links: HashSet<(u32, u32)>,
}

/// How the ends of false links are drawn. They are always of different classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Any node is as likely as any other.
    Uniform,
    /// Nodes by their number of links.
    ByDegree,
    /// The pair whose data vectors are the most alike, of several uniform ones.
    Alike,
    /// One end is one of a few nodes.
    FewNodes,
}

/// The pairs of which the most alike becomes a false link.
pub(crate) const CANDIDATES: usize = 40;

/// False links to plant.
pub(crate) struct Planting<'p> {
    pub(crate) ends: Ends,
    /// How many.
    pub(crate) wanted: usize,
    pub(crate) weight: f64,
    /// The nodes of [`Ends::FewNodes`].
    pub(crate) few: &'p [u32],
}

/// What is done to a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Damage {
    /// Nothing.
    None,
    /// False links: as many as this share of the links, of the given weight.
    Added(Ends, f64, f64),
    /// This share of the links is taken away.
    Removed(f64),
}

/// A kind of damage in the experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Its name on the command line and in files.
    pub key: &'static str,
    /// Its name in tables.
    pub heading: &'static str,
    /// What is done.
    pub damage: Damage,
}

const fn column(key: &'static str, heading: &'static str, damage: Damage) -> Column {
    Column {
        key,
        heading,
        damage,
    }
}

const fn added(key: &'static str, heading: &'static str, ends: Ends, share: f64) -> Column {
    column(key, heading, Damage::Added(ends, share, 1.0))
}

const fn heavy(key: &'static str, heading: &'static str, share: f64, weight: f64) -> Column {
    column(key, heading, Damage::Added(Ends::Uniform, share, weight))
}

impl Column {
    /// The damage of the experiments.
    pub const ALL: [Column; 11] = [
        column("clean", "clean", Damage::None),
        added("u30", "+30% uniform", Ends::Uniform, 0.3),
        added("u90", "+90% uniform", Ends::Uniform, 0.9),
        added("d30", "+30% by degree", Ends::ByDegree, 0.3),
        added("d90", "+90% by degree", Ends::ByDegree, 0.9),
        added("a30", "+30% alike", Ends::Alike, 0.3),
        added("a90", "+90% alike", Ends::Alike, 0.9),
        heavy("w10x100", "10% at 100", 0.1, 100.0),
        heavy("w50x10", "50% at 10", 0.5, 10.0),
        heavy("w30x3", "30% at 3", 0.3, 3.0),
        column("r30", "30% removed", Damage::Removed(0.3)),
    ];
}

impl Damage {
    /// The data after it. `labels` are by internal rows.
    pub fn apply(self, data: &Dataset, labels: &[u32], seed: u64) -> Result<Contaminated> {
        match self {
            Damage::None => planted(data, labels, Ends::Uniform, 0.0, 1.0, seed),
            Damage::Added(ends, share, weight) => planted(data, labels, ends, share, weight, seed),
            Damage::Removed(share) => remove(data, share, seed),
        }
    }

    /// Whether it compares data vectors, so that views must not differ.
    pub fn compares_vectors(self) -> bool {
        matches!(self, Damage::Added(Ends::Alike, ..))
    }
}

fn remove(data: &Dataset, share: f64, seed: u64) -> Result<Contaminated> {
    let graph = data.graph();
    let mut links: Vec<Link> = graph.links().collect();
    links.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    links.truncate(((1.0 - share) * links.len() as f64).round() as usize);
    let graph = Graph::new(graph.ids().clone(), links, LinkRules::default())?;
    Ok(Contaminated {
        data: data.with_graph(graph),
        false_links: HashSet::new(),
    })
}

/// Plants as many links as a share of those that there are.
fn planted(
    data: &Dataset,
    labels: &[u32],
    ends: Ends,
    share: f64,
    weight: f64,
    seed: u64,
) -> Result<Contaminated> {
    let planting = Planting {
        ends,
        wanted: (share * data.graph().n_links() as f64).round() as usize,
        weight,
        few: &[],
    };
    plant(
        data,
        labels,
        &planting,
        &mut ChaCha8Rng::seed_from_u64(seed),
    )
}

/// Adds links between unlinked nodes of different classes, between views that have links.
pub(crate) fn plant(
    data: &Dataset,
    labels: &[u32],
    planting: &Planting<'_>,
    random: &mut ChaCha8Rng,
) -> Result<Contaminated> {
    let &Planting {
        ends,
        wanted,
        weight,
        few,
    } = planting;
    let graph = data.graph();
    let n = data.n_nodes() as u32;
    let mut links: Vec<Link> = graph.links().collect();
    let n_links = links.len();
    let view = |row: u32| {
        let views = data.views();
        views.partition_point(|view| view.rows.end <= row as usize)
    };
    let linked: HashSet<(usize, usize)> = links
        .iter()
        .map(|link| (view(link.src), view(link.dst)))
        .collect();
    let (candidates, vectors) = match ends {
        Ends::Alike => (CANDIDATES, unit_rows(data)?),
        _ => (1, Vec::new()),
    };
    let mut false_links = HashSet::new();
    let mut tries = 0usize;
    while false_links.len() < wanted {
        let mut drawn: Vec<(f64, (u32, u32))> = Vec::new();
        while drawn.len() < candidates {
            tries += 1;
            if labels.len() != n as usize || tries > 1000 * candidates * (wanted + 1) {
                return Err(Error::data(
                    "labels",
                    format!("{} of them, for {n} nodes", labels.len()),
                    "one for each node, and enough unlinked pairs of different classes",
                ));
            }
            let mut end = || match ends {
                Ends::ByDegree => {
                    let link = links[random.random_range(0..n_links)];
                    [link.src, link.dst][random.random_range(0..2)]
                }
                _ => random.random_range(0..n),
            };
            let (a, b) = (end(), end());
            let a = if few.is_empty() {
                a
            } else {
                few[a as usize % few.len()]
            };
            let pair @ (src, dst) = (a.min(b), a.max(b));
            let apart = labels[src as usize] != labels[dst as usize];
            let fits = apart && linked.contains(&(view(src), view(dst)));
            if fits && graph.weight(src, dst).is_none() && !false_links.contains(&pair) {
                let rows = [src, dst].map(|row| vectors.get(row as usize));
                let cosine = match rows {
                    [Some(a), Some(b)] => product(a, b),
                    _ => 0.0,
                };
                drawn.push((cosine, pair));
            }
        }
        // The first of the most alike.
        let best = drawn.into_iter().rev().max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, pair @ (src, dst))) = best {
            false_links.insert(pair);
            links.push(Link { src, dst, weight });
        }
    }
    let graph = Graph::new(graph.ids().clone(), links, LinkRules::default())?;
    Ok(Contaminated {
        data: data.with_graph(graph),
        false_links,
    })
}

type SparseRow = Vec<(u32, f64)>;

/// The data vectors of a single view, of unit length.
fn unit_rows(data: &Dataset) -> Result<Vec<SparseRow>> {
    let [view] = data.views() else {
        let found = format!("{} views", data.views().len());
        return Err(Error::data("data", found, "one, to compare data vectors"));
    };
    let Some(matrix) = &view.matrix else {
        return Err(Error::data("data", "no data vectors", "some, to compare"));
    };
    let unit = normalize(matrix.clone(), Normalize::L2)?;
    Ok((0..unit.n_rows()).map(|row| unit.row(row)).collect())
}

/// The inner product of two rows, columns ascending.
pub(crate) fn product(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while let (Some(&(column, x)), Some(&(other, y))) = (a.get(i), b.get(j)) {
        if column == other {
            sum += x * y;
        }
        i += usize::from(column <= other);
        j += usize::from(other <= column);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, synthetic};

    #[test]
    fn false_links_join_classes_and_the_others_stay() {
        let made = synthetic(1, Noise::false_links(0.01)).unwrap();
        let before = made.data.graph();
        let found = planted(&made.data, &made.labels, Ends::Uniform, 0.3, 7.0, 5).unwrap();
        let after = found.data.graph();
        let wanted = (0.3 * before.n_links() as f64).round() as usize;
        assert_eq!(found.false_links.len(), wanted);
        assert_eq!(after.n_links(), before.n_links() + wanted);
        for &(a, b) in &found.false_links {
            assert_ne!(made.labels[a as usize], made.labels[b as usize]);
            assert_eq!((before.weight(a, b), after.weight(a, b)), (None, Some(7.0)));
        }
        for labels in [&[0; 200][..], &[0, 1]] {
            assert!(planted(&made.data, labels, Ends::Uniform, 0.3, 7.0, 5).is_err());
        }
    }
    #[test]
    fn links_are_removed_at_random_and_none_is_added() {
        let made = synthetic(1, Noise::false_links(0.01)).unwrap();
        let before = made.data.graph();
        let found = Damage::Removed(0.3)
            .apply(&made.data, &made.labels, 2)
            .unwrap();
        let after = found.data.graph();
        assert_eq!(
            after.n_links(),
            (0.7 * before.n_links() as f64).round() as usize
        );
        assert!(
            after
                .links()
                .all(|link| before.weight(link.src, link.dst).is_some())
        );
        let clean = Damage::None.apply(&made.data, &made.labels, 2).unwrap();
        assert_eq!(clean.data.graph().n_links(), before.n_links());
    }
}

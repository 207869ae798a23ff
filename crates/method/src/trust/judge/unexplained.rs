//! How many sound links look like decoys, by all evidence.
//!
//! Ranks alone cannot tell a false link from a sound one that nothing explains.
//! Two kinds of evidence that do not depend on each other can: among links that
//! common neighbours confirm, nearly all of them sound, the vectors fail to speak
//! for a share `a`; among links that the vectors confirm, common neighbours fail
//! to speak for a share `b`. Where neither depends on the other, both fail for
//! `a b` of the sound links, each share being taken against that of decoys. Both
//! depend on degrees (nodes of few links have no neighbours in common and are
//! badly placed), so shares are taken in each stratum.

use super::evidence::Kind;
use super::ranks::Rank;

/// However good the evidence, so many sound links look like decoys, against as
/// many decoys.
pub const LEAST: f64 = 0.02;
/// Ranks below these confirm a link.
const BY_NEIGHBORS: f64 = 0.02;
const BY_VECTORS: f64 = 0.05;
/// Ranks beyond these do not speak for a link.
const NO_VECTORS: f64 = 0.65;
const NO_NEIGHBORS: f64 = 0.3;
/// Fewer confirmed links of a stratum tell nothing, nor do fewer than so many
/// times what chance would confirm.
const LEAST_CONFIRMED: f64 = 30.0;
const CHANCE: f64 = 2.0;
/// A stratum whose confirmed links are no more than so many times what chance would
/// confirm takes the shares of the others: its confirmed links may all be false.
const OWN_CHANCE: f64 = 1.5;
/// Kinds of evidence fail together more often than if they were independent.
const TOGETHER: f64 = 2.0;
/// Average links that the share of a stratum starts with.
const AVERAGE_LINKS: f64 = 25.0;

/// How many decoys each stratum has, and for how many of them one kind of evidence does
/// not speak.
#[derive(Debug, Clone)]
pub struct Decoys {
    all: Vec<f64>,
    no_neighbors: Vec<f64>,
    no_vectors: Vec<f64>,
}

impl Decoys {
    /// None yet.
    pub fn new(n_strata: usize) -> Decoys {
        let none = vec![0.0; n_strata];
        Decoys {
            all: none.clone(),
            no_neighbors: none.clone(),
            no_vectors: none,
        }
    }

    /// Counts some more.
    pub fn add(&mut self, ranks: &[Rank]) {
        for rank in ranks {
            self.all[rank.stratum] += 1.0;
            self.no_neighbors[rank.stratum] += f64::from(u8::from(no_neighbors(rank)));
            self.no_vectors[rank.stratum] += f64::from(u8::from(no_vectors(rank)));
        }
    }
}

fn neighbors(rank: &Rank) -> f64 {
    let kinds = Kind::ALL.iter().zip(rank.by_kind);
    let found = kinds.filter(|(kind, _)| **kind == Kind::CommonNeighbors);
    found.map(|(_, rank)| rank).sum()
}

fn no_neighbors(rank: &Rank) -> bool {
    neighbors(rank) > NO_NEIGHBORS
}

fn no_vectors(rank: &Rank) -> bool {
    rank.by_vectors > NO_VECTORS
}

/// For each stratum the density of sound links at the ranks of decoys, against
/// that of decoys: [`LEAST`] where only one kind of evidence can tell, 1 where none
/// can.
pub fn unexplained(links: &[Rank], decoys: &Decoys) -> Vec<f64> {
    let n_strata = decoys.all.len();
    let by_neighbors = |rank: &Rank| neighbors(rank) < BY_NEIGHBORS;
    let by_vectors = |rank: &Rank| rank.by_vectors < BY_VECTORS;
    let all = count(links, n_strata, &|_| true);
    // One stratum is enough: others may have hardly any sound links.
    let confirms = |confirmed: &dyn Fn(&Rank) -> bool, chance: f64| {
        let sure = count(links, n_strata, confirmed);
        let enough =
            |(sure, all): (&f64, &f64)| *sure >= LEAST_CONFIRMED && *sure > CHANCE * chance * all;
        sure.iter().zip(&all).any(enough)
    };
    // How often one kind does not speak for links that the other confirms, by chance
    // so many of all, against decoys.
    type Test<'t> = &'t dyn Fn(&Rank) -> bool;
    type Silent<'t> = (Test<'t>, &'t [f64]);
    let fails =
        |known: Test<'_>, by_chance: f64, (silent, decoys_silent): Silent<'_>| -> Vec<f64> {
            let mut known_links = count(links, n_strata, known);
            let mut failed = count(links, n_strata, &|rank| known(rank) && silent(rank));
            for s in 0..n_strata {
                if known_links[s] <= OWN_CHANCE * by_chance * all[s] {
                    (known_links[s], failed[s]) = (0.0, 0.0);
                }
            }
            let share = |part: &[f64], whole: &[f64]| {
                part.iter().sum::<f64>() / whole.iter().sum::<f64>().max(1.0)
            };
            let pooled = share(&failed, &known_links);
            let chance = share(decoys_silent, &decoys.all);
            let shrunk = |part: f64, whole: f64, to: f64| {
                (part + AVERAGE_LINKS * to) / (whole + AVERAGE_LINKS)
            };
            (0..n_strata)
                .map(|s| {
                    let own = shrunk(failed[s], known_links[s], pooled);
                    let by_chance = shrunk(decoys_silent[s], decoys.all[s], chance);
                    (own / by_chance.max(1e-9)).min(1.0)
                })
                .collect()
        };
    let (sure_neighbors, sure_vectors) = (
        confirms(&by_neighbors, BY_NEIGHBORS),
        confirms(&by_vectors, BY_VECTORS),
    );
    let no_neighbors: Silent<'_> = (&no_neighbors, &decoys.no_neighbors);
    let no_vectors: Silent<'_> = (&no_vectors, &decoys.no_vectors);
    let (a, b) = match (sure_neighbors, sure_vectors) {
        (true, true) => (
            fails(&by_neighbors, BY_NEIGHBORS, no_vectors),
            fails(&by_vectors, BY_VECTORS, no_neighbors),
        ),
        // Nothing else confirms what common neighbours leave out.
        (true, false) => (
            fails(&by_neighbors, BY_NEIGHBORS, no_vectors),
            fails(&|_| true, 0.0, no_neighbors),
        ),
        (false, true) => (vec![0.0; n_strata], vec![0.0; n_strata]),
        (false, false) => (vec![1.0; n_strata], vec![1.0; n_strata]),
    };
    a.iter()
        .zip(b)
        .map(|(a, b)| (TOGETHER * a * b).clamp(LEAST, 1.0))
        .collect()
}

/// How many of each stratum are so.
fn count(ranks: &[Rank], n_strata: usize, is_so: &dyn Fn(&Rank) -> bool) -> Vec<f64> {
    let mut counts = vec![0.0; n_strata];
    for rank in ranks.iter().filter(|rank| is_so(rank)) {
        counts[rank.stratum] += 1.0;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many pairs of a stratum with these ranks by vectors and by neighbours.
    fn ranks(count: usize, stratum: usize, by_vectors: f64, by_neighbors: f64) -> Vec<Rank> {
        let rank = Rank {
            rank: 0.5,
            by_kind: [0.5, 0.5, 0.5, by_neighbors],
            by_vectors,
            stratum,
        };
        vec![rank; count]
    }

    fn decoys() -> Vec<Rank> {
        let of = |stratum| {
            let place = |k: usize| (k as f64 + 0.5) / 1000.0;
            (0..1000).flat_map(move |k| ranks(1, stratum, place(k), place(k * 7 % 1000)))
        };
        of(0).chain(of(1)).collect()
    }

    fn counted(ranks: &[Rank]) -> Decoys {
        let mut decoys = Decoys::new(2);
        ranks.chunks(700).for_each(|ranks| decoys.add(ranks));
        decoys
    }

    #[test]
    fn strata_fail_by_themselves() {
        // In stratum 0 each kind leaves half of what the other confirms; in stratum
        // 1, hardly any.
        let mut links = Vec::new();
        for (stratum, left) in [(0, 5000), (1, 50)] {
            links.extend(ranks(10_000 - left, stratum, 0.01, 0.01));
            links.extend(ranks(left, stratum, 0.9, 0.01));
            links.extend(ranks(left, stratum, 0.01, 0.9));
        }
        let found = unexplained(&links, &counted(&decoys()));
        // Against decoys, of which .35 and .7 are as bad.
        let expected = 2.0 * (0.5 / 0.35f64).min(1.0) * (0.5 / 0.7);
        assert!((found[0] - expected.min(1.0)).abs() < 0.05, "{found:?}");
        assert!(found[1] == LEAST, "{found:?}");
    }

    #[test]
    fn a_stratum_of_false_links_takes_the_shares_of_the_others() {
        let mut links = ranks(900, 0, 0.01, 0.01);
        links.extend(ranks(100, 0, 0.9, 0.01));
        links.extend(ranks(100, 0, 0.01, 0.9));
        // Those of stratum 1 are like decoys.
        let like_decoys = decoys().into_iter().filter(|rank| rank.stratum == 1);
        links.extend(like_decoys);
        let found = unexplained(&links, &counted(&decoys()));
        assert!(
            (found[0] - found[1]).abs() < 0.01 && found[1] < 0.1,
            "{found:?}"
        );
    }

    #[test]
    fn where_nothing_confirms_links_nothing_is_explained() {
        let found = unexplained(&decoys(), &counted(&decoys()));
        assert_eq!(found, [1.0, 1.0]);
        // Neighbours that nobody has in common do not speak against a link.
        let alone: Vec<Rank> = ranks(500, 0, 0.01, 0.5);
        assert_eq!(unexplained(&alone, &counted(&decoys())), [LEAST, LEAST]);
    }
}

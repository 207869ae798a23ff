//! How many sound links look like decoys, by all evidence.
//!
//! Ranks alone cannot tell a false link from a sound one that nothing explains.
//! Two kinds of evidence that do not depend on each other can: among links that
//! common neighbours confirm, nearly all of them sound, the vectors fail to speak
//! for a share `a`; among links that the vectors confirm, common neighbours fail
//! to speak for a share `b`. Where neither depends on the other, both fail for
//! `a b` of the sound links, each share being taken against that of decoys.

use super::evidence::Kind;
use super::ranks::Rank;

/// Ranks below these confirm a link.
const BY_NEIGHBORS: f64 = 0.02;
const BY_VECTORS: f64 = 0.05;
/// Ranks beyond these do not speak for a link.
const NO_VECTORS: f64 = 0.65;
const NO_NEIGHBORS: f64 = 0.3;
/// Fewer confirmed links of a stratum tell nothing, nor do fewer than so many
/// times what chance would confirm.
const LEAST_CONFIRMED: usize = 30;
const CHANCE: f64 = 2.0;
/// Kinds of evidence fail together more often than if they were independent.
const TOGETHER: f64 = 2.0;

/// The density of sound links at the ranks of decoys, against that of decoys: 0
/// where only one kind of evidence can tell, 1 where none can.
pub fn unexplained(links: &[Rank], decoys: &[Rank]) -> f64 {
    let neighbors = Kind::ALL
        .iter()
        .position(|kind| *kind == Kind::CommonNeighbors)
        .unwrap_or_default();
    let by_neighbors = |rank: &Rank| rank.by_kind[neighbors] < BY_NEIGHBORS;
    let by_vectors = |rank: &Rank| rank.by_vectors < BY_VECTORS;
    let no_neighbors = |rank: &Rank| rank.by_kind[neighbors] > NO_NEIGHBORS;
    let no_vectors = |rank: &Rank| rank.by_vectors > NO_VECTORS;
    let n_strata = links.iter().map(|rank| rank.stratum + 1).max().unwrap_or(0);
    // One stratum is enough: others may have hardly any sound links.
    let confirms = |confirmed: &dyn Fn(&Rank) -> bool, chance: f64| {
        let mut counts = vec![(0usize, 0usize); n_strata];
        for rank in links {
            counts[rank.stratum].0 += usize::from(confirmed(rank));
            counts[rank.stratum].1 += 1;
        }
        counts.iter().any(|&(sure, all)| {
            sure >= LEAST_CONFIRMED && sure as f64 > CHANCE * chance * all as f64
        })
    };
    // How often one kind does not speak for links that the other confirms (all
    // links, where it confirms none), against decoys.
    let fails = |known: &dyn Fn(&Rank) -> bool, silent: &dyn Fn(&Rank) -> bool| {
        let (mut all, mut failed) = (0.0f64, 0.0);
        for rank in links.iter().filter(|rank| known(rank)) {
            all += 1.0;
            failed += if silent(rank) { 1.0 } else { 0.0 };
        }
        let of_decoys = decoys.iter().filter(|rank| silent(rank)).count() as f64;
        let of_decoys = of_decoys / decoys.len().max(1) as f64;
        (failed / all.max(1.0) / of_decoys.max(1e-9)).min(1.0)
    };
    let anything = |_: &Rank| true;
    let (sure_neighbors, sure_vectors) = (
        confirms(&by_neighbors, BY_NEIGHBORS),
        confirms(&by_vectors, BY_VECTORS),
    );
    let both = match (sure_neighbors, sure_vectors) {
        (true, true) => fails(&by_neighbors, &no_vectors) * fails(&by_vectors, &no_neighbors),
        (true, false) => fails(&by_neighbors, &no_vectors) * fails(&anything, &no_neighbors),
        (false, true) => 0.0,
        (false, false) => 1.0,
    };
    (TOGETHER * both).min(1.0)
}

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
const BY_VECTORS: f64 = 0.005;
/// Ranks beyond these do not speak for a link.
const NO_VECTORS: f64 = 0.65;
const NO_NEIGHBORS: f64 = 0.3;
/// Fewer confirmed links tell nothing.
const LEAST_CONFIRMED: usize = 50;

/// The density of sound links at the ranks of decoys, against that of decoys;
/// none where too few links are confirmed.
pub fn unexplained(links: &[Rank], decoys: &[Rank]) -> Option<f64> {
    let neighbors = Kind::ALL
        .iter()
        .position(|kind| *kind == Kind::CommonNeighbors)?;
    let common = |rank: &Rank| rank.by_kind[neighbors];
    let share = |ranks: &[&Rank], holds: &dyn Fn(&Rank) -> bool| {
        ranks.iter().filter(|rank| holds(rank)).count() as f64 / ranks.len().max(1) as f64
    };
    let of = |ranks: &'_ [Rank], holds: &dyn Fn(&Rank) -> bool| -> Vec<usize> {
        (0..ranks.len())
            .filter(|&place| holds(&ranks[place]))
            .collect()
    };
    let pick = |places: Vec<usize>| -> Vec<&Rank> { places.iter().map(|&p| &links[p]).collect() };
    let by_neighbors = pick(of(links, &|rank| common(rank) < BY_NEIGHBORS));
    let by_vectors = pick(of(links, &|rank| rank.by_vectors < BY_VECTORS));
    if by_neighbors.len().min(by_vectors.len()) < LEAST_CONFIRMED {
        return None;
    }
    let decoys: Vec<&Rank> = decoys.iter().collect();
    let against = |ranks: &[&Rank], holds: &dyn Fn(&Rank) -> bool| {
        share(ranks, holds) / share(&decoys, holds).max(1e-9)
    };
    let vectors_fail = against(&by_neighbors, &|rank| rank.by_vectors > NO_VECTORS);
    let neighbors_fail = against(&by_vectors, &|rank| common(rank) > NO_NEIGHBORS);
    Some(vectors_fail.min(1.0) * neighbors_fail.min(1.0))
}

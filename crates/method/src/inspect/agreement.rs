//! Whether links agree with data vectors, without a fit and without labels.
//!
//! Two looks. Data vectors of links are compared, by their cosine, with those of
//! pairs without a link and with degrees like theirs. And a fifth of the columns is
//! held back: clusters of the other columns, and clusters of their averages over all
//! links, each tell something of it. Where links know nothing of what the data
//! vectors tell, averages lose it.

use std::fmt;
use std::ops::Range;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use crate::data::dataset::{DataView, Dataset};
use crate::data::features::Matrix;
use crate::data::graph::{Adjacency, Link};
use crate::error::Result;
use crate::trust::judge::average::averages;
use crate::trust::robust::gate::{LEAST_COLUMNS, MOST_NODES, components, held_back, some_columns};
use crate::trust::robust::told::told_by_clusters;
use linkproof_numeric::math;

/// Links that are compared at most, and pairs without a link for each of them.
const MOST_LINKS: usize = 20_000;
const DECOYS: usize = 4;
/// Fewer pairs without a link would say little.
const LEAST_DECOYS: usize = 4_000;
/// A stratum of degrees has at least so many links; there are at most so many.
const STRATUM: usize = 400;
const MOST_STRATA: usize = 8;
/// Links are alike, or unlike, where the chance differs from a half by so much, and
/// by so many standard errors.
const LEAST_EXCESS: f64 = 0.03;
const LEAST_ERRORS: f64 = 4.0;
/// With larger standard errors than this nothing is said.
const LARGEST_ERROR: f64 = 0.0125;
/// Averages that tell less than this share lose something.
const KEPT: f64 = 0.9;
/// Rounds of averaging, and times that columns are held back.
const ROUNDS: usize = 2;
const TIMES: usize = 2;

/// How links lie to data vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Links join nodes that are alike.
    Agree,
    /// Links join any nodes, as far as the data vectors tell.
    Unrelated,
    /// Links join nodes that are unlike.
    Opposed,
    /// There are too few links to tell.
    Unclear,
}

/// What clusters tell of columns that were held back: the share of the variance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClustersTell {
    /// Clusters of the other columns.
    pub vectors: f64,
    /// Clusters of their averages over all links.
    pub averages: f64,
}

/// Whether links agree with data vectors. `to_string` says it in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// The chance that the data vectors of a link are more alike than those of a pair
    /// without a link and with degrees like its own.
    pub alike: f64,
    /// Its standard error.
    pub error: f64,
    /// The links that were compared.
    pub links: usize,
    /// How links lie to data vectors.
    pub relation: Relation,
    /// What clusters tell; none where there are too few columns to hold any back.
    pub clusters: Option<ClustersTell>,
    /// Whether k-means on the data vectors alone is a better choice than anything
    /// that is made from the links.
    pub vectors_alone: bool,
    /// The same in words.
    pub says: String,
}

/// Compares links with data vectors; none where no link joins two nodes of a view
/// that has some.
pub(super) fn agreement(data: &Dataset, seed: u64) -> Result<Option<Agreement>> {
    let mut ranks = Vec::new();
    let mut sums = [0.0; 2];
    let mut weight = 0.0;
    let links = data.graph().adjacency();
    for view in data.views() {
        let Some(matrix) = &view.matrix else { continue };
        ranks.extend(alike(data, view, matrix, seed));
        if let Some(told) = clusters(&links, view, matrix, seed)? {
            let n = view.rows.len() as f64;
            sums[0] += n * told.vectors;
            sums[1] += n * told.averages;
            weight += n;
        }
    }
    if ranks.is_empty() {
        return Ok(None);
    }
    let m = ranks.len() as f64;
    let alike = ranks.iter().sum::<f64>() / m;
    let squares = ranks.iter().map(|rank| (rank - alike).powi(2));
    let error = (squares.sum::<f64>() / (m * m)).sqrt();
    let clusters = (weight > 0.0).then(|| ClustersTell {
        vectors: sums[0] / weight,
        averages: sums[1] / weight,
    });
    Ok(Some(Agreement::new(alike, error, ranks.len(), clusters)))
}

impl Agreement {
    fn new(alike: f64, error: f64, links: usize, clusters: Option<ClustersTell>) -> Agreement {
        let least = LEAST_EXCESS.max(LEAST_ERRORS * error);
        let relation = match alike - 0.5 {
            excess if excess >= least => Relation::Agree,
            excess if excess <= -least => Relation::Opposed,
            _ if error <= LARGEST_ERROR => Relation::Unrelated,
            _ => Relation::Unclear,
        };
        // Vectors that are like noise are no better choice.
        let tell = clusters.is_none_or(|told| told.vectors > 0.0);
        let mut found = Agreement {
            alike,
            error,
            links,
            relation,
            clusters,
            vectors_alone: matches!(relation, Relation::Unrelated | Relation::Opposed) && tell,
            says: String::new(),
        };
        found.says = found.to_string();
        found
    }
}

impl Agreement {
    /// Whether averages over links tell about as much of held-back columns as the data
    /// vectors themselves, or more; also where there are none to hold back.
    pub fn links_help(&self) -> bool {
        let told = self.clusters.filter(|told| told.vectors > 0.0);
        told.is_none_or(|told| told.averages >= KEPT * told.vectors)
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cases = format!(
            "the data vectors of a link are more alike than those of a pair without one in {:.0}% \
             of cases (chance is 50%)",
            100.0 * self.alike
        );
        let alone = match self.vectors_alone {
            true => {
                "For clusters of what the data vectors tell, k-means on the data vectors alone \
                     is the better choice."
            }
            false => {
                "The data vectors show no clusters of their own either, as noise would: fit \
                      to the links alone."
            }
        };
        match self.relation {
            Relation::Unclear => write!(
                f,
                "There are too few links to tell whether they agree with the data vectors: of {} \
                 links that could be compared, {cases}.",
                self.links
            ),
            Relation::Unrelated => write!(
                f,
                "Links do not agree with the data vectors: {cases}. Nothing made from these links \
                 finds what the data vectors tell. {alone}"
            ),
            Relation::Opposed => write!(
                f,
                "Links join nodes that are unlike: {cases}. A fit puts linked nodes close \
                 together. {alone}"
            ),
            Relation::Agree => {
                write!(f, "Links agree with the data vectors: {cases}.")?;
                let Some(told) = self.clusters else {
                    return Ok(());
                };
                let ratio = told.averages / told.vectors;
                let times = format!(
                    "clusters of averages over all links tell held-back columns {ratio:.2} times as \
                     well as clusters of the data vectors alone"
                );
                match told.vectors > 0.0 {
                    false if told.averages > 0.0 => f.write_str(
                        " Links help: clusters of averages over them tell something of held-back \
                         columns, clusters of the data vectors alone nothing.",
                    ),
                    false => Ok(()),
                    true if self.links_help() => write!(f, " Links help: {times}."),
                    true => write!(
                        f,
                        " But {times}: many links are false, or join what is unlike. Use a robust \
                         fit, which believes each link as far as it deserves, and compare its \
                         clusters with those of k-means on the data vectors alone."
                    ),
                }
            }
        }
    }
}

/// For each of some links the share of pairs without a link, of the same view and of
/// degrees like its own, whose data vectors are less alike.
fn alike(data: &Dataset, view: &DataView, matrix: &Matrix, seed: u64) -> Vec<f64> {
    let graph = data.graph();
    let inside = |link: &Link| {
        view.rows.contains(&(link.src as usize)) && view.rows.contains(&(link.dst as usize))
    };
    let mut links: Vec<(u32, u32)> = graph
        .links()
        .filter(inside)
        .map(|link| (link.src, link.dst))
        .collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x6167_7265);
    let ends = links.clone();
    if links.len() > MOST_LINKS {
        links.shuffle(&mut random);
        links.truncate(MOST_LINKS);
    }
    let wanted = (DECOYS * links.len()).max(LEAST_DECOYS);
    let mut decoys = Vec::with_capacity(wanted);
    for place in 0..2 * wanted {
        if decoys.len() == wanted || ends.is_empty() {
            break;
        }
        // Half with ends drawn by degree, as false links may be.
        let mut end = || match place % 2 {
            0 => random.random_range(view.rows.clone()) as u32,
            _ => {
                let link = ends[random.random_range(0..ends.len())];
                [link.0, link.1][random.random_range(0..2)]
            }
        };
        let (a, b) = (end(), end());
        let (src, dst) = (a.min(b), a.max(b));
        if src != dst && graph.weight(src, dst).is_none() {
            decoys.push((src, dst));
        }
    }
    let cosines = Cosines::new(matrix, view.rows.clone());
    let degrees = graph.degrees();
    // The link itself does not count.
    let look = |pairs: &[(u32, u32)], own: f64| -> Vec<(f64, f64)> {
        let degree = |row: u32| f64::from(degrees[row as usize]) + 1.0 - own;
        let look = |&(a, b): &(u32, u32)| (math::ln(degree(a) * degree(b)), cosines.of(a, b));
        pairs.par_iter().map(look).collect()
    };
    ranks(&look(&links, 1.0), &look(&decoys, 0.0))
}

/// For each link (logarithm of degrees, cosine) the share of decoys of its stratum
/// with a smaller cosine, equal ones by half. A stratum without decoys is left out.
fn ranks(links: &[(f64, f64)], decoys: &[(f64, f64)]) -> Vec<f64> {
    let mut degrees: Vec<f64> = links.iter().map(|link| link.0).collect();
    degrees.sort_by(f64::total_cmp);
    let n_strata = (links.len() / STRATUM).clamp(1, MOST_STRATA);
    let borders: Vec<f64> = (1..n_strata)
        .map(|place| degrees[place * degrees.len() / n_strata])
        .collect();
    let stratum = |degree: f64| borders.partition_point(|&border| border <= degree);
    let mut strata = vec![Vec::new(); n_strata];
    for &(degree, cosine) in decoys {
        strata[stratum(degree)].push(cosine);
    }
    for cosines in &mut strata {
        cosines.sort_by(f64::total_cmp);
    }
    let rank = |&(degree, cosine): &(f64, f64)| {
        let others = &strata[stratum(degree)];
        let below = others.partition_point(|&other| other < cosine);
        let upto = others.partition_point(|&other| other <= cosine);
        (!others.is_empty()).then(|| (below + upto) as f64 / (2 * others.len()) as f64)
    };
    links.iter().filter_map(rank).collect()
}

/// Cosines of data vectors. Dense ones are compared less their mean: a cosine of
/// vectors with a common mean tells little.
struct Cosines<'m> {
    matrix: &'m Matrix,
    start: usize,
    means: Vec<f64>,
}

impl Cosines<'_> {
    fn new(matrix: &Matrix, rows: Range<usize>) -> Cosines<'_> {
        let mut means = Vec::new();
        if let Matrix::Dense(dense) = matrix {
            let (n, p) = (dense.n_rows(), dense.n_columns());
            means = vec![0.0; p];
            for place in 0..n * p {
                means[place % p] += dense.values().get(place) / n as f64;
            }
        }
        Cosines {
            matrix,
            start: rows.start,
            means,
        }
    }

    fn of(&self, a: u32, b: u32) -> f64 {
        let row = |row: u32| {
            let mut entries = self.matrix.row(row as usize - self.start);
            if !self.means.is_empty() {
                let mut whole: Vec<(u32, f64)> = (0..).zip(self.means.iter().map(|m| -m)).collect();
                entries
                    .iter()
                    .for_each(|&(column, x)| whole[column as usize].1 += x);
                entries = whole;
            }
            entries
        };
        let (x, y) = (row(a), row(b));
        let length = |x: &[(u32, f64)]| x.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
        let lengths = length(&x) * length(&y);
        match lengths > 0.0 {
            true => crate::trust::audit::product(&x, &y) / lengths,
            false => 0.0,
        }
    }
}

/// What clusters of a view's data vectors, and of their averages over links inside
/// it, tell of held-back columns.
fn clusters(
    links: &Adjacency,
    view: &DataView,
    matrix: &Matrix,
    seed: u64,
) -> Result<Option<ClustersTell>> {
    if matrix.n_columns() < LEAST_COLUMNS {
        return Ok(None);
    }
    let rows = surroundings(links, view.rows.clone(), seed);
    let matrix = matrix.select(&rows);
    let pattern = inside(links, view.rows.start, &rows);
    let mut told = ClustersTell {
        vectors: 0.0,
        averages: 0.0,
    };
    for time in 0..TIMES {
        let back = held_back(matrix.n_columns(), seed, time);
        let (targets, count) = components(some_columns(&matrix, |c| back[c])?, seed)?;
        let (own, width) = components(some_columns(&matrix, |c| !back[c])?, seed)?;
        let own: Vec<f32> = own.iter().map(|&x| x as f32).collect();
        let averaged = averages(&pattern, &own, width, ROUNDS).pop();
        let tell = |y: &[f32]| told_by_clusters(y, width, &targets, count, seed);
        told.vectors += tell(&own)? / TIMES as f64;
        told.averages += tell(&averaged.unwrap_or_default())? / TIMES as f64;
    }
    Ok(Some(told))
}

/// The nodes of a view, by their rows in it: all, or of many some with those around
/// them.
fn surroundings(links: &Adjacency, rows: Range<usize>, seed: u64) -> Vec<u32> {
    let n = rows.len();
    if n <= MOST_NODES {
        return (0..n as u32).collect();
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x6172_6f75);
    order.shuffle(&mut random);
    let mut taken = vec![false; n];
    let mut count = 0;
    for node in order {
        let around = links.row(rows.start + node as usize).0.iter();
        let around = around
            .map(|&other| other as usize)
            .filter(|other| rows.contains(other));
        let all = around
            .map(|other| other - rows.start)
            .chain([node as usize]);
        for one in all {
            if count < MOST_NODES && !taken[one] {
                taken[one] = true;
                count += 1;
            }
        }
    }
    (0..n as u32).filter(|&row| taken[row as usize]).collect()
}

/// The links between some nodes of a view, each of weight 1.
fn inside(links: &Adjacency, start: usize, rows: &[u32]) -> Adjacency {
    let mut pairs = Vec::new();
    for (src, &row) in rows.iter().enumerate() {
        for &other in links.row(start + row as usize).0 {
            let Some(local) = (other as usize).checked_sub(start) else {
                continue;
            };
            if let Ok(dst) = rows.binary_search(&(local as u32))
                && src < dst
            {
                pairs.push(Link {
                    src: src as u32,
                    dst: dst as u32,
                    weight: 1.0,
                });
            }
        }
    }
    Adjacency::new(rows.len(), pairs.iter().copied())
}

#[cfg(test)]
#[path = "agreement_tests.rs"]
mod tests;

//! Two coordinates for each node, for pictures of embeddings.
//!
//! Up to two dimensions are drawn as they are. More are laid out so that
//! neighbours stay neighbours, or, for many nodes, by their two principal
//! components. The result depends on the embeddings, the method and the seed
//! alone, never on the number of threads.

mod fuzzy;
mod nearest;
mod optimise;
mod principal;
mod rows;
#[cfg(test)]
mod tests;

use std::fmt;

use linkproof_method::error::{Error, Result};

use self::fuzzy::Edges;
use self::principal::Principal;
use self::rows::Rows;

/// How coordinates were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// One or two dimensions, which need no reduction.
    Dimensions,
    /// The two directions of largest variance.
    Principal,
    /// A layout that keeps near points near, in the manner of UMAP.
    Neighbors,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::Dimensions => "its dimensions as they are",
            Method::Principal => "principal components (PCA)",
            Method::Neighbors => "neighbours (a layout in the manner of UMAP, started from PCA)",
        })
    }
}

/// Coordinates of all nodes, centred, with the same unit on both axes: 99% of
/// them have an absolute value of at most 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// How they were found.
    pub method: Method,
    /// The coordinates of each node; always finite.
    pub points: Vec<[f32; 2]>,
    /// The share of the variance that the two coordinates hold, for principal
    /// components of points that are not all equal.
    pub explained: Option<f64>,
}

/// Up to this many nodes, [`Method::Neighbors`] is the default above two
/// dimensions; its search for neighbours takes time in the square of the nodes
/// (there, on two cores: 4 s in 64 dimensions, 15 s in 1,024).
pub const NEIGHBORS_UP_TO: usize = 20_000;

/// Lays out `n` embeddings of `dim` dimensions, given row after row, in the
/// plane. Without a method: the dimensions themselves up to two of them (the
/// second coordinate of one is 0), else neighbours up to [`NEIGHBORS_UP_TO`]
/// nodes, else principal components.
///
/// For a layout by neighbours the observer is told of each finished epoch and
/// of all of them, and before, while neighbours are sought, of 0 finished ones;
/// where it returns `false`, the layout ends with [`Error::Interrupted`].
///
/// ```
/// use linkproof_pictures::layout::{Method, layout};
///
/// let y = [0.0, 0.0, 1.0, 3.0, 3.0, 1.0, 6.0, 6.1, 1.0];
/// let layout = layout(&y, 3, 3, Some(Method::Principal), 0, &mut |_, _| true)?;
/// assert_eq!(layout.points.len(), 3);
/// assert!(layout.explained > Some(0.999));
/// # Ok::<(), linkproof::Error>(())
/// ```
pub fn layout(
    y: &[f32],
    n: usize,
    dim: usize,
    method: Option<Method>,
    seed: u64,
    observer: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Layout> {
    let points = Rows::new(y, n, dim)?;
    let method = method.unwrap_or(match (dim, n) {
        (..=2, _) => Method::Dimensions,
        (_, ..=NEIGHBORS_UP_TO) => Method::Neighbors,
        _ => Method::Principal,
    });
    let mut explained = None;
    let coordinates = match method {
        Method::Dimensions => as_they_are(&points)?,
        Method::Principal => {
            let principal = Principal::new(&points);
            explained = principal.explained;
            principal.coordinates
        }
        Method::Neighbors => by_neighbors(&points, seed, observer)?,
    };
    let unit = in_unit(&coordinates);
    Ok(Layout {
        method,
        points: unit.iter().map(|p| p.map(|x| x as f32)).collect(),
        explained,
    })
}

fn as_they_are(points: &Rows) -> Result<Vec<[f64; 2]>> {
    if !(..=2).contains(&points.dim()) {
        return Err(Error::data(
            "embeddings",
            format!("{} dimensions", points.dim()),
            "1 or 2 to draw them as they are (or another method of layout)",
        ));
    }
    let rows = points.centred(0..points.len());
    let pair = |row: &[f64]| [row[0], row.get(1).copied().unwrap_or(0.0)];
    Ok(rows.chunks_exact(points.dim()).map(pair).collect())
}

fn by_neighbors(
    points: &Rows,
    seed: u64,
    observer: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<[f64; 2]>> {
    let principal = Principal::new(points);
    // Equal points stay where they are.
    if principal.explained.is_none() {
        return Ok(principal.coordinates);
    }
    let n_epochs = optimise::epochs(points.len());
    let neighbors = nearest::neighbors(points, nearest::NEIGHBORS, &mut || match observer(
        0, n_epochs,
    ) {
        true => Ok(()),
        false => Err(Error::Interrupted { step: 0 }),
    })?;
    let edges = Edges::new(&neighbors, n_epochs);
    let start = in_unit(&principal.coordinates);
    optimise::run(&edges, &start, n_epochs, seed, observer)
}

/// The absolute coordinates of this share of all are at most 1.
const WITHIN: f64 = 0.99;

/// No coordinate exceeds this, however few points are far from the others.
const FARTHEST: f64 = 1e6;

/// The points with their mean taken off and the 99% quantile of the absolute
/// coordinates as the unit; zeros where all points are equal.
fn in_unit(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = points.len().max(1) as f64;
    let mut mean = [0.0; 2];
    for point in points {
        mean[0] += point[0] / n;
        mean[1] += point[1] / n;
    }
    let centred = |p: &[f64; 2]| [p[0] - mean[0], p[1] - mean[1]];
    let mut sizes: Vec<f64> = points.iter().flat_map(centred).map(f64::abs).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    if !(largest > 0.0) {
        return vec![[0.0; 2]; points.len()];
    }
    let place = ((WITHIN * sizes.len() as f64).ceil() as usize).clamp(1, sizes.len()) - 1;
    let (_, &mut quantile, _) = sizes.select_nth_unstable_by(place, f64::total_cmp);
    let unit = quantile.max(largest / FARTHEST);
    points
        .iter()
        .map(|p| centred(p).map(|x| x / unit))
        .collect()
}

//! Smoothing over believed links, combined with what features predict of it.
//!
//! A mean over few links is uncertain, and some of them are false. A ridge regression on
//! the features of all nodes is not: it predicts each node's smoothed embedding from those
//! of others, and the mean of the nodes nearest to the prediction takes its place. Known
//! nodes and unseen ones are combined in the same way.

use super::regression::Regression;
use crate::data::dataset::Dataset;
use crate::data::graph::Adjacency;
use crate::error::Result;
use crate::explained::averages;
use crate::model::Fitted;
use crate::model::nearest::Nearest;

/// The share of the prediction from features; the mean over links has the rest.
pub(super) const BY_FEATURES: f32 = 1.0 / 3.0;

/// Combines means over links with predictions from features.
pub(super) fn combine(smoothed: &mut [f32], predicted: &[f32]) {
    for (y, &by_features) in smoothed.iter_mut().zip(predicted) {
        *y += BY_FEATURES * (by_features - *y);
    }
}

/// The smoothed embeddings of a model, in the user's row order. `links` are by internal
/// rows.
pub(super) fn smoothed(
    model: &Fitted,
    data: &Dataset,
    links: &Adjacency,
    rounds: usize,
) -> Result<Vec<f32>> {
    let (dim, params) = (model.dim(), model.params());
    let inside: Vec<f32> = (0..data.n_nodes())
        .flat_map(|row| model.row(data.user_row(row)))
        .copied()
        .collect();
    let mut smoothed = averages(links, &inside, dim, rounds)
        .pop()
        .unwrap_or(inside);
    for (view, fitted) in data.views().iter().zip(model.views()) {
        let Some(matrix) = view.matrix.as_ref().filter(|_| !fitted.network.is_table()) else {
            continue;
        };
        let place = view.rows.start * dim..view.rows.end * dim;
        let own = smoothed[place.clone()].to_vec();
        let predicted =
            Regression::predict_held_out(matrix, &own, dim, params.normalize, params.seed)?;
        let rows: Vec<usize> = (0..view.rows.len()).collect();
        let nearest = Nearest::new(&own, dim, rows.clone(), params.seed);
        combine(
            &mut smoothed[place],
            &nearest.average(&predicted, Some(&rows)),
        );
    }
    Ok(data.to_user_order(smoothed, dim))
}

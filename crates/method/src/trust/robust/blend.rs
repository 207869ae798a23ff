//! Averages over believed links, and what data vectors tell of them.
//!
//! An average over few links is uncertain, and some of them are false. What data
//! vectors tell of the averages of all nodes is not: a ridge regression foretells each
//! node's average from those of others, and the averages of the nodes nearest to that
//! stand for it. Known nodes and unseen ones are put together in the same way.

use crate::data::dataset::Dataset;
use crate::data::graph::Adjacency;
use crate::error::Result;
use crate::model::Fitted;
use crate::model::nearest::Nearest;
use crate::trust::judge::average::averages;
use crate::trust::smooth::Regression;

/// What data vectors tell counts for this share, averages over links for the rest.
pub(super) const BY_VECTORS: f32 = 1.0 / 3.0;

/// Puts averages over links and what data vectors tell of them together.
pub(super) fn blend(averaged: &mut [f32], by_vectors: &[f32]) {
    for (y, &told) in averaged.iter_mut().zip(by_vectors) {
        *y += BY_VECTORS * (told - *y);
    }
}

/// The embeddings of a model after so many rounds of averaging over links, with what
/// data vectors tell of them, in the user's row order.
pub(super) fn average_model(
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
    let mut averaged = averages(links, &inside, dim, rounds)
        .pop()
        .unwrap_or(inside);
    for (view, fitted) in data.views().iter().zip(model.views()) {
        let Some(matrix) = view.matrix.as_ref().filter(|_| !fitted.network.is_table()) else {
            continue;
        };
        let place = view.rows.start * dim..view.rows.end * dim;
        let own = averaged[place.clone()].to_vec();
        let guesses = Regression::foretell(matrix, &own, dim, params.normalize, params.seed)?;
        let rows: Vec<usize> = (0..view.rows.len()).collect();
        let nearest = Nearest::new(&own, dim, rows.clone(), params.seed);
        blend(
            &mut averaged[place],
            &nearest.average(&guesses, Some(&rows)),
        );
    }
    Ok(data.to_user_order(averaged, dim))
}

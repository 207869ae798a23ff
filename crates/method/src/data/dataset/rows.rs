//! Which row of data vectors and links is which node.

use super::NodeViews;
use crate::data::features::{Features, Matrix};
use crate::data::graph::Graph;
use crate::data::ids::{Ids, Side};
use crate::error::{Error, Result, Subject, quote};

/// The features of a view's nodes, in the order of those nodes.
pub(super) fn view_matrix(
    name: &str,
    features: Features,
    nodes: &NodeViews,
    members: &[u32],
) -> Result<Matrix> {
    let (ids, matrix) = features.into_parts();
    let rows: Vec<u32> = match (&ids, &nodes.rows) {
        (Ids::Names(_) | Ids::Sides(_), _) => members
            .iter()
            .map(|&node| {
                let id = nodes.ids.name(node as usize);
                ids.row(&id).ok_or_else(|| {
                    Error::data(
                        Subject::Features {
                            view: Some(name.to_owned()),
                        },
                        format!("no row for node {}", quote(&id)),
                        "a data vector for each node of the view",
                    )
                })
            })
            .collect::<Result<_>>()?,
        (Ids::Rows(_), Some(rows)) => members.iter().map(|&node| rows[node as usize]).collect(),
        (Ids::Rows(_), None) => {
            if matrix.n_rows() != members.len() {
                return Err(Error::data(
                    Subject::Features {
                        view: Some(name.to_owned()),
                    },
                    format!("{} rows", matrix.n_rows()),
                    format!("as many as the view has nodes, {}", members.len()),
                ));
            }
            (0..members.len() as u32).collect()
        }
    };
    if let Some(row) = rows.iter().find(|&&row| row as usize >= matrix.n_rows()) {
        return Err(Error::data(
            Subject::Features {
                view: Some(name.to_owned()),
            },
            format!("row {row} named in the nodes"),
            format!("rows below {}", matrix.n_rows()),
        ));
    }
    let in_place = rows.iter().enumerate().all(|(a, &b)| a == b as usize);
    if in_place && matrix.n_rows() == rows.len() {
        return Ok(matrix);
    }
    Ok(matrix.select(&rows))
}

/// The data vectors of the nodes of a side, in their order.
pub(super) fn side_matrix(side: Side, features: &Features, nodes: &Ids) -> Result<Matrix> {
    let nodes = NodeViews {
        ids: nodes.clone(),
        views: Vec::new(),
        rows: None,
    };
    let members: Vec<u32> = (0..nodes.ids.len() as u32).collect();
    view_matrix(side.name(), features.clone(), &nodes, &members)
}

/// Where each node of a graph is, where all of them are somewhere.
pub(super) fn known_rows(graph: &Graph, place: impl Fn(usize) -> Option<u32>) -> Result<Vec<u32>> {
    let found: Vec<Option<u32>> = (0..graph.n_nodes()).map(place).collect();
    match found.iter().position(Option::is_none) {
        None => Ok(found.into_iter().flatten().collect()),
        Some(first) => {
            let error = Error::UnknownNode {
                id: graph.ids().name(first).into_owned(),
                missing: found.iter().filter(|row| row.is_none()).count(),
                of: found.len(),
                file: None,
            };
            let row = first as u32;
            Err(graph.located(error, |link| link.src == row || link.dst == row))
        }
    }
}

/// The graph on the rows of `ids`, or on `inside[row]` of them.
pub(super) fn join(graph: Graph, ids: &Ids, inside: Option<&[u32]>) -> Result<Graph> {
    if let (Ids::Rows(a), Ids::Rows(b), None) = (graph.ids(), ids, inside)
        && a == b
    {
        return Ok(graph);
    }
    let rows = known_rows(&graph, |row| {
        let id = graph.ids().name(row);
        match graph.ids().sides() {
            Some(sides) => ids.row_on(sides.place(row).0, &id),
            None => ids.row(&id),
        }
    })?;
    let rows: Vec<u32> = match inside {
        Some(inside) => rows.iter().map(|&row| inside[row as usize]).collect(),
        None => rows,
    };
    let in_place = rows.iter().enumerate().all(|(a, &b)| a == b as usize);
    if in_place && graph.n_nodes() == ids.len() {
        return Ok(graph);
    }
    graph.relabel(Ids::Rows(ids.len()), &rows)
}

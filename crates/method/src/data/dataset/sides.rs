//! Nodes on two sides of links.

use std::ops::Range;
use std::sync::Arc;

use super::rows::{known_rows, side_matrix};
use super::{DataView, Dataset};
use crate::data::features::Features;
use crate::data::graph::Graph;
use crate::data::ids::{Ids, Side, Sides};
use crate::error::{Error, Result};

impl Dataset {
    /// Links from sources to targets, a view of nodes for each side, of which either may
    /// have data vectors. The nodes of a side are those given, or those of its data
    /// vectors, or those of the links.
    pub fn on_sides(
        graph: Graph,
        nodes: Option<&Sides>,
        features: [Option<Features>; 2],
    ) -> Result<Dataset> {
        let Some(sides) = graph.ids().sides() else {
            let expected = "links from sources to targets";
            return Err(Error::links("links between nodes of one kind", expected));
        };
        let [source, target] = [Side::Source, Side::Target].map(|side| {
            let given = nodes.map(|nodes| nodes.of(side).clone());
            let features = features[side as usize].as_ref();
            let own = given.or_else(|| features.map(|features| features.ids().clone()));
            let ids = own.unwrap_or_else(|| sides.of(side).clone());
            let matrix = features.map(|features| side_matrix(side, features, &ids));
            Result::Ok((ids, matrix.transpose()?))
        });
        let ((source, of_source), (target, of_target)) = (source?, target?);
        let n = source.len();
        let all = Ids::Sides(Arc::new(Sides {
            source,
            target,
            same: sides.same,
        }));
        let rows = known_rows(&graph, |row| {
            all.row_on(sides.place(row).0, &graph.ids().name(row))
        })?;
        let graph = graph.relabel(all.clone(), &rows)?;
        let view = |side: Side, rows: Range<usize>, matrix| DataView {
            name: side.name().to_owned(),
            rows,
            matrix,
            space: side as usize,
        };
        let views = vec![
            view(Side::Source, 0..n, of_source),
            view(Side::Target, n..all.len(), of_target),
        ];
        Dataset {
            ids: all,
            order: None,
            views,
            graph,
        }
        .check()
    }
}

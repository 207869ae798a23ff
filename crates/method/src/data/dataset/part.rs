//! Some of the nodes of a dataset.

use std::sync::Arc;

use super::{DataView, Dataset};
use crate::data::graph::{Graph, Link, LinkRules};
use crate::data::ids::{Ids, Names, Sides};
use crate::error::Result;

impl Dataset {
    /// Some nodes, by ascending internal rows, with the links between them; they are in
    /// this order. Of a directed graph, the rows of a node as a source and as a target are
    /// both among them, or neither.
    pub fn part(&self, rows: &[u32]) -> Result<Dataset> {
        let mut place = vec![None; self.n_nodes()];
        for (at, &row) in rows.iter().enumerate() {
            place[row as usize] = Some(at as u32);
        }
        let mut views = Vec::with_capacity(self.views.len());
        for view in &self.views {
            let start = rows.partition_point(|&row| (row as usize) < view.rows.start);
            let end = rows.partition_point(|&row| (row as usize) < view.rows.end);
            let within = rows[start..end].iter();
            let within: Vec<u32> = within.map(|&row| row - view.rows.start as u32).collect();
            views.push(DataView {
                name: view.name.clone(),
                rows: start..end,
                matrix: view.matrix.as_ref().map(|matrix| matrix.select(&within)),
                space: view.space,
            });
        }
        let named = |rows: &[u32]| {
            let mut names = Names::default();
            for &row in rows {
                names.insert(&self.name(row as usize));
            }
            Ids::from(names)
        };
        let ids = match self.ids.sides() {
            // An id may stand on both.
            Some(sides) => {
                let (source, target) = rows.split_at(views[0].rows.end);
                Ids::Sides(Arc::new(Sides {
                    source: named(source),
                    target: named(target),
                    same: sides.same,
                }))
            }
            None => named(rows),
        };
        let links = self.graph.links().filter_map(|link| {
            let [src, dst] = [link.src, link.dst].map(|row| place[row as usize]);
            Some(Link {
                src: src?,
                dst: dst?,
                weight: link.weight,
            })
        });
        let graph = Graph::new(ids.clone(), links.collect(), LinkRules::default())?;
        Dataset {
            ids,
            order: None,
            views,
            graph,
        }
        .check()
    }
}

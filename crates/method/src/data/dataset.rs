//! Nodes, views, data vectors and links joined into one validated whole.
//!
//! Users see nodes in their own row order. Inside, rows are grouped by view,
//! so that each view is one contiguous range; the two orders are the same
//! unless the user interleaves views.

mod part;
mod rows;
mod sides;
mod spaces;

use std::ops::Range;
use std::sync::Arc;

use crate::data::digest::Digest;
use crate::data::features::{Features, Matrix};
use crate::data::graph::{Graph, Link};
use crate::data::ids::{Ids, Sides};
use crate::error::{Error, Result, Subject};
use rows::{join, view_matrix};

/// A group of nodes that share a kind of data vector ([example](crate::data)).
#[derive(Debug, Clone)]
pub struct DataView {
    /// The view's name; empty when there is only one, unnamed view.
    pub name: String,
    /// Its nodes, as internal rows.
    pub rows: Range<usize>,
    /// Their data vectors, if they have any.
    pub matrix: Option<Matrix>,
    /// The space of the data vectors: views of one space have the same columns. Usually
    /// the view's own place.
    pub space: usize,
}

/// Everything a fit needs.
///
/// ```
/// use linkproof::{Dataset, Features, Graph, Matrix};
///
/// let graph = Graph::from_rows(2, &[(0, 1, 1.0)])?;
/// let features = Features::new(Matrix::dense(3, 2, vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0])?);
/// // The third node has a data vector and no link.
/// let data = Dataset::new(graph, features)?;
/// assert_eq!(data.n_nodes(), 3);
/// # Ok::<(), linkproof::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dataset {
    ids: Ids,
    /// The user's row of each internal row; `None` when the orders agree.
    order: Option<Vec<u32>>,
    views: Vec<DataView>,
    graph: Graph,
}

/// Which nodes belong to which view ([example](crate::data)).
#[derive(Debug, Clone)]
pub struct NodeViews {
    /// The ids, in the user's row order.
    pub ids: Ids,
    /// The view of each node.
    pub views: Vec<String>,
    /// The row of each node in its view's features; unset: the nodes of a view
    /// stand there in the same order as here.
    pub rows: Option<Vec<u32>>,
}

impl Dataset {
    /// Links between nodes with data vectors. The nodes are those of the
    /// features, in their order.
    pub fn new(graph: Graph, features: Features) -> Result<Dataset> {
        if let Some(sides) = graph.ids().sides() {
            if !sides.same {
                return Dataset::on_sides_alike(graph, None, &features);
            }
            let both = [Some(features.clone()), Some(features)];
            return Dataset::on_sides(graph, None, both)?.with_spaces(&[0, 0]);
        }
        let (ids, matrix) = features.into_parts();
        let graph = join(graph, &ids, None)?;
        Dataset::one_view(graph, ids, Some(matrix))
    }

    /// Links alone. The nodes are those of the graph, in its order.
    pub fn from_links(graph: Graph) -> Result<Dataset> {
        if graph.ids().sides().is_some() {
            return Dataset::on_sides(graph, None, [None, None]);
        }
        let ids = graph.ids().clone();
        Dataset::one_view(graph, ids, None)
    }

    /// Links between given nodes without data vectors.
    pub fn with_nodes(graph: Graph, ids: Ids) -> Result<Dataset> {
        if let Some(sides) = graph.ids().sides() {
            let nodes = match (ids, sides.same) {
                (Ids::Sides(given), _) => given,
                (ids, true) => Arc::new(Sides {
                    source: ids.clone(),
                    target: ids,
                    same: true,
                }),
                (_, false) => {
                    let expected = "none with a bipartite graph, whose links name its nodes";
                    return Err(Error::data("nodes", "one list of nodes", expected));
                }
            };
            return Dataset::on_sides(graph, Some(&nodes), [None, None]);
        }
        let graph = join(graph, &ids, None)?;
        Dataset::one_view(graph, ids, None)
    }

    fn one_view(graph: Graph, ids: Ids, matrix: Option<Matrix>) -> Result<Dataset> {
        let views = vec![DataView {
            name: String::new(),
            rows: 0..ids.len(),
            matrix,
            space: 0,
        }];
        Dataset {
            ids,
            order: None,
            views,
            graph,
        }
        .check()
    }

    /// Nodes of several views. Views without features get a table encoder.
    pub fn with_views(
        graph: Graph,
        nodes: NodeViews,
        features: Vec<(String, Features)>,
    ) -> Result<Dataset> {
        if graph.ids().sides().is_some() {
            let expected = "nodes of one kind where links have a source and a target";
            return Err(Error::data("nodes", "nodes of several views", expected));
        }
        let n = nodes.ids.len();
        if nodes.views.len() != n || nodes.rows.as_ref().is_some_and(|rows| rows.len() != n) {
            return Err(Error::data(
                "nodes",
                "columns of different lengths",
                "a view (and a row) for each node",
            ));
        }
        let mut names: Vec<String> = features.iter().map(|(name, _)| name.clone()).collect();
        for view in &nodes.views {
            if !names.contains(view) {
                names.push(view.clone());
            }
        }
        if let Some((name, _)) = features
            .iter()
            .find(|(name, _)| !nodes.views.contains(name))
        {
            let view = Some(name.clone());
            return Err(Error::data(
                Subject::Features { view },
                format!("view '{name}', of which there is no node"),
                "a node of that view in the list of nodes",
            ));
        }
        let mut order: Vec<u32> = (0..n as u32).collect();
        let place = |row: &u32| {
            names
                .iter()
                .position(|name| *name == nodes.views[*row as usize])
        };
        order.sort_by_key(place);
        let mut inside = vec![0u32; n];
        for (row, &user) in order.iter().enumerate() {
            inside[user as usize] = row as u32;
        }
        let mut features: Vec<Option<Features>> = names
            .iter()
            .map(|name| {
                features
                    .iter()
                    .position(|(other, _)| other == name)
                    .map(|place| features[place].1.clone())
            })
            .collect();
        let mut views = Vec::new();
        let mut start = 0;
        for (name, features) in names.iter().zip(&mut features) {
            let members = order[start..]
                .iter()
                .take_while(|&&row| nodes.views[row as usize] == *name)
                .count();
            let rows = start..start + members;
            let matrix = match features.take() {
                Some(features) => Some(view_matrix(name, features, &nodes, &order[rows.clone()])?),
                None => None,
            };
            views.push(DataView {
                name: name.clone(),
                rows,
                matrix,
                space: views.len(),
            });
            start += members;
        }
        let graph = join(graph, &nodes.ids, Some(&inside))?;
        let same = order
            .iter()
            .enumerate()
            .all(|(row, &user)| row == user as usize);
        Dataset {
            ids: nodes.ids,
            order: (!same).then_some(order),
            views,
            graph,
        }
        .check()
    }

    fn check(self) -> Result<Dataset> {
        if self.n_nodes() < 2 {
            return Err(Error::data(
                "nodes",
                format!("{} node", self.n_nodes()),
                "at least two nodes",
            ));
        }
        if self.graph.n_links() == 0 {
            return Err(Error::links(
                "a graph with no links",
                "at least one link whose weight is not zero",
            ));
        }
        Ok(self)
    }

    /// A digest of all that a result can depend on: nodes, links and data vectors.
    pub fn digest(&self) -> String {
        let mut digest = Digest::default();
        digest.links(&self.graph);
        for row in 0..self.n_nodes() {
            digest.bytes(self.ids.name(row).as_bytes());
        }
        digest.words(&self.order);
        for (place, view) in self.views.iter().enumerate() {
            digest.words(&(&view.name, &view.rows));
            if view.space != place {
                digest.words(&view.space);
            }
            view.matrix.iter().for_each(|matrix| digest.matrix(matrix));
        }
        digest.to_string()
    }

    /// The bytes of the data vectors of all views.
    pub fn vector_bytes(&self) -> u64 {
        let matrices = self.views.iter().filter_map(|view| view.matrix.as_ref());
        matrices.map(Matrix::bytes).sum()
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.ids.len()
    }

    /// The node ids, in the user's row order.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The views.
    pub fn views(&self) -> &[DataView] {
        &self.views
    }

    /// The links, between internal rows.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The links between the user's rows, with the user's ids.
    pub fn user_graph(&self) -> Result<Graph> {
        self.to_user_rows(self.graph.clone())
    }

    /// Links between internal rows, with the user's ids and rows.
    pub fn to_user_rows(&self, links: Graph) -> Result<Graph> {
        let rows: Vec<u32> = (0..self.n_nodes())
            .map(|row| self.user_row(row) as u32)
            .collect();
        links.relabel(self.ids.clone(), &rows)
    }

    /// Links between nodes by their ids, between internal rows.
    pub fn to_internal_rows(&self, links: Graph) -> Result<Graph> {
        let mut inside = vec![0u32; self.n_nodes()];
        for row in 0..self.n_nodes() {
            inside[self.user_row(row)] = row as u32;
        }
        join(links, &self.ids, Some(&inside))
    }

    /// The same data with other links between the same internal rows.
    pub fn with_graph(&self, graph: Graph) -> Dataset {
        Dataset {
            graph,
            ..self.clone()
        }
    }

    /// The same nodes and links with other data vectors, view by view.
    pub fn map_vectors(
        &self,
        other: impl Fn(&DataView, &Matrix) -> Result<Matrix>,
    ) -> Result<Dataset> {
        let mut data = self.clone();
        for (view, before) in data.views.iter_mut().zip(&self.views) {
            if let Some(matrix) = &before.matrix {
                let matrix = other(before, matrix)?;
                if matrix.n_rows() != before.rows.len() {
                    return Err(Error::data(
                        Subject::Features {
                            view: Some(before.name.clone()),
                        },
                        format!("{} rows", matrix.n_rows()),
                        format!("as many as the view has nodes, {}", before.rows.len()),
                    ));
                }
                view.matrix = Some(matrix);
            }
        }
        Ok(data)
    }

    /// The pairs of rows that are one node, on both sides of a directed graph: no link
    /// is possible there.
    pub fn self_pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let sides = self.ids.sides().filter(|sides| sides.same);
        let n = sides.map_or(0, |sides| sides.source.len() as u32);
        (0..n).map(move |row| (row, n + row))
    }

    /// The place of the view of an internal row.
    pub fn view_of(&self, row: u32) -> usize {
        let views = &self.views;
        views.partition_point(|view| view.rows.end <= row as usize)
    }

    /// The pairs of views that have a link between them, the smaller place first.
    pub fn linked_views(&self) -> Vec<(usize, usize)> {
        let mut linked = Vec::new();
        for link in self.graph.links() {
            let views = (self.view_of(link.src), self.view_of(link.dst));
            if !linked.contains(&views) {
                linked.push(views);
            }
        }
        linked
    }

    /// A link between internal rows as one between the user's, the smaller first.
    pub fn user_link(&self, link: Link) -> Link {
        let [a, b] = [link.src, link.dst].map(|row| self.user_row(row as usize) as u32);
        Link {
            src: a.min(b),
            dst: a.max(b),
            ..link
        }
    }

    /// The user's row of an internal row.
    pub fn user_row(&self, row: usize) -> usize {
        match &self.order {
            Some(order) => order[row] as usize,
            None => row,
        }
    }

    /// The id of an internal row.
    pub fn name(&self, row: usize) -> std::borrow::Cow<'_, str> {
        self.ids.name(self.user_row(row))
    }

    /// Rows of `width` entries each, from internal to user order.
    pub fn to_user_order<V: Copy + Default>(&self, rows: Vec<V>, width: usize) -> Vec<V> {
        let Some(order) = &self.order else {
            return rows;
        };
        let mut sorted = vec![V::default(); rows.len()];
        for (row, &user) in order.iter().enumerate() {
            let user = user as usize;
            sorted[user * width..(user + 1) * width]
                .copy_from_slice(&rows[row * width..(row + 1) * width]);
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::ids::Names;

    fn names(list: &[&str]) -> Ids {
        let mut names = Names::default();
        for name in list {
            names.insert(name);
        }
        Ids::from(names)
    }

    fn named_graph() -> Graph {
        let links = vec![crate::data::graph::Link {
            src: 0,
            dst: 1,
            weight: 2.0,
        }];
        Graph::new(names(&["b", "c"]), links, Default::default()).unwrap()
    }

    #[test]
    fn links_follow_the_order_of_the_features() {
        let matrix = Matrix::dense(3, 1, vec![1.0, 2.0, 3.0]).unwrap();
        let features = Features::with_ids(names(&["c", "a", "b"]), matrix.clone()).unwrap();
        let data = Dataset::new(named_graph(), features).unwrap();
        assert_eq!(data.graph().weight(0, 2), Some(2.0));
        let other = Features::with_ids(names(&["c", "a", "x"]), matrix).unwrap();
        assert!(matches!(
            Dataset::new(named_graph(), other),
            Err(Error::UnknownNode { id, .. }) if id == "b"
        ));
    }

    #[test]
    fn given_nodes_keep_their_names() {
        let ids = names(&["lonely", "c", "b"]);
        let data = Dataset::with_nodes(named_graph(), ids).unwrap();
        assert_eq!(data.name(0), "lonely");
        assert_eq!(data.graph().weight(1, 2), Some(2.0));
    }

    #[test]
    fn interleaved_views_are_grouped_inside_only() {
        let nodes = NodeViews {
            ids: names(&["a", "b", "c"]),
            views: ["u", "v", "u"].map(String::from).to_vec(),
            rows: Some(vec![1, 0, 0]),
        };
        let u = Features::new(Matrix::dense(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap());
        let v = Features::new(Matrix::dense(1, 3, vec![5.0; 3]).unwrap());
        let data =
            Dataset::with_views(named_graph(), nodes, vec![("u".into(), u), ("v".into(), v)])
                .unwrap();
        assert_eq!(data.views()[0].rows, 0..2);
        assert_eq!(data.name(1), "c");
        // b is internal row 2, c is internal row 1
        assert_eq!(data.graph().weight(1, 2), Some(2.0));
        let matrix = data.views()[0].matrix.as_ref().unwrap();
        assert_eq!(matrix.row(0), [(0, 3.0), (1, 4.0)]);
        assert_eq!(data.to_user_order(vec![10, 30, 20], 1), [10, 20, 30]);
        let outside = data.user_graph().unwrap();
        assert_eq!(outside.weight(1, 2), Some(2.0));
        assert_eq!(outside.ids().name(1), "b");
        let inside = data.to_internal_rows(outside).unwrap();
        assert_eq!(
            inside.links().collect::<Vec<_>>(),
            data.graph().links().collect::<Vec<_>>()
        );
    }
}

//! A model with links between its nodes that are to be judged.

use crate::data::dataset::{Dataset, NodeViews};
use crate::data::features::Features;
use crate::data::graph::{Graph, Link};
use crate::error::{Error, Result};
use crate::model::Fitted;

/// Links between a model's nodes, with the features of each view that has
/// some here.
pub fn judged_data(
    model: &Fitted,
    links: Graph,
    features: Vec<(String, Features)>,
) -> Result<Dataset> {
    if let Some(sides) = model.ids().sides() {
        let mut of_sides = [None, None];
        for (name, vectors) in features {
            let place = model.view(Some(&name))?;
            of_sides[place] = Some(vectors);
        }
        return Dataset::on_sides(links, Some(sides), of_sides);
    }
    let view_of = |&view: &u32| model.views()[view as usize].name.clone();
    let nodes = NodeViews {
        ids: model.ids().clone(),
        views: model.node_views().iter().map(view_of).collect(),
        rows: None,
    };
    Dataset::with_views(links, nodes, features)
}

/// The same without links between views that took no part in the fit, and how many these
/// were.
pub fn taking_part(model: &Fitted, data: Dataset) -> Result<(Dataset, usize)> {
    let view_of = |row: u32| model.node_views()[data.user_row(row as usize)] as usize;
    let takes_part = |link: &Link| {
        let (d, e) = (view_of(link.src), view_of(link.dst));
        model.takes_part(d, e)
    };
    let links: Vec<Link> = data.graph().links().filter(takes_part).collect();
    let left_out = data.graph().n_links() - links.len();
    if links.is_empty() {
        let found = "no link between views that took part in the fit";
        return Err(
            Error::links(found, "at least one").or("or a model fitted with other {view-pairs}")
        );
    }
    if left_out == 0 {
        return Ok((data, 0));
    }
    let graph = Graph::new(data.graph().ids().clone(), links, Default::default())?;
    Ok((data.with_graph(graph), left_out))
}

/// Whether there are features of a view of the model.
fn has_vectors(model: &Fitted, data: &Dataset, view: usize) -> bool {
    let name = &model.views()[view].name;
    let of_view = data.views().iter().find(|view| view.name == *name);
    of_view.is_some_and(|view| view.matrix.is_some())
}

/// Whether the features of all views that the model reads are there.
pub fn can_fit(model: &Fitted, data: &Dataset) -> bool {
    let mut views = model.views().iter().enumerate();
    views.all(|(place, view)| view.network.is_table() || has_vectors(model, data, place))
}

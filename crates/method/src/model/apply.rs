//! Using a model: unseen nodes, pairs, neighbours.

use super::Fitted;
use crate::data::features::{Features, Matrix};
use crate::data::graph::Graph;
use crate::data::ids::Ids;
use crate::data::transform::{normalize, propagate, propagate_new};
use crate::engine::encoder::{Input, Statistics};
use crate::engine::objective::ViewOffsets;
use crate::error::{Error, Result, quote};
use crate::params::{Precision, WeightTransform};
use linkproof_numeric::real::Real;

/// What is expected of weights where the fit had no negative one.
pub(crate) const NO_NEGATIVE: &str = "weights of zero or more, as in the fit";

/// A node as its pairs see it: one of the model's ([`Fitted::point`]) or a new one
/// ([`Encoded::point`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point<'y> {
    /// Its embedding.
    pub y: &'y [f32],
    /// Its offset; 0 in a model without.
    pub offset: f32,
    /// The place of its view.
    pub view: usize,
}

/// New nodes of a view as its encoder sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// Their embeddings, row after row.
    pub y: Vec<f32>,
    /// What their data vectors tell of their offsets; empty in a model without.
    pub offsets: Vec<f32>,
    /// The dimension.
    pub dim: usize,
    /// The place of the view.
    pub view: usize,
}

impl Encoded {
    /// One of them.
    pub fn point(&self, row: usize) -> Point<'_> {
        Point {
            y: &self.y[row * self.dim..(row + 1) * self.dim],
            offset: self.offsets.get(row).copied().unwrap_or(0.0),
            view: self.view,
        }
    }
}

/// A link of a new node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewLink {
    /// The new node.
    pub row: u32,
    /// The other end.
    pub end: End,
    /// The weight as observed.
    pub weight: f64,
}

/// The other end of a new node's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A training node's row.
    Known(u32),
    /// Another new node.
    New(u32),
}

/// Links of new nodes among others.
#[derive(Debug, Clone, PartialEq)]
pub struct NewLinks {
    /// Those that have a new node at one end at least.
    pub links: Vec<NewLink>,
    /// How many join two training nodes, which stay as they are.
    pub between_known: usize,
}

impl Fitted {
    /// The place of a view by name; a model with one view needs no name.
    pub fn view(&self, name: Option<&str>) -> Result<usize> {
        let names = || {
            let names: Vec<&str> = self.views().iter().map(|view| view.name.as_str()).collect();
            match names.as_slice() {
                [""] => "left out, as the model has one view only".to_owned(),
                names => format!("one of the model's views ({})", names.join(", ")),
            }
        };
        match name {
            None if self.views().len() == 1 => Ok(0),
            None => Err(Error::argument("view", names(), "not given")),
            Some(name) => self
                .views()
                .iter()
                .position(|view| view.name == name)
                .ok_or_else(|| Error::argument("view", names(), quote(name))),
        }
    }

    /// The embeddings of unseen nodes of the only view, from their data vectors
    /// alone. (For a model that averages over links: as nodes without links.)
    pub fn embed(&self, features: &Features) -> Result<Vec<f32>> {
        self.embed_view(self.view(None)?, features, None)
    }

    /// Refuses data vectors that a view's encoder cannot read.
    pub fn check_vectors(&self, view: usize, features: &Features) -> Result<()> {
        let network = &self.views()[view].network;
        if network.is_table() {
            let found =
                "a table encoder, which has a vector for each training node and none for others";
            let error = Error::data("model", found, "a map from data vectors");
            return Err(error.or("fit with {encoder=linear|mlp}"));
        }
        features.matrix().check_width(network.spec().inputs)
    }

    /// The embeddings of unseen nodes of a view by its encoder; `links` may tie
    /// them to training nodes when the model averages data vectors over links.
    pub fn embed_view(
        &self,
        view: usize,
        features: &Features,
        links: Option<&[NewLink]>,
    ) -> Result<Vec<f32>> {
        Ok(self.encode_view(view, features, links)?.y)
    }

    /// The same with their offsets, for expected weights.
    pub fn encode_view(
        &self,
        view: usize,
        features: &Features,
        links: Option<&[NewLink]>,
    ) -> Result<Encoded> {
        self.check_vectors(view, features)?;
        let matrix = normalize(features.matrix().clone(), self.params().normalize)?;
        let matrix = self.average(matrix, links)?;
        Ok(match self.params().precision {
            Precision::F32 => self.encode::<f32>(view, &matrix),
            Precision::F64 => self.encode::<f64>(view, &matrix),
        })
    }

    fn encode<T: Real>(&self, place: usize, matrix: &Matrix) -> Encoded {
        let view = &self.views()[place];
        let (weights, input) = (view.weights.cast::<T>(), Input::new(matrix));
        let embedded = view.network.embed(&weights, &input, &view.statistics);
        let narrow = |values: Vec<T>| values.iter().map(|x| x.to_f64() as f32).collect();
        let offsets = view.offsets.as_ref().map(|map| {
            let inputs = view.network.spec().inputs;
            ViewOffsets::map_of(inputs).embed(&map.cast::<T>(), &input, &Statistics::default())
        });
        Encoded {
            y: narrow(embedded),
            offsets: offsets.map(narrow).unwrap_or_default(),
            dim: self.dim(),
            view: place,
        }
    }

    /// Averages new data vectors over their links to training nodes.
    fn average(&self, matrix: Matrix, links: Option<&[NewLink]>) -> Result<Matrix> {
        let Some(neighborhood) = &self.parts.neighborhood else {
            if links.is_some() {
                let found = "links for a model that does not average over links";
                return Err(Error::links(found, "none").or("fit with {propagate}"));
            }
            return Ok(matrix);
        };
        let times = self.params().propagate;
        // Vectors of the training nodes themselves get their own averages.
        let adjacency = neighborhood.graph.adjacency();
        let levels = propagate(neighborhood.matrix.clone(), &adjacency, times)?;
        if links.is_none() && matrix == neighborhood.matrix {
            return Ok(levels[times].clone());
        }
        let links = links.unwrap_or_default();
        self.check_links(links, matrix.n_rows())?;
        let mut targets = vec![Vec::new(); matrix.n_rows()];
        for link in links {
            // Of two new nodes neither is known yet.
            if let End::Known(row) = link.end {
                targets[link.row as usize].push(row);
            }
        }
        propagate_new(matrix, &targets, &levels, &adjacency, times)
    }

    /// Whether its links may have such a weight: negative ones only where sizes have
    /// two signs, or where no weight was looked at.
    pub fn takes_weight(&self, weight: f64) -> bool {
        weight >= 0.0 || self.is_signed() || self.params().weights == WeightTransform::Binary
    }

    /// Refuses links of rows that there are not, or of weights that cannot be.
    pub fn check_links(&self, links: &[NewLink], n_new: usize) -> Result<()> {
        for link in links {
            if !self.takes_weight(link.weight) {
                let found = format!("weight {} of unseen node {}", link.weight, link.row);
                return Err(Error::data("links of unseen nodes", found, NO_NEGATIVE));
            }
            let (row, most) = match link.end {
                End::Known(row) => (row, self.n_nodes()),
                End::New(row) => (row, n_new),
            };
            if link.row as usize >= n_new || row as usize >= most {
                return Err(Error::data(
                    "links of unseen nodes",
                    format!("a link from unseen node {} to row {row}", link.row),
                    format!("rows below {n_new} and {most}"),
                ));
            }
        }
        Ok(())
    }

    /// The links of new nodes of a view, by their ids and those of the model.
    ///
    /// # Errors
    /// A link with an end that is neither new nor known, or both, or between views
    /// that took no part in the fit together.
    pub fn links_of_new(&self, view: usize, new: &Ids, links: &Graph) -> Result<NewLinks> {
        let mut found = NewLinks {
            links: Vec::new(),
            between_known: 0,
        };
        for link in links.links() {
            let ids = [link.src, link.dst].map(|row| links.ids().name(row as usize));
            let bad = |found: String, expected| {
                let error = Error::data("links of unseen nodes", found, expected);
                links.located(error, |other| *other == link)
            };
            let end = |id: &str| match (new.row(id), self.ids().row(id)) {
                (Some(row), None) => Ok(End::New(row)),
                (None, Some(row)) => Ok(End::Known(row)),
                (None, None) => Err(bad(
                    format!("node {}", quote(id)),
                    "ids of unseen nodes and of training nodes",
                )),
                (Some(_), Some(_)) => {
                    let found = "which is an unseen node and a training node";
                    let found = format!("node {}, {found}", quote(id));
                    Err(bad(found, "ids that tell them apart")
                        .or("give the unseen nodes other ids, by {nodes} or {new-nodes}"))
                }
            };
            let (row, end) = match [end(&ids[0])?, end(&ids[1])?] {
                [End::New(row), end] | [end, End::New(row)] => (row, end),
                [End::Known(_), End::Known(_)] => {
                    found.between_known += 1;
                    continue;
                }
            };
            let other = match end {
                End::Known(row) => self.node_views()[row as usize] as usize,
                End::New(_) => view,
            };
            if !self.takes_part(view, other) {
                let [a, b] = [quote(&ids[0]), quote(&ids[1])];
                let names =
                    [view.min(other), view.max(other)].map(|it| self.views()[it].name.as_str());
                let [d, e] = names.map(quote);
                let what = format!("{a} and {b}, of the views {d} and {e}");
                return Err(bad(what, "a pair of views that took part in the fit"));
            }
            let weight = link.weight;
            if !self.takes_weight(weight) {
                let [a, b] = [quote(&ids[0]), quote(&ids[1])];
                return Err(bad(
                    format!("weight {weight} between {a} and {b}"),
                    NO_NEGATIVE,
                ));
            }
            found.links.push(NewLink { row, end, weight });
        }
        Ok(found)
    }

    /// The embedding of a training node.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.embeddings()[row * self.dim()..(row + 1) * self.dim()]
    }

    /// A training node as its pairs see it.
    pub fn point(&self, row: usize) -> Point<'_> {
        Point {
            y: self.row(row),
            offset: self.offsets().map_or(0.0, |offsets| offsets[row]),
            view: self.node_views()[row] as usize,
        }
    }
}

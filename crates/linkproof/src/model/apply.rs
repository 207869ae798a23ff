//! Using a model: unseen nodes, pairs, neighbours.

use super::Fitted;
use crate::encoder::Input;
use crate::error::{Error, Remedy, Result, quote};
use crate::features::{Features, Matrix, Values};
use crate::graph::Graph;
use crate::math;
use crate::params::Precision;
use crate::real::Real;
use crate::transform::{normalize, propagate, propagate_new};

/// A node and its expected weight with another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// Its row.
    pub row: usize,
    /// The expected weight.
    pub mu: f64,
}

impl Fitted {
    /// The place of a view by name; a model with one view needs no name.
    pub fn view(&self, name: Option<&str>) -> Result<usize> {
        let names = || {
            let names: Vec<&str> = self.views.iter().map(|view| view.name.as_str()).collect();
            match names.as_slice() {
                [""] => "left out, as the model has one view only".to_owned(),
                names => format!("one of the model's views ({})", names.join(", ")),
            }
        };
        match name {
            None if self.views.len() == 1 => Ok(0),
            None => Err(Error::argument("view", names(), "not given")),
            Some(name) => self
                .views
                .iter()
                .position(|view| view.name == name)
                .ok_or_else(|| Error::argument("view", names(), quote(name))),
        }
    }

    /// The embeddings of unseen nodes, from their data vectors alone. (For a
    /// model that averages over links: as nodes without links.)
    pub fn embed(&self, features: &Features) -> Result<Vec<f32>> {
        self.embed_view(None, features, None)
    }

    /// The embeddings of unseen nodes of a view; `links` may tie them to
    /// training nodes when the model averages data vectors over links.
    pub fn embed_view(
        &self,
        view: Option<&str>,
        features: &Features,
        links: Option<&Graph>,
    ) -> Result<Vec<f32>> {
        let place = self.view(view)?;
        let view = &self.views[place];
        if view.network.is_table() {
            let found =
                "a table encoder, which has a vector for each training node and none for others";
            let error = Error::data("model", found, "a map from data vectors");
            return Err(error.or(Remedy::FitWithVectors));
        }
        let matrix = features.matrix();
        if matrix.n_columns() != view.network.spec().inputs {
            return Err(Error::features(
                format!("data vectors of {} entries", matrix.n_columns()),
                format!(
                    "{} entries, as the model was fitted with",
                    view.network.spec().inputs
                ),
            ));
        }
        let matrix = normalize(matrix, self.params.normalize)?;
        let matrix = self.average(matrix, features, links)?;
        Ok(match self.params.precision {
            Precision::F32 => self.encode::<f32>(place, &matrix),
            Precision::F64 => self.encode::<f64>(place, &matrix),
        })
    }

    fn encode<T: Real>(&self, place: usize, matrix: &Matrix) -> Vec<f32> {
        let view = &self.views[place];
        let weights: Vec<T> = match &view.weights {
            Values::F32(weights) => weights.iter().map(|&x| T::of(f64::from(x))).collect(),
            Values::F64(weights) => weights.iter().map(|&x| T::of(x)).collect(),
        };
        view.network
            .embed(&weights, &Input::new(matrix), &view.statistics)
            .iter()
            .map(|x| x.to_f64() as f32)
            .collect()
    }

    /// Averages new data vectors over their links to training nodes.
    fn average(
        &self,
        matrix: Matrix,
        features: &Features,
        links: Option<&Graph>,
    ) -> Result<Matrix> {
        let Some(neighborhood) = &self.neighborhood else {
            if links.is_some() {
                let found = "links for a model that does not average over links";
                return Err(Error::links(found, "none").or(Remedy::FitWithPropagation));
            }
            return Ok(matrix);
        };
        let times = self.params.propagate;
        // Vectors of the training nodes themselves get their own averages.
        let adjacency = neighborhood.graph.adjacency();
        let levels = propagate(neighborhood.matrix.clone(), &adjacency, times)?;
        if links.is_none() && matrix == neighborhood.matrix {
            return Ok(levels[times].clone());
        }
        let mut targets = vec![Vec::new(); matrix.n_rows()];
        if let Some(links) = links {
            for link in links.links() {
                let ids = [link.src, link.dst].map(|row| links.ids().name(row as usize));
                let fresh = [0, 1].map(|end| features.ids().row(&ids[end]));
                let known = [0, 1].map(|end| self.ids.row(&ids[end]));
                match (fresh, known) {
                    ([Some(new), None], [_, Some(old)]) | ([None, Some(new)], [Some(old), _]) => {
                        targets[new as usize].push(old);
                    }
                    ([Some(_), Some(_)], _) => {} // between two new nodes: neither is known yet
                    // between two training nodes: their averages stay as they were
                    ([None, None], [Some(_), Some(_)]) => {}
                    _ => {
                        let unknown = if fresh[0].is_none() && known[0].is_none() {
                            0
                        } else {
                            1
                        };
                        return Err(Error::UnknownNode {
                            id: ids[unknown].clone().into_owned(),
                        });
                    }
                }
            }
        }
        propagate_new(matrix, &targets, &levels, &adjacency, times)
    }

    /// The embedding of a training node.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.embeddings[row * self.dim()..(row + 1) * self.dim()]
    }

    /// The expected weight `k e^{<y, z> - gamma}` of two embeddings of the
    /// given views.
    pub fn expected_weight(&self, (y, d): (&[f32], usize), (z, e): (&[f32], usize)) -> f64 {
        let product: f64 = y
            .iter()
            .zip(z)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum();
        self.report.k * math::exp(product - self.gamma.get(d, e))
    }

    /// Multiplies all expected weights: a fit to a pattern of links has no unit.
    pub(crate) fn scale_expected(&mut self, factor: f64) {
        self.report.k *= factor;
    }

    /// The expected weight of two training nodes.
    pub fn mu(&self, i: usize, j: usize) -> f64 {
        let view = |row: usize| self.node_views[row] as usize;
        self.expected_weight((self.row(i), view(i)), (self.row(j), view(j)))
    }

    /// The training nodes with the largest expected weights with an embedding
    /// of a view, largest first; `except` leaves one row out, `within` keeps to
    /// one view.
    pub fn neighbors(
        &self,
        y: &[f32],
        view: usize,
        top: usize,
        except: Option<usize>,
        within: Option<usize>,
    ) -> Vec<Neighbor> {
        let takes_part = |other: usize| {
            let pair = (view.min(other), view.max(other));
            self.view_pairs.contains(&pair) && within.is_none_or(|within| within == other)
        };
        let mut all: Vec<Neighbor> = (0..self.n_nodes())
            .filter(|&row| Some(row) != except && takes_part(self.node_views[row] as usize))
            .map(|row| Neighbor {
                row,
                mu: self.expected_weight((y, view), (self.row(row), self.node_views[row] as usize)),
            })
            .collect();
        let order = |a: &Neighbor, b: &Neighbor| b.mu.total_cmp(&a.mu).then(a.row.cmp(&b.row));
        if top < all.len() {
            all.select_nth_unstable_by(top, order);
            all.truncate(top);
        }
        all.sort_by(order);
        all
    }
}

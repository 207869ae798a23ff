//! The nodes that are near a node, by one of several measures.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Fitted, Point};
use crate::choice::choice;
use crate::error::{Error, Result, quote};
use linkproof_numeric::real::dot_f64;

choice!(
    /// What neighbours are near by.
    Nearness {
        /// The largest expected weights, or intensities of links where sizes have two
        /// signs. Nodes of which much is expected are near many.
        Weight = "weight",
        /// The largest shares `mu_ij / sum_k mu_kj` of what is expected of the neighbour
        /// `j` in all: popular nodes are near those that are particular to them.
        Share = "share",
        /// The cosine of the recommended embeddings.
        Cosine = "cosine",
    }
);

/// A node that is near another ([example](super::Fitted)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// Its row.
    pub row: usize,
    /// The expected weight; NaN where the pair of views took no part in the fit.
    pub mu: f64,
    /// What it is near by: the expected weight (where sizes have two signs the intensity
    /// of a link), the share of that or the cosine.
    pub by: f64,
}

/// A node whose neighbours are wanted: one of the model's ([`Fitted::query`]) or a new
/// one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query<'y> {
    /// As its pairs see it.
    pub point: Point<'y>,
    /// Its recommended embedding, for cosines.
    pub recommended: &'y [f32],
    /// Its row, which is no neighbour of itself.
    pub row: Option<usize>,
}

impl Fitted {
    /// A training node whose neighbours are wanted.
    pub fn query(&self, row: usize) -> Query<'_> {
        Query {
            point: self.point(row),
            recommended: &self.recommended()[row * self.dim()..(row + 1) * self.dim()],
            row: Some(row),
        }
    }

    /// The training nodes with the largest expected weights with a node, largest
    /// first; `except` leaves one row out, `within` keeps to one view.
    ///
    /// # Errors
    /// `within` is a view that took no part in the fit together with the other.
    pub fn neighbors(
        &self,
        of: Point<'_>,
        top: usize,
        except: Option<usize>,
        within: Option<usize>,
    ) -> Result<Vec<Neighbor>> {
        let query = Query {
            point: of,
            recommended: of.y,
            row: except,
        };
        let found = self.nearest(&[query], top, within, Some(Nearness::Weight))?;
        Ok(found.lists.into_iter().next().unwrap_or_default())
    }

    /// The nearest training nodes of each of some nodes of one view, nearest first;
    /// `within` keeps to one view. Unless it is said what they are near by, that is the
    /// expected weight, or the cosine where the pair of views took no part in the fit.
    ///
    /// # Errors
    /// Nearness by expected weights within a view that took no part in the fit together
    /// with that of the nodes.
    pub fn nearest(
        &self,
        queries: &[Query<'_>],
        top: usize,
        within: Option<usize>,
        by: Option<Nearness>,
    ) -> Result<Neighbors> {
        self.nearest_watched(queries, top, within, by, &|_| true)
    }

    /// As [`Fitted::nearest`], telling after each list how many are done; whether to go on.
    ///
    /// # Errors
    /// Those of it, and that it was told to stop.
    pub fn nearest_watched(
        &self,
        queries: &[Query<'_>],
        top: usize,
        within: Option<usize>,
        by: Option<Nearness>,
        after: &(dyn Fn(usize) -> bool + Sync),
    ) -> Result<Neighbors> {
        let Some(view) = queries.first().map(|query| query.point.view) else {
            return Ok(Neighbors::default());
        };
        let fitted = within.is_none_or(|within| self.takes_part(view, within));
        let by = by.unwrap_or(if fitted {
            Nearness::Weight
        } else {
            Nearness::Cosine
        });
        if !fitted && by != Nearness::Cosine {
            let [own, other] = [view, within.unwrap_or(view)].map(|it| &self.views()[it].name);
            let accepted = format!(
                "a view that took part in the fit together with {}, unless neighbors are near by \
                 cosine",
                quote(own)
            );
            return Err(Error::argument("within", accepted, quote(other)));
        }
        let is_asked = |row: &usize| {
            let other = self.node_views()[*row] as usize;
            within.map_or_else(|| self.takes_part(view, other), |within| within == other)
        };
        let rows: Vec<usize> = (0..self.n_nodes()).filter(is_asked).collect();
        let scales: Option<Vec<f64>> = match by {
            Nearness::Weight => None,
            Nearness::Share => Some(self.in_all(view, &rows)),
            Nearness::Cosine => Some(rows.iter().map(|&row| length(self.query(row))).collect()),
        };
        let candidates = Candidates {
            model: self,
            rows,
            scales,
            by,
        };
        let done = AtomicUsize::new(0);
        let lists = queries.par_iter().map(|query| {
            let list = candidates.near(query, top);
            match after(done.fetch_add(1, Ordering::Relaxed) + 1) {
                true => Ok(list),
                false => Err(Error::Interrupted { step: 0 }),
            }
        });
        Ok(Neighbors {
            by,
            lists: lists.collect::<Result<_>>()?,
        })
    }

    /// Whether two rows are one node, be it on two sides of links.
    pub(super) fn is_itself(&self, row: usize, other: usize) -> bool {
        row == other || self.ids().is_same_node(row as u32, other as u32)
    }
}

/// Lists of neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbors {
    /// What they are near by.
    pub by: Nearness,
    /// For each node that was asked for its neighbours, nearest first.
    pub lists: Vec<Vec<Neighbor>>,
}

impl Default for Neighbors {
    fn default() -> Neighbors {
        Neighbors {
            by: Nearness::Weight,
            lists: Vec::new(),
        }
    }
}

/// The nodes that may be neighbours.
struct Candidates<'m> {
    model: &'m Fitted,
    rows: Vec<usize>,
    /// What nearness is divided by, for each of them.
    scales: Option<Vec<f64>>,
    by: Nearness,
}

impl Candidates<'_> {
    fn near(&self, query: &Query<'_>, top: usize) -> Vec<Neighbor> {
        let own = length(*query);
        let expected = |row: usize| {
            let other = self.model.point(row);
            let takes_part = self.model.takes_part(query.point.view, other.view);
            takes_part.then(|| self.model.expected(query.point, other))
        };
        let strength = |row: usize| expected(row).map_or(f64::NAN, |found| found.strength);
        let neighbor = |(place, &row): (usize, &usize)| {
            let scale = self.scales.as_ref().map_or(1.0, |scales| scales[place]);
            let by = match self.by {
                Nearness::Weight => strength(row),
                Nearness::Share => strength(row) / scale.max(f64::MIN_POSITIVE),
                Nearness::Cosine => {
                    let there = self.model.query(row).recommended;
                    let lengths = (own * scale).max(f64::MIN_POSITIVE);
                    (dot_f64(query.recommended, there) / lengths).clamp(-1.0, 1.0)
                }
            };
            let mu = f64::NAN;
            Neighbor { row, mu, by }
        };
        let others = self.rows.iter().enumerate();
        let is_itself = |row: usize| query.row.is_some_and(|own| self.model.is_itself(own, row));
        let mut all: Vec<Neighbor> = others
            .filter(|&(_, &row)| !is_itself(row))
            .map(neighbor)
            .collect();
        let order = |a: &Neighbor, b: &Neighbor| b.by.total_cmp(&a.by).then(a.row.cmp(&b.row));
        if top < all.len() {
            all.select_nth_unstable_by(top, order);
            all.truncate(top);
        }
        all.sort_by(order);
        for near in &mut all {
            near.mu = expected(near.row).map_or(f64::NAN, |found| found.mu);
        }
        all
    }
}

fn length(query: Query<'_>) -> f64 {
    dot_f64(query.recommended, query.recommended).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::{Dataset, NodeViews};
    use crate::data::graph::{Graph, Link};
    use crate::data::ids::Ids;
    use crate::model::fit;
    use crate::params::Params;

    /// Three cliques of eight, and a node that is linked to all others.
    fn with_a_hub() -> Fitted {
        let mut links = Vec::new();
        for i in 0..24u32 {
            links.push((i, 24, 3.0));
            links.extend((0..i).filter(|j| i / 8 == j / 8).map(|j| (j, i, 1.0)));
        }
        let data = Dataset::from_links(Graph::from_rows(25, &links).unwrap()).unwrap();
        let params = Params {
            dim: 4,
            ridge: Some(0.1),
            offsets: true,
            ..Params::default()
        };
        fit(&params.check().unwrap(), &data).unwrap()
    }

    fn lists(model: &Fitted, by: Nearness) -> Vec<Vec<Neighbor>> {
        let queries: Vec<Query<'_>> = (0..24).map(|row| model.query(row)).collect();
        let found = model.nearest(&queries, 3, None, Some(by)).unwrap();
        assert_eq!(found.by, by);
        found.lists
    }

    #[test]
    fn a_hub_is_in_every_list_by_weight_and_in_none_by_share() {
        let model = with_a_hub();
        let times = |by| {
            let lists = lists(&model, by);
            let has_hub = |list: &&Vec<Neighbor>| list.iter().any(|near| near.row == 24);
            assert!(lists.iter().flatten().all(|near| near.mu > 0.0));
            lists.iter().filter(has_hub).count()
        };
        assert_eq!(times(Nearness::Weight), 24);
        assert_eq!((times(Nearness::Share), times(Nearness::Cosine)), (0, 0));
    }

    #[test]
    fn measures_are_what_they_say() {
        let model = with_a_hub();
        for by in Nearness::ALL {
            let list = &lists(&model, *by)[5];
            assert!(list.windows(2).all(|pair| pair[0].by >= pair[1].by));
            assert!(list.iter().all(|near| near.row != 5));
        }
        let near = lists(&model, Nearness::Share)[5][0];
        let all: f64 = (0..25)
            .filter(|&row| row != near.row)
            .map(|row| model.mu(row, near.row))
            .sum();
        assert!((near.by - near.mu / all).abs() < 1e-12, "{near:?}");
        let near = lists(&model, Nearness::Cosine)[5][0];
        let (y, z) = (model.row(5), model.row(near.row));
        let lengths = (dot_f64(y, y) * dot_f64(z, z)).sqrt();
        assert!((near.by - dot_f64(y, z) / lengths).abs() < 1e-12);
        assert_eq!(
            lists(&model, Nearness::Weight)[5][0].mu,
            model.neighbors(model.point(5), 1, Some(5), None).unwrap()[0].mu
        );
    }

    #[test]
    fn views_that_took_no_part_together_are_compared_by_cosine_alone() {
        let link = |src, dst| Link {
            src,
            dst,
            weight: 1.0,
        };
        let links = (0..6u32).flat_map(|i| [link(i, 6 + i), link(i, 6 + (i + 1) % 6)]);
        let ids = Ids::Rows(12);
        let graph = Graph::new(ids.clone(), links.collect(), Default::default()).unwrap();
        let views = (0..12).map(|row| if row < 6 { "a" } else { "b" }.to_owned());
        let nodes = NodeViews {
            ids,
            views: views.collect(),
            rows: None,
        };
        let data = Dataset::with_views(graph, nodes, Vec::new()).unwrap();
        let params = Params {
            dim: 2,
            ridge: Some(0.1),
            ..Params::default()
        };
        let model = fit(&params.check().unwrap(), &data).unwrap();
        let query = [model.query(0)];
        let within = model.view(Some("a")).unwrap();
        let found = model.nearest(&query, 9, Some(within), None).unwrap();
        assert_eq!((found.by, found.lists[0].len()), (Nearness::Cosine, 5));
        assert!(
            found.lists[0]
                .iter()
                .all(|near| near.row < 6 && near.mu.is_nan())
        );
        for by in [Nearness::Weight, Nearness::Share] {
            let error = model
                .nearest(&query, 9, Some(within), Some(by))
                .unwrap_err();
            assert!(error.to_string().contains("within must be"), "{error}");
        }
        // Without a view, the neighbours are of views that took part, by any measure.
        let found = model
            .nearest(&query, 9, None, Some(Nearness::Cosine))
            .unwrap();
        assert!(
            found.lists[0]
                .iter()
                .all(|near| near.row >= 6 && near.mu > 0.0)
        );
        assert!(model.nearest(&[], 3, None, None).unwrap().lists.is_empty());
        let stopped = model.nearest_watched(&query, 9, None, None, &|done| done == 0);
        assert!(matches!(stopped, Err(Error::Interrupted { .. })));
    }
}

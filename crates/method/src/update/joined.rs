//! A model's nodes and links together with what changed.

use std::collections::{BTreeMap, BTreeSet};

use super::Changes;
use crate::data::features::Features;
use crate::data::graph::{Graph, Link, LinkRules};
use crate::data::ids::{Ids, Names};
use crate::error::{Error, Result, quote};
use crate::model::{Fitted, NO_NEGATIVE, Updates};
use crate::robust::{NewVectors, Seen};

/// Nodes and links of a model after some changes. Known nodes keep their rows.
#[derive(Debug)]
pub(super) struct Joined {
    pub ids: Ids,
    pub node_views: Vec<u32>,
    pub links: Graph,
    pub vectors: Vec<NewVectors>,
    /// New nodes and the ends of links that are new, other or no more: how many of these
    /// each has.
    pub touched: BTreeMap<u32, usize>,
    pub new_nodes: usize,
    pub new_links: usize,
    pub changed_links: usize,
    pub withdrawn_links: usize,
}

impl Joined {
    pub fn new(model: &Fitted, changes: &Changes<'_>) -> Result<Joined> {
        let mut nodes = Nodes::of(model);
        let mut vectors = Vec::new();
        for (view, features) in &changes.vectors {
            model.check_vectors(*view, features)?;
            vectors.push(NewVectors {
                view: *view,
                rows: nodes.place(*view, features)?,
                features: features.clone(),
            });
        }
        let known = model.links().links();
        let mut weights: BTreeMap<(u32, u32), f64> = known
            .map(|link| ((link.src, link.dst), link.weight))
            .collect();
        let mut touched = BTreeMap::new();
        let mut touch = |rows: [u32; 2]| {
            for row in rows {
                *touched.entry(row).or_insert(0) += 1;
            }
        };
        let (mut new_links, mut changed_links, mut withdrawn_links) = (0, 0, 0);
        for ids in changes.withdrawn.iter().flat_map(|graph| named(graph)) {
            let (ids, _) = ids;
            let rows = [0, 1].map(|end: usize| model.ids().row(&ids[end]));
            let found = match rows {
                [Some(a), Some(b)] => weights.remove(&(a.min(b), a.max(b))).map(|_| [a, b]),
                _ => None,
            };
            let Some(rows) = found else {
                let [a, b] = [quote(&ids[0]), quote(&ids[1])];
                let found = format!("{a} and {b} among those withdrawn");
                return Err(Error::links(found, "links that the model knows"));
            };
            touch(rows);
            withdrawn_links += 1;
        }
        for (ids, weight) in changes.links.iter().flat_map(|graph| named(graph)) {
            if !model.takes_weight(weight) {
                let [a, b] = [quote(&ids[0]), quote(&ids[1])];
                let found = format!("weight {weight} between {a} and {b}");
                return Err(Error::links(found, NO_NEGATIVE).or("fit again, to all links"));
            }
            let (a, b) = (nodes.end(&ids[0])?, nodes.end(&ids[1])?);
            nodes.check_views([a, b], &ids)?;
            match weights.insert((a.min(b), a.max(b)), weight) {
                Some(before) if before == weight => continue,
                Some(_) => changed_links += 1,
                None => new_links += 1,
            }
            touch([a, b]);
        }
        if touched.is_empty() && vectors.is_empty() {
            let found = "no node or link that is new, other or no more";
            return Err(Error::data("update", found, "something to change"));
        }
        for row in model.n_nodes() as u32..nodes.views.len() as u32 {
            touched.entry(row).or_insert(0);
        }
        let ids = nodes.ids();
        let links = weights.into_iter();
        let links = links.map(|((src, dst), weight)| Link { src, dst, weight });
        Ok(Joined {
            links: Graph::new(ids.clone(), links.collect(), LinkRules::default())?,
            ids,
            new_nodes: nodes.fresh.len(),
            node_views: nodes.views,
            vectors,
            touched,
            new_links,
            changed_links,
            withdrawn_links,
        })
    }

    /// What belongs to known nodes of which neither a link nor the data vector changed.
    pub fn untouched<'s, V: Copy>(&'s self, of_known: &'s [V]) -> impl Iterator<Item = V> {
        let others = self.vectors.iter().flat_map(|new| new.rows.iter().copied());
        let others: BTreeSet<u32> = others.collect();
        let stays = move |row: u32| !self.touched.contains_key(&row) && !others.contains(&row);
        let all = (0u32..).zip(of_known);
        all.filter(move |(row, _)| stays(*row)).map(|(_, v)| *v)
    }

    /// What links are judged by.
    pub fn seen<'s>(&'s self, embeddings: &'s [f32]) -> Seen<'s> {
        Seen {
            links: &self.links,
            node_views: &self.node_views,
            embeddings,
            vectors: &self.vectors,
        }
    }

    /// All changes since the last full fit.
    pub fn counted(&self, before: Option<Updates>) -> Updates {
        let before = before.unwrap_or_default();
        Updates {
            times: before.times + 1,
            new_nodes: before.new_nodes + self.new_nodes,
            new_links: before.new_links + self.new_links,
            changed_links: before.changed_links + self.changed_links,
            withdrawn_links: before.withdrawn_links + self.withdrawn_links,
        }
    }
}

/// The links of a graph by their ids, with their weights.
fn named(graph: &Graph) -> impl Iterator<Item = ([String; 2], f64)> {
    graph.links().map(|link| {
        let name = |row: u32| graph.ids().name(row as usize).into_owned();
        ([name(link.src), name(link.dst)], link.weight)
    })
}

/// The nodes of a model, then new ones.
struct Nodes<'m> {
    model: &'m Fitted,
    fresh: Names,
    views: Vec<u32>,
}

impl<'m> Nodes<'m> {
    fn of(model: &'m Fitted) -> Nodes<'m> {
        Nodes {
            model,
            fresh: Names::default(),
            views: model.node_views().to_vec(),
        }
    }

    fn row(&self, id: &str) -> Option<u32> {
        let fresh = || Some(self.model.n_nodes() as u32 + self.fresh.row(id)?);
        self.model.ids().row(id).or_else(fresh)
    }

    fn add(&mut self, id: &str, view: usize) -> u32 {
        self.views.push(view as u32);
        self.model.n_nodes() as u32 + self.fresh.insert(id)
    }

    /// The rows of data vectors; those of new nodes are added.
    fn place(&mut self, view: usize, features: &Features) -> Result<Vec<u32>> {
        let names: Vec<String> = match (features.ids(), self.model.ids()) {
            (Ids::Rows(rows), Ids::Rows(known)) if self.model.views().len() == 1 => {
                let from = if rows > known { 0 } else { *known };
                (from..from + rows).map(|row| row.to_string()).collect()
            }
            (Ids::Rows(_), _) => {
                let error = Error::features("no ids", "the ids of the nodes");
                return Err(error.or("give them by {nodes}"));
            }
            (ids, _) => (0..ids.len())
                .map(|row| ids.name(row).into_owned())
                .collect(),
        };
        let place = |name: &String| match self.row(name) {
            Some(row) if self.views[row as usize] as usize == view => Ok(row),
            Some(row) => {
                let of = self.views[row as usize] as usize;
                let [of, view] = [of, view].map(|it| quote(&self.model.views()[it].name));
                let found = format!("node {}, which is of the view {of}", quote(name));
                Err(Error::features(found, format!("nodes of the view {view}")))
            }
            None => Ok(self.add(name, view)),
        };
        names.iter().map(place).collect()
    }

    /// The row of an end of a link. A table takes nodes that are new.
    fn end(&mut self, id: &str) -> Result<u32> {
        if let Some(row) = self.row(id) {
            return Ok(row);
        }
        match self.model.views() {
            [only] if only.network.is_table() => Ok(self.add(id, 0)),
            _ => {
                let found = format!("node {}, which is new", quote(id));
                let error = Error::links(found, "known nodes, and new ones with data vectors");
                Err(error.or("give the data vectors of new nodes by {features}"))
            }
        }
    }

    fn check_views(&self, rows: [u32; 2], ids: &[String; 2]) -> Result<()> {
        let [d, e] = rows.map(|row| self.views[row as usize] as usize);
        if self.model.takes_part(d, e) {
            return Ok(());
        }
        let [a, b] = [quote(&ids[0]), quote(&ids[1])];
        let [d, e] = [d, e].map(|view| quote(&self.model.views()[view].name));
        Err(Error::links(
            format!("{a} and {b}, of the views {d} and {e}"),
            "a pair of views that took part in the fit",
        ))
    }

    /// All ids: row numbers where they still are.
    fn ids(&self) -> Ids {
        let known = self.model.n_nodes();
        let counts_on = |row: usize| *self.fresh.name(row) == (known + row).to_string();
        match self.model.ids() {
            Ids::Rows(_) if (0..self.fresh.len()).all(counts_on) => {
                Ids::Rows(known + self.fresh.len())
            }
            ids => {
                let mut names = Names::default();
                (0..known).for_each(|row| {
                    names.insert(&ids.name(row));
                });
                (0..self.fresh.len()).for_each(|row| {
                    names.insert(self.fresh.name(row));
                });
                Ids::from(names)
            }
        }
    }
}

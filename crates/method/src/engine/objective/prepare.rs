//! Data as a fit sees it: weights transformed, held-out links set aside, walks
//! and propagation done over the remaining links only.

use crate::data::dataset::{DataView, Dataset};
use crate::data::graph::{Graph, Link, LinkRules};
use crate::data::transform::{
    average_over_walks, check_signs, normalize, propagate, transform_weights,
};
use crate::engine::pairs::{Part, Split};
use crate::error::{Error, Result};
use crate::params::CheckedParams;

/// Data as a fit sees it.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The views, their data vectors normalised and propagated.
    pub views: Vec<DataView>,
    /// The pairs of views `(d, e)` with `d <= e` that take part.
    pub view_pairs: Vec<(usize, usize)>,
    /// The links of the training pairs, with transformed weights.
    pub training: Graph,
    /// The links of the pairs that are held out to decide when to stop; their
    /// weights are transformed as the user asked but not averaged over walks.
    pub held_out: Option<Graph>,
    /// The links of the fold that is to be judged, likewise.
    pub judged: Option<Graph>,
    /// Which pairs are held out.
    pub split: Option<Split>,
    /// Pairs that are no training pairs: links that were set aside (those that are held
    /// out or judged stand there instead), and pairs that cannot be linked, of a node
    /// with itself in a directed graph.
    pub aside: Option<Graph>,
    /// Pairs that cannot be linked among those held out, and among those judged.
    pub impossible: [Option<Graph>; 2],
    /// The number of links that were set aside.
    pub set_aside_links: usize,
    /// The number of links to train on, before walks.
    pub training_links: usize,
    /// Links between views that do not take part, left out.
    pub ignored_links: usize,
}

impl Prepared {
    /// Prepares data for a fit that sees all pairs but those that `split`
    /// holds out. Links set aside, between internal rows, are neither links nor
    /// zeros in training, and as they were where they are held out.
    pub fn new(
        data: &Dataset,
        params: &CheckedParams,
        split: Option<Split>,
        aside: Option<&Graph>,
    ) -> Result<Prepared> {
        check_signs(data, params.weights)?;
        let graph = transform_weights(data.graph(), params.weights)?;
        let held = |link: &Link| split.is_some_and(|split| split.holds_out(link.src, link.dst));
        let is_aside =
            |link: &Link| aside.is_some_and(|aside| aside.weight(link.src, link.dst).is_some());
        let kept = |link: &Link| !held(link) && !is_aside(link);
        let names: Vec<&str> = data.views().iter().map(|view| view.name.as_str()).collect();
        let named = params.view_pairs_among(&names)?;
        let views_of = |link: &Link| {
            let (d, e) = (data.view_of(link.src), data.view_of(link.dst));
            (d.min(e), d.max(e))
        };
        let view_pairs = named.unwrap_or_else(|| {
            let mut pairs: Vec<_> = graph
                .links()
                .filter(kept)
                .map(|link| views_of(&link))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        });
        let part = |belongs: &dyn Fn(&Link) -> bool| {
            graph.filter(|link| belongs(link) && view_pairs.contains(&views_of(link)))
        };
        let mut training = part(&kept);
        let of_split = |which: Part, has_it: fn(Split) -> bool| {
            let split = split.filter(|split| has_it(*split));
            let links = |split: Split| part(&|link| split.keeps(which, link.src, link.dst));
            split.map(links)
        };
        let held_out = of_split(Part::HeldOut, Split::stops);
        let judged = of_split(Part::Judged, Split::judges);
        let aside = aside.map(|_| part(&|link| is_aside(link) && !held(link)));
        let others = [held_out.as_ref(), judged.as_ref(), aside.as_ref()];
        let others = others.into_iter().flatten().map(Graph::n_links);
        let used = training.n_links() + others.sum::<usize>();
        let set_aside_links = aside.as_ref().map_or(0, Graph::n_links);
        let impossible = |part: Part, more: Option<Graph>| {
            let of = |src, dst| split.map_or(Part::Training, |split| split.part_of(src, dst));
            let pairs = data.self_pairs().filter(|&(src, dst)| of(src, dst) == part);
            let weight = 1.0;
            let mut pairs: Vec<Link> = pairs.map(|(src, dst)| Link { src, dst, weight }).collect();
            if pairs.is_empty() {
                return Ok(more);
            }
            pairs.extend(more.iter().flat_map(Graph::links));
            Graph::new(graph.ids().clone(), pairs, LinkRules::default()).map(Some)
        };
        let aside = impossible(Part::Training, aside)?;
        let impossible = [
            impossible(Part::HeldOut, None)?,
            impossible(Part::Judged, None)?,
        ];
        if training.n_links() == 0 {
            let error = Error::links("no link left to train on", "at least one");
            return Err(error.or("give more links, a smaller {validation} or other {view-pairs}"));
        }
        let training_links = training.n_links();
        let views = prepare_views(data, params, &training)?;
        if params.walks > 0 {
            // Walks also reach pairs that are held out or set aside, and views
            // that take no part.
            let takes_part = |src, dst| {
                let weight = 0.0;
                let link = Link { src, dst, weight };
                kept(&link) && view_pairs.contains(&views_of(&link))
            };
            training =
                average_over_walks(&training, params.walks, params.walks_weighted, takes_part)?;
        }
        Ok(Prepared {
            views,
            view_pairs,
            training,
            held_out,
            judged,
            split,
            aside,
            impossible,
            set_aside_links,
            training_links,
            ignored_links: graph.n_links() - used,
        })
    }

    /// The view of an internal row.
    pub fn view_of(&self, row: usize) -> usize {
        self.views.partition_point(|view| view.rows.end <= row)
    }

    /// The number of pairs between two views.
    pub fn n_pairs(&self, d: usize, e: usize) -> f64 {
        let (a, b) = (
            self.views[d].rows.len() as f64,
            self.views[e].rows.len() as f64,
        );
        if d == e { a * (a - 1.0) / 2.0 } else { a * b }
    }

    /// The number of pairs that a node of a view is in, held out or not.
    pub fn n_partners(&self, view: usize) -> f64 {
        let nodes = |view: usize| self.views[view].rows.len() as f64;
        self.view_pairs
            .iter()
            .map(|&(d, e)| match (d == view, e == view) {
                (true, true) => nodes(view) - 1.0,
                (true, false) => nodes(e),
                (false, true) => nodes(d),
                (false, false) => 0.0,
            })
            .sum()
    }

    /// The number of pairs `|I|` that take part, held out or not.
    pub fn n_pairs_total(&self) -> f64 {
        self.view_pairs
            .iter()
            .map(|&(d, e)| self.n_pairs(d, e))
            .sum()
    }

    /// The number of training pairs: counted, or in large graphs as good as
    /// known from the share that is held out.
    pub fn n_training_pairs(&self) -> f64 {
        const COUNTED: f64 = 1e7;
        let aside = self
            .aside
            .as_ref()
            .map_or(0.0, |aside| aside.n_links() as f64);
        let total = self.n_pairs_total();
        let Some(split) = self.split else {
            return total - aside;
        };
        if total > COUNTED {
            return total * (1.0 - split.held_share()) - aside;
        }
        let mut count = 0usize;
        for &(d, e) in &self.view_pairs {
            for i in self.views[d].rows.clone() {
                let others = self.views[e].rows.clone();
                let others = if d == e { i + 1..others.end } else { others };
                count += others
                    .filter(|&j| !split.holds_out(i as u32, j as u32))
                    .count();
            }
        }
        count as f64 - aside
    }

    /// Whether a pair was set aside from training.
    pub fn is_aside(&self, src: u32, dst: u32) -> bool {
        let aside = self.aside.as_ref();
        aside.is_some_and(|aside| aside.weight(src, dst).is_some())
    }
}

/// The data vectors of each view after normalisation and propagation.
fn prepare_views(
    data: &Dataset,
    params: &CheckedParams,
    training: &Graph,
) -> Result<Vec<DataView>> {
    let mut views = Vec::with_capacity(data.views().len());
    for view in data.views() {
        let matrix = match &view.matrix {
            None => None,
            Some(matrix) => {
                let matrix = normalize(matrix.clone(), params.normalize)?;
                if params.propagate == 0 {
                    Some(matrix)
                } else {
                    let levels = propagate(matrix, &training.adjacency(), params.propagate)?;
                    levels.into_iter().next_back()
                }
            }
        };
        views.push(DataView {
            name: view.name.clone(),
            rows: view.rows.clone(),
            matrix,
            space: view.space,
        });
    }
    Ok(views)
}

//! Embeddings averaged over the links, each link counted as far as it is
//! believed.
//!
//! The fit itself reads data vectors alone, so that a node's embedding says
//! nothing that its links do not show to hold for nodes like it. Averaging
//! afterwards,
//!
//! ```text
//! Y <- D^-1 (B + I) Y,    D = diag of the row sums of B + I,
//! ```
//!
//! ([`averages`]) brings a node closer to those that it is linked to. `B_ij` is the chance that
//! the link is sound ([`discover`]), so that a link which no data vector
//! explains, or whose weight is absurd, carries nothing. Judge links by fits
//! that did not see them ([`cross_fit`](crate::trust::audit::cross_fit)): a fit is too
//! kind to its own.
//!
//! Unseen nodes without links get what their data vectors tell of the averages
//! ([`Regression`]).
//!
//! Averages are for clusters and neighbours. Expected weights stay those of the
//! embeddings as the encoder gives them.

mod new;
mod unseen;

pub(crate) use new::{Known, average_new, without_links};
pub use unseen::Regression;

use crate::data::dataset::Dataset;
use crate::data::features::Features;
use crate::data::graph::{Adjacency, Link};
use crate::engine::runtime::Runtime;
use crate::error::{Error, Result};
use crate::model::{Encoded, Fitted};
pub use crate::model::{End, NewLink};
use crate::trust::audit::{
    CrossFit, Judges, Verdict, discover, has_vectors, judge_by, sizes, taking_part,
};
use crate::trust::judge::average::averages;

/// A model's embeddings and their averages, and what averages new nodes.
#[derive(Debug, Clone)]
pub struct Smoother<'m> {
    model: &'m Fitted,
    verdicts: Vec<Verdict>,
    /// For each verdict the chance that the link is sound.
    rates: Vec<f64>,
    random: Vec<f64>,
    /// The embeddings after 0, 1, .. rounds, in the user's row order.
    levels: Vec<Vec<f32>>,
}

/// Unseen nodes of a view.
#[derive(Debug, Clone, Copy)]
pub struct NewNodes<'a> {
    /// The place of their view in the model.
    pub view: usize,
    /// Their data vectors.
    pub vectors: &'a Features,
    /// Their links, where they bring some.
    pub links: Option<&'a [NewLink]>,
}

/// Averages, of a model's nodes or of new ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Smoothed {
    /// Row after row.
    pub embeddings: Vec<f32>,
    /// Whether they are averages; otherwise they are as the model embeds nodes.
    pub averaged: bool,
    /// The links that were judged.
    pub links: usize,
    /// The sum of the chances that they are sound.
    pub believed: f64,
    /// How many join views that took no part in the fit, and were left out.
    pub ignored: usize,
    /// The ridge of the regression, where new nodes needed one.
    pub ridge: Option<f64>,
    /// New nodes that stay as the encoder embeds them: without believed links and
    /// without data vectors of the fit to learn averages from.
    pub as_encoded: usize,
}

/// Averages a model's embeddings so many times, 0 to 100, over links between its
/// nodes, or new nodes over theirs. `data` has the links, and data vectors where
/// they are known.
///
/// New nodes without believed links get what their data vectors tell of the
/// averages.
///
/// `opens` is asked whether averages are wanted, given the data that takes part and
/// its links by internal rows, each weighing the chance that it is sound.
pub fn smooth(
    model: &Fitted,
    data: &Dataset,
    (judges, times): (Judges, usize),
    new: Option<NewNodes<'_>>,
    opens: impl FnOnce(&Dataset, &Adjacency) -> Result<bool>,
    runtime: Runtime<'_>,
) -> Result<Smoothed> {
    if times > 100 {
        return Err(Error::argument(
            "times",
            "a whole number from 0 to 100",
            times,
        ));
    }
    let (data, ignored) = taking_part(model, data.clone())?;
    if let Some((new, links)) = new.and_then(|new| Some((new, new.links?))) {
        model.check_links(links, new.vectors.matrix().n_rows())?;
    }
    if let Some(new) = new.filter(|new| new.links.is_none())
        && !has_vectors(model, &data, new.view)
    {
        return Err(Error::data(
            "features",
            "no data vectors of the training nodes",
            "those that the model was fitted with, from which the averages of unseen nodes without \
             links are learnt, or links of the unseen nodes",
        ));
    }
    let CrossFit { verdicts, random } = judge_by(model, &data, judges, runtime)?;
    let mut smoother = Smoother::new(model, verdicts, random, 0);
    let mut found = Smoothed {
        embeddings: Vec::new(),
        averaged: opens(&data, &smoother.links_inside(&data))?,
        links: smoother.verdicts.len(),
        believed: smoother.rates.iter().sum(),
        ignored,
        ridge: None,
        as_encoded: 0,
    };
    if found.averaged {
        smoother.average(times);
    }
    match new {
        Some(new) if found.averaged => smoother.embed_new(&data, new, &mut found)?,
        Some(new) => found.embeddings = model.embed_view(new.view, new.vectors, None)?,
        None => found.embeddings = smoother.embeddings().to_vec(),
    }
    Ok(found)
}

impl<'m> Smoother<'m> {
    /// Averages a model's embeddings so many times over judged links. `random`
    /// are the expected weights of random unlinked pairs, by the same judges.
    pub fn new(
        model: &'m Fitted,
        verdicts: Vec<Verdict>,
        random: Vec<f64>,
        times: usize,
    ) -> Smoother<'m> {
        let law = sizes(model, &verdicts, |_| 1.0);
        let rates = discover(&verdicts, law.as_ref(), &random).rates;
        let mut smoother = Smoother {
            model,
            verdicts,
            rates,
            random,
            levels: Vec::new(),
        };
        smoother.average(times);
        smoother
    }

    fn average(&mut self, times: usize) {
        let (n, links) = (self.model.n_nodes(), self.links(|row| row));
        let links = Adjacency::new(n, links.iter().copied());
        self.levels = averages(&links, self.model.embeddings(), self.model.dim(), times);
    }

    /// The judged links, each weighing the chance that it is sound.
    fn links(&self, place: impl Fn(u32) -> u32) -> Vec<Link> {
        let links = self.verdicts.iter().zip(&self.rates);
        let link = |(verdict, &weight): (&Verdict, &f64)| Link {
            src: place(verdict.src),
            dst: place(verdict.dst),
            weight,
        };
        links.map(link).collect()
    }

    /// The same by the internal rows of `data`.
    fn links_inside(&self, data: &Dataset) -> Adjacency {
        let mut inside = vec![0u32; data.n_nodes()];
        for row in 0..data.n_nodes() {
            inside[data.user_row(row)] = row as u32;
        }
        let links = self.links(|row| inside[row as usize]);
        Adjacency::new(data.n_nodes(), links.iter().copied())
    }

    /// The averages, in the user's row order.
    pub fn embeddings(&self) -> &[f32] {
        self.levels.last().map_or(&[], Vec::as_slice)
    }

    /// Every judged link with the chance that it is sound, least trusted first.
    pub fn beliefs(&self) -> impl Iterator<Item = (&Verdict, f64)> {
        self.verdicts.iter().zip(self.rates.iter().copied())
    }

    /// New nodes of a view, as their data vectors tell of them, averaged over the
    /// links that they bring. Training nodes stay as they were.
    pub fn embed(&self, encoded: &Encoded, links: &[NewLink]) -> Result<Vec<f32>> {
        Ok(self.average_new(encoded, links)?.0)
    }

    /// The same, and whether the links of each count for enough.
    fn average_new(&self, encoded: &Encoded, links: &[NewLink]) -> Result<(Vec<f32>, Vec<bool>)> {
        let dim = self.model.dim();
        self.model.check_links(links, encoded.y.len() / dim)?;
        let rates = self.judge_new(encoded, links);
        let known = Known {
            levels: &self.levels[..self.levels.len() - 1],
            dim,
        };
        Ok(average_new(&known, &encoded.y, links, &rates))
    }

    fn embed_new(&self, data: &Dataset, new: NewNodes<'_>, found: &mut Smoothed) -> Result<()> {
        // Without their links also where the model averages data vectors: links
        // are judged by embeddings that have not seen them.
        let encoded = self.model.encode_view(new.view, new.vectors, None)?;
        let links = new.links.unwrap_or_default();
        let (mut values, enough) = self.average_new(&encoded, links)?;
        if enough.contains(&false) {
            let can_learn = has_vectors(self.model, data, new.view);
            let alone = match can_learn {
                true => {
                    let learnt = self.unseen(new.view, data)?;
                    found.ridge = Some(learnt.ridge);
                    learnt.embed(new.vectors.matrix())?
                }
                false => encoded.y,
            };
            let n_alone = without_links(&mut values, &enough, &alone);
            found.as_encoded = if can_learn { 0 } else { n_alone };
        }
        found.embeddings = values;
        Ok(())
    }

    /// What the data vectors of a view's nodes tell of their averages: for
    /// unseen nodes without links. `data` are the nodes of the model.
    pub fn unseen(&self, view: usize, data: &Dataset) -> Result<Regression> {
        let (params, dim) = (self.model.params(), self.model.dim());
        let name = self.model.views()[view].name.as_str();
        if data.n_nodes() != self.model.n_nodes() {
            return Err(Error::data(
                "data",
                format!("{} nodes", data.n_nodes()),
                format!("those of the model, {}", self.model.n_nodes()),
            ));
        }
        let of_view = data.views().iter().find(|view| view.name == name);
        let Some((view, matrix)) = of_view.and_then(|view| Some((view, view.matrix.as_ref()?)))
        else {
            return Err(Error::data(
                "data",
                format!("view '{name}' without data vectors"),
                "a data vector for each of its nodes",
            ));
        };
        let rows = view.rows.clone();
        let outputs: Vec<f32> = rows
            .flat_map(|row| row_of(self.embeddings(), data.user_row(row) as u32, dim))
            .copied()
            .collect();
        Regression::new(matrix, &outputs, dim, params.normalize, params.seed)
    }

    /// The chance that each link of new nodes is sound.
    fn judge_new(&self, encoded: &Encoded, links: &[NewLink]) -> Vec<f64> {
        let model = self.model;
        let mut judged = self.verdicts.clone();
        for link in links {
            let here = encoded.point(link.row as usize);
            let (dst, there) = match link.end {
                End::Known(row) => (row, model.point(row as usize)),
                End::New(row) => (row, encoded.point(row as usize)),
            };
            let seen = Link {
                src: link.row,
                dst,
                weight: link.weight,
            };
            let expected = model.expected(here, there);
            judged.push(Verdict::new(model.params(), seen, expected));
        }
        let law = sizes(model, &judged, |_| 1.0);
        let rates = discover(&judged, law.as_ref(), &self.random).rates;
        rates[self.verdicts.len()..].to_vec()
    }
}

fn row_of(rows: &[f32], row: u32, dim: usize) -> &[f32] {
    &rows[row as usize * dim..][..dim]
}

#[cfg(test)]
mod tests;

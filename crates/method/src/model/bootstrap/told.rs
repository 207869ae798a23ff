//! What replicates tell: of a pair, of a node's neighbours, of clusters.

use std::borrow::Cow;

use super::{LEAST, Replicate, Replicates};
use crate::error::{Error, Result};
use crate::measure::KMeans;
use crate::model::Fitted;
use linkproof_numeric::math;

/// Standard errors on either side that hold 90 of 100.
const NINETY: f64 = 1.645;

/// What is a node's own, a free vector or an offset, is told by the node's pairs alone.
/// Where it takes part, these are drawn by their other ends: their multipliers have the
/// variance `sqrt(2) - 1` instead of 1, and what they tell has to be spread by as much
/// more.
const OWN: f64 = 1.553_773_974;

/// How sure the logarithm of an expected weight is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Its standard error.
    pub error: f64,
    /// It is between these in 90 of 100 cases.
    pub interval: (f64, f64),
    /// Whether the expected weight is negative; then this is of its logarithm without
    /// the sign.
    pub negative: bool,
}

impl Spread {
    /// What the expected weight is between in 90 of 100 cases.
    pub fn weights(&self) -> (f64, f64) {
        let (low, high) = (math::exp(self.interval.0), math::exp(self.interval.1));
        match self.negative {
            true => (-high, -low),
            false => (low, high),
        }
    }
}

impl Fitted {
    /// The same model with fits to parts of its nodes.
    ///
    /// # Errors
    /// Replicates of other nodes.
    pub fn with_replicates(mut self, replicates: Replicates) -> Result<Fitted> {
        self.parts.replicates = Some(replicates);
        Fitted::new(self.parts)
    }

    /// Fits to parts of the nodes, where there are some.
    pub fn replicates(&self) -> Option<&Replicates> {
        self.parts.replicates.as_ref()
    }

    /// The similarity of two nodes in a replicate, where both took part.
    fn similarity_in(&self, of: &Replicate, i: usize, j: usize) -> Option<f64> {
        let (product, offsets) = self.parts_in(of, i, j)?;
        Some(product + offsets)
    }

    /// `<y_i, y_j> - gamma` in a replicate, where both nodes took part, and the sum of
    /// their offsets.
    fn parts_in(&self, of: &Replicate, i: usize, j: usize) -> Option<(f64, f64)> {
        let has = |row: usize| of.has.as_ref().is_none_or(|has| has[row]);
        if !(has(i) && has(j)) {
            return None;
        }
        let row = |row: usize| &of.embeddings[row * self.dim()..][..self.dim()];
        let products = row(i).iter().zip(row(j));
        let mut products = products.map(|(a, b)| f64::from(*a) * f64::from(*b));
        let like: f64 = products.by_ref().take(self.dim() - self.negative()).sum();
        let product = like - products.sum::<f64>();
        let offset = |row: usize| of.offsets.as_ref().map_or(0.0, |it| f64::from(it[row]));
        let view = |row: usize| self.node_views()[row] as usize;
        let gamma = of.gamma.get(view(i), view(j));
        Some((product - gamma, offset(i) + offset(j)))
    }

    /// Whether a node's vector is its own, and no map of its data vector.
    fn is_free(&self, row: usize) -> bool {
        let view = self.node_views()[row] as usize;
        self.views()[view].network.is_table()
    }

    /// The logarithm of what is expected at a similarity; where sizes have two signs that
    /// of the chance of a link, and the size stays as it is.
    fn log_expected(&self, similarity: f64) -> f64 {
        let Some(law) = self.sizes() else {
            return similarity;
        };
        let intensity = self.report().k * math::exp(similarity);
        let log_chance = math::ln((-math::exp_m1(-intensity)).max(f64::MIN_POSITIVE));
        match law.is_signed() {
            true => log_chance,
            false => log_chance + math::ln(law.mean(similarity)),
        }
    }

    /// How sure the logarithm of the expected weight of two nodes is; none without
    /// replicates, or where too few saw both.
    pub fn spread(&self, i: usize, j: usize) -> Option<Spread> {
        let replicates = self.replicates()?;
        let (product, offsets) = self.parts_in(&replicates.whole, i, j)?;
        let free = self.is_free(i) || self.is_free(j);
        let factor = if free { OWN } else { 1.0 };
        let whole = self.log_expected(product + offsets);
        let parts = replicates.parts.iter();
        let apart: Vec<f64> = parts
            .filter_map(|part| {
                let (other, own) = self.parts_in(part, i, j)?;
                let moved = factor * (other - product) + OWN * (own - offsets);
                Some(self.log_expected(product + offsets + moved) - whole)
            })
            .collect();
        if apart.len() < LEAST {
            return None;
        }
        let n = apart.len() as f64;
        // Walks over half of the links are other walks: where these are made anew,
        // replicates are compared with each other.
        let centre = match self.believed().is_some_and(|it| !it.abstained) {
            true => apart.iter().sum::<f64>() / n,
            false => 0.0,
        };
        let squares: f64 = apart.iter().map(|x| (x - centre).powi(2)).sum();
        let error = (squares / n).sqrt();
        let mu = self.mu(i, j);
        let at = math::ln(mu.abs().max(f64::MIN_POSITIVE));
        Some(Spread {
            error,
            interval: (at - NINETY * error, at + NINETY * error),
            negative: mu < 0.0,
        })
    }

    /// For each of the neighbours of a node the share of replicates, among those that
    /// saw both, in which it is among as many nearest; none without replicates.
    pub fn stability(&self, node: usize, neighbors: &[usize]) -> Option<Vec<f64>> {
        let replicates = self.replicates()?;
        let (mut found, mut seen) = (vec![0.0; neighbors.len()], vec![0.0f64; neighbors.len()]);
        let view = |row: usize| self.node_views()[row] as usize;
        // Among nodes of the views that the neighbours are of.
        let views: Vec<usize> = neighbors.iter().map(|&row| view(row)).collect();
        let others: Vec<usize> = (0..self.n_nodes())
            .filter(|&row| row != node && views.contains(&view(row)))
            .filter(|&row| !self.ids().is_same_node(node as u32, row as u32))
            .collect();
        for part in &replicates.parts {
            let mut all: Vec<(f64, usize)> = (others.iter())
                .filter_map(|&row| Some((self.similarity_in(part, node, row)?, row)))
                .collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            all.truncate(neighbors.len());
            for (place, &row) in neighbors.iter().enumerate() {
                let took_part = self.similarity_in(part, node, row).is_some();
                seen[place] += f64::from(u8::from(took_part));
                found[place] += f64::from(u8::from(all.iter().any(|it| it.1 == row)));
            }
        }
        let shares = found.iter().zip(seen);
        Some(shares.map(|(found, seen)| found / seen.max(1.0)).collect())
    }

    /// For each node the share of its cluster that stays with it, over replicates: they
    /// are clustered anew, into as many clusters. None without replicates.
    ///
    /// # Errors
    /// Clusters of other nodes.
    pub fn together(&self, clusters: &[u32], seed: u64) -> Result<Option<Vec<f64>>> {
        self.together_by(clusters, seed, |part| Cow::Borrowed(&part.embeddings[..]))
    }

    /// The same by what `seen` makes of the embeddings of a replicate.
    pub(crate) fn together_by<'r>(
        &'r self,
        clusters: &[u32],
        seed: u64,
        seen: impl Fn(&'r Replicate) -> Cow<'r, [f32]>,
    ) -> Result<Option<Vec<f64>>> {
        let Some(replicates) = self.replicates() else {
            return Ok(None);
        };
        let n = self.node_ids().len();
        if clusters.len() != n {
            let found = format!("{} clusters", clusters.len());
            return Err(Error::data(
                "clusters",
                found,
                format!("one for each of {n} nodes"),
            ));
        }
        let count = clusters.iter().max().map_or(0, |&last| last as usize + 1);
        let (mut together, mut seen_in) = (vec![0.0; n], vec![0.0f64; n]);
        for part in &replicates.parts {
            // A node of a directed model is one, with what it is as source and target.
            let embeddings = seen(part);
            let (all, dim) = self.by_node(&embeddings, self.dim());
            let has = |row: &usize| part.has.as_ref().is_none_or(|has| has[*row]);
            let rows: Vec<usize> = (0..n).filter(has).collect();
            let y: Vec<f32> = (rows.iter())
                .flat_map(|&row| &all[row * dim..][..dim])
                .copied()
                .collect();
            let found = KMeans::new(count, seed).fit(&y, rows.len(), dim)?;
            // How many nodes are in each pair of clusters, one of either kind.
            let (mut both, mut own) = (vec![0.0f64; count * count], vec![0.0f64; count]);
            let pairs = || rows.iter().zip(&found.labels);
            for (&row, &other) in pairs() {
                both[clusters[row] as usize * count + other as usize] += 1.0;
                own[clusters[row] as usize] += 1.0;
            }
            for (&row, &other) in pairs() {
                let cluster = clusters[row] as usize;
                let mates = own[cluster] - 1.0;
                if mates > 0.0 {
                    together[row] += (both[cluster * count + other as usize] - 1.0) / mates;
                    seen_in[row] += 1.0;
                }
            }
        }
        let share = |(together, seen): (&f64, f64)| match seen > 0.0 {
            true => together / seen,
            false => 1.0,
        };
        Ok(Some(together.iter().zip(seen_in).map(share).collect()))
    }
}

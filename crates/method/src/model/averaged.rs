//! Embeddings averaged over believed links, beside those of the encoder.
//!
//! Expected weights are made of the encoder's embeddings, to which gamma
//! belongs. Averages are for clusters and for whatever else is learnt from
//! embeddings; a linear map hands them on to unseen nodes.

use rayon::prelude::*;

use super::nearest::Nearest;
use super::{Believed, Fitted};
use crate::data::dataset::Dataset;
use crate::data::features::Features;
use crate::data::transform::normalize;
use crate::error::{Error, Result};

/// What a fit recommends in the place of its encoder's embeddings.
#[derive(Debug, Clone, PartialEq)]
pub struct Averaged {
    /// The averages, in the user's row order.
    pub embeddings: Vec<f32>,
    /// For each view what normalised data vectors tell of the averages: a row of
    /// numbers for each entry of a data vector. None for a table.
    pub maps: Vec<Option<Vec<f32>>>,
}

impl Fitted {
    /// The averages, where these are recommended.
    pub fn averaged(&self) -> Option<&Averaged> {
        self.parts.averaged.as_ref()
    }

    /// The recommended embeddings, row after row: what `embeddings.npy` holds.
    pub fn recommended(&self) -> &[f32] {
        match self.averaged() {
            Some(averaged) => &averaged.embeddings,
            None => self.embeddings(),
        }
    }

    /// The same model with averages that are recommended.
    ///
    /// # Errors
    /// Numbers that do not fit the model's nodes, views and dimension.
    pub fn with_averages(mut self, averaged: Averaged) -> Result<Fitted> {
        let fits = |(view, map): (usize, &Option<Vec<f32>>)| {
            let network = &self.views()[view].network;
            let size = network.spec().inputs * self.dim();
            map.as_ref()
                .is_none_or(|map| !network.is_table() && map.len() == size)
        };
        if averaged.embeddings.len() != self.embeddings().len()
            || averaged.maps.len() != self.views().len()
            || !averaged.maps.iter().enumerate().all(fits)
        {
            return Err(Error::data(
                "averages",
                format!("{} numbers", averaged.embeddings.len()),
                format!("{}, and a map for each view", self.embeddings().len()),
            ));
        }
        self.parts.averaged = Some(averaged);
        Ok(self)
    }

    /// The same model with what a robust fit to these links found of them: it was
    /// fitted to what was made of them, and they are what a user counts. `seconds`
    /// are those of all its fits.
    pub(crate) fn believing(
        mut self,
        data: &Dataset,
        believed: Believed,
        seconds: f64,
    ) -> Result<Fitted> {
        let report = &mut self.parts.report;
        report.counts.training_links = data.graph().n_links() - report.counts.ignored_links;
        report.counts.read = data.graph().counts();
        report.seconds = seconds;
        self.parts.links = data.user_graph()?;
        self.parts.believed = Some(believed);
        Fitted::new(self.parts)
    }

    /// The recommended embeddings of unseen nodes of a view, from their data
    /// vectors alone: what these tell of averages, averaged with the known nodes that
    /// are nearest to it.
    pub fn embed_recommended(&self, view: usize, features: &Features) -> Result<Vec<f32>> {
        let map = self.averaged().and_then(|it| it.maps[view].as_ref());
        let Some(map) = map else {
            return self.embed_view(view, features, None);
        };
        self.check_vectors(view, features)?;
        let (vectors, dim) = (
            normalize(features.matrix().clone(), self.params().normalize)?,
            self.dim(),
        );
        let rows: Vec<Vec<f32>> = (0..vectors.n_rows())
            .into_par_iter()
            .map(|row| {
                let mut sums = vec![0.0f64; dim];
                for (column, x) in vectors.row(row) {
                    let weights = &map[column as usize * dim..][..dim];
                    for (sum, &weight) in sums.iter_mut().zip(weights) {
                        *sum += x * f64::from(weight);
                    }
                }
                sums.into_iter().map(|sum| sum as f32).collect()
            })
            .collect();
        let of_view = |&row: &usize| self.node_views()[row] as usize == view;
        let known = (0..self.n_nodes()).filter(of_view).collect();
        let nearest = Nearest::new(self.recommended(), dim, known, self.params().seed);
        Ok(nearest.average(&rows.concat(), None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::features::Matrix;
    use crate::data::graph::Graph;
    use crate::params::{Normalize, Params};

    /// Four nodes with data vectors of three entries, in two dimensions.
    fn fitted() -> Fitted {
        let graph = Graph::from_rows(4, &[(0, 1, 1.0), (2, 3, 1.0)]).unwrap();
        let x = vec![1.0, 0.0, 0.2, 1.0, 0.1, 0.0, 0.0, 1.0, 0.3, 0.1, 1.0, 0.0];
        let features = Features::new(Matrix::dense(4, 3, x).unwrap());
        let params = Params {
            dim: 2,
            normalize: Normalize::None,
            ..Params::default()
        };
        let data = Dataset::new(graph, features).unwrap();
        crate::fit(&params.check().unwrap(), &data).unwrap()
    }

    fn averaged() -> Averaged {
        Averaged {
            embeddings: (0..8).map(|x| x as f32).collect(),
            maps: vec![Some(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
        }
    }

    #[test]
    fn averages_are_recommended_beside_the_embeddings_of_the_encoder() {
        let plain = fitted();
        let model = plain.clone().with_averages(averaged()).unwrap();
        assert_eq!(model.recommended(), averaged().embeddings);
        assert_eq!(model.mu(0, 1), plain.mu(0, 1));
        assert_eq!(model.embeddings(), plain.embeddings());
        // The first two rows of the map, twice the first.
        let new = Features::new(Matrix::dense(1, 3, vec![2.0, 1.0, 0.0]).unwrap());
        assert_eq!(model.embed_recommended(0, &new).unwrap(), [5.0, 8.0]);
        assert_eq!(
            plain.embed_recommended(0, &new).unwrap(),
            plain.embed(&new).unwrap()
        );
        let narrow = Features::new(Matrix::dense(1, 2, vec![2.0, 1.0]).unwrap());
        let error = model.embed_recommended(0, &narrow).unwrap_err();
        assert!(error.to_string().contains("3 entries"), "{error}");
    }

    #[test]
    fn averages_that_do_not_fit_are_refused() {
        let plain = fitted();
        let few = Averaged {
            embeddings: vec![0.0; 7],
            ..averaged()
        };
        let narrow = Averaged {
            maps: vec![Some(vec![0.0; 4])],
            ..averaged()
        };
        let none = Averaged {
            maps: Vec::new(),
            ..averaged()
        };
        for wrong in [few, narrow, none] {
            assert!(plain.clone().with_averages(wrong).is_err());
        }
    }
}

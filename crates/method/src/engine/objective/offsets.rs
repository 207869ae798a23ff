//! The offsets of nodes, `b_i = u'x_i + e_i`: what data vectors tell of how many links
//! a node has, and what is its own.

use std::ops::Range;

use crate::data::features::Values;
use crate::engine::encoder::{Batch, Input, Network, NetworkSpec, Pass, Statistics};
use crate::params::{Encoder, EncoderKind};
use linkproof_numeric::real::Real;

/// Where the offsets of a view's nodes come from.
#[derive(Debug, Clone)]
pub struct ViewOffsets {
    /// `u`, a linear map of data vectors, and the places of its weights. None where the
    /// encoder does not read data vectors.
    pub map: Option<(Network, Range<usize>)>,
    /// The places of `e`, a number for each node of the view.
    pub own: Range<usize>,
    /// Parameters are offsets in this unit: methods of the first order move all
    /// parameters of an encoder by about the same length, and a step that suits the
    /// weights of a wide layer would leave offsets where they are.
    pub unit: f64,
}

impl ViewOffsets {
    /// The shape of `u` for data vectors of this dimension.
    pub fn map_of(inputs: usize) -> Network {
        Network::new(NetworkSpec {
            encoder: Encoder::new(EncoderKind::Linear, &Default::default()),
            inputs,
            outputs: 1,
        })
    }

    /// Adds the offsets of the rows of a batch to a list.
    pub fn forward<T: Real>(
        &self,
        theta: &[T],
        batch: &Batch<'_, T>,
        pass: &mut Pass<T>,
        out: &mut Vec<T>,
    ) {
        let (own, start) = (&theta[self.own.clone()], out.len());
        out.extend((0..batch.n_rows()).map(|row| own[batch.node(row)]));
        if let Some((network, place)) = &self.map {
            network.forward(&theta[place.clone()], batch, None, pass);
            let told = out[start..].iter_mut().zip(pass.embeddings());
            told.for_each(|(offset, told)| *offset += *told);
        }
        let unit = T::of(self.unit);
        out[start..].iter_mut().for_each(|offset| *offset *= unit);
    }

    /// Turns derivatives in offsets into those in the parameters behind them, and the
    /// slope of the ridge on offsets into that on parameters.
    pub fn in_units<T: Real>(&self, slopes: &mut [T], ridge: f64) -> f64 {
        let unit = T::of(self.unit);
        slopes.iter_mut().for_each(|slope| *slope *= unit);
        ridge * self.unit * self.unit
    }

    /// `u`, where there is one.
    pub fn weights<T: Real>(&self, theta: &[T]) -> Option<Vec<T>> {
        let (unit, (_, place)) = (T::of(self.unit), self.map.as_ref()?);
        Some(theta[place.clone()].iter().map(|u| *u * unit).collect())
    }

    /// `u` as it is stored, if there is one.
    pub fn stored(&self, theta: &Values) -> Option<Values> {
        match theta {
            Values::F32(theta) => self.weights(theta).map(Values::from),
            Values::F64(theta) => self.weights(theta).map(Values::from),
        }
    }

    /// The offsets of all nodes of the view, as inference gives them.
    pub fn infer<T: Real>(&self, theta: &[T], input: &Input<'_, T>) -> Vec<T> {
        let unit = T::of(self.unit);
        let own = theta[self.own.clone()].iter().map(|e| *e * unit);
        match (&self.map, self.weights(theta)) {
            (Some((network, _)), Some(weights)) => {
                let told = network.embed(&weights, input, &Statistics::default());
                own.zip(told).map(|(own, told)| own + told).collect()
            }
            _ => own.collect(),
        }
    }
}

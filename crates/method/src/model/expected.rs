//! What a model expects of pairs.

use super::{Fitted, MeanSize, Point};
use crate::data::graph::Link;
use crate::size::{SizeLaw, SizedLink};
use linkproof_numeric::math;

/// What is expected of a pair. The expected weight is the chance of a link times its
/// size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// `<y, z> - gamma`, plus the offsets of both ends where there are any.
    pub similarity: f64,
    /// The chance of a link, `1 - e^{-nu}` for the intensity `nu`.
    pub p_link: f64,
    /// The mean size of a link, given that there is one.
    pub size: f64,
    /// The expected weight.
    pub mu: f64,
    /// By what pairs are compared: the expected weight or, where sizes have two signs,
    /// the intensity of a link, since a strong negative link is a strong link.
    pub strength: f64,
    /// Whether sizes have two signs.
    pub signed: bool,
}

impl Expected {
    /// Of a weight that is a Poisson count of this mean.
    pub fn of_count(mu: f64) -> Expected {
        let p_link = -math::exp_m1(-mu);
        Expected {
            similarity: math::ln(mu),
            p_link,
            size: if p_link > 0.0 { mu / p_link } else { 1.0 },
            mu,
            strength: mu,
            signed: false,
        }
    }
}

impl Fitted {
    /// What is expected of two nodes. A plain fit expects the weight `mu = k e^s` of a
    /// Poisson count, with the similarity `s = <y, z> - gamma`, plus offsets. In a fit
    /// to the pattern of links `k e^s` is their intensity, and sizes have a law of
    /// their own.
    pub fn expected(&self, a: Point<'_>, b: Point<'_>) -> Expected {
        let found = self.as_count(a, b);
        let Some(sizes) = &self.mean_size else {
            return found;
        };
        let size = sizes.at(found.similarity);
        let mu = found.p_link * size;
        let signed = self.is_signed();
        Expected {
            size,
            mu,
            strength: if signed { found.mu } else { mu },
            signed,
            ..found
        }
    }

    /// The same of counts, whatever the law of sizes.
    fn as_count(&self, a: Point<'_>, b: Point<'_>) -> Expected {
        let positive = self.dim() - self.negative();
        let product = |y: &[f32], z: &[f32]| -> f64 {
            let products = y.iter().zip(z).map(|(a, b)| f64::from(*a) * f64::from(*b));
            products.sum()
        };
        let like = product(&a.y[..positive], &b.y[..positive]);
        let unlike = product(&a.y[positive..], &b.y[positive..]);
        let offsets = f64::from(a.offset) + f64::from(b.offset);
        let similarity = like - unlike + offsets - self.gamma().get(a.view, b.view);
        Expected {
            similarity,
            ..Expected::of_count(self.report().k * math::exp(similarity))
        }
    }

    /// The expected weight of two nodes.
    pub fn expected_weight(&self, a: Point<'_>, b: Point<'_>) -> f64 {
        self.expected(a, b).mu
    }

    /// Tells intensities of links, so many times what was fitted, and their sizes
    /// apart.
    pub(crate) fn tell_sizes(&mut self, factor: f64, sizes: Option<SizeLaw>) {
        self.parts.report.k *= factor;
        self.mean_size = sizes.map(MeanSize::new);
        self.parts.sizes = sizes;
    }

    /// The law of the sizes of links by which a fit to their pattern tells what is
    /// expected of pairs.
    pub(crate) fn size_law(&self, links: impl Iterator<Item = (Link, f64)>) -> Option<SizeLaw> {
        let links = links.map(|(link, belief)| SizedLink {
            weight: link.weight,
            belief,
            similarity: self.pair(link.src as usize, link.dst as usize).similarity,
        });
        SizeLaw::estimate(&links.collect::<Vec<_>>(), true)
    }

    /// Whether sizes of links have two signs.
    pub fn is_signed(&self) -> bool {
        self.sizes().is_some_and(|law| law.is_signed())
    }

    /// What is expected of two training nodes.
    pub fn pair(&self, i: usize, j: usize) -> Expected {
        self.expected(self.point(i), self.point(j))
    }

    /// The chance that two training nodes are linked.
    pub fn p_link(&self, i: usize, j: usize) -> f64 {
        self.as_count(self.point(i), self.point(j)).p_link
    }

    /// The expected weight of two training nodes.
    pub fn mu(&self, i: usize, j: usize) -> f64 {
        self.pair(i, j).mu
    }
}

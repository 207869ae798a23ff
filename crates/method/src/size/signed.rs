//! Sizes of two signs: signed numbers around one place, or a sign and a size.
//!
//! Correlations of all pairs lie around one place; those that are left above a
//! threshold, votes and flows lie on either side of a gap around zero. For the first
//! there is a normal law. For the second the size without its sign has a law as positive
//! numbers or counts have, and the sign is negative with the chance
//!
//! ```text
//! q = 1 / (1 + e^{-(a + c s)}),
//! ```
//!
//! fitted to the links by belief, with a prior worth one link. Which of the two, every
//! other link says by the ranks of its weight under laws that are told by the rest.

use serde::{Deserialize, Serialize};

use super::SizeLaw;
use super::choose::{SizedLink, distance};
use linkproof_numeric::math;

/// With fewer links there is nothing to choose by.
const FEWEST: usize = 40;
/// A slope must be so many standard errors from zero.
const LEAST_ERRORS: f64 = 2.0;
const STEPS: usize = 50;

/// The chance of a negative sign.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Signs {
    /// The logarithm of its odds where the similarity is 0.
    pub log_odds: f64,
    /// How that grows with the similarity; 0 where signs say nothing of it.
    pub slope: f64,
}

impl Signs {
    /// The chance of a negative sign at a similarity.
    pub(super) fn negative(&self, similarity: f64) -> f64 {
        chance(self.log_odds + self.slope * similarity)
    }

    /// What links say.
    fn estimate(links: &[SizedLink], with_slope: bool) -> Signs {
        let all: f64 = links.iter().map(|link| link.belief).sum();
        let sum = |number: &dyn Fn(f64) -> f64| -> f64 {
            let terms = links.iter().map(|it| it.belief * number(it.similarity));
            terms.sum::<f64>() / all.max(f64::MIN_POSITIVE)
        };
        let mean = sum(&|s| s);
        let deviation = sum(&|s| (s - mean).powi(2)).sqrt();
        let sloped = with_slope && deviation > 1e-9 * (1.0 + mean.abs());
        let unit = if sloped { deviation } else { 1.0 };
        let standard = |link: &SizedLink| match sloped {
            true => (link.similarity - mean) / unit,
            false => 0.0,
        };
        let (mut theta, mut error) = ([0.0; 2], f64::INFINITY);
        for _ in 0..STEPS {
            // The prior is worth one link.
            let mut slope = [0.25 * theta[0], 0.25 * theta[1]];
            let mut bend = [0.25, 0.0, 0.25];
            for link in links {
                let z = standard(link);
                let p = chance(theta[0] + theta[1] * z);
                let negative = f64::from(u8::from(link.weight < 0.0));
                let (by, second) = (link.belief * (p - negative), link.belief * p * (1.0 - p));
                slope = [slope[0] + by, slope[1] + by * z];
                bend = [
                    bend[0] + second,
                    bend[1] + second * z,
                    bend[2] + second * z * z,
                ];
            }
            let determinant = bend[0] * bend[2] - bend[1] * bend[1];
            let step = [
                (bend[2] * slope[0] - bend[1] * slope[1]) / determinant,
                (bend[0] * slope[1] - bend[1] * slope[0]) / determinant,
            ];
            error = (bend[0] / determinant).sqrt();
            for (theta, step) in theta.iter_mut().zip(step) {
                *theta -= step.clamp(-2.0, 2.0);
            }
            if step.iter().all(|step| step.abs() < 1e-10) {
                break;
            }
        }
        match sloped {
            true if theta[1].abs() > LEAST_ERRORS * error => Signs {
                log_odds: theta[0] - theta[1] * mean / unit,
                slope: theta[1] / unit,
            },
            true => Signs::estimate(links, false),
            false => Signs {
                log_odds: theta[0],
                slope: 0.0,
            },
        }
    }
}

fn chance(log_odds: f64) -> f64 {
    1.0 / (1.0 + math::exp(-log_odds))
}

/// The law of sizes of two signs, by the form that unseen links fit better.
pub(super) fn estimate(links: &[SizedLink], with_slope: bool) -> Option<SizeLaw> {
    let normal = |links: &[SizedLink]| SizeLaw::of_one_form(links, with_slope);
    let sided = |links: &[SizedLink]| {
        let mut law = SizeLaw::of_one_form(&without_signs(links), with_slope)?;
        law.negative = Some(Signs::estimate(links, with_slope));
        Some(law)
    };
    if links.len() < FEWEST {
        return normal(links);
    }
    let half =
        |odd: usize| -> Vec<SizedLink> { links.iter().skip(odd).step_by(2).copied().collect() };
    let (told, asked) = (half(0), half(1));
    let far = |law: Option<SizeLaw>| {
        let rank = |law: &SizeLaw, link: &SizedLink| law.rank(link.weight, link.similarity);
        law.map_or(1.0, |law| {
            let ranks = asked.iter().map(|link| (rank(&law, link), link.belief));
            distance(&ranks.collect::<Vec<_>>())
        })
    };
    let (by_normal, by_sides) = (far(normal(&told)), far(sided(&told)));
    let law = match by_sides < by_normal {
        true => sided(links),
        false => normal(links),
    };
    law.map(|law| SizeLaw {
        distance: by_normal.min(by_sides),
        ..law
    })
}

fn without_signs(links: &[SizedLink]) -> Vec<SizedLink> {
    let absolute = |link: &SizedLink| SizedLink {
        weight: link.weight.abs(),
        ..*link
    };
    links.iter().map(absolute).collect()
}

#[cfg(test)]
#[path = "signed_tests.rs"]
mod tests;

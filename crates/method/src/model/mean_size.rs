//! The mean size of a link by similarity, at the cost of a comparison for nearly all
//! pairs.

use crate::size::SizeLaw;

/// Places of a table of mean sizes.
const PLACES: usize = 4096;

/// The mean size of a link, for very many pairs: a law's own sums are taken only where
/// the similarity is within that of links and the size depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeanSize {
    law: SizeLaw,
    /// What it is up to the least similarity of links, and from the largest on.
    ends: [f64; 2],
    is_constant: bool,
}

impl MeanSize {
    pub(super) fn new(law: SizeLaw) -> MeanSize {
        let (from, to) = law.similarities;
        MeanSize {
            law,
            ends: [law.mean(from), law.mean(to)],
            is_constant: law.slope == 0.0 && law.negative.is_none(),
        }
    }

    /// As [`SizeLaw::mean`], with the same bits.
    pub(super) fn at(&self, similarity: f64) -> f64 {
        let (from, to) = self.law.similarities;
        if self.is_constant || similarity.max(from) == from {
            self.ends[0]
        } else if similarity >= to {
            self.ends[1]
        } else {
            self.law.mean(similarity)
        }
    }

    /// The same from a table, for sums over many pairs.
    pub(super) fn table(&self) -> SizeTable {
        let (from, to) = self.law.similarities;
        let step = (to - from) / (PLACES - 1) as f64;
        let places = match self.is_constant || !(step > 0.0) {
            true => 0,
            false => PLACES,
        };
        let sizes = (0..places).map(|place| self.law.mean(from + place as f64 * step));
        SizeTable {
            ends: self.ends,
            from,
            by: 1.0 / step,
            sizes: sizes.collect(),
        }
    }
}

/// Mean sizes at similarities of equal distances, and lines between them.
#[derive(Debug)]
pub(super) struct SizeTable {
    ends: [f64; 2],
    from: f64,
    by: f64,
    sizes: Vec<f64>,
}

impl SizeTable {
    pub(super) fn at(&self, similarity: f64) -> f64 {
        let place = (similarity - self.from) * self.by;
        if self.sizes.is_empty() || !(place > 0.0) {
            return self.ends[0];
        }
        let below = place as usize;
        match self.sizes.get(below..below.saturating_add(2)) {
            Some(&[low, high]) => low + (place - below as f64) * (high - low),
            _ => self.ends[1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::{Family, Signs};

    fn laws() -> Vec<SizeLaw> {
        let law = |family, slope, negative| SizeLaw {
            family,
            unit: 2.0,
            location: 0.7,
            slope,
            shape: -0.4,
            negative,
            similarities: (-6.0, 1.5),
            estimated_slope: None,
            slope_gain: None,
            distance: 0.0,
        };
        let signs = Some(Signs {
            log_odds: 0.3,
            slope: 0.2,
        });
        vec![
            law(Family::RoundedLogNormal, 0.0, None),
            law(Family::RoundedLogNormal, 0.4, None),
            law(Family::NegativeBinomial, 0.25, None),
            law(Family::Gamma, -0.3, None),
            law(Family::LogNormal, 0.0, signs),
            law(Family::Normal, 0.2, None),
        ]
    }

    #[test]
    fn sizes_are_those_of_the_law_bit_by_bit_and_a_table_is_close() {
        for law in laws() {
            let sizes = MeanSize::new(law);
            let table = sizes.table();
            for step in -200..200 {
                let similarity = 0.0731 * f64::from(step);
                let expected = law.mean(similarity);
                assert_eq!(sizes.at(similarity), expected, "{law:?} {similarity}");
                let apart = (table.at(similarity) - expected).abs();
                assert!(apart < 1e-6 * expected.abs().max(1.0), "{law:?} {apart}");
            }
            for far in [f64::NEG_INFINITY, f64::INFINITY, -6.0, 1.5] {
                assert_eq!(sizes.at(far), law.mean(far), "{far}");
                assert!((table.at(far) - law.mean(far)).abs() < 1e-9, "{far}");
            }
        }
    }
}

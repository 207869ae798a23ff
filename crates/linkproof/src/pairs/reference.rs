//! The pair engine in plain double-precision loops: what the others are
//! checked against.

use super::{AllPairs, Embedded, PairEngine, Part, Sums};
use crate::real::Real;
use crate::score::{Kernel, Score};

/// Plain loops over all pairs, one after another.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reference;

impl<T: Real> PairEngine<T> for Reference {
    fn all_pairs(
        &self,
        embedded: &Embedded<'_, T>,
        pairs: &AllPairs<'_>,
        score: &Score,
        _kernel: &Kernel<T>,
        mut gradient: Option<&mut [T]>,
    ) -> Sums {
        let mut sums = Sums::zero(pairs.scale.n_views());
        let rows: Vec<usize> = pairs.rows.iter().cloned().flatten().collect();
        for (place, &i) in rows.iter().enumerate() {
            for &j in &rows[place + 1..] {
                let (d, e) = (embedded.view_of(i), embedded.view_of(j));
                let scale = pairs.scale.get(d, e);
                let part = pairs
                    .split
                    .map(|(split, part)| (split.part_of(pairs.nodes[i], pairs.nodes[j]), part));
                let kept = part.is_none_or(|(here, wanted)| here == wanted);
                let watched = pairs.watched && part.is_some_and(|(here, _)| here == Part::HeldOut);
                if scale == 0.0 || !(kept || watched) {
                    continue;
                }
                let product: f64 = embedded
                    .row(i)
                    .iter()
                    .zip(embedded.row(j))
                    .map(|(a, b)| a.to_f64() * b.to_f64())
                    .sum();
                let term = score.unlinked(product - embedded.gamma.get(d, e));
                if watched {
                    sums.watched.0 += scale * term.value;
                    sums.watched.1 += scale;
                }
                if !kept {
                    continue;
                }
                sums.add_term((d, e), scale, term);
                if let Some(gradient) = gradient.as_deref_mut() {
                    for k in 0..embedded.dim {
                        let slope = scale * term.slope;
                        gradient[i * embedded.dim + k] +=
                            T::of(slope * embedded.row(j)[k].to_f64());
                        gradient[j * embedded.dim + k] +=
                            T::of(slope * embedded.row(i)[k].to_f64());
                    }
                }
            }
        }
        sums
    }
}

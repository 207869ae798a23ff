//! What is expected of nodes in all: the sums that shares are of.

use rayon::prelude::*;

use super::Fitted;
use super::mean_size::SizeTable;
use crate::engine::pairs::mirrored;
use linkproof_numeric::math;
use linkproof_numeric::real::{Packed, View};

/// Nodes that expected weights of a neighbour are added up over, at most: more change
/// little (docs/decisions/neighbors.md).
const MOST_ADDED: usize = 2_000;
/// Of very many nodes fewer, but so many at least.
const LEAST_ADDED: usize = 100;
/// Pairs that are looked at for that, if these bounds allow.
const PAIRS: usize = 30_000_000;
/// Rows that one task multiplies with them.
const ROWS: usize = 64;

/// What pairs are compared by, as a function of their similarity.
struct Strength {
    /// The factor of intensities.
    k: f64,
    /// The sizes of links, where the strength has a part in them.
    sizes: Option<SizeTable>,
}

impl Strength {
    fn at(&self, similarity: f64) -> f64 {
        let nu = self.k * math::exp(similarity);
        match &self.sizes {
            Some(sizes) => -math::exp_m1(-nu) * sizes.at(similarity),
            None => nu,
        }
    }
}

impl Fitted {
    /// The same as [`Expected::strength`](super::Expected::strength), for very many pairs.
    fn strength(&self) -> Strength {
        let sizes = self.mean_size.as_ref().filter(|_| !self.is_signed());
        Strength {
            k: self.report().k,
            sizes: sizes.map(|sizes| sizes.table()),
        }
    }

    /// What is expected of each of some rows in all, with the nodes of a view; of many
    /// nodes a part that stands at equal distances is added up.
    pub(super) fn in_all(&self, view: usize, rows: &[usize]) -> Vec<f64> {
        let of_view = |row: &usize| self.node_views()[*row] as usize == view;
        let others: Vec<usize> = (0..self.n_nodes()).filter(of_view).collect();
        let most = (PAIRS / rows.len().max(1)).clamp(LEAST_ADDED, MOST_ADDED);
        let count = others.len().min(most);
        if count == 0 {
            return vec![0.0; rows.len()];
        }
        let some = (0..count).map(|place| others[place * others.len() / count]);
        let some: Vec<usize> = some.collect();
        let dim = self.dim();
        let wide = |rows: &[usize]| -> Vec<f64> {
            let rows = rows.iter().flat_map(|&row| self.row(row));
            rows.map(|&x| f64::from(x)).collect()
        };
        let right = wide(&some);
        let right = mirrored(&right, dim, self.negative());
        let mut memory = vec![0.0; Packed::<f64>::size(dim, count)];
        let packed = Packed::new_parallel(&mut memory, View::new(&right, count, dim).t());
        let strength = self.strength();
        let of_block = |rows: &[usize]| -> Vec<f64> {
            let left = wide(rows);
            let left = View::new(&left, rows.len(), dim);
            let mut products = vec![0.0; rows.len() * count];
            packed.multiply(&mut products, left, 0..dim, false);
            let of_row = |(&row, products): (&usize, &[f64])| -> f64 {
                let point = self.point(row);
                let beside = f64::from(point.offset) - self.gamma().get(view, point.view);
                let others = some.iter().zip(products);
                let others = others.filter(|(other, _)| !self.is_itself(row, **other));
                let added = others.map(|(&other, product)| {
                    let offset = self.offsets().map_or(0.0, |it| f64::from(it[other]));
                    strength.at(product + offset + beside)
                });
                added.sum()
            };
            let products = products.chunks_exact(count);
            rows.iter().zip(products).map(of_row).collect()
        };
        let blocks: Vec<Vec<f64>> = rows.par_chunks(ROWS).map(of_block).collect();
        blocks.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::Dataset;
    use crate::data::graph::{Ends, Graph, Link, LinkRules};
    use crate::data::ids::Ids;
    use crate::model::fit;
    use crate::params::{Params, Similarity};
    use crate::size::{Family, SizeLaw};

    /// A ring with chords; the more nodes, the more blocks.
    fn model(n: u32, directed: bool, similarity: Similarity) -> Fitted {
        let chord = |i: u32| (i, (i + 2 + i % 5) % n, 1.0);
        let links: Vec<(u32, u32, f64)> = (0..n)
            .flat_map(|i| [(i, (i + 1) % n, 2.0), chord(i)])
            .collect();
        let links = links.into_iter();
        let links = links.map(|(src, dst, weight)| Link { src, dst, weight });
        let mut rules = LinkRules::default();
        if directed {
            rules.ends = Ends::Directed;
        }
        let graph = Graph::new(Ids::Rows(n as usize), links.collect(), rules);
        let params = Params {
            dim: 5,
            ridge: Some(0.1),
            offsets: true,
            similarity,
            steps: Some(20),
            ..Params::default()
        };
        let data = Dataset::from_links(graph.unwrap()).unwrap();
        fit(&params.check().unwrap(), &data).unwrap()
    }

    /// Plain loops.
    fn is_the_sum_of_all(model: &Fitted, tolerance: f64) {
        let view = 0;
        let rows: Vec<usize> = (0..model.n_nodes())
            .filter(|&row| model.takes_part(view, model.node_views()[row] as usize))
            .collect();
        let found = model.in_all(view, &rows);
        assert_eq!(found.len(), rows.len());
        for (&row, found) in rows.iter().zip(found) {
            let mut expected = 0.0;
            for other in 0..model.n_nodes() {
                let of_view = model.node_views()[other] as usize == view;
                if of_view && !model.is_itself(row, other) {
                    expected += model.pair(other, row).strength;
                }
            }
            let apart = (found / expected - 1.0).abs();
            assert!(apart < tolerance, "{row}: {found} for {expected}");
        }
    }

    #[test]
    fn sums_are_those_of_plain_loops() {
        for n in [13, 64, 131] {
            for directed in [false, true] {
                is_the_sum_of_all(&model(n, directed, Similarity::Inner), 1e-12);
            }
        }
        is_the_sum_of_all(&model(90, false, Similarity::Signed), 1e-12);
    }

    #[test]
    fn laws_of_sizes_have_their_part() {
        let law = |family, slope| SizeLaw {
            family,
            unit: 1.0,
            location: 0.4,
            slope,
            shape: -0.5,
            negative: None,
            similarities: (-5.0, 0.5),
            estimated_slope: None,
            slope_gain: None,
            distance: 0.0,
        };
        for (family, slope, tolerance) in [
            (Family::RoundedLogNormal, 0.0, 1e-12),
            (Family::RoundedLogNormal, 0.5, 1e-6),
            (Family::Normal, 0.5, 1e-12),
        ] {
            let mut model = model(70, false, Similarity::Inner);
            model.tell_sizes(1.5, Some(law(family, slope)));
            is_the_sum_of_all(&model, tolerance);
        }
    }
}

//! Digests of data: two that differ tell that the data do. Not for secrets, and the
//! same on every machine.

use std::fmt;

use crate::data::features::{Matrix, Values};
use crate::data::graph::Graph;

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// A digest of what was put into it, in its order.
///
/// ```
/// use linkproof::data::digest::Digest;
///
/// let of = |numbers: &[u64]| {
///     let mut digest = Digest::default();
///     numbers.iter().for_each(|&number| digest.number(number));
///     digest.to_string()
/// };
/// assert_eq!(of(&[1, 2]), of(&[1, 2]));
/// assert_ne!(of(&[1, 2]), of(&[2, 1]));
/// ```
#[derive(Debug, Clone)]
pub struct Digest {
    lanes: [u64; 2],
    count: u64,
}

impl Default for Digest {
    fn default() -> Self {
        Digest {
            lanes: [FIRST, SECOND],
            count: 0,
        }
    }
}

impl Digest {
    /// Puts a number in.
    #[inline]
    pub fn number(&mut self, number: u64) {
        let [a, b] = self.lanes;
        let a = (a ^ number).wrapping_mul(FIRST);
        let b = (b.rotate_left(29) ^ number).wrapping_mul(SECOND);
        self.lanes = [a ^ (a >> 32), b ^ (b >> 29)];
        self.count = self.count.wrapping_add(1);
    }

    /// Puts numbers in double precision in, bit by bit.
    pub fn reals(&mut self, numbers: &[f64]) {
        self.number(numbers.len() as u64);
        numbers.iter().for_each(|x| self.number(x.to_bits()));
    }

    /// Puts bytes in.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
    }

    /// Puts in what a value is in words.
    pub fn words(&mut self, what: &impl fmt::Debug) {
        struct Into<'d>(&'d mut Digest);
        impl fmt::Write for Into<'_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                text.bytes().for_each(|byte| self.0.number(byte.into()));
                Ok(())
            }
        }
        // Nothing here can fail.
        let _ = fmt::write(&mut Into(self), format_args!("{what:?}"));
        self.number(u64::MAX);
    }

    /// Puts the links of a graph in, by rows.
    pub fn links(&mut self, graph: &Graph) {
        self.number(graph.n_nodes() as u64);
        self.number(graph.n_links() as u64);
        for link in graph.links() {
            self.number(u64::from(link.src) << 32 | u64::from(link.dst));
            self.number(link.weight.to_bits());
        }
    }

    /// Puts a matrix in.
    pub fn matrix(&mut self, matrix: &Matrix) {
        let values = match matrix {
            Matrix::Dense(dense) => {
                self.number(dense.n_columns() as u64);
                dense.values()
            }
            Matrix::Sparse(sparse) => {
                self.number(sparse.n_columns() as u64);
                let offsets = sparse.offsets();
                offsets
                    .iter()
                    .for_each(|&offset| self.number(offset as u64));
                let columns = sparse.columns().iter();
                columns.for_each(|&column| self.number(column.into()));
                sparse.values()
            }
        };
        self.number(values.len() as u64);
        match values {
            Values::F32(values) => values.iter().for_each(|x| self.number(x.to_bits().into())),
            Values::F64(values) => values.iter().for_each(|x| self.number(x.to_bits())),
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = self.clone();
        last.number(self.count);
        last.number(FIRST);
        let [a, b] = last.lanes;
        write!(f, "{:016x}{:016x}", a ^ b.rotate_left(17), b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_shows() {
        let graph = |weight: f64| Graph::from_rows(3, &[(0, 1, 1.0), (1, 2, weight)]).unwrap();
        let of = |put: &dyn Fn(&mut Digest)| {
            let mut digest = Digest::default();
            put(&mut digest);
            digest.to_string()
        };
        let matrix = |x: f64| Matrix::dense(1, 2, vec![x, 2.0]).unwrap();
        let sparse =
            |column: u32| Matrix::sparse(2, vec![0usize, 1], vec![column], vec![1.0]).unwrap();
        let mut all = vec![
            of(&|_| {}),
            of(&|digest| digest.bytes(b"")),
            of(&|digest| digest.bytes(b"\0")),
            of(&|digest| digest.bytes(b"\0\0")),
            of(&|digest| digest.reals(&[0.0])),
            of(&|digest| digest.reals(&[-0.0])),
            of(&|digest| digest.words(&("a", 1.5))),
            of(&|digest| digest.words(&("a", 1.25))),
            of(&|digest| digest.links(&graph(1.0))),
            of(&|digest| digest.links(&graph(1.0 + f64::EPSILON))),
            of(&|digest| digest.matrix(&matrix(1.0))),
            of(&|digest| digest.matrix(&matrix(1.5))),
            of(&|digest| digest.matrix(&sparse(0))),
            of(&|digest| digest.matrix(&sparse(1))),
        ];
        assert!(all.iter().all(|text| text.len() == 32));
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}

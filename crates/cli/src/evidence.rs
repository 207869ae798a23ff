//! Columns of the links' file as evidence for the judge.

use std::path::Path;

use linkproof::data::ids::Side;
use linkproof::io;
use linkproof::judge::EvidenceColumn;
use linkproof::{Dataset, Error};

/// Reads columns in the order of the data's links. A pair that is listed more than once has
/// the mean of its numbers, and no number is no evidence.
pub fn read(path: &Path, names: &[String], data: &Dataset) -> Result<Vec<EvidenceColumn>, Error> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut inside = vec![0u32; data.n_nodes()];
    for row in 0..data.n_nodes() {
        inside[data.user_row(row)] = row as u32;
    }
    let (ids, graph) = (data.ids(), data.graph());
    let place = |src: &str, dst: &str| {
        let ends = [(Side::Source, src), (Side::Target, dst)];
        let [src, dst] = ends.map(|(side, id)| ids.row_on(side, id));
        let [src, dst] = [src?, dst?].map(|row| inside[row as usize]);
        graph.place(src, dst)
    };
    let mut sums = vec![vec![(0.0, 0usize); graph.n_links()]; names.len()];
    io::read_evidence(path, names, |src, dst, values| {
        let Some(place) = place(src, dst) else {
            // A self-link, or a weight of zero.
            return;
        };
        for (sums, value) in sums.iter_mut().zip(values).filter(|(_, x)| !x.is_nan()) {
            sums[place].0 += value;
            sums[place].1 += 1;
        }
    })?;
    let mean = |&(sum, count): &(f64, usize)| match count {
        0 => f64::NAN,
        count => sum / count as f64,
    };
    let columns = names.iter().zip(&sums).map(|(name, sums)| EvidenceColumn {
        name: name.clone(),
        values: sums.iter().map(mean).collect(),
    });
    Ok(columns.collect())
}

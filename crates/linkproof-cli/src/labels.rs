//! Labels of nodes that a fit keeps for reports.

use std::path::Path;

use linkproof::error::quote;
use linkproof::io::{self, Field, Labels};
use linkproof::{Dataset, Error, Fitted};

/// Labels of nodes of the graph.
pub struct KnownLabels {
    /// As they were read.
    pub labels: Labels,
    codes: Vec<Option<u32>>,
    /// How many are of nodes that the graph does not have.
    pub n_unknown: usize,
}

impl KnownLabels {
    /// Reads a file, which must know some of the nodes.
    pub fn read(path: &Path, data: &Dataset) -> Result<KnownLabels, Error> {
        let labels = io::read_labels(path)?;
        let names = labels.nodes();
        let is_known = |row: &usize| data.ids().row(names.name(*row)).is_some();
        let n_known = (0..names.len()).filter(is_known).count();
        if n_known == 0 {
            let found = format!("labels of nodes such as {} only", quote(names.name(0)));
            return Err(Error::input(path, None, found, "ids of nodes of the graph"));
        }
        Ok(KnownLabels {
            codes: labels.of(data.ids()),
            n_unknown: names.len() - n_known,
            labels,
        })
    }

    /// Writes those of nodes of the graph.
    pub fn write(&self, path: &Path, fitted: &Fitted) -> Result<(), Error> {
        io::write_table(path, &["node", "label"], |rows| {
            for (row, code) in self.codes.iter().enumerate() {
                if let Some(code) = code {
                    let label = self.labels.classes().name(*code as usize);
                    let node = fitted.ids().name(row);
                    rows.row(&[Field::Text(&node), Field::Text(label)])?;
                }
            }
            Ok(())
        })
    }
}

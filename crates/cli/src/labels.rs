//! Labels of nodes that a fit keeps for reports.

use std::path::Path;

use linkproof::Error;
use linkproof::data::ids::Ids;
use linkproof::error::quote;
use linkproof::io::{Sources, classes};
use linkproof::model::Classes;

/// Classes of nodes, by labels.
pub struct KnownLabels {
    /// Of the nodes that there are.
    pub classes: Classes,
    /// How many labels are of others.
    pub n_unknown: usize,
}

impl KnownLabels {
    /// Reads a file, which must know some of the nodes of `whose`.
    pub fn read(
        sources: &Sources,
        path: &Path,
        ids: &Ids,
        whose: &str,
    ) -> Result<KnownLabels, Error> {
        let labels = sources.read_labels(path)?;
        let names = labels.nodes();
        let is_known = |row: &usize| ids.row(names.name(*row)).is_some();
        let n_known = (0..names.len()).filter(is_known).count();
        let classes = classes(&labels, ids);
        if n_known == 0 {
            let found = format!("labels of nodes such as {} only", quote(names.name(0)));
            let expected = format!("ids of nodes of the {whose}");
            return Err(Error::input(path, None, found, expected));
        }
        Ok(KnownLabels {
            classes,
            n_unknown: names.len() - n_known,
        })
    }
}

//! The tables of a model folder that people and other programs read.

use super::files::{BELIEFS, LABELS, OFFSETS};
use crate::{Field, OutputFolder, write_table};
use linkproof_method::Fitted;
use linkproof_method::error::Result;

/// The offset of each node, `node,offset` (of a directed graph `node,out,in`), for people
/// and other programs: a model is loaded without.
pub(super) fn write_offsets(model: &Fitted, folder: &OutputFolder) -> Result<()> {
    let Some(offsets) = model.offsets() else {
        return Ok(());
    };
    let columns: &[&str] = match model.is_directed() {
        true => &["node", "out", "in"],
        false => &["node", "offset"],
    };
    let (offsets, width) = model.by_node(offsets, 1);
    write_table(folder.file(OFFSETS), columns, |rows| {
        for (row, offsets) in offsets.chunks_exact(width).enumerate() {
            let name = model.node_ids().name(row);
            let mut fields = vec![Field::Text(&name)];
            fields.extend(offsets.iter().map(|&offset| Field::Real(f64::from(offset))));
            rows.row(&fields)?;
        }
        Ok(())
    })
}

/// How far each link is believed, `src,dst,weight,belief` and names where there are any,
/// for people and other programs: a model is loaded without.
pub(super) fn write_beliefs(model: &Fitted, folder: &OutputFolder) -> Result<()> {
    let Some(believed) = model.believed() else {
        return Ok(());
    };
    let mut columns = vec!["src", "dst", "weight", "belief"];
    columns.extend(
        model
            .has_names()
            .then_some(["src_name", "dst_name"])
            .into_iter()
            .flatten(),
    );
    write_table(folder.file(BELIEFS), &columns, |rows| {
        for (link, &belief) in model.links().links().zip(believed.beliefs()) {
            let [src, dst] = [link.src, link.dst].map(|row| model.ids().name(row as usize));
            let mut row = vec![
                Field::Text(&src),
                Field::Text(&dst),
                Field::Real(link.weight),
                Field::Real(belief),
            ];
            row.extend(names(model, [link.src, link.dst]));
            rows.row(&row)?;
        }
        Ok(())
    })
}

/// What the ends of a link are called, as fields; none in a model without names.
fn names(model: &Fitted, ends: [u32; 2]) -> impl Iterator<Item = Field<'_>> {
    let title = |row: u32| Field::Text(model.title(row as usize).unwrap_or(""));
    let ends = model.has_names().then_some(ends);
    ends.into_iter().flatten().map(title)
}

/// The classes of nodes, `node,label[,label_name]`.
pub(super) fn write_labels(model: &Fitted, folder: &OutputFolder) -> Result<()> {
    let Some(classes) = model.classes() else {
        return Ok(());
    };
    let titled = !classes.titles.is_empty();
    let columns = &["node", "label", "label_name"][..if titled { 3 } else { 2 }];
    write_table(folder.file(LABELS), columns, |rows| {
        let n = model.node_ids().len();
        for (row, code) in classes.codes.iter().take(n).enumerate() {
            if let Some(code) = code {
                let (name, code) = (model.node_ids().name(row), *code as usize);
                let mut fields = vec![Field::Text(&name), Field::Text(&classes.names[code])];
                fields.extend(classes.titles.get(code).map(|title| Field::Text(title)));
                rows.row(&fields)?;
            }
        }
        Ok(())
    })
}

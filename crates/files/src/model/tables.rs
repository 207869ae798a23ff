//! The tables of a model folder that people and other programs read.

use super::files::{BELIEFS, LABELS, OFFSETS, SUSPECTS};
use crate::{Field, JudgedTable, OutputFolder, write_table};
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

/// The judgment of the links for people and other programs: a model is loaded without.
/// Models of earlier versions have beliefs alone.
pub(super) fn write_judged(model: &Fitted, folder: &OutputFolder) -> Result<()> {
    let Some(believed) = model.believed() else {
        return Ok(());
    };
    if let Some(judgment) = believed.judgment(model.links()) {
        let table = JudgedTable {
            judgment: &judgment,
            ids: model.ids(),
            attributes: model.attributes(),
        };
        table.write_suspects(folder.file(SUSPECTS))?;
        return table.write_beliefs(folder.file(BELIEFS));
    }
    let columns = ["src", "dst", "weight", "belief"];
    write_table(folder.file(BELIEFS), &columns, |rows| {
        for (link, &belief) in model.links().links().zip(believed.beliefs()) {
            let [src, dst] = [link.src, link.dst].map(|row| model.ids().name(row as usize));
            let ends = [Field::Text(&src), Field::Text(&dst)];
            let numbers = [Field::Real(link.weight), Field::Real(belief)];
            rows.row(&[ends, numbers].concat())?;
        }
        Ok(())
    })
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

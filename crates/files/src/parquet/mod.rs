//! Links, data vectors and embeddings as Parquet. Columns are read and written as
//! they stand: the Arrow reader would build eight more crates for it.

mod claims;
mod pages;
mod table;
mod write;

use std::path::Path;

use self::table::{Kind, Table, kind};
pub(super) use self::write::{write_embeddings, write_links};
use super::caught::caught;
use super::evidence;
use super::features::repeated_id;
use super::intern::Interner;
use super::link_text::{LinkColumns, Listed, Role, no_links, role};
use super::source::Source;
use linkproof_method::data::features::{Features, Matrix};
use linkproof_method::data::graph::{Link, SelfLinks};
use linkproof_method::data::ids::{Ids, Names};
use linkproof_method::error::{Error, Result, quote};

/// Numbers held at a time while reading.
const PIECE: usize = 1 << 22;

/// Links from columns that are named so, or else from the first two or three.
pub(super) fn read_links(
    source: Source,
    self_links: SelfLinks,
    evidence: &[String],
) -> Result<Listed> {
    whole(source, |source| links(source, self_links, evidence))
}

/// Data vectors: ids in the first column, numbers in the others; and the names of all.
pub(super) fn read_features(source: Source) -> Result<(Features, Option<Vec<String>>)> {
    whole(source, features)
}

/// Reads a file. The reader of Parquet panics on some that are damaged.
fn whole<T>(source: Source, read: impl FnOnce(Source) -> Result<T>) -> Result<T> {
    let path = source.path().to_owned();
    caught(|| read(source)).unwrap_or_else(|said| Err(damaged(&path)(said)))
}

fn links(source: Source, self_links: SelfLinks, evidence: &[String]) -> Result<Listed> {
    let table = Table::open(source)?;
    let path = &table.path;
    let names = table.names();
    let layout = layout(path, &names, evidence)?;
    let ends = [Some(layout.src), Some(layout.dst), layout.weight];
    let wanted = ends.into_iter().flatten();
    let about = evidence::places(path, &names, layout, evidence)?;
    let wanted: Vec<usize> = wanted.chain(about).collect();
    let mut ids = Interner::default();
    let mut listed = Listed::new(Ids::Rows(0), Vec::new());
    table.read(&wanted, 1 << 16, |n, mut columns| {
        let (src, dst) = (columns.next_ids()?, columns.next_ids()?);
        let weights = match layout.weight {
            None => vec![1.0; n],
            Some(_) => columns.next_numbers()?,
        };
        for (at, &weight) in weights.iter().enumerate() {
            let src = ids.insert(&src.name(at))?;
            let dst = ids.insert(&dst.name(at))?;
            let row = listed.links.len() + 1;
            if !weight.is_finite() {
                let found = format!("weight {weight} in row {row}");
                let expected = "a finite number";
                return Err(Error::input(path, None, found, expected));
            }
            if src == dst && self_links == SelfLinks::Error {
                let found = format!(
                    "a link from {} to itself in row {row}",
                    quote(ids.name(src))
                );
                let error = Error::input(path, None, found, "two different nodes");
                return Err(error.or("or set {self-links=drop}"));
            }
            listed.links.push(Link { src, dst, weight });
        }
        let about = evidence.iter().map(|_| columns.next_numbers_or_nan());
        let about = about.collect::<Result<Vec<_>>>()?;
        for at in 0..n {
            listed
                .evidence
                .extend(about.iter().map(|column| column[at]));
        }
        table.check_texts(ids.bytes())?;
        ids.make_room()
    })?;
    if listed.links.is_empty() {
        return Err(no_links(path, "a table with no rows: no links"));
    }
    listed.ids = ids.into_ids();
    Ok(listed)
}

fn layout(path: &Path, names: &[String], evidence: &[String]) -> Result<LinkColumns> {
    let place = |wanted| names.iter().position(|name| role(name) == Some(wanted));
    match (place(Role::Src), place(Role::Dst), names.len()) {
        (Some(src), Some(dst), _) => Ok(LinkColumns {
            src,
            dst,
            weight: place(Role::Weight),
        }),
        (None, None, n @ (2 | 3)) => {
            let layout = LinkColumns::in_order(n);
            let is_weight = |&at: &usize| !evidence::is_apart(&names[at], evidence);
            Ok(LinkColumns {
                weight: layout.weight.filter(is_weight),
                ..layout
            })
        }
        _ => Err(Error::input(
            path,
            None,
            format!("columns {}", names.join(", ")),
            "columns src, dst and perhaps weight",
        )),
    }
}

fn features(source: Source) -> Result<(Features, Option<Vec<String>>)> {
    let table = Table::open(source)?;
    let path = &table.path;
    let k = table.fields.len().saturating_sub(1);
    if k == 0 {
        let found = super::columns(table.fields.len());
        return Err(Error::input(
            path,
            None,
            found,
            "an id and at least one number",
        ));
    }
    let single = table.fields[1..]
        .iter()
        .all(|field| matches!(kind(field), Some(Kind::Single | Kind::Half)));
    let mut ids = Names::default();
    let mut bytes = 0;
    let mut values = Vec::new();
    let mut narrow: Vec<f32> = Vec::new();
    let wanted: Vec<usize> = (0..=k).collect();
    let size = (PIECE / k).clamp(64, 1 << 16);
    table.read(&wanted, size, |n, mut columns| {
        let new = columns.next_ids()?;
        let numbers = (0..k)
            .map(|_| columns.next_numbers())
            .collect::<Result<Vec<_>>>()?;
        for row in 0..n {
            match single {
                true => narrow.extend(numbers.iter().map(|column| column[row] as f32)),
                false => values.extend(numbers.iter().map(|column| column[row])),
            }
        }
        for at in 0..n {
            let id = new.name(at);
            bytes += id.len() as u64;
            let n_before = ids.len();
            ids.insert(&id);
            if ids.len() == n_before {
                return Err(repeated_id(path, None, &id));
            }
        }
        table.check_texts(bytes)
    })?;
    let matrix = match single {
        true => Matrix::dense(ids.len(), k, narrow),
        false => Matrix::dense(ids.len(), k, values),
    };
    let matrix = matrix.map_err(|error| error.in_file(path, None))?;
    let features = Features::with_ids(Ids::from(ids), matrix)?;
    Ok((features, Some(table.names())))
}

fn damaged<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> Error + '_ {
    move |error| {
        Error::input(
            path,
            None,
            format!("a Parquet file that is damaged or cut short ({error})"),
            "a whole Parquet file",
        )
    }
}

#[cfg(test)]
mod tests;

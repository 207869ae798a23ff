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
use super::link_text::{LinkColumns, Role, no_links, role};
use linkproof_method::data::features::{Features, Matrix};
use linkproof_method::data::graph::{Link, SelfLinks};
use linkproof_method::data::ids::{Ids, Names};
use linkproof_method::error::{Error, Remedy, Result, quote};

/// Numbers held at a time while reading.
const PIECE: usize = 1 << 22;

/// Links from columns that are named so, or else from the first two or three.
pub(super) fn read_links(
    path: &Path,
    self_links: SelfLinks,
    evidence: &[String],
) -> Result<(Ids, Vec<Link>)> {
    whole(path, || links(path, self_links, evidence))
}

/// Columns of numbers about links, of which each row is handed over.
pub(super) fn read_evidence(
    path: &Path,
    names: &[String],
    mut visit: impl FnMut(&str, &str, &[f64]),
) -> Result<()> {
    whole(path, || {
        let table = Table::open(path)?;
        let headers = table.names();
        let layout = layout(path, &headers, names)?;
        let places = evidence::places(path, &headers, layout, names)?;
        let wanted: Vec<usize> = [layout.src, layout.dst].into_iter().chain(places).collect();
        table.read(&wanted, 1 << 16, |n, mut columns| {
            let (src, dst) = (columns.next_ids()?, columns.next_ids()?);
            let numbers = names
                .iter()
                .map(|_| columns.next_numbers_or_nan())
                .collect::<Result<Vec<_>>>()?;
            for at in 0..n {
                let values: Vec<f64> = numbers.iter().map(|column| column[at]).collect();
                visit(&src.name(at), &dst.name(at), &values);
            }
            Ok(())
        })
    })
}

/// Data vectors: ids in the first column, numbers in the others.
pub(super) fn read_features(path: &Path) -> Result<Features> {
    whole(path, || features(path))
}

/// The names of all columns.
pub(super) fn column_names(path: &Path) -> Result<Vec<String>> {
    whole(path, || Ok(Table::open(path)?.names()))
}

/// Reads a file. The reader of Parquet panics on some that are damaged.
fn whole<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(read).unwrap_or_else(|said| Err(damaged(path)(said)))
}

fn links(path: &Path, self_links: SelfLinks, evidence: &[String]) -> Result<(Ids, Vec<Link>)> {
    let table = Table::open(path)?;
    let layout = layout(path, &table.names(), evidence)?;
    let wanted: Vec<usize> = [Some(layout.src), Some(layout.dst), layout.weight]
        .into_iter()
        .flatten()
        .collect();
    let mut ids = Interner::default();
    let mut links = Vec::new();
    let mut text = String::new();
    table.read(&wanted, 1 << 16, |n, mut columns| {
        let (src, dst) = (columns.next_ids()?, columns.next_ids()?);
        let weights = match layout.weight {
            None => vec![1.0; n],
            Some(_) => columns.next_numbers()?,
        };
        for (at, &weight) in weights.iter().enumerate() {
            let src = src.insert(at, &mut ids, &mut text)?;
            let dst = dst.insert(at, &mut ids, &mut text)?;
            let row = links.len() + 1;
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
                return Err(error.or(Remedy::DropSelfLinks));
            }
            links.push(Link { src, dst, weight });
        }
        ids.make_room()
    })?;
    if links.is_empty() {
        return Err(no_links(path, "a table with no rows: no links"));
    }
    Ok((ids.into_ids(), links))
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

fn features(path: &Path) -> Result<Features> {
    let table = Table::open(path)?;
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
            let n_before = ids.len();
            ids.insert(&id);
            if ids.len() == n_before {
                return Err(repeated_id(path, None, &id));
            }
        }
        Ok(())
    })?;
    let matrix = match single {
        true => Matrix::dense(ids.len(), k, narrow),
        false => Matrix::dense(ids.len(), k, values),
    };
    Features::with_ids(
        Ids::from(ids),
        matrix.map_err(|error| error.in_file(path, None))?,
    )
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

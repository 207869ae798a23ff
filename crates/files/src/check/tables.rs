//! The tables of a judgment that people and other programs read.

use std::io;
use std::path::Path;

use super::check_files::SAMPLE;
use super::{Check, called, title};
use crate::{Field, TableRows, write_table};
use linkproof_method::data::attributes::Attributes;
use linkproof_method::data::ids::Ids;
use linkproof_method::error::Result;
use linkproof_method::judge::{JudgedLink, Judgment, MissingLink};
use linkproof_text::why;

/// So many of the most suspicious links are listed, whether flagged or not.
const LISTED: usize = 1000;

/// A judgment with the ids and names of the nodes, to be written as tables.
#[derive(Debug, Clone, Copy)]
pub struct JudgedTable<'j> {
    /// The judgment, whose ends are rows of `ids`.
    pub judgment: &'j Judgment,
    /// The ids of the nodes.
    pub ids: &'j Ids,
    /// What is known of the nodes; of a directed graph each node stands once.
    pub attributes: Option<&'j Attributes>,
}

impl<'j> JudgedTable<'j> {
    /// The tables of a check.
    pub fn of(check: &'j Check) -> JudgedTable<'j> {
        JudgedTable {
            judgment: &check.judgment,
            ids: &check.ids,
            attributes: Some(&check.attributes),
        }
    }

    /// Why the link at a place ranks where it does, in words.
    pub fn why(&self, place: usize) -> String {
        let name = |row: u32| called(self.ids, self.attributes, row);
        why(&self.judgment.reasons(place), &name)
    }

    /// The belief of a link; none if the judge abstains and nobody has verified the link.
    pub fn belief(&self, link: &JudgedLink) -> Option<f64> {
        let known = !self.judgment.facts.abstained || link.verified.is_some();
        known.then_some(link.belief)
    }

    /// The places of all flagged links and of the most suspicious ones, by rank.
    pub fn suspects(&self) -> Vec<usize> {
        let is_listed = |place: &usize| {
            let link = &self.judgment.links[*place];
            link.suspect || link.rank <= LISTED
        };
        let places = self.judgment.by_rank().into_iter();
        places.filter(is_listed).collect()
    }

    /// Writes [`JudgedTable::suspects`] as
    /// `rank,src,dst,src_name,dst_name,weight,belief,suspect,why`.
    pub fn write_suspects(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_rows(path, &self.suspects(), &[])
    }

    /// Writes all links by rank in the same columns, then further numbers by the places of
    /// links; NaN leaves a field empty.
    pub fn write_all(&self, path: impl AsRef<Path>, more: &[(&str, Vec<f64>)]) -> Result<()> {
        self.write_rows(path, &self.judgment.by_rank(), more)
    }

    fn write_rows(
        &self,
        path: impl AsRef<Path>,
        places: &[usize],
        more: &[(&str, Vec<f64>)],
    ) -> Result<()> {
        let mut columns = vec![
            "rank", "src", "dst", "src_name", "dst_name", "weight", "belief", "suspect", "why",
        ];
        columns.extend(more.iter().map(|(name, _)| *name));
        write_table(path, &columns, |rows| {
            let mut places = places.iter();
            places.try_for_each(|&place| self.row(place, more, rows))
        })
    }

    fn row(
        &self,
        place: usize,
        more: &[(&str, Vec<f64>)],
        rows: &mut TableRows<'_>,
    ) -> io::Result<()> {
        let link = &self.judgment.links[place];
        let ends = [link.src, link.dst];
        let [src, dst] = ends.map(|row| self.ids.name(row as usize));
        let [src_name, dst_name] =
            ends.map(|row| Field::Optional(title(self.ids, self.attributes, row)));
        let why = self.why(place);
        let mut fields = vec![
            Field::Whole(link.rank as u64),
            Field::Text(&src),
            Field::Text(&dst),
            src_name,
            dst_name,
            Field::Real(link.weight),
            self.belief(link).map_or(Field::Optional(None), Field::Real),
            Field::Whole(u64::from(link.suspect)),
            Field::Text(&why),
        ];
        fields.extend(more.iter().map(|(_, numbers)| match numbers[place] {
            none if none.is_nan() => Field::Optional(None),
            number => Field::Real(number),
        }));
        rows.row(&fields)
    }

    /// Writes `src,dst,weight,belief` of all links in their order, and names if nodes have
    /// any.
    pub fn write_beliefs(&self, path: impl AsRef<Path>) -> Result<()> {
        let named = self.attributes.filter(|it| it.has_names());
        let names = named.map(|_| ["src_name", "dst_name"]);
        let columns = ["src", "dst", "weight", "belief"].into_iter();
        let columns: Vec<&str> = columns.chain(names.into_iter().flatten()).collect();
        write_table(path, &columns, |rows| {
            for link in &self.judgment.links {
                let ends = [link.src, link.dst];
                let [src, dst] = ends.map(|row| self.ids.name(row as usize));
                let mut fields = vec![
                    Field::Text(&src),
                    Field::Text(&dst),
                    Field::Real(link.weight),
                    self.belief(link).map_or(Field::Optional(None), Field::Real),
                ];
                let title = |row| Field::Optional(title(self.ids, named, row));
                fields.extend(named.map(|_| ends.map(title)).into_iter().flatten());
                rows.row(&fields)?;
            }
            Ok(())
        })
    }
}

/// Writes the links at some places for a person to verify, to `sample.csv` in a folder:
/// `src,dst,src_name,dst_name,real`, the last empty.
pub fn write_sample(folder: &Path, check: &Check, places: &[usize]) -> Result<()> {
    let columns = ["src", "dst", "src_name", "dst_name", "real"];
    write_table(folder.join(SAMPLE), &columns, |rows| {
        for &place in places {
            let link = &check.judgment.links[place];
            let ends = [link.src, link.dst];
            let [src, dst] = ends.map(|row| check.ids.name(row as usize));
            let [src_name, dst_name] = ends.map(|row| Field::Optional(check.title(row)));
            let ends = [Field::Text(&src), Field::Text(&dst)];
            rows.row(&[ends[0], ends[1], src_name, dst_name, Field::Optional(None)])?;
        }
        Ok(())
    })
}

/// Writes unlinked pairs as `src,dst,src_name,dst_name,agreement`.
pub fn write_missing(path: impl AsRef<Path>, check: &Check, pairs: &[MissingLink]) -> Result<()> {
    let columns = ["src", "dst", "src_name", "dst_name", "agreement"];
    write_table(path, &columns, |rows| {
        for pair in pairs {
            let ends = [pair.src, pair.dst];
            let [src, dst] = ends.map(|row| check.ids.name(row as usize));
            let [src_name, dst_name] = ends.map(|row| Field::Optional(check.title(row)));
            let ends = [Field::Text(&src), Field::Text(&dst)];
            let agreement = Field::Real(pair.agreement);
            rows.row(&[ends[0], ends[1], src_name, dst_name, agreement])?;
        }
        Ok(())
    })
}

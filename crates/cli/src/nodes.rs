//! Tables of nodes: one, or one for each view.

use std::path::{Path, PathBuf};

use linkproof::data::attributes::Attributes;
use linkproof::data::ids::{Ids, Sides};
use linkproof::error::quote;
use linkproof::io::{self, NodeTable};
use linkproof::{Error, Features, Fitted};

use crate::args::FeatureFile;
use crate::exit::Usage;

/// Refuses files that do not go together: one without a view, or one for each view.
pub fn check_views(flag: &str, files: &[FeatureFile]) -> Result<(), Usage> {
    let (named, plain): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.view.is_some());
    if plain.len() > 1 || (!plain.is_empty() && !named.is_empty()) {
        return Err(Usage::new(format!(
            "{flag}: several files need the names of their views: {flag} NAME=FILE"
        )));
    }
    for (place, file) in named.iter().enumerate() {
        if named[..place].iter().any(|other| other.view == file.view) {
            let name = quote(file.view.as_deref().unwrap_or_default());
            return Err(Usage::new(format!(
                "{flag}: view {name} is given more than once"
            )));
        }
    }
    Ok(())
}

/// Node tables and the files they are from.
#[derive(Debug)]
pub struct Nodes(Vec<Listed>);

#[derive(Debug)]
struct Listed {
    view: Option<String>,
    path: PathBuf,
    table: NodeTable,
}

impl Nodes {
    /// Reads the tables, if there are any.
    pub fn read(files: &[FeatureFile]) -> anyhow::Result<Option<Nodes>> {
        check_views("--nodes", files)?;
        let read = |file: &FeatureFile| {
            Ok(Listed {
                view: file.view.clone(),
                path: file.path.clone(),
                table: io::read_nodes(&file.path)?,
            })
        };
        let tables: Vec<Listed> = files.iter().map(read).collect::<Result<_, Error>>()?;
        Ok((!tables.is_empty()).then_some(Nodes(tables)))
    }

    /// A single table, of all nodes.
    pub fn one(path: &Path, table: NodeTable) -> Nodes {
        Nodes(vec![Listed {
            view: None,
            path: path.to_owned(),
            table,
        }])
    }

    /// The table of a view: its own, or that of all nodes.
    fn of(&self, view: Option<&str>) -> anyhow::Result<&Listed> {
        let own = |listed: &&Listed| listed.view.is_none() || listed.view.as_deref() == view;
        let found = self.0.iter().find(own).or(match (view, self.0.as_slice()) {
            (None, [only]) => Some(only),
            _ => None,
        });
        let name = quote(view.unwrap_or_default());
        Ok(found.ok_or_else(|| {
            Usage::new(format!(
                "--nodes: no file of the view {name}; expected one: --nodes NAME=FILE"
            ))
        })?)
    }

    /// The ids of a view's nodes, or of all.
    pub fn ids(&self, view: Option<&str>) -> anyhow::Result<&Ids> {
        Ok(self.of(view)?.table.ids())
    }

    /// Whether one table is of all nodes.
    pub fn is_of_all(&self) -> bool {
        self.0.iter().any(|listed| listed.view.is_none())
    }

    /// Whether there is a table for a view of its own.
    pub fn names_view(&self, view: &str) -> bool {
        self.0
            .iter()
            .any(|listed| listed.view.as_deref() == Some(view))
    }

    /// The data vectors of a file, for the nodes of the table that belong to
    /// `view` (all of them where nothing tells views apart), in its order.
    pub fn features(&self, path: &Path, view: Option<&str>) -> anyhow::Result<Features> {
        Ok(self.of(view)?.features(path, view)?)
    }

    /// What the tables say of nodes on two sides, those of sources first.
    pub fn attributes_on(&self, nodes: &Sides) -> Attributes {
        let n = nodes.source.len() + nodes.target.len();
        let of_side = |known: Attributes, listed: &Listed| {
            let row = |at: usize| {
                let (side, row) = nodes.place(at);
                let view = listed.view.as_deref();
                let is_here = view.is_none_or(|view| view == side.name());
                let ids = Some(listed.table.ids()).filter(|_| is_here)?;
                ids.row(&nodes.of(side).name(row)).map(|row| row as usize)
            };
            known.joined(n, listed.table.attributes(), row)
        };
        self.0.iter().fold(Attributes::default(), of_side)
    }

    /// What the tables say of nodes, in the order of some ids.
    pub fn attributes_of(&self, ids: &Ids, known: &Attributes) -> Attributes {
        self.0.iter().fold(known.clone(), |known, listed| {
            let row = |row: usize| listed.table.ids().row(&ids.name(row));
            let row = |at: usize| row(at).map(|row| row as usize);
            known.joined(ids.len(), listed.table.attributes(), row)
        })
    }
}

impl Listed {
    fn features(&self, path: &Path, view: Option<&str>) -> Result<Features, Error> {
        let (ids, matrix) = io::read_features(path)?.into_parts();
        let members = self.members(view)?;
        let here = self.path.display();
        let names = self.table.ids().select(&members);
        let rows: Vec<u32> = match (&ids, self.table.rows()) {
            (Ids::Names(_) | Ids::Sides(_), _) => members
                .iter()
                .map(|&node| {
                    let id = self.table.ids().name(node as usize);
                    ids.row(&id).ok_or_else(|| {
                        let found = format!("no row for node {}", quote(&id));
                        let expected = format!("a data vector for each node of {here}");
                        Error::input(path, None, found, expected)
                    })
                })
                .collect::<Result<_, _>>()?,
            (Ids::Rows(_), Some(rows)) => members.iter().map(|&node| rows[node as usize]).collect(),
            (Ids::Rows(n), None) => {
                if *n != members.len() {
                    let expected = format!("as many as {here} has nodes, {}", members.len());
                    return Err(Error::input(path, None, format!("{n} rows"), expected));
                }
                (0..members.len() as u32).collect()
            }
        };
        if let Some(row) = rows.iter().find(|&&row| row as usize >= matrix.n_rows()) {
            let found = format!("{} rows", matrix.n_rows());
            let expected = format!("also a row {row} (counted from 0), which {here} names");
            return Err(Error::input(path, None, found, expected));
        }
        let in_place = rows.len() == matrix.n_rows() && (0..).zip(&rows).all(|(a, &b)| a == b);
        let matrix = if in_place {
            matrix
        } else {
            matrix.select(&rows)
        };
        Features::with_ids(Ids::from(names), matrix)
    }

    fn members(&self, view: Option<&str>) -> Result<Vec<u32>, Error> {
        let all = 0..self.table.ids().len() as u32;
        let (Some(view), Some(views)) = (view, self.table.views()) else {
            return Ok(all.collect());
        };
        let members: Vec<u32> = all.filter(|&node| views[node as usize] == view).collect();
        if members.is_empty() {
            let found = format!("no node of view {}", quote(view));
            return Err(Error::input(&self.path, None, found, "at least one"));
        }
        Ok(members)
    }
}

/// The model with nodes named by another column of its table, if one is asked for.
pub fn named_by(model: Fitted, column: Option<&str>) -> Result<Fitted, Error> {
    let Some(column) = column else {
        return Ok(model);
    };
    let known = model.attributes().cloned().unwrap_or_default();
    model.with_attributes(Some(known.shown_by(column)?))
}

/// A node for people: its name and its id, or its id alone.
pub fn called(model: &Fitted, row: usize) -> String {
    let id = model.ids().name(row);
    match model.title(row) {
        Some(name) => format!("{name} ({id})"),
        None => id.into_owned(),
    }
}

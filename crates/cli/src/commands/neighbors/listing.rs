//! Neighbours as a table for people, as CSV and as JSON.

use std::path::Path;

use linkproof::error::shown;
use linkproof::io::{self, Field};
use linkproof::model::{Nearness, Neighbor, Neighbors};
use linkproof::text::{aligned, counted, figures, wrapped};
use linkproof::{Error, Fitted};
use serde_json::{Value, json};

use super::{NeighborsArgs, Start};
use crate::nodes::called;
use crate::session::Session;

/// Of more nodes the lists of these are printed.
const MOST_PRINTED: usize = 20;

/// What was found.
pub(super) struct Listing<'a> {
    pub model: &'a Fitted,
    pub starts: &'a [Start<'a>],
    pub found: &'a Neighbors,
    pub stable: &'a [Option<Vec<f64>>],
}

/// Writes or prints it.
pub(super) fn finish(
    args: &NeighborsArgs,
    session: &Session,
    listing: &Listing<'_>,
) -> anyhow::Result<()> {
    let n: usize = listing.found.lists.iter().map(Vec::len).sum();
    let mut json = json!({ "nodes": listing.starts.len(), "neighbors": n, "by": listing.found.by });
    let Some(path) = &args.out else {
        json["lists"] = listing.json();
        return session.finish(&json, &listing.table());
    };
    listing.write(path)?;
    let out = path.display().to_string();
    let mut words = format!(
        "{} of {}, by {}, written to {out}",
        counted(n, "neighbor"),
        counted(listing.starts.len(), "node"),
        listing.measure()
    );
    if args.by.is_none() && listing.found.by == Nearness::Cosine {
        words.push_str(&format!("\n  note      {NOT_FITTED}"));
    }
    json["out"] = out.into();
    session.finish(&json, &words)
}

/// Why neighbours are near by cosine though nobody asked.
const NOT_FITTED: &str = "The pair of views took no part in the fit, so no weights are expected of it: \
                          near is who has like embeddings.";

impl Listing<'_> {
    /// What neighbours are near by, in words.
    fn measure(&self) -> &'static str {
        match self.found.by {
            Nearness::Weight => "expected weight",
            Nearness::Share => "share of the neighbor's expected weight",
            Nearness::Cosine => "cosine of the embeddings",
        }
    }

    /// What the figures mean, and what else can be asked.
    fn hint(&self) -> Vec<(&'static str, &'static str)> {
        let [cosine, share, weight] = [
            "how alike embeddings are: 1 is the same direction, 0 nothing in common",
            "of all the weight that is expected to come to the neighbor, the part that comes from \
             this node: 0.02 is 2%; popular nodes are near few",
            "the weight of a link that the model expects",
        ];
        let (own, others) = match self.found.by {
            Nearness::Cosine => (
                Some(("cosine", cosine)),
                "--by weight (the largest expected weight first; popular nodes are near very many), \
                 --by share (the same, but popular nodes are near few)",
            ),
            Nearness::Share => (
                Some(("share", share)),
                "--by cosine (how alike embeddings are), --by weight (the largest expected weight \
                 first; popular nodes are near very many)",
            ),
            Nearness::Weight => (
                None,
                "--by cosine (how alike embeddings are), --by share (popular nodes are near few)",
            ),
        };
        let mut hint: Vec<_> = own.into_iter().collect();
        hint.extend([("expected", weight), ("or", others)]);
        hint
    }

    /// The name of the column of it, where it is not the expected weight.
    fn column(&self) -> Option<&'static str> {
        Some(self.found.by.name()).filter(|_| self.found.by != Nearness::Weight)
    }

    fn lists(&self) -> impl Iterator<Item = (&Start<'_>, &[Neighbor], Option<&Vec<f64>>)> {
        let lists = self.starts.iter().zip(&self.found.lists).zip(self.stable);
        lists.map(|((start, list), stable)| (start, list.as_slice(), stable.as_ref()))
    }

    fn write(&self, path: &Path) -> Result<(), Error> {
        let has_stable = self.stable.iter().any(Option::is_some);
        let mut columns = vec!["node", "neighbor", "rank", "mu"];
        columns.extend(self.column());
        columns.extend(has_stable.then_some("stability"));
        columns.extend(self.model.has_names().then_some("name"));
        io::write_table(path, &columns, |rows| {
            for (start, list, stable) in self.lists() {
                for (place, near) in list.iter().enumerate() {
                    let row = self.row(near, place, stable);
                    let field = |name: &&str| match *name {
                        "node" => Field::Text(&start.id),
                        name => field(&row[name]),
                    };
                    rows.row(&columns.iter().map(field).collect::<Vec<_>>())?;
                }
            }
            Ok(())
        })
    }

    fn json(&self) -> Value {
        let lists = self.lists().map(|(start, list, stable)| {
            let near = list.iter().enumerate();
            let near = near.map(|(place, near)| self.row(near, place, stable));
            json!({ "node": start.id, "neighbors": near.collect::<Vec<_>>() })
        });
        lists.collect::<Vec<_>>().into()
    }

    /// A neighbour with all that is known of it; numbers that are not known are null.
    fn row(&self, near: &Neighbor, place: usize, stable: Option<&Vec<f64>>) -> Value {
        let id = self.model.ids().name(near.row);
        let mut row = json!({ "neighbor": id, "rank": place + 1, "mu": near.mu });
        if let Some(column) = self.column() {
            row[column] = near.by.into();
        }
        if let Some(stable) = stable {
            row["stability"] = stable[place].into();
        }
        if self.model.has_names() {
            row["name"] = json!(self.model.title(near.row));
        }
        row
    }

    /// A table for people.
    fn table(&self) -> String {
        let mut text = String::new();
        for (start, list, stable) in self.lists().take(MOST_PRINTED) {
            let title = match start.query.row {
                Some(row) => called(self.model, row),
                None => start.id.clone().into_owned(),
            };
            text.push_str(&format!(
                "Nearest to {}, by {}\n",
                shown(&title),
                self.measure()
            ));
            for line in aligned(&self.rows(start, list, stable), &["node", "name"]) {
                text.push_str(&format!("  {line}\n"));
            }
        }
        let more = self.starts.len().saturating_sub(MOST_PRINTED);
        if more > 0 {
            text.push_str(&format!(
                "and of {more} more nodes: --out FILE writes all\n"
            ));
        }
        let mut hint = self.hint();
        let mut all = self.found.lists.iter().flatten();
        if all.any(|near| near.mu.is_nan()) {
            hint = vec![hint[0], ("note", NOT_FITTED)];
        }
        for (about, says) in hint {
            text.push_str(&wrapped(&format!("  {about:<9}"), says));
            text.push('\n');
        }
        text
    }

    /// The head of a list and its rows.
    fn rows(
        &self,
        start: &Start<'_>,
        list: &[Neighbor],
        stable: Option<&Vec<f64>>,
    ) -> Vec<Vec<String>> {
        let named = self.model.has_names();
        let linked = start.query.row.is_some();
        let mut head = vec!["rank", "node"];
        head.extend(named.then_some("name"));
        head.extend(self.column());
        head.push("expected");
        head.extend(linked.then_some("link"));
        head.extend(stable.map(|_| "stability"));
        let mut rows = vec![head.into_iter().map(str::to_owned).collect()];
        for (place, near) in list.iter().enumerate() {
            let mut row = vec![
                (place + 1).to_string(),
                shown(&self.model.ids().name(near.row)).into_owned(),
            ];
            let name = self.model.title(near.row).unwrap_or("-");
            row.extend(named.then(|| shown(name).into_owned()));
            row.extend(self.column().map(|_| figures(near.by)));
            row.push(figures(near.mu));
            row.extend(start.query.row.map(|own| {
                let weight = self.model.links().weight(own as u32, near.row as u32);
                weight.map_or_else(|| "-".to_owned(), figures)
            }));
            row.extend(stable.map(|stable| figures(stable[place])));
            rows.push(row);
        }
        rows
    }
}

/// A value as a field of a table; null is empty.
fn field(value: &Value) -> Field<'_> {
    match (value.as_str(), value.as_u64(), value.as_f64()) {
        (Some(text), ..) => Field::Text(text),
        (_, Some(whole), _) => Field::Whole(whole),
        (.., Some(real)) => Field::Real(real),
        _ => Field::Text(""),
    }
}

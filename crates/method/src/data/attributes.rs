//! What a user's table says of nodes beside their ids: kept for those who read results.
//!
//! ```
//! use linkproof::data::attributes::{Attributes, Texts};
//!
//! let names = Texts::from_iter(["Ada Lovelace", ""]);
//! let years = Texts::from_iter(["1815", "1791"]);
//! let table = Attributes::new(vec![("born".into(), years), ("name".into(), names)])?;
//! assert_eq!(table.name(0), Some("Ada Lovelace"));
//! assert_eq!(table.name(1), None);
//! assert_eq!(table.shown_by("born")?.name(1), Some("1791"));
//! # Ok::<(), linkproof::Error>(())
//! ```

use crate::error::{Error, Result, quote};

/// Texts in row order, stored in one piece ([example](self)).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds one at the end.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// The text of a row; empty when out of range.
    pub fn get(&self, row: usize) -> &str {
        let start = match row.checked_sub(1) {
            Some(before) => self.ends.get(before),
            None => Some(&0),
        };
        let span = start.zip(self.ends.get(row));
        span.and_then(|(&start, &end)| self.text.get(start..end))
            .unwrap_or("")
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|row| self.get(row))
    }
}

impl<T: AsRef<str>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Texts {
        let mut all = Texts::default();
        texts.into_iter().for_each(|text| all.push(text.as_ref()));
        all
    }
}

/// The column that names nodes where nobody says otherwise.
const NAME: &str = "name";

/// The column that tells where in a file the data vector of a node stands. One with gaps
/// tells nothing, and could not be read again.
const ROW: &str = "row";

/// Columns of texts, one for each node, as a table of nodes has them ([example](self)).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    columns: Vec<(String, Texts)>,
    /// The place of the column that names nodes.
    shown: Option<usize>,
}

impl Attributes {
    /// Columns by their headers. One that is called `name`, in letters of either size,
    /// names the nodes.
    ///
    /// # Errors
    /// Columns of different lengths.
    pub fn new(columns: Vec<(String, Texts)>) -> Result<Attributes> {
        let lengths = columns.iter().map(|(_, texts)| texts.len());
        if let Some(other) = lengths.clone().zip(lengths.skip(1)).find(|(a, b)| a != b) {
            let found = format!("columns of {} and {} entries", other.0, other.1);
            return Err(Error::data("nodes", found, "an entry for each node"));
        }
        let is_name = |(header, _): &(String, Texts)| header.eq_ignore_ascii_case(NAME);
        let shown = columns.iter().position(is_name);
        Ok(Attributes { columns, shown })
    }

    /// The same, with nodes named by another column.
    ///
    /// # Errors
    /// There is no such column.
    pub fn shown_by(mut self, header: &str) -> Result<Attributes> {
        let place = self.columns.iter().position(|(other, _)| other == header);
        if place.is_none() {
            let headers: Vec<String> = self.headers().map(quote).collect();
            let accepted = match headers.is_empty() {
                true => "left out: the table of nodes has no column beside the ids".to_owned(),
                false => format!(
                    "one of the table's columns beside the ids ({})",
                    headers.join(", ")
                ),
            };
            return Err(Error::argument("name", accepted, quote(header)));
        }
        self.shown = place;
        Ok(self)
    }

    /// The headers, in the order of the columns.
    pub fn headers(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(header, _)| header.as_str())
    }

    /// The columns with their headers.
    pub fn columns(&self) -> &[(String, Texts)] {
        &self.columns
    }

    /// How many nodes there are; 0 where there is no column.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, texts)| texts.len())
    }

    /// Whether there is no column or no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The header of the column that names nodes.
    pub fn name_header(&self) -> Option<&str> {
        self.headers().nth(self.shown?)
    }

    /// Whether nodes have names.
    pub fn has_names(&self) -> bool {
        self.shown.is_some()
    }

    /// What a node is called, where it has a name.
    pub fn name(&self, row: usize) -> Option<&str> {
        let name = self.columns[self.shown?].1.get(row);
        Some(name).filter(|name| !name.is_empty())
    }

    /// The columns of `n` nodes, of which these are the first and `others` tell of some:
    /// `place` is where a row stands there. What both know is as `others` say.
    pub fn joined(
        &self,
        n: usize,
        others: &Attributes,
        place: impl Fn(usize) -> Option<usize>,
    ) -> Attributes {
        let mut headers: Vec<&str> = self.headers().collect();
        for header in others.headers() {
            if !headers.contains(&header) {
                headers.push(header);
            }
        }
        let of = |all: &Attributes, header: &str| {
            let mut columns = all.columns.iter();
            columns.position(|(other, _)| other == header)
        };
        let columns = headers.iter().map(|header| {
            let (own, theirs) = (of(self, header), of(others, header));
            let text = |row: usize| {
                let theirs = theirs.and_then(|at| Some(others.columns[at].1.get(place(row)?)));
                let own = || own.map_or("", |at| self.columns[at].1.get(row));
                theirs.filter(|text| !text.is_empty()).unwrap_or_else(own)
            };
            ((*header).to_owned(), (0..n).map(text).collect())
        });
        let mut columns: Vec<(String, Texts)> = columns.collect();
        columns.retain(|(header, texts)| {
            !header.eq_ignore_ascii_case(ROW) || texts.iter().all(|text| !text.is_empty())
        });
        let name = self.name_header().or(others.name_header());
        let is_shown = |(header, _): &(String, Texts)| Some(header.as_str()) == name;
        let shown = columns.iter().position(is_shown);
        Attributes { columns, shown }
    }

    /// The columns of `n` nodes, of which these are the first; of the others nothing is
    /// known.
    pub fn grown(&self, n: usize) -> Attributes {
        self.joined(n, &Attributes::default(), |_| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(header: &str, texts: &[&str]) -> (String, Texts) {
        (header.to_owned(), texts.iter().collect())
    }

    #[test]
    fn texts_keep_their_places() {
        let texts = Texts::from_iter(["", "a\u{e9}", "", "b"]);
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["", "a\u{e9}", "", "b"]);
        assert_eq!((texts.get(1), texts.get(4)), ("a\u{e9}", ""));
        assert!(Texts::default().is_empty());
    }

    #[test]
    fn the_column_called_name_is_shown_unless_another_is_asked_for() {
        let columns = vec![column("title", &["T", ""]), column("Name", &["N", "M"])];
        let table = Attributes::new(columns).unwrap();
        assert_eq!(
            (table.name_header(), table.name(1)),
            (Some("Name"), Some("M"))
        );
        let table = table.shown_by("title").unwrap();
        assert_eq!((table.name(0), table.name(1)), (Some("T"), None));
        let error = table.shown_by("Title").unwrap_err().to_string();
        assert!(
            error.contains("'title', 'Name'") && error.contains("'Title'"),
            "{error}"
        );
        let error = Attributes::default().shown_by("x").unwrap_err().to_string();
        assert!(error.contains("no column"), "{error}");
        let plain = Attributes::new(vec![column("title", &["T"])]).unwrap();
        assert!(!plain.has_names() && plain.name(0).is_none());
    }

    #[test]
    fn columns_of_different_lengths_are_refused() {
        let columns = vec![column("a", &["1"]), column("b", &["1", "2"])];
        let error = Attributes::new(columns).unwrap_err().to_string();
        assert!(error.contains("1 and 2"), "{error}");
    }

    #[test]
    fn tables_join_by_row_and_by_header() {
        let known = vec![column("row", &["0", "1"]), column("name", &["A", "B"])];
        let known = Attributes::new(known).unwrap();
        let new = vec![column("name", &["C", "B2"]), column("kind", &["k", ""])];
        let new = Attributes::new(new).unwrap();
        // Row 2 is the first of the new table, and row 1 its second.
        let place = |row: usize| [None, Some(1), Some(0)][row];
        let all = known.joined(3, &new, place);
        assert_eq!(all.headers().collect::<Vec<_>>(), ["name", "kind"]);
        let names: Vec<_> = (0..3).map(|row| all.name(row)).collect();
        assert_eq!(names, [Some("A"), Some("B2"), Some("C")]);
        assert_eq!(all.columns()[1].1.iter().collect::<Vec<_>>(), ["", "", "k"]);
        // Nothing is lost where no node joins, and rows of files go where some do.
        assert_eq!(known.grown(2), known);
        assert_eq!(known.grown(3).headers().collect::<Vec<_>>(), ["name"]);
        assert_eq!(known.grown(3).name(2), None);
    }
}

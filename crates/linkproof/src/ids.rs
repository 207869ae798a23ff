//! Node ids: any text, kept as the user wrote it, with a fast way back to rows.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The ids of `n` nodes in row order.
#[derive(Debug, Clone)]
pub enum Ids {
    /// The ids are the row numbers `0..n`, written in decimal.
    Rows(usize),
    /// The ids are names.
    Names(Names),
}

impl Ids {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        match self {
            Ids::Rows(n) => *n,
            Ids::Names(names) => names.len(),
        }
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of an id; row numbers are decimal without sign or leading zeros.
    pub fn row(&self, id: &str) -> Option<u32> {
        match self {
            Ids::Rows(n) => {
                let row = row_number(id)?;
                ((row as usize) < *n).then_some(row)
            }
            Ids::Names(names) => names.row(id),
        }
    }

    /// The id of a row, as the user wrote it. Rows out of range have an empty id.
    pub fn name(&self, row: usize) -> std::borrow::Cow<'_, str> {
        match self {
            Ids::Rows(_) => row.to_string().into(),
            Ids::Names(names) => names.name(row).into(),
        }
    }

    /// The ids of some rows, in their order.
    pub fn select(&self, rows: &[u32]) -> Names {
        let mut names = Names::default();
        for &row in rows {
            names.insert(&self.name(row as usize));
        }
        names
    }
}

/// A decimal row number in its one canonical form (`7`, not `07` or `+7`).
pub fn row_number(id: &str) -> Option<u32> {
    let bytes = id.as_bytes();
    let canonical = matches!(bytes, [b'0'] | [b'1'..=b'9', ..]);
    if !canonical || !bytes.iter().all(u8::is_ascii_digit) {
        return None;
    }
    id.parse().ok()
}

/// Distinct names in order of insertion, stored in one text.
#[derive(Debug, Clone, Default)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
    rows: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Names {
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of a row; empty when out of range.
    pub fn name(&self, row: usize) -> &str {
        name_at(&self.text, &self.ends, row)
    }

    /// The row of a name.
    pub fn row(&self, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.rows
            .find(hash, |&row| self.name(row as usize) == name)
            .copied()
    }

    /// The row of a name, which is added at the end when it is new.
    pub fn insert(&mut self, name: &str) -> u32 {
        let Names {
            text,
            ends,
            rows,
            hasher,
        } = self;
        let hash = hasher.hash_one(name);
        let entry = rows.entry(
            hash,
            |&row| name_at(text, ends, row as usize) == name,
            |&row| hasher.hash_one(name_at(text, ends, row as usize)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => *found.get(),
            hashbrown::hash_table::Entry::Vacant(place) => {
                let row = ends.len() as u32;
                place.insert(row);
                text.push_str(name);
                ends.push(text.len());
                row
            }
        }
    }
}

fn name_at<'t>(text: &'t str, ends: &[usize], row: usize) -> &'t str {
    let start = if row == 0 {
        0
    } else {
        ends.get(row - 1).copied().unwrap_or(text.len())
    };
    let end = ends.get(row).copied().unwrap_or(text.len());
    text.get(start..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_and_their_spelling() {
        let mut names = Names::default();
        for (name, row) in [("b", 0), ("", 1), ("b", 0), ("ü 1", 2), ("", 1)] {
            assert_eq!(names.insert(name), row);
        }
        assert_eq!(names.len(), 3);
        assert_eq!((names.name(1), names.name(2)), ("", "ü 1"));
        assert_eq!((names.row("ü 1"), names.row("c")), (Some(2), None));
    }

    #[test]
    fn row_numbers_have_one_spelling() {
        let ids = Ids::Rows(10);
        assert_eq!(ids.row("7"), Some(7));
        for id in ["10", "07", "+7", "-1", "7.0", "", "x", "99999999999"] {
            assert_eq!(ids.row(id), None, "{id}");
        }
    }
}

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
    if !matches!(bytes, [b'0'] | [b'1'..=b'9', ..]) || bytes.len() > 10 {
        return None;
    }
    let mut row = 0u64;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        row = 10 * row + u64::from(digit);
    }
    u32::try_from(row).ok()
}

/// Distinct names in order of insertion, stored in one text.
#[derive(Debug, Clone, Default)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
    slots: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

/// A row together with half a hash of its name, so that the table grows, and
/// most wrong rows are passed over, without a look at the text.
#[derive(Debug, Clone, Copy)]
struct Slot {
    tag: u32,
    row: u32,
}

/// The hash that belongs to a tag; the table wants all bits mixed.
fn spread(tag: u32) -> u64 {
    u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15)
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
        let tag = self.tag(name);
        let is_name = |slot: &Slot| slot.tag == tag && self.name(slot.row as usize) == name;
        self.slots.find(spread(tag), is_name).map(|slot| slot.row)
    }

    /// The rows of many names. Among millions of names every step of a search
    /// waits for memory; taking the steps side by side shares the waits.
    pub fn rows(&self, names: &[&str]) -> Vec<Option<u32>> {
        let tags: Vec<u32> = names.iter().map(|name| self.tag(name)).collect();
        let tagged = |&tag: &u32| {
            let slot = self.slots.find(spread(tag), |slot| slot.tag == tag);
            slot.map(|slot| slot.row)
        };
        let likely: Vec<Option<u32>> = tags.iter().map(tagged).collect();
        let texts: Vec<&str> = likely
            .iter()
            .map(|row| row.map_or("", |row| self.name(row as usize)))
            .collect();
        let check = |((&name, row), text): ((&&str, Option<u32>), &str)| match row {
            Some(row) if text == name => Some(row),
            // Another name has the same tag, which is rare.
            Some(_) => self.row(name),
            None => None,
        };
        names.iter().zip(likely).zip(texts).map(check).collect()
    }

    /// The row of a name, which is added at the end when it is new.
    pub fn insert(&mut self, name: &str) -> u32 {
        let tag = self.tag(name);
        let Names {
            text, ends, slots, ..
        } = self;
        let entry = slots.entry(
            spread(tag),
            |slot| slot.tag == tag && name_at(text, ends, slot.row as usize) == name,
            |slot| spread(slot.tag),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => found.get().row,
            hashbrown::hash_table::Entry::Vacant(place) => {
                let row = ends.len() as u32;
                place.insert(Slot { tag, row });
                text.push_str(name);
                ends.push(text.len());
                row
            }
        }
    }

    fn tag(&self, name: &str) -> u32 {
        let hash = self.hasher.hash_one(name);
        (hash ^ hash >> 32) as u32
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
        assert_eq!(names.rows(&["", "c", "b"]), [Some(1), None, Some(0)]);
    }

    #[test]
    fn many_names_are_found_again() {
        let mut names = Names::default();
        // Enough for some to share a tag.
        let name = |k: u32| format!("n{k}");
        for k in 0..200_000 {
            assert_eq!(names.insert(&name(k)), k);
        }
        let texts: Vec<String> = (0..200_000).map(name).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert!(names.rows(&texts).into_iter().eq((0..200_000).map(Some)));
        assert!(
            texts
                .iter()
                .enumerate()
                .all(|(k, name)| names.row(name) == Some(k as u32))
        );
        assert_eq!(names.row("n200000"), None);
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

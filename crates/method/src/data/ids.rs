//! Node ids: any text, kept as the user wrote it, with a fast way back to rows.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

/// The ids of `n` nodes in row order ([example](crate::data)).
#[derive(Debug, Clone)]
pub enum Ids {
    /// The ids are the row numbers `0..n`, written in decimal.
    Rows(usize),
    /// The ids are names, shared by clones.
    Names(Arc<Names>),
    /// Nodes on two sides: the sources of links, then their targets.
    Sides(Arc<Sides>),
}

/// The nodes on both sides of links. An id may stand on both.
#[derive(Debug, Clone)]
pub struct Sides {
    /// The ids of the sources.
    pub source: Ids,
    /// The ids of the targets.
    pub target: Ids,
    /// Whether both are the same nodes, each once as a source and once as a target:
    /// a directed graph. Otherwise it is a bipartite one.
    pub same: bool,
}

/// A side of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Where links start.
    Source,
    /// Where they end.
    Target,
}

impl Side {
    /// The name of the view of this side's nodes.
    pub fn name(self) -> &'static str {
        match self {
            Side::Source => "source",
            Side::Target => "target",
        }
    }
}

impl Sides {
    /// The ids of a side.
    pub fn of(&self, side: Side) -> &Ids {
        match side {
            Side::Source => &self.source,
            Side::Target => &self.target,
        }
    }

    /// The side of a row, and its row there.
    pub fn place(&self, row: usize) -> (Side, usize) {
        match row.checked_sub(self.source.len()) {
            Some(row) => (Side::Target, row),
            None => (Side::Source, row),
        }
    }
}

impl From<Names> for Ids {
    fn from(names: Names) -> Ids {
        Ids::Names(Arc::new(names))
    }
}

impl Ids {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        match self {
            Ids::Rows(n) => *n,
            Ids::Names(names) => names.len(),
            Ids::Sides(sides) => sides.source.len() + sides.target.len(),
        }
    }

    /// Both sides, where nodes stand on two.
    pub fn sides(&self) -> Option<&Sides> {
        match self {
            Ids::Sides(sides) => Some(sides),
            _ => None,
        }
    }

    /// The row of an id on a side of links; nodes that stand on no side have one row.
    pub fn row_on(&self, side: Side, id: &str) -> Option<u32> {
        match (self, side) {
            (Ids::Sides(sides), Side::Source) => sides.source.row(id),
            (Ids::Sides(sides), Side::Target) => {
                let row = sides.target.row(id)?;
                Some(sides.source.len() as u32 + row)
            }
            _ => self.row(id),
        }
    }

    /// Whether two rows are the same node, on both sides.
    pub fn is_same_node(&self, a: u32, b: u32) -> bool {
        let sides = self.sides().filter(|sides| sides.same);
        sides.is_some_and(|sides| a.abs_diff(b) as usize == sides.source.len())
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of an id; row numbers are decimal without sign or leading zeros. An id
    /// on both sides of links is that of the source.
    pub fn row(&self, id: &str) -> Option<u32> {
        match self {
            Ids::Rows(n) => {
                let row = row_number(id)?;
                ((row as usize) < *n).then_some(row)
            }
            Ids::Names(names) => names.row(id),
            Ids::Sides(_) => {
                let source = self.row_on(Side::Source, id);
                source.or_else(|| self.row_on(Side::Target, id))
            }
        }
    }

    /// The id of a row, as the user wrote it. Rows out of range have an empty id.
    pub fn name(&self, row: usize) -> std::borrow::Cow<'_, str> {
        match self {
            Ids::Rows(_) => row.to_string().into(),
            Ids::Names(names) => names.name(row).into(),
            Ids::Sides(sides) => {
                let (side, row) = sides.place(row);
                sides.of(side).name(row)
            }
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

/// Distinct names in order of insertion, stored in one text ([example](crate::data)).
#[derive(Debug, Clone, Default)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
    /// An open hash table of a size that is a power of two, at most two thirds
    /// full, with linear probing: a search among millions of names costs one
    /// wait for memory here, where general tables have two.
    slots: Vec<Slot>,
    hasher: DefaultHashBuilder,
}

/// A row together with half a hash of its name, so that the table grows, and
/// most wrong rows are passed over, without a look at the text.
#[derive(Debug, Clone, Copy)]
struct Slot {
    tag: u32,
    row: u32,
}

/// The row of a free slot.
const FREE: u32 = u32::MAX;

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
        let span = span_at(&self.text, &self.ends, row);
        self.text.get(span).unwrap_or("")
    }

    /// The row of a name.
    pub fn row(&self, name: &str) -> Option<u32> {
        let tag = self.tag(name);
        let slot = self
            .slots
            .get(self.find(tag, |row| self.name(row as usize) == name))?;
        (slot.row != FREE).then_some(slot.row)
    }

    /// The rows of many names. Among millions of names every step of a search
    /// waits for memory; taking each step for all names at once, without
    /// branches on what is waited for, shares the waits.
    pub fn rows(&self, names: &[&str]) -> Vec<Option<u32>> {
        if self.slots.is_empty() {
            return vec![None; names.len()];
        }
        let tags: Vec<u32> = names.iter().map(|name| self.tag(name)).collect();
        let likely: Vec<u32> = tags
            .iter()
            .zip(self.first_slots(&tags))
            .map(|(&tag, slot)| match slot.row == FREE || slot.tag == tag {
                true => slot.row,
                false => self.slots[self.find(tag, |_| true)].row,
            })
            .collect();
        let span = |&row: &u32| span_at(&self.text, &self.ends, row as usize);
        let spans: Vec<Range<usize>> = likely.iter().map(span).collect();
        let text = |span| self.text.get(span).unwrap_or("");
        let texts: Vec<&str> = spans.into_iter().map(text).collect();
        let check = |((&name, row), text): ((&&str, u32), &str)| match row {
            FREE => None,
            row if text == name => Some(row),
            // Another name has the same tag, which is rare.
            _ => self.row(name),
        };
        names.iter().zip(likely).zip(texts).map(check).collect()
    }

    fn first_slots(&self, tags: &[u32]) -> Vec<Slot> {
        let mask = self.slots.len().wrapping_sub(1);
        let slot = |&tag: &u32| self.slots[first_place(tag, mask)];
        tags.iter().map(slot).collect()
    }

    /// The rows of many names, of which new ones are added in their order.
    pub fn insert_all(&mut self, names: &[&str]) -> Vec<u32> {
        while 3 * (self.len() + names.len()) >= 2 * self.slots.len() {
            self.grow();
        }
        let tags: Vec<u32> = names.iter().map(|name| self.tag(name)).collect();
        // Has the slots at hand, all waits shared.
        std::hint::black_box(self.first_slots(&tags));
        let pairs = names.iter().zip(tags);
        pairs
            .map(|(name, tag)| self.insert_tagged(name, tag))
            .collect()
    }

    /// The row of a name, which is added at the end when it is new.
    pub fn insert(&mut self, name: &str) -> u32 {
        if 3 * self.len() >= 2 * self.slots.len() {
            self.grow();
        }
        self.insert_tagged(name, self.tag(name))
    }

    fn insert_tagged(&mut self, name: &str, tag: u32) -> u32 {
        let place = self.find(tag, |row| self.name(row as usize) == name);
        let slot = &mut self.slots[place];
        if slot.row == FREE {
            let row = self.ends.len() as u32;
            *slot = Slot { tag, row };
            self.text.push_str(name);
            self.ends.push(self.text.len());
        }
        slot.row
    }

    /// Where the name with this tag is that `is_name` accepts, or else the free
    /// slot where it would be; out of range while there are no slots.
    fn find(&self, tag: u32, is_name: impl Fn(u32) -> bool) -> usize {
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = first_place(tag, mask);
        while let Some(slot) = self.slots.get(place) {
            if slot.row == FREE || slot.tag == tag && is_name(slot.row) {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let room = (2 * self.slots.len()).max(8);
        let free = Slot { tag: 0, row: FREE };
        let old = std::mem::replace(&mut self.slots, vec![free; room]);
        for slot in old {
            if slot.row != FREE {
                let place = self.find(slot.tag, |_| false);
                self.slots[place] = slot;
            }
        }
    }

    fn tag(&self, name: &str) -> u32 {
        let hash = self.hasher.hash_one(name);
        (hash ^ hash >> 32) as u32
    }
}

/// Where the search for a tag starts.
fn first_place(tag: u32, mask: usize) -> usize {
    let spread = u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> 20) as usize & mask
}

fn span_at(text: &str, ends: &[usize], row: usize) -> Range<usize> {
    let start = if row == 0 {
        0
    } else {
        ends.get(row - 1).copied().unwrap_or(text.len())
    };
    start..ends.get(row).copied().unwrap_or(text.len())
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
        let mut again = Names::default();
        for part in texts.chunks(999) {
            again.insert_all(part);
        }
        assert_eq!(
            again.insert_all(&["n7", "new", "n9", "new"]),
            [7, 200_000, 9, 200_000]
        );
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

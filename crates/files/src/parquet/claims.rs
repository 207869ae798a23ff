//! What the header of a page says of its size. The reader of Parquet makes room for
//! that before it unpacks anything, and a few damaged bytes can say two gigabytes.
//!
//! The reader does not look at the types of fields. Here they are what the format says
//! or the header counts as damaged: otherwise the two could see different sizes.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};

/// What is read of a file to find a header; statistics may make it longer.
const HEADER: usize = 1 << 12;
/// No header is longer.
const LONGEST_HEADER: usize = 1 << 24;
/// Headers hold no deeper structures.
const DEEPEST: usize = 8;

/// Types of Thrift's compact encoding.
mod kind {
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const SHORT: u8 = 4;
    pub const INT: u8 = 5;
    pub const LONG: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const STRUCTURE: u8 = 12;
}

/// The sizes in the header of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Bytes of the header itself.
    pub(super) length: u64,
    /// Bytes of the page as it lies in the file.
    pub(super) packed: u64,
    /// Bytes that it becomes.
    pub(super) unpacked: u64,
    /// Whether the reader passes over it.
    pub(super) is_index: bool,
}

impl PageHeader {
    /// The header at a place of a file; none where it cannot be read as one.
    pub(super) fn at(mut file: &File, place: u64) -> Result<Option<PageHeader>> {
        let mut size = HEADER;
        let mut bytes = Vec::new();
        while size <= LONGEST_HEADER {
            bytes.clear();
            bytes.reserve(size);
            file.seek(SeekFrom::Start(place))?;
            file.take(size as u64).read_to_end(&mut bytes)?;
            if let Some(found) = PageHeader::of(&bytes) {
                return Ok(Some(found));
            }
            if bytes.len() < size {
                break;
            }
            size *= 16;
        }
        Ok(None)
    }

    /// The header that some bytes begin with.
    fn of(bytes: &[u8]) -> Option<PageHeader> {
        let mut left = Compact(bytes);
        let mut numbers = [None; 3];
        left.fields(|left, field, found| match (field, found) {
            (1..=3, kind::INT) => {
                numbers[field as usize - 1] = Some(left.signed()?);
                Some(())
            }
            (4, kind::INT) => left.pass_over(found, DEEPEST),
            (5 | 6 | 8, kind::STRUCTURE) => left.page_of_values(field),
            (7, kind::STRUCTURE) => left.dictionary(),
            (1..=8, _) => None,
            _ => left.pass_over(found, DEEPEST),
        })?;
        let [page, unpacked, packed] = numbers;
        // The reader counts in 32 bits.
        let size = |number: Option<i64>| u64::try_from(i32::try_from(number?).ok()?).ok();
        Some(PageHeader {
            length: (bytes.len() - left.0.len()) as u64,
            packed: size(packed)?,
            unpacked: size(unpacked)?,
            is_index: page? == 1,
        })
    }
}

/// Thrift's compact encoding, as far as it takes to pass over a header.
struct Compact<'b>(&'b [u8]);

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn pass(&mut self, count: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Hands over the number and the type of each field of a structure.
    fn fields(&mut self, mut take: impl FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        let mut field = 0i64;
        loop {
            let head = self.byte()?;
            let found = head & 0xf;
            if found == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => self.signed()?,
                more => field.checked_add(i64::from(more))?,
            };
            take(self, field, found)?;
        }
    }

    /// The part of a header that is about a page of values, of the first or the second
    /// form (fields 5 and 8), or about an index, which has no fields.
    fn page_of_values(&mut self, part: i64) -> Option<()> {
        let (numbers, truths) = match part {
            5 => (4, 0),
            8 => (6, 1),
            _ => (0, 0),
        };
        self.fields(|left, field, found| {
            let expected = match field {
                _ if (1..=numbers).contains(&field) => found == kind::INT,
                _ if (1..=numbers + truths).contains(&field) => is_truth(found),
                _ => true,
            };
            expected.then_some(())?;
            left.pass_over(found, DEEPEST)
        })
    }

    fn dictionary(&mut self) -> Option<()> {
        self.fields(|left, field, found| {
            let expected = match field {
                1 | 2 => found == kind::INT,
                3 => is_truth(found),
                _ => true,
            };
            expected.then_some(())?;
            left.pass_over(found, DEEPEST)
        })
    }

    /// Passes over a value. Maps, and lists of truths, occur in no header.
    fn pass_over(&mut self, found: u8, deep: usize) -> Option<()> {
        let deep = deep.checked_sub(1)?;
        match found {
            // A field that is a truth has its value in its type.
            kind::TRUE | kind::FALSE => Some(()),
            kind::BYTE => self.pass(1),
            kind::SHORT | kind::INT | kind::LONG => self.number().map(|_| ()),
            kind::DOUBLE => self.pass(8),
            kind::BINARY => {
                let length = self.number()?;
                self.pass(length)
            }
            kind::LIST | kind::SET => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.number()?,
                    count => u64::from(count),
                };
                match head & 0xf {
                    kind::TRUE | kind::FALSE => None,
                    each => (0..count).try_for_each(|_| self.pass_over(each, deep)),
                }
            }
            kind::STRUCTURE => self.fields(|left, _, found| left.pass_over(found, deep)),
            _ => None,
        }
    }
}

fn is_truth(found: u8) -> bool {
    matches!(found, kind::TRUE | kind::FALSE)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A page of values: 200 bytes that become 300, of 5 values.
    const VALUES: [u8; 20] = [
        0x15, 0, 0x15, 0xd8, 4, 0x15, 0x90, 3, 0x2c, 0x15, 10, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0, 99,
    ];

    fn header(length: u64, packed: u64, unpacked: u64) -> PageHeader {
        PageHeader {
            length,
            packed,
            unpacked,
            is_index: false,
        }
    }

    #[test]
    fn sizes_of_a_page_of_values() {
        assert_eq!(PageHeader::of(&VALUES), Some(header(19, 200, 300)));
        for end in 0..19 {
            assert_eq!(PageHeader::of(&VALUES[..end]), None, "{end}");
        }
        // By its number in place of the distance to the one before.
        let mut far = vec![0x05, 2, 0];
        far.extend([0x05, 4, 0xd8, 4, 0x05, 6, 0x90, 3, 0]);
        assert_eq!(PageHeader::of(&far), Some(header(12, 200, 300)));
    }

    #[test]
    fn a_dictionary_an_index_and_the_second_form() {
        let sizes = [0x15, 0xd8, 4, 0x15, 0x90, 3];
        let with = |page: u8, rest: &[u8]| {
            let mut bytes = vec![0x15, 2 * page];
            bytes.extend(sizes);
            bytes.extend(rest);
            PageHeader::of(&bytes)
        };
        assert_eq!(with(2, &[0x4c, 0x15, 8, 0x15, 0, 0x11, 0, 0]), {
            Some(header(16, 200, 300))
        });
        let index = with(1, &[0x3c, 0, 0]).unwrap();
        assert!(index.is_index && index.packed == 200);
        let second = [0x15, 2, 0x15, 0, 0x15, 2, 0x15, 0, 0x15, 0, 0x15, 0];
        // With statistics: two texts, a long number, a truth.
        let statistics = [0x12, 0x1c, 0x18, 2, b'a', b'b', 0x16, 1, 0x18, 0, 0x11, 0];
        let rest = [&[0x5c][..], &second, &statistics, &[0, 0]].concat();
        assert_eq!(with(3, &rest), Some(header(8 + 27, 200, 300)));
        // A checksum, and a field that nobody knows yet: a list of texts.
        let rest = [0x15, 7, 0x79, 0x28, 1, b'x', 0, 0];
        assert_eq!(with(0, &rest), Some(header(8 + 8, 200, 300)));
    }

    #[test]
    fn what_the_reader_might_see_otherwise_is_no_header() {
        let changed = |place: usize, byte: u8| {
            let mut bytes = VALUES;
            bytes[place] = byte;
            PageHeader::of(&bytes)
        };
        // The unpacked size as a byte, a short, a long, a truth or a text.
        for found in [0x11, 0x13, 0x14, 0x16, 0x18] {
            assert_eq!(changed(2, found), None, "{found}");
        }
        // The part about values as a list; its count of values as a truth.
        assert_eq!(changed(8, 0x29), None);
        assert_eq!(changed(9, 0x11), None);
        // A negative size, and none at all.
        assert_eq!(changed(3, 0xd7), None);
        assert_eq!(PageHeader::of(&[0x15, 0, 0x25, 0x90, 3, 0]), None);
        // More than 32 bits, of which the reader would keep the lower ones.
        let wide = [0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x80, 0x20, 0x15, 2, 0];
        assert_eq!(PageHeader::of(&wide), None);
        // A list of truths, a map, a structure without end, a list longer than the file.
        let after = [0x15, 0, 0x15, 2, 0x15, 2];
        let long = [0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f];
        for rest in [
            &[0x79, 0x21, 1, 1, 0][..],
            &[0x7b, 0, 0],
            &[0x7c; 30],
            &[&[0x79][..], &long].concat(),
        ] {
            let bytes = [&after[..], rest].concat();
            assert_eq!(PageHeader::of(&bytes), None, "{rest:?}");
        }
    }

    #[test]
    fn long_headers_are_read_on_and_endless_ones_are_not() {
        let mut file = tempfile::tempfile().unwrap();
        let text = 3 * HEADER;
        let mut bytes = vec![9; 5];
        bytes.extend([0x15, 0, 0x15, 2, 0x15, 4]);
        let varint = [(text & 0x7f) as u8 | 0x80, (text >> 7) as u8];
        bytes.extend([0x78, varint[0], varint[1]]);
        bytes.resize(bytes.len() + text, b'x');
        bytes.push(0);
        file.write_all(&bytes).unwrap();
        let found = PageHeader::at(&file, 5).unwrap();
        assert_eq!(found, Some(header(bytes.len() as u64 - 5, 2, 1)));
        assert_eq!(PageHeader::at(&file, bytes.len() as u64).unwrap(), None);
    }
}

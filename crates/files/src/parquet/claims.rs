//! What the pages of a column say that they unpack to. The reader of Parquet makes room
//! for that before it unpacks anything, and a few damaged bytes can say two gigabytes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// What is read of a file to find the header of a page; statistics may make it longer.
const HEADER: usize = 1 << 12;
/// No header is longer.
const LONGEST_HEADER: usize = 1 << 24;
/// Headers hold no deeper structures.
const DEEPEST: usize = 16;

/// The largest number of bytes that a page from `start` on, in so many bytes of a file,
/// claims to unpack to. What cannot be followed is left to the reader to complain about.
pub(super) fn largest_page(file: &File, start: u64, length: u64) -> std::io::Result<u64> {
    let (mut at, end) = (start, start.saturating_add(length));
    let mut largest = 0;
    while at < end {
        let Some(page) = page_header(file, at)? else {
            break;
        };
        largest = largest.max(page.unpacked);
        let Some(packed) = page.packed else {
            break;
        };
        at = at.saturating_add(page.length).saturating_add(packed);
    }
    Ok(largest)
}

struct PageHeader {
    length: u64,
    packed: Option<u64>,
    unpacked: u64,
}

fn page_header(mut file: &File, at: u64) -> std::io::Result<Option<PageHeader>> {
    let mut size = HEADER;
    while size <= LONGEST_HEADER {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        file.take(size as u64).read_to_end(&mut bytes)?;
        let mut words = Compact(&bytes);
        // Fields 2 and 3 of the header are its sizes.
        let mut sizes = [None; 2];
        if words.structure(DEEPEST, &mut sizes).is_some() {
            let length = (bytes.len() - words.0.len()) as u64;
            let size = |place: usize| sizes[place].and_then(|size: i64| u64::try_from(size).ok());
            return Ok(Some(PageHeader {
                length,
                packed: size(1),
                unpacked: size(0).unwrap_or(0),
            }));
        }
        if bytes.len() < size {
            break;
        }
        size *= 16;
    }
    Ok(None)
}

/// Thrift's compact encoding, as far as it takes to pass over a structure.
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

    /// Passes over a structure, and writes down its fields 2 and 3 where they are numbers.
    fn structure(&mut self, deep: usize, sizes: &mut [Option<i64>; 2]) -> Option<()> {
        let mut field = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => self.signed()?,
                more => field.checked_add(i64::from(more))?,
            };
            match (field, head & 0xf) {
                // A number of any width: the reader does not look.
                (2 | 3, 4..=6) => sizes[(field - 2) as usize] = Some(self.signed()?),
                // A truth has its value in its type.
                (_, 1 | 2) => {}
                (_, kind) => self.value(kind, deep)?,
            }
        }
    }

    fn value(&mut self, kind: u8, deep: usize) -> Option<()> {
        let deep = deep.checked_sub(1)?;
        match kind {
            1..=3 => self.pass(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.pass(8),
            8 => {
                let length = self.number()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.number()?,
                    count => u64::from(count),
                };
                (0..count).try_for_each(|_| self.value(head & 0xf, deep))
            }
            12 => self.structure(deep, &mut [None; 2]),
            // Maps do not occur.
            _ => None,
        }
    }
}

//! Records of delimited text: one line each, unless a quoted field holds a
//! line end.

use std::borrow::Cow;
use std::path::Path;

use memchr::{memchr, memchr2, memchr3};

use super::encoding::{self, SAMPLE};
use linkproof_method::error::{Error, Result, quote};

/// What separates the fields of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// One character.
    Byte(u8),
    /// Runs of spaces and tabs.
    Whitespace,
}

impl Delimiter {
    /// In words, for messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            Delimiter::Byte(b'\t') => "tabs",
            Delimiter::Byte(_) => "commas",
            Delimiter::Whitespace => "whitespace",
        }
    }

    fn is_blank(self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t') && self != Delimiter::Byte(byte)
    }

    fn skip_blanks(self, bytes: &[u8], mut at: usize) -> usize {
        while at < bytes.len() && self.is_blank(bytes[at]) {
            at += 1;
        }
        at
    }

    /// Where the field that starts at `at` meets its delimiter or line end.
    fn end_of_plain(self, bytes: &[u8], at: usize) -> usize {
        let found = match self {
            Delimiter::Byte(byte) => memchr2(byte, b'\n', &bytes[at..]),
            Delimiter::Whitespace => memchr3(b' ', b'\t', b'\n', &bytes[at..]),
        };
        found.map_or(bytes.len(), |place| at + place)
    }
}

/// A piece of a file that starts and ends between two records.
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// The number of its first line, counted from 1.
    pub(super) first_line: u64,
    /// Whether a quote stands anywhere in it, and quotes mean something.
    pub(super) quotes: bool,
}

/// The records of a block, in order.
pub(super) struct Records<'b> {
    path: &'b Path,
    text: &'b str,
    at: usize,
    next_line: u64,
    delimiter: Delimiter,
    quotes: bool,
}

impl<'b> Records<'b> {
    /// Starts at the first record; text that is not UTF-8 is an error.
    pub(super) fn new(block: &'b Block, path: &'b Path, delimiter: Delimiter) -> Result<Self> {
        if let Some(place) = memchr(0, &block.bytes) {
            let good = &block.bytes[..place];
            let line = block.first_line + memchr::memchr_iter(b'\n', good).count() as u64;
            let around = &block.bytes[place.saturating_sub(SAMPLE)..];
            let around = &around[..around.len().min(2 * SAMPLE)];
            return Err(encoding::zero(path, line, around));
        }
        let text = std::str::from_utf8(&block.bytes).map_err(|error| {
            encoding::not_utf8(path, block.first_line, &block.bytes, error.valid_up_to())
        })?;
        Ok(Records {
            path,
            text,
            at: 0,
            next_line: block.first_line,
            delimiter,
            quotes: block.quotes,
        })
    }

    /// Puts the fields of the next record into `fields` and returns the line it
    /// starts on; `None` after the last. Blank lines are passed over.
    pub(super) fn next(&mut self, fields: &mut Vec<Cow<'b, str>>) -> Result<Option<u64>> {
        fields.clear();
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let end = memchr(b'\n', &bytes[self.at..]).map_or(bytes.len(), |end| self.at + end);
            let line = &self.text[self.at..end];
            if self.quotes && memchr(b'"', line.as_bytes()).is_some() {
                return self.next_quoted(fields).map(Some);
            }
            let number = self.next_line;
            self.next_line += 1;
            self.at = end + 1;
            let line = line.strip_suffix('\r').unwrap_or(line);
            if !line.bytes().all(|byte| self.delimiter.is_blank(byte)) {
                split_plain(line, self.delimiter, fields);
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    fn next_quoted(&mut self, fields: &mut Vec<Cow<'b, str>>) -> Result<u64> {
        let text: &'b str = self.text;
        let first_line = self.next_line;
        loop {
            let field = scan_field(text.as_bytes(), self.at, self.delimiter);
            let inside = &text[field.start..field.end];
            let line = self.next_line;
            match field.stop {
                Stop::OpenQuote => {
                    return Err(Error::input(
                        self.path,
                        line,
                        "a quote (\") that is never closed",
                        "a closing quote, or no quote at the start of the field",
                    ));
                }
                Stop::Junk => {
                    return Err(Error::input(
                        self.path,
                        line,
                        format!("text after the closing quote of {}", quote(inside)),
                        "the next field or the end of the line (a quote within quotes is written twice)",
                    ));
                }
                Stop::Delimiter | Stop::LineEnd | Stop::End => {}
            }
            fields.push(if !field.quoted {
                trim(inside).into()
            } else if field.escaped {
                inside.replace("\"\"", "\"").into()
            } else {
                inside.into()
            });
            let passed = &text.as_bytes()[self.at..field.next];
            self.next_line += memchr::memchr_iter(b'\n', passed).count() as u64;
            self.at = field.next;
            if field.stop != Stop::Delimiter {
                return Ok(first_line);
            }
        }
    }
}

fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [b' ' | b'\t', ..] | [.., b' ' | b'\t'] => text.trim_matches([' ', '\t']),
        _ => text,
    }
}

fn split_plain<'b>(line: &'b str, delimiter: Delimiter, fields: &mut Vec<Cow<'b, str>>) {
    match delimiter {
        Delimiter::Whitespace => {
            let parts = line.split([' ', '\t']).filter(|part| !part.is_empty());
            fields.extend(parts.map(Cow::Borrowed));
        }
        Delimiter::Byte(byte) => {
            let mut start = 0;
            for end in memchr::memchr_iter(byte, line.as_bytes()) {
                fields.push(trim(&line[start..end]).into());
                start = end + 1;
            }
            fields.push(trim(&line[start..]).into());
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Delimiter,
    LineEnd,
    End,
    OpenQuote,
    Junk,
}

struct Field {
    start: usize,
    end: usize,
    quoted: bool,
    escaped: bool,
    stop: Stop,
    next: usize,
}

/// Finds the end of the field that starts at `at`, quoted or not.
fn scan_field(bytes: &[u8], at: usize, delimiter: Delimiter) -> Field {
    let start = delimiter.skip_blanks(bytes, at);
    if bytes.get(start) == Some(&b'"') {
        return scan_quoted(bytes, start + 1, delimiter);
    }
    let end = delimiter.end_of_plain(bytes, start);
    let (stop, next) = stop_at(bytes, end, delimiter);
    let carriage = stop != Stop::Delimiter && end > start && bytes[end - 1] == b'\r';
    Field {
        start,
        end: end - usize::from(carriage),
        quoted: false,
        escaped: false,
        stop,
        next,
    }
}

fn scan_quoted(bytes: &[u8], start: usize, delimiter: Delimiter) -> Field {
    let mut field = Field {
        start,
        end: bytes.len(),
        quoted: true,
        escaped: false,
        stop: Stop::OpenQuote,
        next: bytes.len(),
    };
    let mut from = start;
    while let Some(place) = memchr(b'"', &bytes[from..]) {
        let quote = from + place;
        if bytes.get(quote + 1) == Some(&b'"') {
            field.escaped = true;
            from = quote + 2;
            continue;
        }
        field.end = quote;
        let mut after = delimiter.skip_blanks(bytes, quote + 1);
        if bytes.get(after) == Some(&b'\r') && matches!(bytes.get(after + 1), None | Some(b'\n')) {
            after += 1;
        }
        (field.stop, field.next) = stop_at(bytes, after, delimiter);
        if field.stop == Stop::Junk && after > quote + 1 && delimiter == Delimiter::Whitespace {
            (field.stop, field.next) = (Stop::Delimiter, after);
        }
        break;
    }
    field
}

fn stop_at(bytes: &[u8], at: usize, delimiter: Delimiter) -> (Stop, usize) {
    match bytes.get(at) {
        None => (Stop::End, bytes.len()),
        Some(b'\n') => (Stop::LineEnd, at + 1),
        Some(&byte) if delimiter == Delimiter::Byte(byte) => (Stop::Delimiter, at + 1),
        Some(&byte) if delimiter == Delimiter::Whitespace && matches!(byte, b' ' | b'\t') => {
            // Blanks before a line end separate nothing.
            let after = delimiter.skip_blanks(bytes, at);
            match bytes.get(after..).unwrap_or_default() {
                [] | [b'\r'] => (Stop::End, bytes.len()),
                [b'\n', ..] => (Stop::LineEnd, after + 1),
                [b'\r', b'\n', ..] => (Stop::LineEnd, after + 2),
                _ => (Stop::Delimiter, after),
            }
        }
        // Passing over the rest lets a reader find the record's end all the same.
        Some(_) => (Stop::Junk, delimiter.end_of_plain(bytes, at)),
    }
}

/// Where the last whole record of a piece ends, line end included.
pub(super) fn last_record_end(bytes: &[u8], delimiter: Delimiter, quotes: bool) -> Option<usize> {
    if !quotes {
        return memchr::memrchr(b'\n', bytes).map(|place| place + 1);
    }
    let mut last = None;
    let mut at = 0;
    while at < bytes.len() {
        let Some(line_end) = memchr(b'\n', &bytes[at..]).map(|place| at + place) else {
            break;
        };
        if memchr(b'"', &bytes[at..line_end]).is_none() {
            at = line_end + 1;
            last = Some(at);
            continue;
        }
        let Some(end) = quoted_record_end(bytes, at, delimiter) else {
            break;
        };
        at = end;
        last = Some(at);
    }
    last
}

fn quoted_record_end(bytes: &[u8], mut at: usize, delimiter: Delimiter) -> Option<usize> {
    loop {
        let field = scan_field(bytes, at, delimiter);
        match field.stop {
            Stop::LineEnd => return Some(field.next),
            Stop::Delimiter => at = field.next,
            // The record is wrong; whoever splits it says so.
            Stop::Junk => {
                let rest = &bytes[field.next..];
                return memchr(b'\n', rest).map(|place| field.next + place + 1);
            }
            Stop::End | Stop::OpenQuote => return None,
        }
    }
}

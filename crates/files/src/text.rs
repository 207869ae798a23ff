//! Delimited text as a stream of blocks, parsed in parallel and merged in the
//! order of the file, so that results do not depend on the number of threads.

use std::path::Path;

use rayon::prelude::*;

use super::encoding::{SAMPLE, check_start};
use super::record::{Block, Delimiter, Records, last_record_end};
use super::source::Source;
use linkproof_method::error::{Error, Result};

/// The usual size of a block in bytes.
pub(super) const BLOCK: usize = 4 << 20;

/// Longer records are taken for a file that is not delimited text, or for a
/// quote that is never closed.
const LONGEST_RECORD: usize = 256 << 20;

/// Blocks in flight at once, at most: bounds memory on machines of many cores.
const LARGEST_BATCH: usize = 16;

/// The blocks of a text file.
pub(super) struct Blocks {
    source: Source,
    delimiter: Delimiter,
    quoting: bool,
    size: usize,
    ended: bool,
    /// Bytes read and not yet handed out.
    rest: Vec<u8>,
    next_line: u64,
    waiting: Option<Block>,
}

impl Blocks {
    /// Opens `.csv`, `.tsv` or other text, whose delimiter is found out.
    pub(super) fn open(source: Source, size: usize) -> Result<Blocks> {
        let mut blocks = Blocks::with(source, size, Delimiter::Byte(b','), true)?;
        match blocks.source.extension() {
            "csv" => {}
            "tsv" => blocks.delimiter = Delimiter::Byte(b'\t'),
            _ => blocks.delimiter = blocks.sniff()?,
        }
        Ok(blocks)
    }

    /// Opens text whose fields stand between spaces, and where quotes and
    /// comments mean nothing.
    pub(super) fn plain(source: Source, size: usize) -> Result<Blocks> {
        Blocks::with(source, size, Delimiter::Whitespace, false)
    }

    fn with(source: Source, size: usize, delimiter: Delimiter, quoting: bool) -> Result<Blocks> {
        let mut blocks = Blocks {
            source,
            delimiter,
            quoting,
            size,
            ended: false,
            rest: Vec::new(),
            next_line: 1,
            waiting: None,
        };
        blocks.fill(SAMPLE)?;
        if blocks.rest.starts_with(b"\xef\xbb\xbf") {
            blocks.rest.drain(..3);
        }
        check_start(blocks.path(), &blocks.rest)?;
        Ok(blocks)
    }

    pub(super) fn path(&self) -> &Path {
        self.source.path()
    }

    pub(super) fn delimiter(&self) -> Delimiter {
        self.delimiter
    }

    /// The next line as it stands, if there is one; for heads of files.
    pub(super) fn take_line(&mut self) -> Result<Option<(u64, Vec<u8>)>> {
        let end = self.line_end()?;
        if end == 0 {
            return Ok(None);
        }
        let rest = self.rest.split_off(end);
        let line = std::mem::replace(&mut self.rest, rest);
        self.next_line += 1;
        Ok(Some((self.next_line - 1, line)))
    }

    /// Where the first line of the rest ends, line end included.
    fn line_end(&mut self) -> Result<usize> {
        let mut want = 4096;
        loop {
            if let Some(place) = memchr::memchr(b'\n', &self.rest) {
                return Ok(place + 1);
            }
            if self.ended {
                return Ok(self.rest.len());
            }
            self.check_length(self.next_line)?;
            self.fill(want.max(2 * self.rest.len()))?;
            want *= 2;
        }
    }

    fn sniff(&mut self) -> Result<Delimiter> {
        loop {
            let end = self.line_end()?;
            let line = self.rest[..end].trim_ascii();
            if end > 0 && (line.is_empty() || matches!(line[0], b'#' | b'%')) {
                self.take_line()?;
                continue;
            }
            return Ok(if line.contains(&b'\t') {
                Delimiter::Byte(b'\t')
            } else if line.contains(&b',') {
                Delimiter::Byte(b',')
            } else {
                Delimiter::Whitespace
            });
        }
    }

    fn fill(&mut self, length: usize) -> Result<()> {
        if self.ended || self.rest.len() >= length {
            return Ok(());
        }
        let known = self.source.length().map(|bytes| bytes as usize);
        let room = length.min(known.unwrap_or(length).saturating_add(1));
        self.rest
            .reserve_exact(room.saturating_sub(self.rest.len()));
        self.ended = !self.source.fill(&mut self.rest, length)?;
        Ok(())
    }

    fn check_length(&self, line: u64) -> Result<()> {
        if self.rest.len() < LONGEST_RECORD {
            return Ok(());
        }
        Err(Error::input(
            self.path(),
            line,
            format!(
                "more than {} MB without the end of a record",
                LONGEST_RECORD >> 20
            ),
            "delimited text with an end of line after each record, and quotes (\") that are closed",
        ))
    }

    /// The next block; `None` after the last.
    pub(super) fn next_block(&mut self) -> Result<Option<Block>> {
        if let Some(block) = self.waiting.take() {
            return Ok(Some(block));
        }
        let mut want = self.size;
        let (end, quotes) = loop {
            self.fill(want)?;
            let quotes = self.quoting && memchr::memchr(b'"', &self.rest).is_some();
            if self.ended {
                break (self.rest.len(), quotes);
            }
            if let Some(end) = last_record_end(&self.rest, self.delimiter, quotes) {
                break (end, quotes);
            }
            self.check_length(self.next_line)?;
            want = 2 * self.rest.len();
        };
        if end == 0 {
            return Ok(None);
        }
        let rest = self.rest[end..].to_vec();
        let mut bytes = std::mem::replace(&mut self.rest, rest);
        bytes.truncate(end);
        let first_line = self.next_line;
        self.next_line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        Ok(Some(Block {
            bytes,
            first_line,
            quotes,
        }))
    }

    /// Looks at the first record, with its line, without taking it.
    pub(super) fn first_record(&mut self) -> Result<Option<(u64, Vec<String>)>> {
        while let Some(block) = self.next_block()? {
            let mut fields = Vec::new();
            let mut records = Records::new(&block, self.path(), self.delimiter)?;
            if let Some(line) = records.next(&mut fields)? {
                let fields = fields.into_iter().map(String::from).collect();
                self.waiting = Some(block);
                return Ok(Some((line, fields)));
            }
        }
        Ok(None)
    }

    fn next_batch(&mut self, n_blocks: usize) -> Result<Vec<Block>> {
        let mut batch = Vec::with_capacity(n_blocks);
        while batch.len() < n_blocks
            && let Some(block) = self.next_block()?
        {
            batch.push(block);
        }
        Ok(batch)
    }

    /// Parses blocks in parallel and merges them in the order of the file. A
    /// parser sees the state as it was before its batch of blocks; what it
    /// makes of that must not show in the merged result.
    pub(super) fn fold<S, T>(
        mut self,
        state: &mut S,
        parse: impl Fn(&S, &Block) -> Result<T> + Sync,
        mut merge: impl FnMut(&mut S, T) -> Result<()>,
    ) -> Result<()>
    where
        S: Sync,
        T: Send,
    {
        let n_blocks = rayon::current_num_threads().clamp(1, LARGEST_BATCH);
        // Small blocks first: what they teach the state saves the later,
        // larger ones work.
        let size = self.size;
        self.size = (size / 8).max(1);
        let mut batch = self.next_batch(n_blocks)?;
        while !batch.is_empty() {
            let seen: &S = state;
            self.size = (2 * self.size).min(size);
            let (parsed, next) = rayon::join(
                || -> Vec<Result<T>> { batch.par_iter().map(|block| parse(seen, block)).collect() },
                || self.next_batch(n_blocks),
            );
            drop(batch);
            for part in parsed {
                merge(state, part?)?;
            }
            batch = next?;
        }
        Ok(())
    }

    /// Hands every record to `visit`, one after the other, until it says stop.
    pub(super) fn visit(
        mut self,
        mut visit: impl FnMut(u64, &[std::borrow::Cow<'_, str>]) -> Result<bool>,
    ) -> Result<()> {
        while let Some(block) = self.next_block()? {
            let mut fields = Vec::new();
            let mut records = Records::new(&block, self.path(), self.delimiter)?;
            while let Some(line) = records.next(&mut fields)? {
                if !visit(line, &fields)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// A number as written: what `str::parse` takes, whole numbers faster.
pub(super) fn number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    if (1..=15).contains(&bytes.len()) {
        let mut whole = 0u64;
        for byte in bytes {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return text.parse().ok();
            }
            whole = 10 * whole + u64::from(digit);
        }
        return Some(whole as f64);
    }
    text.parse().ok()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;

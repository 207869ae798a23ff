//! Pages that claim more than they hold: the reader of Parquet makes room for as many
//! bytes and values as a page says it has, before it looks for them.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};

use super::claims::PageHeader;

/// How many bytes the pages that are held at the same time may unpack to: one of each
/// column.
#[derive(Debug)]
pub(super) struct Room {
    limit: u64,
    claimed: AtomicU64,
    is_over: AtomicBool,
}

impl Room {
    pub(super) fn new(limit: u64) -> Arc<Room> {
        Arc::new(Room {
            limit,
            claimed: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        })
    }

    /// Whether a page was refused because there is no room for it.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> Result<()> {
        let claimed = self.claimed.fetch_add(bytes, Ordering::Relaxed);
        match claimed.saturating_add(bytes) > self.limit {
            false => Ok(()),
            true => {
                self.is_over.store(true, Ordering::Relaxed);
                Err(ParquetError::General("pages that are too large".to_owned()))
            }
        }
    }
}

/// The pages of a column, looked at before they are used.
pub(super) struct SoundPages {
    pages: Box<dyn PageReader>,
    file: Arc<File>,
    size: u64,
    /// Where the next page and the ones after it are.
    left: Range<u64>,
    room: Arc<Room>,
    /// What the largest page so far claims.
    largest: u64,
}

impl SoundPages {
    /// The pages of a column that has so many bytes (`place`) of a file.
    pub(super) fn new(
        pages: Box<dyn PageReader>,
        file: &Arc<File>,
        place: Range<u64>,
        room: &Arc<Room>,
    ) -> std::io::Result<SoundPages> {
        Ok(SoundPages {
            pages,
            size: file.metadata()?.len(),
            file: file.clone(),
            left: place,
            room: room.clone(),
            largest: 0,
        })
    }

    /// Looks at the header of the next page that is not passed over.
    fn look(&mut self) -> Result<()> {
        let damaged = |what: &str| ParquetError::General(what.to_owned());
        while !self.left.is_empty() {
            let header = PageHeader::at(&self.file, self.left.start)
                .map_err(|source| ParquetError::External(Box::new(source)))?;
            let header = header.ok_or_else(|| damaged("a page without a header"))?;
            let start = self.left.start.saturating_add(header.length);
            if header.packed > self.size.saturating_sub(start) {
                return Err(damaged("a page that ends after the file"));
            }
            self.left.start = start + header.packed;
            if !header.is_index {
                let more = header.unpacked.saturating_sub(self.largest);
                self.largest += more;
                return self.room.take(more);
            }
        }
        Ok(())
    }
}

impl PageReader for SoundPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.look()?;
        let page = self.pages.get_next_page()?;
        if let Some(Page::DictionaryPage {
            buf, num_values, ..
        }) = &page
            && *num_values as usize > buf.len()
        {
            let message = format!("a dictionary of {num_values} values in {} bytes", buf.len());
            return Err(ParquetError::General(message));
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.look()?;
        self.pages.skip_next_page()
    }
}

impl Iterator for SoundPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

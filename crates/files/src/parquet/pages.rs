//! Pages that claim more than they hold: the reader of Parquet makes room for as many
//! values as a dictionary says it has, before it looks for them.

use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};

/// The pages of a column, looked at before they are used.
pub(super) struct SoundPages(pub(super) Box<dyn PageReader>);

impl PageReader for SoundPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.0.get_next_page()?;
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
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
    }
}

impl Iterator for SoundPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

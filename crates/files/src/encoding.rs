//! What a file seems to be that should be text and is not.

use std::path::Path;

use super::source::Source;
use linkproof_method::error::{Error, Result};

/// The first bytes of files that are often taken for text.
const MARKS: [(&[u8], &str); 8] = [
    (b"PAR1", "a Parquet file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"PK\x03\x04", "a zip file or a spreadsheet"),
    (b"\x93NUMPY", "an .npy file"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x80\x04", "a Python pickle"),
];

/// The bytes at the start of a file that tell.
pub(super) const SAMPLE: usize = 1024;

/// Refuses the start of a file that is no text in UTF-8.
pub(super) fn check_start(path: &Path, bytes: &[u8]) -> Result<()> {
    let bytes = &bytes[..bytes.len().min(SAMPLE)];
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(wide(path));
    }
    if let Some((_, what)) = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        let found = format!("what seems to be {what}");
        let expected = "text in UTF-8, or another name: the ending tells the format";
        return Err(Error::input(path, None, found, expected));
    }
    match bytes.contains(&0) {
        true => Err(zero(path, 1, bytes)),
        false => Ok(()),
    }
}

/// A zero byte in text; `bytes` are those around it.
pub(super) fn zero(path: &Path, line: u64, bytes: &[u8]) -> Error {
    // In UTF-16, every other byte of plain text is zero.
    let zeros = |first: usize| {
        let half = bytes.iter().skip(first).step_by(2);
        half.filter(|&&byte| byte == 0).count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    if even.max(odd) * 4 > bytes.len() && even.min(odd) * 8 <= even.max(odd) {
        return wide(path);
    }
    Error::input(
        path,
        line,
        "a zero byte: what seems to be no text but binary data",
        "text in UTF-8",
    )
}

fn wide(path: &Path) -> Error {
    Error::input(
        path,
        None,
        "what seems to be text in UTF-16",
        "UTF-8: convert it with 'iconv -f UTF-16 -t UTF-8', or save it as 'CSV UTF-8'",
    )
}

/// Reads a whole file of text.
pub fn read_text(path: impl AsRef<Path>) -> Result<String> {
    read_text_of(Source::open(path.as_ref())?)
}

/// The same of a file that has been opened.
pub(super) fn read_text_of(mut source: Source) -> Result<String> {
    let mut bytes = Vec::new();
    source.fill(&mut bytes, usize::MAX)?;
    let path = source.path();
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    check_start(path, &bytes)?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        not_utf8(path, 1, error.as_bytes(), good)
    })
}

/// Bytes of which those from `good` on are not UTF-8.
pub(super) fn not_utf8(path: &Path, first_line: u64, bytes: &[u8], good: usize) -> Error {
    let line = first_line + memchr::memchr_iter(b'\n', &bytes[..good]).count() as u64;
    let byte = bytes.get(good).copied().unwrap_or_default();
    let found = format!("a byte 0x{byte:02x} that is not UTF-8");
    Error::input(path, line, found, "text in UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        std::fs::write(&path, bytes).unwrap();
        match read_text(&path) {
            Ok(text) => text,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn files_that_are_no_text_are_told() {
        let text = "src,dst\na,b\nc,dé\n";
        assert_eq!(told(text.as_bytes()), text);
        assert_eq!(told(format!("\u{feff}{text}").as_bytes()), text);
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = [b"\xff\xfe".as_slice(), &little].concat();
        for wide in [little, big, marked] {
            let told = told(&wide);
            assert!(told.contains("UTF-16") && told.contains("iconv"), "{told}");
        }
        assert!(told(b"a,b\0c\n").contains("zero byte"));
        assert!(told(b"PAR1....").contains("Parquet"));
        assert!(told(b"a\nb\xff").contains("line 2: found a byte 0xff"));
    }
}

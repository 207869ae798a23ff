//! Input files as streams: plain, gzip or Zstandard, told by their extension.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::side::recovered;
use super::unpacked;
use linkproof_method::error::{Error, Result};

/// An input file that is read from its start to its end, unpacked on the way.
pub(super) struct Source {
    path: PathBuf,
    extension: String,
    packed: Option<&'static str>,
    length: Option<u64>,
    /// How many bytes a packed file may still become.
    left: Option<u64>,
    limit: u64,
    reader: Box<dyn Read + Send>,
}

impl Source {
    /// Opens a file. `.gz` and `.zst` are unpacked.
    pub(super) fn open(path: &Path) -> Result<Source> {
        let (file, length) = open_file(path)?;
        let (packed, extension) = extensions(path);
        let limit = unpacked::limit(length)?;
        let reader: Box<dyn Read + Send> = match packed {
            None => Box::new(file),
            Some("zst") => {
                let mut unpacked =
                    zstd::Decoder::new(file).map_err(|source| Error::read(path, source))?;
                // Files packed with `--long` need larger windows than the default.
                unpacked
                    .window_log_max(31)
                    .map_err(|source| Error::read(path, source))?;
                Box::new(unpacked)
            }
            Some(_) => Box::new(flate2::bufread::MultiGzDecoder::new(
                BufReader::with_capacity(1 << 16, file),
            )),
        };
        Ok(Source {
            path: path.to_owned(),
            extension,
            packed,
            left: packed.map(|_| limit),
            limit,
            length: length.filter(|_| packed.is_none()),
            reader,
        })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The extension in lower case, without that of the packing; may be empty.
    pub(super) fn extension(&self) -> &str {
        &self.extension
    }

    /// How many bytes there are, where that is known before reading.
    pub(super) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Appends bytes until `bytes` has `length` of them; false when the file
    /// ended before that.
    pub(super) fn fill(&mut self, bytes: &mut Vec<u8>, length: usize) -> Result<bool> {
        let missing = length.saturating_sub(bytes.len());
        // One more than is allowed, to see whether there is more.
        let most = self.left.map_or(u64::MAX, |left| left.saturating_add(1));
        let read = (&mut self.reader)
            .take(most.min(missing as u64))
            .read_to_end(bytes)
            .map_err(|source| self.error(source))?;
        if let Some(left) = &mut self.left {
            match left.checked_sub(read as u64) {
                Some(rest) => *left = rest,
                None => return Err(unpacked::too_large(&self.path, self.limit)),
            }
        }
        Ok(read == missing)
    }

    /// Unpacks what is left into another stream.
    #[cfg(feature = "parquet")]
    pub(super) fn copy_to(&mut self, target: &mut File) -> Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let more = self.fill(&mut bytes, 1 << 20)?;
            io::Write::write_all(target, &bytes).map_err(|source| self.error(source))?;
            if !more {
                return Ok(());
            }
        }
    }

    fn error(&self, source: io::Error) -> Error {
        match self.packed {
            None => Error::read(&self.path, source),
            Some(packed) => Error::input(
                &self.path,
                None,
                format!("a .{packed} stream that is damaged or cut short ({source})"),
                "a whole one: check the file, or unpack it first",
            ),
        }
    }
}

/// How a file is packed, and the extension below that, both in lower case.
pub(super) fn extensions(path: &Path) -> (Option<&'static str>, String) {
    let lower = |path: &Path| {
        let extension = path.extension().unwrap_or_default();
        extension.to_string_lossy().to_ascii_lowercase()
    };
    let outer = lower(path);
    let packed = match outer.as_str() {
        "gz" => Some("gz"),
        "zst" => Some("zst"),
        _ => None,
    };
    match packed {
        Some(_) => (
            packed,
            lower(Path::new(path.file_stem().unwrap_or_default())),
        ),
        None => (None, outer),
    }
}

/// Opens a file, which a folder is not; its length if it is a plain file.
pub(super) fn open_file(path: &Path) -> Result<(File, Option<u64>)> {
    let at = |source| Error::read(path, source);
    let file = File::open(path).or_else(|error| match path.parent() {
        Some(folder) if error.kind() == io::ErrorKind::NotFound => {
            recovered(folder);
            File::open(path)
        }
        _ => Err(error),
    });
    let file = file.map_err(at)?;
    let metadata = file.metadata().map_err(at)?;
    if metadata.is_dir() {
        return Err(Error::input(path, None, "a folder", "a file"));
    }
    Ok((file, metadata.is_file().then_some(metadata.len())))
}

/// The SHA-256 digest of a file as it lies there, in hexadecimal.
pub fn digest(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    let (mut file, _) = open_file(path)?;
    let mut hasher = Sha256::new();
    let mut bytes = vec![0; 1 << 16];
    loop {
        let read = file
            .read(&mut bytes)
            .map_err(|source| Error::read(path, source))?;
        if read == 0 {
            break;
        }
        hasher.update(&bytes[..read]);
    }
    let digits = hasher.finalize();
    Ok(digits.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read_all(path: &Path) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Source::open(path)?.fill(&mut bytes, usize::MAX)?;
        Ok(bytes)
    }

    #[test]
    fn packed_files_are_unpacked_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..50_000u32).flat_map(|x| x.to_le_bytes()).collect();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&text).unwrap();
        let zst = zstd::encode_all(text.as_slice(), 1).unwrap();
        for (name, bytes) in [("a.csv.gz", gz.finish().unwrap()), ("a.CSV.ZST", zst)] {
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(Source::open(&path).unwrap().extension(), "csv");
            assert_eq!(read_all(&path).unwrap(), text);
            let mut damaged = bytes.clone();
            damaged[0] ^= 0xff;
            for bad in [&bytes[..bytes.len() / 2], &damaged] {
                std::fs::write(&path, bad).unwrap();
                let error = read_all(&path).unwrap_err();
                assert!(matches!(error, Error::Input { .. }), "{name}: {error}");
                assert!(error.to_string().contains(name));
            }
        }
    }

    #[test]
    fn packed_files_are_unpacked_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let text = vec![b'a'; 3 << 20];
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&text).unwrap();
        let zst = zstd::encode_all(text.as_slice(), 1).unwrap();
        for (name, bytes) in [("a.gz", gz.finish().unwrap()), ("a.zst", zst)] {
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            let read = |left: u64| {
                let mut source = Source::open(&path).unwrap();
                source.left = Some(left);
                let mut bytes = Vec::new();
                let mut wanted = 700_001;
                while source.fill(&mut bytes, wanted)? {
                    wanted += 700_001;
                }
                Ok::<usize, Error>(bytes.len())
            };
            assert_eq!(read(text.len() as u64).unwrap(), text.len());
            let error = read(text.len() as u64 - 1).unwrap_err().to_string();
            assert!(
                error.contains(name) && error.contains("unpacked"),
                "{error}"
            );
        }
    }

    #[test]
    fn folders_and_missing_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let error = read_all(folder.path()).unwrap_err().to_string();
        assert!(error.contains("found a folder"), "{error}");
        let missing = folder.path().join("none.csv");
        assert!(matches!(read_all(&missing), Err(Error::Read { .. })));
        assert!(matches!(digest(&missing), Err(Error::Read { .. })));
    }

    #[test]
    fn digest_is_sha256() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(&path).unwrap(), expected);
    }
}

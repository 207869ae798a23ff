//! Input files as streams: plain, gzip or Zstandard, told by their extension; and the
//! SHA-256 of each, taken while it is read.

use std::fs::File;
#[cfg(feature = "parquet")]
use std::io::Seek;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::side::recovered;
use super::unpacked;
use linkproof_method::error::{Error, Result};

/// The files that a command has read, each with the SHA-256 of its content. The digest is
/// taken while the file is read: it is of what was read, and pipes have one, too.
#[derive(Debug, Clone, Default)]
pub struct Sources(Arc<Mutex<Vec<(PathBuf, String)>>>);

impl Sources {
    /// Opens a file, whose digest is known when it has been read to its end.
    pub(super) fn open(&self, path: &Path) -> Result<Source> {
        Source::with(path, Some(self.clone()))
    }

    /// Notes a file that is read elsewhere. Its digest takes a pass of its own.
    pub fn note(&self, path: impl AsRef<Path>) -> Result<()> {
        self.open(path.as_ref())?.end()
    }

    /// Paths and digests in hexadecimal, in the order of reading.
    pub fn files(&self) -> Vec<(PathBuf, String)> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn add(&self, path: &Path, hasher: &Mutex<Sha256>) {
        let digest = in_hexadecimal(&finished(hasher));
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.push((path.to_owned(), digest));
    }
}

/// The bytes of a file as they lie there, hashed on the way.
struct Hashed {
    file: File,
    hasher: Option<Arc<Mutex<Sha256>>>,
}

impl Read for Hashed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        if let Some(hasher) = &self.hasher {
            let mut hasher = hasher.lock().unwrap_or_else(PoisonError::into_inner);
            hasher.update(&bytes[..read]);
        }
        Ok(read)
    }
}

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
    /// Reads on where the reader stands in the file.
    file: Hashed,
    /// Where the digest goes; none once it is there.
    sources: Option<Sources>,
}

impl Source {
    /// Opens a file. `.gz` and `.zst` are unpacked.
    pub(super) fn open(path: &Path) -> Result<Source> {
        Source::with(path, None)
    }

    fn with(path: &Path, sources: Option<Sources>) -> Result<Source> {
        let (file, length) = open_file(path)?;
        let (packed, extension) = extensions(path);
        let limit = unpacked::limit(length)?;
        let failed = |source| Error::read(path, source);
        let hasher = sources.is_some().then(Arc::default);
        let again = Hashed {
            file: file.try_clone().map_err(failed)?,
            hasher: hasher.clone(),
        };
        let file = Hashed { file, hasher };
        let reader: Box<dyn Read + Send> = match packed {
            None => Box::new(file),
            Some("zst") => {
                let mut unpacked = zstd::Decoder::new(file).map_err(failed)?;
                // Files packed with `--long` need larger windows than the default.
                unpacked.window_log_max(31).map_err(failed)?;
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
            file: again,
            sources,
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
        if read < missing {
            self.end()?;
        }
        Ok(read == missing)
    }

    /// Notes the digest. An unpacker may leave bytes of the file unread.
    fn end(&mut self) -> Result<()> {
        if let (Some(sources), Some(hasher)) = (self.sources.take(), &self.file.hasher.clone()) {
            io::copy(&mut self.file, &mut io::sink()).map_err(|source| self.error(source))?;
            sources.add(&self.path, hasher);
        }
        Ok(())
    }

    /// The unpacked file, to be read from any place. Its digest takes a pass of its own.
    #[cfg(feature = "parquet")]
    pub(super) fn into_file(mut self) -> Result<File> {
        let failed = |source| Error::read(&self.path, source);
        if self.length.is_some() {
            let mut file = self.file.file.try_clone().map_err(failed)?;
            self.end()?;
            file.rewind().map_err(|source| self.error(source))?;
            return Ok(file);
        }
        // A packed stream or a pipe is read once.
        let mut file = tempfile::tempfile().map_err(failed)?;
        let mut bytes = Vec::new();
        let mut more = true;
        while more {
            bytes.clear();
            more = self.fill(&mut bytes, 1 << 20)?;
            io::Write::write_all(&mut file, &bytes).map_err(|source| self.error(source))?;
        }
        Ok(file)
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
    let hasher = Arc::<Mutex<Sha256>>::default();
    let mut file = Hashed {
        file: open_file(path)?.0,
        hasher: Some(hasher.clone()),
    };
    io::copy(&mut file, &mut io::sink()).map_err(|source| Error::read(path, source))?;
    Ok(in_hexadecimal(&finished(&hasher)))
}

fn finished(hasher: &Mutex<Sha256>) -> impl AsRef<[u8]> {
    let hasher = hasher.lock().unwrap_or_else(PoisonError::into_inner);
    hasher.clone().finalize()
}

pub(super) fn in_hexadecimal(digest: &impl AsRef<[u8]>) -> String {
    digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
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

//! NumPy `.npy` files: matrices of `f32` and `f64`, read in one pass.

use std::io::Write;
use std::path::Path;

use super::output::write_file;
use super::source::Source;
use linkproof_method::data::features::{Matrix, Values};
use linkproof_method::error::{Error, Result, quote};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Bytes converted at a time.
const PIECE: usize = 1 << 20;

/// Reads a matrix. Its rows are those of the file.
///
/// # Errors
/// Anything but a two-dimensional, C-ordered, little-endian `f4` or `f8` array
/// of finite numbers, whole, is an [`Error::Input`].
pub fn read_npy(path: impl AsRef<Path>) -> Result<Matrix> {
    read_npy_of(Source::open(path.as_ref())?)
}

/// The same of a file that has been opened.
pub(super) fn read_npy_of(mut source: Source) -> Result<Matrix> {
    let header = Header::read(&mut source)?;
    let n = header.check_length(&source)?;
    let values = if header.single {
        Values::F32(read_numbers(&mut source, n)?.into())
    } else {
        Values::F64(read_numbers(&mut source, n)?.into())
    };
    Matrix::dense(header.n_rows, header.n_columns, values)
        .map_err(|error| error.in_file(source.path(), None))
}

/// A number type that `.npy` files are made of here: `f32` and `f64`.
pub trait NpyNumber: Copy + private::Sealed {
    /// The type's name in the header.
    const DESCR: &'static str;
    /// Bytes a number.
    const SIZE: usize;
    /// From little-endian bytes, of which there are [`NpyNumber::SIZE`].
    fn from_le(bytes: &[u8]) -> Self;
    /// Appends little-endian bytes.
    fn put_le(self, bytes: &mut Vec<u8>);
}

mod private {
    /// Keeps the set of number types closed.
    pub trait Sealed {}
}

macro_rules! npy_number {
    ($number:ty, $descr:literal) => {
        impl private::Sealed for $number {}
        impl NpyNumber for $number {
            const DESCR: &'static str = $descr;
            const SIZE: usize = size_of::<$number>();

            fn from_le(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$number>()];
                array.copy_from_slice(bytes);
                <$number>::from_le_bytes(array)
            }

            fn put_le(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    };
}

npy_number!(f32, "<f4");
npy_number!(f64, "<f8");

/// Writes a matrix of `n_rows` x `n_columns` numbers, row after row.
pub fn write_npy<N: NpyNumber>(
    path: impl AsRef<Path>,
    n_rows: usize,
    n_columns: usize,
    values: &[N],
) -> Result<()> {
    let path = path.as_ref();
    if n_rows.checked_mul(n_columns) != Some(values.len()) {
        return Err(Error::input(
            path,
            None,
            format!("{} numbers", values.len()),
            format!("{n_rows} rows x {n_columns} columns of them"),
        ));
    }
    write_file(path, |file| {
        let mut header = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}",
            N::DESCR
        );
        // The numbers start at a multiple of 64 bytes.
        let unpadded = MAGIC.len() + 4 + header.len() + 1;
        header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
        header.push('\n');
        file.write_all(MAGIC)?;
        file.write_all(&[1, 0])?;
        file.write_all(&(header.len() as u16).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        let mut bytes = Vec::with_capacity(PIECE);
        for piece in values.chunks(PIECE / N::SIZE) {
            bytes.clear();
            piece.iter().for_each(|number| number.put_le(&mut bytes));
            file.write_all(&bytes)?;
        }
        Ok(())
    })
}

struct Header {
    single: bool,
    n_rows: usize,
    n_columns: usize,
    /// Where the numbers start.
    start: u64,
}

impl Header {
    fn read(source: &mut Source) -> Result<Header> {
        let cut_short = |source: &Source| {
            wrong(
                source.path(),
                "a header that is cut short",
                "a whole .npy file",
            )
        };
        let mut bytes = Vec::new();
        let whole = source.fill(&mut bytes, 8)?;
        if !bytes.starts_with(MAGIC) {
            let expected = "the mark of an .npy file (\\x93NUMPY), as np.save writes it";
            return Err(wrong(source.path(), "no mark of an .npy file", expected));
        }
        if !whole {
            return Err(cut_short(source));
        }
        let width = match bytes[6] {
            1 => 2,
            2 | 3 => 4,
            version => {
                let found = format!(".npy version {version}");
                return Err(wrong(source.path(), &found, "version 1, 2 or 3"));
            }
        };
        if !source.fill(&mut bytes, 8 + width)? {
            return Err(cut_short(source));
        }
        let length = bytes[8..]
            .iter()
            .rev()
            .fold(0, |sum, &x| sum << 8 | usize::from(x));
        let start = 8 + width + length;
        if length > 1 << 20 || !source.fill(&mut bytes, start)? {
            return Err(cut_short(source));
        }
        let text = String::from_utf8_lossy(&bytes[8 + width..]);
        Header::parse(source.path(), text.trim(), start as u64)
    }

    fn parse(path: &Path, text: &str, start: u64) -> Result<Header> {
        let field = |name: &str| {
            entry(text, name).ok_or_else(|| {
                let found = format!(
                    "a header without '{name}' that can be read: {}",
                    quote(text)
                );
                wrong(path, &found, "a header as np.save writes it")
            })
        };
        let descr = field("descr")?;
        let single = match descr.trim_matches(['\'', '"']) {
            "<f4" => true,
            "<f8" => false,
            other => {
                let order = if other.starts_with('>') {
                    "big-endian "
                } else {
                    ""
                };
                return Err(wrong(
                    path,
                    &format!("{order}dtype {}", quote(descr.trim_matches(['\'', '"']))),
                    "little-endian '<f4' or '<f8': convert with x.astype('<f4') before np.save",
                ));
            }
        };
        if field("fortran_order")? != "False" {
            return Err(wrong(
                path,
                "an array in Fortran order",
                "C order: convert with np.ascontiguousarray(x) before np.save",
            ));
        }
        let shape = field("shape")?;
        let sizes: Option<Vec<usize>> = shape
            .trim_matches(['(', ')'])
            .split(',')
            .map(str::trim)
            .filter(|size| !size.is_empty())
            .map(|size| size.parse().ok())
            .collect();
        let Some(&[n_rows, n_columns]) = sizes.as_deref() else {
            let found = format!("an array of shape {shape}");
            return Err(wrong(
                path,
                &found,
                "a matrix: two dimensions (x.reshape(n, -1))",
            ));
        };
        Ok(Header {
            single,
            n_rows,
            n_columns,
            start,
        })
    }

    /// How many numbers follow, checked before memory is asked for.
    fn check_length(&self, source: &Source) -> Result<usize> {
        let size = if self.single { 4 } else { 8 };
        let shape = format!("({}, {})", self.n_rows, self.n_columns);
        let n = self.n_rows.checked_mul(self.n_columns);
        let bytes = n.and_then(|n| n.checked_mul(size)).map(|x| x as u64);
        let whole = bytes.and_then(|bytes| bytes.checked_add(self.start));
        match (n, whole, source.length()) {
            (Some(n), Some(whole), Some(length)) if whole == length => Ok(n),
            (Some(n), Some(_), None) => Ok(n),
            (_, whole, length) => Err(wrong(
                source.path(),
                &format!("a file of {} bytes", length.unwrap_or_default()),
                &match whole {
                    Some(whole) => format!("{whole} bytes for its shape {shape}"),
                    None => format!("a possible shape, not {shape}"),
                },
            )),
        }
    }
}

/// The value of a key in the header, a Python dictionary of fixed form.
fn entry<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let key = [format!("'{name}'"), format!("\"{name}\"")];
    let after = key
        .iter()
        .find_map(|key| text.find(key.as_str()).map(|at| at + key.len()))?;
    let value = text
        .get(after..)?
        .trim_start()
        .strip_prefix(':')?
        .trim_start();
    let end = match value.chars().next()? {
        quote @ ('\'' | '"') => value.get(1..)?.find(quote)? + 2,
        '(' => value.find(')')? + 1,
        '[' => value.rfind(']')? + 1,
        _ => value.find([',', '}'])?,
    };
    value.get(..end).map(str::trim)
}

fn read_numbers<N: NpyNumber>(source: &mut Source, n: usize) -> Result<Vec<N>> {
    let mut numbers = Vec::new();
    // What a packed file promises is not believed beforehand.
    let believed = source.length().map_or(n.min(PIECE), |_| n);
    numbers.reserve_exact(believed);
    let mut bytes = Vec::with_capacity(PIECE);
    while numbers.len() < n {
        bytes.clear();
        let want = (n - numbers.len()).min(PIECE / N::SIZE) * N::SIZE;
        if !source.fill(&mut bytes, want)? {
            let found = numbers.len() + bytes.len() / N::SIZE;
            return Err(wrong(
                source.path(),
                &format!("{found} numbers and then the end"),
                &format!("{n}, as its shape says (is the file cut short?)"),
            ));
        }
        numbers.extend(bytes.chunks_exact(N::SIZE).map(N::from_le));
    }
    bytes.clear();
    source.fill(&mut bytes, 1)?;
    if !bytes.is_empty() {
        let expected = format!("the end after the {n} numbers of its shape");
        return Err(wrong(source.path(), "more bytes", &expected));
    }
    Ok(numbers)
}

fn wrong(path: &Path, found: &str, expected: &str) -> Error {
    Error::input(path, None, found, expected)
}

#[cfg(test)]
#[path = "npy_tests.rs"]
mod tests;

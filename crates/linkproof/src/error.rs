//! The one error type of the library. Every variant carries its data, so that
//! a caller can act on it and a message can name file, line, value and fix.

mod shown;

use std::io;
use std::path::{Path, PathBuf};

pub use shown::{path as shown_path, plain, quote, shown, shown_line};

/// What `linkproof` functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input file could not be opened or read.
    #[error("{}: cannot be read: {source}", shown_path(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Writing an output failed midway (disk full, say); the old output is intact.
    #[error(
        "{}: cannot be written: {source}; what stood there before is untouched",
        shown_path(path)
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The place chosen for an output cannot be used.
    #[error("{}: {}; {}", shown_path(path), shown(found), shown(expected))]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// What is the matter with it.
        found: String,
        /// What would do instead.
        expected: String,
    },
    /// The content of an input file is wrong.
    #[error(
        "{}{}: found {}; expected {}",
        shown_path(path),
        place(*line),
        shown(found),
        shown(expected)
    )]
    Input {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, where the format has lines.
        line: Option<u64>,
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
    },
    /// Data handed over in memory is wrong.
    #[error(
        "{}: found {}; expected {}",
        shown(what),
        shown(found),
        shown(expected)
    )]
    Data {
        /// Which argument or object.
        what: String,
        /// What it holds.
        found: String,
        /// What it should.
        expected: String,
    },
    /// A link names a node that has no data vector.
    #[error(
        "a link names node {}, which has no data vector; \
         expected only ids of the features or of --nodes (is a header line or another id scheme in the links?)",
        quote(id)
    )]
    UnknownNode {
        /// The id, as written.
        id: String,
    },
    /// A pair of nodes is listed more than once.
    #[error(
        "the pair {}, {} is listed more than once (weights {first} and {second}); \
         expected each pair once: say --duplicates sum, max or first",
        quote(src),
        quote(dst)
    )]
    DuplicateLink {
        /// One end, as written.
        src: String,
        /// The other end.
        dst: String,
        /// The weight of the first listing.
        first: f64,
        /// The weight of the second.
        second: f64,
    },
    /// A matrix of links differs from its mirror image.
    #[error(
        "a matrix of links that is not symmetric: {forward} from {} to {} and {backward} back; \
         expected a symmetric or a triangular matrix (or say --duplicates sum or max)",
        quote(src),
        quote(dst)
    )]
    Asymmetric {
        /// The row, as written.
        src: String,
        /// The column.
        dst: String,
        /// The entry there; 0 where none is stored.
        forward: f64,
        /// The entry on the other side of the diagonal.
        backward: f64,
    },
    /// A parameter is outside its accepted range.
    #[error("{name}: accepted is {accepted}; given was {}", shown(given))]
    Param {
        /// The parameter's name, as in the configuration file.
        name: &'static str,
        /// The accepted range.
        accepted: String,
        /// The value given.
        given: String,
    },
    /// The environment asks for instructions that the machine does not have.
    #[error(
        "LINKPROOF_INSTRUCTIONS={}: this machine does not have it; \
         expected one of {here}, or the variable unset",
        quote(given)
    )]
    Instructions {
        /// What was asked for.
        given: String,
        /// What there is, separated by commas.
        here: String,
    },
    /// A weight with which the arithmetic of a fit leaves the range of numbers.
    #[error(
        "the weight {weight:e} between {} and {} is too large: in {precision} precision the weights \
         of a fit add up to {limit:e} at most; {TOO_HEAVY}",
        quote(src),
        quote(dst)
    )]
    TooHeavy {
        /// One end, as written.
        src: String,
        /// The other end.
        dst: String,
        /// The largest weight.
        weight: f64,
        /// What all weights may add up to.
        limit: f64,
        /// The precision of the fit: single or double.
        precision: &'static str,
    },
    /// The optimisation left the range of numbers.
    #[error(
        "the fit diverged at step {step}: {detail}; nothing was written. Try a smaller --learning-rate, a larger --ridge or --clip 1"
    )]
    Diverged {
        /// The step at which it was noticed.
        step: usize,
        /// What was seen.
        detail: String,
    },
    /// The caller's observer asked to stop.
    #[error("stopped by the user after step {step}; nothing was written")]
    Interrupted {
        /// The last finished step.
        step: usize,
    },
}

/// What to do about weights that are too large.
pub const TOO_HEAVY: &str = "divide all weights by a constant, say --weights log1p, or take \
     --score probability, which an absurd weight does not move";

fn place(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

impl Error {
    /// Whether the caller's input or parameters are at fault (exit code 2)
    /// rather than the run itself (exit code 1).
    pub fn is_bad_input(&self) -> bool {
        !matches!(
            self,
            Error::Write { .. } | Error::Diverged { .. } | Error::Interrupted { .. }
        )
    }

    /// Wrong content at a line of a file.
    pub fn input(
        path: &Path,
        line: impl Into<Option<u64>>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Error::Input {
            path: path.to_owned(),
            line: line.into(),
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// Wrong data in memory.
    pub fn data(
        what: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Error::Data {
            what: what.into(),
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// An input file that cannot be read.
    pub fn read(path: &Path, source: io::Error) -> Self {
        Error::Read {
            path: path.to_owned(),
            source,
        }
    }

    /// An output file that cannot be written.
    pub fn write(path: &Path, source: io::Error) -> Self {
        Error::Write {
            path: path.to_owned(),
            source,
        }
    }
}
